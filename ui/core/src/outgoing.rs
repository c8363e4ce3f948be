//! Messages that were sent and are not part of the thread yet, and how far each is.

use panelot_protocol::FromJson;
use panelot_protocol::ids::{RunId, SubmissionId, ThreadId};
use panelot_protocol::settings::Language;
use panelot_protocol::turn::{TurnOverrides, UserInput};
use serde_json::Value;

use crate::i18n::{Key, fill};

/// A message that was sent and is not part of the thread yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Its Op.
    pub submission_id: SubmissionId,
    /// Where it belongs.
    pub place: Place,
    /// What was written.
    pub input: UserInput,
    /// How its turn is to differ.
    pub overrides: Option<TurnOverrides>,
    /// The run that took it, once that is known.
    pub run_id: Option<RunId>,
    /// Whether it was meant for a running turn.
    pub steer: bool,
}

/// Where a message belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Into this thread.
    Thread(ThreadId),
    /// Into the thread that this Op makes.
    New(SubmissionId),
}

/// The message for which a thread is made. It is kept with the Op that makes the thread, so that it is sent by whoever
/// hears of the thread: this page, its next life, or another page.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstMessage {
    /// Its Op.
    pub submission_id: SubmissionId,
    /// What was written.
    pub input: UserInput,
    /// How its turn is to differ.
    pub overrides: Option<TurnOverrides>,
}

impl Outgoing {
    /// The message that the text of an Op carries; `None` for an Op without one.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let Value::Object(mut op) = serde_json::from_str::<Value>(text).ok()? else { return None };
        let steer = match op.get("type")?.as_str()? {
            "turn.submit" | "turn.enqueue" => false,
            "turn.steer" => true,
            _ => return None,
        };
        let overrides = match op.remove("overrides") {
            Some(value) => Option::<TurnOverrides>::from_json(value).ok()?,
            None => None,
        };
        Some(Self {
            submission_id: SubmissionId::from_json(op.remove("submissionId")?).ok()?,
            place: Place::Thread(ThreadId::from_json(op.remove("threadId")?).ok()?),
            input: UserInput::from_json(op.remove("input")?).ok()?,
            overrides,
            run_id: None,
            steer,
        })
    }
}

/// How far a message is that is not part of the thread yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is on its way to the engine, or about to be shown.
    Sending,
    /// The engine has it, and the running turn reads it at its next step.
    Waiting {
        /// Its place among those that wait, from 1.
        place: usize,
        /// How many wait.
        count: usize,
    },
}

impl Standing {
    /// The words.
    #[must_use]
    pub fn text(self, language: Language) -> String {
        match self {
            Self::Sending => Key::SentMessage.text(language).to_owned(),
            Self::Waiting { count: 1, .. } => Key::WaitingMessage.text(language).to_owned(),
            Self::Waiting { place, count } => fill(
                language,
                Key::WaitingMessagePlace,
                &[("index", &place.to_string()), ("count", &count.to_string())],
            ),
        }
    }
}

/// The messages behind the thread's items, in their order, and how far each is: first those that wait for the running
/// turn, whichever page sent them, then those that this page has sent and nobody has confirmed.
#[must_use]
pub fn behind_items(steers: &[UserInput], outgoing: &[Outgoing]) -> Vec<(UserInput, Standing)> {
    let count = steers.len();
    let waiting = steers
        .iter()
        .enumerate()
        .map(|(at, input)| (input.clone(), Standing::Waiting { place: at.saturating_add(1), count }));
    let sending = outgoing.iter().map(|sent| (sent.input.clone(), Standing::Sending));
    waiting.chain(sending).collect()
}
