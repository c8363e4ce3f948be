//! What a request is made of: connections, quirks, messages, tools, parameters, and the HTTP request they become.

use std::collections::BTreeMap;
use std::fmt;

use panelot_protocol::FromJson;
use serde::Serialize;
use serde_json::{Map, Value};

/// The wire protocol of an endpoint: the one place where providers part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `POST {base}/chat/completions`.
    Openai,
    /// `POST {base}/v1/messages`.
    Anthropic,
}

/// One API endpoint. Its keys are kept and passed apart from it.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The connection's own id, also written into the replay state so that it never travels to another endpoint.
    pub id: String,
    /// The user's name for it.
    pub name: String,
    /// The wire it speaks.
    pub kind: Kind,
    /// The base URL in the form that [`crate::url::BaseUrl`] gives it.
    pub base_url: String,
    /// Headers to add or to replace. Their values are treated as secrets.
    pub custom_headers: BTreeMap<String, String>,
    /// What the UI puts before a model's name to tell equal names of two connections apart.
    pub prefix_id: Option<String>,
    /// Models entered by hand, for endpoints without a model list.
    pub model_ids: Vec<String>,
    /// Switched off without being deleted.
    pub enabled: bool,
    /// The endpoint's deviations.
    pub quirks: Quirks,
}

impl Connection {
    /// An enabled connection with no custom headers and no quirks, named after its id.
    #[must_use]
    pub fn new(id: &str, kind: Kind, base_url: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: id.to_owned(),
            kind,
            base_url: base_url.to_owned(),
            custom_headers: BTreeMap::new(),
            prefix_id: None,
            model_ids: Vec::new(),
            enabled: true,
            quirks: Quirks::default(),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header_names: Vec<&String> = self.custom_headers.keys().collect();
        out.debug_struct("Connection")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("custom_headers", &header_names)
            .field("prefix_id", &self.prefix_id)
            .field("model_ids", &self.model_ids)
            .field("enabled", &self.enabled)
            .field("quirks", &self.quirks)
            .finish()
    }
}

/// The field in which an OpenAI-kind endpoint takes the output limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// The older name, which nearly every compatible server knows.
    #[default]
    MaxTokens,
    /// The name that OpenAI's own newer models insist on.
    MaxCompletionTokens,
}

/// Deviations of one endpoint or model, absorbed here so that the codecs stay plain. All are off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct Quirks {
    /// `stream_options.include_usage` is refused: do not send it.
    pub no_stream_options: bool,
    /// Reasoning comes inside the text, between `<think>` tags.
    pub think_tag_reasoning: bool,
    /// Ask for one tool call at a time.
    pub no_parallel_tool_calls: bool,
    /// An Anthropic model that knows only the fixed thinking budget.
    pub anthropic_manual_thinking: bool,
    /// The name of the output limit.
    pub max_tokens_field: MaxTokensField,
    /// No system role: the system prompt leads the first user message.
    pub no_system_role: bool,
    /// The header that takes the key as it is, instead of `authorization: Bearer` (or `x-api-key`).
    pub api_key_header: Option<String>,
    /// `temperature` is refused.
    pub no_temperature: bool,
    /// `top_p` is refused.
    pub no_top_p: bool,
    /// `stop` is refused.
    pub no_stop_sequences: bool,
    /// `tool_choice` is refused: a request without tools leaves the schemas out.
    pub no_tool_choice: bool,
    /// `parallel_tool_calls` is refused.
    pub no_parallel_field: bool,
    /// `reasoning_effort`, or thinking as a whole on the Anthropic wire, is refused.
    pub no_reasoning_effort: bool,
    /// Reasoning sent back with the history is refused.
    pub no_reasoning_replay: bool,
    /// A user message straight after tool results is refused: a short assistant message goes between them.
    pub no_user_after_tool: bool,
    /// Tool call ids must be nine letters or digits.
    pub short_tool_ids: bool,
    /// Cache marks are refused.
    pub no_prompt_cache: bool,
}

