//! From a model request to an HTTP request: what both wires share, checks first.

use serde_json::{Map, Value};

use crate::errors::ProviderError;
use crate::openai_request;
use crate::secret::Secret;
use crate::templates::host_quirks;
use crate::types::{Connection, HttpRequest, Kind, Message, Method, ModelRequest, Part};
use crate::url::BaseUrl;

/// The longest tool name on either wire, in bytes.
const TOOL_NAME_BYTES_MAX: usize = 64;
/// Headers that a browser sets itself and silently drops when a script sets them.
const BROWSER_HEADERS: [&str; 16] = [
    "accept-charset",
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "date",
    "dnt",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Builds the streaming request for one model call.
///
/// # Errors
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid), naming the field and the rule, when the request cannot be right:
/// a base URL that is none, a header that cannot be sent, a number that is not finite, an image for a model without
/// vision, a tool name that the wires do not take.
pub fn build_request(
    connection: &Connection,
    key: Option<&Secret>,
    request: &ModelRequest<'_>,
) -> Result<HttpRequest, ProviderError> {
    check_request(request)?;
    let base = base_url(connection)?;
    let connection = &with_host_quirks(connection, &base);
    let (path, body) = match connection.kind {
        Kind::Openai => ("chat/completions", openai_request::body(connection, request)),
        Kind::Anthropic => ("v1/messages", crate::anthropic_request::body(connection, request)),
    };
    let mut headers = headers(connection, key)?;
    set_default(&mut headers, "accept", "text/event-stream");
    set_default(&mut headers, "content-type", "application/json");
    Ok(HttpRequest { method: Method::Post, url: base.endpoint(path), headers, body: body.into_bytes() })
}

/// Builds the request for the endpoint's model list.
///
/// # Errors
/// As [`build_request`].
pub fn build_models_request(
    connection: &Connection,
    key: Option<&Secret>,
) -> Result<HttpRequest, ProviderError> {
    let path = match connection.kind {
        Kind::Openai => "models",
        Kind::Anthropic => "v1/models",
    };
    let base = base_url(connection)?;
    let connection = &with_host_quirks(connection, &base);
    let mut url = base.endpoint(path);
    if connection.kind == Kind::Anthropic {
        // Its pages are short by default.
        url.push_str(if url.contains('?') { "&limit=1000" } else { "?limit=1000" });
    }
    let mut headers = headers(connection, key)?;
    set_default(&mut headers, "accept", "application/json");
    Ok(HttpRequest { method: Method::Get, url, headers, body: Vec::new() })
}

fn base_url(connection: &Connection) -> Result<BaseUrl, ProviderError> {
    BaseUrl::parse(connection.kind, &connection.base_url)
        .map(|parsed| parsed.base)
        .map_err(|error| ProviderError::invalid("baseUrl", error.to_string()))
}

fn with_host_quirks(connection: &Connection, base: &BaseUrl) -> Connection {
    Connection { quirks: connection.quirks.clone().joined(host_quirks(base)), ..connection.clone() }
}

/// The headers that carry the key, those of the wire, and the user's own, which replace any of the same name.
fn headers(connection: &Connection, key: Option<&Secret>) -> Result<Vec<(String, String)>, ProviderError> {
    let mut headers = Vec::new();
    for (name, value) in &connection.custom_headers {
        let name = name.trim().to_ascii_lowercase();
        check_header(&format!("customHeaders.{name}"), &name, value)?;
        headers.push((name, value.trim().to_owned()));
    }
    if let Some(key) = key.filter(|key| !key.expose().is_empty()) {
        let (name, value) = match (&connection.quirks.api_key_header, connection.kind) {
            (Some(name), _) => (name.trim().to_ascii_lowercase(), key.expose().to_owned()),
            (None, Kind::Openai) => ("authorization".to_owned(), format!("Bearer {}", key.expose())),
            (None, Kind::Anthropic) => ("x-api-key".to_owned(), key.expose().to_owned()),
        };
        check_header("apiKeys", &name, &value)?;
        set_default(&mut headers, &name, &value);
    }
    if connection.kind == Kind::Anthropic {
        set_default(&mut headers, "anthropic-version", "2023-06-01");
        set_default(&mut headers, "anthropic-dangerous-direct-browser-access", "true");
    }
    Ok(headers)
}

