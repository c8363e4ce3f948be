//! A call becomes an action, a question and a label.

use super::super::args::parse_call;
use super::super::registry::find;
use super::*;
use crate::permission::Effect;
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::turn::ToolLevel;
use serde_json::json;

fn context() -> CallContext {
    CallContext {
        tab: Some((TabId(4), Place::parse("https://shop.test/cart").unwrap())),
        element: Some(TargetDescription {
            role: "textbox".to_owned(),
            name: "Note\nto seller".to_owned(),
            line: "- textbox \"Note\"".to_owned(),
            sensitive: None,
            origin: "https://shop.test".to_owned(),
        }),
        document: Some("kq".to_owned()),
        host_access: HostAccess::Granted,
        escalation: Escalation::None,
    }
}

#[test]
fn a_call_asks_the_judge_with_the_facts_of_the_moment() {
    let call = parse_call("type", &json!({ "ref": "kq1", "text": "hello" })).unwrap();
    let context = context();
    assert_eq!(
        call.question(find("type").unwrap(), &context),
        Question {
            tool: "type".to_owned(),
            category: ToolCategory::Fill,
            effect: Effect::Write,
            level: ToolLevel::L1,
            target: Target::Tab { tab_id: TabId(4), place: Place::parse("https://shop.test/cart").unwrap() },
            element: context.element.clone(),
            document: Some("kq".to_owned()),
            texts: vec!["hello".to_owned()],
            host_access: HostAccess::Granted,
            escalation: Escalation::None,
        }
    );
}

#[test]
fn going_somewhere_is_judged_by_where_it_goes() {
    let target = |tool: &str| {
        let call = parse_call(tool, &json!({ "url": "https://news.test/x" })).unwrap();
        call.question(find(tool).unwrap(), &context()).target
    };
    let place = Place::parse("https://news.test/x").unwrap();
    assert_eq!(target("navigate"), Target::Address { tab_id: Some(TabId(4)), place: place.clone() });
    assert_eq!(target("tab_open"), Target::Address { tab_id: None, place });
}

#[test]
fn a_label_says_what_is_meant_in_one_line() {
    let element = context().element.unwrap();
    let label = |tool, arguments| parse_call(tool, &arguments).unwrap().label(Some(&element));
    assert_eq!(label("click", json!({ "ref": "kq1" })), "textbox \"Note to seller\"");
    assert_eq!(label("wait_for", json!({ "textGone": "Loading" })), "− \"Loading\"");
    assert_eq!(label("wait_for", json!({ "timeMs": 500 })), "500 ms");
    assert_eq!(label("tabs_list", json!({})), "");
    assert_eq!(parse_call("click", &json!({ "ref": "kq1" })).unwrap().label(None), "kq1");
}
