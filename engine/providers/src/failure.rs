//! From a refusal to a typed error: status, headers and the many shapes of error bodies.

use serde_json::Value;

use crate::adjust::recognise;
use crate::errors::{DETAIL_CHARS_MAX, ErrorKind, ProtocolFault, ProviderError, cut};
use crate::http_date;
use crate::secret::{Redactor, Secret};
use crate::types::{Connection, ResponseHead};
use crate::url::{BaseUrl, HostClass};

/// How much of an error body is looked at, in bytes.
pub const FAILURE_BODY_BYTES_MAX: usize = 64 * 1024;
/// The longest request id that is kept, in characters.
const REQUEST_ID_CHARS_MAX: usize = 128;
/// How much of a body that is not JSON is shown, in characters.
const EXCERPT_CHARS_MAX: usize = 200;

/// What an error object says, whatever its shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    pub message: String,
    /// `code`, as text.
    pub code: String,
    /// `type`, or Google's `status`.
    pub kind: String,
    pub param: Option<String>,
    /// A status code given as a number inside the object.
    pub status: Option<u16>,
    pub retry_after_ms: Option<u64>,
}

/// Reads a response whose status is not 2xx. `keys` are all keys of the connection, none of which may show in the
/// error; `now_ms` is the time since 1970, for a `retry-after` that is a date.
#[must_use]
pub fn read_failure<'k>(
    connection: &Connection,
    keys: impl IntoIterator<Item = &'k Secret>,
    head: &ResponseHead,
    body: &[u8],
    now_ms: u64,
) -> ProviderError {
    let redactor = Redactor::new(connection, keys);
    let looked_at = body.get(..FAILURE_BODY_BYTES_MAX).unwrap_or(body);
    let text = String::from_utf8_lossy(looked_at);
    let text = text.trim_start_matches('\u{feff}').trim();
    let read = serde_json::from_str::<Value>(text).ok().and_then(|value| error_body(&value));
    let is_html = text.starts_with('<');
    let said = read.unwrap_or_else(|| ErrorBody {
        message: if is_html { html_title(text).unwrap_or_default() } else { cut(text, EXCERPT_CHARS_MAX) },
        ..ErrorBody::default()
    });
    let retry_after_ms = retry_after_ms(head, now_ms).or(said.retry_after_ms);
    let mut kind = classify(Some(head.status), &said, retry_after_ms);
    if head.status == 403 && text.is_empty() && is_on_this_machine(connection) {
        kind = ErrorKind::OriginRefused;
    }
    ProviderError {
        kind,
        detail: detail(&said.message, &redactor),
        status: Some(head.status),
        request_id: request_id(head),
    }
}

/// The error of an error object that came inside a response with status 200.
pub(crate) fn stream_error(said: &ErrorBody, redactor: &Redactor, request_id: Option<&str>) -> ProviderError {
    ProviderError {
        kind: classify(said.status, said, said.retry_after_ms),
        detail: detail(&said.message, redactor),
        status: said.status,
        request_id: request_id.map(str::to_owned),
    }
}

/// The request id that a provider's support asks for.
pub(crate) fn request_id(head: &ResponseHead) -> Option<String> {
    let id = ["x-request-id", "request-id", "apim-request-id"].iter().find_map(|name| head.header(name))?;
    let is_printable = !id.is_empty() && id.chars().all(|c| c.is_ascii_graphic());
    is_printable.then(|| cut(id, REQUEST_ID_CHARS_MAX))
}

/// What a web page calls itself.
pub(crate) fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let from = lower.find("<title")?;
    let open = lower.get(from..)?.find('>')?.saturating_add(from).saturating_add(1);
    let close = lower.get(open..)?.find('<')?.saturating_add(open);
    let title = text.get(open..close)?.trim();
    (!title.is_empty()).then(|| cut(title, EXCERPT_CHARS_MAX))
}

fn detail(message: &str, redactor: &Redactor) -> Option<String> {
    // Cut generously first, so that redaction is cheap, and again after it, so that no piece of a key survives a cut.
    let redacted = redactor.redact(&cut(message.trim(), DETAIL_CHARS_MAX.saturating_mul(2)));
    (!redacted.is_empty()).then(|| cut(&redacted, DETAIL_CHARS_MAX))
}

fn is_on_this_machine(connection: &Connection) -> bool {
    BaseUrl::parse(connection.kind, &connection.base_url)
        .is_ok_and(|parsed| parsed.base.host_class() != HostClass::Public)
}

