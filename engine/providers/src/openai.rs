//! The answer of `POST {base}/chat/completions`: chunks of a stream, or a whole completion, become an answer.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::{Answer, Final, Incomplete, Stop, StreamEvent, Usage};
use crate::errors::{ErrorKind, ProtocolFault, ProviderError, cut};
use crate::failure::{ErrorBody, error_body};
use crate::openai_calls::{CALLS_MAX, CallTable, CallsTooLarge, keep};
use crate::replay;
use crate::think::{Piece, ThinkSplitter};
use crate::types::Kind;
use crate::wire::{Context, EXCERPT_CHARS_MAX, settle};

/// Decodes one answer of an OpenAI-kind endpoint.
#[derive(Debug)]
pub(crate) struct OpenaiDecoder {
    context: Context,
    text: String,
    reasoning: String,
    /// The native field that carried reasoning, to send it back under the same name.
    reasoning_field: Option<&'static str>,
    reasoning_details: Vec<Value>,
    think: Option<ThinkSplitter>,
    calls: CallTable,
    /// Members of the message that must go back byte for byte.
    message_extras: BTreeMap<String, String>,
    usage: Option<Usage>,
    finish: Option<String>,
    done: bool,
    kept_bytes: usize,
}

impl OpenaiDecoder {
    pub fn new(context: Context) -> Self {
        let think = context.quirks.think_tag_reasoning.then(ThinkSplitter::new);
        Self {
            context,
            text: String::new(),
            reasoning: String::new(),
            reasoning_field: None,
            reasoning_details: Vec::new(),
            think,
            calls: CallTable::default(),
            message_extras: BTreeMap::new(),
            usage: None,
            finish: None,
            done: false,
            kept_bytes: 0,
        }
    }

    /// Whether `[DONE]` was there. Whatever follows it is of no interest.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Takes one event of the stream.
    pub fn event(&mut self, name: &str, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        // A comment that a proxy has wrapped into a data line, or a bare sign of life.
        if data.is_empty() || data.starts_with(':') || matches!(data, "ping" | "keep-alive" | "keepalive") {
            out.push(StreamEvent::Alive);
            return Ok(());
        }
        let chunk = self.context.frame(data)?;
        if name == "error" && error_body(&chunk).is_none() {
            let said = ErrorBody { message: cut(data, EXCERPT_CHARS_MAX), ..ErrorBody::default() };
            return Err(self.context.reported(&said));
        }
        self.chunk(&chunk, data, out)
    }

    /// Takes a whole body that came in place of a stream. A completion counts as whole: nothing can be missing.
    pub fn body(&mut self, body: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let value = self.context.json_body(body)?;
        let has_choice =
            value.get("choices").and_then(Value::as_array).is_some_and(|choices| !choices.is_empty());
        if !has_choice && error_body(&value).is_none() {
            return Err(self.context.foreign_body(body));
        }
        self.chunk(&value, body, out)?;
        self.done = true;
        Ok(())
    }

    fn chunk(&mut self, chunk: &Value, raw: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(said) = error_body(chunk) {
            return Err(self.context.reported(&said));
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let choice = choices.and_then(|choices| choices.iter().find(is_first));
        let before = out.len();
        if let Some(choice) = choice {
            self.choice(choice, raw, out)?;
        }
        let usage = [Some(chunk), choice, chunk.get("x_groq")].into_iter().flatten().find_map(read_usage);
        if let Some(usage) = usage.filter(|usage| self.usage.as_ref() != Some(usage)) {
            self.usage = Some(usage);
            out.push(StreamEvent::Usage(usage));
        }
        if out.len() == before {
            out.push(StreamEvent::Alive);
        }
        self.context.check_size(self.kept_bytes)
    }

    fn choice(&mut self, choice: &Value, raw: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(said) = choice.get("error").and_then(|_| error_body(choice)) {
            return Err(self.context.reported(&said));
        }
        let delta = choice.get("delta").and_then(Value::as_object);
        // Some endpoints close a stream with the whole message once more: it counts only where nothing came before.
        let is_fresh = self.text.is_empty() && self.reasoning.is_empty() && self.calls.is_empty();
        let message = choice.get("message").and_then(Value::as_object).filter(|_| is_fresh);
        if let Some(delta) = delta.filter(|delta| !delta.is_empty()).or(message) {
            self.delta(delta, raw, out)?;
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
        {
            self.finish = Some(cut(reason, EXCERPT_CHARS_MAX));
        }
        Ok(())
    }

    fn delta(
        &mut self,
        delta: &Map<String, Value>,
        raw: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        self.reasoning(delta, out);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.content_part(part, out)),
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            self.text(refusal, out);
        }
        let is_state = |name: &&String| is_message_state(name);
        if delta.keys().any(|name| is_state(&name)) {
            let members = raw_delta(raw);
            let known: Vec<&str> =
                members.keys().filter(|name| !is_state(name)).map(String::as_str).collect();
            let added = keep(&mut self.message_extras, &members, &known);
            self.kept_bytes = self.kept_bytes.saturating_add(added);
        }
        self.tool_calls(delta, raw, out)
    }

