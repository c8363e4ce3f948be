//! The answer of `POST {base}/v1/messages`: events of a stream, or a whole message, become an answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::answer::{Answer, Final, FinishedCall, Incomplete, Stop, StreamEvent, Usage};
use crate::arguments::parse_arguments;
use crate::errors::{ProtocolFault, ProviderError, cut};
use crate::failure::{ErrorBody, error_body};
use crate::replay;
use crate::types::Kind;
use crate::wire::{Context, EXCERPT_CHARS_MAX, settle};

/// The most content blocks of one answer.
const BLOCKS_MAX: usize = 1024;

/// Decodes one answer of an Anthropic-kind endpoint.
#[derive(Debug)]
pub(crate) struct AnthropicDecoder {
    context: Context,
    /// The content blocks by their number.
    blocks: BTreeMap<u64, Block>,
    counts: Counts,
    usage: Option<Usage>,
    stop_reason: Option<String>,
    done: bool,
    kept_bytes: usize,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted {
        data: String,
    },
    Call(CallBlock),
    /// A kind that we do not know, of a tool that the server runs for itself.
    Unknown,
}

#[derive(Debug)]
struct CallBlock {
    /// The call's place among the answer's calls.
    place: usize,
    id: String,
    name: String,
    /// Arguments that came with the block's beginning, as some proxies send them.
    given: Option<Value>,
    json: String,
}

/// Token counts as the wire tells them: each event replaces those that it names.
#[derive(Debug, Default)]
struct Counts {
    input: Option<u64>,
    cache_write: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
}

impl AnthropicDecoder {
    pub fn new(context: Context) -> Self {
        Self {
            context,
            blocks: BTreeMap::new(),
            counts: Counts::default(),
            usage: None,
            stop_reason: None,
            done: false,
            kept_bytes: 0,
        }
    }

    /// Whether `message_stop` was there. Whatever follows it is of no interest.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Takes one event of the stream.
    pub fn event(&mut self, name: &str, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data.is_empty() || data.starts_with(':') || data == "[DONE]" {
            out.push(StreamEvent::Alive);
            return Ok(());
        }
        let event = self.context.frame(data)?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or(name);
        if kind == "error" || name == "error" || event.get("error").is_some_and(Value::is_object) {
            return Err(self.reported(&event, data));
        }
        let before = out.len();
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => self.count(event.get("message").and_then(|message| message.get("usage")), out),
            "content_block_start" => {
                if let Some(block) = event.get("content_block") {
                    self.begin(index, block, out)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.get("delta") {
                    self.delta(index, delta, out)?;
                }
            }
            "message_delta" => {
                let reason =
                    event.get("delta").and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
                if let Some(reason) = reason {
                    self.stop_reason = Some(cut(reason, EXCERPT_CHARS_MAX));
                }
                self.count(event.get("usage"), out);
            }
            "message_stop" => self.done = true,
            // `ping`, `content_block_stop`, and events that are not known yet.
            _ => {}
        }
        if out.len() == before && !self.done {
            out.push(StreamEvent::Alive);
        }
        self.context.check_size(self.kept_bytes)
    }

