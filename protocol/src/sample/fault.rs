//! Messages with exactly one fault, made from a valid one.

use crate::diagnostic::{Diagnostic, Kind, Rule, Step, path_text};
use crate::schema::{Limits, Presence, Record, TypeShape};
use crate::validate::{Mode, variant_of};
use serde_json::{Map, Value};

/// A message with one fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The message.
    pub value: Value,
    /// What a validator must say of it.
    pub diagnostic: Diagnostic,
}

/// Every message that one fault makes of a valid one: a field left out, a value of another kind, a limit passed by one,
/// an unknown name, and, where the set is closed, a field too many.
pub fn faults(valid: &Value, shape: &'static TypeShape, mode: Mode) -> Vec<Fault> {
    let mut maker = Maker { root: valid, mode, way: Vec::new(), faults: Vec::new() };
    maker.visit(valid, shape, Limits::NONE);
    maker.faults
}

struct Maker<'v> {
    root: &'v Value,
    mode: Mode,
    way: Vec<Step<'v>>,
    faults: Vec<Fault>,
}

impl<'v> Maker<'v> {
    fn visit(&mut self, value: &'v Value, shape: &'static TypeShape, limits: Limits) {
        match shape {
            TypeShape::Json => {}
            TypeShape::Bool => self.replace(Value::from("true"), Rule::WrongType(Kind::Boolean)),
            TypeShape::Integer { min, max } => self.integer(*min, *max, limits),
            TypeShape::Float => self.float(limits),
            TypeShape::Text => self.text(limits),
            TypeShape::Choice(_) => {
                self.replace(Value::from(1), Rule::WrongType(Kind::String));
                self.replace(Value::from("no such value"), Rule::UnknownValue);
            }
            TypeShape::Optional(inner) => {
                if !value.is_null() {
                    self.visit(value, inner, limits);
                }
            }
            TypeShape::List(inner) => self.list(value, inner, limits),
            TypeShape::Map { value: inner, .. } => self.map(value, inner, limits),
            TypeShape::Record(_) | TypeShape::Tagged(_) => {
                self.replace(Value::Array(Vec::new()), Rule::WrongType(Kind::Object));
                if let Value::Object(object) = value {
                    self.members(object, shape);
                    if self.mode == Mode::Closed {
                        self.insert("noSuchField", Value::Null, Rule::UnknownField);
                    }
                }
            }
            TypeShape::Limited { inner, limits: own } => self.visit(value, inner, limits.tightened(*own)),
        }
    }

    fn integer(&mut self, min: i64, max: i64, limits: Limits) {
        self.replace(Value::from("1"), Rule::WrongType(Kind::Integer));
        self.replace(Value::from(0.5), Rule::WrongType(Kind::Integer));
        #[expect(clippy::cast_possible_truncation, reason = "limits of integers lie within 2^53")]
        let bound = |limit: f64| limit as i64;
        let least = limits.min.map_or(min, |limit| bound(limit).max(min));
        let most = limits.max.map_or(max, |limit| bound(limit).min(max));
        self.replace(Value::from(least - 1), Rule::TooSmall(least.to_string()));
        self.replace(Value::from(most + 1), Rule::TooLarge(most.to_string()));
        self.replace(Value::from(u64::MAX), Rule::TooLarge(max.to_string()));
    }

    fn float(&mut self, limits: Limits) {
        self.replace(Value::from("1"), Rule::WrongType(Kind::Number));
        if let Some(min) = limits.min {
            self.replace(Value::from(min - 1.0), Rule::TooSmall(min.to_string()));
        }
        if let Some(max) = limits.max {
            self.replace(Value::from(max + 1.0), Rule::TooLarge(max.to_string()));
        }
    }

    fn text(&mut self, limits: Limits) {
        self.replace(Value::Bool(true), Rule::WrongType(Kind::String));
        if let Some(format) = limits.format {
            self.replace(Value::from("not of any format!"), Rule::NotOfFormat(format));
            return;
        }
        if let Some(min) = limits.len_min.filter(|min| *min > 0) {
            self.replace(Value::from(letters(min - 1)), Rule::TooShort(min));
        }
        if let Some(max) = limits.len_max {
            self.replace(Value::from(letters(max + 1)), Rule::TooLong(max));
        }
    }

