//! Arguments are read forgivingly where nothing is lost, and refused by field and rule.

use super::*;
use panelot_protocol::content::{ContentAction, KeyModifier, MouseButton, TypeMode, WaitCondition};
use panelot_protocol::ids::TabId;
use serde_json::json;

fn said(name: &str, arguments: Value) -> String {
    match parse_call(name, &arguments) {
        Ok(invocation) => format!("read: {invocation:?}"),
        Err(problem) => problem.to_string(),
    }
}

fn action(name: &str, arguments: Value) -> Option<ContentAction> {
    parse_call(name, &arguments).unwrap().content_action()
}

#[test]
fn each_tool_reads_its_least_arguments() {
    let table = [
        ("tabs_list", json!({})),
        ("tab_open", json!({ "url": "https://a.test" })),
        ("navigate", json!({ "url": "https://a.test" })),
        ("read_page", json!({})),
        ("click", json!({ "ref": "kq1" })),
        ("type", json!({ "ref": "kq1", "text": "x" })),
        ("select_option", json!({ "ref": "kq1", "values": ["x"] })),
        ("wait_for", json!({ "timeMs": 100 })),
        ("ask_user", json!({ "question": "Which one?" })),
        ("request_user_action", json!({ "instruction": "Log in." })),
        ("watch_page", json!({ "text": "Shipped" })),
        ("schedule_resume", json!({ "inSeconds": 60, "reason": "Look again." })),
    ];
    assert_eq!(table.len(), TOOLS.len());
    for (name, arguments) in table {
        assert_eq!(parse_call(name, &arguments).map(|call| call.tool()), Ok(name));
    }
}

#[test]
fn calls_become_actions_of_the_page_with_their_defaults() {
    let target = || "kq1".to_owned();
    assert_eq!(
        action("read_page", json!({})),
        Some(ContentAction::Snapshot { max_tokens: 3_000, scope_ref: None })
    );
    assert_eq!(
        action("read_page", json!({ "mode": "snapshot", "maxTokens": 500, "ref": "kq1" })),
        Some(ContentAction::Snapshot { max_tokens: 500, scope_ref: Some(target()) })
    );
    assert_eq!(
        action("click", json!({ "ref": "kq1", "button": "right", "modifiers": ["shift"], "clickCount": 2 })),
        Some(ContentAction::Click {
            target: target(),
            button: MouseButton::Right,
            modifiers: vec![KeyModifier::Shift],
            click_count: 2,
        })
    );
    assert_eq!(
        action("type", json!({ "ref": "kq1", "text": "42", "mode": "append", "submit": true })),
        Some(ContentAction::Type {
            target: target(),
            text: "42".to_owned(),
            mode: TypeMode::Append,
            submit: true
        })
    );
    assert_eq!(
        action("wait_for", json!({ "textGone": "Loading" })),
        Some(ContentAction::WaitFor {
            condition: WaitCondition::TextGone { text: "Loading".to_owned() },
            timeout_ms: 10_000
        })
    );
    assert_eq!(action("wait_for", json!({ "timeMs": 100 })), None);
    assert_eq!(action("tabs_list", Value::Null), None);
}

#[test]
fn what_models_get_wrong_without_harm_is_forgiven() {
    let table = [
        ("click", json!({ "ref": "[ref=kq1]", "button": null }), json!({ "ref": "kq1" })),
        ("click", json!({ "ref": "ref=kq1", "clickCount": "2" }), json!({ "ref": "kq1", "clickCount": 2 })),
        ("click", json!({ "ref": " `kq1` ", "clickCount": 2.0 }), json!({ "ref": "kq1", "clickCount": 2 })),
        ("click", json!({ "ref": "@kq1", "button": "Right" }), json!({ "ref": "kq1", "button": "right" })),
        ("click", json!({ "ref": "kq1", "tabId": "17" }), json!({ "ref": "kq1", "tabId": 17 })),
        (
            "click",
            json!({ "ref": "kq1", "modifiers": "shift" }),
            json!({ "ref": "kq1", "modifiers": ["shift"] }),
        ),
        (
            "type",
            json!({ "ref": "kq1", "text": 42, "submit": "true" }),
            json!({ "ref": "kq1", "text": "42", "submit": true }),
        ),
        (
            "select_option",
            json!({ "ref": "kq1", "values": "Red" }),
            json!({ "ref": "kq1", "values": ["Red"] }),
        ),
        ("select_option", json!({ "ref": "kq1", "values": 3 }), json!({ "ref": "kq1", "values": ["3"] })),
        (
            "select_option",
            json!({ "ref": "kq1", "values": "[\"Red\", \"Blue\"]" }),
            json!({ "ref": "kq1", "values": ["Red", "Blue"] }),
        ),
        ("tab_open", json!({ "url": "example.com/x" }), json!({ "url": "https://example.com/x" })),
        ("tabs_list", Value::Null, json!({})),
    ];
    for (name, given, meant) in table {
        assert_eq!(parse_call(name, &given), Ok(parse_call(name, &meant).unwrap()), "{given}");
    }
}

