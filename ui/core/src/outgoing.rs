//! Messages that were sent and are not part of the thread yet, and how far each is.

use panelot_protocol::ids::{RunId, SubmissionId};
use panelot_protocol::settings::Language;
use panelot_protocol::turn::{TurnOverrides, UserInput};

use crate::i18n::{Key, fill};

/// A message that was sent and is not part of the thread yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Its Op.
    pub submission_id: SubmissionId,
    /// What was written.
    pub input: UserInput,
    /// How its turn is to differ.
    pub(crate) overrides: Option<TurnOverrides>,
    /// The run that took it, once that is known.
    pub(crate) run_id: Option<RunId>,
    /// Whether it was meant for a running turn.
    pub(crate) steer: bool,
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

/// How far each of these messages is. One behind the running turn is not among them once it waits: the queue shows it.
#[must_use]
pub fn standings(outgoing: &[Outgoing]) -> Vec<Standing> {
    let waits = |sent: &Outgoing| sent.steer && sent.run_id.is_some();
    let count = outgoing.iter().filter(|sent| waits(sent)).count();
    let mut place = 0;
    let standing = |sent: &Outgoing| {
        if !waits(sent) {
            return Standing::Sending;
        }
        place += 1;
        Standing::Waiting { place, count }
    };
    outgoing.iter().map(standing).collect()
}
