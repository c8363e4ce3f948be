//! What keeps a turn from going in circles.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::TurnId;
use panelot_protocol::item::{ItemKind, ItemStatus, NoticeKind};
use panelot_protocol::op::Op;
use panelot_protocol::turn::UserInput;
use panelot_testkit::{Page, Reply, Stage, TAB};
use serde_json::{Value, json};

const THREE_FAILED: &str = "Three tool calls in a row failed";
const FIVE_FAILED: &str = "Five tool calls in a row failed";
const REPEATED: &str = "You made the same call";
const CIRCLES: &str = "You keep making calls";

fn failing() -> (&'static str, Value) {
    ("click", json!({"ref": "nope"}))
}

fn reading() -> (&'static str, Value) {
    ("read_page", json!({}))
}

/// How often each request says a text.
fn said(stage: &Stage, text: &str) -> Vec<usize> {
    stage.world.http.sent().iter().map(|sent| sent.body.to_string().matches(text).count()).collect()
}

fn may_call(stage: &Stage) -> Vec<bool> {
    let none = json!("none");
    stage.world.http.sent().iter().map(|sent| sent.body.get("tool_choice") != Some(&none)).collect()
}

fn results(stage: &Stage) -> Vec<(ItemStatus, String)> {
    let items = &stage.page.view.as_ref().unwrap().snapshot.items;
    let calls = items.iter().filter(|item| item.kind == ItemKind::ToolCall);
    let summary = |item: &panelot_protocol::item::ItemView| {
        item.details.as_ref().and_then(|details| details.summary.clone()).unwrap_or_default()
    };
    calls.map(|item| (item.status, summary(item))).collect()
}

/// Plays answers of one call each, then a last one of text.
fn play(stage: &mut Stage, calls: &[(&str, Value)]) {
    for call in calls {
        stage.world.http.push(Reply::calls("", std::slice::from_ref(call)));
    }
    stage.world.http.push(Reply::text(&["That is all."]));
    stage.submit("Go");
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!(stage.world.http.left(), 0);
}

#[test]
fn three_failures_are_told_once_and_again_after_a_success_between() {
    let mut stage = Stage::new(50);
    let calls = [failing(), failing(), failing(), reading(), failing(), failing(), failing()];
    play(&mut stage, &calls);
    assert_eq!(said(&stage, THREE_FAILED), [0, 0, 0, 1, 1, 1, 1, 2]);
    assert!(may_call(&stage).iter().all(|may| *may));
}

