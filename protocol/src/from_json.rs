//! JSON values into types.
//!
//! serde writes a reader of every type for every format and for every depth of a tagged enum, which was a third of a
//! wasm module. Messages come in one format, so one reader of each type is enough: `#[derive(FromJson)]` writes it, and
//! lets serde's `Deserialize` go the same way.

#[doc(hidden)]
pub use serde::{Deserialize, Deserializer};
use serde_json::Map;
#[doc(hidden)]
pub use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A type that can be made of a JSON value.
pub trait FromJson: Sized {
    /// Reads a value. Unknown fields of an object are ignored; the validator is who refuses them.
    ///
    /// # Errors
    /// The first fault.
    fn from_json(value: Value) -> Result<Self, Unreadable>;

    /// What a field of this type is when its key is absent; `None` when the key must be there.
    fn absent() -> Option<Self> {
        None
    }
}

/// Why a value could not be read: where, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The keys and indexes on the way to the fault, innermost first.
    steps: Vec<Step>,
    problem: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(&'static str),
    Entry(String),
    Index(usize),
}

impl Unreadable {
    /// A fault at the value itself.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { steps: Vec::new(), problem: problem.into() }
    }

    #[cold]
    fn wrong_type(wanted: &str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "another number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        Self::new(format!("{wanted} is needed, but {found} was found"))
    }

    #[cold]
    fn under(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().rev().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Entry(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Entry(key) => write!(f, ".{key}")?,
            }
        }
        if !self.steps.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Unreadable {}

/// Reads a JSON text.
///
/// # Errors
/// When it is no JSON, or the first fault of its value.
pub fn from_text<T: FromJson>(text: &str) -> Result<T, Unreadable> {
    let value = serde_json::from_str(text).map_err(|error| Unreadable::new(error.to_string()))?;
    T::from_json(value)
}

/// The fields of an object while they are taken out of it. What the derive writes calls it.
#[doc(hidden)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of an object.
    ///
    /// # Errors
    /// When the value is none.
    pub fn of(value: Value) -> Result<Self, Unreadable> {
        let Value::Object(fields) = value else { return Err(Unreadable::wrong_type("an object", &value)) };
        Ok(Self(fields))
    }

    /// Takes the field that names the variant.
    ///
    /// # Errors
    /// When it is absent or no string.
    pub fn tag(&mut self, key: &'static str) -> Result<String, Unreadable> {
        self.take(key)
    }

    /// Takes a field; an absent one is what its type makes of that.
    ///
    /// # Errors
    /// When it is absent and must not be, or cannot be read.
    pub fn take<T: FromJson>(&mut self, key: &'static str) -> Result<T, Unreadable> {
        match self.take_present(key)? {
            Some(value) => Ok(value),
            None => T::absent().ok_or_else(|| Unreadable::new("is missing").under(Step::Key(key))),
        }
    }

    /// Takes a field that has a default when it is absent.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take_or_default<T: FromJson + Default>(&mut self, key: &'static str) -> Result<T, Unreadable> {
        Ok(self.take_present(key)?.unwrap_or_default())
    }

    /// Takes a field if it is there. With an `Option` as `T`, absent and null are told apart.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take_present<T: FromJson>(&mut self, key: &'static str) -> Result<Option<T>, Unreadable> {
        let Some(value) = self.0.remove(key) else { return Ok(None) };
        T::from_json(value).map(Some).map_err(|fault| fault.under(Step::Key(key)))
    }

    /// What is left, as an object.
    pub fn rest(self) -> Value {
        Value::Object(self.0)
    }

    /// A copy of what is left, as an object.
    pub fn copy_of_rest(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

/// A name that is not in the closed set.
#[doc(hidden)]
#[cold]
pub fn unknown_name(name: &str) -> Unreadable {
    Unreadable::new(format!("`{name}` is not one of the known names"))
}

/// The fault of a variant, shown at the field that names it.
#[doc(hidden)]
#[cold]
pub fn unknown_variant(tag: &'static str, name: &str) -> Unreadable {
    unknown_name(name).under(Step::Key(tag))
}

/// The string that a value must be. What the derive writes calls it.
///
/// # Errors
/// When it is none.
#[doc(hidden)]
pub fn text(value: Value) -> Result<String, Unreadable> {
    let Value::String(text) = value else { return Err(Unreadable::wrong_type("a string", &value)) };
    Ok(text)
}

/// Reads any of serde's formats through a JSON value. What the derive writes calls it.
///
/// # Errors
/// The format's, or the first fault as its custom error.
#[doc(hidden)]
pub fn through_serde<'de, T: FromJson, D: Deserializer<'de>>(reader: D) -> Result<T, D::Error> {
    let value = Value::deserialize(reader)?;
    T::from_json(value).map_err(serde::de::Error::custom)
}

impl FromJson for Value {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        Ok(value)
    }
}

impl FromJson for Map<String, Value> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        Fields::of(value).map(|fields| fields.0)
    }
}

impl FromJson for bool {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        value.as_bool().ok_or_else(|| Unreadable::wrong_type("true or false", &value))
    }
}

impl FromJson for String {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        text(value)
    }
}

impl FromJson for f64 {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        value.as_f64().ok_or_else(|| Unreadable::wrong_type("a number", &value))
    }
}

macro_rules! whole_numbers {
    ($($type:ident by $read:ident),+ $(,)?) => {$(
        impl FromJson for $type {
            fn from_json(value: Value) -> Result<Self, Unreadable> {
                let found = value.$read().and_then(|found| $type::try_from(found).ok());
                found.ok_or_else(|| {
                    let wanted = concat!("a whole number that fits ", stringify!($type));
                    Unreadable::wrong_type(wanted, &value)
                })
            }
        }
    )+};
}

whole_numbers! {
    u8 by as_u64, u16 by as_u64, u32 by as_u64, u64 by as_u64, usize by as_u64,
    i32 by as_i64, i64 by as_i64,
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        T::from_json(value).map(Self::new)
    }
}

fn items<T: FromJson, C: FromIterator<T>>(value: Value) -> Result<C, Unreadable> {
    let Value::Array(items) = value else { return Err(Unreadable::wrong_type("an array", &value)) };
    let read = |(at, item)| T::from_json(item).map_err(|fault| fault.under(Step::Index(at)));
    items.into_iter().enumerate().map(read).collect()
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        items(value)
    }
}

impl<A: FromJson, B: FromJson> FromJson for (A, B) {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let wrong = |value| Unreadable::wrong_type("an array of two", &value);
        let Value::Array(items) = value else { return Err(wrong(value)) };
        let [first, second] = <[Value; 2]>::try_from(items).map_err(|items| wrong(Value::Array(items)))?;
        let first = A::from_json(first).map_err(|fault| fault.under(Step::Index(0)))?;
        let second = B::from_json(second).map_err(|fault| fault.under(Step::Index(1)))?;
        Ok((first, second))
    }
}

impl<T: FromJson + Ord> FromJson for BTreeSet<T> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        items(value)
    }
}

impl<K: FromJson + Ord, V: FromJson> FromJson for BTreeMap<K, V> {
    fn from_json(value: Value) -> Result<Self, Unreadable> {
        let read = |(key, value): (String, Value)| {
            let of_key = K::from_json(Value::String(key.clone()));
            let entry = of_key.and_then(|read| Ok((read, V::from_json(value)?)));
            entry.map_err(|fault| fault.under(Step::Entry(key)))
        };
        Fields::of(value)?.0.into_iter().map(read).collect()
    }
}