    fn tool_calls(
        &mut self,
        delta: &Map<String, Value>,
        raw: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        let taken = match (delta.get("tool_calls"), delta.get("function_call")) {
            (Some(Value::Array(entries)), _) => self.calls.take(entries, || raw_calls(raw), out),
            (Some(entry @ Value::Object(_)), _) => {
                self.calls.take(std::slice::from_ref(entry), Vec::new, out)
            }
            // The form before there were several calls.
            (_, Some(function @ Value::Object(_))) => {
                let entry = serde_json::json!({"index": 0, "function": function});
                self.calls.take(&[entry], Vec::new, out)
            }
            _ => Ok(0),
        };
        let added = taken.map_err(|CallsTooLarge| {
            let what =
                format!("the answer has more than {CALLS_MAX} tool calls, or a tool name of absurd length");
            self.context.malformed(&what)
        })?;
        self.kept_bytes = self.kept_bytes.saturating_add(added);
        Ok(())
    }

    /// One part of a content array: text, or the reasoning of endpoints that nest it there.
    fn content_part(&mut self, part: &Value, out: &mut Vec<StreamEvent>) {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning") => match part.get("thinking").or_else(|| part.get("text")) {
                Some(Value::String(text)) => self.thought(text, out),
                Some(Value::Array(pieces)) => {
                    for text in pieces.iter().filter_map(|piece| piece.get("text")?.as_str()) {
                        self.thought(text, out);
                    }
                }
                _ => {}
            },
            _ => {
                let text = part.as_str().or_else(|| part.get("text")?.as_str());
                if let Some(text) = text {
                    self.text(text, out);
                }
            }
        }
    }

    /// The native reasoning fields. An endpoint that fills several of them says the same thing in each.
    fn reasoning(&mut self, delta: &Map<String, Value>, out: &mut Vec<StreamEvent>) {
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            self.kept_bytes =
                self.kept_bytes.saturating_add(merge_detail(&mut self.reasoning_details, detail));
        }
        let plain = ["reasoning_content", "reasoning"].into_iter().find_map(|field| {
            let text = delta.get(field)?.as_str().filter(|text| !text.is_empty())?;
            Some((field, text))
        });
        if let Some((field, text)) = plain {
            self.reasoning_field.get_or_insert(field);
            self.thought(text, out);
            return;
        }
        for detail in details.into_iter().flatten() {
            let text = ["text", "summary"].into_iter().find_map(|field| detail.get(field)?.as_str());
            if let Some(text) = text {
                self.thought(text, out);
            }
        }
    }

    fn thought(&mut self, text: &str, out: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            self.kept_bytes = self.kept_bytes.saturating_add(text.len());
            self.reasoning.push_str(text);
            out.push(StreamEvent::Reasoning(text.to_owned()));
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        self.kept_bytes = self.kept_bytes.saturating_add(text.len());
        match &mut self.think {
            Some(splitter) => {
                let pieces = splitter.push(text);
                self.pieces(pieces, out);
            }
            None => {
                self.text.push_str(text);
                out.push(StreamEvent::Text(text.to_owned()));
            }
        }
    }

    fn pieces(&mut self, pieces: Vec<Piece>, out: &mut Vec<StreamEvent>) {
        for piece in pieces {
            out.push(match piece {
                Piece::Text(text) => {
                    self.text.push_str(&text);
                    StreamEvent::Text(text)
                }
                Piece::Reasoning(text) => {
                    self.reasoning.push_str(&text);
                    StreamEvent::Reasoning(text)
                }
                Piece::TextWasReasoning => {
                    self.reasoning.push_str(&std::mem::take(&mut self.text));
                    StreamEvent::TextWasReasoning
                }
            });
        }
    }

    /// Takes the end of the response. `failure` is what broke it, if something did.
    pub fn finish(mut self, failure: Option<ProviderError>) -> Result<Final, Box<Incomplete>> {
        let verdict = failure.map_or_else(|| self.verdict(), Err);
        self.flush_think(matches!(verdict, Ok(Stop::End)));
        let calls = self.calls.finish();
        let answer = self.answer(matches!(verdict, Ok(Stop::ToolUse)));
        settle(verdict, answer, calls)
    }

    fn verdict(&self) -> Result<Stop, ProviderError> {
        let fault = match (&self.finish, self.done) {
            (Some(reason), true) => return self.stop(reason),
            (Some(_), false) => ProtocolFault::EndedEarly { missing: "[DONE]" },
            (None, true) => ProtocolFault::EndedEarly { missing: "finish_reason" },
            (None, false) => ProtocolFault::EndedEarly { missing: "finish_reason and [DONE]" },
        };
        Err(self.context.protocol(fault))
    }

    fn stop(&self, reason: &str) -> Result<Stop, ProviderError> {
        match reason.to_ascii_lowercase().as_str() {
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "tool_calls" | "function_call"
            | "tool_use"
                if !self.calls.is_empty() =>
            {
                Ok(Stop::ToolUse)
            }
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Ok(Stop::End),
            "tool_calls" | "function_call" | "tool_use" => {
                Err(self.context.protocol(ProtocolFault::CallsMissing))
            }
            "length" | "max_tokens" | "model_length" => Ok(Stop::MaxTokens),
            "content_filter" | "safety" => Ok(Stop::ContentFilter),
            "error" | "insufficient_system_resource" => {
                Err(self.context.error(ErrorKind::Server { retry_after_ms: None }))
            }
            _ => Err(self.context.protocol(ProtocolFault::UnknownStop { reason: reason.to_owned() })),
        }
    }

    /// Decides what the splitter held back. A block that a finished answer never closes was the answer: none is empty.
    fn flush_think(&mut self, is_end: bool) {
        let Some(splitter) = self.think.take() else { return };
        let (pieces, is_open) = splitter.finish();
        self.pieces(pieces, &mut Vec::new());
        if is_open && is_end && self.text.is_empty() {
            self.text = std::mem::take(&mut self.reasoning).trim_start().to_owned();
        }
    }

    fn answer(self, calls_run: bool) -> Answer {
        let provider_state = self.provider_state(calls_run);
        let is_think = self.context.quirks.think_tag_reasoning;
        // The line breaks around inline reasoning belong to the tags; native reasoning is kept to the byte.
        let reasoning = if is_think { self.reasoning.trim().to_owned() } else { self.reasoning };
        Answer {
            text: self.text,
            reasoning: Some(reasoning).filter(|reasoning| !reasoning.is_empty()),
            provider_state,
            usage: self.usage,
        }
    }

    fn provider_state(&self, calls_run: bool) -> Option<Value> {
        let mut members = Map::new();
        if let Some(field) = self.reasoning_field {
            members.insert("reasoningField".into(), field.into());
        }
        if !self.reasoning_details.is_empty() {
            let details = Value::from(self.reasoning_details.clone()).to_string();
            members.insert("reasoningDetails".into(), details.into());
        }
        if !self.message_extras.is_empty() {
            let extras = self.message_extras.iter().map(|(name, json)| (name.clone(), json.clone().into()));
            members.insert("message".into(), Value::Object(extras.collect()));
        }
        if let Some(extras) = self.calls.extras().filter(|_| calls_run) {
            members.insert("calls".into(), extras);
        }
        let context = &self.context;
        (!members.is_empty())
            .then(|| replay::labelled(&context.connection_id, Kind::Openai, &context.model, members))
    }
}