/// How long the headers ask to wait, in milliseconds.
fn retry_after_ms(head: &ResponseHead, now_ms: u64) -> Option<u64> {
    if let Some(ms) = head.header("retry-after-ms").and_then(|text| decimal_ms(text, 1.0)) {
        return Some(ms);
    }
    let text = head.header("retry-after")?.trim();
    decimal_ms(text, 1000.0).or_else(|| http_date::parse(text).map(|at_ms| at_ms.saturating_sub(now_ms)))
}

/// A non-negative decimal number of some unit, in milliseconds, rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to a century"
)]
fn decimal_ms(text: &str, unit_ms: f64) -> Option<u64> {
    const CENTURY_MS: f64 = 3.2e12;
    let text = text.trim();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = if is_plain { text.parse().ok()? } else { return None };
    Some((value * unit_ms).ceil().clamp(0.0, CENTURY_MS) as u64)
}

/// Finds the error in a JSON value, if it is one. Shapes seen: `{error: {…}}`, `{error: "…"}`, `[{error: …}]`,
/// `{type: "error", …}`, `{object: "error", …}`, `{message: …}`, `{detail: …}`, `{errors: […]}`.
pub(crate) fn error_body(value: &Value) -> Option<ErrorBody> {
    let object = match value {
        Value::Array(items) => items.first()?.as_object()?,
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    match object.get("error") {
        Some(Value::Object(inner)) => return Some(read_error_object(inner)),
        Some(Value::String(message)) if !message.is_empty() => {
            let mut said = read_error_object(object);
            if said.message.is_empty() {
                said.message.clone_from(message);
            } else {
                said.code.clone_from(message);
            }
            return Some(said);
        }
        Some(Value::Bool(true) | Value::Array(_) | Value::Number(_)) => {
            return Some(read_error_object(object));
        }
        Some(Value::Null | Value::Bool(false) | Value::String(_)) | None => {}
    }
    if object.contains_key("choices") || object.contains_key("content") || object.contains_key("data") {
        return None;
    }
    let says_error =
        ["type", "object"].iter().any(|key| object.get(*key).and_then(Value::as_str) == Some("error"));
    let has_text =
        ["message", "detail", "errors", "error_msg", "msg"].iter().any(|key| object.contains_key(*key));
    (says_error || has_text).then(|| read_error_object(object))
}

fn read_error_object(object: &serde_json::Map<String, Value>) -> ErrorBody {
    let word = |key: &str| match object.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let first_word =
        |keys: &[&str]| keys.iter().map(|key| word(key)).find(|text| !text.is_empty()).unwrap_or_default();
    let mut message = first_word(&["message", "detail", "error_msg", "msg"]);
    if message.is_empty() {
        // Validators answer with a list or an object of complaints: show it as it is.
        let complaints = ["message", "detail", "errors"].iter().find_map(|key| object.get(*key));
        message = complaints.filter(|value| !value.is_null()).map(Value::to_string).unwrap_or_default();
    }
    let code = word("code");
    let status = [&code, &word("status"), &word("status_code")]
        .iter()
        .find_map(|text| text.parse::<u16>().ok())
        .filter(|status| (400..600).contains(status));
    ErrorBody {
        message,
        status,
        kind: first_word(&["type", "status"]),
        param: Some(word("param")).filter(|param| !param.is_empty()),
        retry_after_ms: google_retry_delay_ms(object),
        code,
    }
}

/// Google's `details: [{retryDelay: "37s"}]`.
fn google_retry_delay_ms(object: &serde_json::Map<String, Value>) -> Option<u64> {
    let details = object.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    decimal_ms(delay.strip_suffix('s')?, 1000.0)
}

/// Decides the kind: by the words that name a cause beyond doubt, then by the error's type, then by the status.
fn classify(status: Option<u16>, said: &ErrorBody, retry_after_ms: Option<u64>) -> ErrorKind {
    let words = [said.code.as_str(), said.kind.as_str()];
    let is =
        |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name)));
    if is(&QUOTA_WORDS) || status == Some(402) || is_about_credit(&said.message) {
        return ErrorKind::Quota;
    }
    if is(&CONTEXT_WORDS) || is_about_content_length(status, &said.message) {
        return ErrorKind::ContextTooLong;
    }
    if is(&FILTER_WORDS) {
        return ErrorKind::ContentFilter;
    }
    match status {
        Some(401 | 403) => ErrorKind::Auth,
        Some(404) => ErrorKind::NotFound,
        Some(413) => ErrorKind::ContextTooLong,
        Some(429) => ErrorKind::RateLimit { retry_after_ms },
        Some(503 | 529) => ErrorKind::Overloaded { retry_after_ms },
        Some(408 | 409 | 425 | 500..=599) => ErrorKind::Server { retry_after_ms },
        Some(300..=399) => ErrorKind::Protocol(ProtocolFault::Malformed {
            what: "the address redirects elsewhere; enter the address that it redirects to".into(),
        }),
        Some(400..=499) => {
            ErrorKind::Rejected { adjustment: recognise(&said.message, said.param.as_deref()) }
        }
        Some(_) | None => classify_by_words(said, retry_after_ms),
    }
}

