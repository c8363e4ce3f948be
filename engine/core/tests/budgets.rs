//! What a turn and a thread may use before the user is asked.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{RunId, TurnId};
use panelot_protocol::item::{ItemKind, ItemStatus, NoticeKind};
use panelot_protocol::op::{Op, ThreadPatch};
use panelot_protocol::settings::{Budgets, SettingsPatch};
use panelot_protocol::snapshot::{RecoveryReason, ThreadSnapshot};
use panelot_protocol::turn::{CapturedTab, StopReason, TurnOverrides, UserInput};
use panelot_testkit::{Reply, Stage, TAB};
use serde_json::json;

/// Tokens of one scripted model call.
const CALL_TOKENS: u64 = 110;
/// The cost of one scripted model call, or title, in US dollars.
const CALL_USD: f64 = 0.000_12;

fn snapshot(stage: &Stage) -> &ThreadSnapshot {
    &stage.page.view.as_ref().unwrap().snapshot
}

fn set(stage: &mut Stage, budgets: Budgets) {
    let op = Op::SettingsUpdate {
        submission_id: stage.page.submission(),
        patch: SettingsPatch::Budgets { budgets },
    };
    let answer = stage.page.ask(&op);
    assert!(matches!(answer, AgentEvent::SettingsUpdated { .. }), "{answer:?}");
}

fn tokens(turn_tokens: u64) -> Budgets {
    Budgets { turn_tokens: Some(turn_tokens), ..Budgets::default() }
}

fn dollars(thread_cost_usd: f64) -> Budgets {
    Budgets { thread_cost_usd: Some(thread_cost_usd), ..Budgets::default() }
}

/// Lets the model read so many times and then answer.
fn script(stage: &Stage, reads: usize) {
    for _ in 0..reads {
        stage.world.http.push(Reply::calls("", &[("read_page", json!({}))]));
    }
    stage.world.http.push(Reply::text(&["Done."]));
}

fn paused(stage: &Stage) -> Vec<RunId> {
    let of = |reason| reason == RecoveryReason::BudgetPaused;
    snapshot(stage).recoverable.iter().filter(|run| of(run.reason)).map(|run| run.run_id.clone()).collect()
}

fn resume(stage: &mut Stage) {
    let run_id = paused(stage).remove(0);
    let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
    let answer = stage.page.ask(&Op::RunResume { submission_id, thread_id, run_id });
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    stage.page.advance(100);
}

fn calls(stage: &Stage) -> usize {
    stage.world.http.sent().len()
}

#[test]
fn a_turn_that_has_used_its_tokens_waits_for_the_user_and_goes_on_with_as_many_again() {
    let mut stage = Stage::new(90);
    set(&mut stage, tokens(2 * CALL_TOKENS));
    script(&stage, 5);
    stage.submit("Look around");
    stage.page.advance(100);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (2, 1));
    assert_eq!(snapshot(&stage).active_turn, None);
    let last = snapshot(&stage).items.last().unwrap();
    assert_eq!(last.meta.notice, Some(NoticeKind::BudgetPaused));
    let end = stage.page.view.as_ref().unwrap().last_end.clone().unwrap();
    assert_eq!((end.turn_id, end.stop_reason), (TurnId::from(&paused(&stage)[0]), StopReason::BudgetPause));
    assert!(!stage.world.notifier.shown().alarm, "nothing goes on by itself");

    resume(&mut stage);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (4, 1));
    resume(&mut stage);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (6, 0));
    let items = &snapshot(&stage).items;
    let reads =
        items.iter().filter(|item| item.kind == ItemKind::ToolCall && item.status == ItemStatus::Done);
    assert_eq!((reads.count(), items.last().unwrap().text.as_str()), (5, "Done."));
}

#[test]
fn a_paused_turn_outlives_the_worker_and_nothing_of_it_comes_twice() {
    let mut stage = Stage::new(91);
    set(&mut stage, tokens(2 * CALL_TOKENS));
    stage.world.http.push(Reply::calls("", &[("read_page", json!({}))]));
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["Ordered."]));
    stage.submit("Order");
    stage.answer(ApprovalDecision::Accept {});
    stage.page.advance(100);
    let before = paused(&stage);
    stage.restart();
    stage.engine.alarm();
    stage.page.advance(60_000);
    assert_eq!((paused(&stage), calls(&stage)), (before, 2));
    resume(&mut stage);
    stage.restart();
    stage.page.advance(100);
    stage.check_view();
    assert_eq!(stage.world.browser.written().len(), 1);
    assert_eq!((calls(&stage), snapshot(&stage).items.last().unwrap().text.as_str()), (3, "Ordered."));
}

#[test]
fn an_answer_is_never_cut_by_its_budget() {
    let mut stage = Stage::new(92);
    set(&mut stage, tokens(1));
    script(&stage, 0);
    stage.submit("Say it");
    stage.page.advance(100);
    stage.check_view();
    assert_eq!((paused(&stage), snapshot(&stage).items.last().unwrap().text.as_str()), (vec![], "Done."));
}

