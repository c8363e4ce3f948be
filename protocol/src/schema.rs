//! The shape of a message as it stands on the wire: plain data that the derive makes from the types.
//!
//! One shape serves the validator, the manifest with its hash, and the generator of samples, so that the
//! three cannot disagree. Shapes are constants: they cost no start-up time, and a type that would contain
//! itself does not compile, which bounds every walk over them.

use crate::format::Format;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The largest integer that a JavaScript number holds exactly: 2^53 - 1.
pub const INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// A type that crosses a context. Implemented by `#[derive(Shape)]`.
///
/// A type that contains itself has no shape; what is nested without end on the wire is any JSON.
///
/// ```compile_fail,E0391
/// #[derive(panelot_protocol::Shape)]
/// struct Tree {
///     children: Vec<Tree>,
/// }
/// ```
pub trait Shape {
    /// The type as it stands on the wire.
    const SHAPE: &'static TypeShape;
}

/// A type as it stands on the wire. Names of the Rust side are not in it.
#[derive(Debug)]
pub enum TypeShape {
    /// Any JSON value; only the budget bounds it.
    Json,
    /// `true` or `false`.
    Bool,
    /// A number without a fraction.
    Integer {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// Any finite number.
    Float,
    /// A string.
    Text,
    /// One of a closed set of strings.
    Choice(&'static [&'static str]),
    /// The inner shape or nothing. In a field: absent; elsewhere: null.
    Optional(&'static TypeShape),
    /// An array.
    List(&'static TypeShape),
    /// An object whose keys are data.
    Map {
        /// What each key must be; a string shape.
        key: &'static TypeShape,
        /// What each value must be.
        value: &'static TypeShape,
    },
    /// An object with known fields.
    Record(Record),
    /// An object with a field that names its variant.
    Tagged(Tagged),
    /// A shape with narrower limits or a rule of its own.
    Limited {
        /// What is limited.
        inner: &'static TypeShape,
        /// The limits.
        limits: Limits,
    },
}

/// The fields of an object.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// Named fields.
    pub fields: &'static [Field],
    /// Shapes whose fields stand in the same object.
    pub flattened: &'static [&'static TypeShape],
}

/// One field of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Whether the key must be there.
    pub presence: Presence,
    /// What the value must be.
    pub shape: &'static TypeShape,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The key must be there.
    Required,
    /// The key may be absent; null is refused.
    Optional,
    /// The key may be absent, and null is a value of its own.
    Nullable,
}

/// A set of objects that a field tells apart.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    /// The key that names the variant.
    pub tag: &'static str,
    /// The variants.
    pub variants: &'static [Variant],
}

/// One variant of a tagged set.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The tag's value.
    pub name: &'static str,
    /// The other fields: a record, possibly with limits.
    pub shape: &'static TypeShape,
}

/// What narrows a shape. Limits of strings and numbers reach through options, lists and maps to the
/// strings and numbers inside.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Least length of a string, in Unicode scalar values.
    pub len_min: Option<u64>,
    /// Greatest length of a string, in Unicode scalar values.
    pub len_max: Option<u64>,
    /// Least count of an array's items.
    pub items_min: Option<u64>,
    /// Greatest count of an array's items.
    pub items_max: Option<u64>,
    /// Greatest count of a map's keys.
    pub keys_max: Option<u64>,
    /// Least number.
    pub min: Option<f64>,
    /// Greatest number.
    pub max: Option<f64>,
    /// What a string must look like.
    pub format: Option<Format>,
    /// A rule written by hand.
    pub boundary: Option<&'static Boundary>,
}

/// A rule written by hand, marked with `#[boundary]` so that its text is part of the manifest.
#[derive(Debug, Clone, Copy)]
pub struct Boundary {
    /// The rule: says what is wrong with the value.
    pub check: fn(&Value) -> Result<(), String>,
    /// The rule's tokens, free of comments and formatting.
    pub tokens: &'static str,
    /// The values of the constants that the rule names.
    pub uses: &'static [u64],
}

impl Limits {
    /// No limit at all.
    pub const NONE: Self = Self {
        len_min: None,
        len_max: None,
        items_min: None,
        items_max: None,
        keys_max: None,
        min: None,
        max: None,
        format: None,
        boundary: None,
    };

