//! What a provider sent must come back unchanged, and only to the endpoint and model that sent it.

use panelot_providers::{
    Connection, Final, GenParams, Kind, Message, ModelRequest, Part, Quirks, ReasoningEffort, ToolCall,
    ToolChoice, build_request,
};
use serde_json::{Value, json};

use crate::support::{connection, decode, stream};

fn decoded(connection: &Connection, body: &str) -> Final {
    decode(connection, [body.as_bytes()]).1.unwrap()
}

/// The message that an answer becomes in the history, and results for its calls.
fn as_history(done: &Final) -> Vec<Message> {
    let calls: Vec<ToolCall> = done
        .calls
        .iter()
        .map(|call| ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.replay_arguments(),
        })
        .collect();
    let results: Vec<Message> = calls
        .iter()
        .map(|call| Message::ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            ok: true,
            parts: vec![Part::Text("ok".into())],
        })
        .collect();
    let answer = Message::Assistant {
        text: done.answer.text.clone(),
        reasoning: done.answer.reasoning.clone(),
        calls,
        provider_state: done.answer.provider_state.clone(),
        partial: false,
    };
    let question = Message::User { parts: vec![Part::Text("q".into())] };
    [vec![question, answer], results].concat()
}

fn body_text(
    connection: &Connection,
    model: &str,
    messages: &[Message],
    effort: Option<ReasoningEffort>,
) -> String {
    let params = GenParams { reasoning_effort: effort, ..GenParams::default() };
    let request = ModelRequest {
        model,
        system: &[],
        messages,
        tools: &[],
        tool_choice: ToolChoice::Auto,
        params: &params,
        capabilities: panelot_providers::Capabilities::default(),
    };
    String::from_utf8(build_request(connection, None, &request).unwrap().body).unwrap()
}

fn assistant_of(body: &str) -> Value {
    let body: Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["role"] == "assistant").unwrap().clone()
}

#[test]
fn opaque_members_of_calls_and_messages_return_byte_for_byte() {
    let openai = connection(Kind::Openai, Quirks::default());
    let extra = r#"{"google": {"thought_signature":"Zm9v\/YmFy==","n":1.50,"z":[ ],"a":1e2}}"#;
    let body = stream(&[
        &format!(
            r#"{{"choices":[{{"index":0,"delta":{{"thinking_signature":"s\u0031","tool_calls":[{{"index":0,"id":"a","extra_content":{extra},"function":{{"name":"click","arguments":"{{}}","note":7.0}}}}]}}}}]}}"#
        ),
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","extra_content":null,"function":{"name":"click","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    ]);
    let messages = as_history(&decoded(&openai, &body));
    let sent = body_text(&openai, "m1", &messages, None);
    assert!(sent.contains(&format!(r#""extra_content":{extra}"#)), "{sent}");
    assert!(sent.contains(r#""thinking_signature":"s\u0031""#), "{sent}");
    let want = json!([
        {"id": "a", "type": "function", "extra_content": serde_json::from_str::<Value>(extra).unwrap(),
         "function": {"name": "click", "arguments": "{}", "note": 7.0}},
        {"id": "b", "type": "function", "function": {"name": "click", "arguments": "{}"}},
    ]);
    assert_eq!(assistant_of(&sent)["tool_calls"], want);

    let other = Connection { id: "c2".into(), ..openai.clone() };
    for (connection, model) in [(&openai, "m2"), (&other, "m1")] {
        let sent = body_text(connection, model, &messages, None);
        assert!(!sent.contains("extra_content") && !sent.contains("signature"), "{sent}");
    }
}

#[test]
fn native_reasoning_returns_under_its_own_name_within_a_tool_loop_only() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"click","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let stop = r#"{"choices":[{"delta":{"content":"t"},"finish_reason":"stop"}]}"#;
    let refusing = Quirks { no_reasoning_replay: true, ..Quirks::default() };
    let inline = Quirks { think_tag_reasoning: true, ..Quirks::default() };
    for field in ["reasoning_content", "reasoning"] {
        let think = format!(r#"{{"choices":[{{"delta":{{"{field}":" why\n"}}}}]}}"#);
        let cases = [
            (Quirks::default(), call, json!(" why\n")),
            (Quirks::default(), stop, json!(null)),
            (refusing.clone(), call, json!(null)),
            (inline.clone(), call, json!(null)),
        ];
        for (quirks, end, want) in cases {
            let plain = connection(Kind::Openai, Quirks::default());
            let messages = as_history(&decoded(&plain, &stream(&[&think, end])));
            let sent =
                assistant_of(&body_text(&connection(Kind::Openai, quirks.clone()), "m1", &messages, None));
            assert_eq!(sent[field], want, "{field} {quirks:?} {end}");
        }
    }
}

#[test]
fn pieces_of_reasoning_details_return_joined_block_by_block() {
    let openai = connection(Kind::Openai, Quirks::default());
    let detail = |detail: &str| format!(r#"{{"choices":[{{"delta":{{"reasoning_details":[{detail}]}}}}]}}"#);
    let body = stream(&[
        &detail(r#"{"type":"reasoning.text","text":"wh","index":0,"format":"f"}"#),
        &detail(r#"{"type":"reasoning.text","text":"y","index":0}"#),
        &detail(r#"{"type":"reasoning.text","signature":"SIG","index":0,"text":null}"#),
        &detail(r#"{"type":"reasoning.encrypted","data":"DATA","index":1}"#),
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"click"}}]},"finish_reason":"tool_calls"}]}"#,
    ]);
    let done = decoded(&openai, &body);
    assert_eq!(done.answer.reasoning.as_deref(), Some("why"));
    let sent = assistant_of(&body_text(&openai, "m1", &as_history(&done), None));
    let want = json!([
        {"type": "reasoning.text", "text": "why", "signature": "SIG", "index": 0, "format": "f"},
        {"type": "reasoning.encrypted", "data": "DATA", "index": 1},
    ]);
    assert_eq!(sent["reasoning_details"], want);
}

#[test]
fn a_damaged_state_is_left_out_and_breaks_no_request() {
    let openai = connection(Kind::Openai, Quirks::default());
    let state = json!({
        "wire": "openai", "connection": "c1", "model": "m1",
        "message": {"extra_content": "{\"cut", "thinking_signature": 5},
        "calls": [{"call": {"x": "1,\"role\":\"system\""}}],
        "reasoningDetails": "]",
        "reasoningField": 3,
    });
    let call = ToolCall { id: "a".into(), name: "click".into(), arguments: serde_json::Map::new() };
    let message = Message::Assistant {
        text: "t".into(),
        reasoning: Some("why".into()),
        calls: vec![call],
        provider_state: Some(state),
        partial: false,
    };
    let want = json!({"role": "assistant", "content": "t", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "click", "arguments": "{}"}},
    ]});
    assert_eq!(assistant_of(&body_text(&openai, "m1", &[message], None)), want);
}