    /// Takes a whole message that came in place of a stream.
    pub fn body(&mut self, body: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let message = self.context.json_body(body)?;
        if let Some(said) = error_body(&message) {
            return Err(self.context.reported(&said));
        }
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            return Err(self.context.foreign_body(body));
        };
        for (index, block) in (0_u64..).zip(blocks) {
            self.begin(index, block, out)?;
        }
        self.count(message.get("usage"), out);
        self.stop_reason =
            message.get("stop_reason").and_then(Value::as_str).map(|text| cut(text, EXCERPT_CHARS_MAX));
        self.done = true;
        Ok(())
    }

    fn reported(&self, event: &Value, data: &str) -> ProviderError {
        let said = error_body(event)
            .unwrap_or_else(|| ErrorBody { message: cut(data, EXCERPT_CHARS_MAX), ..ErrorBody::default() });
        self.context.reported(&said)
    }

    fn begin(&mut self, index: u64, block: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.blocks.len() >= BLOCKS_MAX {
            return Err(self
                .context
                .malformed(&format!("the answer has more than {BLOCKS_MAX} content blocks")));
        }
        let word = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let begun = match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = word("text");
                if !text.is_empty() {
                    out.push(StreamEvent::Text(text.clone()));
                }
                Block::Text(text)
            }
            Some("thinking") => {
                let text = word("thinking");
                if !text.is_empty() {
                    out.push(StreamEvent::Reasoning(text.clone()));
                }
                Block::Thinking { text, signature: word("signature") }
            }
            Some("redacted_thinking") => Block::Redacted { data: word("data") },
            Some("tool_use") => {
                let given =
                    block.get("input").filter(|input| !input.as_object().is_some_and(Map::is_empty)).cloned();
                let call = CallBlock {
                    place: self.calls().count(),
                    id: word("id"),
                    name: word("name"),
                    given,
                    json: String::new(),
                };
                out.push(call.event(String::new()));
                Block::Call(call)
            }
            _ => Block::Unknown,
        };
        self.kept_bytes = self.kept_bytes.saturating_add(begun.bytes());
        self.blocks.insert(index, begun);
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let word = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = delta.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "text_delta" && !self.blocks.contains_key(&index) {
            self.begin(index, &json!({"type": "text"}), out)?;
        }
        let Some(block) = self.blocks.get_mut(&index) else { return Ok(()) };
        let added = match (kind, block) {
            ("text_delta", Block::Text(text)) => {
                let more = word("text");
                text.push_str(more);
                if !more.is_empty() {
                    out.push(StreamEvent::Text(more.to_owned()));
                }
                more.len()
            }
            ("thinking_delta", Block::Thinking { text, .. }) => {
                let more = word("thinking");
                text.push_str(more);
                if !more.is_empty() {
                    out.push(StreamEvent::Reasoning(more.to_owned()));
                }
                more.len()
            }
            ("signature_delta", Block::Thinking { signature, .. }) => {
                signature.push_str(word("signature"));
                word("signature").len()
            }
            ("input_json_delta", Block::Call(call)) => {
                let more = word("partial_json");
                call.json.push_str(more);
                out.push(call.event(more.to_owned()));
                more.len()
            }
            // Citations, and deltas that are not known yet.
            _ => 0,
        };
        self.kept_bytes = self.kept_bytes.saturating_add(added);
        Ok(())
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<StreamEvent>) {
        let Some(usage) = usage.and_then(Value::as_object) else { return };
        let replace = |slot: &mut Option<u64>, name: &str| {
            if let Some(count) = usage.get(name).and_then(Value::as_u64) {
                *slot = Some(count);
            }
        };
        replace(&mut self.counts.input, "input_tokens");
        replace(&mut self.counts.cache_write, "cache_creation_input_tokens");
        replace(&mut self.counts.cache_read, "cache_read_input_tokens");
        replace(&mut self.counts.output, "output_tokens");
        let now = self.counts.usage();
        if self.usage != Some(now) {
            self.usage = Some(now);
            out.push(StreamEvent::Usage(now));
        }
    }

    fn calls(&self) -> impl Iterator<Item = &CallBlock> {
        self.blocks.values().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thinking { .. } | Block::Redacted { .. } | Block::Unknown => None,
        })
    }

    /// Takes the end of the response. `failure` is what broke it, if something did.
    pub fn finish(self, failure: Option<ProviderError>) -> Result<Final, Box<Incomplete>> {
        let verdict = failure.map_or_else(|| self.verdict(), Err);
        let calls = self.calls().map(CallBlock::finished).collect();
        let answer = self.answer(matches!(verdict, Ok(Stop::ToolUse)));
        settle(verdict, answer, calls)
    }

    fn verdict(&self) -> Result<Stop, ProviderError> {
        let has_calls = self.calls().next().is_some();
        let fault = match (self.stop_reason.as_deref(), self.done) {
            (Some("end_turn" | "stop_sequence" | "tool_use"), true) if has_calls => return Ok(Stop::ToolUse),
            (Some("end_turn" | "stop_sequence"), true) => return Ok(Stop::End),
            (Some("tool_use"), true) => ProtocolFault::CallsMissing,
            (Some("max_tokens" | "model_context_window_exceeded"), true) => return Ok(Stop::MaxTokens),
            (Some("refusal"), true) => return Ok(Stop::ContentFilter),
            (Some("pause_turn"), true) => ProtocolFault::PauseTurn,
            (Some(reason), true) => ProtocolFault::UnknownStop { reason: reason.to_owned() },
            (Some(_), false) => ProtocolFault::EndedEarly { missing: "message_stop" },
            (None, true) => ProtocolFault::EndedEarly { missing: "stop_reason" },
            (None, false) => ProtocolFault::EndedEarly { missing: "stop_reason and message_stop" },
        };
        Err(self.context.protocol(fault))
    }

    fn answer(self, calls_run: bool) -> Answer {
        let provider_state = self.provider_state(calls_run);
        let mut text = String::new();
        let mut thoughts: Vec<&str> = Vec::new();
        for block in self.blocks.values() {
            match block {
                Block::Text(piece) => text.push_str(piece),
                Block::Thinking { text, .. } if !text.is_empty() => thoughts.push(text),
                Block::Thinking { .. } | Block::Redacted { .. } | Block::Call(_) | Block::Unknown => {}
            }
        }
        let reasoning = Some(thoughts.join("\n\n")).filter(|reasoning| !reasoning.is_empty());
        Answer { text, reasoning, provider_state, usage: self.usage }
    }

    /// The blocks in their order. A thought without its signature was cut, and would be refused.
    fn provider_state(&self, calls_run: bool) -> Option<Value> {
        let mut has_thought = false;
        let mut blocks = Vec::new();
        for block in self.blocks.values() {
            match block {
                Block::Text(text) => blocks.push(json!({"type": "text", "text": text})),
                Block::Thinking { text, signature } if !signature.is_empty() => {
                    has_thought = true;
                    blocks.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
                }
                Block::Redacted { data } => {
                    has_thought = true;
                    blocks.push(json!({"type": "redacted_thinking", "data": data}));
                }
                Block::Call(_) if calls_run => blocks.push(json!({"type": "tool_use"})),
                Block::Call(_) | Block::Thinking { .. } | Block::Unknown => {}
            }
        }
        let context = &self.context;
        has_thought.then(|| {
            let members = Map::from_iter([("blocks".to_owned(), blocks.into())]);
            replay::labelled(&context.connection_id, Kind::Anthropic, &context.model, members)
        })
    }
}

