//! What the derive reads from types, and what validator, decoder and manifest make of it.

use expect_test::{Expect, expect};
use panelot_protocol::budget::{Budget, COMMAND};
use panelot_protocol::decode::{DecodeError, decode_closed, decode_open};
use panelot_protocol::diagnostic::{Diagnostic, Rule};
use panelot_protocol::ids::SubmissionId;
use panelot_protocol::manifest::{Message as Entry, hash, manifest};
use panelot_protocol::sample::{faults, valid};
use panelot_protocol::validate::{Mode, validate};
use panelot_protocol::{FromJson, Shape, boundary};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LABEL_CHARS_MAX: u64 = 8;
const HOPS_COUNT_MAX: u64 = 5;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, FromJson, Shape)]
#[serde(transparent)]
struct Name(#[shape(format = id)] String);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
enum Mood {
    VeryGood,
    #[serde(rename = "so-so")]
    Middling,
}

/// A rule that no limit can say.
#[boundary(uses(HOPS_COUNT_MAX))]
fn first_is_least(value: &Value) -> Result<(), String> {
    let hops: Vec<u64> = value.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    if hops.iter().min() == hops.first() { Ok(()) } else { Err("the first hop is not the least".to_owned()) }
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
struct Inner {
    #[shape(len_min = 1, len_max = LABEL_CHARS_MAX)]
    long_label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = -3, max = 3)]
    level: Option<i64>,
    #[shape(min = 0.5, max = 1 << 3)]
    factor: f64,
    #[serde(default)]
    #[shape(items_max = 2, len_max = LABEL_CHARS_MAX)]
    tags: Vec<String>,
    #[shape(items_max = HOPS_COUNT_MAX, boundary = first_is_least)]
    hops: Vec<u64>,
    #[shape(keys_max = 2)]
    moods: BTreeMap<Name, Mood>,
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
struct Empty {}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Body {
    #[serde(rename = "thing.make")]
    MakeThing {
        input: Box<Inner>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        any_value: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(nullable, len_max = 3)]
        folder: Option<Option<String>>,
    },
    LookAt(Empty),
    Ping,
}

#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
struct Message {
    #[shape(format = uuid)]
    submission_id: String,
    #[serde(flatten)]
    body: Body,
}

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn make_thing() -> Value {
    json!({
        "submissionId": ID,
        "type": "thing.make",
        "input": {
            "longLabel": "héllo", "level": -3, "factor": 8.0, "tags": ["a"], "hops": [1, 2],
            "moods": { "a-1": "very_good", "b": "so-so" },
        },
        "anyValue": [1, { "x": null }],
        "folder": null,
    })
}

fn read(value: &Value) -> Result<Message, DecodeError> {
    decode_closed(&value.to_string(), &COMMAND)
}

/// Applies the edit to a valid message and compares what is said of it.
fn check(edit: impl FnOnce(&mut Value), expected: &str) {
    let mut value = make_thing();
    edit(&mut value);
    let said = read(&value).map_or_else(|error| error.diagnostic.to_string(), |_| "valid".to_owned());
    assert_eq!(said, expected);
}

#[test]
fn a_valid_message_is_read_and_written_as_it_was() {
    for value in [
        make_thing(),
        json!({ "type": "look-at", "submissionId": ID }),
        json!({ "type": "ping", "submissionId": ID }),
    ] {
        let message = read(&value).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), value);
    }
}

#[test]
fn an_unknown_type_is_named_at_its_tag() {
    check(|value| value["type"] = json!("thing.break"), "type: unknown type");
}

#[test]
fn an_unknown_field_is_refused_at_every_level() {
    check(|value| value["extra"] = json!(1), "extra: unknown field");
    check(|value| value["input"]["extra"] = json!(1), "input.extra: unknown field");
}

#[test]
fn a_missing_field_is_named() {
    check(
        |value| {
            value["input"].as_object_mut().unwrap().remove("longLabel");
        },
        "input.longLabel: missing",
    );
}

#[test]
fn a_value_of_another_kind_is_refused() {
    check(|value| value["input"]["hops"][1] = json!(1.5), "input.hops[1]: not an integer");
    check(|value| value["input"]["moods"] = json!([]), "input.moods: not an object");
}

#[test]
fn limits_hold_to_the_character() {
    check(|value| value["input"]["longLabel"] = json!("é".repeat(8)), "valid");
    check(|value| value["input"]["longLabel"] = json!("é".repeat(9)), "input.longLabel: longer than 8");
    check(|value| value["input"]["longLabel"] = json!(""), "input.longLabel: shorter than 1");
    check(|value| value["input"]["level"] = json!(4), "input.level: greater than 3");
    check(|value| value["input"]["factor"] = json!(0.25), "input.factor: less than 0.5");
    check(|value| value["input"]["tags"] = json!(["a", "b", "c"]), "input.tags: more than 2 items");
    check(|value| value["input"]["tags"] = json!(["123456789"]), "input.tags[0]: longer than 8");
    check(
        |value| value["input"]["hops"][0] = json!(9_007_199_254_740_992_u64),
        "input.hops[0]: greater than 9007199254740991",
    );
    check(|value| value["folder"] = json!("1234"), "folder: longer than 3");
}

