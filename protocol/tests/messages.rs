//! Every Op, event and content message, by derive: each variant is read and written, and refused with any one fault.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use panelot_protocol::Shape;
use panelot_protocol::content::{ContentOp, ContentResult};
use panelot_protocol::decode::{
    DecodeError, decode_content_op, decode_content_result, decode_event, decode_greeting, decode_op,
};
use panelot_protocol::event::AgentEvent;
use panelot_protocol::frame::EventFrame;
use panelot_protocol::manifest::catalogue;
use panelot_protocol::op::Op;
use panelot_protocol::sample::{faults, valid, variants};
use panelot_protocol::schema::TypeShape;
use panelot_protocol::validate::{Mode, validate};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::fmt::Debug;

/// Samples of each variant. Few are enough: a shape has no state, and samples of one variant differ in which fields
/// are there.
const SAMPLES_PER_VARIANT_COUNT: usize = 24;
/// Samples of each variant that are broken in every place.
const BROKEN_PER_VARIANT_COUNT: usize = 3;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn samples(strategy: &BoxedStrategy<Value>, count: usize) -> Vec<Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Whether everything of `part` is in `whole`, which may leave out what is empty.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(key, value)| match whole.get(key) {
            Some(found) => holds(found, value),
            None => [json!([]), json!(""), json!(false)].contains(value),
        }),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (whole, part) => whole == part,
    }
}

fn check_round_trips<T: PartialEq + Debug>(
    shape: &'static TypeShape,
    mode: Mode,
    read: impl Fn(&str) -> Result<T, DecodeError>,
    write: impl Fn(&T) -> String,
) {
    for (name, strategy) in variants(shape) {
        for value in samples(&strategy, SAMPLES_PER_VARIANT_COUNT) {
            assert_eq!(validate(&value, shape, mode), Ok(()), "{name}");
            let message = read(&value.to_string()).unwrap();
            let written = write(&message);
            assert_eq!(read(&written).unwrap(), message, "{name}");
            let written: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(validate(&written, shape, Mode::Closed), Ok(()), "{name}: {written}");
            assert!(holds(&written, &value), "{name}: {value} became {written}");
        }
    }
}

fn check_faults(shape: &'static TypeShape, mode: Mode) {
    for (name, strategy) in variants(shape) {
        for value in samples(&strategy, BROKEN_PER_VARIANT_COUNT) {
            for fault in faults(&value, shape, mode) {
                assert_eq!(validate(&fault.value, shape, mode), Err(fault.diagnostic), "{name}");
            }
        }
    }
}

fn json_of<T: serde::Serialize>(message: &T) -> String {
    serde_json::to_string(message).unwrap()
}

#[test]
fn every_op_is_read_and_written_without_loss() {
    check_round_trips(Op::SHAPE, Mode::Closed, decode_op, json_of);
}

#[test]
fn every_op_is_refused_with_any_one_fault() {
    check_faults(Op::SHAPE, Mode::Closed);
}

#[test]
fn every_event_is_read_and_written_without_loss() {
    check_round_trips(
        EventFrame::SHAPE,
        Mode::Open,
        |text| decode_event(text).map(Option::unwrap),
        |frame| frame.encode().unwrap(),
    );
}

#[test]
fn every_event_is_refused_with_any_one_fault() {
    check_faults(EventFrame::SHAPE, Mode::Open);
}

#[test]
fn every_content_op_is_read_and_written_without_loss() {
    check_round_trips(ContentOp::SHAPE, Mode::Closed, decode_content_op, json_of);
}

#[test]
fn every_content_op_is_refused_with_any_one_fault() {
    check_faults(ContentOp::SHAPE, Mode::Closed);
}

#[test]
fn a_content_result_is_read_and_written_without_loss() {
    for value in samples(&valid(ContentResult::SHAPE), 200) {
        let result = decode_content_result(&value.to_string()).unwrap();
        assert_eq!(decode_content_result(&json_of(&result)).unwrap(), result);
    }
}

#[test]
fn a_content_result_is_refused_with_any_one_fault() {
    for value in samples(&valid(ContentResult::SHAPE), 24) {
        for fault in faults(&value, ContentResult::SHAPE, Mode::Closed) {
            assert_eq!(validate(&fault.value, ContentResult::SHAPE, Mode::Closed), Err(fault.diagnostic));
        }
    }
}

#[test]
fn the_names_that_the_types_say_are_those_on_the_wire() {
    for (name, strategy) in variants(Op::SHAPE) {
        for value in samples(&strategy, 1) {
            assert_eq!(decode_op(&value.to_string()).unwrap().command_type(), name);
        }
    }
    for (name, strategy) in variants(AgentEvent::SHAPE) {
        for value in samples(&strategy, 1) {
            assert_eq!(decode_event(&value.to_string()).unwrap().unwrap().event.event_type(), name);
        }
    }
}

#[test]
fn no_event_has_a_field_of_the_streams_name() {
    for (name, strategy) in variants(AgentEvent::SHAPE) {
        for value in samples(&strategy, SAMPLES_PER_VARIANT_COUNT) {
            assert_eq!(value.get(panelot_protocol::frame::CURSOR_FIELD), None, "{name}");
        }
    }
}

