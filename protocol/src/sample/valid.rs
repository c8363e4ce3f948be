//! Valid messages of a shape.

use crate::format::{DECIMAL_CHARS_MAX, Format, ID_CHARS_MAX};
use crate::manifest::catalogue;
use crate::schema::{Field, Limits, Presence, TypeShape};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Number, Value};

/// Items, keys and characters that a sample has beyond the least: few, as samples are many.
const LIST_ITEMS_EXTRA: usize = 3;
const TEXT_CHARS_EXTRA: usize = 12;

/// Valid messages of the shape: every variant, fields there and absent, strings of any characters.
pub fn valid(shape: &'static TypeShape) -> BoxedStrategy<Value> {
    value(shape, Limits::NONE)
}

/// Valid messages of each variant of a shape that is told apart by a tag, by the variant's name.
pub fn variants(shape: &'static TypeShape) -> Vec<(&'static str, BoxedStrategy<Value>)> {
    catalogue(shape).map(|name| (name, members(shape, Some(name)).prop_map(Value::Object).boxed())).collect()
}

fn value(shape: &'static TypeShape, limits: Limits) -> BoxedStrategy<Value> {
    match shape {
        TypeShape::Json => json(),
        TypeShape::Bool => any::<bool>().prop_map(Value::from).boxed(),
        TypeShape::Integer { min, max } => integer(*min, *max, limits),
        TypeShape::Float => {
            let least = limits.min.unwrap_or(-1e18);
            let most = limits.max.unwrap_or(1e18);
            (least..=most).prop_map(Value::from).boxed()
        }
        TypeShape::Text => text(limits).prop_map(Value::from).boxed(),
        TypeShape::Choice(names) => select(*names).prop_map(Value::from).boxed(),
        TypeShape::Optional(inner) => prop_oneof![1 => Just(Value::Null), 3 => value(inner, limits)].boxed(),
        TypeShape::List(inner) => {
            let least = size(limits.items_min, 0);
            let most = size(limits.items_max, usize::MAX).min(least.saturating_add(LIST_ITEMS_EXTRA));
            vec(value(inner, limits.of_items()), least..=most).prop_map(Value::from).boxed()
        }
        TypeShape::Map { key, value: inner } => {
            let most = size(limits.keys_max, usize::MAX).min(LIST_ITEMS_EXTRA);
            let keys = value(key, Limits::NONE).prop_map(|key| key.as_str().unwrap_or_default().to_owned());
            btree_map(keys, value(inner, limits.of_items()), 0..=most)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed()
        }
        TypeShape::Record(_) | TypeShape::Tagged(_) => members(shape, None).prop_map(Value::Object).boxed(),
        TypeShape::Limited { inner, limits: own } => {
            let narrowed = value(inner, limits.tightened(*own));
            match own.boundary {
                Some(boundary) => narrowed
                    .prop_filter("refused by a boundary", |value| (boundary.check)(value).is_ok())
                    .boxed(),
                None => narrowed,
            }
        }
    }
}

/// The members of an object; `only` names the one variant to make of the outermost tag.
fn members(shape: &'static TypeShape, only: Option<&'static str>) -> BoxedStrategy<Map<String, Value>> {
    match shape {
        TypeShape::Record(record) => {
            let own: Vec<_> = record.fields.iter().map(field).collect();
            let parts: Vec<_> = record.flattened.iter().map(|part| members(part, only)).collect();
            (own, parts)
                .prop_map(|(own, parts)| {
                    own.into_iter().flatten().chain(parts.into_iter().flatten()).collect()
                })
                .boxed()
        }
        TypeShape::Tagged(tagged) => {
            let variants =
                tagged.variants.iter().filter(|variant| only.is_none_or(|only| variant.name == only));
            Union::new(variants.map(|variant| {
                members(variant.shape, None).prop_map(|mut object| {
                    object.insert(tagged.tag.to_owned(), Value::from(variant.name));
                    object
                })
            }))
            .boxed()
        }
        TypeShape::Limited { inner, limits } => {
            let boundary = limits.boundary;
            members(inner, only)
                .prop_filter("refused by a boundary", move |object| {
                    boundary.is_none_or(|boundary| (boundary.check)(&Value::Object(object.clone())).is_ok())
                })
                .boxed()
        }
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Choice(_)
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. } => Just(Map::new()).boxed(),
    }
}

