//! Provider wires as pure codecs: requests to bytes, bytes to events.
//!
//! Nothing here reads a clock, opens a connection or keeps a key. The caller sends what [`build_request`] returns,
//! feeds the response's bytes to a [`StreamDecoder`] (or, when the status is not 2xx, to [`read_failure`]), and asks
//! [`RetryState::next`] what to do about an error.

mod adjust;
mod answer;
mod anthropic;
mod anthropic_request;
mod arguments;
mod capabilities;
mod decoder;
mod errors;
mod failure;
mod history;
mod http_date;
pub mod models;
mod openai;
mod openai_calls;
mod openai_request;
mod replay;
mod request;
mod retry;
mod secret;
pub mod sse;
pub mod templates;
mod think;
mod types;
pub mod url;
mod wire;

pub use adjust::Adjustment;
pub use answer::{Answer, Final, FinishedCall, Incomplete, ParseProblem, Pricing, Stop, StreamEvent, Usage};
pub use capabilities::known_capabilities;
pub use decoder::{BODY_BYTES_MAX, StreamDecoder};
pub use errors::{DETAIL_CHARS_MAX, ErrorKind, ProtocolFault, ProviderError};
pub use failure::{FAILURE_BODY_BYTES_MAX, read_failure};
pub use request::{build_models_request, build_request};
pub use retry::{Output, Retry, RetryState};
pub use secret::{Redactor, Secret};
pub use types::{
    Capabilities, Connection, GenParams, HttpRequest, Kind, MaxTokensField, Message, Method, ModelRequest,
    Part, Quirks, ReasoningEffort, ResponseHead, ToolCall, ToolChoice, ToolSchema,
};
pub use wire::OUTPUT_BYTES_MAX;
