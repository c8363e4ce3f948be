//! The body of `POST {base}/chat/completions`.

use serde_json::{Map, Value, json};

use crate::history::{AssistantEntry, EMPTY_RESULT, Entry, GO_ON, INTERRUPTED_RESULT, ResultEntry, repaired};
use crate::replay;
use crate::request::{is_json, number, object_with_raw};
use crate::types::{Connection, MaxTokensField, ModelRequest, Part, Quirks, ToolCall, ToolChoice};

/// What goes between tool results and a user message where the endpoint wants an assistant there.
const BRIDGE: &str = "I have the results.";

/// Writes the body as JSON text.
pub(crate) fn body(connection: &Connection, request: &ModelRequest<'_>) -> String {
    let quirks = &connection.quirks;
    let mut body = Map::new();
    body.insert("model".into(), request.model.into());
    body.insert("stream".into(), true.into());
    if !quirks.no_stream_options {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    add_tools(&mut body, quirks, request);
    add_params(&mut body, quirks, request);
    let messages = format!("[{}]", messages(connection, request).join(","));
    object_with_raw(body, &[("messages", &messages)])
}

fn add_tools(body: &mut Map<String, Value>, quirks: &Quirks, request: &ModelRequest<'_>) {
    let must_not_call = request.tool_choice == ToolChoice::Never;
    if request.tools.is_empty() || !request.capabilities.tool_use || (must_not_call && quirks.no_tool_choice)
    {
        return;
    }
    let tools = request.tools.iter().map(|tool| {
        let function =
            json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        json!({"type": "function", "function": function})
    });
    body.insert("tools".into(), tools.collect());
    if must_not_call {
        body.insert("tool_choice".into(), "none".into());
    } else if quirks.no_parallel_tool_calls && !quirks.no_parallel_field {
        body.insert("parallel_tool_calls".into(), false.into());
    }
}

fn add_params(body: &mut Map<String, Value>, quirks: &Quirks, request: &ModelRequest<'_>) {
    let params = request.params;
    if let Some(temperature) = params.temperature.filter(|_| !quirks.no_temperature) {
        body.insert("temperature".into(), number(temperature));
    }
    if let Some(top_p) = params.top_p.filter(|_| !quirks.no_top_p) {
        body.insert("top_p".into(), number(top_p));
    }
    if let Some(max_tokens) = params.max_tokens {
        let field = match quirks.max_tokens_field {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), max_tokens.into());
    }
    let stops = params.stop_sequences.as_ref().filter(|stops| !stops.is_empty() && !quirks.no_stop_sequences);
    if let Some(stops) = stops {
        body.insert("stop".into(), stops.clone().into());
    }
    let may_reason = request.capabilities.reasoning != Some(false) && !quirks.no_reasoning_effort;
    if let Some(effort) = params.reasoning_effort.filter(|_| may_reason) {
        body.insert("reasoning_effort".into(), effort.as_str().into());
    }
}

/// The messages, each as JSON text.
fn messages(connection: &Connection, request: &ModelRequest<'_>) -> Vec<String> {
    let quirks = &connection.quirks;
    let mut out = Messages { json: Vec::new(), bridges: quirks.no_user_after_tool, after_results: false };
    let system =
        request.system.iter().filter(|layer| !layer.is_empty()).copied().collect::<Vec<_>>().join("\n\n");
    let mut lead = Some(system).filter(|system| !system.is_empty());
    if !quirks.no_system_role
        && let Some(system) = lead.take()
    {
        out.push(&json!({"role": "system", "content": system}));
    }
    for entry in repaired(request.messages, quirks) {
        match entry {
            Entry::User(parts) => out.push_user(user_content(lead.take().as_deref(), parts)),
            Entry::GoOn => out.push_user(user_content(lead.take().as_deref(), &[Part::Text(GO_ON.into())])),
            Entry::Assistant(assistant) => {
                out.json.push(assistant_json(connection, request.model, &assistant));
                out.after_results = false;
            }
            Entry::Results(results) => out.push_results(&results),
        }
    }
    if let Some(system) = lead {
        out.push_user(system.into());
    }
    out.json
}

struct Messages {
    json: Vec<String>,
    /// Whether a user message must not follow tool results directly.
    bridges: bool,
    after_results: bool,
}

impl Messages {
    fn push(&mut self, message: &Value) {
        self.json.push(message.to_string());
    }

    fn push_user(&mut self, content: Value) {
        if std::mem::take(&mut self.after_results) && self.bridges {
            self.push(&json!({"role": "assistant", "content": BRIDGE}));
        }
        self.push(&json!({"role": "user", "content": content}));
    }