#[test]
fn the_keys_of_a_map_are_checked_too() {
    check(
        |value| value["input"]["moods"] = json!({ "a b": "so-so" }),
        "input.moods.a b: not an id (1 to 64 of A-Z a-z 0-9 _ -)",
    );
}

#[test]
fn null_is_refused_where_it_is_not_a_value_of_its_own() {
    check(|value| value["input"]["level"] = Value::Null, "input.level: null where only absence is allowed");
    check(|value| value["anyValue"] = Value::Null, "anyValue: null where only absence is allowed");
}

#[test]
fn a_boundary_speaks_in_its_own_words() {
    check(|value| value["input"]["hops"] = json!([2, 1]), "input.hops: the first hop is not the least");
}

#[test]
fn an_error_carries_the_submission_and_the_type() {
    let error = read(&json!({ "type": "look-at", "submissionId": ID, "x": 1 })).unwrap_err();
    assert_eq!(
        error,
        DecodeError {
            submission_id: Some(SubmissionId::from(ID)),
            message_type: Some("look-at"),
            diagnostic: Diagnostic { path: "x".to_owned(), rule: Rule::UnknownField },
        }
    );
}

#[test]
fn an_open_set_ignores_what_it_does_not_know_and_refuses_what_it_does() {
    let open = |value: Value| decode_open::<Message>(&value.to_string(), &COMMAND);
    assert_eq!(open(json!({ "type": "thing.new", "submissionId": 1 })), Ok(None));
    let ping = Message { submission_id: ID.to_owned(), body: Body::Ping };
    assert_eq!(open(json!({ "type": "ping", "submissionId": ID, "new": 1 })), Ok(Some(ping)));
    let error = open(json!({ "type": "ping", "submissionId": 1 })).unwrap_err();
    assert_eq!(error.to_string(), "ping: submissionId: not a string");
}

#[test]
fn text_that_is_not_json_is_named_as_such() {
    let error = decode_closed::<Message>("{", &COMMAND).unwrap_err();
    assert_eq!(error.to_string(), "message: not JSON (EOF while parsing an object at line 1 column 1)");
}

fn text_of<T: Shape>() -> String {
    manifest("test", &[], &[Entry { name: "message", mode: Mode::Closed, shape: T::SHAPE }])
}

fn check_manifest<T: Shape>(expected: Expect) {
    expected.assert_eq(&text_of::<T>());
}

