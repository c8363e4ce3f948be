//! The turn that finds a title, beside the first turn of a thread.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_engine::ports::StoreError;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ConnectionId, TurnId};
use panelot_protocol::op::{Op, ThreadPatch};
use panelot_protocol::settings::SettingsPatch;
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_protocol::turn::{ModelRef, StopReason, TurnKind, UserInput};
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, Stage, Step};
use serde_json::json;

fn snapshot(stage: &Stage) -> &ThreadSnapshot {
    &stage.page.view.as_ref().unwrap().snapshot
}

fn title(stage: &Stage) -> &str {
    &snapshot(stage).thread.title
}

/// A title that comes after so long.
fn late_title(wait_ms: u64, title: &str) -> Reply {
    let mut body = vec![Step::Wait(wait_ms), text_step(title)];
    body.extend(end_steps("stop"));
    Reply::stream(body)
}

/// The title turns that pages were told of, with how they ended.
fn title_turns(stage: &Stage) -> Vec<(TurnId, Option<StopReason>)> {
    let mut turns = Vec::new();
    for frame in &stage.page.inbox {
        if let AgentEvent::TurnStart { turn_id, turn_kind: TurnKind::Title, steerable: false, .. } =
            &frame.event
        {
            turns.push((turn_id.clone(), None));
        } else if let AgentEvent::TurnComplete { turn_id, stop_reason, .. } = &frame.event
            && let Some(turn) = turns.iter_mut().find(|turn| &turn.0 == turn_id)
        {
            turn.1 = Some(*stop_reason);
        }
    }
    turns
}

fn rename(stage: &mut Stage, title: &str) {
    let patch = ThreadPatch { title: Some(title.to_owned()), ..ThreadPatch::default() };
    let op =
        Op::ThreadUpdate { submission_id: stage.page.submission(), thread_id: stage.thread.clone(), patch };
    assert!(matches!(stage.page.ask(&op), AgentEvent::CommandAck { .. }));
}

#[test]
fn the_first_line_stands_until_a_title_is_found_and_the_answer_does_not_wait_for_it() {
    let mut stage = Stage::new(70);
    stage.world.http.push_title(late_title(5_000, "\"Flat white order\""));
    stage.world.http.push(Reply::text(&["Ordered."]));
    stage.submit("Order a flat white\nwith oat milk");
    stage.check_view();
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "Ordered.");
    assert_eq!(snapshot(&stage).active_turn, None);
    assert_eq!(title(&stage), "Order a flat white");
    stage.page.advance(6_000);
    stage.check_view();
    assert_eq!(title(&stage), "Flat white order");
    let ends: Vec<_> = title_turns(&stage).into_iter().map(|(_, end)| end).collect();
    assert_eq!(ends, [Some(StopReason::End)]);
    stage.world.http.push(Reply::text(&["And again."]));
    stage.submit("Again");
    stage.page.advance(1_000);
    assert_eq!(stage.world.http.titles_sent().len(), 1, "one title is enough");
}

#[test]
fn a_title_request_holds_the_first_message_and_no_tools() {
    let mut stage = Stage::new(71);
    stage.world.http.push(Reply::text(&["Ordered."]));
    stage.submit("Order a flat white");
    stage.page.advance(100);
    let sent = stage.world.http.titles_sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["model"], json!("m1"));
    assert_eq!(sent[0].body.get("tools"), None);
    assert!(sent[0].body["messages"][1].to_string().contains("Order a flat white"));
}

