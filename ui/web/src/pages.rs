//! The three pages, put together from their parts.

use dioxus::prelude::*;
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;

use crate::page::{self, Kind};
use crate::parts::icons::{Icon, Shape};
use crate::parts::{cards, composer, conversation, first_run, options, status, threads};
use crate::store::Store;
use crate::{chrome, focus, shell};

/// The page that the document asks for.
#[component]
pub fn Root() -> Element {
    let store = use_context_provider(|| {
        let language = page::remembered_language().unwrap_or_else(shell::browser_language);
        page::set_language(language);
        Store::new(language)
    });
    use_future(move || shell::run(store));
    let announcement = store.announcement;
    rsx! {
        match page::kind() {
            Kind::SidePanel | Kind::Chat => rsx! { Chat {} },
            Kind::Options => rsx! { options::Options {} },
        }
        div { class: "sr", role: "status", aria_live: "polite", "{announcement}" }
    }
}

#[component]
fn Chat() -> Element {
    let store = use_context::<Store>();
    let blank = use_memo(move || store.thread_id.read().is_none() && store.outgoing.read().is_empty());
    let unconfigured = use_memo(move || {
        store.settings.read().as_ref().is_some_and(|settings| settings.connections.is_empty())
    });
    rsx! {
        div { class: "app",
            Header {}
            threads::Threads {}
            if blank() && unconfigured() {
                main { class: "main", id: "conversation", div { class: "column", first_run::FirstRun {} } }
            } else {
                conversation::Conversation { blank: blank() }
            }
            footer { class: "foot",
                conversation::ToEnd {}
                div { class: "inner",
                    if store.link.read().is_over() {
                        status::Over {}
                    } else {
                        status::Reconnecting {}
                        status::EngineNotices {}
                        status::TroubleBar {}
                        status::StatusLine {}
                        cards::Queue {}
                        cards::Cards {}
                        if !(blank() && unconfigured()) {
                            composer::Composer {}
                        }
                    }
                }
            }
        }
    }
}

#[component]
fn Header() -> Element {
    let mut store = use_context::<Store>();
    let title = use_memo(move || {
        let around = store.around.read();
        let title = around.as_ref().map(|around| around.meta.title.clone()).unwrap_or_default();
        let shown = store.thread_id.read().is_some();
        match (shown, title.is_empty()) {
            (true, false) => title,
            (true, true) => store.t(Key::Untitled).to_owned(),
            (false, _) => store.t(Key::NewChat).to_owned(),
        }
    });
    use_effect(move || page::set_title(&format!("{title} · Panelot")));
    let side_panel = page::kind() == Kind::SidePanel;
    rsx! {
        header { class: "head",
            button {
                class: "icon only-narrow", id: threads::OPEN_ID, "data-testid": "open-list", aria_label: store.t(Key::Chats), title: store.t(Key::Chats),
                aria_expanded: *store.list_open.read(),
                onclick: move |_| {
                    store.list_open.set(true);
                    focus::soon([threads::SEARCH_ID.to_owned()]);
                },
                Icon { shape: Shape::List }
            }
            h1 { "data-testid": "title", dir: "auto", "{title}" }
            button {
                class: "icon", "data-testid": "new-thread", aria_label: store.t(Key::NewChat), title: store.t(Key::NewChat),
                onclick: move |_| {
                    shell::intend(Intent::NewThread);
                    page::focus(composer::INPUT_ID);
                },
                Icon { shape: Shape::New }
            }
            if side_panel {
                button {
                    class: "icon", "data-testid": "open-full-page", aria_label: store.t(Key::OpenFullPage), title: store.t(Key::OpenFullPage),
                    onclick: move |_| {
                        let thread = store.thread_id.peek().as_ref().map(|id| format!("?thread={id}")).unwrap_or_default();
                        chrome::tabs::open(&format!("chat.html{thread}"));
                    },
                    Icon { shape: Shape::Expand }
                }
            }
            button {
                class: "icon", "data-testid": "open-settings", aria_label: store.t(Key::OpenSettings), title: store.t(Key::OpenSettings),
                onclick: move |_| chrome::runtime::open_options(),
                Icon { shape: Shape::Settings }
            }
        }
    }
}
