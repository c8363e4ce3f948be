//! The opaque state of an answer: what must go back unchanged, and only to where it came from.

use serde_json::{Map, Value};

use crate::types::{Connection, Kind};

/// Writes the state of an answer. The label says where it came from, so that it never travels to another endpoint or
/// model, which would refuse it or learn what is not its business.
pub(crate) fn labelled(
    connection_id: &str,
    kind: Kind,
    model: &str,
    mut members: Map<String, Value>,
) -> Value {
    members.insert("wire".to_owned(), Value::from(wire(kind)));
    members.insert("connection".to_owned(), Value::from(connection_id));
    members.insert("model".to_owned(), Value::from(model));
    Value::Object(members)
}

/// The state's members, if it belongs to this connection and model.
pub(crate) fn matching<'a>(
    state: Option<&'a Value>,
    connection: &Connection,
    model: &str,
) -> Option<&'a Map<String, Value>> {
    let state = state?.as_object()?;
    let says = |key: &str, want: &str| state.get(key).and_then(Value::as_str) == Some(want);
    (says("wire", wire(connection.kind)) && says("connection", &connection.id) && says("model", model))
        .then_some(state)
}

fn wire(kind: Kind) -> &'static str {
    match kind {
        Kind::Openai => "openai",
        Kind::Anthropic => "anthropic",
    }
}
