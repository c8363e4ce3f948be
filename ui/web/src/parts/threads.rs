//! The list of threads: at the left on a wide page, sliding over the conversation on a narrow one.

use dioxus::prelude::*;
use panelot_protocol::snapshot::ThreadListEntry;
use panelot_ui::i18n::Key;
use panelot_ui::intents::{Act, Intent};
use panelot_ui::status::activity;

use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use super::status::mark_word;
use crate::chrome::clock;
use crate::store::{Store, put};
use crate::{page, shell};

/// Id of the search field.
pub const SEARCH_ID: &str = "list-search";
/// How long after the last key the list is searched.
const SEARCH_SETTLE_MS: u64 = 200;

/// The list.
#[component]
pub fn Threads() -> Element {
    let mut store = use_context::<Store>();
    let mut query = use_signal(String::new);
    let open = *store.list_open.read();
    let groups = use_memo(move || grouped(&store.threads.read()));
    let empty = groups.read().is_empty();
    rsx! {
        if open {
            button { class: "scrim", tabindex: "-1", aria_label: store.t(Key::CloseList), onclick: move |_| store.list_open.set(false) }
        }
        nav {
            class: "drawer", "data-testid": "thread-list", "data-open": "{open}", aria_label: store.t(Key::Chats),
            onkeydown: move |event| {
                if pressed(&event) == Pressed::Escape {
                    put(&mut store.list_open, false);
                }
            },
            div { class: "list-head",
                h2 { {store.t(Key::Chats)} }
                button {
                    class: "icon only-narrow", "data-testid": "close-list", aria_label: store.t(Key::CloseList), title: store.t(Key::CloseList),
                    onclick: move |_| store.list_open.set(false),
                    Icon { shape: Shape::Cross }
                }
            }
            div { class: "search",
                input {
                    class: "input", r#type: "search", id: SEARCH_ID, "data-testid": "list-search", aria_label: store.t(Key::ListSearch), placeholder: store.t(Key::ListSearch),
                    maxlength: "512", value: "{query}",
                    oninput: move |event| {
                        query.set(event.value());
                        let asked = event.value();
                        spawn(async move {
                            clock::sleep_ms(SEARCH_SETTLE_MS).await;
                            if *query.peek() == asked {
                                shell::intend(Intent::Search(asked.trim().to_owned()));
                            }
                        });
                    },
                }
            }
            div { class: "threads",
                if empty {
                    p { class: "quiet", {store.t(if query.read().is_empty() { Key::ListEmpty } else { Key::ListNoMatch })} }
                }
                for (heading, entries) in groups.read().iter() {
                    section { key: "{heading:?}",
                        h3 { {store.t(*heading)} }
                        ul {
                            for entry in entries.iter() {
                                Thread { key: "{entry.thread.thread_id}", entry: entry.clone() }
                            }
                        }
                    }
                }
                if *store.more_threads.read() {
                    button { class: "link quiet", "data-testid": "more-threads", onclick: move |_| { shell::intend(Intent::MoreThreads); }, {store.t(Key::ListMore)} }
                }
            }
        }
    }
}

fn grouped(threads: &[ThreadListEntry]) -> Vec<(Key, Vec<ThreadListEntry>)> {
    let time = clock::local_time();
    let mut sorted: Vec<_> = threads.to_vec();
    sorted.sort_by_key(|entry| (!entry.thread.pinned, std::cmp::Reverse(entry.thread.updated_at_ms)));
    let mut groups: Vec<(Key, Vec<ThreadListEntry>)> = Vec::new();
    for entry in sorted {
        let heading =
            if entry.thread.pinned { Key::GroupPinned } else { time.group(entry.thread.updated_at_ms) };
        match groups.last_mut() {
            Some((last, entries)) if *last == heading => entries.push(entry),
            Some(_) | None => groups.push((heading, vec![entry])),
        }
    }
    groups
}

/// What a row is doing beside showing its thread.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Nothing,
    Renaming,
    Asking,
}