#[test]
fn the_schemas_stay_in_the_request_that_shuts_the_calls_off() {
    let mut stage = Stage::new(51);
    play(&mut stage, &[failing(), failing(), failing(), failing(), failing()]);
    let sent = stage.world.http.sent();
    assert_eq!(may_call(&stage), [true, true, true, true, true, false]);
    assert_eq!(sent[5].body["tools"], sent[0].body["tools"]);
    assert_eq!(said(&stage, FIVE_FAILED), [0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_model_that_calls_tools_in_its_last_answer_is_not_heard() {
    let mut stage = Stage::new(52);
    for _ in 0..5 {
        stage.world.http.push(Reply::calls("", &[failing()]));
    }
    stage.world.http.push(Reply::calls("", &[reading()]));
    stage.submit("Go");
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!(results(&stage).len(), 5);
    let items = &stage.page.view.as_ref().unwrap().snapshot.items;
    assert_eq!(items.last().unwrap().meta.notice, Some(NoticeKind::ToolFailures));
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.active_turn, None);
}

#[test]
fn what_was_asked_for_together_with_five_failures_is_not_begun() {
    let mut stage = Stage::new(53);
    let calls = [failing(), failing(), failing(), failing(), failing(), reading()];
    stage.world.http.push(Reply::calls("", &calls));
    stage.world.http.push(Reply::text(&["I could not."]));
    stage.submit("Go");
    stage.page.advance(1_000);
    stage.check_view();
    let not_run = "Not run: five tool calls before this one failed.".to_owned();
    assert_eq!(results(&stage).last(), Some(&(ItemStatus::Failed, not_run)));
    assert_eq!(may_call(&stage), [true, false]);
}

#[test]
fn refusals_of_the_user_are_no_failures() {
    let mut stage = Stage::new(54);
    for number in 0..5 {
        stage
            .world
            .http
            .push(Reply::calls("", &[("type", json!({"ref": "e1", "text": number.to_string()}))]));
    }
    stage.world.http.push(Reply::text(&["Then not."]));
    stage.submit("Go");
    for _ in 0..5 {
        stage.answer(ApprovalDecision::Decline { note: None });
    }
    stage.check_view();
    assert!(may_call(&stage).iter().all(|may| *may));
    assert_eq!(said(&stage, THREE_FAILED), [0; 6]);
}

#[test]
fn a_word_of_the_user_gives_the_tools_back() {
    let mut stage = Stage::new(55);
    stage.world.browser.change(TAB, |page| page.answer_ms = 100);
    let calls = [failing(), failing(), failing(), failing(), failing()];
    stage.world.http.push(Reply::calls("", &calls));
    stage.world.http.push(Reply::calls("", &[reading()]));
    stage.world.http.push(Reply::text(&["Now I see."]));
    let AgentEvent::CommandAck { run_id: Some(run_id), .. } = stage.submit("Go") else { return };
    let op = Op::TurnSteer {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        expected_turn_id: TurnId::from(&run_id),
        input: UserInput::text("Look at the page first"),
    };
    stage.page.ask(&op);
    stage.page.advance(5_000);
    stage.check_view();
    assert_eq!(may_call(&stage), [true, true, true]);
    assert_eq!(results(&stage).last().map(|(status, _)| *status), Some(ItemStatus::Done));
}

#[test]
fn the_same_call_three_times_with_the_same_result_is_told_also_with_a_look_between() {
    let mut stage = Stage::new(56);
    play(&mut stage, &[reading(), reading(), reading()]);
    assert_eq!(said(&stage, REPEATED), [0, 0, 0, 1]);

    let mut stage = Stage::new(57);
    play(&mut stage, &[failing(), reading(), failing(), reading(), failing()]);
    assert_eq!(said(&stage, REPEATED), [0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_model_that_goes_in_circles_whatever_it_is_told_gives_a_last_answer() {
    let mut stage = Stage::new(60);
    play(&mut stage, &vec![reading(); 9]);
    assert_eq!(said(&stage, REPEATED), [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(said(&stage, CIRCLES), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(may_call(&stage), [true, true, true, true, true, true, true, true, true, false]);
}

#[test]
fn a_repeated_call_that_shows_something_new_is_progress() {
    let mut stage = Stage::new(58);
    let wait = ("wait_for", json!({"timeMs": 100}));
    for call in [reading(), wait.clone(), reading(), wait.clone(), reading(), wait] {
        stage.world.http.push(Reply::calls("", &[call]));
    }
    stage.world.http.push(Reply::text(&["Loaded."]));
    stage.submit("Wait for it");
    for name in ["Two of three", "Three of three"] {
        stage.world.browser.put(TAB, Page::with_button("https://shop.test/", name));
        stage.page.advance(100);
    }
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!(said(&stage, REPEATED), [0; 7]);
}

#[test]
fn a_worker_that_dies_between_failures_forgets_none_and_tells_nothing_twice() {
    let mut stage = Stage::new(59);
    stage.world.browser.change(TAB, |page| page.answer_ms = 500);
    stage.world.http.push(Reply::calls("", &[failing(), failing(), failing(), failing()]));
    stage.world.http.push(Reply::calls("", &[failing()]));
    stage.world.http.push(Reply::text(&["I could not."]));
    stage.submit("Go");
    for _ in 0..4 {
        stage.page.advance(700);
        stage.restart();
    }
    stage.page.advance(5_000);
    stage.check_view();
    assert_eq!(may_call(&stage), [true, true, false]);
    assert_eq!((said(&stage, THREE_FAILED), said(&stage, FIVE_FAILED)), (vec![0, 1, 1], vec![0, 0, 1]));
}
