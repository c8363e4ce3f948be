//! The body of `POST {base}/v1/messages`.

use serde_json::{Map, Value, json};

use crate::history::{AssistantEntry, EMPTY_RESULT, Entry, GO_ON, INTERRUPTED_RESULT, ResultEntry, repaired};
use crate::replay;
use crate::request::number;
use crate::types::{Connection, ModelRequest, Part, ReasoningEffort, ToolCall, ToolChoice};

/// The output limit, which this wire demands, where neither the user nor the model table names one, in tokens.
const MAX_TOKENS_DEFAULT: u32 = 8192;
/// The smallest thinking budget that the wire takes, in tokens.
const BUDGET_TOKENS_MIN: u32 = 1024;
/// What a thinking budget leaves for the answer itself, in tokens.
const ANSWER_TOKENS: u32 = 4096;

/// Writes the body as JSON text.
pub(crate) fn body(connection: &Connection, request: &ModelRequest<'_>) -> String {
    let caches = !connection.quirks.no_prompt_cache;
    let entries = repaired(request.messages, &connection.quirks);
    let mut body = Map::new();
    body.insert("model".into(), request.model.into());
    body.insert("stream".into(), true.into());
    if caches {
        // The automatic mark moves on with the history; the fixed ones below hold what never changes.
        body.insert("cache_control".into(), ephemeral());
    }
    add_system(&mut body, caches, request);
    add_tools(&mut body, connection, caches, request);
    add_params(&mut body, connection, request, &entries);
    body.insert("messages".into(), messages(connection, request.model, &entries));
    Value::Object(body).to_string()
}

fn ephemeral() -> Value {
    json!({"type": "ephemeral"})
}

fn add_system(body: &mut Map<String, Value>, caches: bool, request: &ModelRequest<'_>) {
    let layers = request.system.iter().filter(|layer| !layer.trim().is_empty());
    let blocks: Vec<Value> = layers
        .enumerate()
        .map(|(at, layer)| {
            if at == 0 && caches {
                json!({"type": "text", "text": layer, "cache_control": ephemeral()})
            } else {
                json!({"type": "text", "text": layer})
            }
        })
        .collect();
    if !blocks.is_empty() {
        body.insert("system".into(), blocks.into());
    }
}

fn add_tools(
    body: &mut Map<String, Value>,
    connection: &Connection,
    caches: bool,
    request: &ModelRequest<'_>,
) {
    if request.tools.is_empty() || !request.capabilities.tool_use {
        return;
    }
    let last = request.tools.len().saturating_sub(1);
    let tools = request.tools.iter().enumerate().map(|(at, tool)| {
        let mut members = Map::new();
        members.insert("name".into(), tool.name.clone().into());
        members.insert("description".into(), tool.description.clone().into());
        members.insert("input_schema".into(), tool.parameters.clone());
        if at == last && caches {
            members.insert("cache_control".into(), ephemeral());
        }
        Value::Object(members)
    });
    body.insert("tools".into(), tools.collect());
    let quirks = &connection.quirks;
    if quirks.no_tool_choice {
        return;
    }
    // A history with calls is refused without their schemas, so that these stay even when no call is wanted.
    match request.tool_choice {
        ToolChoice::Never => body.insert("tool_choice".into(), json!({"type": "none"})),
        ToolChoice::Auto if quirks.no_parallel_tool_calls && !quirks.no_parallel_field => {
            body.insert("tool_choice".into(), json!({"type": "auto", "disable_parallel_tool_use": true}))
        }
        ToolChoice::Auto => None,
    };
}

fn add_params(
    body: &mut Map<String, Value>,
    connection: &Connection,
    request: &ModelRequest<'_>,
    entries: &[Entry<'_>],
) {
    let params = request.params;
    let quirks = &connection.quirks;
    let thinking = thinking(connection, request, entries);
    body.insert("max_tokens".into(), thinking.max_tokens.into());
    match thinking.mode {
        Mode::Off => {
            if let Some(temperature) = params.temperature.filter(|_| !quirks.no_temperature) {
                body.insert("temperature".into(), number(temperature));
            }
            if let Some(top_p) = params.top_p.filter(|_| !quirks.no_top_p) {
                body.insert("top_p".into(), number(top_p));
            }
        }
        // While it thinks, the wire takes neither.
        Mode::Adaptive(effort) => {
            body.insert("thinking".into(), json!({"type": "adaptive"}));
            body.insert("output_config".into(), json!({"effort": effort.as_str()}));
        }
        Mode::Budget(tokens) => {
            body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": tokens}));
        }
    }
    let stops = params.stop_sequences.as_ref().filter(|stops| !stops.is_empty() && !quirks.no_stop_sequences);
    if let Some(stops) = stops {
        body.insert("stop_sequences".into(), stops.clone().into());
    }
}

struct Thinking {
    mode: Mode,
    max_tokens: u32,
}

enum Mode {
    Off,
    Adaptive(ReasoningEffort),
    Budget(u32),
}

fn thinking(connection: &Connection, request: &ModelRequest<'_>, entries: &[Entry<'_>]) -> Thinking {
    let quirks = &connection.quirks;
    let model_max = request.capabilities.max_output;
    let plain_max = request.params.max_tokens.or(model_max).unwrap_or(MAX_TOKENS_DEFAULT);
    let off = Thinking { mode: Mode::Off, max_tokens: plain_max };
    let may_reason = request.capabilities.reasoning != Some(false) && !quirks.no_reasoning_effort;
    let Some(effort) = request.params.reasoning_effort.filter(|_| may_reason) else { return off };
    let is_bare = in_bare_tool_loop(connection, request.model, entries);
    if quirks.no_reasoning_replay && is_bare {
        return off;
    }
    if !quirks.anthropic_manual_thinking {
        return Thinking { mode: Mode::Adaptive(effort), max_tokens: plain_max };
    }
    // A fixed budget demands that the running tool loop began with a thought.
    if is_bare {
        return off;
    }
    let wanted = match effort {
        ReasoningEffort::Low => 2048,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 24_576,
    };
    let max_tokens = match request.params.max_tokens {
        Some(max_tokens) => max_tokens,
        None => plain_max.max(wanted + ANSWER_TOKENS).min(model_max.unwrap_or(u32::MAX)),
    };
    let room = ANSWER_TOKENS.min(max_tokens / 2);
    let budget = wanted.min(max_tokens.saturating_sub(room));
    if budget < BUDGET_TOKENS_MIN { off } else { Thinking { mode: Mode::Budget(budget), max_tokens } }
}

