//! The composer: what is written, which page is meant, which model and policy, send or stop.

use dioxus::prelude::*;
use panelot_protocol::ids::ThreadId;
use panelot_protocol::turn::{ModelRef, PermissionPolicy, UserInput};
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;
use panelot_ui::session::Delivery;

use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use crate::chrome::{clock, session_storage};
use crate::store::Store;
use crate::{focus, page, shell};

/// Id of the text field.
pub const INPUT_ID: &str = "composer-input";
/// Id of the button that leaves the page in front out, or takes it in: the one that is there gets the focus of the other.
const CONTEXT_ID: &str = "context";
/// How long after the last key the draft is stored.
const DRAFT_SETTLE_MS: u64 = 250;

/// The composer.
#[component]
pub fn Composer() -> Element {
    let mut store = use_context::<Store>();
    let mut text = use_signal(String::new);
    let with_tab = use_signal(|| true);
    let mut edits = use_signal(|| 0_u32);

    use_effect(|| page::focus_if_free(INPUT_ID));
    // Each thread has its own draft; a chat that becomes a thread takes what is being typed along.
    let mut shown = use_signal(|| None::<Option<ThreadId>>);
    use_effect(move || {
        let now = store.thread_id.read().clone();
        let before = shown.peek().clone();
        if before.as_ref() == Some(&now) {
            return;
        }
        shown.set(Some(now.clone()));
        let key = page::draft_key(now.as_ref());
        if let Some(before) = before {
            let written = text.peek().clone();
            if before.is_none() && !store.outgoing.peek().is_empty() {
                session_storage::put(&page::draft_key(None), "");
                session_storage::put(&key, &written);
                return;
            }
            session_storage::put(&page::draft_key(before.as_ref()), &written);
            text.set(String::new());
        }
        spawn(async move {
            let draft = session_storage::get(&key).await.unwrap_or_default();
            if key == page::draft_key(store.thread_id.peek().as_ref()) && text.peek().is_empty() {
                text.set(draft);
            }
        });
    });
    use_effect(move || {
        if store.restore.read().is_none() {
            return;
        }
        let Some(back) = store.restore.write().take() else { return };
        let joined = page::joined(&back.text, &text.peek());
        keep_draft(&store, &joined);
        text.set(joined);
        page::focus(INPUT_ID);
    });

    let send = use_callback(move |delivery: Delivery| {
        let written = text.peek().trim().to_owned();
        if written.is_empty() {
            return;
        }
        let captured_tab = store.tab.peek().clone().filter(|_| *with_tab.peek());
        let input = UserInput { text: written, captured_tab, ..UserInput::default() };
        keep_draft(&store, "");
        text.set(String::new());
        store.following.set(true);
        shell::intend(Intent::Send { input, delivery });
    });
    let running = *store.running.read();
    let empty = text.read().trim().is_empty();
    let placeholder =
        store.t(if running { Key::ComposerPlaceholderRunning } else { Key::ComposerPlaceholder });
    rsx! {
        form {
            class: "composer",
            onsubmit: move |event| event.prevent_default(),
            ContextChip { with_tab }
            textarea {
                id: INPUT_ID, "data-testid": "composer", rows: "1", dir: "auto", aria_label: store.t(Key::ComposerLabel), placeholder,
                maxlength: "400000",
                value: "{text}",
                oninput: move |event| {
                    text.set(event.value());
                    let edit = edits.peek().wrapping_add(1);
                    edits.set(edit);
                    spawn(async move {
                        clock::sleep_ms(DRAFT_SETTLE_MS).await;
                        if *edits.peek() == edit {
                            keep_draft(&store, &text.peek());
                        }
                    });
                },
                onkeydown: move |event| {
                    if is_composing(&event) {
                        return;
                    }
                    let held = event.modifiers();
                    match pressed(&event) {
                        Pressed::Enter if held.alt() && held.shift() => {
                            event.prevent_default();
                            send.call(Delivery::Queue);
                        }
                        Pressed::Enter if !held.shift() => {
                            event.prevent_default();
                            send.call(Delivery::Now);
                        }
                        Pressed::Escape if *store.running.peek() => {
                            event.prevent_default();
                            shell::intend(Intent::Stop);
                        }
                        Pressed::Enter | Pressed::Escape | Pressed::Letter(_) | Pressed::Other => {}
                    }
                },
            }
            div { class: "line",
                ModelPick {}
                PolicyPick {}
                span { class: "gap" }
                if running {
                    button {
                        r#type: "button", class: "send halt", "data-testid": "stop", aria_label: store.t(Key::Stop), title: store.t(Key::Stop),
                        disabled: *store.stopping.read(), aria_keyshortcuts: "Escape",
                        onclick: move |_| {
                            shell::intend(Intent::Stop);
                            page::focus(INPUT_ID);
                        },
                        Icon { shape: Shape::Stop }
                    }
                }
                if !running || !empty {
                    button {
                        r#type: "button", class: "send", "data-testid": "send", disabled: empty,
                        aria_label: store.t(if running { Key::SendSteer } else { Key::Send }),
                        title: store.t(if running { Key::SendSteer } else { Key::Send }),
                        onclick: move |_| send.call(Delivery::Now),
                        Icon { shape: Shape::Send }
                    }
                }
            }
        }
    }
}

