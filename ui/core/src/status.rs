//! The one line above the composer: what the thread does now, in the same words as the thread list.

use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::settings::Language;
use panelot_protocol::snapshot::{RecoveryReason, ThreadActivity, ThreadSnapshot, Waiting, WaitingReason};

use crate::format::LocalTime;
use crate::i18n::{Key, fill};
use crate::phrases::tool_line;

/// How the line is marked, beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Work goes on.
    Working,
    /// Something outside is awaited.
    Waiting,
    /// The user is asked.
    Asking,
}

/// The line's words and mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The words.
    pub text: String,
    /// The mark.
    pub mark: Mark,
}

/// The line for a thread, or `None` when there is nothing to say.
///
/// The user's own decision comes first, then waits, then what the newest running item does.
#[must_use]
pub fn status(
    language: Language,
    thread: &ThreadSnapshot,
    stopping: bool,
    time: LocalTime,
) -> Option<Status> {
    let say = |text: String, mark: Mark| Some(Status { text, mark });
    if !thread.approvals.is_empty() || !thread.interactions.is_empty() {
        return say(Key::StatusWaitingForYou.text(language).to_owned(), Mark::Asking);
    }
    if let Some(run) = thread.recoverable.first() {
        let key = match run.reason {
            RecoveryReason::Interrupted => Key::StatusInterrupted,
            RecoveryReason::UncertainWrite
            | RecoveryReason::BudgetPaused
            | RecoveryReason::EnvironmentChanged => Key::StatusUncertain,
        };
        return say(key.text(language).to_owned(), Mark::Asking);
    }
    let turn = thread.active_turn.as_ref()?;
    if stopping {
        return say(Key::StatusStopping.text(language).to_owned(), Mark::Working);
    }
    if let Some(waiting) = &turn.waiting {
        return say(wait(language, waiting, time), Mark::Waiting);
    }
    let running = thread
        .items
        .iter()
        .rev()
        .take_while(|item| item.turn_id == turn.turn_id)
        .find(|item| item.status == ItemStatus::Running && item.kind != ItemKind::UserMessage);
    let text = match running {
        Some(item) => match item.kind {
            ItemKind::ToolCall => tool_line(language, &item.meta, ItemStatus::Running, None),
            ItemKind::AssistantMessage => Key::StatusWriting.text(language).to_owned(),
            ItemKind::Reasoning | ItemKind::UserMessage | ItemKind::Approval | ItemKind::SystemNotice => {
                Key::StatusThinking.text(language).to_owned()
            }
        },
        None => Key::StatusThinking.text(language).to_owned(),
    };
    say(text, Mark::Working)
}

fn wait(language: Language, waiting: &Waiting, time: LocalTime) -> String {
    let (plain, timed) = match waiting.reason {
        WaitingReason::RateLimit => (Key::StatusRateLimit, Some(Key::StatusRateLimitUntil)),
        WaitingReason::Retry => (Key::StatusRetry, Some(Key::StatusRetryUntil)),
        WaitingReason::SlowProvider => (Key::StatusSlowProvider, None),
        WaitingReason::PageLoading => (Key::StatusPageLoading, None),
        WaitingReason::SlowTool => (Key::StatusSlowTool, None),
    };
    match (timed, waiting.until_ms) {
        (Some(timed), Some(until_ms)) => fill(language, timed, &[("time", &time.clock(until_ms))]),
        _ => plain.text(language).to_owned(),
    }
}

/// The word for a thread in the list; `None` when it does nothing.
#[must_use]
pub fn activity(activity: ThreadActivity) -> Option<(Key, Mark)> {
    match activity {
        ThreadActivity::Idle => None,
        ThreadActivity::Running => Some((Key::MarkRunning, Mark::Working)),
        ThreadActivity::WaitingForUser => Some((Key::MarkWaiting, Mark::Asking)),
        ThreadActivity::NeedsRecovery => Some((Key::MarkRecovery, Mark::Asking)),
    }
}