#[test]
fn the_task_model_finds_the_title_when_one_is_set() {
    let mut stage = Stage::new(72);
    let model = ModelRef { connection_id: ConnectionId::from("c1"), model_id: "small".to_owned() };
    let patch = SettingsPatch::TaskModel { model: Some(model) };
    let op = Op::SettingsUpdate { submission_id: stage.page.submission(), patch };
    stage.page.ask(&op);
    stage.world.http.push(Reply::text(&["Ordered."]));
    stage.submit("Order");
    stage.page.advance(100);
    stage.check_view();
    let models = |sent: Vec<panelot_testkit::http::Sent>| -> Vec<String> {
        sent.iter().map(|sent| sent.body["model"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(models(stage.world.http.titles_sent()), ["small"]);
    assert_eq!(models(stage.world.http.sent()), ["m1"]);
    assert_eq!(snapshot(&stage).thread.stats.cost_usd, None, "the price of the small model is not known");
}

#[test]
fn a_title_by_the_user_is_never_replaced() {
    let mut stage = Stage::new(73);
    stage.world.http.push_title(late_title(5_000, "Found"));
    stage.world.http.push(Reply::text(&["Yes."]));
    stage.submit("Hi");
    rename(&mut stage, "Mine");
    stage.page.advance(6_000);
    stage.check_view();
    assert_eq!(title(&stage), "Mine");

    let mut stage = Stage::new(74);
    rename(&mut stage, "Mine");
    stage.world.http.push(Reply::text(&["Yes."]));
    stage.submit("Hi");
    stage.page.advance(1_000);
    assert_eq!((title(&stage), stage.world.http.titles_sent().len()), ("Mine", 0));
}

#[test]
fn a_title_turn_takes_no_messages_and_a_stopped_turn_leaves_it_alone() {
    let mut stage = Stage::new(75);
    stage.world.http.push_title(late_title(5_000, "Found"));
    stage.world.http.push(Reply::stream(vec![text_step("Half"), Step::Hang]));
    stage.submit("Hi");
    stage.page.advance(100);
    let (turn, _) = title_turns(&stage).remove(0);
    let op = Op::TurnSteer {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        expected_turn_id: turn,
        input: UserInput::text("x"),
    };
    let answer = stage.page.ask(&op);
    assert!(
        matches!(answer, AgentEvent::CommandRejected { code: ErrorCode::TurnNotSteerable, .. }),
        "{answer:?}"
    );
    let op = Op::TurnInterrupt { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.check_view();
    stage.page.advance(6_000);
    stage.check_view();
    assert_eq!(title(&stage), "Found");
    assert_eq!(
        stage.page.view.as_ref().unwrap().last_end.as_ref().unwrap().stop_reason,
        StopReason::Interrupted
    );
}

#[test]
fn a_title_that_cannot_be_found_is_tried_once_more_with_the_next_turn_and_then_no_more() {
    let mut stage = Stage::new(76);
    let mut cut = vec![text_step("A title that was")];
    cut.extend(end_steps("length"));
    stage.world.http.push_title(Reply::stream(cut));
    stage.world.http.push_title(Reply::text(&[" \n "]));
    for number in 0..4 {
        stage.world.http.push(Reply::text(&["Yes."]));
        stage.submit(&format!("Message {number}"));
        stage.page.advance(1_000);
    }
    stage.check_view();
    assert_eq!((title(&stage), stage.world.http.titles_sent().len()), ("Message 0", 2));
    let said = stage.world.http.titles_sent()[1].body.to_string();
    assert!(said.contains("Message 0") && !said.contains("Message 1"), "{said}");
    let ends: Vec<_> = title_turns(&stage).into_iter().map(|(_, end)| end).collect();
    assert_eq!(ends, [Some(StopReason::Error), Some(StopReason::Error)]);
}

#[test]
fn a_worker_that_dies_again_and_again_asks_for_a_title_twice_and_keeps_the_first_line() {
    let mut stage = Stage::new(77);
    for number in 0..4 {
        stage.world.http.push_title(Reply::stream(vec![Step::Hang]));
        stage.world.http.push(Reply::text(&["Yes."]));
        stage.submit(&format!("Message {number}"));
        stage.page.advance(1_000);
        stage.restart();
        stage.page.advance(1_000);
    }
    stage.check_view();
    assert_eq!((title(&stage), stage.world.http.titles_sent().len()), ("Message 0", 2));
}

#[test]
fn a_title_that_the_disk_refuses_costs_nothing_but_the_title() {
    let mut stage = Stage::new(78);
    stage.world.http.push_title(late_title(1_500, "Found"));
    let mut body = vec![text_step("Half an "), Step::Wait(5_000), text_step("answer.")];
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Hi");
    // The draft of the answer is stored first.
    stage.page.advance(1_200);
    stage.world.store.fail_next_commit(StoreError::Full);
    stage.page.advance(10_000);
    stage.check_view();
    assert_eq!(title(&stage), "Hi");
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "Half an answer.");
    assert_eq!(stage.world.http.sent().len(), 1);
}

#[test]
fn a_title_that_never_comes_lets_the_thread_rest() {
    let mut stage = Stage::new(79);
    stage.world.http.push_title(Reply::stream(vec![Step::Hang]));
    stage.world.http.push(Reply::text(&["Yes."]));
    stage.submit("Hi");
    stage.page.advance(120_000);
    stage.check_view();
    let ends: Vec<_> = title_turns(&stage).into_iter().map(|(_, end)| end).collect();
    assert_eq!((title(&stage), ends), ("Hi", vec![Some(StopReason::Error)]));
    assert!(!stage.world.notifier.shown().alarm);
}

#[test]
fn a_thread_that_is_deleted_takes_its_title_turn_with_it() {
    let mut stage = Stage::new(80);
    stage.world.http.push_title(late_title(5_000, "Found"));
    stage.world.http.push(Reply::text(&["Yes."]));
    stage.submit("Hi");
    let op = Op::ThreadDelete { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.page.advance(10_000);
    let left = stage.world.store.table(panelot_engine::ports::Table::Threads);
    assert_eq!(left.len(), 0);
    if let Some(frame) = stage.page.inbox.last() {
        assert!(!matches!(frame.event, AgentEvent::ThreadUpdated { .. }), "{frame:?}");
    }
}