fn refused(value: &Value) -> (Option<String>, String) {
    let error = decode_op(&value.to_string()).unwrap_err();
    (error.submission_id.map(|id| id.to_string()), error.diagnostic.to_string())
}

#[test]
fn a_refused_op_names_its_submission_where_it_has_one() {
    let with_id = Some(ID.to_owned());
    let cases = [
        (json!({ "type": "thread.burn", "submissionId": ID }), with_id.clone(), "type: unknown type"),
        (json!({ "submissionId": ID }), with_id.clone(), "type: missing"),
        (json!({ "type": "ping", "submissionId": ID, "x": 1 }), with_id.clone(), "x: unknown field"),
        (json!({ "type": "thread.delete", "submissionId": ID }), with_id.clone(), "threadId: missing"),
        (
            json!({ "type": "thread.items", "submissionId": ID, "threadId": "t", "limit": 201 }),
            with_id,
            "limit: greater than 200",
        ),
        (json!({ "type": "ping", "submissionId": "7" }), None, "submissionId: not a UUID"),
        (json!({ "type": "ping" }), None, "submissionId: missing"),
        (json!([]), None, "message: not an object"),
    ];
    for (value, submission, said) in cases {
        assert_eq!(refused(&value), (submission, said.to_owned()), "{value}");
    }
}

#[test]
fn a_diagnostic_names_a_nested_place() {
    let context = json!({ "kind": "tab", "label": "x" });
    let long = json!({ "kind": "tab", "label": "x".repeat(513) });
    let value = json!({
        "type": "turn.submit", "submissionId": ID, "threadId": "t",
        "input": { "text": "", "attachedContext": [context, context, long] },
    });
    assert_eq!(refused(&value).1, "input.attachedContext[2].label: longer than 512");
}

#[test]
fn a_call_to_reload_is_read_whatever_its_version() {
    let value = json!({
        "type": "fatal.reload_required", "submissionId": "7", "protocol": "panelot/engine-v9",
        "schemaHash": "?", "message": "Reload.", "since": { "v9": true },
    });
    let frame = decode_event(&value.to_string()).unwrap().unwrap();
    assert_eq!(
        frame,
        EventFrame::outside(AgentEvent::FatalReloadRequired {
            submission_id: "7".to_owned(),
            protocol: "panelot/engine-v9".to_owned(),
            schema_hash: "?".to_owned(),
            message: "Reload.".to_owned(),
        })
    );
}

#[test]
fn a_greeting_of_another_version_is_still_a_greeting() {
    let value = json!({
        "type": "initialize", "submissionId": "7", "protocol": "panelot/engine-v0", "schemaHash": "old",
        "client": { "removed": "field" },
    });
    assert!(decode_op(&value.to_string()).is_err());
    let greeting = decode_greeting(&value.to_string()).unwrap();
    assert_eq!(
        (greeting.submission_id.as_str(), greeting.protocol.as_str(), greeting.schema_hash.as_str()),
        ("7", "panelot/engine-v0", "old")
    );
    assert_eq!(decode_greeting(&json!({ "type": "ping", "submissionId": "7" }).to_string()), None);
}

#[test]
fn an_event_of_an_unknown_type_is_ignored_and_one_of_a_known_type_is_not() {
    assert_eq!(decode_event(r#"{"type":"thread.sang","submissionId":7}"#), Ok(None));
    let error = decode_event(r#"{"type":"pong","submissionId":7}"#).unwrap_err();
    assert_eq!(error.to_string(), "pong: submissionId: not a string");
}

#[test]
fn a_message_that_costs_too_much_is_refused_before_it_is_parsed() {
    let deep = "[".repeat(1 << 20);
    assert_eq!(decode_op(&deep).unwrap_err().to_string(), "message: nested deeper than 32");
    assert_eq!(decode_event(&deep).unwrap_err().to_string(), "message: nested deeper than 64");
    let wide = format!("[{}1]", "1,".repeat(5_000));
    assert_eq!(decode_op(&wide).unwrap_err().to_string(), "message: an array of more than 4096 items");
}

#[test]
fn the_catalogues_are_not_empty() {
    assert_eq!((catalogue(Op::SHAPE).count(), catalogue(EventFrame::SHAPE).count()), (29, 32));
}

fn any_json() -> impl Strategy<Value = Value> {
    valid(Value::SHAPE)
}

fn read_as_everything(text: &str) {
    let _ = decode_op(text);
    let _ = decode_event(text);
    let _ = decode_content_op(text);
    let _ = decode_content_result(text);
    let _ = decode_greeting(text);
}

proptest! {
    #[test]
    fn any_json_is_answered_without_a_panic(value in any_json()) {
        read_as_everything(&value.to_string());
    }

    #[test]
    fn any_bytes_are_answered_without_a_panic(bytes in any::<Vec<u8>>()) {
        read_as_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_json_in_the_place_of_any_field_is_answered_without_a_panic(
        mut op in valid(Op::SHAPE), mut event in valid(EventFrame::SHAPE), other in any_json(), at in any::<usize>(),
    ) {
        for message in [&mut op, &mut event] {
            let object = message.as_object_mut().unwrap();
            let key = object.keys().nth(at % object.len()).unwrap().clone();
            object.insert(key, other.clone());
            read_as_everything(&message.to_string());
        }
    }
}
