//! A chat request as the script sees it.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::snapshot::{SnapshotNode, snapshot_nodes};

/// A message's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `system` or `developer`.
    System,
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
    /// `tool`.
    Tool,
}

/// A tool call in an assistant's message.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id that its result names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as they stand on the wire.
    pub arguments_text: String,
}

impl Call {
    /// The arguments as JSON; `null` when they are none.
    #[must_use]
    pub fn arguments(&self) -> Value {
        serde_json::from_str(&self.arguments_text).unwrap_or(Value::Null)
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// All its text parts, joined by line ends.
    pub text: String,
    /// The calls of an assistant's message.
    pub calls: Vec<Call>,
    /// Which call a tool's message answers.
    pub call_id: Option<String>,
}

/// A tool that is offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The JSON schema of its parameters.
    pub parameters: Value,
}

/// A call together with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// What the engine answered.
    pub text: String,
}

/// A request to `/v1/chat/completions`.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedRequest {
    /// Counts the requests of this server from zero.
    pub number: usize,
    /// The key, without `Bearer`.
    pub key: Option<String>,
    /// The model that is wanted.
    pub model: String,
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// Whether a stream is wanted.
    pub stream: bool,
    /// Whether the stream is to end with the usage.
    pub include_usage: bool,
    /// The whole body.
    pub body: Value,
}

impl ParsedRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// When a field has the wrong type; the message names it.
    pub fn parse(number: usize, key: Option<String>, body: Value) -> Result<Self> {
        let messages = body["messages"].as_array().context("messages: must be an array")?;
        let messages = messages
            .iter()
            .enumerate()
            .map(|(index, message)| parse_message(message).with_context(|| format!("messages[{index}]")));
        let messages = messages.collect::<Result<Vec<_>>>()?;
        let tools = match body.get("tools") {
            None | Some(Value::Null) => Vec::new(),
            Some(tools) => {
                tools.as_array().context("tools: must be an array")?.iter().map(parse_tool).collect()
            }
        };
        let model = body["model"].as_str().context("model: must be a string")?.to_owned();
        let stream = body["stream"].as_bool().unwrap_or(false);
        let include_usage = body["stream_options"]["include_usage"].as_bool().unwrap_or(false);
        Ok(Self { number, key, model, messages, tools, stream, include_usage, body })
    }

    /// Whether a tool is offered.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|spec| spec.name == tool)
    }

    /// The text of the newest message of the user; empty when there is none.
    #[must_use]
    pub fn task(&self) -> &str {
        self.messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User)
            .map_or("", |message| &message.text)
    }

    /// The calls since the newest message of the user, each with its result, in order.
    #[must_use]
    pub fn results(&self) -> Vec<ToolResult> {
        let start = self.messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
        self.results_from(start)
    }

    /// All calls of the conversation, each with its result, in order. Words that the engine puts in for the user,
    /// such as those of a turn that goes on, do not part them.
    #[must_use]
    pub fn all_results(&self) -> Vec<ToolResult> {
        self.results_from(0)
    }

    fn results_from(&self, start: usize) -> Vec<ToolResult> {
        let since: Vec<&ChatMessage> = self.messages.iter().skip(start).collect();
        let calls = since.iter().flat_map(|message| &message.calls);
        calls
            .filter_map(|call| {
                let answer = since.iter().find(|message| message.call_id.as_ref() == Some(&call.id))?;
                let name = call.name.clone();
                Some(ToolResult { name, arguments: call.arguments(), text: answer.text.clone() })
            })
            .collect()
    }

    /// The newest result since the user spoke.
    #[must_use]
    pub fn last_result(&self) -> Option<ToolResult> {
        self.results().pop()
    }

    /// All nodes with a ref that the results since the user's message show, the newest first.
    #[must_use]
    pub fn seen_nodes(&self) -> Vec<SnapshotNode> {
        self.results().iter().rev().flat_map(|result| snapshot_nodes(&result.text)).collect()
    }

    /// The newest node with this role (any, when empty) and this name.
    #[must_use]
    pub fn find(&self, role: &str, name: &str) -> Option<SnapshotNode> {
        self.seen_nodes().into_iter().find(|node| (role.is_empty() || node.role == role) && node.name == name)
    }
}

fn parse_message(message: &Value) -> Result<ChatMessage> {
    let role = match message["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        Some(other) => bail!("role: `{other}` is unknown"),
        None => bail!("role: must be a string"),
    };
    let calls = match message.get("tool_calls") {
        None | Some(Value::Null) => Vec::new(),
        Some(calls) => {
            let calls = calls.as_array().context("tool_calls: must be an array")?;
            calls.iter().map(parse_call).collect::<Result<_>>()?
        }
    };
    Ok(ChatMessage {
        role,
        text: content_text(&message["content"])?,
        calls,
        call_id: message["tool_call_id"].as_str().map(str::to_owned),
    })
}

fn parse_call(call: &Value) -> Result<Call> {
    let field = |value: &Value, name: &str| {
        value.as_str().map(str::to_owned).with_context(|| format!("tool_calls.{name}: must be a string"))
    };
    Ok(Call {
        id: field(&call["id"], "id")?,
        name: field(&call["function"]["name"], "function.name")?,
        arguments_text: field(&call["function"]["arguments"], "function.arguments")?,
    })
}

fn parse_tool(tool: &Value) -> ToolSpec {
    let function = &tool["function"];
    ToolSpec {
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        description: function["description"].as_str().unwrap_or_default().to_owned(),
        parameters: function["parameters"].clone(),
    }
}

fn content_text(content: &Value) -> Result<String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => bail!("content: must be text or parts"),
    }
}
