//! The one error type of this boundary: what went wrong with a model call, classified where it is first seen.

use std::fmt;

use crate::adjust::Adjustment;

/// The longest text of a provider that an error carries, in characters.
pub const DETAIL_CHARS_MAX: usize = 500;

/// A failed model call. It never holds a key or a whole response body.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    /// What kind of failure it is: decides retry and the user's sentence.
    pub kind: ErrorKind,
    /// What the provider or the network layer said, redacted and cut to [`DETAIL_CHARS_MAX`].
    pub detail: Option<String>,
    /// The HTTP status, where the failure came with one.
    pub status: Option<u16>,
    /// The provider's `x-request-id` or `request-id`, for its support.
    pub request_id: Option<String>,
}

/// The kinds of failure.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorKind {
    /// 401 or 403: the key is wrong or may not do this.
    Auth,
    /// A local server refuses requests from extensions: its list of allowed origins has to be widened.
    OriginRefused,
    /// 429: too many requests for now.
    RateLimit {
        /// How long the provider asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The account has no credit left. Waiting does not help.
    Quota,
    /// 503 or 529: the provider has no capacity for now.
    Overloaded {
        /// How long the provider asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// Another 5xx, or a failure that the provider reports as its own.
    Server {
        /// How long the provider asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The history does not fit the model.
    ContextTooLong,
    /// The provider refused the content as an error, before any answer.
    ContentFilter,
    /// No response, or it broke off in the middle.
    Network,
    /// The response is not what the wire protocol says.
    Protocol(ProtocolFault),
    /// The address answers 404: a wrong base URL or an unknown model.
    NotFound,
    /// The provider understood the request and refused it. Sending it again unchanged is of no use.
    Rejected {
        /// The change after which it may be accepted, where the answer names it.
        adjustment: Option<Adjustment>,
    },
    /// The request was refused here, before it was sent.
    Invalid {
        /// The field that is wrong.
        field: String,
        /// The rule that it breaks.
        rule: String,
    },
}

/// How a response broke its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolFault {
    /// The stream ended cleanly without these terminal marks.
    EndedEarly {
        /// The marks, as in `finish_reason and [DONE]`.
        missing: &'static str,
    },
    /// A stop reason that nobody knows: the answer is not trusted to be whole.
    UnknownStop {
        /// The reason as received, cut.
        reason: String,
    },
    /// `pause_turn`: the server wants to go on with tools of its own, which is not supported.
    PauseTurn,
    /// The answer says that it ends with tool calls, and has none.
    CallsMissing,
    /// A web page came in place of an answer.
    Html {
        /// Its title.
        title: Option<String>,
    },
    /// The body was empty.
    Empty,
    /// A frame or body that is not JSON of the expected shape.
    Malformed {
        /// What was expected and what came, with a short excerpt.
        what: String,
    },
    /// Longer than the limit.
    TooLarge {
        /// What is too long.
        what: &'static str,
        /// The limit, in bytes.
        bytes_max: usize,
    },
}

impl fmt::Display for ProtocolFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndedEarly { missing } => write!(out, "the stream ended without {missing}"),
            Self::UnknownStop { reason } => write!(out, "the answer ended for an unknown reason, `{reason}`"),
            Self::PauseTurn => out.write_str("the provider paused the turn for tools of its own"),
            Self::CallsMissing => out.write_str("the answer announced tool calls and has none"),
            Self::Html { title: Some(title) } => {
                write!(out, "a web page came instead of an answer: `{title}`")
            }
            Self::Html { title: None } => out.write_str("a web page came instead of an answer"),
            Self::Empty => out.write_str("the answer was empty"),
            Self::Malformed { what } => out.write_str(what),
            Self::TooLarge { what, bytes_max } => write!(out, "{what} is longer than {bytes_max} bytes"),
        }
    }
}