/// Codes of OpenAI, Anthropic, Moonshot, Alibaba, Zhipu (1113) and of common relays for an empty account.
const QUOTA_WORDS: [&str; 11] = [
    "1113",
    "insufficient_user_quota",
    "pre_consume_token_quota_failed",
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_balance",
    "exceeded_current_quota_error",
    "arrearage",
    "insufficient_credits",
];
/// Codes for a history that is too long; 1261 is Zhipu's.
const CONTEXT_WORDS: [&str; 5] = [
    "1261",
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "context_window_exceeded",
];
/// Codes for refused content; 1301 is Zhipu's.
const FILTER_WORDS: [&str; 6] = [
    "1301",
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
    "DataInspectionFailed",
    "safety",
];

/// An empty account for which there is no code of its own.
fn is_about_credit(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("credit balance is too low") || message.contains("insufficient_quota")
}

fn classify_by_words(said: &ErrorBody, retry_after_ms: Option<u64>) -> ErrorKind {
    let words = [said.code.to_ascii_lowercase(), said.kind.to_ascii_lowercase()];
    let has = |name: &str| words.iter().any(|word| word.contains(name));
    if has("overloaded") || has("unavailable") {
        ErrorKind::Overloaded { retry_after_ms }
    } else if has("rate_limit") || has("too_many_requests") || has("resource_exhausted") {
        ErrorKind::RateLimit { retry_after_ms }
    } else if has("authentication") || has("permission") || has("invalid_api_key") || has("unauthorized") {
        ErrorKind::Auth
    } else if has("not_found") {
        ErrorKind::NotFound
    } else if has("invalid_request") || has("invalid_argument") || has("bad_request") {
        ErrorKind::Rejected { adjustment: recognise(&said.message, said.param.as_deref()) }
    } else if has("server_error") || has("api_error") || has("internal") || has("timeout") {
        ErrorKind::Server { retry_after_ms }
    } else {
        ErrorKind::Rejected { adjustment: None }
    }
}