impl Quirks {
    /// No deviation at all.
    pub const NONE: Self = Self {
        no_stream_options: false,
        think_tag_reasoning: false,
        no_parallel_tool_calls: false,
        anthropic_manual_thinking: false,
        max_tokens_field: MaxTokensField::MaxTokens,
        no_system_role: false,
        api_key_header: None,
        no_temperature: false,
        no_top_p: false,
        no_stop_sequences: false,
        no_tool_choice: false,
        no_parallel_field: false,
        no_reasoning_effort: false,
        no_reasoning_replay: false,
        no_user_after_tool: false,
        short_tool_ids: false,
        no_prompt_cache: false,
    };

    /// The deviations of both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            no_stream_options: self.no_stream_options || other.no_stream_options,
            think_tag_reasoning: self.think_tag_reasoning || other.think_tag_reasoning,
            no_parallel_tool_calls: self.no_parallel_tool_calls || other.no_parallel_tool_calls,
            anthropic_manual_thinking: self.anthropic_manual_thinking || other.anthropic_manual_thinking,
            max_tokens_field: match self.max_tokens_field {
                MaxTokensField::MaxTokens => other.max_tokens_field,
                MaxTokensField::MaxCompletionTokens => self.max_tokens_field,
            },
            no_system_role: self.no_system_role || other.no_system_role,
            api_key_header: self.api_key_header.or(other.api_key_header),
            no_temperature: self.no_temperature || other.no_temperature,
            no_top_p: self.no_top_p || other.no_top_p,
            no_stop_sequences: self.no_stop_sequences || other.no_stop_sequences,
            no_tool_choice: self.no_tool_choice || other.no_tool_choice,
            no_parallel_field: self.no_parallel_field || other.no_parallel_field,
            no_reasoning_effort: self.no_reasoning_effort || other.no_reasoning_effort,
            no_reasoning_replay: self.no_reasoning_replay || other.no_reasoning_replay,
            no_user_after_tool: self.no_user_after_tool || other.no_user_after_tool,
            short_tool_ids: self.short_tool_ids || other.short_tool_ids,
            no_prompt_cache: self.no_prompt_cache || other.no_prompt_cache,
        }
    }
}

/// A piece of a user's message or of a tool's result.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// Its type, as in `image/png`.
        mime: String,
        /// Its bytes in base64, without line breaks.
        base64: String,
    },
}

impl fmt::Debug for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.debug_tuple("Text").field(text).finish(),
            Self::Image { mime, base64 } => write!(out, "Image({mime}, {} base64 bytes)", base64.len()),
        }
    }
}

/// A call that the model made. Its arguments are always an object: of arguments that could not be read, an empty one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that its result answers to, unique in the thread.
    pub id: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// One message of the provider-neutral history.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user.
    User {
        /// At least one part; a message without any is left out of the request.
        parts: Vec<Part>,
    },
    /// From the model.
    Assistant {
        /// The answer's text; may be empty when there are calls.
        text: String,
        /// What the model thought, as text.
        reasoning: Option<String>,
        /// The calls, in the model's order.
        calls: Vec<ToolCall>,
        /// [`Answer::provider_state`](crate::Answer::provider_state) of the answer that this message was.
        provider_state: Option<Value>,
        /// The answer was cut off; the model is told so.
        partial: bool,
    },
    /// What came of one call.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// Whether the tool succeeded.
        ok: bool,
        /// The result as the model shall read it.
        parts: Vec<Part>,
    },
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// 1 to 64 ASCII letters, digits, `_` and `-`.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// The arguments' JSON Schema, an object schema.
    pub parameters: Value,
}

/// Whether the model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must answer without a call, though the schemas stay where the wire needs them.
    Never,
}

/// How hard the model shall think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// Little.
    Low,
    /// The middle.
    Medium,
    /// Much.
    High,
}

