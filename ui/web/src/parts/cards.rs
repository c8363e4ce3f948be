//! What needs a decision, above the composer: questions, recovery, waits, and the queue.

use dioxus::prelude::*;
use panelot_protocol::approval::{ApprovalDecision, PendingApproval};
use panelot_protocol::op::UncertainResolution;
use panelot_protocol::snapshot::{RecoveryReason, RunRecoveryState};
use panelot_ui::format::time_left;
use panelot_ui::i18n::{Key, Piece};
use panelot_ui::intents::{Act, Intent};
use panelot_ui::phrases::{question, reach, recovery, risk};

use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use super::ticks::use_local_time;
use super::waits::Interaction;
use crate::chrome::clock;
use crate::store::Store;
use crate::{page, shell};

/// A question takes no answer for so long after it has appeared: what is typed or clicked then was meant for something
/// else, such as the question before it, which stood in the same place.
pub const ASLEEP_MS: u64 = 600;

/// The first of what waits for the user. A question comes before a wait, a wait before recovery.
#[component]
pub fn Cards() -> Element {
    let store = use_context::<Store>();
    let around = store.around.read();
    let Some(around) = around.as_ref() else { return rsx! {} };
    let count = around.approvals.len();
    if let Some(pending) = around.approvals.first() {
        return rsx! { Approval { key: "{pending.approval_id}", pending: pending.clone(), count } };
    }
    if let Some(pending) = around.interactions.first() {
        return rsx! { Interaction { key: "{pending.interaction_id}", pending: pending.clone() } };
    }
    match around.recoverable.first() {
        Some(run) => rsx! { Recovery { key: "{run.run_id}", run: run.clone() } },
        None => rsx! {},
    }
}

#[component]
fn Sentence(pieces: Vec<Piece>) -> Element {
    rsx! {
        for piece in pieces {
            if piece.strong {
                b { "{piece.text}" }
            } else {
                "{piece.text}"
            }
        }
    }
}

#[component]
fn Approval(pending: PendingApproval, count: usize) -> Element {
    let store = use_context::<Store>();
    let mut awake = use_signal(|| false);
    use_future(move || async move {
        clock::sleep_ms(ASLEEP_MS).await;
        awake.set(true);
    });
    let mut more = use_signal(|| false);
    let mut decided = use_signal(|| false);
    let note = use_signal(String::new);
    let request = &pending.request;
    let language = *store.language.read();
    let sentence = question(language, request);
    let words: String = sentence.iter().map(|piece| piece.text.as_str()).collect();
    let announced = shell::say(&store, Key::AskAnnounce, &[("sentence", &words)]);
    use_effect(move || store.announce(announced.clone()));
    let approval_id = pending.approval_id.clone();
    let decide = use_callback(move |decision: ApprovalDecision| {
        if awake() && !decided() {
            decided.set(true);
            shell::intend(Intent::Decide { approval_id: approval_id.clone(), decision });
            page::focus(INPUT_ID);
        }
    });
    let decline = use_callback(move |()| {
        let note = note.peek().trim().to_owned();
        decide.call(ApprovalDecision::Decline { note: Some(note).filter(|note| !note.is_empty()) });
    });
    let params = serde_json::to_string_pretty(&request.params).unwrap_or_default();
    let busy = decided() || !awake();
    let reach = reach(language, request);
    rsx! {
        section {
            class: "card", "data-testid": "approval", "data-approval": "{pending.approval_id}", role: "group",
            "data-awake": awake(), aria_label: store.t(Key::AskTitle), "aria-description": store.t(Key::AskKeys), tabindex: "0",
            onkeydown: move |event| {
                if is_composing(&event) {
                    return;
                }
                let decision = match pressed(&event) {
                    Pressed::Escape => ApprovalDecision::Cancel {},
                    Pressed::Letter('y') => ApprovalDecision::Accept {},
                    Pressed::Letter('s') => ApprovalDecision::AcceptForSession {},
                    Pressed::Letter('a') => ApprovalDecision::AcceptForSite {},
                    Pressed::Letter('n') => {
                        event.prevent_default();
                        decline.call(());
                        return;
                    }
                    Pressed::Letter(_) | Pressed::Enter | Pressed::Other => return,
                };
                event.prevent_default();
                event.stop_propagation();
                decide.call(decision);
            },
            div { class: "card-head",
                span { {store.t(Key::AskTitle)} }
                span {
                    if count > 1 {
                        {shell::say(&store, Key::QueuePosition, &[("index", "1"), ("count", &count.to_string())])}
                        " · "
                    }
                    TimeLeft { until_ms: request.deadline_ms }
                }
            }
            p { class: "sentence", dir: "auto", Sentence { pieces: sentence } }
            for flag in request.flags.iter() {
                p { class: "risk", Icon { shape: Shape::Warning } span { {store.t(risk(*flag))} } }
            }
            div { class: "pair",
                button {
                    class: "button main-act", "data-testid": "approve", disabled: busy, aria_keyshortcuts: "Y",
                    onclick: move |_| decide.call(ApprovalDecision::Accept {}),
                    {store.t(Key::Allow)} kbd { "Y" }
                }
                button {
                    class: "button", "data-testid": "decline", disabled: busy, aria_keyshortcuts: "N",
                    onclick: move |_| decline.call(()),
                    {store.t(Key::Decline)} kbd { "N" }
                }
            }
            button {
                class: "link", style: "align-self: flex-start", "data-testid": "approval-more", aria_expanded: more(),
                onclick: move |_| more.toggle(),
                {store.t(if more() { Key::Less } else { Key::More })}
            }
            div { class: "more", hidden: !more(),
                button {
                    class: "button", "data-testid": "approve-session", disabled: busy, aria_keyshortcuts: "S",
                    onclick: move |_| decide.call(ApprovalDecision::AcceptForSession {}),
                    {reach.in_chat} kbd { "S" }
                }
                button {
                    class: "button", "data-testid": "approve-site", disabled: busy || request.origin.is_none(), aria_keyshortcuts: "A",
                    onclick: move |_| decide.call(ApprovalDecision::AcceptForSite {}),
                    {reach.on_site} kbd { "A" }
                }
                button {
                    class: "button risky", "data-testid": "cancel", disabled: busy, aria_keyshortcuts: "Escape",
                    onclick: move |_| decide.call(ApprovalDecision::Cancel {}),
                    {store.t(Key::DeclineStop)} kbd { "Esc" }
                }
                Note { note }
                if let Some(line) = request.preview.as_ref().and_then(|preview| preview.snapshot_line.clone()) {
                    pre { class: "data", tabindex: "0", "{line}" }
                }
                pre { class: "data", "data-testid": "approval-params", tabindex: "0", aria_label: store.t(Key::ToolParameters), "{request.tool_name}\n{params}" }
            }
        }
    }
}