/// Servers without a code for it say in words that the history is too long.
fn is_about_content_length(status: Option<u16>, message: &str) -> bool {
    const WORDINGS: [&str; 9] = [
        "maximum context length",
        "context length exceeded",
        "prompt is too long",
        "exceed context limit",
        "exceeds the available context",
        "exceeds the context window",
        "exceeds the model's maximum context",
        "input token count",
        "maximum prompt length",
    ];
    let may_be = matches!(status, None | Some(400 | 413 | 422 | 500));
    let message = message.to_ascii_lowercase();
    may_be && WORDINGS.iter().any(|wording| message.contains(wording))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjust::Adjustment;
    use crate::types::Kind;

    const NOW_MS: u64 = 784_111_777_000;

    fn read(head: &ResponseHead, body: &str) -> ProviderError {
        let connection = Connection::new("c", Kind::Openai, "https://api.example.com/v1");
        read_failure(&connection, [&Secret::new("planted-key-0123")], head, body.as_bytes(), NOW_MS)
    }

    #[test]
    fn statuses_and_bodies_become_kinds() {
        use ErrorKind as K;
        let none = || K::Rejected { adjustment: None };
        let cases: [(u16, &str, K, Option<&str>); 28] = [
            (401, r#"{"error":{"message":"bad key"}}"#, K::Auth, Some("bad key")),
            (403, "", K::Auth, None),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, K::Quota, Some("Insufficient Balance")),
            (429, r#"{"error":{"message":"m","code":"insufficient_quota"}}"#, K::Quota, Some("m")),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                K::Quota,
                Some("Your credit balance is too low"),
            ),
            (429, r#"{"error":{"message":"m","code":"1113"}}"#, K::Quota, Some("m")),
            (400, r#"{"error":{"message":"m","code":"1301"}}"#, K::ContentFilter, Some("m")),
            (429, r#"{"error":{"message":"m","type":"exceeded_current_quota_error"}}"#, K::Quota, Some("m")),
            (
                429,
                r#"{"error":{"message":"m","type":"requests"}}"#,
                K::RateLimit { retry_after_ms: None },
                Some("m"),
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"a":1},{"retryDelay":"37.5s"}]}}]"#,
                K::RateLimit { retry_after_ms: Some(37_500) },
                Some("quota"),
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                K::Overloaded { retry_after_ms: None },
                Some("Overloaded"),
            ),
            (503, "busy", K::Overloaded { retry_after_ms: None }, Some("busy")),
            (500, "{}", K::Server { retry_after_ms: None }, Some("{}")),
            (
                502,
                "<html><head><title> Bad gateway </title>",
                K::Server { retry_after_ms: None },
                Some("Bad gateway"),
            ),
            (
                500,
                r#"{"error":{"message":"the request exceeds the available context size"}}"#,
                K::ContextTooLong,
                Some("the request exceeds the available context size"),
            ),
            (
                400,
                r#"{"error":{"message":"long","code":"context_length_exceeded"}}"#,
                K::ContextTooLong,
                Some("long"),
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
                K::ContextTooLong,
                Some("prompt is too long: 9 tokens > 8 maximum"),
            ),
            (413, "", K::ContextTooLong, None),
            (400, r#"{"error":{"message":"m","code":"content_filter"}}"#, K::ContentFilter, Some("m")),
            (404, r#"{"detail":"Not Found"}"#, K::NotFound, Some("Not Found")),
            (400, r#"{"error":"plain words"}"#, none(), Some("plain words")),
            (400, r#"{"object":"error","message":"m","code":40001}"#, none(), Some("m")),
            (
                422,
                r#"{"detail":[{"loc":["body"],"msg":"x"}]}"#,
                none(),
                Some(r#"[{"loc":["body"],"msg":"x"}]"#),
            ),
            (
                400,
                r#"{"error":{"message":"Unknown parameter: 'stream_options'.","param":"stream_options"}}"#,
                K::Rejected { adjustment: Some(Adjustment::DropStreamOptions) },
                Some("Unknown parameter: 'stream_options'."),
            ),
            (400, "\u{feff}{\"message\":\"bom\"}", none(), Some("bom")),
            (400, "", none(), None),
            (418, "\u{0}", none(), Some("\u{0}")),
            (
                302,
                "",
                K::Protocol(ProtocolFault::Malformed {
                    what: "the address redirects elsewhere; enter the address that it redirects to".into(),
                }),
                None,
            ),
        ];
        for (status, body, kind, detail) in cases {
            let want = ProviderError {
                kind,
                detail: detail.map(str::to_owned),
                status: Some(status),
                request_id: None,
            };
            assert_eq!(read(&ResponseHead::new(status), body), want, "{status} {body}");
        }
    }

    #[test]
    fn retry_after_is_read_in_seconds_milliseconds_and_as_a_date() {
        let cases = [
            ("retry-after", "2", Some(2_000)),
            ("Retry-After", "1.5", Some(1_500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "3600", Some(3_600_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT", Some(60_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "-5", None),
            ("retry-after", "later", None),
            ("retry-after", "99999999999999999999", Some(3_200_000_000_000)),
        ];
        for (name, value, want) in cases {
            let error = read(&ResponseHead::new(429).with(name, value), "");
            assert_eq!(error.kind, ErrorKind::RateLimit { retry_after_ms: want }, "{name}: {value}");
        }
    }

    #[test]
    fn a_key_that_the_server_echoes_never_reaches_the_error() {
        let long = format!("{}planted-key-0123", "x".repeat(995));
        for message in ["Authorization: Bearer planted-key-0123", "planted-key-0123", &long] {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            let error = read(&ResponseHead::new(401), &body);
            assert!(!format!("{error} {error:?}").contains("planted"), "{error}");
            let error = read(&ResponseHead::new(401), message);
            assert!(!format!("{error} {error:?}").contains("planted"), "{error}");
        }
    }

    #[test]
    fn an_empty_403_of_a_server_at_home_is_about_the_origin() {
        for (base_url, want) in [
            ("http://localhost:11434/v1", ErrorKind::OriginRefused),
            ("http://192.168.1.2:11434/v1", ErrorKind::OriginRefused),
            ("https://api.example.com/v1", ErrorKind::Auth),
        ] {
            let connection = Connection::new("c", Kind::Openai, base_url);
            let error = read_failure(&connection, [], &ResponseHead::new(403), b"", 0);
            assert_eq!(error.kind, want, "{base_url}");
        }
    }

    #[test]
    fn request_ids_are_kept_when_printable() {
        let id = |name, value| read(&ResponseHead::new(500).with(name, value), "").request_id;
        assert_eq!(id("X-Request-Id", "req_1"), Some("req_1".into()));
        assert_eq!(id("request-id", "req_2"), Some("req_2".into()));
        assert_eq!(id("request-id", "a\nb"), None);
    }
}