    fn list(&mut self, value: &'v Value, inner: &'static TypeShape, limits: Limits) {
        self.replace(Value::Object(Map::new()), Rule::WrongType(Kind::Array));
        let Value::Array(items) = value else { return };
        if let Some(min) = limits.items_min.filter(|min| *min > 0) {
            let few = items.iter().take(size(min - 1)).cloned().collect();
            self.replace(Value::Array(few), Rule::TooFewItems(min));
        }
        if let (Some(max), Some(item)) = (limits.items_max, items.first()) {
            self.replace(Value::Array(vec![item.clone(); size(max + 1)]), Rule::TooManyItems(max));
        }
        for (index, item) in items.iter().enumerate() {
            self.way.push(Step::Index(index));
            self.visit(item, inner, limits.of_items());
            self.way.pop();
        }
    }

    fn map(&mut self, value: &'v Value, inner: &'static TypeShape, limits: Limits) {
        self.replace(Value::Array(Vec::new()), Rule::WrongType(Kind::Object));
        let Value::Object(object) = value else { return };
        if let (Some(max), Some(item)) = (limits.keys_max, object.values().next()) {
            let many = (0..=max).map(|key| (key.to_string(), item.clone())).collect();
            self.replace(Value::Object(many), Rule::TooManyKeys(max));
        }
        for (key, item) in object {
            self.way.push(Step::Key(key));
            self.visit(item, inner, limits.of_items());
            self.way.pop();
        }
    }

    fn members(&mut self, object: &'v Map<String, Value>, shape: &'static TypeShape) {
        match shape {
            TypeShape::Record(record) => self.record(object, record),
            TypeShape::Tagged(tagged) => {
                self.remove(tagged.tag, Rule::Missing);
                self.insert(tagged.tag, Value::from(1), Rule::WrongType(Kind::String));
                self.insert(tagged.tag, Value::from("no such type"), Rule::UnknownType);
                if let Ok(variant) = variant_of(tagged, object) {
                    self.members(object, variant.shape);
                }
            }
            TypeShape::Limited { inner, .. } => self.members(object, inner),
            TypeShape::Json
            | TypeShape::Bool
            | TypeShape::Integer { .. }
            | TypeShape::Float
            | TypeShape::Text
            | TypeShape::Choice(_)
            | TypeShape::Optional(_)
            | TypeShape::List(_)
            | TypeShape::Map { .. } => {}
        }
    }

    fn record(&mut self, object: &'v Map<String, Value>, record: &'static Record) {
        for field in record.fields {
            if field.presence == Presence::Required {
                self.remove(field.name, Rule::Missing);
            }
            if field.presence == Presence::Optional {
                self.insert(field.name, Value::Null, Rule::Null);
            }
            if let Some(value) = object.get(field.name).filter(|value| !value.is_null()) {
                self.way.push(Step::Key(field.name));
                self.visit(value, field.shape, Limits::NONE);
                self.way.pop();
            }
        }
        for part in record.flattened {
            self.members(object, part);
        }
    }

    fn replace(&mut self, value: Value, rule: Rule) {
        self.edit(&self.way.clone(), rule, |place| *place = value);
    }

    fn insert(&mut self, key: &'static str, value: Value, rule: Rule) {
        self.edit_member(key, rule, |object| {
            object.insert(key.to_owned(), value);
        });
    }

    fn remove(&mut self, key: &'static str, rule: Rule) {
        self.edit_member(key, rule, |object| {
            object.remove(key);
        });
    }

    fn edit_member(&mut self, key: &'static str, rule: Rule, edit: impl FnOnce(&mut Map<String, Value>)) {
        let mut fault_way = self.way.clone();
        fault_way.push(Step::Key(key));
        self.edit(&fault_way, rule, |place| {
            if let Value::Object(object) = place {
                edit(object);
            }
        });
    }

    /// Adds the message with the edit done where the maker stands; the validator must name the given way.
    fn edit(&mut self, fault_way: &[Step<'v>], rule: Rule, edit: impl FnOnce(&mut Value)) {
        let mut value = self.root.clone();
        let place = self.way.iter().try_fold(&mut value, |place, step| match step {
            Step::Key(key) => place.get_mut(*key),
            Step::Index(index) => place.get_mut(*index),
        });
        if let Some(place) = place {
            edit(place);
            self.faults.push(Fault { value, diagnostic: Diagnostic { path: path_text(fault_way), rule } });
        }
    }
}

fn letters(count: u64) -> String {
    "é".repeat(size(count))
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