/// Where the user says why not. Its keys are text, not answers.
#[component]
fn Note(note: Signal<String>) -> Element {
    let store = use_context::<Store>();
    rsx! {
        input {
            class: "input", "data-testid": "decline-note", dir: "auto", aria_label: store.t(Key::DeclineNote), placeholder: store.t(Key::DeclineNote),
            maxlength: "4096", value: "{note}",
            oninput: move |event| note.set(event.value()),
            onkeydown: move |event| {
                if pressed(&event) != Pressed::Escape {
                    event.stop_propagation();
                }
            },
        }
    }
}

#[component]
fn TimeLeft(until_ms: u64) -> Element {
    let store = use_context::<Store>();
    let time = use_local_time();
    let left = time_left(until_ms, time().now_ms);
    let text = shell::say(&store, Key::TimeLeft, &[("time", &left)]);
    rsx! { span { role: "timer", "{text}" } }
}

#[component]
fn Recovery(run: RunRecoveryState) -> Element {
    let store = use_context::<Store>();
    let pieces = recovery(*store.language.read(), run.reason, run.pending_tool.as_ref());
    let uncertain = run.reason == RecoveryReason::UncertainWrite;
    let word = match run.reason {
        RecoveryReason::UncertainWrite => "uncertain",
        RecoveryReason::BudgetPaused => "budget",
        RecoveryReason::Interrupted | RecoveryReason::EnvironmentChanged => "interrupted",
    };
    let run_id = run.run_id.clone();
    let act = use_callback(move |act: Option<UncertainResolution>| {
        let act = match act {
            Some(resolution) => Act::Resolve(run_id.clone(), resolution),
            None => Act::Resume(run_id.clone()),
        };
        shell::intend(Intent::InThread(act));
    });
    rsx! {
        section { class: "card", "data-testid": "recovery", "data-reason": word, role: "group", aria_label: store.t(Key::StatusUncertain),
            p { class: "sentence", dir: "auto", Sentence { pieces } }
            div { class: "many",
                if uncertain {
                    button { class: "button main-act", "data-testid": "mark-done", onclick: move |_| act.call(Some(UncertainResolution::MarkDone)), {store.t(Key::MarkDone)} }
                    button { class: "button", "data-testid": "retry", onclick: move |_| act.call(Some(UncertainResolution::Retry)), {store.t(Key::Retry)} }
                    button { class: "button risky", "data-testid": "fail", onclick: move |_| act.call(Some(UncertainResolution::Fail)), {store.t(Key::Fail)} }
                } else {
                    button { class: "button main-act", "data-testid": "continue", onclick: move |_| act.call(None), {store.t(Key::Continue)} }
                }
            }
        }
    }
}

/// Messages that wait for their turn.
#[component]
pub fn Queue() -> Element {
    let store = use_context::<Store>();
    let queue =
        use_memo(move || store.around.read().as_ref().map(|around| around.queue.clone()).unwrap_or_default());
    let queue = queue.read();
    if queue.runs.is_empty() {
        return rsx! {};
    }
    let title = shell::say(&store, Key::QueueTitle, &[("count", &queue.runs.len().to_string())]);
    rsx! {
        section { class: "queue", "data-testid": "queue", "data-held": queue.held, aria_label: "{title}",
            header {
                span { "{title}" if queue.held { " · " {store.t(Key::QueueHeld)} } }
                if queue.held {
                    button { class: "link", "data-testid": "queue-release", onclick: move |_| { shell::intend(Intent::InThread(Act::ReleaseQueue)); }, {store.t(Key::QueueRelease)} }
                }
            }
            ol {
                for run in queue.runs.iter().cloned() {
                    li { key: "{run.run_id}", "data-testid": "queue-row",
                        span { dir: "auto", "{run.input.text}" }
                        button {
                            class: "icon small", "data-testid": "queue-remove", aria_label: store.t(Key::QueueRemove), title: store.t(Key::QueueRemove),
                            onclick: { let run_id = run.run_id.clone(); move |_| { shell::intend(Intent::InThread(Act::Unqueue(run_id.clone()))); } },
                            Icon { shape: Shape::Cross, size: 14 }
                        }
                    }
                }
            }
        }
    }
}
