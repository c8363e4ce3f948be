//! What the derived readers make of JSON values, and how they name a fault.

use panelot_protocol::FromJson;
use panelot_protocol::from_json::{Unreadable, from_text};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(transparent)]
struct Name {
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
enum Size {
    VerySmall,
    Large,
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Part {
    Held(Held),
    Named { own_name: Name, sizes: BTreeSet<Size> },
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
struct Held {
    /// An own record may hold null for nothing.
    note: Option<String>,
    pair: (u8, i32),
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(default)]
struct Defaults {
    first: u16,
    second: Option<bool>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { first: 7, second: Some(true) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(try_from = "String", into = "String")]
struct Even(u64);

impl TryFrom<String> for Even {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let number: u64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

impl From<Even> for String {
    fn from(even: Even) -> Self {
        even.0.to_string()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
struct Whole {
    parts: Vec<Part>,
    by_name: BTreeMap<String, Box<Defaults>>,
    even: Even,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(nullable)]
    folder: Option<Option<String>>,
    #[serde(default)]
    ratio: f64,
    any: Value,
}

fn whole() -> Value {
    json!({
        "parts": [
            { "kind": "held", "note": null, "pair": [1, -2] },
            { "kind": "named", "ownName": "a", "sizes": ["large", "very_small"] },
            { "kind": "nothing" },
        ],
        "by_name": { "x": { "first": 1, "second": null }, "y": {} },
        "even": "4",
        "ratio": 3,
        "any": { "deep": [null] },
    })
}

/// Applies the edit to a good value and compares what is said of it.
fn check(edit: impl FnOnce(&mut Value), expected: &str) {
    let mut value = whole();
    edit(&mut value);
    let said = Whole::from_json(value).map_or_else(|fault| fault.to_string(), |read| format!("{read:?}"));
    assert_eq!(said, expected);
}

#[test]
fn every_form_is_read() {
    let expected = Whole {
        parts: vec![
            Part::Held(Held { note: None, pair: (1, -2) }),
            Part::Named {
                own_name: Name { text: "a".to_owned() },
                sizes: BTreeSet::from([Size::VerySmall, Size::Large]),
            },
            Part::Nothing,
        ],
        by_name: BTreeMap::from([
            ("x".to_owned(), Box::new(Defaults { first: 1, second: None })),
            ("y".to_owned(), Box::new(Defaults::default())),
        ]),
        even: Even(4),
        folder: None,
        ratio: 3.0,
        any: json!({ "deep": [null] }),
    };
    assert_eq!(Whole::from_json(whole()), Ok(expected));
}

#[test]
fn serde_reads_what_the_derived_reader_reads() {
    let through_serde: Whole = serde_json::from_str(&whole().to_string()).unwrap();
    assert_eq!(Ok(through_serde), Whole::from_json(whole()));
}

#[test]
fn what_is_written_is_read_back() {
    let first = Whole::from_json(whole()).unwrap();
    assert_eq!(from_text(&serde_json::to_string(&first).unwrap()), Ok(first));
}

#[test]
fn a_nullable_field_tells_absent_from_null() {
    let folder = |value: Option<Value>| {
        let mut whole = whole();
        if let Some(value) = value {
            whole["folder"] = value;
        }
        Whole::from_json(whole).unwrap().folder
    };
    let read = [folder(None), folder(Some(json!(null))), folder(Some(json!("f")))];
    assert_eq!(read, [None, Some(None), Some(Some("f".to_owned()))]);
}

#[test]
fn a_fault_is_named_with_its_place() {
    check(
        |value| value["parts"][0]["pair"] = json!([1]),
        "parts[0].pair: an array of two is needed, but an array was found",
    );
    check(
        |value| value["parts"][0]["pair"][0] = json!(256),
        "parts[0].pair[0]: a whole number that fits u8 is needed, but another number was found",
    );
    check(
        |value| value["parts"][1]["sizes"][0] = json!("huge"),
        "parts[1].sizes[0]: `huge` is not one of the known names",
    );
    check(
        |value| value["parts"][2]["kind"] = json!("much"),
        "parts[2].kind: `much` is not one of the known names",
    );
    check(|value| value["parts"][2] = json!({}), "parts[2].kind: is missing");
    check(
        |value| value["by_name"]["y"]["second"] = json!("yes"),
        "by_name.y.second: true or false is needed, but a string was found",
    );
    check(|value| value["even"] = json!("3"), "even: 3 is odd");
}

#[test]
fn a_missing_field_is_named() {
    check(|value| drop(value.as_object_mut().unwrap().remove("even")), "even: is missing");
}

#[test]
fn a_text_that_is_no_json_says_where_it_ends() {
    let fault: Result<Whole, Unreadable> = from_text("{\"parts\": [");
    assert_eq!(fault.unwrap_err().to_string(), "EOF while parsing a list at line 1 column 11");
}
