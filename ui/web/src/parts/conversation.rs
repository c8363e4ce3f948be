//! The conversation: its rows in order, what is not confirmed behind them, and the way back to its end.

use dioxus::prelude::*;
use panelot_protocol::ids::ItemId;
use panelot_protocol::item::ItemKind;
use panelot_protocol::turn::StopReason;
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;
use panelot_ui::outgoing::behind_items;
use panelot_ui::rows::Row;

use super::icons::{Icon, Shape};
use super::messages::{AssistantMessage, Notice, OutgoingMessage, Reasoning, UserMessage};
use super::tools::{ToolGroup, ToolRow};
use super::waits::WaitNotice;
use crate::store::{Store, put};
use crate::{page, shell};

const SCROLLED_ID: &str = "conversation";
const COLUMN_ID: &str = "conversation-column";

/// The conversation, or the empty state when `blank`.
#[component]
pub fn Conversation(blank: bool) -> Element {
    let mut store = use_context::<Store>();
    use_effect(move || page::keep_end(SCROLLED_ID, COLUMN_ID, move || *store.following.peek()));
    rsx! {
        main {
            class: "main", id: SCROLLED_ID, "data-testid": "conversation", tabindex: "-1", aria_label: store.t(Key::Conversation),
            onscroll: move |_| {
                if let Some(element) = page::element(SCROLLED_ID) {
                    put(&mut store.following, page::is_at_end(&element));
                }
            },
            div { class: "column", id: COLUMN_ID,
                if blank {
                    Empty {}
                } else {
                    if *store.opening.read() {
                        div { class: "opening", role: "status", aria_label: store.t(Key::StatusStarting), Icon { shape: Shape::Spinner } }
                    }
                    Earlier {}
                    Rows {}
                    Outgoing {}
                    Ending {}
                }
            }
        }
    }
}

#[component]
fn Rows() -> Element {
    let store = use_context::<Store>();
    let rows = store.rows.read();
    let last = rows.len().saturating_sub(1);
    rsx! {
        for (at, row) in rows.iter().enumerate() {
            RowView { key: "{row.key()}", row: row.clone(), last: at == last }
        }
    }
}

#[component]
fn RowView(row: Row, last: bool) -> Element {
    match row {
        Row::Item(item_id) => rsx! { ItemView { item_id, last } },
        Row::Tools(items) => rsx! { ToolGroup { items } },
    }
}

#[component]
fn ItemView(item_id: ItemId, last: bool) -> Element {
    let store = use_context::<Store>();
    let Some(item) = store.item(&item_id) else { return rsx! {} };
    let kind = item.peek().kind;
    match kind {
        ItemKind::UserMessage => rsx! { UserMessage { item_id, item } },
        ItemKind::AssistantMessage => rsx! { AssistantMessage { item_id, item, last } },
        ItemKind::Reasoning => rsx! { Reasoning { item } },
        ItemKind::ToolCall => rsx! { div { class: "tools", ToolRow { item_id, item } } },
        ItemKind::SystemNotice => rsx! { Notice { item } },
        ItemKind::Interaction => rsx! { WaitNotice { item } },
        ItemKind::Approval => rsx! {},
    }
}

#[component]
fn Earlier() -> Element {
    let store = use_context::<Store>();
    let has = use_memo(move || store.around.read().as_ref().is_some_and(|around| around.has_earlier));
    rsx! {
        if has() {
            button {
                class: "button", style: "align-self: center", "data-testid": "earlier",
                onclick: move |_| {
                    page::hold_place(SCROLLED_ID);
                    shell::intend(Intent::Earlier);
                },
                {store.t(Key::OlderMessages)}
            }
        }
    }
}

#[component]
fn Outgoing() -> Element {
    let store = use_context::<Store>();
    let messages = use_memo(move || {
        let around = store.around.read();
        let turn = around.as_ref().and_then(|around| around.active_turn.as_ref());
        behind_items(turn.map(|turn| turn.steers.as_slice()).unwrap_or_default(), &store.outgoing.read())
    });
    rsx! {
        for (at, (input, standing)) in messages.read().iter().enumerate() {
            OutgoingMessage { key: "{at}", input: input.clone(), standing: *standing }
        }
    }
}

/// How the last turn ended, when that is worth a word.
#[component]
fn Ending() -> Element {
    let store = use_context::<Store>();
    let reason = use_memo(move || {
        let around = store.around.read();
        let around = around.as_ref().filter(|around| around.active_turn.is_none())?;
        around.last_end.as_ref().map(|end| end.stop_reason)
    });
    let key = match reason() {
        Some(StopReason::MaxTokens) => Key::EndMaxTokens,
        Some(StopReason::ContentFilter) => Key::EndContentFilter,
        Some(StopReason::BudgetPause) => Key::EndBudget,
        // These have a notice, an error or nothing to add.
        Some(StopReason::Interrupted | StopReason::End | StopReason::Done | StopReason::Error) | None => {
            return rsx! {};
        }
    };
    rsx! { p { class: "notice", Icon { shape: Shape::Warning } {store.t(key)} } }
}

#[component]
fn Empty() -> Element {
    let mut store = use_context::<Store>();
    let suggestions = [
        (Key::SuggestSummary, Shape::Page),
        (Key::SuggestFacts, Shape::List),
        (Key::SuggestForm, Shape::Pencil),
        (Key::SuggestTabs, Shape::Copy),
    ];
    rsx! {
        div { class: "empty", "data-testid": "empty",
            h2 { {store.t(Key::EmptyTitle)} }
            p { {store.t(Key::EmptyHint)} }
            div { class: "suggestions",
                for (key, shape) in suggestions {
                    button {
                        key: "{key:?}", class: "suggestion", "data-testid": "suggestion",
                        onclick: move |_| {
                            let text = store.t(key);
                            store.restore.set(Some(panelot_protocol::turn::UserInput::text(text)));
                        },
                        Icon { shape }
                        {store.t(key)}
                    }
                }
            }
        }
    }
}

/// The way back to the end, when the reader has left it.
#[component]
pub fn ToEnd() -> Element {
    let mut store = use_context::<Store>();
    let shown = !*store.following.read() && !store.rows.read().is_empty();
    rsx! {
        if shown {
            button {
                class: "button to-end", "data-testid": "to-end",
                onclick: move |_| {
                    put(&mut store.following, true);
                    if let Some(element) = page::element(SCROLLED_ID) {
                        element.set_scroll_top(element.scroll_height());
                    }
                },
                Icon { shape: Shape::Down, size: 14 }
                {store.t(Key::BackToEnd)}
            }
        }
    }
}
