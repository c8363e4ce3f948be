//! Renders the shape of a tool's parameters as the JSON Schema that models are given.

use super::catalogue::description;
use panelot_protocol::schema::{Limits, Presence, Record, TypeShape};
use serde_json::{Map, Value, json};

/// Greatest length that is worth telling a model; longer ones are only checked.
const TOLD_ITEMS_MAX: u64 = 16;

/// The JSON Schema of a tool's parameters. It says less than the validation checks: lengths of texts are left out,
/// since no model plans by them.
pub fn json_schema(tool: &str, shape: &'static TypeShape) -> Value {
    match shape {
        TypeShape::Record(record) => object(tool, record),
        TypeShape::Limited { inner, .. } => json_schema(tool, inner),
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Choice(_)
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. }
        | TypeShape::Tagged(_) => value(tool, shape, Limits::NONE),
    }
}

fn object(tool: &str, record: &Record) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in record.fields {
        let mut schema = value(tool, field.shape, Limits::NONE);
        if let (Some(text), Some(schema)) = (description(tool, field.name), schema.as_object_mut()) {
            schema.insert("description".to_owned(), text.into());
        }
        properties.insert(field.name.to_owned(), schema);
        match field.presence {
            Presence::Required => required.push(field.name),
            Presence::Optional | Presence::Nullable => {}
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn value(tool: &str, shape: &'static TypeShape, limits: Limits) -> Value {
    match shape {
        TypeShape::Json => json!({}),
        TypeShape::Bool => json!({ "type": "boolean" }),
        TypeShape::Integer { .. } => number("integer", limits),
        TypeShape::Float => number("number", limits),
        TypeShape::Text => json!({ "type": "string" }),
        TypeShape::Choice(names) => json!({ "type": "string", "enum": names }),
        TypeShape::Optional(inner) => value(tool, inner, limits),
        TypeShape::List(inner) => list(tool, inner, limits),
        TypeShape::Map { value: inner, .. } => {
            json!({ "type": "object", "additionalProperties": value(tool, inner, limits) })
        }
        TypeShape::Record(record) => object(tool, record),
        TypeShape::Tagged(tagged) => {
            let names: Vec<&str> = tagged.variants.iter().map(|variant| variant.name).collect();
            json!({
                "type": "object",
                "properties": { tagged.tag: { "type": "string", "enum": names } },
                "required": [tagged.tag],
            })
        }
        TypeShape::Limited { inner, limits: own } => value(tool, inner, nearest(limits, *own)),
    }
}

/// The limits that a schema tells: of nested ones the outer, which stands at the field.
fn nearest(outer: Limits, inner: Limits) -> Limits {
    Limits {
        items_min: outer.items_min.or(inner.items_min),
        items_max: outer.items_max.or(inner.items_max),
        min: outer.min.or(inner.min),
        max: outer.max.or(inner.max),
        ..Limits::NONE
    }
}

fn number(kind: &str, limits: Limits) -> Value {
    let mut schema = Map::from_iter([("type".to_owned(), kind.into())]);
    // A tab's number has a range too, but a model copies it from a list.
    let is_told = limits.max.is_some_and(|max| max < f64::from(i32::MAX));
    if is_told {
        schema.extend(limits.min.map(|min| ("minimum".to_owned(), whole(min))));
        schema.extend(limits.max.map(|max| ("maximum".to_owned(), whole(max))));
    }
    Value::Object(schema)
}

/// Bounds are whole in all shapes of tools; `1` reads better than `1.0` to a model.
fn whole(bound: f64) -> Value {
    serde_json::from_str(&format!("{bound}")).unwrap_or_else(|_| json!(bound))
}

fn list(tool: &str, inner: &'static TypeShape, limits: Limits) -> Value {
    let items = value(tool, inner, Limits { items_min: None, items_max: None, ..limits });
    let mut schema = Map::from_iter([("type".to_owned(), "array".into()), ("items".to_owned(), items)]);
    schema.extend(limits.items_min.map(|min| ("minItems".to_owned(), min.into())));
    let told_max = limits.items_max.filter(|max| *max <= TOLD_ITEMS_MAX);
    schema.extend(told_max.map(|max| ("maxItems".to_owned(), max.into())));
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{ClickParams, SelectOptionParams};
    use super::*;
    use panelot_protocol::Shape;

    #[test]
    fn a_shape_becomes_the_schema_that_models_know() {
        assert_eq!(
            json_schema("click", ClickParams::SHAPE),
            json!({
                "type": "object",
                "properties": {
                    "ref": {
                        "type": "string",
                        "description": "The element's ref, copied exactly from the last snapshot.",
                    },
                    "button": {
                        "type": "string",
                        "enum": ["left", "middle", "right"],
                        "description": "left unless given.",
                    },
                    "modifiers": {
                        "type": "array",
                        "items": { "type": "string", "enum": ["alt", "control", "meta", "shift"] },
                        "maxItems": 4,
                        "description": "Keys held down during the click.",
                    },
                    "clickCount": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 3,
                        "description": "2 for a double click; 1 unless given.",
                    },
                    "tabId": {
                        "type": "integer",
                        "description": "The tab to act in, from tabs_list. Leave out for the current tab.",
                    },
                },
                "required": ["ref"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_list_that_needs_an_item_says_so() {
        let schema = json_schema("select_option", SelectOptionParams::SHAPE);
        assert_eq!(schema.pointer("/properties/values/minItems"), Some(&json!(1)));
        assert_eq!(schema.pointer("/properties/values/maxItems"), None);
        assert_eq!(schema.get("required"), Some(&json!(["ref", "values"])));
    }
}