fn set_default(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    if !headers.iter().any(|(have, _)| have == name) {
        headers.push((name.to_owned(), value.to_owned()));
    }
}

fn check_header(field: &str, name: &str, value: &str) -> Result<(), ProviderError> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return Err(ProviderError::invalid(field, "a header name is letters, digits and hyphens"));
    }
    if BROWSER_HEADERS.contains(&name) || name.starts_with("proxy-") || name.starts_with("sec-") {
        return Err(ProviderError::invalid(field, "the browser does not let an extension set this header"));
    }
    if !value.trim().bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return Err(ProviderError::invalid(field, "a header value is printable ASCII on one line"));
    }
    Ok(())
}

fn check_request(request: &ModelRequest<'_>) -> Result<(), ProviderError> {
    if request.model.trim().is_empty() {
        return Err(ProviderError::invalid("model", "must not be empty"));
    }
    for (field, value) in [("temperature", request.params.temperature), ("topP", request.params.top_p)] {
        if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
            return Err(ProviderError::invalid(format!("params.{field}"), "must be a number from 0 up"));
        }
    }
    if request.params.max_tokens == Some(0) {
        return Err(ProviderError::invalid("params.maxTokens", "must be at least 1"));
    }
    for (at, tool) in request.tools.iter().enumerate() {
        let is_good = (1..=TOOL_NAME_BYTES_MAX).contains(&tool.name.len())
            && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_good {
            let rule = "must be 1 to 64 letters, digits, `_` and `-`";
            return Err(ProviderError::invalid(format!("tools[{at}].name"), rule));
        }
    }
    if !request.capabilities.vision
        && let Some(at) = request.messages.iter().position(has_image)
    {
        let rule = format!("holds an image, and the model {} cannot see images", request.model);
        return Err(ProviderError::invalid(format!("messages[{at}]"), rule));
    }
    Ok(())
}

fn has_image(message: &Message) -> bool {
    match message {
        Message::User { parts } | Message::ToolResult { parts, .. } => {
            parts.iter().any(|part| matches!(part, Part::Image { .. }))
        }
        Message::Assistant { .. } => false,
    }
}

/// A JSON object as text, with members whose values are JSON text already. They go out as the bytes that came in,
/// which a detour over [`Value`] would not promise.
pub(crate) fn object_with_raw(members: Map<String, Value>, raw: &[(&str, &str)]) -> String {
    let mut text = Value::Object(members).to_string();
    for (name, json) in raw {
        text.pop();
        if !text.ends_with('{') {
            text.push(',');
        }
        text.push_str(&Value::String((*name).to_owned()).to_string());
        text.push(':');
        text.push_str(json);
        text.push('}');
    }
    text
}

