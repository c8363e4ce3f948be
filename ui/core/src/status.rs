//! The one line above the composer: what the thread does now, in the same words as the thread list.

use panelot_protocol::interaction::InteractionRequestPayload;
use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::settings::Language;
use panelot_protocol::snapshot::{RecoveryReason, ThreadActivity, ThreadSnapshot, Waiting, WaitingReason};

use crate::format::LocalTime;
use crate::i18n::{Key, fill};
use crate::phrases::tool_line;

/// Waits shorter than this are counted down; of longer ones the time of day is said.
const COUNTED_MS_MAX: u64 = 120_000;

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
    /// A wait whose end is known, to be shown in the place of the words.
    pub countdown: Option<Countdown>,
}

/// A wait whose end is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Countdown {
    kind: CountdownKind,
    until_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountdownKind {
    RateLimit,
    Retry,
    User,
    Page,
    Time,
}

impl Countdown {
    fn of(waiting: &Waiting) -> Option<Self> {
        let kind = match waiting.reason {
            WaitingReason::RateLimit => CountdownKind::RateLimit,
            WaitingReason::Retry => CountdownKind::Retry,
            WaitingReason::SlowProvider | WaitingReason::PageLoading | WaitingReason::SlowTool => {
                return None;
            }
        };
        Some(Self { kind, until_ms: waiting.until_ms? })
    }

    /// What is shown at a time: the seconds that are left when they are few, else the time of day; once the time has come,
    /// that it is about to go on.
    #[must_use]
    pub fn text(self, language: Language, time: LocalTime) -> String {
        let (over, near, far) = match self.kind {
            CountdownKind::RateLimit => {
                (Key::StatusRateLimit, Key::StatusRateLimitIn, Key::StatusRateLimitUntil)
            }
            CountdownKind::Retry => (Key::StatusRetry, Key::StatusRetryIn, Key::StatusRetryUntil),
            CountdownKind::User => (Key::StatusWaitingForYou, Key::StatusForYouIn, Key::StatusForYouUntil),
            CountdownKind::Page => (Key::StatusWatching, Key::StatusWatchingIn, Key::StatusWatchingUntil),
            CountdownKind::Time => (Key::StatusLater, Key::StatusLaterIn, Key::StatusLaterAt),
        };
        match self.until_ms.saturating_sub(time.now_ms) {
            0 => over.text(language).to_owned(),
            left_ms if left_ms < COUNTED_MS_MAX => {
                fill(language, near, &[("seconds", &left_ms.div_ceil(1_000).to_string())])
            }
            _ => fill(language, far, &[("time", &time.moment(self.until_ms))]),
        }
    }
}

/// The line for a thread, or `None` when there is nothing to say.
///
/// The user's own decision comes first, then waits, then what the newest running item does.
#[must_use]
pub fn status(language: Language, thread: &ThreadSnapshot, stopping: bool) -> Option<Status> {
    let say = |text: String, mark: Mark| Some(Status { text, mark, countdown: None });
    if !thread.approvals.is_empty() {
        return say(Key::StatusWaitingForYou.text(language).to_owned(), Mark::Asking);
    }
    if let Some(wait) = thread.interactions.first() {
        return Some(awaited(language, &wait.request));
    }
    if let Some(run) = thread.recoverable.first() {
        let key = match run.reason {
            RecoveryReason::Interrupted => Key::StatusInterrupted,
            RecoveryReason::BudgetPaused => Key::StatusBudget,
            RecoveryReason::UncertainWrite | RecoveryReason::EnvironmentChanged => Key::StatusUncertain,
        };
        return say(key.text(language).to_owned(), Mark::Asking);
    }
    let turn = thread.active_turn.as_ref()?;
    if stopping {
        return say(Key::StatusStopping.text(language).to_owned(), Mark::Working);
    }
    if let Some(waiting) = &turn.waiting {
        let text = wait(waiting.reason).text(language).to_owned();
        return Some(Status { text, mark: Mark::Waiting, countdown: Countdown::of(waiting) });
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
            ItemKind::Reasoning
            | ItemKind::UserMessage
            | ItemKind::Approval
            | ItemKind::Interaction
            | ItemKind::SystemNotice => Key::StatusThinking.text(language).to_owned(),
        },
        None => Key::StatusThinking.text(language).to_owned(),
    };
    say(text, Mark::Working)
}