impl Block {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Thinking { text, signature } => text.len().saturating_add(signature.len()),
            Self::Redacted { data } => data.len(),
            Self::Call(call) => {
                let given = call.given.as_ref().map_or(0, |given| given.to_string().len());
                call.id.len().saturating_add(call.name.len()).saturating_add(given)
            }
            Self::Unknown => 0,
        }
    }
}

impl CallBlock {
    fn event(&self, args_delta: String) -> StreamEvent {
        StreamEvent::ToolCallDelta {
            index: self.place,
            id: self.id.clone(),
            name: self.name.clone(),
            args_delta,
        }
    }

    fn finished(&self) -> FinishedCall {
        let arguments = match &self.given {
            Some(given) if self.json.trim().is_empty() => parse_arguments(&given.to_string()),
            Some(_) | None => parse_arguments(&self.json),
        };
        FinishedCall { id: self.id.clone(), name: self.name.clone(), arguments }
    }
}

impl Counts {
    /// On this wire the input does not include what the cache gave or took.
    fn usage(&self) -> Usage {
        let (read, write) = (self.cache_read.unwrap_or(0), self.cache_write.unwrap_or(0));
        Usage {
            input: self.input.unwrap_or(0).saturating_add(read).saturating_add(write),
            output: self.output.unwrap_or(0),
            cache_read: read,
            cache_write: write,
            reasoning: 0,
        }
    }
}