/// An Anthropic answer with two thoughts, a redacted one, text and a call between them.
fn thinking_stream() -> String {
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": " why 北京\n"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "SIG/1+=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "DATA"}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "I click."}}),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "thinking", "thinking": "", "signature": "SIG2"}}),
        json!({"type": "content_block_start", "index": 4, "content_block": {"type": "tool_use", "id": "t1", "name": "click", "input": {}}}),
        json!({"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": "{\"ref\":\"e1\"}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

#[test]
fn anthropic_thoughts_return_unchanged_and_in_order() {
    let anthropic = connection(Kind::Anthropic, Quirks::default());
    let messages = as_history(&decoded(&anthropic, &thinking_stream()));
    let want = json!([
        {"type": "thinking", "thinking": " why 北京\n", "signature": "SIG/1+=="},
        {"type": "redacted_thinking", "data": "DATA"},
        {"type": "text", "text": "I click."},
        {"type": "thinking", "thinking": "", "signature": "SIG2"},
        {"type": "tool_use", "id": "t1", "name": "click", "input": {"ref": "e1"}},
    ]);
    let sent = body_text(&anthropic, "m1", &messages, Some(ReasoningEffort::High));
    assert_eq!(assistant_of(&sent)["content"], want);

    let plain = json!([
        {"type": "text", "text": "I click."},
        {"type": "tool_use", "id": "t1", "name": "click", "input": {"ref": "e1"}},
    ]);
    assert_eq!(
        assistant_of(&body_text(&anthropic, "m2", &messages, None))["content"],
        plain,
        "another model"
    );
    let other = Connection { id: "c2".into(), ..anthropic };
    assert_eq!(
        assistant_of(&body_text(&other, "m1", &messages, None))["content"],
        plain,
        "another connection"
    );
}

#[test]
fn one_clean_attempt_without_thinking_follows_on_refused_thoughts() {
    let plain = connection(Kind::Anthropic, Quirks::default());
    let messages = as_history(&decoded(&plain, &thinking_stream()));
    let manual = Quirks { anthropic_manual_thinking: true, ..Quirks::default() };
    let thinking = |quirks: Quirks, messages: &[Message]| {
        let sent =
            body_text(&connection(Kind::Anthropic, quirks), "m1", messages, Some(ReasoningEffort::Low));
        let body: Value = serde_json::from_str(&sent).unwrap();
        (body["thinking"]["type"].clone(), sent.contains("SIG"))
    };
    let dropping = |quirks: &Quirks| Quirks { no_reasoning_replay: true, ..quirks.clone() };
    assert_eq!(thinking(Quirks::default(), &messages), (json!("adaptive"), true));
    assert_eq!(thinking(dropping(&Quirks::default()), &messages), (json!(null), false));
    assert_eq!(thinking(manual.clone(), &messages), (json!("enabled"), true));
    assert_eq!(thinking(dropping(&manual), &messages), (json!(null), false));

    let next_turn = [messages, vec![Message::User { parts: vec![Part::Text("next".into())] }]].concat();
    assert_eq!(thinking(dropping(&manual), &next_turn), (json!("enabled"), false), "a new turn thinks again");
}