fn field(field: &'static Field) -> BoxedStrategy<Option<(String, Value)>> {
    let (inner, limits) = present(field.shape);
    let named = value(inner, limits)
        // Of any JSON, null cannot stand in an optional field.
        .prop_map(|value| (field.presence == Presence::Required || !value.is_null()).then_some(value))
        .prop_map(|value| value.map(|value| (field.name.to_owned(), value)));
    let null = Some((field.name.to_owned(), Value::Null));
    match field.presence {
        Presence::Required => named.boxed(),
        Presence::Optional => prop_oneof![1 => Just(None), 3 => named].boxed(),
        Presence::Nullable => prop_oneof![1 => Just(None), 1 => Just(null), 2 => named].boxed(),
    }
}

/// The shape of a field that is there, without the outer option, and the limits around that option.
fn present(shape: &'static TypeShape) -> (&'static TypeShape, Limits) {
    if let TypeShape::Optional(inner) = shape {
        return present(inner);
    }
    if let TypeShape::Limited { inner, limits } = shape
        && limits.boundary.is_none()
        && is_optional(inner)
    {
        let (inner, inner_limits) = present(inner);
        return (inner, limits.tightened(inner_limits));
    }
    (shape, Limits::NONE)
}

fn is_optional(shape: &TypeShape) -> bool {
    matches!(shape, TypeShape::Optional(_))
}

fn integer(min: i64, max: i64, limits: Limits) -> BoxedStrategy<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "limits of integers lie within 2^53")]
    let bound = |limit: f64| limit as i64;
    let least = limits.min.map_or(min, |limit| bound(limit).max(min));
    let most = limits.max.map_or(max, |limit| bound(limit).min(max));
    prop_oneof![1 => Just(least), 1 => Just(most), 4 => least..=most].prop_map(Value::from).boxed()
}

fn text(limits: Limits) -> BoxedStrategy<String> {
    match limits.format {
        Some(Format::Uuid) => any::<u128>()
            .prop_map(|bits| {
                let hex: Vec<char> = format!("{bits:032x}").chars().collect();
                let group =
                    |from: usize, length: usize| hex.iter().skip(from).take(length).collect::<String>();
                [group(0, 8), group(8, 4), group(12, 4), group(16, 4), group(20, 12)].join("-")
            })
            .boxed(),
        Some(Format::Id) => of_letters("abcXYZ019_-", 1, ID_CHARS_MAX),
        Some(Format::Hash) => of_letters("0123456789abcdef", 64, 64),
        Some(Format::Decimal) => (any::<i32>(), any::<u16>())
            .prop_map(|(whole, fraction)| format!("{whole}.{fraction}"))
            .prop_filter("too long", |text| text.len() <= DECIMAL_CHARS_MAX)
            .boxed(),
        Some(Format::Base64) => vec(of_letters("ABCxyz019+/", 4, 4), 0..=LIST_ITEMS_EXTRA)
            .prop_map(|groups| groups.concat())
            .boxed(),
        None => {
            let least = size(limits.len_min, 0);
            let most = size(limits.len_max, usize::MAX).min(least.saturating_add(TEXT_CHARS_EXTRA));
            vec(any::<char>(), least..=most).prop_map(|letters| letters.into_iter().collect()).boxed()
        }
    }
}

fn of_letters(letters: &'static str, least: usize, most: usize) -> BoxedStrategy<String> {
    let letters: Vec<char> = letters.chars().collect();
    vec(select(letters), least..=most).prop_map(|letters| letters.into_iter().collect()).boxed()
}

/// JSON of any form, a few levels deep.
fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

fn size(limit: Option<u64>, otherwise: usize) -> usize {
    limit.map_or(otherwise, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}