#[test]
fn a_text_to_type_is_never_bent() {
    for text in ["[ref=kq1]", "null", " spaces ", "{\"a\":1}", "true"] {
        let typed = action("type", json!({ "ref": "kq1", "text": text }));
        let expected = ContentAction::Type {
            target: "kq1".to_owned(),
            text: text.to_owned(),
            mode: TypeMode::Replace,
            submit: false,
        };
        assert_eq!(typed, Some(expected));
    }
}

#[test]
fn a_problem_names_the_field_and_the_rule() {
    let click = "Its arguments are: ref (required), button, modifiers, clickCount, tabId.";
    let table = [
        ("click", json!({}), format!("click was not called: ref: missing. {click}")),
        ("click", json!({ "ref": "" }), format!("click was not called: ref: shorter than 1. {click}")),
        ("click", json!({ "ref": 7 }), format!("click was not called: ref: not a string. {click}")),
        (
            "click",
            json!({ "ref": "kq1", "button": "double" }),
            format!("click was not called: button: must be one of left, middle, right. {click}"),
        ),
        (
            "click",
            json!({ "ref": "kq1", "clickCount": 9 }),
            format!("click was not called: clickCount: greater than 3. {click}"),
        ),
        (
            "click",
            json!({ "ref": "kq1", "selector": "#buy" }),
            format!("click was not called: selector: unknown field. {click}"),
        ),
        ("click", json!({ "ref": null }), format!("click was not called: ref: not a string. {click}")),
        ("click", json!("kq1"), "The arguments of click must be a JSON object, such as {}.".to_owned()),
        (
            "tabs_list",
            json!({ "window": 1 }),
            "tabs_list was not called: window: unknown field. It takes no arguments.".to_owned(),
        ),
        (
            "wait_for",
            json!({}),
            "wait_for was not called: arguments: give text, textGone or timeMs. Its arguments are: text, textGone, \
             timeMs, tabId."
                .to_owned(),
        ),
        (
            "wait_for",
            json!({ "text": "a", "textGone": "b" }),
            "wait_for was not called: arguments: give text or textGone, not both. Its arguments are: text, textGone, \
             timeMs, tabId."
                .to_owned(),
        ),
        (
            "tab_open",
            json!({ "url": "/cart" }),
            "tab_open was not called: url: has no scheme; write the whole address, such as https://example.com/path. \
             Its arguments are: url (required)."
                .to_owned(),
        ),
        (
            "tab_open",
            json!({ "url": "localhost:3000" }),
            "tab_open was not called: url: localhost: is not a scheme that can be opened; write http:// or https:// \
             before the host. Its arguments are: url (required)."
                .to_owned(),
        ),
        (
            "drop\nit",
            json!({}),
            "There is no tool named dropit. The tools are: tabs_list, tab_open, navigate, read_page, click, type, \
             select_option, wait_for, ask_user, request_user_action, watch_page, schedule_resume."
                .to_owned(),
        ),
    ];
    for (name, arguments, expected) in table {
        assert_eq!(said(name, arguments), expected);
    }
}

#[test]
fn an_address_is_opened_and_shown_as_it_was_judged() {
    let call =
        parse_call("navigate", &json!({ "url": "HTTPS://bank.test@EVIL.test/x", "tabId": 3 })).unwrap();
    assert_eq!(call.href().as_deref(), Some("https://evil.test/x"));
    assert_eq!(call.label(None), "https://evil.test/x");
    assert_eq!(call.tab_id(), Some(TabId(3)));
    let script = parse_call("tab_open", &json!({ "url": "javascript:alert(1)" })).unwrap();
    assert_eq!(script.href(), None);
}

proptest::proptest! {
    #[test]
    fn any_arguments_are_read_or_refused(
        tool in 0..8_usize,
        name in "(ref|text|values|url|timeMs|tabId|maxTokens|[a-z]{1,4})",
        text in "\\PC{0,20}",
        number in -1.0e12..1.0e12_f64,
        kind in 0..6_u8,
    ) {
        let value = match kind {
            0 => json!(text),
            1 => json!(number),
            2 => json!([text, number, null]),
            3 => json!({ "x": [text] }),
            4 => Value::Null,
            _ => json!(format!("[{text}")),
        };
        let spec = TOOLS.get(tool).unwrap();
        let mut arguments = json!({ "ref": "kq1", "text": "x", "values": ["a"], "url": "https://a.test" });
        let TypeShape::Record(record) = spec.parameters else { panic!("{}: no record", spec.name) };
        arguments.as_object_mut().unwrap().retain(|key, _| record.fields.iter().any(|field| field.name == key));
        arguments.as_object_mut().unwrap().insert(name, value);
        if let Err(problem) = parse_call(spec.name, &arguments) {
            proptest::prop_assert!(problem.to_string().contains(spec.name));
        }
    }
}
