//! What a script answers: pieces of text and tool calls with their pacing, the usage, and faults.

use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

/// How many characters of a text go into one frame.
const TEXT_CHARS_PER_FRAME: usize = 12;

/// One part of a reply, sent in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text, cut into small frames.
    Text(String),
    /// Text in one frame.
    Frame(String),
    /// Reasoning, in one frame of `reasoning_content`.
    Reasoning(String),
    /// A tool call; its arguments are cut into two frames.
    Call {
        /// The tool's name.
        name: String,
        /// The arguments; an object, unless the script wants to be wrong.
        arguments: Value,
    },
    /// Nothing, for a while.
    Pause(Duration),
    /// Nothing, until the named gate is open.
    Gate(String),
}

/// The `finish_reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// `tool_calls` when there are calls, else `stop`.
    Natural,
    /// This one.
    Reason(String),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub(super) pieces: Vec<Piece>,
    pub(super) finish: Finish,
    pub(super) faults: Vec<Fault>,
}

impl Reply {
    /// A reply without anything in it yet.
    #[must_use]
    pub fn new() -> Self {
        Self { pieces: Vec::new(), finish: Finish::Natural, faults: Vec::new() }
    }

    /// A reply that says a text and asks for nothing.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().say(text)
    }

    /// A reply with one tool call.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new().and_call(name, arguments)
    }

    /// Adds a text.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.with(Piece::Text(text.into()))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.with(Piece::Call { name: name.to_owned(), arguments })
    }

    /// Stops here until the gate is open.
    #[must_use]
    pub fn then_wait_at(self, gate: &str) -> Self {
        self.with(Piece::Gate(gate.to_owned()))
    }

    /// Adds any piece.
    #[must_use]
    pub fn with(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Finish::Reason(reason.to_owned());
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn fail(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// The text of the whole reply.
    pub(super) fn whole_text(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Frame(text) => Some(text.clone()),
            Piece::Reasoning(_) | Piece::Call { .. } | Piece::Pause(_) | Piece::Gate(_) => None,
        };
        self.pieces.iter().filter_map(text).collect()
    }

    /// The `finish_reason` on the wire.
    pub(super) fn finish_reason(&self) -> &str {
        match &self.finish {
            Finish::Reason(reason) => reason,
            Finish::Natural if self.pieces.iter().any(|piece| matches!(piece, Piece::Call { .. })) => {
                "tool_calls"
            }
            Finish::Natural => "stop",
        }
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

/// Cuts a text into the pieces of a stream, at character boundaries.
pub(super) fn text_frames(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(TEXT_CHARS_PER_FRAME).map(|chunk| chunk.iter().collect()).collect()
}
