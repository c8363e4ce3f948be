//! Whatever the history: the request is one that the wires accept.

use std::collections::BTreeSet;

use panelot_providers::{
    Capabilities, GenParams, Kind, Message, ModelRequest, Part, Quirks, ToolCall, ToolChoice, build_request,
};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::support::connection;

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let image = Part::Image { mime: "image/png".into(), base64: "AA==".into() };
    let part = prop_oneof![
        prop::sample::select(vec!["", " ", "text", "北京"]).prop_map(|text| Part::Text(text.into())),
        Just(image),
    ];
    prop::collection::vec(part, 0..3)
}

/// Ids from a small pool, so that they repeat, are missing, and are illegal on the wire.
fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "c", "bad id", "call_0123456789"]).prop_map(str::to_owned)
}

fn message() -> impl Strategy<Value = Message> {
    let call = id().prop_map(|id| ToolCall { id, name: "click".into(), arguments: Map::new() });
    prop_oneof![
        parts().prop_map(|parts| Message::User { parts }),
        (prop::sample::select(vec!["", "\n", "answer"]), prop::collection::vec(call, 0..3), any::<bool>())
            .prop_map(|(text, calls, partial)| Message::Assistant {
                text: text.into(),
                reasoning: None,
                calls,
                provider_state: None,
                partial,
            }),
        (id(), any::<bool>(), parts()).prop_map(|(call_id, ok, parts)| Message::ToolResult {
            call_id,
            name: "click".into(),
            ok,
            parts
        }),
    ]
}

fn sent(kind: Kind, quirks: Quirks, messages: &[Message]) -> Vec<Value> {
    let params = GenParams::default();
    let request = ModelRequest {
        model: "m1",
        system: &["You help."],
        messages,
        tools: &[],
        tool_choice: ToolChoice::Auto,
        params: &params,
        capabilities: Capabilities { vision: true, ..Capabilities::default() },
    };
    let body = build_request(&connection(kind, quirks), None, &request).unwrap().body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    body["messages"].as_array().cloned().unwrap()
}

fn words<'v>(values: impl IntoIterator<Item = &'v Value>, key: &str) -> Vec<String> {
    values.into_iter().map(|value| value[key].as_str().unwrap().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_the_openai_wire_results_follow_their_calls_one_each(
        history in prop::collection::vec(message(), 0..12),
        strict in any::<bool>(),
    ) {
        let quirks =
            Quirks { no_user_after_tool: strict, short_tool_ids: strict, no_system_role: strict, ..Quirks::default() };
        let messages = sent(Kind::Openai, quirks, &history);
        let mut used = BTreeSet::new();
        let mut waiting: Vec<String> = Vec::new();
        let mut last = "";
        for message in &messages {
            let role = message["role"].as_str().unwrap();
            if role == "tool" {
                prop_assert!(!waiting.is_empty());
                prop_assert_eq!(&message["tool_call_id"], &waiting.remove(0));
                prop_assert!(!message["content"].as_str().unwrap().is_empty());
            } else {
                prop_assert!(waiting.is_empty(), "a call without a result");
                prop_assert!(!(strict && last == "tool" && role == "user"));
            }
            if let Some(calls) = message["tool_calls"].as_array() {
                waiting = words(calls, "id");
                for id in &waiting {
                    prop_assert!(used.insert(id.clone()), "the id {} is used twice", id);
                    prop_assert!(!strict || (id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())));
                }
            }
            last = role;
        }
        prop_assert!(waiting.is_empty());
        prop_assert_ne!(last, "assistant");
        let first = words(messages.first(), "role");
        prop_assert_eq!(first, [if strict { "user" } else { "system" }]);
    }

    #[test]
    fn on_the_anthropic_wire_roles_alternate_and_results_come_first(
        history in prop::collection::vec(message(), 0..12),
    ) {
        let messages = sent(Kind::Anthropic, Quirks::default(), &history);
        let mut calls: Vec<String> = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            prop_assert_eq!(message["role"].as_str(), Some(if at % 2 == 0 { "user" } else { "assistant" }));
            let blocks = message["content"].as_array().unwrap();
            prop_assert!(!blocks.is_empty());
            let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).collect::<Vec<_>>();
            let results = of("tool_result");
            prop_assert!(blocks.iter().take(results.len()).all(|block| block["type"] == "tool_result"));
            prop_assert_eq!(words(results, "tool_use_id"), calls);
            prop_assert!(of("text").iter().all(|block| !block["text"].as_str().unwrap().trim().is_empty()));
            calls = words(of("tool_use"), "id");
        }
        prop_assert!(calls.is_empty());
        prop_assert!(messages.len() % 2 == 1 || messages.is_empty());
    }
}