/// Members of a message that belong to the provider's own book-keeping and are wanted back.
fn is_message_state(name: &str) -> bool {
    name == "extra_content" || name.contains("signature") || name.contains("encrypted")
}

/// Adds a piece of `reasoning_details`: pieces of one block have the same type and index, and their texts are joined.
/// Returns how many bytes were added.
fn merge_detail(details: &mut Vec<Value>, piece: &Value) -> usize {
    const JOINED: [&str; 3] = ["text", "summary", "data"];
    let Some(piece_members) = piece.as_object() else { return 0 };
    let is_same = |last: &Map<String, Value>| {
        ["type", "index"].iter().all(|key| last.get(*key) == piece_members.get(*key))
            && !(last.contains_key("id")
                && piece_members.contains_key("id")
                && last.get("id") != piece_members.get("id"))
            && piece_members.get("index").is_some()
    };
    let Some(last) = details.last_mut().and_then(Value::as_object_mut).filter(|last| is_same(last)) else {
        details.push(piece.clone());
        return piece.to_string().len();
    };
    let mut added_bytes = 0_usize;
    for (key, value) in piece_members {
        match (last.get_mut(key), value) {
            (Some(Value::String(have)), Value::String(more)) if JOINED.contains(&key.as_str()) => {
                have.push_str(more);
                added_bytes = added_bytes.saturating_add(more.len());
            }
            (Some(_), Value::Null) => {}
            _ => {
                last.insert(key.clone(), value.clone());
                added_bytes = added_bytes.saturating_add(key.len()).saturating_add(value.to_string().len());
            }
        }
    }
    added_bytes
}