#[test]
fn a_message_can_bring_its_own_budget() {
    let mut stage = Stage::new(93);
    set(&mut stage, tokens(1_000_000));
    script(&stage, 3);
    let captured_tab = Some(CapturedTab { tab_id: TAB, title: None, url: None });
    let op = Op::TurnSubmit {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        input: UserInput { captured_tab, ..UserInput::text("Look") },
        overrides: Some(TurnOverrides { token_budget: Some(CALL_TOKENS), ..TurnOverrides::default() }),
    };
    stage.page.ask(&op);
    stage.page.advance(100);
    assert_eq!((calls(&stage), paused(&stage).len()), (1, 1));
}

#[test]
fn a_thread_that_has_cost_its_ceiling_asks_before_each_further_share_of_it() {
    let mut stage = Stage::new(94);
    // The title costs as much as a call.
    set(&mut stage, dollars(2.5 * CALL_USD));
    script(&stage, 0);
    stage.submit("One");
    stage.page.advance(100);
    script(&stage, 1);
    stage.submit("Two");
    stage.page.advance(100);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (2, 1));
    resume(&mut stage);
    assert_eq!((calls(&stage), paused(&stage).len()), (3, 0));
    script(&stage, 0);
    stage.submit("Three");
    stage.page.advance(100);
    script(&stage, 0);
    stage.submit("Four");
    stage.page.advance(100);
    stage.check_view();
    // The share since the user let it go on: the end of the second turn, and the third.
    assert_eq!((calls(&stage), paused(&stage).len()), (5, 0));
    script(&stage, 0);
    stage.submit("Five");
    stage.page.advance(100);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (5, 1), "the next turn asks before its first call");
}

#[test]
fn a_turn_that_goes_on_past_its_tokens_gets_no_more_money() {
    let mut stage = Stage::new(98);
    set(&mut stage, tokens(1));
    script(&stage, 2);
    stage.submit("Look");
    stage.page.advance(100);
    assert_eq!(paused(&stage).len(), 1);
    // A call and the title are paid by now.
    set(&mut stage, dollars(2.5 * CALL_USD));
    resume(&mut stage);
    stage.check_view();
    assert_eq!((calls(&stage), paused(&stage).len()), (2, 1));
    let notice = snapshot(&stage).items.last().unwrap().text.clone();
    assert!(notice.contains("has cost $0.0004 of the $0.0003"), "{notice}");
}

#[test]
fn a_thread_can_have_its_own_ceiling_or_none() {
    for (own, pauses) in [(Some(CALL_USD / 2.0), 1), (Some(0.0), 0), (None, 1)] {
        let mut stage = Stage::new(95);
        set(&mut stage, dollars(CALL_USD));
        let patch = ThreadPatch { cost_ceiling_usd: own, ..ThreadPatch::default() };
        let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
        stage.page.ask(&Op::ThreadUpdate { submission_id, thread_id, patch });
        assert_eq!(snapshot(&stage).thread.cost_ceiling_usd, own);
        script(&stage, 1);
        stage.submit("Look");
        stage.page.advance(100);
        stage.check_view();
        assert_eq!(paused(&stage).len(), pauses, "{own:?}");
    }
}

#[test]
fn a_steered_message_and_the_queue_wait_with_a_paused_turn() {
    let mut stage = Stage::new(96);
    set(&mut stage, tokens(1));
    stage.world.browser.change(TAB, |page| page.answer_ms = 500);
    script(&stage, 1);
    let AgentEvent::CommandAck { run_id: Some(run_id), .. } = stage.submit("Look") else { panic!("no run") };
    let steer = Op::TurnSteer {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        expected_turn_id: TurnId::from(&run_id),
        input: UserInput::text("and say what it costs"),
    };
    stage.page.ask(&steer);
    stage.submit("Next");
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!((paused(&stage).len(), snapshot(&stage).queue.runs.len()), (1, 1));
    assert!(snapshot(&stage).queue.held);
    resume(&mut stage);
    stage.page.advance(1_000);
    let request = stage.world.http.sent()[1].body.to_string();
    assert!(request.contains("and say what it costs"), "{request}");
    assert_eq!(snapshot(&stage).queue.runs.len(), 1, "a held queue waits for the user's word");
    stage.world.http.push(Reply::text(&["The next answer."]));
    let op = Op::QueueRelease { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.page.advance(100);
    stage.check_view();
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "The next answer.");
}

#[test]
fn a_queue_that_is_released_goes_past_a_paused_turn() {
    let mut stage = Stage::new(97);
    set(&mut stage, tokens(1));
    stage.world.browser.change(TAB, |page| page.answer_ms = 500);
    stage.world.http.push(Reply::calls("", &[("read_page", json!({}))]));
    stage.submit("Look");
    stage.submit("Next");
    stage.page.advance(1_000);
    assert_eq!(paused(&stage).len(), 1);
    stage.world.http.push(Reply::text(&["The next answer."]));
    let op = Op::QueueRelease { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.page.advance(100);
    stage.check_view();
    assert_eq!(
        (paused(&stage).len(), snapshot(&stage).items.last().unwrap().text.as_str()),
        (0, "The next answer.")
    );
}
