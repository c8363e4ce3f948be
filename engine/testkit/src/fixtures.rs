//! Databases as earlier versions wrote them, with every table filled. What they hold is never changed: it is what
//! users have.

use panelot_engine::ports::{Index, Key, KeyPart, Row, Table};
use serde_json::{Map, Value, json};

/// The rows of a database of version 1.
pub fn version_1() -> Vec<Row> {
    rows(include_str!("../fixtures/database-v1.json"))
}

fn rows(text: &str) -> Vec<Row> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap();
    rows.iter().map(row).collect()
}

fn row(value: &Value) -> Row {
    let table = Table::ALL.into_iter().find(|table| value["table"] == table.name()).unwrap();
    let index_keys = value["indexes"].as_object().unwrap();
    let index_keys = Index::ALL
        .into_iter()
        .filter(|index| index.table() == table)
        .filter_map(|index| Some((index, key(index_keys.get(index.name())?))));
    Row {
        table,
        key: key(&value["key"]),
        index_keys: index_keys.collect(),
        revision: value["revision"].as_u64().unwrap(),
        body: value["body"].as_str().unwrap().to_owned(),
    }
}

fn key(value: &Value) -> Key {
    let part = |part: &Value| match part.as_u64() {
        Some(number) => KeyPart::Number(number),
        None => KeyPart::Text(part.as_str().unwrap().to_owned()),
    };
    Key(value.as_array().unwrap().iter().map(part).collect())
}

/// Rows in the form of a fixture's file, for the fixture of the next version.
pub fn write(rows: &[Row]) -> String {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let indexes: Map<String, Value> =
                row.index_keys.iter().map(|(index, key)| (index.name().to_owned(), key_value(key))).collect();
            json!({"table": row.table.name(), "key": key_value(&row.key), "indexes": indexes,
                "revision": row.revision, "body": row.body})
            .to_string()
        })
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn key_value(key: &Key) -> Value {
    let part = |part: &KeyPart| match part {
        KeyPart::Number(number) => json!(number),
        KeyPart::Text(text) => json!(text),
    };
    key.0.iter().map(part).collect()
}
