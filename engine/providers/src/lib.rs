//! Provider wires as pure codecs: requests to bytes, bytes to events.
//!
//! Nothing here reads a clock, opens a connection or keeps a key. The caller sends what [`build_request`] returns,
//! feeds the response's bytes to a [`StreamDecoder`] (or, when the status is not 2xx, to [`read_failure`]), and asks
//! [`RetryState::next`] what to do about an error.

mod adjust;
mod answer;
mod errors;
mod retry;
mod secret;
pub mod sse;
mod types;

pub use adjust::Adjustment;
pub use answer::{Answer, Final, FinishedCall, Incomplete, ParseProblem, Pricing, Stop, StreamEvent, Usage};
pub use errors::{DETAIL_CHARS_MAX, ErrorKind, ProtocolFault, ProviderError};
pub use retry::{Output, Retry, RetryState};
pub use secret::{Redactor, Secret};
pub use types::{
    Capabilities, Connection, GenParams, HttpRequest, Kind, MaxTokensField, Message, Method, ModelRequest,
    Part, Quirks, ReasoningEffort, ResponseHead, ToolCall, ToolChoice, ToolSchema,
};
