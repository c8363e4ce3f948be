//! Messages, thoughts and notices.

use std::rc::Rc;

use dioxus::prelude::*;
use panelot_protocol::ids::{ItemId, NodeId};
use panelot_protocol::item::{BranchInfo, ItemMeta, ItemStatus};
use panelot_protocol::turn::UserInput;
use panelot_ui::i18n::Key;
use panelot_ui::intents::{Act, Intent};
use panelot_ui::item::ItemState;
use panelot_ui::outgoing::Standing;
use panelot_ui::phrases::notice;

use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use super::markdown::{CopyButton, Text};
use crate::chrome::{clipboard, clock};
use crate::store::Store;
use crate::{focus, page, shell};

/// How long "Copied" is shown.
const COPIED_MS: u64 = 1_500;

/// What the user said.
#[component]
pub fn UserMessage(item_id: ItemId, item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let mut editing = use_signal(|| false);
    let (meta, text) = {
        let item = item.read();
        (Rc::clone(&item.meta), item.written().to_owned())
    };
    let busy = *store.running.read();
    let edit_id = format!("edit-{item_id}");
    if editing() {
        let input = meta.input.clone().unwrap_or_else(|| UserInput::text(text.clone()));
        let closed = edit_id.clone();
        let close = move |()| {
            editing.set(false);
            focus::soon([closed.clone(), INPUT_ID.to_owned()]);
        };
        return rsx! { Editor { node_id: node_of(&meta, &item_id), input, sent: move |()| editing.set(false), close } };
    }
    let input_id = editor_id(&node_of(&meta, &item_id));
    let tab = meta.input.as_ref().and_then(|input| input.captured_tab.clone());
    rsx! {
        article { class: "message-user", "data-testid": "message-user", aria_label: store.t(Key::You),
            if let Some(title) = tab.and_then(|tab| tab.title.or(tab.url)) {
                div { class: "meant", dir: "auto", {shell::say(&store, Key::TabMeant, &[("title", &title)])} }
            }
            div { class: "bubble", dir: "auto", "{text}" }
            div { class: "acts",
                Branch { branch: meta.branch.clone() }
                CopyButton { text: text.clone() }
                if !busy {
                    button {
                        class: "icon small", id: "{edit_id}", "data-testid": "edit", aria_label: store.t(Key::Edit), title: store.t(Key::Edit),
                        onclick: move |_| {
                            editing.set(true);
                            focus::soon([input_id.clone()]);
                        },
                        Icon { shape: Shape::Pencil, size: 14 }
                    }
                }
            }
        }
    }
}

fn node_of(meta: &ItemMeta, item_id: &ItemId) -> NodeId {
    meta.node_id.clone().unwrap_or_else(|| item_id.into())
}

fn editor_id(node_id: &NodeId) -> String {
    format!("edit-input-{node_id}")
}

#[component]
fn Editor(node_id: NodeId, input: UserInput, sent: EventHandler<()>, close: EventHandler<()>) -> Element {
    let store = use_context::<Store>();
    let mut text = use_signal(|| input.text.clone());
    let id = editor_id(&node_id);
    let send = move || {
        let edited = UserInput { text: text.peek().trim().to_owned(), ..input.clone() };
        if !edited.text.is_empty() {
            shell::intend(Intent::InThread(Act::Fork { node_id: node_id.clone(), input: Box::new(edited) }));
            sent.call(());
            page::focus(INPUT_ID);
        }
    };
    let send_by_key = send.clone();
    rsx! {
        div { class: "editor message-user",
            textarea {
                class: "input", id: "{id}", "data-testid": "edit-input", dir: "auto", aria_label: store.t(Key::EditLabel), value: "{text}",
                oninput: move |event| text.set(event.value()),
                onkeydown: move |event| {
                    if is_composing(&event) {
                        return;
                    }
                    if pressed(&event) == Pressed::Enter && !event.modifiers().shift() {
                        event.prevent_default();
                        send_by_key();
                    } else if pressed(&event) == Pressed::Escape {
                        event.stop_propagation();
                        close.call(());
                    }
                },
            }
            div { class: "form row",
                button { class: "button main-act", "data-testid": "edit-send", onclick: move |_| send(), {store.t(Key::EditSend)} }
                button { class: "button", onclick: move |_| close.call(()), {store.t(Key::Cancel)} }
            }
        }
    }
}

/// Which version of several is shown, and the way to its neighbours.
#[component]
fn Branch(branch: Option<BranchInfo>) -> Element {
    let store = use_context::<Store>();
    let Some(branch) = branch.filter(|branch| branch.count > 1) else { return rsx! {} };
    let (index, count) = ((branch.index + 1).to_string(), branch.count.to_string());
    let position = shell::say(&store, Key::BranchPosition, &[("index", &index), ("count", &count)]);
    let go = |node: Option<NodeId>, way: &'static str| {
        move |_| {
            if let Some(node) = node.clone() {
                focus::soon_on_branch(way);
                shell::intend(Intent::InThread(Act::SelectBranch(node)));
            }
        }
    };
    rsx! {
        span { class: "branch", role: "group", aria_label: "{position}",
            button {
                class: "icon small", "data-testid": "branch-previous", aria_label: store.t(Key::BranchPrevious), disabled: branch.previous.is_none(),
                onclick: go(branch.previous.clone(), "branch-previous"),
                Icon { shape: Shape::ChevronBack, size: 14 }
            }
            span { "aria-hidden": "true", "{index}/{count}" }
            button {
                class: "icon small", "data-testid": "branch-next", aria_label: store.t(Key::BranchNext), disabled: branch.next.is_none(),
                onclick: go(branch.next.clone(), "branch-next"),
                Icon { shape: Shape::Chevron, size: 14 }
            }
        }
    }
}

