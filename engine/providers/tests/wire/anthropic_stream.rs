//! Recorded streams of Anthropic-kind endpoints, cut at every byte, and the answers that they must give.

use panelot_providers::{
    Answer, ErrorKind, Final, FinishedCall, Kind, ProtocolFault, ProviderError, Quirks, Stop, StreamEvent,
    Usage,
};
use serde_json::{Map, Value, json};

use crate::support::{Outcome, connection, decode_cut};

fn anthropic(body: &str) -> Outcome {
    decode_cut(&connection(Kind::Anthropic, Quirks::default()), body.as_bytes())
}

fn frames(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("unnamed")))
        .collect()
}

fn begin(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text(index: u32, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn input(index: u32, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

fn stop(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}})
}

fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

fn tool(index: u32, id: &str) -> Value {
    begin(index, json!({"type": "tool_use", "id": id, "name": "click", "input": {}}))
}

fn call(id: &str, arguments: Value) -> FinishedCall {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    FinishedCall { id: id.into(), name: "click".into(), arguments: Ok(arguments) }
}

fn fault(fault: ProtocolFault) -> ProviderError {
    ProviderError { request_id: Some("req_1".into()), ..ProviderError::protocol(fault) }
}

#[test]
fn text_calls_and_token_use_arrive_whole() {
    let body = frames(&[
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 1}}}),
        begin(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        text(0, "🌍 北京"),
        delta(0, json!({"type": "citations_delta", "citation": {}})),
        json!({"type": "content_block_stop", "index": 0}),
        tool(1, "t1"),
        input(1, ""),
        input(1, "{\"ref\":"),
        input(1, "\"e1\"}"),
        tool(2, "t2"),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
        message_stop(),
    ]);
    let (events, done) = anthropic(&body);
    let started = Usage { input: 18, output: 1, cache_read: 5, cache_write: 3, reasoning: 0 };
    let usage = Usage { output: 20, ..started };
    let calling = |index, id: &str, args_delta: &str| StreamEvent::ToolCallDelta {
        index,
        id: id.into(),
        name: "click".into(),
        args_delta: args_delta.into(),
    };
    let want = vec![
        StreamEvent::Usage(started),
        StreamEvent::Alive,
        StreamEvent::Alive,
        StreamEvent::Text("🌍 北京".into()),
        StreamEvent::Alive,
        StreamEvent::Alive,
        calling(0, "t1", ""),
        calling(0, "t1", ""),
        calling(0, "t1", "{\"ref\":"),
        calling(0, "t1", "\"e1\"}"),
        calling(1, "t2", ""),
        StreamEvent::Usage(usage),
    ];
    assert_eq!(events, want);
    let want = Final {
        answer: Answer { text: "🌍 北京".into(), usage: Some(usage), ..Answer::default() },
        calls: vec![call("t1", json!({"ref": "e1"})), call("t2", json!({}))],
        dropped_calls: vec![],
        stop: Stop::ToolUse,
    };
    assert_eq!(done, Ok(want));
}

#[test]
fn stop_reasons_are_told_apart_and_only_whole_calls_run() {
    let begun = [begin(0, json!({"type": "text", "text": ""})), text(0, "t")];
    let calling = [tool(1, "t1"), input(1, "{}")];
    let of = |reason: &str, calls: bool| {
        let calls: &[Value] = if calls { &calling } else { &[] };
        match anthropic(&frames(&[&begun, calls, &[stop(reason), message_stop()][..]].concat())).1 {
            Ok(done) => (Some(done.stop), done.calls.len(), done.dropped_calls.len(), None),
            Err(incomplete) => (None, 0, incomplete.dropped_calls.len(), Some(incomplete.error)),
        }
    };
    let cases = [
        ("end_turn", false, (Some(Stop::End), 0, 0, None)),
        ("stop_sequence", false, (Some(Stop::End), 0, 0, None)),
        ("tool_use", true, (Some(Stop::ToolUse), 1, 0, None)),
        ("end_turn", true, (Some(Stop::ToolUse), 1, 0, None)),
        ("max_tokens", true, (Some(Stop::MaxTokens), 0, 1, None)),
        ("model_context_window_exceeded", true, (Some(Stop::MaxTokens), 0, 1, None)),
        ("refusal", false, (Some(Stop::ContentFilter), 0, 0, None)),
        ("tool_use", false, (None, 0, 0, Some(fault(ProtocolFault::CallsMissing)))),
        ("pause_turn", true, (None, 0, 1, Some(fault(ProtocolFault::PauseTurn)))),
        ("banana", true, (None, 0, 1, Some(fault(ProtocolFault::UnknownStop { reason: "banana".into() })))),
    ];
    for (reason, calls, want) in cases {
        assert_eq!(of(reason, calls), want, "{reason}");
    }
}

