//! Whole requests, as the endpoints read them.

use panelot_providers::{
    Capabilities, Connection, GenParams, Kind, MaxTokensField, Message, ModelRequest, Part, Quirks,
    ReasoningEffort, ToolCall, ToolChoice, ToolSchema, build_request,
};
use serde_json::{Map, Value, json};

use crate::support::connection;

const PLAIN: GenParams = GenParams {
    temperature: None,
    top_p: None,
    max_tokens: None,
    stop_sequences: None,
    reasoning_effort: None,
};

fn seeing() -> Capabilities {
    Capabilities { vision: true, ..Capabilities::default() }
}

fn request<'a>(messages: &'a [Message], tools: &'a [ToolSchema], params: &'a GenParams) -> ModelRequest<'a> {
    ModelRequest {
        model: "m1",
        system: &["You help.", "Today is Monday."],
        messages,
        tools,
        tool_choice: ToolChoice::Auto,
        params,
        capabilities: seeing(),
    }
}

fn body(connection: &Connection, request: &ModelRequest<'_>) -> Value {
    serde_json::from_slice(&build_request(connection, None, request).unwrap().body).unwrap()
}

fn openai(quirks: Quirks, request: &ModelRequest<'_>) -> Value {
    body(&connection(Kind::Openai, quirks), request)
}

fn anthropic(quirks: Quirks, request: &ModelRequest<'_>) -> Value {
    body(&connection(Kind::Anthropic, quirks), request)
}

fn user(text: &str) -> Message {
    Message::User { parts: vec![Part::Text(text.into())] }
}

fn image() -> Part {
    Part::Image { mime: "image/png".into(), base64: "iVBORw==".into() }
}

fn assistant(text: &str, ids: &[&str]) -> Message {
    let call = |id: &&str| ToolCall {
        id: (*id).into(),
        name: "click".into(),
        arguments: Map::from_iter([("ref".to_owned(), json!("e1"))]),
    };
    Message::Assistant {
        text: text.into(),
        reasoning: None,
        calls: ids.iter().map(call).collect(),
        provider_state: None,
        partial: false,
    }
}

fn result(id: &str, ok: bool, parts: Vec<Part>) -> Message {
    Message::ToolResult { call_id: id.into(), name: "click".into(), ok, parts }
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn click() -> Vec<ToolSchema> {
    vec![ToolSchema {
        name: "click".into(),
        description: "Clicks.".into(),
        parameters: json!({"type": "object", "properties": {"ref": {"type": "string"}}}),
    }]
}

fn all_params() -> GenParams {
    GenParams {
        temperature: Some(0.2),
        top_p: Some(0.9),
        max_tokens: Some(20_000),
        stop_sequences: Some(vec!["END".into()]),
        reasoning_effort: Some(ReasoningEffort::High),
    }
}

#[test]
fn a_plain_openai_request_has_what_was_set_and_nothing_else() {
    let messages = [user("hi")];
    let want = json!({
        "model": "m1",
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "You help.\n\nToday is Monday."},
            {"role": "user", "content": "hi"},
        ],
    });
    assert_eq!(openai(Quirks::default(), &request(&messages, &[], &PLAIN)), want);
}

#[test]
fn an_openai_request_carries_parameters_and_tools_under_the_names_of_its_quirks() {
    let messages = [user("hi")];
    let (tools, params) = (click(), all_params());
    let quirks = Quirks {
        no_stream_options: true,
        no_parallel_tool_calls: true,
        max_tokens_field: MaxTokensField::MaxCompletionTokens,
        ..Quirks::default()
    };
    let want = json!({
        "model": "m1",
        "stream": true,
        "temperature": 0.2,
        "top_p": 0.9,
        "max_completion_tokens": 20_000,
        "stop": ["END"],
        "reasoning_effort": "high",
        "parallel_tool_calls": false,
        "tools": [{"type": "function", "function": {
            "name": "click",
            "description": "Clicks.",
            "parameters": {"type": "object", "properties": {"ref": {"type": "string"}}},
        }}],
        "messages": [
            {"role": "system", "content": "You help.\n\nToday is Monday."},
            {"role": "user", "content": "hi"},
        ],
    });
    assert_eq!(openai(quirks, &request(&messages, &tools, &params)), want);
}

/// The members of `body` named in `names`, absent ones as `null`.
fn members<const N: usize>(body: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|name| body.get(name).cloned().unwrap_or_default())
}