/// The line of an open wait: what is awaited, and until when.
fn awaited(language: Language, request: &InteractionRequestPayload) -> Status {
    let (kind, key, mark) = match request {
        InteractionRequestPayload::AskUser { .. }
        | InteractionRequestPayload::UserAction { .. }
        | InteractionRequestPayload::Takeover { .. }
        | InteractionRequestPayload::Elicitation { .. } => {
            (CountdownKind::User, Key::StatusWaitingForYou, Mark::Asking)
        }
        InteractionRequestPayload::WatchPage { .. } => {
            (CountdownKind::Page, Key::StatusWatching, Mark::Waiting)
        }
        InteractionRequestPayload::ScheduleResume { .. } => {
            (CountdownKind::Time, Key::StatusLater, Mark::Waiting)
        }
    };
    let countdown = request.deadline_ms().map(|until_ms| Countdown { kind, until_ms });
    Status { text: key.text(language).to_owned(), mark, countdown }
}

const fn wait(reason: WaitingReason) -> Key {
    match reason {
        WaitingReason::RateLimit => Key::StatusRateLimit,
        WaitingReason::Retry => Key::StatusRetry,
        WaitingReason::SlowProvider => Key::StatusSlowProvider,
        WaitingReason::PageLoading => Key::StatusPageLoading,
        WaitingReason::SlowTool => Key::StatusSlowTool,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 13:21:00 UTC.
    const NOW_MS: u64 = 1_796_044_860_000;

    fn shown(reason: WaitingReason, left_ms: u64) -> Option<[String; 2]> {
        let waiting = Waiting { reason, until_ms: Some(NOW_MS + left_ms) };
        let time = LocalTime { now_ms: NOW_MS, offset_minutes: 60 };
        let countdown = Countdown::of(&waiting)?;
        Some([Language::English, Language::Chinese].map(|language| countdown.text(language, time)))
    }

    #[test]
    fn a_short_wait_is_counted_down_and_a_long_one_has_a_time() {
        let cases = [
            (120_000, "Trying again at 14:23", "将于 14:23 重试"),
            (119_999, "Trying again in 120 s", "120 秒后重试"),
            (12_000, "Trying again in 12 s", "12 秒后重试"),
            (11_001, "Trying again in 12 s", "12 秒后重试"),
            (1, "Trying again in 1 s", "1 秒后重试"),
            (0, "Trying again soon", "即将重试"),
        ];
        for (left_ms, english, chinese) in cases {
            let expected = [english, chinese].map(str::to_owned);
            assert_eq!(shown(WaitingReason::Retry, left_ms), Some(expected), "{left_ms}");
        }
    }

    #[test]
    fn a_pause_that_the_provider_asked_for_is_counted_down_too() {
        let expected = ["The provider asked for a pause: 30 s left", "服务商要求暂停，还剩 30 秒"];
        assert_eq!(shown(WaitingReason::RateLimit, 30_000), Some(expected.map(str::to_owned)));
    }

    #[test]
    fn an_open_wait_says_what_is_awaited_and_until_when() {
        let item_id = || panelot_protocol::ids::ItemId::new("call");
        let ask = |deadline_ms| InteractionRequestPayload::AskUser {
            item_id: item_id(),
            question: "Which?".into(),
            options: Vec::new(),
            deadline_ms,
        };
        let later = InteractionRequestPayload::ScheduleResume {
            item_id: item_id(),
            at_ms: NOW_MS + 2 * 86_400_000,
            reason: "Look.".into(),
        };
        let watch = InteractionRequestPayload::WatchPage {
            item_id: item_id(),
            tab_id: panelot_protocol::ids::TabId(1),
            condition: "\"Shipped\"".into(),
            deadline_ms: NOW_MS + 30_000,
        };
        let cases = [
            (ask(None), Mark::Asking, None),
            (ask(Some(NOW_MS + 600_000)), Mark::Asking, Some("Waiting for you until 14:31")),
            (watch, Mark::Waiting, Some("Watching the page: 30 s left")),
            (later, Mark::Waiting, Some("Goes on at 12-02 14:21")),
        ];
        let time = LocalTime { now_ms: NOW_MS, offset_minutes: 60 };
        for (request, mark, counted) in cases {
            let status = awaited(Language::English, &request);
            let text = status.countdown.map(|countdown| countdown.text(Language::English, time));
            assert_eq!((status.mark, text.as_deref()), (mark, counted));
        }
    }

    #[test]
    fn a_wait_whose_end_nobody_knows_is_not_counted_down() {
        let waiting = Waiting { reason: WaitingReason::Retry, until_ms: None };
        assert_eq!(Countdown::of(&waiting), None);
        for reason in [WaitingReason::SlowProvider, WaitingReason::PageLoading, WaitingReason::SlowTool] {
            assert_eq!(shown(reason, 1_000), None, "{reason:?}");
        }
    }
}