    /// The wire takes only text from a tool: images follow in a user message behind the whole batch.
    fn push_results(&mut self, results: &[ResultEntry<'_>]) {
        let mut images = Vec::new();
        for result in results {
            let parts = result.parts.unwrap_or_default();
            let mut text = joined_text(parts);
            let before = images.len();
            for part in parts {
                match part {
                    Part::Text(_) => {}
                    Part::Image { .. } => images.push((result.name, part)),
                }
            }
            if images.len() > before {
                let note = "[The image of this result is in the next user message.]";
                text = if text.is_empty() { note.to_owned() } else { format!("{text}\n\n{note}") };
            }
            let content = match (result.parts, text.is_empty()) {
                (None, _) => INTERRUPTED_RESULT,
                (Some(_), true) => EMPTY_RESULT,
                (Some(_), false) => &text,
            };
            self.push(&json!({"role": "tool", "tool_call_id": result.call_id, "content": content}));
        }
        self.after_results = true;
        if !images.is_empty() {
            let pieces = images.iter().flat_map(|(name, image)| {
                let label = json!({"type": "text", "text": format!("Image from the result of {name}:")});
                [label, part_json(image)]
            });
            self.push_user(pieces.collect());
        }
    }
}

fn joined_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            Part::Image { .. } => None,
        })
        .collect();
    texts.join("\n\n")
}

/// A plain string where there is no image, which every server takes.
fn user_content(lead: Option<&str>, parts: &[Part]) -> Value {
    if parts.iter().any(|part| matches!(part, Part::Image { .. })) {
        let lead = lead.map(|text| json!({"type": "text", "text": text}));
        return lead.into_iter().chain(parts.iter().map(part_json)).collect();
    }
    let text = joined_text(parts);
    match lead {
        Some(lead) => format!("{lead}\n\n{text}").into(),
        None => text.into(),
    }
}

fn part_json(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { mime, base64 } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,{base64}")}})
        }
    }
}

fn assistant_json(connection: &Connection, model: &str, entry: &AssistantEntry<'_>) -> String {
    let text = entry.told_text();
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let content = if text.is_empty() { Value::Null } else { text.into() };
    message.insert("content".into(), content);

    let state = replay::matching(entry.state, connection, model);
    let part = |key: &str| state.and_then(|state| state.get(key));
    // Within a tool loop some endpoints refuse a message without the reasoning that they sent; outside of one, none
    // needs it, and some refuse it.
    let quirks = &connection.quirks;
    let replays = !entry.calls.is_empty() && !quirks.no_reasoning_replay && !quirks.think_tag_reasoning;
    let field = part("reasoningField").and_then(Value::as_str).filter(|_| replays);
    if let (Some(field), Some(reasoning)) = (field, entry.reasoning) {
        message.insert(field.to_owned(), reasoning.into());
    }
    let mut raw: Vec<(&str, &str)> = raw_members(part("message"));
    if let Some(details) =
        part("reasoningDetails").and_then(Value::as_str).filter(|json| replays && is_json(json))
    {
        raw.push(("reasoning_details", details));
    }
    let calls: Vec<String> = entry
        .calls
        .iter()
        .enumerate()
        .map(|(at, (id, call))| call_json(id, call, part("calls").and_then(|calls| calls.get(at))))
        .collect();
    let calls = format!("[{}]", calls.join(","));
    if !entry.calls.is_empty() {
        raw.push(("tool_calls", &calls));
    }
    object_with_raw(message, &raw)
}

fn call_json(id: &str, call: &ToolCall, state: Option<&Value>) -> String {
    let extras = |key: &str| raw_members(state.and_then(|state| state.get(key)));
    let mut function = Map::new();
    function.insert("name".into(), call.name.clone().into());
    function.insert("arguments".into(), Value::Object(call.arguments.clone()).to_string().into());
    let function = object_with_raw(function, &extras("function"));
    let mut members = Map::new();
    members.insert("id".into(), id.into());
    members.insert("type".into(), "function".into());
    let mut raw = vec![("function", function.as_str())];
    raw.extend(extras("call"));
    object_with_raw(members, &raw)
}

/// Members of the replay state whose values are JSON text.
fn raw_members(state: Option<&Value>) -> Vec<(&str, &str)> {
    let members = state.and_then(Value::as_object).into_iter().flatten();
    members
        .filter_map(|(name, json)| Some((name.as_str(), json.as_str()?)))
        .filter(|(_, json)| is_json(json))
        .collect()
}