#[test]
fn what_an_endpoint_or_model_refuses_stays_out_of_an_openai_request() {
    let messages = [user("hi")];
    let (tools, params) = (click(), all_params());
    let refusing = Quirks {
        no_temperature: true,
        no_top_p: true,
        no_stop_sequences: true,
        no_reasoning_effort: true,
        no_parallel_tool_calls: true,
        no_parallel_field: true,
        ..Quirks::default()
    };
    let names = ["temperature", "top_p", "stop", "reasoning_effort", "parallel_tool_calls", "max_tokens"];
    let got = members(&openai(refusing, &request(&messages, &tools, &params)), names);
    assert_eq!(got, [json!(null), json!(null), json!(null), json!(null), json!(null), json!(20_000)]);

    let plain = Capabilities { tool_use: false, reasoning: Some(false), ..Capabilities::default() };
    let simple = ModelRequest { capabilities: plain, ..request(&messages, &tools, &params) };
    assert_eq!(
        members(&openai(Quirks::default(), &simple), ["tools", "reasoning_effort"]),
        [json!(null), json!(null)]
    );
}

#[test]
fn a_last_answer_without_tools_keeps_the_schemas_where_the_wire_needs_them() {
    let messages = [user("hi")];
    let tools = click();
    let never = ModelRequest { tool_choice: ToolChoice::Never, ..request(&messages, &tools, &PLAIN) };
    let names = ["tool_choice", "tools"];
    let is_there = |[choice, tools]: [Value; 2]| (choice, tools.is_array());
    let no_choice = || Quirks { no_tool_choice: true, ..Quirks::default() };
    assert_eq!(is_there(members(&openai(Quirks::default(), &never), names)), (json!("none"), true));
    assert_eq!(is_there(members(&openai(no_choice(), &never), names)), (json!(null), false));
    assert_eq!(
        is_there(members(&anthropic(Quirks::default(), &never), names)),
        (json!({"type": "none"}), true)
    );
    assert_eq!(is_there(members(&anthropic(no_choice(), &never), names)), (json!(null), true));
}

/// A tool loop with images, a missing result and steering in between.
fn loop_messages() -> Vec<Message> {
    vec![
        Message::User { parts: vec![text("look"), image(), text("and click")] },
        assistant("I click.", &["a", "b", "c"]),
        result("b", false, vec![text("covered")]),
        user("hurry"),
        result("a", true, vec![text("done"), image()]),
    ]
}

#[test]
fn an_openai_tool_loop_has_one_result_a_call_and_moves_images_behind_the_batch() {
    let quirks = Quirks { no_user_after_tool: true, ..Quirks::default() };
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "click", "arguments": "{\"ref\":\"e1\"}"}});
    let interrupted = "This call was interrupted before its result arrived. It may or may not have run: look at the \
                       current state before you do it again.";
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}});
    let want = json!([
        {"role": "system", "content": "You help.\n\nToday is Monday."},
        {"role": "user", "content": [
            {"type": "text", "text": "look"}, picture, {"type": "text", "text": "and click"},
        ]},
        {"role": "assistant", "content": "I click.", "tool_calls": [call("a"), call("b"), call("c")]},
        {"role": "tool", "tool_call_id": "a",
         "content": "done\n\n[The image of this result is in the next user message.]"},
        {"role": "tool", "tool_call_id": "b", "content": "covered"},
        {"role": "tool", "tool_call_id": "c", "content": interrupted},
        {"role": "assistant", "content": "I have the results."},
        {"role": "user", "content": [{"type": "text", "text": "Image from the result of click:"}, picture]},
        {"role": "user", "content": "hurry"},
    ]);
    let messages = loop_messages();
    assert_eq!(openai(quirks, &request(&messages, &[], &PLAIN))["messages"], want);
}

#[test]
fn an_endpoint_without_a_system_role_finds_the_prompt_in_the_first_user_message() {
    let quirks = || Quirks { no_system_role: true, ..Quirks::default() };
    let of = |messages: &[Message]| openai(quirks(), &request(messages, &[], &PLAIN))["messages"].clone();
    let prompt = "You help.\n\nToday is Monday.";
    assert_eq!(of(&[user("hi")]), json!([{"role": "user", "content": format!("{prompt}\n\nhi")}]));
    assert_eq!(of(&[]), json!([{"role": "user", "content": prompt}]));
    let seen = of(&[Message::User { parts: vec![image()] }]);
    assert_eq!(seen[0]["content"][0], json!({"type": "text", "text": prompt}));
}

#[test]
fn a_plain_anthropic_request_has_its_cache_marks_and_an_output_limit() {
    let messages = [user("hi")];
    let tools = [click(), click()].concat();
    let mark = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"ref": {"type": "string"}}});
    let want = json!({
        "model": "m1",
        "stream": true,
        "max_tokens": 8192,
        "cache_control": mark,
        "system": [
            {"type": "text", "text": "You help.", "cache_control": mark},
            {"type": "text", "text": "Today is Monday."},
        ],
        "tools": [
            {"name": "click", "description": "Clicks.", "input_schema": schema},
            {"name": "click", "description": "Clicks.", "input_schema": schema, "cache_control": mark},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    });
    assert_eq!(anthropic(Quirks::default(), &request(&messages, &tools, &PLAIN)), want);

    let unmarked =
        anthropic(Quirks { no_prompt_cache: true, ..Quirks::default() }, &request(&messages, &tools, &PLAIN));
    assert!(!unmarked.to_string().contains("cache_control"), "{unmarked}");
}