/// Token use in the forms of the endpoints, from the `usage` member of `holder`.
fn read_usage(holder: &Value) -> Option<Usage> {
    let usage = holder.get("usage")?.as_object()?;
    let count = |value: Option<&Value>| value.and_then(token_count);
    let nested = |group: &str, name: &str| count(usage.get(group).and_then(|group| group.get(name)));
    let input = count(usage.get("prompt_tokens")).or_else(|| count(usage.get("input_tokens")));
    let output = count(usage.get("completion_tokens")).or_else(|| count(usage.get("output_tokens")));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cache_read = nested("prompt_tokens_details", "cached_tokens")
        .or_else(|| count(usage.get("prompt_cache_hit_tokens")))
        .or_else(|| count(usage.get("cached_tokens")));
    let cache_write = nested("prompt_tokens_details", "cache_write_tokens");
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: cache_read.unwrap_or(0),
        cache_write: cache_write.unwrap_or(0),
        reasoning: nested("completion_tokens_details", "reasoning_tokens").unwrap_or(0),
    })
}

/// A count that is a number of any spelling, and not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is clamped to 2^53")]
fn token_count(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| value.as_f64().map(|number| number.clamp(0.0, EXACT_MAX) as u64))
}

/// The chunk once more, with the members of the delta as the bytes that came in.
#[derive(Deserialize)]
struct RawChunk<'r> {
    #[serde(borrow, default)]
    choices: Vec<RawChoice<'r>>,
}

#[derive(Deserialize)]
struct RawChoice<'r> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<BTreeMap<String, &'r RawValue>>,
    #[serde(borrow, default)]
    message: Option<BTreeMap<String, &'r RawValue>>,
}

fn raw_delta(raw: &str) -> BTreeMap<String, &RawValue> {
    let Ok(chunk) = serde_json::from_str::<RawChunk<'_>>(raw) else { return BTreeMap::new() };
    let first = chunk.choices.into_iter().find(|choice| choice.index.unwrap_or(0) == 0);
    first
        .and_then(|choice| choice.delta.filter(|delta| !delta.is_empty()).or(choice.message))
        .unwrap_or_default()
}

fn raw_calls(raw: &str) -> Vec<BTreeMap<String, &RawValue>> {
    let calls = raw_delta(raw).remove("tool_calls").map(RawValue::get);
    calls.and_then(|calls| serde_json::from_str(calls).ok()).unwrap_or_default()
}