impl ReasoningEffort {
    /// The word on either wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Generation parameters. What is not set is not sent, so that the endpoint's own default holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct GenParams {
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Limit of the answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Strings that end the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// How hard to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

impl GenParams {
    /// The parameters in force when `overrides` (a thread's) lie over `self` (a preset's): field by field.
    #[must_use]
    pub fn overlaid(&self, overrides: &GenParams) -> GenParams {
        GenParams {
            temperature: overrides.temperature.or(self.temperature),
            top_p: overrides.top_p.or(self.top_p),
            max_tokens: overrides.max_tokens.or(self.max_tokens),
            stop_sequences: overrides.stop_sequences.clone().or_else(|| self.stop_sequences.clone()),
            reasoning_effort: overrides.reasoning_effort.or(self.reasoning_effort),
        }
    }
}

/// What a model can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// It can call tools. Otherwise no schema is sent.
    pub tool_use: bool,
    /// It can see images. Otherwise a history with an image is refused before the request.
    pub vision: bool,
    /// It reasons. `Some(false)` keeps the reasoning effort out of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// The context window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_context: Option<u32>,
    /// The longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
}

impl Default for Capabilities {
    /// What is assumed of a model that nobody described: tools, no vision.
    fn default() -> Self {
        Self { tool_use: true, vision: false, reasoning: None, max_context: None, max_output: None }
    }
}

/// Everything that one model call depends on besides the connection.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The model's id as the endpoint knows it.
    pub model: &'a str,
    /// The system prompt's layers, the most stable first: a cache mark stands behind the first one.
    pub system: &'a [&'a str],
    /// The history, oldest first. Unpaired calls and results are repaired on the way out.
    pub messages: &'a [Message],
    /// The tools on offer.
    pub tools: &'a [ToolSchema],
    /// Whether they may be called now.
    pub tool_choice: ToolChoice,
    /// Generation parameters.
    pub params: &'a GenParams,
    /// What the model can do.
    pub capabilities: Capabilities,
}

/// The verbs that the codecs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Sends the body.
    Post,
}

impl Method {
    /// The verb as HTTP spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A request, ready to be sent. It must not follow a redirect to another origin.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The verb.
    pub method: Method,
    /// The absolute URL.
    pub url: String,
    /// Headers with lower-case names, each name once. They hold the key.
    pub headers: Vec<(String, String)>,
    /// The body; empty for a `GET`.
    pub body: Vec<u8>,
}

/// Headers whose values say nothing about the user.
const OPEN_HEADERS: [&str; 4] =
    ["accept", "content-type", "anthropic-version", "anthropic-dangerous-direct-browser-access"];

impl fmt::Debug for HttpRequest {
    /// Shows no header value that might be a secret, and of the body its length.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| {
                let open = OPEN_HEADERS.contains(&name.as_str());
                (name.as_str(), if open { value.as_str() } else { "•••" })
            })
            .collect();
        out.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &shown)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

/// The status line and headers of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// The headers that the browser lets us see.
    pub headers: Vec<(String, String)>,
}

impl ResponseHead {
    /// A head with a status and no headers.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new() }
    }

    /// The same head with one header more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The first header of that name, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_requests_and_connections_holds_no_secret() {
        let mut connection = Connection::new("c1", Kind::Openai, "https://api.example.com/v1");
        connection.custom_headers.insert("api-key".into(), "planted-secret".into());
        let request = HttpRequest {
            method: Method::Post,
            url: "https://api.example.com/v1/chat/completions".into(),
            headers: vec![
                ("authorization".into(), "Bearer planted-secret".into()),
                ("content-type".into(), "application/json".into()),
            ],
            body: b"planted-secret".to_vec(),
        };
        let shown = format!("{connection:?} {request:?}");
        assert!(!shown.contains("planted-secret"), "{shown}");
        assert!(shown.contains("application/json"), "{shown}");
    }

    #[test]
    fn overrides_lie_over_a_preset_field_by_field() {
        let preset = GenParams { temperature: Some(0.2), max_tokens: Some(100), ..GenParams::default() };
        let thread = GenParams { temperature: Some(0.9), top_p: Some(0.5), ..GenParams::default() };
        let want = GenParams {
            temperature: Some(0.9),
            top_p: Some(0.5),
            max_tokens: Some(100),
            ..GenParams::default()
        };
        assert_eq!(preset.overlaid(&thread), want);
    }

    #[test]
    fn unset_parameters_leave_no_trace_in_json() {
        assert_eq!(serde_json::to_string(&GenParams::default()).unwrap(), "{}");
    }
}
