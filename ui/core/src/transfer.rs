//! An export that comes in, or a document that goes out to be imported: one at a time, chunk by chunk.

use std::collections::VecDeque;

use panelot_protocol::event::{AgentEvent, LeftOut};
use panelot_protocol::ids::{SubmissionId, TransferId};
use panelot_protocol::limits;
use panelot_protocol::op::{ImportMode, Op};

use crate::connection::Surroundings;

/// Bytes of one chunk: small enough for the outbox, whatever its text becomes as JSON.
const CHUNK_BYTES_MAX: usize = 512 * 1_024;

/// What a person sees of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Transfer {
    /// Nothing.
    #[default]
    None,
    /// An export comes in.
    Exporting {
        /// Bytes so far.
        bytes: usize,
    },
    /// An export is there.
    Exported {
        /// Its bytes.
        bytes: usize,
    },
    /// A document goes out.
    Importing {
        /// The part that is on its way, from 1.
        part: u32,
        /// How many there are.
        total: u32,
    },
    /// The document was imported.
    Imported {
        /// Threads that came in.
        threads: u64,
        /// What did not.
        left_out: Vec<LeftOut>,
    },
    /// The document was refused, and nothing was written.
    Refused {
        /// What is wrong with it, each with its path.
        problems: Vec<String>,
    },
}

/// The machine.
#[derive(Debug, Default)]
pub struct Transfers {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Exporting {
        submission_id: SubmissionId,
        text: String,
    },
    Exported {
        text: String,
    },
    Importing(Outgoing),
    Ended(Transfer),
}

/// A document on its way out.
#[derive(Debug)]
struct Outgoing {
    submission_id: SubmissionId,
    transfer_id: TransferId,
    mode: ImportMode,
    /// The chunk that is on its way.
    index: u32,
    total: u32,
    /// The chunks behind it.
    rest: VecDeque<String>,
}

/// What came of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// Nothing: it concerns something else.
    Nothing,
    /// What is shown changed.
    Changed,
    /// What is shown changed, and this is said next.
    Say(Box<Op>),
}

impl Transfers {
    /// What a person sees.
    #[must_use]
    pub fn shown(&self) -> Transfer {
        match &self.state {
            State::None => Transfer::None,
            State::Exporting { text, .. } => Transfer::Exporting { bytes: text.len() },
            State::Exported { text } => Transfer::Exported { bytes: text.len() },
            State::Importing(out) => {
                Transfer::Importing { part: out.index.saturating_add(1), total: out.total }
            }
            State::Ended(shown) => shown.clone(),
        }
    }

    /// The text of the export that is there.
    #[must_use]
    pub fn exported(&self) -> Option<&str> {
        if let State::Exported { text } = &self.state { Some(text) } else { None }
    }

    /// Begins an export, unless something is on its way.
    pub fn export(&mut self, include_attachments: bool, around: &mut dyn Surroundings) -> Option<Op> {
        if self.is_busy() {
            return None;
        }
        let submission_id = around.submission_id();
        self.state = State::Exporting { submission_id: submission_id.clone(), text: String::new() };
        Some(Op::DataExport { submission_id, include_attachments })
    }

    /// Begins an import, unless something is on its way.
    pub fn import(&mut self, text: &str, mode: ImportMode, around: &mut dyn Surroundings) -> Option<Op> {
        if self.is_busy() {
            return None;
        }
        let mut rest = chunks(text);
        let total = u32::try_from(rest.len()).ok()?;
        let chunk = rest.pop_front()?;
        let transfer_id = TransferId::new(around.submission_id().as_str());
        let submission_id = around.submission_id();
        let out = Outgoing { submission_id, transfer_id, mode, index: 0, total, rest };
        let op = out.op(chunk);
        self.state = State::Importing(out);
        Some(op)
    }

    /// Forgets what has ended.
    pub fn forget(&mut self) {
        if !self.is_busy() {
            self.state = State::None;
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.state, State::Exporting { .. } | State::Importing(_))
    }

    /// Takes an event.
    pub fn hear(&mut self, event: &AgentEvent, around: &mut dyn Surroundings) -> Heard {
        let own = match &self.state {
            State::Exporting { submission_id, .. } => submission_id,
            State::Importing(out) => &out.submission_id,
            State::None | State::Exported { .. } | State::Ended(_) => return Heard::Nothing,
        };
        if event.submission_id() != Some(own) {
            return Heard::Nothing;
        }
        if let AgentEvent::DataExported { index, total, chunk, .. } = event {
            return self.exported_chunk(*index, total.is_some(), chunk);
        }
        if let AgentEvent::DataImported { threads, problems, left_out, .. } = event {
            self.state = State::Ended(match problems.is_empty() {
                true => Transfer::Imported { threads: *threads, left_out: left_out.clone() },
                false => Transfer::Refused { problems: problems.clone() },
            });
            return Heard::Changed;
        }
        if matches!(event, AgentEvent::CommandAck { .. }) {
            return self.next_chunk(around);
        }
        // Refused or failed; the page shows why.
        self.state = State::None;
        Heard::Changed
    }

    fn exported_chunk(&mut self, index: u32, is_last: bool, chunk: &str) -> Heard {
        let State::Exporting { text, .. } = &mut self.state else { return Heard::Nothing };
        if index == 0 {
            // After a lost connection the engine begins again.
            text.clear();
        }
        text.push_str(chunk);
        if is_last {
            let text = std::mem::take(text);
            self.state = State::Exported { text };
        }
        Heard::Changed
    }

    fn next_chunk(&mut self, around: &mut dyn Surroundings) -> Heard {
        let State::Importing(out) = &mut self.state else { return Heard::Nothing };
        let Some(chunk) = out.rest.pop_front() else { return Heard::Nothing };
        out.index = out.index.saturating_add(1);
        out.submission_id = around.submission_id();
        Heard::Say(Box::new(out.op(chunk)))
    }
}

impl Outgoing {
    fn op(&self, chunk: String) -> Op {
        Op::DataImport {
            submission_id: self.submission_id.clone(),
            transfer_id: self.transfer_id.clone(),
            index: self.index,
            total: self.total,
            chunk,
            mode: self.mode,
        }
    }
}

/// Whether an import takes a document of this size.
#[must_use]
pub fn fits_an_import(bytes: u64) -> bool {
    bytes <= limits::IMPORT_BYTES_MAX
}

/// A text in pieces of bounded size; one empty piece for an empty text.
fn chunks(text: &str) -> VecDeque<String> {
    let mut chunks = VecDeque::new();
    let mut rest = text;
    loop {
        let mut end = rest.len().min(CHUNK_BYTES_MAX);
        while !rest.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let (chunk, behind) = rest.split_at(end);
        chunks.push_back(chunk.to_owned());
        if behind.is_empty() {
            return chunks;
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_the_whole_text_and_never_cut_a_character() {
        let text = "文🌍x".repeat(200_000);
        let pieces = chunks(&text);
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES_MAX));
        assert_eq!(pieces.iter().map(String::as_str).collect::<String>(), text);
        assert_eq!(chunks(""), [""]);
    }
}
