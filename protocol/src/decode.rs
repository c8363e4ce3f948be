//! Text into messages: budget, then JSON, then shape, then type.

use crate::budget::Budget;
use crate::diagnostic::{Diagnostic, Kind, Rule};
use crate::schema::{Shape, TypeShape};
use crate::validate::{Mode, validate, variant_of};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// Most characters of a submission's id that an answer repeats when the Op itself could not be read.
const SUBMISSION_CHARS_MAX: usize = 64;

/// Why a message was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The `submissionId` of the message, where it could be read.
    pub submission_id: Option<String>,
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

/// Reads a message of a closed set: an unknown type or field is an error.
///
/// # Errors
/// The first fault, with the submission that it belongs to where that could be read.
pub fn decode_closed<T: Shape + DeserializeOwned>(text: &str, budget: &Budget) -> Result<T, DecodeError> {
    let value = parse(text, budget)?;
    read(value, Mode::Closed)
}

/// Reads a message of an open set: `None` for a type that this version does not know; unknown fields are ignored.
///
/// # Errors
/// The first fault of a message whose type is known.
pub fn decode_open<T: Shape + DeserializeOwned>(
    text: &str,
    budget: &Budget,
) -> Result<Option<T>, DecodeError> {
    let value = parse(text, budget)?;
    let unknown =
        value.as_object().is_some_and(|object| outer_type(object, T::SHAPE) == Err(Rule::UnknownType));
    if unknown {
        return Ok(None);
    }
    read(value, Mode::Open).map(Some)
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
pub fn decode_greeting(text: &str, budget: &Budget) -> Option<Greeting> {
    let value = parse(text, budget).ok()?;
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

fn parse(text: &str, budget: &Budget) -> Result<Value, DecodeError> {
    let refuse = |rule| DecodeError {
        submission_id: None,
        message_type: None,
        diagnostic: Diagnostic::of_message(rule),
    };
    budget.measure(text).map_err(|overdraft| refuse(Rule::Budget(overdraft)))?;
    serde_json::from_str(text).map_err(|error| refuse(Rule::NotJson(error.to_string())))
}

fn read<T: Shape + DeserializeOwned>(value: Value, mode: Mode) -> Result<T, DecodeError> {
    let submission_id = value.get("submissionId").and_then(Value::as_str).map(cut);
    let message_type = value.as_object().and_then(|object| outer_type(object, T::SHAPE).ok().flatten());
    let refuse = |diagnostic| DecodeError { submission_id, message_type, diagnostic };
    if let Err(diagnostic) = validate(&value, T::SHAPE, mode) {
        return Err(refuse(diagnostic));
    }
    serde_json::from_value(value)
        .map_err(|error| refuse(Diagnostic::of_message(Rule::Unreadable(error.to_string()))))
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
    text.chars().take(SUBMISSION_CHARS_MAX).collect()
}