    /// Both limits at once: the tighter of each bound.
    pub(crate) fn tightened(self, other: Self) -> Self {
        Self {
            len_min: self.len_min.max(other.len_min),
            len_max: least(self.len_max, other.len_max),
            items_min: self.items_min.max(other.items_min),
            items_max: least(self.items_max, other.items_max),
            keys_max: least(self.keys_max, other.keys_max),
            min: either(self.min, other.min, f64::max),
            max: either(self.max, other.max, f64::min),
            format: self.format.or(other.format),
            boundary: None,
        }
    }

    /// The limits that reach the items of a list or the values of a map.
    pub(crate) fn of_items(self) -> Self {
        Self { items_min: None, items_max: None, keys_max: None, ..self }
    }
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    either(a, b, u64::min)
}

fn either<T>(a: Option<T>, b: Option<T>, choose: fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, b) => a.or(b),
    }
}

/// Used by the derive: a shape with limits. Refuses, at compile time, limits that the shape has no use for.
#[doc(hidden)]
#[expect(clippy::panic, reason = "evaluated by the compiler only: the message is a compile error")]
pub const fn limited(inner: &'static TypeShape, limits: Limits) -> TypeShape {
    let mut leaf = inner;
    let mut has_list = false;
    let mut has_map = false;
    let mut has_format = false;
    let is_leaf = loop {
        leaf = match leaf {
            TypeShape::Optional(inner) => inner,
            TypeShape::List(inner) => {
                has_list = true;
                inner
            }
            TypeShape::Map { value, .. } => {
                has_map = true;
                value
            }
            TypeShape::Limited { inner, limits } => {
                has_format = has_format || limits.format.is_some();
                inner
            }
            TypeShape::Text => break Leaf::Text,
            TypeShape::Integer { .. } | TypeShape::Float => break Leaf::Number,
            TypeShape::Json
            | TypeShape::Bool
            | TypeShape::Choice(_)
            | TypeShape::Record(_)
            | TypeShape::Tagged(_) => break Leaf::Other,
        };
    };
    let of_text = limits.len_min.is_some() || limits.len_max.is_some() || limits.format.is_some();
    if of_text && !matches!(is_leaf, Leaf::Text) {
        panic!("len_min, len_max and format are limits of strings");
    }
    if (limits.min.is_some() || limits.max.is_some()) && !matches!(is_leaf, Leaf::Number) {
        panic!("min and max are limits of numbers");
    }
    if (limits.items_min.is_some() || limits.items_max.is_some()) && !has_list {
        panic!("items_min and items_max are limits of lists");
    }
    if limits.keys_max.is_some() && !has_map {
        panic!("keys_max is a limit of maps");
    }
    if limits.format.is_some() && has_format {
        panic!("the type has a format of its own already");
    }
    TypeShape::Limited { inner, limits }
}

enum Leaf {
    Text,
    Number,
    Other,
}

/// Used by the derive: whether the key must be there.
#[doc(hidden)]
pub const fn presence(shape: &TypeShape, defaulted: bool) -> Presence {
    let optional = matches!(shape, TypeShape::Optional(_));
    if defaulted || optional { Presence::Optional } else { Presence::Required }
}

