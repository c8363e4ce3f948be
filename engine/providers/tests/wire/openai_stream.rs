//! Recorded streams of OpenAI-kind endpoints, cut at every byte, and the answers that they must give.

use panelot_providers::{
    Answer, ErrorKind, Final, FinishedCall, Kind, ParseProblem, ProtocolFault, ProviderError, Quirks, Stop,
    StreamEvent, Usage,
};
use serde_json::{Map, Value, json};

use crate::support::{Outcome, connection, decode_cut, stream};

fn openai(body: &str) -> Outcome {
    decode_cut(&connection(Kind::Openai, Quirks::default()), body.as_bytes())
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn call(id: &str, name: &str, arguments: Value) -> FinishedCall {
    FinishedCall { id: id.into(), name: name.into(), arguments: Ok(object(arguments)) }
}

fn answer(text: &str) -> Answer {
    Answer { text: text.into(), ..Answer::default() }
}

fn whole(answer: Answer, calls: Vec<FinishedCall>, stop: Stop) -> Final {
    Final { answer, calls, dropped_calls: Vec::new(), stop }
}

/// The answer's text and calls in a stream that must be whole.
#[track_caller]
fn finished(body: &str) -> Final {
    openai(body).1.unwrap()
}

#[track_caller]
fn calls_of(body: &str) -> Vec<FinishedCall> {
    let done = finished(body);
    assert_eq!(done.stop, Stop::ToolUse, "{body}");
    done.calls
}

/// Text, dropped calls and error of an answer that must be incomplete.
#[track_caller]
fn broken(body: &str) -> (String, Vec<String>, ProviderError) {
    let incomplete = openai(body).1.unwrap_err();
    (incomplete.answer.text, incomplete.dropped_calls, incomplete.error)
}

fn fault(fault: ProtocolFault) -> ProviderError {
    ProviderError { request_id: Some("req_1".into()), ..ProviderError::protocol(fault) }
}

#[test]
fn text_in_many_scripts_arrives_to_the_letter() {
    let body = concat!(
        "\u{feff}: OPENROUTER PROCESSING\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"🌍 北京\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" é\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,",
        "\"prompt_tokens_details\":{\"cached_tokens\":4},\"completion_tokens_details\":{\"reasoning_tokens\":2}}}\n\n",
        "data: [DONE]\n\n",
    );
    let usage = Usage { input: 10, output: 5, cache_read: 4, cache_write: 0, reasoning: 2 };
    let events = vec![
        StreamEvent::Alive,
        StreamEvent::Alive,
        StreamEvent::Text("🌍 北京".into()),
        StreamEvent::Text(" é".into()),
        StreamEvent::Usage(usage),
    ];
    let want = Answer { usage: Some(usage), ..answer("🌍 北京 é") };
    assert_eq!(openai(body), (events, Ok(whole(want, vec![], Stop::End))));
}

#[test]
fn line_ends_of_every_kind_and_odd_framings_are_read() {
    let first = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let last = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let bodies = [
        format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n"),
        format!("data: {first}\r\n\r\ndata: {last}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!("data: {first}\r\rdata: {last}\r\rdata: [DONE]\r\r"),
        format!("data:{first}\n\ndata:{last}\n\ndata:[DONE]"),
        format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n"),
        format!("id: 1\nretry: 10\ndata: {first}\n\n\n\ndata: {last}\n\ndata: [DONE]\n\n"),
        format!(
            "event: message\ndata: {first}\n\nevent: ping\ndata: {{}}\n\ndata: {last}\n\ndata: [DONE]\n\n"
        ),
        format!("data: {first}\n\ndata: : OPENROUTER PROCESSING\n\n:\n\ndata: {last}\n\ndata: [DONE]\n\n"),
        format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\ndata: {first}\n\ndata: garbage\n\n"),
        format!("data: {}\n\ndata: {last}\n\ndata: [DONE]\n\n", first.replace(":[{", ":[\ndata: {")),
    ];
    for body in bodies {
        assert_eq!(finished(&body), whole(answer("a"), vec![], Stop::End), "{body:?}");
    }
}

#[test]
fn an_answer_without_both_terminal_marks_is_kept_and_incomplete() {
    let text = r#"data: {"choices":[{"delta":{"content":"half"}}]}"#;
    let finish = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let half_call = concat!(
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"click","#,
        r#""arguments":"{\"ref\":"}}]}}]}"#
    );
    let tool_finish = r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let cases = [
        (format!("{text}\n\n{finish}\n\n"), vec![], "[DONE]"),
        (format!("{text}\n\n"), vec![], "finish_reason and [DONE]"),
        (format!("{text}\n\ndata: [DONE]\n\n"), vec![], "finish_reason"),
        (format!("{text}\n\n{half_call}\n\n"), vec!["click".to_owned()], "finish_reason and [DONE]"),
        (format!("{text}\n\n{half_call}\n\n{tool_finish}\n\n"), vec!["click".to_owned()], "[DONE]"),
    ];
    for (body, dropped, missing) in cases {
        let want = ("half".to_owned(), dropped, fault(ProtocolFault::EndedEarly { missing }));
        assert_eq!(broken(&body), want, "{body}");
    }
}

#[test]
fn chunks_without_a_usable_choice_are_signs_of_life() {
    let body = stream(&[
        r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
        r#"{"choices":null}"#,
        r#"{"id":"x"}"#,
        r#"{"choices":[{"index":0}]}"#,
        r#"{"choices":[{"index":0,"delta":null,"finish_reason":""}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null,"tool_calls":null}}],"error":null}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"another choice"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"},"b",{"type":"x"}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}"#,
    ]);
    let (events, done) = openai(&body);
    assert_eq!(done.unwrap(), whole(answer("abc"), vec![], Stop::End));
    let alive = events.iter().filter(|event| **event == StreamEvent::Alive).count();
    assert_eq!(alive, 7);
}

#[test]
fn token_use_is_replaced_and_never_added_up() {
    let chunk = |output: u32| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"usage":{{"prompt_tokens":7,"completion_tokens":{output}}}}}"#
        )
    };
    let cases = [
        (
            stream(&[
                &chunk(1),
                &chunk(2),
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            ]),
            Usage { input: 7, output: 2, ..Usage::default() },
        ),
        (
            stream(&[
                r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1,"cached_tokens":2}}]}"#,
            ]),
            Usage { input: 3, output: 1, cache_read: 2, ..Usage::default() },
        ),
        (
            stream(&[
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1}}}"#,
            ]),
            Usage { input: 3, output: 1, ..Usage::default() },
        ),
        (
            stream(&[
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":9.0,"completion_tokens":-4,"prompt_cache_hit_tokens":8}}"#,
            ]),
            Usage { input: 9, output: 0, cache_read: 8, ..Usage::default() },
        ),
    ];
    for (body, want) in cases {
        assert_eq!(finished(&body).answer.usage, Some(want), "{body}");
    }
}

