//! The main job: a message, a streamed answer, a tool, a question to the user, the end.

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_testkit::{Reply, Stage};
use serde_json::json;

#[test]
fn a_message_is_answered_and_the_page_shows_what_is_stored() {
    let mut stage = Stage::new(1);
    stage.world.http.push(Reply::text(&["Hel", "lo"]));
    assert!(matches!(stage.submit("Hi"), AgentEvent::CommandAck { .. }));
    stage.check_view();
    let types = stage.page.take_types();
    // The turn and the one that finds the title.
    assert_eq!(types.iter().filter(|name| **name == "turn.complete").count(), 2, "{types:?}");
    let view = stage.page.view.as_ref().unwrap();
    let texts: Vec<&str> = view.snapshot.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, ["", "Hello"]);
    assert_eq!(view.snapshot.thread.title, "A title");
}

#[test]
fn a_write_waits_for_the_user_and_happens_once() {
    let mut stage = Stage::new(1);
    stage.world.http.push(Reply::calls("I look.", &[("read_page", json!({}))]));
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["Ordered."]));
    stage.submit("Order it");
    stage.check_view();
    assert_eq!(stage.world.browser.written(), []);
    let request = stage.page.view.as_ref().unwrap().snapshot.approvals[0].request.clone();
    assert_eq!((request.tool_name.as_str(), request.label.as_str()), ("click", "button \"Place order\""));
    let answer = stage.answer(ApprovalDecision::Accept {});
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    stage.check_view();
    assert_eq!(stage.world.browser.written().len(), 1);
    assert_eq!(stage.world.http.left(), 0);
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.items.last().unwrap().text, "Ordered.");
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.active_turn, None);
}