#[test]
fn the_manifest_names_every_place_on_the_wire() {
    check_manifest::<Message>(expect![[r#"
        protocol test
        message catalogue look-at
        message catalogue ping
        message catalogue thing.make
        message unknown fields are refused
        message.submissionId: string uuid
        message: object
        message: object by type
        message<look-at>: object
        message<ping>: object
        message<thing.make>.anyValue: optional any JSON
        message<thing.make>.folder: optional nullable string length 0..=3
        message<thing.make>.input.factor: number 0.5..=8
        message<thing.make>.input.hops boundary uses (5) value : & Value{let hops : Vec < u64 > = value . as_array () . into_iter () . flatten () . filter_map (Value :: as_u64) . collect () ; if hops . iter () . min () == hops . first () {Ok (())} else {Err ("the first hop is not the least" . to_owned ())}}
        message<thing.make>.input.hops: list items 0..=5
        message<thing.make>.input.hops[]: integer 0..=unbounded
        message<thing.make>.input.level: optional integer -3..=3
        message<thing.make>.input.longLabel: string length 1..=8
        message<thing.make>.input.moods: map keys 0..=2
        message<thing.make>.input.moods{key}: string id
        message<thing.make>.input.moods{}: one of so-so | very_good
        message<thing.make>.input.tags: optional list items 0..=2
        message<thing.make>.input.tags[]: string length 0..=8
        message<thing.make>.input: object
        message<thing.make>: object
    "#]]);
}

/// The budgets of a protocol are part of it.
#[test]
fn a_budget_is_part_of_the_manifest() {
    let tighter = Budget { depth_max: 31, ..COMMAND };
    let of = |budget: Budget| hash(&manifest("test", &[budget], &[]));
    assert_ne!(of(COMMAND), of(tighter));
}

mod base {
    use super::*;

    #[derive(Shape, Serialize, FromJson)]
    #[serde(tag = "type", rename_all = "snake_case")]
    pub enum Root {
        First { nested: Vec<Nested>, count: u8 },
        Second(Nested),
    }

    #[derive(Shape, Serialize, FromJson)]
    pub struct Nested {
        #[shape(len_max = 8, boundary = rule)]
        text: String,
        choice: Choice,
    }

    #[derive(Shape, Serialize, FromJson)]
    #[serde(rename_all = "lowercase")]
    pub enum Choice {
        Yes,
        No,
    }

    #[boundary]
    fn rule(value: &Value) -> Result<(), String> {
        if value.as_str().is_some_and(|text| text.contains('\n')) {
            Err("a line end".to_owned())
        } else {
            Ok(())
        }
    }
}

/// The same on the wire as `base`, with other names, comments, formatting and order.
mod respelled {
    use super::*;

    #[boundary]
    fn other_name(value: &Value) -> Result<(), String> {
        // Why it is so.
        if value.as_str().is_some_and(
            |text| text.contains('\n'), // a comment
        ) {
            Err("a line end".to_owned())
        } else {
            Ok(())
        }
    }

    /// Documented here.
    #[derive(Shape, Serialize, FromJson)]
    pub enum Answer {
        #[serde(rename = "no")]
        Refused,
        /// Documented here too.
        #[serde(rename = "yes")]
        Granted,
    }

    #[derive(Shape, Serialize, FromJson)]
    #[serde(tag = "type")]
    pub enum Top {
        #[serde(rename = "second")]
        Two {
            #[serde(rename = "choice")]
            answer: Answer,
            #[serde(rename = "text")]
            #[shape(boundary = self::other_name, len_max = 2 * 4)]
            words: String,
        },
        #[serde(rename = "first")]
        One { count: u8, nested: Vec<Part> },
    }

    #[derive(Shape, Serialize, FromJson)]
    pub struct Part {
        choice: Box<Answer>,
        #[shape(len_max = 8, boundary = other_name)]
        text: String,
    }
}

/// One bound of a nested field differs from `base`.
mod changed {
    use super::*;

    #[derive(Shape, Serialize, FromJson)]
    #[serde(tag = "type", rename_all = "snake_case")]
    pub enum Root {
        First { nested: Vec<Nested>, count: u16 },
        Second(super::base::Nested),
    }

    type Nested = super::base::Nested;
}

#[test]
fn names_comments_formatting_and_order_do_not_change_the_manifest() {
    assert_eq!(text_of::<base::Root>(), text_of::<respelled::Top>());
}

#[test]
fn a_changed_field_is_one_changed_line() {
    let (base, changed) = (text_of::<base::Root>(), text_of::<changed::Root>());
    let differing: Vec<(&str, &str)> = base.lines().zip(changed.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(
        differing,
        [("message<first>.count: integer 0..=255", "message<first>.count: integer 0..=65535")]
    );
    assert_ne!(hash(&base), hash(&changed));
}

proptest! {
    #[test]
    fn samples_are_valid_and_survive_reading_and_writing(value in valid(Message::SHAPE)) {
        prop_assert_eq!(validate(&value, Message::SHAPE, Mode::Closed), Ok(()));
        let message = read(&value).unwrap();
        let written = serde_json::to_value(&message).unwrap();
        prop_assert_eq!(read(&written).unwrap(), message);
    }

    #[test]
    fn every_single_fault_is_refused_at_its_place(value in valid(Message::SHAPE)) {
        for mode in [Mode::Closed, Mode::Open] {
            for fault in faults(&value, Message::SHAPE, mode) {
                prop_assert_eq!(validate(&fault.value, Message::SHAPE, mode), Err(fault.diagnostic));
            }
        }
    }

    #[test]
    fn any_text_is_answered_without_a_panic(text in any::<String>()) {
        let _ = decode_closed::<Message>(&text, &COMMAND);
        let _ = decode_open::<Message>(&text, &COMMAND);
    }
}

#[test]
fn the_faults_of_a_message_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let strategy = valid(Message::SHAPE);
    let mut kinds: Vec<String> = (0..200)
        .flat_map(|_| {
            faults(&strategy.new_tree(&mut runner).unwrap().current(), Message::SHAPE, Mode::Closed)
        })
        .map(|fault| {
            format!("{:?}", fault.diagnostic.rule)
                .chars()
                .take_while(|letter| letter.is_alphabetic())
                .collect()
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "Missing",
            "NotOfFormat",
            "Null",
            "TooLarge",
            "TooLong",
            "TooManyItems",
            "TooManyKeys",
            "TooShort",
            "TooSmall",
            "UnknownField",
            "UnknownType",
            "UnknownValue",
            "WrongType",
        ]
    );
}