/// A stream with one delta for each of `deltas`, which are `tool_calls` arrays, and a finish reason.
fn call_stream(deltas: &[Value], finish: &str) -> String {
    let mut chunks: Vec<String> = deltas
        .iter()
        .map(|calls| json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}).to_string())
        .collect();
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).to_string());
    stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn tool_calls_are_gathered_however_they_are_numbered() {
    let begin = |index: Value, id: Value, name: &str, arguments: Value| {
        let mut entry = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
        for (key, value) in [("index", index), ("id", id)] {
            if value != json!("absent") {
                entry[key] = value;
            }
        }
        entry
    };
    let more = |index: Value, arguments: &str| begin(index, json!("absent"), "", json!(arguments));
    let absent = || json!("absent");
    let two = || vec![call("a", "click", json!({"ref": "e1"})), call("b", "type", json!({"text": "北京"}))];
    let cases: Vec<(&str, Vec<Value>, Vec<FinishedCall>)> = vec![
        (
            "numbered pieces of two calls, interleaved",
            vec![
                json!([begin(json!(0), json!("a"), "click", json!(""))]),
                json!([begin(json!(1), json!("b"), "type", json!("{\"text\":"))]),
                json!([more(json!(0), "{\"ref\":"), more(json!(1), "\"北")]),
                json!([more(json!(1), "京\"}"), more(json!(0), "\"e1\"}")]),
            ],
            two(),
        ),
        (
            "no index, whole in one piece, arguments as an object",
            vec![
                json!([begin(absent(), json!("a"), "click", json!({"ref": "e1"}))]),
                json!([begin(absent(), json!("b"), "type", json!({"text": "北京"}))]),
            ],
            two(),
        ),
        (
            "no index, both in one delta",
            vec![json!([
                begin(absent(), json!("a"), "click", json!("{\"ref\":\"e1\"}")),
                begin(absent(), json!("b"), "type", json!("{\"text\":\"北京\"}"))
            ])],
            two(),
        ),
        (
            "no index, pieces go on with the last call",
            vec![
                json!([begin(absent(), json!("a"), "click", json!("{\"ref\":"))]),
                json!([more(absent(), "\"e1\"}")]),
                json!([begin(absent(), json!("b"), "type", json!(null))]),
                json!([more(absent(), "{\"text\":\"北京\"}")]),
            ],
            two(),
        ),
        (
            "the same index for both, with different ids",
            vec![
                json!([begin(json!(0), json!("a"), "click", json!("{\"ref\":\"e1\"}"))]),
                json!([begin(json!(0), json!("b"), "type", json!("{\"text\":"))]),
                json!([more(json!(0), "\"北京\"}")]),
            ],
            two(),
        ),
        (
            "the same index for both, without ids",
            vec![
                json!([begin(json!(0), json!(""), "click", json!("{\"ref\":\"e1\"}"))]),
                json!([begin(json!(0), json!(null), "click", json!("{\"ref\":\"e2\"}"))]),
            ],
            vec![call("", "click", json!({"ref": "e1"})), call("", "click", json!({"ref": "e2"}))],
        ),
        (
            "a new id with every piece",
            vec![
                json!([begin(json!(0), json!("a"), "click", json!("{\"ref\":"))]),
                json!([begin(json!(0), json!("other"), "", json!("\"e1\"}"))]),
            ],
            vec![call("a", "click", json!({"ref": "e1"}))],
        ),
        (
            "the name repeated with every piece",
            vec![
                json!([begin(json!(0), json!("a"), "click", json!("{\"ref\":"))]),
                json!([begin(json!(0), json!("a"), "click", json!("\"e1\"}"))]),
            ],
            vec![call("a", "click", json!({"ref": "e1"}))],
        ),
        (
            "a name in pieces and an id that comes late",
            vec![
                json!([begin(json!(0), absent(), "cl", json!(""))]),
                json!([begin(json!(0), absent(), "ick", json!(""))]),
                json!([begin(json!(0), json!("a"), "", json!("{\"ref\":\"e1\"}"))]),
            ],
            vec![call("a", "click", json!({"ref": "e1"}))],
        ),
        (
            "arguments sent twice, and an empty object first",
            vec![
                json!([begin(json!(0), json!("a"), "click", json!("{}"))]),
                json!([more(json!(0), "{\"ref\":\"e1\"}")]),
                json!([more(json!(0), "{\"ref\":\"e1\"}")]),
            ],
            vec![call("a", "click", json!({"ref": "e1"}))],
        ),
        (
            "no arguments in any form",
            vec![
                json!([begin(json!(0), json!("a"), "tabs_list", json!(""))]),
                json!([begin(json!(1), json!("b"), "tabs_list", json!(null))]),
                json!([begin(json!(2), json!("c"), "tabs_list", json!({}))]),
                json!([{"index": 3, "id": "d", "function": {"name": "tabs_list"}}]),
                json!([begin(json!(4), json!("e"), "tabs_list", json!("null"))]),
            ],
            ["a", "b", "c", "d", "e"].map(|id| call(id, "tabs_list", json!({}))).to_vec(),
        ),
        (
            "a single call that is no array, and entries that are nothing",
            vec![
                json!({"id": "a", "function": {"name": "click", "arguments": "{\"ref\":\"e1\"}"}}),
                json!([null, 3]),
            ],
            vec![call("a", "click", json!({"ref": "e1"}))],
        ),
    ];
    for (what, deltas, want) in cases {
        for finish in ["tool_calls", "function_call", "stop", "eos", "STOP"] {
            assert_eq!(calls_of(&call_stream(&deltas, finish)), want, "{what}, finish_reason {finish}");
        }
    }
}

