//! What can be made to go wrong with a reply.

use std::time::Duration;

use serde::Deserialize;

/// A fault. Over HTTP (`POST /admin/fault`) it is JSON such as `{"cutAfterBytes": {"bytes": 300}}` or `"hang"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Fault {
    /// The answer begins late.
    Delay {
        /// How late.
        ms: u64,
    },
    /// The answer comes in pieces of a few bytes.
    Drip {
        /// Bytes in each piece, at least one.
        bytes: usize,
        /// The pause after each piece.
        every_ms: u64,
    },
    /// The connection breaks in the middle of the answer.
    CutAfterBytes {
        /// How much of the answer's body gets through.
        bytes: usize,
    },
    /// The answer ends cleanly, but before the terminal mark.
    NoDone,
    /// Frames that are no JSON stand in the middle of the stream.
    Malformed,
    /// Another status than 200, with an error object.
    Status {
        /// The HTTP status.
        status: u16,
        /// The error's `code`, for example `insufficient_quota`.
        code: String,
        /// What `retry-after` says, if anything.
        #[serde(default)]
        retry_after: Option<String>,
    },
    /// An HTML page with status 200, as a captive portal sends it.
    Html,
    /// No answer at all, until the client hangs up.
    Hang,
}

impl Fault {
    /// 429 with a `retry-after` in seconds.
    #[must_use]
    pub fn rate_limit(retry_after: Duration) -> Self {
        Self::Status {
            status: 429,
            code: "rate_limit_exceeded".into(),
            retry_after: Some(retry_after.as_secs().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_their_short_json() {
        let cases = [
            (r#""hang""#, Fault::Hang),
            (r#"{"cutAfterBytes":{"bytes":300}}"#, Fault::CutAfterBytes { bytes: 300 }),
            (r#"{"drip":{"bytes":1,"everyMs":5}}"#, Fault::Drip { bytes: 1, every_ms: 5 }),
            (
                r#"{"status":{"status":429,"code":"rate_limit_exceeded","retryAfter":"2"}}"#,
                Fault::rate_limit(Duration::from_secs(2)),
            ),
        ];
        for (text, fault) in cases {
            assert_eq!(serde_json::from_str::<Fault>(text).unwrap(), fault, "{text}");
        }
    }
}
