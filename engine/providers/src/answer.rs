//! What a response becomes: stream events on the way, and a whole or an incomplete answer at the end.

use panelot_protocol::FromJson;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::errors::ProviderError;

/// One step of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// All text so far was reasoning: the stream closed a block of thought that it had never opened.
    TextWasReasoning,
    /// A call began or grew. It must not run before [`Final`] says that it is whole.
    ToolCallDelta {
        /// The call's place among the answer's calls.
        index: usize,
        /// Its id as far as the provider gave one; may be empty.
        id: String,
        /// Its name so far.
        name: String,
        /// What was added to its arguments' text.
        args_delta: String,
    },
    /// The token use as it stands now; replaces what was reported before.
    Usage(Usage),
    /// A sign of life without content: a comment, a ping, an event that nobody needs.
    Alive,
}

/// Token use, normalised over providers: every token is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Everything that was read, cache reads and cache writes included.
    pub input: u64,
    /// Everything that was written, reasoning included.
    pub output: u64,
    /// The part of `input` that came from the provider's cache.
    pub cache_read: u64,
    /// The part of `input` that went into the provider's cache.
    pub cache_write: u64,
    /// The part of `output` that was reasoning, where the provider tells.
    pub reasoning: u64,
}

/// A model's price in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Pricing {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache; the input price where it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Input written to the cache; the input price where it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Usage {
    /// The cost in US dollars, each token counted once.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    pub fn cost_usd(&self, pricing: &Pricing) -> f64 {
        const TOKENS_PER_PRICE: f64 = 1_000_000.0;
        let plain = self.input.saturating_sub(self.cache_read).saturating_sub(self.cache_write);
        let read = self.cache_read as f64 * pricing.cache_read.unwrap_or(pricing.input);
        let write = self.cache_write as f64 * pricing.cache_write.unwrap_or(pricing.input);
        (plain as f64 * pricing.input + read + write + self.output as f64 * pricing.output) / TOKENS_PER_PRICE
    }
}

/// Why a whole answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done.
    End,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The output limit or the context window cut it.
    MaxTokens,
    /// The provider or the model refused to go on.
    ContentFilter,
}

/// What an answer holds, whole or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The thought, as text.
    pub reasoning: Option<String>,
    /// What must go back unchanged with this message in later requests. Opaque: store it, and hand it back in
    /// [`Message::Assistant`](crate::Message::Assistant).
    pub provider_state: Option<Value>,
    /// Token use, if the provider told.
    pub usage: Option<Usage>,
}

/// A whole answer: every terminal mark of its protocol was there.
#[derive(Clone, Debug, PartialEq)]
pub struct Final {
    /// Text, reasoning, state, use.
    pub answer: Answer,
    /// The calls to run: some exactly when `stop` is [`Stop::ToolUse`]. Calls that an output limit cut are not here.
    pub calls: Vec<FinishedCall>,
    /// Names of calls that were begun and must not run, since the answer ended for another reason.
    pub dropped_calls: Vec<String>,
    /// Why it ended.
    pub stop: Stop,
}

/// An answer that did not end as its protocol demands. Its text is worth keeping, marked partial; none of its calls runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Incomplete {
    /// What came before the end.
    pub answer: Answer,
    /// Names of the calls that were begun and must not run.
    pub dropped_calls: Vec<String>,
    /// What went wrong.
    pub error: ProviderError,
}

impl Incomplete {
    /// Whether the user has seen nothing of it, so that the call may be made again unnoticed.
    #[must_use]
    pub fn nothing_shown(&self) -> bool {
        self.answer.text.is_empty() && self.answer.reasoning.is_none() && self.dropped_calls.is_empty()
    }
}

/// A call of a whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedCall {
    /// The provider's id; may be empty, and may repeat.
    pub id: String,
    /// The tool's name; may name a tool that does not exist.
    pub name: String,
    /// The arguments, or why they are none: a tool error for the model to correct.
    pub arguments: Result<Map<String, Value>, ParseProblem>,
}

impl FinishedCall {
    /// The arguments to keep in the history: unreadable ones become an empty object, so that what is sent back is
    /// legal on either wire.
    #[must_use]
    pub fn replay_arguments(&self) -> Map<String, Value> {
        self.arguments.clone().unwrap_or_default()
    }
}

/// Arguments that are not a JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; received: {raw}")]
pub struct ParseProblem {
    /// What the model wrote, bounded.
    pub raw: String,
    /// What is wrong with it, and where.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_counts_each_token_once() {
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 600_000,
            cache_write: 100_000,
            reasoning: 9,
        };
        let full = Pricing { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let bare = Pricing { cache_read: None, cache_write: None, ..full };
        assert!((usage.cost_usd(&full) - (0.9 + 0.18 + 0.375 + 1.5)).abs() < 1e-9);
        assert!((usage.cost_usd(&bare) - (3.0 + 1.5)).abs() < 1e-9);
    }

    #[test]
    fn cost_of_inconsistent_counts_does_not_go_below_zero() {
        let usage = Usage { input: 10, cache_read: 50, ..Usage::default() };
        let pricing = Pricing { input: 1.0, output: 1.0, cache_read: Some(0.0), cache_write: None };
        assert!(usage.cost_usd(&pricing).abs() < f64::EPSILON);
    }
}