#[component]
fn Thread(entry: ThreadListEntry) -> Element {
    let mut store = use_context::<Store>();
    let mut doing = use_signal(|| Doing::Nothing);
    let thread_id = entry.thread.thread_id.clone();
    let current = {
        let thread_id = thread_id.clone();
        use_memo(move || store.thread_id.read().as_ref() == Some(&thread_id))
    };
    let title = if entry.thread.title.is_empty() {
        store.t(Key::Untitled).to_owned()
    } else {
        entry.thread.title.clone()
    };
    let act = {
        let thread_id = thread_id.clone();
        use_callback(move |act: Act| {
            shell::intend(Intent::OnThread(thread_id.clone(), act));
            doing.set(Doing::Nothing);
        })
    };
    match doing() {
        Doing::Nothing => {}
        Doing::Renaming => {
            return rsx! { Renaming { title: entry.thread.title.clone(), act, close: move |()| doing.set(Doing::Nothing) } };
        }
        Doing::Asking => {
            return rsx! {
                li { class: "thread asking", "data-testid": "thread-row", "data-thread": "{thread_id}",
                    span { b { dir: "auto", "{title}" } br {} {store.t(Key::DeleteQuestion)} }
                    div {
                        button { class: "button risky", "data-testid": "delete-confirm", onclick: move |_| act.call(Act::Delete), {store.t(Key::Delete)} }
                        button { class: "button", "data-testid": "delete-keep", autofocus: true, onclick: move |_| doing.set(Doing::Nothing), {store.t(Key::Keep)} }
                    }
                }
            };
        }
    }
    let word = activity(entry.activity);
    let pinned = entry.thread.pinned;
    rsx! {
        li { class: "thread", "data-testid": "thread-row", "data-thread": "{thread_id}", "data-current": "{current}",
            button {
                class: "open", "data-testid": "thread-open", title: "{title}", aria_current: if current() { "true" } else { "false" },
                onclick: move |_| {
                    shell::intend(Intent::OpenThread(thread_id.clone()));
                    put(&mut store.list_open, false);
                    page::focus(INPUT_ID);
                },
                if let Some((_, mark)) = word {
                    i { class: "dot", "data-mark": mark_word(mark), "aria-hidden": "true" }
                }
                span {
                    span { class: "name", dir: "auto", "{title}" }
                    if let Some((key, mark)) = word {
                        small { class: "word", "data-mark": mark_word(mark), {store.t(key)} }
                    }
                }
            }
            span { class: "row-acts",
                button {
                    class: "icon small", "data-testid": "thread-pin", aria_label: store.t(Key::GroupPinned), title: store.t(Key::GroupPinned), aria_pressed: pinned,
                    onclick: move |_| act.call(Act::Pin(!pinned)),
                    Icon { shape: Shape::Pin, size: 14 }
                }
                button {
                    class: "icon small", "data-testid": "thread-rename", aria_label: store.t(Key::Rename), title: store.t(Key::Rename),
                    onclick: move |_| doing.set(Doing::Renaming),
                    Icon { shape: Shape::Pencil, size: 14 }
                }
                button {
                    class: "icon small", "data-testid": "thread-delete", aria_label: store.t(Key::Delete), title: store.t(Key::Delete),
                    onclick: move |_| doing.set(Doing::Asking),
                    Icon { shape: Shape::Bin, size: 14 }
                }
            }
        }
    }
}

#[component]
fn Renaming(title: String, act: Callback<Act>, close: EventHandler<()>) -> Element {
    let store = use_context::<Store>();
    let mut text = use_signal(|| title.clone());
    let save = use_callback(move |()| {
        let title = text.peek().trim().to_owned();
        if title.is_empty() { close.call(()) } else { act.call(Act::Rename(title)) }
    });
    rsx! {
        li { class: "thread asking", "data-testid": "thread-row",
            input {
                class: "input", "data-testid": "rename-input", dir: "auto", aria_label: store.t(Key::RenameLabel), maxlength: "1024", autofocus: true, value: "{text}",
                oninput: move |event| text.set(event.value()),
                onkeydown: move |event| {
                    if is_composing(&event) {
                        return;
                    }
                    match pressed(&event) {
                        Pressed::Enter => save.call(()),
                        Pressed::Escape => {
                            event.stop_propagation();
                            close.call(());
                        }
                        Pressed::Letter(_) | Pressed::Other => {}
                    }
                },
            }
            div {
                button { class: "button main-act", "data-testid": "rename-save", onclick: move |_| save.call(()), {store.t(Key::Save)} }
                button { class: "button", onclick: move |_| close.call(()), {store.t(Key::Cancel)} }
            }
        }
    }
}
