//! Checks a parsed message against its shape and says where it is wrong.

use crate::diagnostic::{Diagnostic, Kind, Rule, Step, path_text};
use crate::schema::{Boundary, Field, INTEGER_MAX, Limits, Presence, Record, Tagged, TypeShape, Variant};
use serde_json::{Map, Number, Value};

/// What an unknown field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is refused: the receiver would act without it.
    Closed,
    /// It is ignored: the receiver only shows.
    Open,
}

/// Checks a message. The walk is as deep as the shape, which is finite, and JSON of any form is not entered.
///
/// # Errors
/// The first fault: its place and the rule that it breaks.
pub fn validate(value: &Value, shape: &'static TypeShape, mode: Mode) -> Result<(), Diagnostic> {
    let mut walk = Walk { mode, steps: Vec::new() };
    walk.check(value, shape, Limits::NONE).map_err(|rule| Diagnostic { path: path_text(&walk.steps), rule })
}

/// The variant that a message names, for shapes that are told apart by a tag.
pub(crate) fn variant_of<'s>(tagged: &'s Tagged, object: &Map<String, Value>) -> Result<&'s Variant, Rule> {
    let name = match object.get(tagged.tag) {
        None => return Err(Rule::Missing),
        Some(Value::String(name)) => name,
        Some(_) => return Err(Rule::WrongType(Kind::String)),
    };
    tagged.variants.iter().find(|variant| variant.name == name).ok_or(Rule::UnknownType)
}

/// A walk over a message. When a check fails, `steps` stays at the place of the fault.
struct Walk<'v> {
    mode: Mode,
    steps: Vec<Step<'v>>,
}

/// What one object may and must hold, gathered over its flattened parts.
#[derive(Default)]
struct Members {
    tags: Vec<&'static str>,
    records: Vec<&'static Record>,
    boundaries: Vec<&'static Boundary>,
}

impl Members {
    fn know(&self, key: &str) -> bool {
        self.tags.contains(&key)
            || self.records.iter().any(|record| record.fields.iter().any(|field| field.name == key))
    }
}

impl<'v> Walk<'v> {
    fn check(&mut self, value: &'v Value, shape: &'static TypeShape, limits: Limits) -> Result<(), Rule> {
        match shape {
            TypeShape::Json => Ok(()),
            TypeShape::Bool => {
                if value.is_boolean() {
                    Ok(())
                } else {
                    Err(Rule::WrongType(Kind::Boolean))
                }
            }
            TypeShape::Integer { min, max } => integer(value, *min, *max, limits),
            TypeShape::Float => float(value, limits),
            TypeShape::Text => text(value.as_str().ok_or(Rule::WrongType(Kind::String))?, limits),
            TypeShape::Choice(names) => {
                let name = value.as_str().ok_or(Rule::WrongType(Kind::String))?;
                if names.contains(&name) { Ok(()) } else { Err(Rule::UnknownValue) }
            }
            TypeShape::Optional(inner) => {
                if value.is_null() {
                    Ok(())
                } else {
                    self.check(value, inner, limits)
                }
            }
            TypeShape::List(inner) => self.list(value, inner, limits),
            TypeShape::Map { key, value: inner } => self.map(value, key, inner, limits),
            TypeShape::Record(_) | TypeShape::Tagged(_) => self.object(value, shape),
            TypeShape::Limited { inner, limits: own } => {
                self.check(value, inner, limits.tightened(*own))?;
                own.boundary.map_or(Ok(()), |boundary| (boundary.check)(value).map_err(Rule::Boundary))
            }
        }
    }

    fn list(&mut self, value: &'v Value, inner: &'static TypeShape, limits: Limits) -> Result<(), Rule> {
        let items = value.as_array().ok_or(Rule::WrongType(Kind::Array))?;
        count(items.len(), limits.items_min, limits.items_max, Rule::TooFewItems, Rule::TooManyItems)?;
        for (index, item) in items.iter().enumerate() {
            self.steps.push(Step::Index(index));
            self.check(item, inner, limits.of_items())?;
            self.steps.pop();
        }
        Ok(())
    }

    fn map(
        &mut self,
        value: &'v Value,
        key_shape: &'static TypeShape,
        inner: &'static TypeShape,
        limits: Limits,
    ) -> Result<(), Rule> {
        let object = value.as_object().ok_or(Rule::WrongType(Kind::Object))?;
        count(object.len(), None, limits.keys_max, Rule::TooFewItems, Rule::TooManyKeys)?;
        for (key, item) in object {
            self.steps.push(Step::Key(key));
            map_key(key, key_shape, Limits::NONE)?;
            self.check(item, inner, limits.of_items())?;
            self.steps.pop();
        }
        Ok(())
    }