#[test]
fn the_older_function_call_is_a_call_too() {
    let body = stream(&[
        r#"{"choices":[{"delta":{"function_call":{"name":"click","arguments":"{\"ref\":"}}}]}"#,
        r#"{"choices":[{"delta":{"function_call":{"arguments":"\"e1\"}"}},"finish_reason":"function_call"}]}"#,
    ]);
    assert_eq!(calls_of(&body), [call("", "click", json!({"ref": "e1"}))]);
}

#[test]
fn unreadable_arguments_are_the_models_problem_and_not_the_turns() {
    let entry = |arguments: &str| json!([{"index": 0, "id": "a", "function": {"name": "click", "arguments": arguments}}]);
    let calls = calls_of(&call_stream(&[entry("{\"x\":\"a\n\"}")], "tool_calls"));
    let problem = ParseProblem {
        raw: "{\"x\":\"a\n\"}".into(),
        message: "the arguments are not valid JSON: control character (\\u0000-\\u001F) found while parsing a string \
                  at line 2 column 0"
            .into(),
    };
    let want = FinishedCall { id: "a".into(), name: "click".into(), arguments: Err(problem) };
    assert_eq!(calls, std::slice::from_ref(&want));
    assert_eq!(want.replay_arguments(), Map::new());
    for arguments in ["5", "\"5\"", "[1]", "{\"x\":1,}", "{\"x\":"] {
        let calls = calls_of(&call_stream(&[entry(arguments)], "tool_calls"));
        assert!(calls.first().unwrap().arguments.is_err(), "{arguments}");
    }
}