/// A message on its way.
#[component]
pub fn OutgoingMessage(input: UserInput, standing: Standing) -> Element {
    let store = use_context::<Store>();
    let word = standing.text(*store.language.read());
    let waiting = standing != Standing::Sending;
    rsx! {
        article { class: "message-user", "data-testid": "outgoing", "data-sending": "true", "data-waiting": "{waiting}", aria_label: store.t(Key::You),
            div { class: "bubble", dir: "auto", "{input.text}" }
            div { class: "meant", "{word}" }
        }
    }
}

/// What the model said.
#[component]
pub fn AssistantMessage(item_id: ItemId, item: Signal<ItemState>, last: bool) -> Element {
    let store = use_context::<Store>();
    let around = use_memo(move || {
        let item = item.read();
        let partial = item.details.as_ref().is_some_and(|details| details.partial);
        let empty = item.status == ItemStatus::Done && item.markdown.is_empty();
        Shown {
            status: Status(item.status),
            partial,
            empty,
            branch: item.meta.branch.clone(),
            node: node_of(&item.meta, &item_id),
        }
    });
    let shown = around.read().clone();
    let growing = shown.status.0 == ItemStatus::Running;
    let busy = *store.running.read();
    let class = if last && !busy { "row-last" } else { "" };
    let node = shown.node.clone();
    let again = move |_| {
        if let Some(input) = shell::input_before(&ItemId::from(&node)) {
            shell::intend(Intent::InThread(Act::Fork { node_id: node.clone(), input: Box::new(input) }));
        }
    };
    rsx! {
        article { class: "message-assistant {class}", "data-testid": "message-assistant", "data-status": shown.status.word(), aria_label: store.t(Key::Assistant), aria_busy: growing,
            Text { item, growing }
            if shown.empty {
                p { class: "partial", {store.t(Key::EmptyAnswer)} }
            }
            if shown.partial {
                p { class: "partial", {store.t(Key::PartialAnswer)} }
            }
            if !growing {
                div { class: "acts",
                    Branch { branch: shown.branch.clone() }
                    CopyMessage { item_id: ItemId::from(&shown.node) }
                    if !busy {
                        button {
                            class: "icon small", "data-testid": "regenerate", aria_label: store.t(Key::Regenerate), title: store.t(Key::Regenerate),
                            onclick: again,
                            Icon { shape: Shape::Again, size: 14 }
                        }
                    }
                }
            }
        }
    }
}

/// What of a message is shown around its text.
#[derive(Clone, PartialEq)]
struct Shown {
    status: Status,
    partial: bool,
    empty: bool,
    branch: Option<BranchInfo>,
    node: NodeId,
}

#[derive(Clone, Copy, PartialEq)]
struct Status(ItemStatus);

impl Status {
    const fn word(self) -> &'static str {
        match self.0 {
            ItemStatus::Running => "running",
            ItemStatus::Done => "done",
            ItemStatus::Failed => "failed",
        }
    }
}

#[component]
fn CopyMessage(item_id: ItemId) -> Element {
    let store = use_context::<Store>();
    let mut copied = use_signal(|| false);
    let label = store.t(if copied() { Key::Copied } else { Key::Copy });
    rsx! {
        button {
            class: "icon small", "data-testid": "copy", aria_label: label, title: label,
            onclick: move |_| {
                let text = shell::text_of(&item_id);
                async move {
                    let Some(text) = text else { return };
                    if clipboard::copy(&text).await {
                        copied.set(true);
                        clock::sleep_ms(COPIED_MS).await;
                        copied.set(false);
                    }
                }
            },
            Icon { shape: if copied() { Shape::Check } else { Shape::Copy }, size: 14 }
        }
    }
}

/// What the model thought, folded.
#[component]
pub fn Reasoning(item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let mut open = use_signal(|| false);
    let running = use_memo(move || item.read().status == ItemStatus::Running);
    rsx! {
        div { class: "fold", "data-testid": "reasoning",
            button { aria_expanded: open(), onclick: move |_| open.toggle(),
                span { class: "turn", Icon { shape: Shape::Chevron, size: 12 } }
                {store.t(if running() { Key::ReasoningRunning } else { Key::Reasoning })}
            }
            if open() {
                Thoughts { item }
            }
        }
    }
}

#[component]
fn Thoughts(item: Signal<ItemState>) -> Element {
    rsx! { div { class: "inside", dir: "auto", tabindex: "0", "{item.read().text}" } }
}

/// A word of the engine.
#[component]
pub fn Notice(item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let item = item.read();
    let text = notice(*store.language.read(), item.meta.notice, &item.text);
    rsx! {
        div { class: "notice", "data-testid": "notice", role: "note",
            Icon { shape: Shape::Warning }
            span { dir: "auto", "{text}" }
        }
    }
}
