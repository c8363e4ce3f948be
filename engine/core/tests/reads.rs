//! Several reads of one answer: side by side, in order, and again after a death.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::ids::TabId;
use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::op::Op;
use panelot_protocol::turn::{
    AttachedContext, CapturedTab, ContextKind, PermissionPolicy, TurnOverrides, UserInput,
};
use panelot_testkit::{Page, Reply, Stage, TAB};
use serde_json::{Value, json};

const OTHER: TabId = TabId(8);

/// A stage with two tabs that the thread may read; the first answers after so long, the second at once.
fn stage(seed: u64, first_ms: u64) -> Stage {
    let stage = Stage::new(seed);
    stage.world.browser.change(TAB, |page| page.answer_ms = first_ms);
    stage.world.browser.put(OTHER, Page::with_button("https://news.test/", "Read on"));
    stage
}

fn submit(stage: &mut Stage, policy: PermissionPolicy) {
    let other = AttachedContext {
        kind: ContextKind::Tab,
        label: "News".to_owned(),
        tab_id: Some(OTHER),
        url: Some("https://news.test/".to_owned()),
        text: None,
    };
    let input = UserInput {
        captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
        attached_context: vec![other],
        ..UserInput::text("Compare them")
    };
    let op = Op::TurnSubmit {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        input,
        overrides: Some(TurnOverrides { permission_policy: Some(policy), ..TurnOverrides::default() }),
    };
    stage.page.ask(&op);
}

fn here() -> (&'static str, Value) {
    ("read_page", json!({}))
}

fn there() -> (&'static str, Value) {
    ("read_page", json!({"tabId": 8}))
}

fn calls(stage: &Stage) -> Vec<(String, ItemStatus)> {
    let items = &stage.page.view.as_ref().unwrap().snapshot.items;
    let calls = items.iter().filter(|item| item.kind == ItemKind::ToolCall);
    calls.map(|item| (item.meta.tool_name.clone().unwrap_or_default(), item.status)).collect()
}

/// The results of the last request, each by the page or list that it holds.
fn results(stage: &Stage) -> Vec<&'static str> {
    let sent = stage.world.http.sent();
    let messages = sent.last().unwrap().body.get("messages").and_then(Value::as_array).unwrap().clone();
    let tool = json!("tool");
    let results = messages.iter().filter(|message| message.get("role") == Some(&tool));
    let kind = |message: &Value| {
        let text = message.to_string();
        match (text.contains("Place order"), text.contains("Read on")) {
            (true, false) => "here",
            (false, true) => "there",
            _ => "else",
        }
    };
    results.map(kind).collect()
}

#[test]
fn reads_of_several_tabs_take_the_time_of_the_slowest_and_keep_their_order() {
    let mut stage = stage(110, 500);
    stage.world.browser.change(OTHER, |page| page.answer_ms = 400);
    stage.world.http.push(Reply::calls("", &[here(), there(), ("tabs_list", json!({}))]));
    stage.world.http.push(Reply::text(&["Compared."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(300);
    assert!(calls(&stage).iter().all(|(_, status)| *status == ItemStatus::Running), "{:?}", calls(&stage));
    stage.check_view();
    stage.page.advance(250);
    stage.check_view();
    assert_eq!(results(&stage), ["here", "there", "else"]);
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.items.last().unwrap().text, "Compared.");
}

#[test]
fn reads_of_one_tab_come_one_after_the_other() {
    let mut stage = stage(111, 500);
    stage.world.http.push(Reply::calls("", &[here(), here()]));
    stage.world.http.push(Reply::text(&["Compared."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(600);
    assert_eq!((stage.world.browser.reads(), stage.world.http.sent().len()), (2, 1));
    stage.page.advance(600);
    stage.check_view();
    assert_eq!(results(&stage), ["here", "here"]);
}

#[test]
fn a_write_waits_for_the_reads_before_it_and_the_reads_after_it_wait_for_the_write() {
    let mut stage = stage(112, 500);
    let click = ("click", json!({"ref": "e1", "tabId": 8}));
    stage.world.http.push(Reply::calls("", &[here(), there(), click, there(), here()]));
    stage.world.http.push(Reply::text(&["Done."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(300);
    assert_eq!(stage.asked(), None);
    stage.page.advance(300);
    let before = stage.world.browser.reads();
    assert_eq!((stage.world.browser.written().len(), stage.asked().is_some()), (0, true));
    stage.page.advance(5_000);
    assert_eq!(stage.world.browser.reads(), before, "nothing is read while the question is open");
    stage.answer(ApprovalDecision::Accept {});
    stage.page.advance(2_000);
    stage.check_view();
    assert_eq!(stage.world.browser.written().len(), 1);
    // The click's own result names the button of the other tab.
    assert_eq!(results(&stage), ["here", "there", "there", "there", "here"]);
}

#[test]
fn reads_that_died_with_the_worker_run_again_and_each_has_one_result() {
    let mut stage = stage(113, 500);
    stage.world.http.push(Reply::calls("", &[there(), here(), there()]));
    stage.world.http.push(Reply::text(&["Compared."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    for _ in 0..3 {
        stage.page.advance(300);
        stage.restart();
    }
    stage.page.advance(2_000);
    stage.check_view();
    assert_eq!(results(&stage), ["there", "here", "there"]);
    assert_eq!(calls(&stage), vec![("read_page".to_owned(), ItemStatus::Done); 3]);
}

#[test]
fn reads_that_need_a_question_are_asked_about_one_by_one() {
    let mut stage = stage(114, 0);
    stage.world.http.push(Reply::calls("", &[here(), there()]));
    stage.world.http.push(Reply::text(&["Compared."]));
    submit(&mut stage, PermissionPolicy::Always);
    for _ in 0..2 {
        assert_eq!(stage.page.view.as_ref().unwrap().snapshot.approvals.len(), 1);
        stage.answer(ApprovalDecision::Accept {});
    }
    stage.check_view();
    assert_eq!(results(&stage), ["here", "there"]);
}

#[test]
fn a_read_that_fails_does_not_stop_its_neighbours() {
    let mut stage = stage(115, 0);
    stage.world.http.push(Reply::calls("", &[here(), ("read_page", json!({"tabId": 99})), there()]));
    stage.world.http.push(Reply::text(&["Compared."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(100);
    stage.check_view();
    assert_eq!(results(&stage), ["here", "else", "there"]);
    let statuses: Vec<ItemStatus> = calls(&stage).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [ItemStatus::Done, ItemStatus::Failed, ItemStatus::Done]);
}

#[test]
fn a_wait_between_reads_keeps_its_place() {
    let mut stage = stage(116, 0);
    stage.world.http.push(Reply::calls("", &[here(), ("wait_for", json!({"timeMs": 1_000})), here()]));
    stage.world.http.push(Reply::text(&["It changed."]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(500);
    assert_eq!(stage.world.browser.reads(), 1);
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!(results(&stage), ["here", "else", "here"]);
}

#[test]
fn a_stop_in_the_middle_of_reads_gives_each_call_its_end() {
    let mut stage = stage(117, 60_000);
    stage.world.http.push(Reply::calls("", &[here(), there()]));
    submit(&mut stage, PermissionPolicy::Untrusted);
    stage.page.advance(100);
    let op = Op::TurnInterrupt { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.check_view();
    assert_eq!(calls(&stage), vec![("read_page".to_owned(), ItemStatus::Failed); 2]);
}
