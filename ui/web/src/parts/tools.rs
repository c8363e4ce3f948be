//! Tool calls: one row each, and three or more in a row folded into one.

use dioxus::prelude::*;
use panelot_protocol::ids::ItemId;
use panelot_protocol::item::{ActionOutcome, ItemStatus};
use panelot_ui::format::site;
use panelot_ui::i18n::Key;
use panelot_ui::item::ItemState;
use panelot_ui::phrases::tool_line;

use super::icons::{Icon, Shape};
use crate::shell;
use crate::store::Store;

/// How a call stands, the user's answer included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// The user is asked.
    Waiting,
    /// It runs.
    Running,
    /// It went well.
    Done,
    /// It did not.
    Failed,
}

impl Stand {
    const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    const fn icon(self) -> Shape {
        match self {
            Self::Waiting => Shape::Clock,
            Self::Running => Shape::Spinner,
            Self::Done => Shape::Check,
            Self::Failed => Shape::Cross,
        }
    }

    const fn name(self) -> Key {
        match self {
            Self::Waiting => Key::StateWaiting,
            Self::Running => Key::StateRunning,
            Self::Done => Key::StateDone,
            Self::Failed => Key::StateFailed,
        }
    }
}

fn stand(store: &Store, item_id: &ItemId, status: ItemStatus) -> Stand {
    match status {
        ItemStatus::Done => Stand::Done,
        ItemStatus::Failed => Stand::Failed,
        ItemStatus::Running => {
            let around = store.around.read();
            let asked = around.as_ref().is_some_and(|around| {
                around.approvals.iter().any(|pending| pending.request.item_id == *item_id)
                    || around.interactions.iter().any(|pending| {
                        pending.request.needs_user() && pending.request.item_id() == Some(item_id)
                    })
            });
            if asked { Stand::Waiting } else { Stand::Running }
        }
    }
}

/// How sure it is that a change happened.
fn outcome_of(item: &ItemState) -> Option<ActionOutcome> {
    item.details.as_ref().and_then(|details| details.outcome)
}

/// One call.
#[component]
pub fn ToolRow(item_id: ItemId, item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let mut open = use_signal(|| false);
    let stands = {
        let item_id = item_id.clone();
        use_memo(move || stand(&store, &item_id, item.read().status))
    };
    let state = item.read();
    let words = tool_line(*store.language.read(), &state.meta, state.status, outcome_of(&state));
    let tool = state.meta.tool_name.clone().unwrap_or_default();
    let place = match stands() {
        Stand::Waiting => store.t(Key::ToolWaitsForYou).to_owned(),
        Stand::Running | Stand::Done | Stand::Failed => {
            state.meta.origin.as_deref().map(site).unwrap_or_default().to_owned()
        }
    };
    let standing = store.t(stands().name());
    rsx! {
        div { class: "tool", "data-testid": "tool-row", "data-status": stands().word(), "data-tool": "{tool}",
            button {
                aria_expanded: open(),
                onclick: move |_| open.toggle(),
                span { class: "mark", Icon { shape: stands().icon() } }
                span { class: "words", dir: "auto", "{words}" span { class: "sr", " ({standing})" } }
                span { class: "where", dir: "auto", "{place}" }
            }
            if open() {
                Inside { item }
            }
        }
    }
}

#[component]
fn Inside(item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let item = item.read();
    let params = item.meta.params.as_ref().and_then(|params| serde_json::to_string_pretty(params).ok());
    let details = item.details.as_ref();
    let summary = details.and_then(|details| details.summary.clone());
    let uncertain = outcome_of(&item) == Some(ActionOutcome::Uncertain);
    let progress = item.progress.as_ref().and_then(|progress| serde_json::to_string(progress).ok());
    rsx! {
        div { class: "inside",
            if uncertain {
                p { class: "partial", {store.t(Key::ToolUncertain)} }
            }
            if let Some(params) = params {
                h3 { {store.t(Key::ToolParameters)} }
                pre { class: "data", tabindex: "0", "{params}" }
            }
            if let Some(text) = summary.or(progress) {
                h3 { {store.t(Key::ToolResult)} }
                pre { class: "data", tabindex: "0", "{text}" }
            }
        }
    }
}

/// Three calls or more in a row.
#[component]
pub fn ToolGroup(items: ReadSignal<Vec<ItemId>>) -> Element {
    let store = use_context::<Store>();
    let mut open = use_signal(|| false);
    // Reads statuses only, so that a call's progress does not repaint the group.
    let sum = use_memo(move || {
        let mut sum = Sum { failed: 0, stand: Stand::Done, current: None };
        for item_id in items.read().iter() {
            let Some(item) = store.item(item_id) else { continue };
            let stands = stand(&store, item_id, item.read().status);
            match stands {
                Stand::Failed => sum.failed += 1,
                Stand::Done => {}
                Stand::Running | Stand::Waiting => {
                    sum.stand = stands;
                    sum.current = Some(item_id.clone());
                }
            }
        }
        if sum.stand == Stand::Done && sum.failed > 0 {
            sum.stand = Stand::Failed;
        }
        sum
    });
    let sum = sum.read().clone();
    let count = items.read().len().to_string();
    let words = match &sum.current {
        Some(current) => {
            let line = store.item(current).map(|item| {
                let item = item.read();
                tool_line(*store.language.read(), &item.meta, item.status, outcome_of(&item))
            });
            shell::say(
                &store,
                Key::ToolGroupRunning,
                &[("count", &count), ("current", &line.unwrap_or_default())],
            )
        }
        None if sum.failed > 0 => shell::say(
            &store,
            Key::ToolGroupFailed,
            &[("count", &count), ("failed", &sum.failed.to_string())],
        ),
        None => shell::say(&store, Key::ToolGroupDone, &[("count", &count)]),
    };
    let waiting = if sum.stand == Stand::Waiting { store.t(Key::ToolWaitsForYou) } else { "" };
    rsx! {
        div { class: "tools", "data-testid": "tool-group",
            div { class: "tool", "data-status": sum.stand.word(),
                button { aria_expanded: open(), onclick: move |_| open.toggle(),
                    span { class: "mark", Icon { shape: sum.stand.icon() } }
                    span { class: "words", dir: "auto", "{words}" }
                    span { class: "where", "{waiting}" }
                }
            }
            div { class: "nested", hidden: !open(),
                for item_id in items.read().iter() {
                    Member { key: "{item_id}", item_id: item_id.clone() }
                }
            }
        }
    }
}

#[derive(Clone, PartialEq)]
struct Sum {
    failed: usize,
    stand: Stand,
    current: Option<ItemId>,
}

#[component]
fn Member(item_id: ItemId) -> Element {
    let store = use_context::<Store>();
    match store.item(&item_id) {
        Some(item) => rsx! { ToolRow { item_id, item } },
        None => rsx! {},
    }
}
