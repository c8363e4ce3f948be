//! Text into messages: budget, then JSON, then shape, then type.

use crate::budget::{self, Budget};
use crate::content::{ContentOp, ContentResult};
use crate::diagnostic::{Diagnostic, Kind, Rule};
use crate::format::Format;
use crate::frame::EventFrame;
use crate::from_json::FromJson;
use crate::ids::SubmissionId;
use crate::op::Op;
use crate::schema::{Shape, TypeShape};
use crate::validate::{Mode, validate, variant_of};
use serde_json::{Map, Value};
use std::fmt;

/// Most characters of a field of another version's greeting that are kept.
const GREETING_CHARS_MAX: usize = 256;

/// Why a message was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The `submissionId` of the message, where it could be read; without one there is nothing to reject.
    pub submission_id: Option<SubmissionId>,
    /// The message's `type`, where it could be read and is known.
    pub message_type: Option<&'static str>,
    /// What is wrong.
    pub diagnostic: Diagnostic,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message_type {
            Some(name) => write!(f, "{name}: {}", self.diagnostic),
            None => self.diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Reads an Op.
///
/// # Errors
/// The first fault; with a submission it is a `command.rejected`, without one an `error`.
pub fn decode_op(text: &str) -> Result<Op, DecodeError> {
    decode_closed(text, &budget::COMMAND)
}

/// Reads an event with its place in its thread's stream. `None` for a type that this version does not know.
///
/// # Errors
/// The first fault of an event whose type is known: a `protocol_mismatch`, to be shown.
pub fn decode_event(text: &str) -> Result<Option<EventFrame>, DecodeError> {
    decode_open(text, &budget::EVENT)
}

/// Reads what the engine asks of a content script.
///
/// # Errors
/// The first fault.
pub fn decode_content_op(text: &str) -> Result<ContentOp, DecodeError> {
    decode_closed(text, &budget::CONTENT)
}

/// Reads what a content script answers.
///
/// # Errors
/// The first fault.
pub fn decode_content_result(text: &str) -> Result<ContentResult, DecodeError> {
    decode_closed(text, &budget::CONTENT)
}

/// Reads a message of a closed set: an unknown type or field is an error.
///
/// # Errors
/// The first fault, with the submission that it belongs to where that could be read.
pub fn decode_closed<T: Shape + FromJson>(text: &str, budget: &Budget) -> Result<T, DecodeError> {
    let value = parse(text, budget)?;
    let refusal = Refusal::of(&value, T::SHAPE);
    validate(&value, T::SHAPE, Mode::Closed).map_err(|diagnostic| refusal.clone().at(diagnostic))?;
    T::from_json(value).map_err(|error| refusal.with(Rule::Unreadable(error.to_string())))
}

/// Reads a message of an open set: `None` for a type that this version does not know; unknown fields are ignored.
///
/// # Errors
/// The first fault of a message whose type is known.
pub fn decode_open<T: Shape + FromJson>(text: &str, budget: &Budget) -> Result<Option<T>, DecodeError> {
    let value = parse(text, budget)?;
    let is_unknown =
        value.as_object().is_some_and(|object| outer_type(object, T::SHAPE) == Err(Rule::UnknownType));
    if is_unknown {
        return Ok(None);
    }
    let refusal = Refusal::of(&value, T::SHAPE);
    validate(&value, T::SHAPE, Mode::Open).map_err(|diagnostic| refusal.clone().at(diagnostic))?;
    T::from_json(value).map(Some).map_err(|error| refusal.with(Rule::Unreadable(error.to_string())))
}

/// What an `initialize` says of its sender, readable whatever version wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The submission to answer.
    pub submission_id: String,
    /// The protocol that the client speaks.
    pub protocol: String,
    /// The hash of the client's schema.
    pub schema_hash: String,
}

/// Reads the greeting of a message that is an `initialize` of any version, so that a client of another version can
/// be told to reload although its message as a whole cannot be read. `None` for every other text.
pub fn decode_greeting(text: &str) -> Option<Greeting> {
    let value = parse(text, &budget::COMMAND).ok()?;
    let object = value.as_object()?;
    let field = |name: &str| object.get(name).and_then(Value::as_str).map(cut);
    if object.get("type").and_then(Value::as_str) != Some("initialize") {
        return None;
    }
    Some(Greeting {
        submission_id: field("submissionId")?,
        protocol: field("protocol")?,
        schema_hash: field("schemaHash")?,
    })
}

/// What a message says of itself before it is known to be right.
#[derive(Clone, Default)]
struct Refusal {
    submission_id: Option<SubmissionId>,
    message_type: Option<&'static str>,
}

impl Refusal {
    fn of(value: &Value, shape: &'static TypeShape) -> Self {
        let submission_id = value.get("submissionId").and_then(Value::as_str);
        Self {
            submission_id: submission_id.filter(|id| Format::Uuid.accepts(id)).map(SubmissionId::from),
            message_type: value.as_object().and_then(|object| outer_type(object, shape).ok().flatten()),
        }
    }

    fn with(self, rule: Rule) -> DecodeError {
        self.at(Diagnostic::of_message(rule))
    }

    fn at(self, diagnostic: Diagnostic) -> DecodeError {
        DecodeError { submission_id: self.submission_id, message_type: self.message_type, diagnostic }
    }
}

fn parse(text: &str, budget: &Budget) -> Result<Value, DecodeError> {
    budget.measure(text).map_err(|overdraft| Refusal::default().with(Rule::Budget(overdraft)))?;
    serde_json::from_str(text).map_err(|error| Refusal::default().with(Rule::NotJson(error.to_string())))
}

/// The variant that the message's own tag names; `None` for a shape without a tag.
fn outer_type(object: &Map<String, Value>, shape: &'static TypeShape) -> Result<Option<&'static str>, Rule> {
    match shape {
        TypeShape::Tagged(tagged) => variant_of(tagged, object).map(|variant| Some(variant.name)),
        TypeShape::Limited { inner, .. } => outer_type(object, inner),
        TypeShape::Record(record) => {
            for part in record.flattened {
                if let Some(name) = outer_type(object, part)? {
                    return Ok(Some(name));
                }
            }
            Ok(None)
        }
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Choice(_)
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. } => Err(Rule::WrongType(Kind::Object)),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(GREETING_CHARS_MAX).collect()
}