/// Used by the derive: the shape, which must be of fields only.
#[doc(hidden)]
#[expect(clippy::panic, reason = "evaluated by the compiler only: the message is a compile error")]
pub const fn record(shape: &'static TypeShape) -> &'static TypeShape {
    if !matches!(unlimited(shape), TypeShape::Record(_)) {
        panic!("a variant of a tagged enum holds a struct with named fields");
    }
    shape
}

/// Used by the derive: the shape, which must be an object whose keys are known.
#[doc(hidden)]
#[expect(clippy::panic, reason = "evaluated by the compiler only: the message is a compile error")]
pub const fn object(shape: &'static TypeShape) -> &'static TypeShape {
    if !matches!(unlimited(shape), TypeShape::Record(_) | TypeShape::Tagged(_)) {
        panic!("only a struct or a tagged enum can be flattened");
    }
    shape
}

/// The shape without its limits.
const fn unlimited(shape: &'static TypeShape) -> &'static TypeShape {
    let mut shape = shape;
    while let TypeShape::Limited { inner, .. } = shape {
        shape = inner;
    }
    shape
}

#[expect(clippy::panic, reason = "evaluated by the compiler only: the message is a compile error")]
const fn text(shape: &'static TypeShape) -> &'static TypeShape {
    if !matches!(unlimited(shape), TypeShape::Text | TypeShape::Choice(_)) {
        panic!("the keys of a map are strings");
    }
    shape
}

macro_rules! leaf {
    ($($type:ty => $shape:expr),+ $(,)?) => {$(
        impl Shape for $type {
            const SHAPE: &'static TypeShape = &$shape;
        }
    )+};
}

leaf! {
    Value => TypeShape::Json,
    bool => TypeShape::Bool,
    f64 => TypeShape::Float,
    String => TypeShape::Text,
    u8 => TypeShape::Integer { min: 0, max: u8::MAX as i64 },
    u16 => TypeShape::Integer { min: 0, max: u16::MAX as i64 },
    u32 => TypeShape::Integer { min: 0, max: u32::MAX as i64 },
    u64 => TypeShape::Integer { min: 0, max: INTEGER_MAX },
    i8 => TypeShape::Integer { min: i8::MIN as i64, max: i8::MAX as i64 },
    i16 => TypeShape::Integer { min: i16::MIN as i64, max: i16::MAX as i64 },
    i32 => TypeShape::Integer { min: i32::MIN as i64, max: i32::MAX as i64 },
    i64 => TypeShape::Integer { min: -INTEGER_MAX, max: INTEGER_MAX },
}

impl<T: Shape> Shape for Option<T> {
    const SHAPE: &'static TypeShape = &TypeShape::Optional(T::SHAPE);
}

impl<T: Shape> Shape for Box<T> {
    const SHAPE: &'static TypeShape = T::SHAPE;
}

impl<T: Shape> Shape for Vec<T> {
    const SHAPE: &'static TypeShape = &TypeShape::List(T::SHAPE);
}

impl<T: Shape> Shape for BTreeSet<T> {
    const SHAPE: &'static TypeShape = &TypeShape::List(T::SHAPE);
}

impl<K: Shape, V: Shape> Shape for BTreeMap<K, V> {
    const SHAPE: &'static TypeShape = &TypeShape::Map { key: text(K::SHAPE), value: V::SHAPE };
}

/// What the derive asks of the compiler, asked at run time: there it is a panic, in a constant a compile error.
#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &TypeShape = <Vec<u8>>::SHAPE;
    const NAME: &TypeShape = &limited(String::SHAPE, Limits { format: Some(Format::Id), ..Limits::NONE });

    #[test]
    #[should_panic(expected = "len_min, len_max and format are limits of strings")]
    fn a_number_has_no_length() {
        limited(u8::SHAPE, Limits { len_max: Some(3), ..Limits::NONE });
    }

    #[test]
    #[should_panic(expected = "min and max are limits of numbers")]
    fn a_string_has_no_least_value() {
        limited(String::SHAPE, Limits { min: Some(3.0), ..Limits::NONE });
    }

    #[test]
    #[should_panic(expected = "items_min and items_max are limits of lists")]
    fn a_string_has_no_items() {
        limited(String::SHAPE, Limits { items_max: Some(3), ..Limits::NONE });
    }

    #[test]
    #[should_panic(expected = "keys_max is a limit of maps")]
    fn a_list_has_no_keys() {
        limited(LIST, Limits { keys_max: Some(3), ..Limits::NONE });
    }

    #[test]
    #[should_panic(expected = "the type has a format of its own already")]
    fn a_format_is_not_given_twice() {
        limited(NAME, Limits { format: Some(Format::Uuid), ..Limits::NONE });
    }

    #[test]
    #[should_panic(expected = "a variant of a tagged enum holds a struct with named fields")]
    fn a_variant_holds_no_string() {
        record(String::SHAPE);
    }

    #[test]
    #[should_panic(expected = "only a struct or a tagged enum can be flattened")]
    fn a_list_cannot_be_flattened() {
        object(LIST);
    }

    #[test]
    #[should_panic(expected = "the keys of a map are strings")]
    fn a_number_is_no_key() {
        text(u8::SHAPE);
    }

    #[test]
    fn limits_reach_through_options_lists_and_maps() {
        let inner = <Option<BTreeMap<String, Vec<String>>>>::SHAPE;
        let limits = Limits {
            len_max: Some(3),
            items_max: Some(2),
            keys_max: Some(1),
            format: Some(Format::Id),
            ..Limits::NONE
        };
        assert!(matches!(limited(inner, limits), TypeShape::Limited { .. }));
    }
}