fn keep_draft(store: &Store, text: &str) {
    session_storage::put(&page::draft_key(store.thread_id.peek().as_ref()), text);
}

/// Which page is meant.
#[component]
fn ContextChip(with_tab: Signal<bool>) -> Element {
    let store = use_context::<Store>();
    let tab = store.tab.read();
    let Some(tab) = tab.as_ref() else { return rsx! {} };
    let title = tab.title.clone().filter(|title| !title.is_empty()).or(tab.url.clone()).unwrap_or_default();
    rsx! {
        div { class: "context",
            if with_tab() {
                span { class: "chip", "data-testid": "context-chip", title: tab.url.clone().unwrap_or_default(),
                    Icon { shape: Shape::Page, size: 12 }
                    span { dir: "auto", "{title}" }
                    button {
                        r#type: "button", class: "icon", id: CONTEXT_ID, "data-testid": "context-remove", aria_label: store.t(Key::TabLeaveOut), title: store.t(Key::TabLeaveOut),
                        onclick: move |_| {
                            focus::keep();
                            with_tab.set(false);
                        },
                        Icon { shape: Shape::Cross, size: 12 }
                    }
                }
            } else {
                button {
                    r#type: "button", class: "chip", id: CONTEXT_ID, "data-testid": "context-add", title: store.t(Key::TabUse),
                    onclick: move |_| {
                        focus::keep();
                        with_tab.set(true);
                    },
                    Icon { shape: Shape::Plus, size: 12 }
                    span { {store.t(Key::TabUse)} }
                }
            }
        }
    }
}

#[component]
fn ModelPick() -> Element {
    let store = use_context::<Store>();
    let choices = use_memo(move || {
        let settings = store.settings.read();
        let mut choices: Vec<(ModelRef, String, String)> = Vec::new();
        let Some(settings) = settings.as_ref() else { return choices };
        for connection in settings.connections.iter().filter(|connection| connection.enabled) {
            for entry in &connection.models {
                let name = entry.display_name.clone().unwrap_or_else(|| entry.model.model_id.clone());
                choices.push((entry.model.clone(), name, connection.name.clone()));
            }
        }
        if let Some(default) = &settings.default_model
            && !choices.iter().any(|(model, ..)| model == default)
        {
            choices.push((default.clone(), default.model_id.clone(), String::new()));
        }
        choices
    });
    let choices = choices.read();
    let chosen = store.model.read().clone();
    let at = chosen.and_then(|chosen| choices.iter().position(|(model, ..)| *model == chosen));
    let models: Vec<ModelRef> = choices.iter().map(|(model, ..)| model.clone()).collect();
    rsx! {
        span { class: "pick",
            select {
                "data-testid": "model", aria_label: store.t(Key::Model), title: store.t(Key::Model),
                onchange: move |event| {
                    if let Some(model) = event.value().parse().ok().and_then(|at: usize| models.get(at)) {
                        shell::intend(Intent::ChooseModel(model.clone()));
                    }
                },
                if at.is_none() {
                    option { value: "", selected: true, {store.t(Key::ModelNone)} }
                }
                for (place, (_, name, connection)) in choices.iter().enumerate() {
                    option { key: "{place}", value: "{place}", selected: Some(place) == at, title: "{connection}", "{name}" }
                }
            }
            Icon { shape: Shape::ChevronDown, size: 10 }
        }
    }
}

/// The policies with their names.
pub const POLICIES: [(PermissionPolicy, Key, Key); 3] = [
    (PermissionPolicy::Always, Key::PolicyAlways, Key::PolicyAlwaysHint),
    (PermissionPolicy::Untrusted, Key::PolicyUntrusted, Key::PolicyUntrustedHint),
    (PermissionPolicy::Auto, Key::PolicyAuto, Key::PolicyAutoHint),
];

#[component]
fn PolicyPick() -> Element {
    let store = use_context::<Store>();
    let chosen = *store.policy.read();
    rsx! {
        span { class: "pick",
            select {
                "data-testid": "policy", aria_label: store.t(Key::Policy), title: store.t(Key::Policy),
                onchange: move |event| {
                    if let Some((policy, ..)) = event.value().parse().ok().and_then(|at: usize| POLICIES.get(at)) {
                        shell::intend(Intent::ChoosePolicy(*policy));
                    }
                },
                for (place, (policy, name, _)) in POLICIES.iter().enumerate() {
                    option { key: "{place}", value: "{place}", selected: *policy == chosen, {store.t(*name)} }
                }
            }
            Icon { shape: Shape::ChevronDown, size: 10 }
        }
    }
}
