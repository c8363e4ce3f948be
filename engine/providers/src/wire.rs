//! What the decoders of both wires share.

use serde_json::Value;

use crate::answer::{Answer, Final, FinishedCall, Incomplete, Stop};
use crate::errors::{DETAIL_CHARS_MAX, ErrorKind, ProtocolFault, ProviderError, cut};
use crate::failure::{ErrorBody, stream_error};
use crate::secret::Redactor;
use crate::types::Quirks;

/// The most text, reasoning, arguments and state of one answer, in bytes: what a page can be sent as one item.
pub const OUTPUT_BYTES_MAX: usize = 6 * 1024 * 1024;

/// How much of something unreadable is shown, in characters.
pub(crate) const EXCERPT_CHARS_MAX: usize = 120;

/// What a decoder knows about the call that it decodes.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub connection_id: String,
    pub model: String,
    pub quirks: Quirks,
    pub redactor: Redactor,
    pub request_id: Option<String>,
}

impl Context {
    /// An error of this call.
    pub fn error(&self, kind: ErrorKind) -> ProviderError {
        ProviderError { request_id: self.request_id.clone(), ..ProviderError::new(kind) }
    }

    /// A breach of the protocol by this call's answer.
    pub fn protocol(&self, fault: ProtocolFault) -> ProviderError {
        self.error(ErrorKind::Protocol(fault))
    }

    /// A frame or body that is not what it should be; `what` may quote it.
    pub fn malformed(&self, what: &str) -> ProviderError {
        let what = cut(&self.redactor.redact(what), DETAIL_CHARS_MAX);
        self.protocol(ProtocolFault::Malformed { what })
    }

    /// The JSON of one frame of the stream.
    pub fn frame(&self, data: &str) -> Result<Value, ProviderError> {
        serde_json::from_str(data).map_err(|error| {
            self.malformed(&format!("a frame is not JSON ({error}): `{}`", cut(data, EXCERPT_CHARS_MAX)))
        })
    }

    /// The JSON of a body that came in place of a stream.
    pub fn json_body(&self, body: &str) -> Result<Value, ProviderError> {
        serde_json::from_str(body).map_err(|error| {
            let excerpt = cut(body, EXCERPT_CHARS_MAX);
            self.malformed(&format!("the body is neither a stream nor JSON ({error}): `{excerpt}`"))
        })
    }

    /// A body that is JSON, and neither an answer nor an error.
    pub fn foreign_body(&self, body: &str) -> ProviderError {
        self.malformed(&format!("the body is JSON of another kind: `{}`", cut(body, EXCERPT_CHARS_MAX)))
    }

    /// An error that the provider reported inside its answer.
    pub fn reported(&self, said: &ErrorBody) -> ProviderError {
        stream_error(said, &self.redactor, self.request_id.as_deref())
    }

    /// The answer is longer than anything that is worth keeping.
    pub fn check_size(&self, kept_bytes: usize) -> Result<(), ProviderError> {
        if kept_bytes <= OUTPUT_BYTES_MAX {
            return Ok(());
        }
        Err(self.protocol(ProtocolFault::TooLarge { what: "the answer", bytes_max: OUTPUT_BYTES_MAX }))
    }
}

/// Puts the end of an answer together. Its calls run in one case only: it is whole, and it ended for their sake.
pub(crate) fn settle(
    verdict: Result<Stop, ProviderError>,
    answer: Answer,
    calls: Vec<FinishedCall>,
) -> Result<Final, Box<Incomplete>> {
    let names = |calls: Vec<FinishedCall>| calls.into_iter().map(|call| call.name).collect();
    match verdict {
        Ok(stop @ Stop::ToolUse) => Ok(Final { answer, calls, dropped_calls: Vec::new(), stop }),
        Ok(stop @ (Stop::End | Stop::MaxTokens | Stop::ContentFilter)) => {
            Ok(Final { answer, calls: Vec::new(), dropped_calls: names(calls), stop })
        }
        Err(error) => Err(Box::new(Incomplete { answer, dropped_calls: names(calls), error })),
    }
}