/// Whether the history ends within a tool loop whose last call goes back without the thought before it.
fn in_bare_tool_loop(connection: &Connection, model: &str, entries: &[Entry<'_>]) -> bool {
    let is_users = |entry: &&Entry<'_>| matches!(entry, Entry::User(_) | Entry::GoOn);
    let mut loop_entries = entries.iter().rev().take_while(|entry| !is_users(entry));
    loop_entries
        .find_map(|entry| match entry {
            Entry::Assistant(assistant) if !assistant.calls.is_empty() => {
                Some(thoughts(connection, model, assistant).next().is_none())
            }
            Entry::Assistant(_) | Entry::Results(_) | Entry::User(_) | Entry::GoOn => None,
        })
        .unwrap_or(false)
}

/// The messages. Neighbours of the same role are one message, results first.
fn messages(connection: &Connection, model: &str, entries: &[Entry<'_>]) -> Value {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for entry in entries {
        let (role, blocks) = match entry {
            Entry::User(parts) => ("user", parts.iter().filter_map(part_json).collect()),
            Entry::GoOn => ("user", vec![text_json(GO_ON)]),
            Entry::Assistant(assistant) => ("assistant", assistant_blocks(connection, model, assistant)),
            Entry::Results(results) => ("user", results.iter().map(result_json).collect::<Vec<Value>>()),
        };
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut().filter(|(last, _)| *last == role) {
            Some((_, have)) => have.extend(blocks),
            None => out.push((role, blocks)),
        }
    }
    out.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn text_json(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// `None` for blank text, which the wire refuses.
fn part_json(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => (!text.trim().is_empty()).then(|| text_json(text)),
        Part::Image { mime, base64 } => {
            Some(json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": base64}}))
        }
    }
}

fn result_json(result: &ResultEntry<'_>) -> Value {
    let blocks: Vec<Value> = match result.parts {
        None => vec![text_json(INTERRUPTED_RESULT)],
        Some(parts) => parts.iter().filter_map(part_json).collect(),
    };
    let content = if blocks.is_empty() { vec![text_json(EMPTY_RESULT)] } else { blocks };
    let mut members = Map::new();
    members.insert("type".into(), "tool_result".into());
    members.insert("tool_use_id".into(), result.call_id.clone().into());
    members.insert("content".into(), content.into());
    if !result.ok {
        members.insert("is_error".into(), true.into());
    }
    Value::Object(members)
}

/// The blocks of an answer, exactly as they came where their state is there and still fits the text and the calls.
fn assistant_blocks(connection: &Connection, model: &str, entry: &AssistantEntry<'_>) -> Vec<Value> {
    if let Some(blocks) = exact_blocks(connection, model, entry) {
        return blocks;
    }
    let text = entry.told_text();
    let text = Some(text).filter(|text| !text.trim().is_empty()).map(|text| text_json(&text));
    let calls = entry.calls.iter().map(|(id, call)| call_json(id, call));
    thoughts(connection, model, entry).cloned().chain(text).chain(calls).collect()
}

fn exact_blocks(connection: &Connection, model: &str, entry: &AssistantEntry<'_>) -> Option<Vec<Value>> {
    if entry.partial || connection.quirks.no_reasoning_replay {
        return None;
    }
    let stored = state_blocks(connection, model, entry)?;
    let mut blocks = Vec::with_capacity(stored.len());
    let mut text = String::new();
    let mut calls = entry.calls.iter();
    for block in stored {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let piece = block.get("text").and_then(Value::as_str)?;
                text.push_str(piece);
                blocks.extend((!piece.trim().is_empty()).then(|| text_json(piece)));
            }
            Some("tool_use") => {
                let (id, call) = calls.next()?;
                blocks.push(call_json(id, call));
            }
            _ => blocks.push(block.clone()),
        }
    }
    (text == entry.text && calls.next().is_none()).then_some(blocks)
}

fn state_blocks<'a>(
    connection: &Connection,
    model: &str,
    entry: &AssistantEntry<'a>,
) -> Option<&'a Vec<Value>> {
    replay::matching(entry.state, connection, model)?.get("blocks")?.as_array()
}

/// The signed thoughts of an answer.
fn thoughts<'a>(
    connection: &Connection,
    model: &str,
    entry: &AssistantEntry<'a>,
) -> impl Iterator<Item = &'a Value> {
    let blocks = state_blocks(connection, model, entry).filter(|_| !connection.quirks.no_reasoning_replay);
    blocks.into_iter().flatten().filter(|block| {
        matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
    })
}

fn call_json(id: &str, call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
}