#[test]
fn an_answer_without_both_terminal_marks_is_kept_and_incomplete() {
    let begun = [begin(0, json!({"type": "text", "text": "half"})), tool(1, "t1"), input(1, "{\"ref\":")];
    let cases = [
        (vec![stop("tool_use")], "message_stop"),
        (vec![message_stop()], "stop_reason"),
        (vec![], "stop_reason and message_stop"),
        (
            vec![
                json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}),
                message_stop(),
            ],
            "stop_reason",
        ),
    ];
    for (end, missing) in cases {
        let incomplete = anthropic(&frames(&[&begun[..], &end].concat())).1.unwrap_err();
        let got = (incomplete.answer.text.as_str(), incomplete.dropped_calls.as_slice(), incomplete.error);
        assert_eq!(got, ("half", &["click".to_owned()][..], fault(ProtocolFault::EndedEarly { missing })));
    }
}

#[test]
fn an_error_event_keeps_what_came_before_it_and_allows_another_attempt_only_before_that() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let error = ProviderError {
        kind: ErrorKind::Overloaded { retry_after_ms: None },
        detail: Some("Overloaded".into()),
        status: None,
        request_id: Some("req_1".into()),
    };
    let begun = frames(&[begin(0, json!({"type": "text", "text": ""})), text(0, "half")]);
    let late = anthropic(&format!("{begun}{overloaded}")).1.unwrap_err();
    assert_eq!(
        (late.answer.text.as_str(), late.nothing_shown(), late.error.clone()),
        ("half", false, error.clone())
    );
    let early = anthropic(overloaded).1.unwrap_err();
    assert_eq!((early.nothing_shown(), early.error.clone()), (true, error));
}

#[test]
fn unknown_events_blocks_and_deltas_are_passed_over() {
    let body = frames(&[
        json!({"type": "message_start", "message": {}}),
        json!({"type": "brand_new", "x": 1}),
        begin(0, json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        input(0, "{\"query\":1}"),
        begin(1, json!({"type": "web_search_tool_result", "content": []})),
        text(2, "a block without a beginning"),
        delta(2, json!({"type": "brand_new_delta", "text": "no"})),
        delta(7, json!({"type": "thinking_delta", "thinking": "no block"})),
        stop("end_turn"),
        message_stop(),
        text(2, " and nothing after the end"),
    ]);
    let done = anthropic(&body).1.unwrap();
    let want = Answer { text: "a block without a beginning".into(), ..Answer::default() };
    assert_eq!(done, Final { answer: want, calls: vec![], dropped_calls: vec![], stop: Stop::End });
}

#[test]
fn arguments_that_come_with_the_beginning_of_a_block_count_unless_pieces_follow() {
    let given = begin(0, json!({"type": "tool_use", "id": "t1", "name": "click", "input": {"ref": "e1"}}));
    let end = [stop("tool_use"), message_stop()];
    let of = |events: &[Value]| anthropic(&frames(&[events, &end].concat())).1.unwrap().calls;
    assert_eq!(of(std::slice::from_ref(&given)), [call("t1", json!({"ref": "e1"}))]);
    assert_eq!(of(&[given, input(0, "{\"ref\":\"e2\"}")]), [call("t1", json!({"ref": "e2"}))]);
}

#[test]
fn a_thought_that_was_cut_before_its_signature_does_not_go_back() {
    let signed = begin(0, json!({"type": "thinking", "thinking": "whole", "signature": "S"}));
    let unsigned = begin(1, json!({"type": "thinking", "thinking": "cut", "signature": ""}));
    let incomplete = anthropic(&frames(&[signed, unsigned.clone()])).1.unwrap_err();
    assert_eq!(incomplete.answer.reasoning.as_deref(), Some("whole\n\ncut"));
    let want = json!({
        "wire": "anthropic", "connection": "c1", "model": "m1",
        "blocks": [{"type": "thinking", "thinking": "whole", "signature": "S"}],
    });
    assert_eq!(incomplete.answer.provider_state, Some(want));
    let incomplete = anthropic(&frames(&[unsigned])).1.unwrap_err();
    assert_eq!((incomplete.answer.provider_state.as_ref(), incomplete.nothing_shown()), (None, false));
}

#[test]
fn a_whole_message_in_place_of_a_stream_is_taken() {
    let message = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "I click."}, {"type": "tool_use", "id": "t1", "name": "click", "input": {"ref": "e1"}}],
        "usage": {"input_tokens": 1, "output_tokens": 2},
    });
    let want = Final {
        answer: Answer {
            text: "I click.".into(),
            usage: Some(Usage { input: 1, output: 2, ..Usage::default() }),
            ..Answer::default()
        },
        calls: vec![call("t1", json!({"ref": "e1"}))],
        dropped_calls: vec![],
        stop: Stop::ToolUse,
    };
    assert_eq!(anthropic(&message.to_string()).1, Ok(want));
    let error = anthropic(r#"{"type":"error","error":{"type":"authentication_error","message":"bad"}}"#)
        .1
        .unwrap_err()
        .error;
    assert_eq!((error.kind, error.detail.as_deref()), (ErrorKind::Auth, Some("bad")));
}