#[test]
fn calls_of_an_answer_that_was_cut_never_run() {
    let entry = json!([{"index": 0, "id": "a", "function": {"name": "click", "arguments": "{}"}}]);
    for (finish, stop) in [
        ("length", Stop::MaxTokens),
        ("content_filter", Stop::ContentFilter),
        ("MAX_TOKENS", Stop::MaxTokens),
    ] {
        let done = finished(&call_stream(std::slice::from_ref(&entry), finish));
        let want = Final { answer: answer(""), calls: vec![], dropped_calls: vec!["click".into()], stop };
        assert_eq!(done, want, "{finish}");
    }
}

#[test]
fn an_end_that_nobody_knows_is_not_trusted() {
    let text = r#"{"choices":[{"delta":{"content":"t"}}]}"#;
    let finish = |reason: &str| format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
    let cases = [
        ("banana", ProtocolFault::UnknownStop { reason: "banana".into() }),
        ("tool_calls", ProtocolFault::CallsMissing),
    ];
    for (reason, want) in cases {
        assert_eq!(broken(&stream(&[text, &finish(reason)])), ("t".into(), vec![], fault(want)), "{reason}");
    }
}

#[test]
fn an_error_inside_the_stream_keeps_what_came_before_it() {
    let text = r#"data: {"choices":[{"delta":{"content":"half"}}]}"#;
    let cases = [
        (
            r#"data: {"error":{"message":"quota","code":429}}"#,
            ErrorKind::RateLimit { retry_after_ms: None },
            Some(429),
            "quota",
        ),
        (r#"data: {"error":{"message":"no","code":"invalid_api_key"}}"#, ErrorKind::Auth, None, "no"),
        (r#"data: {"error":{"message":"m","type":"insufficient_quota"}}"#, ErrorKind::Quota, None, "m"),
        (r#"data: {"error":"plain words"}"#, ErrorKind::Rejected { adjustment: None }, None, "plain words"),
        (
            "event: error\ndata: {\"message\":\"down\",\"code\":503}",
            ErrorKind::Overloaded { retry_after_ms: None },
            Some(503),
            "down",
        ),
        ("event: error\ndata: {\"a\":1}", ErrorKind::Rejected { adjustment: None }, None, "{\"a\":1}"),
        (
            r#"data: {"choices":[{"delta":{},"finish_reason":"error","error":{"message":"up","code":502}}]}"#,
            ErrorKind::Server { retry_after_ms: None },
            Some(502),
            "up",
        ),
        (
            r#"data: {"object":"error","message":"too long","type":"BadRequestError","code":"context_length_exceeded"}"#,
            ErrorKind::ContextTooLong,
            None,
            "too long",
        ),
    ];
    for (frame, kind, status, detail) in cases {
        let error =
            ProviderError { kind, detail: Some(detail.into()), status, request_id: Some("req_1".into()) };
        assert_eq!(
            broken(&format!("{text}\n\n{frame}\n\ndata: [DONE]\n\n")),
            ("half".into(), vec![], error.clone())
        );
        let first = openai(&format!("{frame}\n\n")).1.unwrap_err();
        assert_eq!((first.nothing_shown(), first.error), (true, error), "{frame}");
    }
}

#[test]
fn a_finish_reason_of_error_without_words_is_a_failure_of_the_server() {
    let body = stream(&[r#"{"choices":[{"delta":{"content":"t"},"finish_reason":"error"}]}"#]);
    let kind = ErrorKind::Server { retry_after_ms: None };
    let error = ProviderError { request_id: Some("req_1".into()), ..ProviderError::new(kind) };
    assert_eq!(broken(&body), ("t".into(), vec![], error));
}

#[test]
fn a_frame_that_is_not_json_is_named_with_an_excerpt() {
    let (text, _, error) =
        broken("data: {\"choices\":[{\"delta\":{\"content\":\"t\"}}]}\n\ndata: {\"cho\n\n");
    let what = "a frame is not JSON (EOF while parsing a string at line 1 column 5): `{\"cho`".to_owned();
    assert_eq!((text.as_str(), error), ("t", fault(ProtocolFault::Malformed { what })));
}

#[test]
fn a_body_in_place_of_a_stream_is_named_or_taken() {
    let completion = json!({
        "id": "x", "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "reasoning_content": "why",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "click", "arguments": "{\"ref\":\"e1\"}"}}],
        }}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    });
    let done = finished(&format!("\n{completion:#}\n"));
    assert_eq!((done.stop, done.calls), (Stop::ToolUse, vec![call("a", "click", json!({"ref": "e1"}))]));
    assert_eq!(done.answer.reasoning.as_deref(), Some("why"));
    assert_eq!(done.answer.usage, Some(Usage { input: 1, output: 2, ..Usage::default() }));

    let rejected = |detail: &str| ProviderError {
        kind: ErrorKind::Rejected { adjustment: None },
        detail: Some(detail.into()),
        status: None,
        request_id: Some("req_1".into()),
    };
    let malformed = |what: &str| fault(ProtocolFault::Malformed { what: what.into() });
    let cases = [
        (r#"{"error":"Unexpected endpoint"}"#, rejected("Unexpected endpoint")),
        (
            "<!DOCTYPE html><html><title>Sign in</title>",
            fault(ProtocolFault::Html { title: Some("Sign in".into()) }),
        ),
        ("<p>", fault(ProtocolFault::Html { title: None })),
        ("", fault(ProtocolFault::Empty)),
        (" \r\n ", fault(ProtocolFault::Empty)),
        ("{}", malformed("the body is JSON of another kind: `{}`")),
        (
            "{\"a\":1}\n{\"a\":2}",
            malformed(
                "the body is neither a stream nor JSON (trailing characters at line 2 column 1): `{\"a\":1}\n{\"a\":2}`",
            ),
        ),
        (": ping\n\n", fault(ProtocolFault::EndedEarly { missing: "finish_reason and [DONE]" })),
    ];
    for (body, want) in cases {
        assert_eq!(broken(body), (String::new(), vec![], want), "{body}");
    }
}

#[test]
fn reasoning_comes_in_each_of_its_fields_and_once() {
    let finish = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let cases = [
        vec![
            r#"{"choices":[{"delta":{"reasoning_content":"why ","content":null}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#,
        ],
        vec![r#"{"choices":[{"delta":{"reasoning":"why so"}}]}"#],
        vec![
            r#"{"choices":[{"delta":{"reasoning":"why so","reasoning_content":"why so","reasoning_details":[{"type":"reasoning.text","text":"why so"}]}}]}"#,
        ],
        vec![
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"why "},{"type":"reasoning.summary","summary":"so"}]}}]}"#,
        ],
        vec![
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"why so"}]}]}}]}"#,
        ],
    ];
    for mut chunks in cases {
        chunks.push(finish);
        let done = finished(&stream(&chunks));
        assert_eq!(
            (done.answer.text.as_str(), done.answer.reasoning.as_deref()),
            ("a", Some("why so")),
            "{chunks:?}"
        );
    }
}