impl ErrorKind {
    /// A stable word for the kind, for events, logs and the choice of a translated sentence.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::OriginRefused => "origin_refused",
            Self::RateLimit { .. } => "rate_limit",
            Self::Quota => "quota",
            Self::Overloaded { .. } => "overloaded",
            Self::Server { .. } => "server",
            Self::ContextTooLong => "context_too_long",
            Self::ContentFilter => "content_filter",
            Self::Network => "network",
            Self::Protocol(_) => "protocol",
            Self::NotFound => "not_found",
            Self::Rejected { .. } => "rejected",
            Self::Invalid { .. } => "invalid",
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimit { .. } | Self::Overloaded { .. } | Self::Server { .. } | Self::Network => true,
            Self::Auth
            | Self::OriginRefused
            | Self::Quota
            | Self::ContextTooLong
            | Self::ContentFilter
            | Self::Protocol(_)
            | Self::NotFound
            | Self::Rejected { .. }
            | Self::Invalid { .. } => false,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Auth => "the provider refused the key".into(),
            Self::OriginRefused => {
                "the local server refuses requests from browser extensions; for Ollama, start it with \
                 OLLAMA_ORIGINS=chrome-extension://*"
                    .into()
            }
            Self::RateLimit { retry_after_ms: Some(ms) } => {
                format!("the provider limits the request rate and asks to wait {} s", ms.div_ceil(1000))
            }
            Self::RateLimit { retry_after_ms: None } => "the provider limits the request rate".into(),
            Self::Quota => "the account at the provider has no credit or quota left".into(),
            Self::Overloaded { .. } => "the provider is overloaded".into(),
            Self::Server { .. } => "the provider failed".into(),
            Self::ContextTooLong => "the conversation is too long for this model".into(),
            Self::ContentFilter => "the provider's content filter refused the request".into(),
            Self::Network => "no connection to the provider, or it broke off".into(),
            Self::Protocol(fault) => format!("the provider broke the protocol: {fault}"),
            Self::NotFound => "nothing at this address: check the base URL and the model's name".into(),
            Self::Rejected { .. } => "the provider refused the request".into(),
            Self::Invalid { field, rule } => format!("{field}: {rule}"),
        }
    }
}

impl ProviderError {
    /// An error of that kind with nothing more known.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, detail: None, status: None, request_id: None }
    }

    /// A read or connection failure as the network layer words it.
    #[must_use]
    pub fn network(detail: &str) -> Self {
        Self { detail: Some(cut(detail, DETAIL_CHARS_MAX)), ..Self::new(ErrorKind::Network) }
    }

    /// A breach of the wire protocol.
    #[must_use]
    pub fn protocol(fault: ProtocolFault) -> Self {
        Self::new(ErrorKind::Protocol(fault))
    }

    /// A refusal before sending.
    #[must_use]
    pub fn invalid(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid { field: field.into(), rule: rule.into() })
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.kind.sentence())?;
        if let Some(status) = self.status {
            write!(out, " (HTTP {status})")?;
        }
        if let Some(detail) = &self.detail {
            write!(out, ": {detail}")?;
        }
        if let Some(id) = &self.request_id {
            write!(out, " [request {id}]")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProviderError {}

/// At most `chars_max` characters of `text`, with an ellipsis where something was left out.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_one_sentence_with_status_detail_and_request() {
        let error = ProviderError {
            kind: ErrorKind::RateLimit { retry_after_ms: Some(1500) },
            detail: Some("slow down".into()),
            status: Some(429),
            request_id: Some("req_1".into()),
        };
        let want =
            "the provider limits the request rate and asks to wait 2 s (HTTP 429): slow down [request req_1]";
        assert_eq!(error.to_string(), want);
    }

    #[test]
    fn cutting_counts_characters_and_keeps_them_whole() {
        let cases = [("北京", 2, "北京"), ("北京市", 2, "北京…"), ("", 0, ""), ("a", 0, "…")];
        for (text, chars_max, want) in cases {
            assert_eq!(cut(text, chars_max), want);
        }
    }
}