#[test]
fn anthropic_parameters_make_way_for_thinking() {
    let messages = [user("hi")];
    let names = ["max_tokens", "thinking", "output_config", "temperature", "top_p", "stop_sequences"];
    let of = |quirks: Quirks, params: &GenParams, capabilities: Capabilities| {
        let request = ModelRequest { capabilities, ..request(&messages, &[], params) };
        json!(members(&anthropic(quirks, &request), names))
    };
    let manual = || Quirks { anthropic_manual_thinking: true, ..Quirks::default() };
    let with = |effort, max_tokens| GenParams { reasoning_effort: effort, max_tokens, ..PLAIN };
    let (low, high) = (Some(ReasoningEffort::Low), Some(ReasoningEffort::High));
    let long = Capabilities { max_output: Some(32_000), ..Capabilities::default() };
    let none = Capabilities { reasoning: Some(false), ..Capabilities::default() };
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});

    let cases = [
        (
            of(Quirks::default(), &all_params(), seeing()),
            json!([20_000, {"type": "adaptive"}, {"effort": "high"}, null, null, ["END"]]),
        ),
        (
            of(Quirks::default(), &GenParams { reasoning_effort: None, ..all_params() }, seeing()),
            json!([20_000, null, null, 0.2, 0.9, ["END"]]),
        ),
        (of(Quirks::default(), &with(high, None), none), json!([8192, null, null, null, null, null])),
        (
            of(Quirks::default(), &with(low, None), long),
            json!([32_000, {"type": "adaptive"}, {"effort": "low"}, null, null, null]),
        ),
        (of(manual(), &with(low, None), seeing()), json!([8192, budget(2048), null, null, null, null])),
        (of(manual(), &with(high, None), seeing()), json!([28_672, budget(24_576), null, null, null, null])),
        (
            of(manual(), &with(high, Some(10_000)), seeing()),
            json!([10_000, budget(5904), null, null, null, null]),
        ),
        (
            of(manual(), &with(high, Some(2048)), seeing()),
            json!([2048, budget(1024), null, null, null, null]),
        ),
        (of(manual(), &with(high, Some(2000)), seeing()), json!([2000, null, null, null, null, null])),
    ];
    for (got, want) in cases {
        assert_eq!(got, want);
    }
}

#[test]
fn an_anthropic_tool_loop_has_all_results_of_a_message_first_in_one_user_message() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "click", "input": {"ref": "e1"}});
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}});
    let words = |text: &str| json!({"type": "text", "text": text});
    let interrupted = "This call was interrupted before its result arrived. It may or may not have run: look at the \
                       current state before you do it again.";
    let want = json!([
        {"role": "user", "content": [words("look"), picture, words("and click")]},
        {"role": "assistant", "content": [words("I click."), call("a"), call("b"), call("c")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [words("done"), picture]},
            {"type": "tool_result", "tool_use_id": "b", "content": [words("covered")], "is_error": true},
            {"type": "tool_result", "tool_use_id": "c", "content": [words(interrupted)], "is_error": true},
            words("hurry"),
        ]},
    ]);
    let messages = loop_messages();
    assert_eq!(anthropic(Quirks::default(), &request(&messages, &[], &PLAIN))["messages"], want);
}

#[test]
fn an_anthropic_history_alternates_and_ends_with_the_user() {
    let partial = Message::Assistant {
        text: "half ".into(),
        reasoning: None,
        calls: vec![],
        provider_state: None,
        partial: true,
    };
    let messages = [user("a"), user("b"), assistant(" \n", &["x"]), result("x", true, vec![]), partial];
    let words = |text: &str| json!({"type": "text", "text": text});
    let want = json!([
        {"role": "user", "content": [words("a"), words("b")]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "click", "input": {"ref": "e1"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": [words("(no output)")]}]},
        {"role": "assistant", "content": [words("half\n\n[This answer was cut off here.]")]},
        {"role": "user", "content": [words("Go on.")]},
    ]);
    assert_eq!(anthropic(Quirks::default(), &request(&messages, &[], &PLAIN))["messages"], want);
}

#[test]
fn one_call_at_a_time_is_asked_for_in_the_words_of_the_anthropic_wire() {
    let messages = [user("hi")];
    let tools = click();
    let quirks = Quirks { no_parallel_tool_calls: true, ..Quirks::default() };
    let got = &anthropic(quirks, &request(&messages, &tools, &PLAIN))["tool_choice"];
    assert_eq!(*got, json!({"type": "auto", "disable_parallel_tool_use": true}));
}