/// Whether `text` is one whole JSON value, so that it may be put into a body as it is.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Numbers with at most the digits that the user entered.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Capabilities, GenParams, ToolChoice, ToolSchema};

    fn request<'a>(
        params: &'a GenParams,
        messages: &'a [Message],
        tools: &'a [ToolSchema],
    ) -> ModelRequest<'a> {
        ModelRequest {
            model: "m",
            system: &[],
            messages,
            tools,
            tool_choice: ToolChoice::Auto,
            params,
            capabilities: Capabilities::default(),
        }
    }

    fn invalid(connection: &Connection, key: Option<&Secret>, request: &ModelRequest<'_>) -> String {
        build_request(connection, key, request).unwrap_err().to_string()
    }

    #[test]
    fn headers_carry_the_key_as_the_wire_wants_it_and_custom_ones_win() {
        let params = GenParams::default();
        let plain = request(&params, &[], &[]);
        let key = Secret::new("k-1");
        let of = |connection: &Connection| build_request(connection, Some(&key), &plain).unwrap().headers;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());

        let mut openai = Connection::new("c", Kind::Openai, "https://api.example.com/v1");
        let tail = [pair("accept", "text/event-stream"), pair("content-type", "application/json")];
        assert_eq!(of(&openai), [&[pair("authorization", "Bearer k-1")][..], &tail].concat());

        openai.quirks.api_key_header = Some("Api-Key".into());
        openai.custom_headers.insert("HTTP-Referer".into(), "https://panelot.example".into());
        let want =
            [&[pair("http-referer", "https://panelot.example"), pair("api-key", "k-1")][..], &tail].concat();
        assert_eq!(of(&openai), want);

        let azure = Connection::new("c", Kind::Openai, "https://r.openai.azure.com/openai/v1");
        assert_eq!(of(&azure), [&[pair("api-key", "k-1")][..], &tail].concat());

        let mut anthropic = Connection::new("c", Kind::Anthropic, "https://api.anthropic.com");
        anthropic.custom_headers.insert("X-API-Key".into(), "mine".into());
        let want = [
            pair("x-api-key", "mine"),
            pair("anthropic-version", "2023-06-01"),
            pair("anthropic-dangerous-direct-browser-access", "true"),
        ];
        assert_eq!(of(&anthropic), [&want[..], &tail].concat());
    }

    #[test]
    fn what_cannot_be_right_is_refused_with_field_and_rule() {
        let good = Connection::new("c", Kind::Openai, "https://api.example.com/v1");
        let params = GenParams::default();
        let nan = GenParams { temperature: Some(f64::NAN), ..GenParams::default() };
        let zero = GenParams { max_tokens: Some(0), ..GenParams::default() };
        let image = Part::Image { mime: "image/png".into(), base64: "AA==".into() };
        let seen =
            [Message::User { parts: vec![Part::Text("look".into())] }, Message::User { parts: vec![image] }];
        let tool = [ToolSchema { name: "a.b".into(), description: String::new(), parameters: Value::Null }];

        let with_header = |name: &str, value: &str| {
            let mut connection = good.clone();
            connection.custom_headers.insert(name.into(), value.into());
            invalid(&connection, None, &request(&params, &[], &[]))
        };
        let elsewhere = Connection::new("c", Kind::Openai, "http://api.example.com");
        let cases = [
            (
                invalid(&good, None, &request(&nan, &[], &[])),
                "params.temperature: must be a number from 0 up",
            ),
            (invalid(&good, None, &request(&zero, &[], &[])), "params.maxTokens: must be at least 1"),
            (
                invalid(&good, None, &request(&params, &seen, &[])),
                "messages[1]: holds an image, and the model m cannot see images",
            ),
            (
                invalid(&good, None, &request(&params, &[], &tool)),
                "tools[0].name: must be 1 to 64 letters, digits, `_` and `-`",
            ),
            (
                invalid(&good, None, &ModelRequest { model: " ", ..request(&params, &[], &[]) }),
                "model: must not be empty",
            ),
            (
                invalid(&elsewhere, None, &request(&params, &[], &[])),
                "baseUrl: plain http is only for this machine and private addresses; use https for `api.example.com`",
            ),
            (
                invalid(&good, Some(&Secret::new("ключ")), &request(&params, &[], &[])),
                "apiKeys: a header value is printable ASCII on one line",
            ),
            (with_header("x", "a\r\nb: c"), "customHeaders.x: a header value is printable ASCII on one line"),
            (with_header("a b", "c"), "customHeaders.a b: a header name is letters, digits and hyphens"),
            (
                with_header("Host", "evil"),
                "customHeaders.host: the browser does not let an extension set this header",
            ),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn the_model_list_has_its_own_address_on_each_wire() {
        let url =
            |kind, base: &str| build_models_request(&Connection::new("c", kind, base), None).unwrap().url;
        assert_eq!(url(Kind::Openai, "https://a.example/v1?x=1"), "https://a.example/v1/models?x=1");
        assert_eq!(url(Kind::Anthropic, "https://a.example"), "https://a.example/v1/models?limit=1000");
    }

    #[test]
    fn raw_members_keep_their_bytes() {
        let members = Map::from_iter([("a".to_owned(), Value::from(1))]);
        assert_eq!(object_with_raw(members, &[("b", "1.50"), ("c", "{ }")]), r#"{"a":1,"b":1.50,"c":{ }}"#);
        assert_eq!(object_with_raw(Map::new(), &[("b", "null")]), r#"{"b":null}"#);
    }
}