    fn object(&mut self, value: &'v Value, shape: &'static TypeShape) -> Result<(), Rule> {
        let object = value.as_object().ok_or(Rule::WrongType(Kind::Object))?;
        let mut members = Members::default();
        self.gather(object, shape, &mut members)?;
        if self.mode == Mode::Closed
            && let Some(key) = object.keys().find(|key| !members.know(key))
        {
            self.steps.push(Step::Key(key));
            return Err(Rule::UnknownField);
        }
        for field in members.records.iter().flat_map(|record| record.fields) {
            self.field(object, field)?;
        }
        for boundary in members.boundaries {
            (boundary.check)(value).map_err(Rule::Boundary)?;
        }
        Ok(())
    }

    /// Finds what the object may hold: its own fields, those of its variant and those of flattened shapes.
    fn gather(
        &mut self,
        object: &'v Map<String, Value>,
        shape: &'static TypeShape,
        members: &mut Members,
    ) -> Result<(), Rule> {
        match shape {
            TypeShape::Record(record) => {
                members.records.push(record);
                for part in record.flattened {
                    self.gather(object, part, members)?;
                }
                Ok(())
            }
            TypeShape::Tagged(tagged) => {
                self.steps.push(Step::Key(tagged.tag));
                let variant = variant_of(tagged, object)?;
                self.steps.pop();
                members.tags.push(tagged.tag);
                self.gather(object, variant.shape, members)
            }
            TypeShape::Limited { inner, limits } => {
                members.boundaries.extend(limits.boundary);
                self.gather(object, inner, members)
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

    fn field(&mut self, object: &'v Map<String, Value>, field: &'static Field) -> Result<(), Rule> {
        self.steps.push(Step::Key(field.name));
        match (object.get(field.name), field.presence) {
            (None, Presence::Required) => return Err(Rule::Missing),
            (None, Presence::Optional | Presence::Nullable) => {}
            (Some(Value::Null), Presence::Optional) => return Err(Rule::Null),
            (Some(Value::Null), Presence::Nullable) => {}
            (Some(value), _) => self.check(value, field.shape, Limits::NONE)?,
        }
        self.steps.pop();
        Ok(())
    }
}

fn map_key(key: &str, shape: &'static TypeShape, limits: Limits) -> Result<(), Rule> {
    match shape {
        TypeShape::Limited { inner, limits: own } => map_key(key, inner, limits.tightened(*own)),
        TypeShape::Choice(names) => {
            if names.contains(&key) {
                Ok(())
            } else {
                Err(Rule::UnknownField)
            }
        }
        TypeShape::Text
        | TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. }
        | TypeShape::Record(_)
        | TypeShape::Tagged(_) => text(key, limits),
    }
}

fn text(text: &str, limits: Limits) -> Result<(), Rule> {
    if let Some(format) = limits.format
        && !format.accepts(text)
    {
        return Err(Rule::NotOfFormat(format));
    }
    if limits.len_min.is_none() && limits.len_max.is_none() {
        return Ok(());
    }
    count(text.chars().count(), limits.len_min, limits.len_max, Rule::TooShort, Rule::TooLong)
}

fn count(
    found: usize,
    min: Option<u64>,
    max: Option<u64>,
    few: fn(u64) -> Rule,
    many: fn(u64) -> Rule,
) -> Result<(), Rule> {
    let found = u64::try_from(found).unwrap_or(u64::MAX);
    if let Some(min) = min.filter(|min| found < *min) {
        return Err(few(min));
    }
    match max.filter(|max| found > *max) {
        Some(max) => Err(many(max)),
        None => Ok(()),
    }
}

fn integer(value: &Value, min: i64, max: i64, limits: Limits) -> Result<(), Rule> {
    let Value::Number(number) = value else { return Err(Rule::WrongType(Kind::Integer)) };
    let Some(found) = whole(number) else { return Err(Rule::WrongType(Kind::Integer)) };
    if found < min {
        return Err(Rule::TooSmall(min.to_string()));
    }
    if found > max {
        return Err(Rule::TooLarge(max.to_string()));
    }
    // Within 2^53 an integer and its float are the same number.
    float(value, limits)
}

/// The number as an integer, clamped just outside of what a JavaScript number holds exactly.
fn whole(number: &Number) -> Option<i64> {
    if let Some(found) = number.as_i64() {
        return Some(found.clamp(-INTEGER_MAX - 1, INTEGER_MAX + 1));
    }
    number.is_u64().then_some(INTEGER_MAX + 1)
}

fn float(value: &Value, limits: Limits) -> Result<(), Rule> {
    let found = value.as_f64().filter(|found| found.is_finite()).ok_or(Rule::WrongType(Kind::Number))?;
    if let Some(min) = limits.min.filter(|min| found < *min) {
        return Err(Rule::TooSmall(min.to_string()));
    }
    match limits.max.filter(|max| found > *max) {
        Some(max) => Err(Rule::TooLarge(max.to_string())),
        None => Ok(()),
    }
}