#[test]
fn inline_reasoning_is_split_from_the_answer_with_the_quirk_only() {
    let quirks = Quirks { think_tag_reasoning: true, ..Quirks::default() };
    let with = connection(Kind::Openai, quirks);
    let body = |contents: &[&str]| {
        let mut chunks: Vec<String> = contents
            .iter()
            .map(|text| json!({"choices": [{"delta": {"content": text}}]}).to_string())
            .collect();
        chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string());
        stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let cases: [(&[&str], &str, Option<&str>); 6] = [
        (&["rea", "soning</thi", "nk>answer"], "answer", Some("reasoning")),
        (&["<th", "ink>\nwhy\n</think>\n\nanswer"], "answer", Some("why")),
        (&["`<think>` in prose"], "`<think>` in prose", None),
        (&["<think>all of it"], "all of it", None),
        (&["[THINK]why[/THINK]answer"], "answer", Some("why")),
        (&["plain", " <", " 3"], "plain < 3", None),
    ];
    for (contents, text, reasoning) in cases {
        let done = decode_cut(&with, body(contents).as_bytes()).1.unwrap();
        assert_eq!(
            (done.answer.text.as_str(), done.answer.reasoning.as_deref()),
            (text, reasoning),
            "{contents:?}"
        );
    }
    assert_eq!(finished(&body(&["<think>x</think>y"])).answer, answer("<think>x</think>y"));
}

#[test]
fn a_stream_that_only_closes_a_thought_says_that_its_text_was_reasoning() {
    let with = connection(Kind::Openai, Quirks { think_tag_reasoning: true, ..Quirks::default() });
    let body = stream(&[
        r#"{"choices":[{"delta":{"content":"why"}}]}"#,
        r#"{"choices":[{"delta":{"content":"</think>\nanswer"},"finish_reason":"stop"}]}"#,
    ]);
    let want =
        [StreamEvent::Text("why".into()), StreamEvent::TextWasReasoning, StreamEvent::Text("answer".into())];
    assert_eq!(decode_cut(&with, body.as_bytes()).0, want);
}

#[test]
fn a_refusal_is_shown_as_text() {
    let body = stream(&[r#"{"choices":[{"delta":{"refusal":"I cannot."},"finish_reason":"stop"}]}"#]);
    assert_eq!(finished(&body), whole(answer("I cannot."), vec![], Stop::End));
}

#[test]
fn a_whole_message_at_the_end_of_a_stream_is_not_a_second_answer() {
    let body = stream(&[
        r#"{"choices":[{"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"delta":{},"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(finished(&body), whole(answer("a"), vec![], Stop::End));
}
