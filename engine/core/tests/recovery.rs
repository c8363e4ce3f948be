//! A worker can die at every moment: nothing that was acknowledged is lost, no write happens twice unasked, and
//! nothing waits for ever.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail at once")]

use panelot_engine::ports::{Activity, StoreError, Table};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::op::{Op, ThreadPatch, UncertainResolution};
use panelot_protocol::snapshot::{RecoveryReason, RunRecoveryState, ThreadSnapshot};
use panelot_protocol::turn::{CapturedTab, UserInput};
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, Stage, Step, TAB};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// Reads the page, clicks, says that it is done: whatever the request was cut from, the history tells what is next.
fn play(body: &Value) -> Reply {
    let messages = body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    match results {
        0 => Reply::calls("I look.", &[("read_page", json!({}))]),
        1 => Reply::calls("", &[("click", json!({"ref": "e1"}))]),
        _ => Reply::text(&["It ", "is ", "done."]),
    }
}

fn snapshot(stage: &Stage) -> &ThreadSnapshot {
    &stage.page.view.as_ref().unwrap().snapshot
}

/// What a user does who sees this: accepts what is asked, lets go on what stopped, and looks at the page before
/// deciding about a write.
fn act(stage: &mut Stage) -> bool {
    if stage.page.lost {
        let thread = stage.thread.clone();
        stage.page.subscribe(&thread);
    }
    if stage.asked().is_some() {
        stage.answer(ApprovalDecision::Accept {});
        return true;
    }
    let Some(RunRecoveryState { run_id, reason, .. }) = snapshot(stage).recoverable.first().cloned() else {
        return false;
    };
    let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
    let op = match reason {
        RecoveryReason::UncertainWrite => {
            let done = !stage.world.browser.written().is_empty();
            let resolution = if done { UncertainResolution::MarkDone } else { UncertainResolution::Retry };
            Op::RunResolveUncertain { submission_id, thread_id, run_id, resolution }
        }
        RecoveryReason::Interrupted | RecoveryReason::BudgetPaused | RecoveryReason::EnvironmentChanged => {
            Op::RunResume { submission_id, thread_id, run_id }
        }
    };
    let answer = stage.page.ask(&op);
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    true
}

/// Plays the user until nothing is left to do.
fn finish(stage: &mut Stage, what: &str) {
    for _ in 0..30 {
        stage.page.advance(5_000);
        stage.engine.alarm();
        stage.page.settle();
        if !act(stage) && snapshot(stage).active_turn.is_none() {
            return;
        }
    }
    panic!("{what}: it never ends: {:?}", snapshot(stage));
}

fn submit_op(stage: &Stage) -> Op {
    let input = UserInput {
        captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
        ..UserInput::text("Order it")
    };
    Op::TurnSubmit {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        input,
        overrides: None,
    }
}

#[test]
fn a_worker_killed_at_any_step_of_the_main_job_loses_nothing_and_clicks_once() {
    let mut kills = 0;
    for polls in 1..2_000 {
        let mut stage = Stage::new(17);
        stage.world.http.set_script(play);
        let what = format!("killed after {polls} polls");
        let op = submit_op(&stage);
        stage.world.scheduler.kill_after(polls);
        stage.page.send(&op);
        let mut killed = stage.world.scheduler.settle();
        if !killed {
            stage.page.read();
            if stage.asked().is_some() {
                let approval_id = stage.asked().unwrap();
                let decision = ApprovalDecision::Accept {};
                let answer =
                    Op::ApprovalResponse { submission_id: stage.page.submission(), approval_id, decision };
                stage.page.send(&answer);
                killed = stage.world.scheduler.advance(100);
            }
        }
        if !killed {
            break;
        }
        kills += 1;
        stage.start_again();
        // The page sends again what was not answered, under the same submission.
        let again = stage.page.ask(&op);
        assert!(matches!(again, AgentEvent::CommandAck { .. }), "{what}: {again:?}");
        finish(&mut stage, &what);
        stage.check_view();
        assert_eq!(stage.world.browser.written().len(), 1, "{what}");
        let items = &snapshot(&stage).items;
        let said = items.iter().filter(|item| item.kind == ItemKind::UserMessage).count();
        assert_eq!(said, 1, "{what}: {items:?}");
        assert_eq!(items.last().unwrap().text, "It is done.", "{what}");
        let running: Vec<_> = items.iter().filter(|item| item.status == ItemStatus::Running).collect();
        assert!(running.is_empty(), "{what}: {running:?}");
        assert!(!stage.world.notifier.shown().alarm, "{what}: the alarm stays on");
        check_tree(&stage, &what);
    }
    assert!(kills > 60, "only {kills} moments were tried");
}

/// Numbers never repeat, and each parent is there.
fn check_tree(stage: &Stage, what: &str) {
    let nodes: Vec<Value> = stage
        .world
        .store
        .table(Table::Nodes)
        .iter()
        .map(|row| serde_json::from_str(&row.body).unwrap())
        .collect();
    let mut seqs: Vec<u64> = nodes.iter().map(|node| node["seq"].as_u64().unwrap()).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (0..u64::try_from(nodes.len()).unwrap()).collect::<Vec<_>>(), "{what}");
    for node in &nodes {
        let parent = &node["parent_id"];
        assert!(parent.is_null() || nodes.iter().any(|other| &other["id"] == parent), "{what}: {node}");
    }
}

#[test]
fn a_stream_that_a_worker_took_with_it_is_shown_as_partial_and_can_go_on() {
    let mut stage = Stage::new(18);
    let body = vec![text_step("The beginning"), Step::Wait(5_000), text_step(" of it."), Step::Hang];
    stage.world.http.push(Reply::stream(body));
    stage.submit("Tell");
    stage.page.advance(3_000);
    stage.restart();
    let items = &snapshot(&stage).items;
    assert_eq!((items[1].text.as_str(), items[1].status), ("The beginning", ItemStatus::Failed));
    assert!(items[1].details.as_ref().unwrap().partial);
    assert_eq!(snapshot(&stage).recoverable[0].reason, RecoveryReason::Interrupted);
    assert_eq!(snapshot(&stage).active_turn, None);
    let mut rest = vec![text_step("The rest.")];
    rest.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(rest));
    act(&mut stage);
    stage.check_view();
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "The rest.");
    assert_eq!(snapshot(&stage).recoverable, []);
    let sent = stage.world.http.sent();
    assert!(sent[1].body.to_string().contains("was cut off"));
}

#[test]
fn a_question_keeps_its_deadline_over_the_death_of_the_worker() {
    let mut stage = Stage::new(19);
    stage.world.http.set_script(play);
    stage.submit("Order it");
    let before = snapshot(&stage).approvals.clone();
    assert_eq!(before.len(), 1);
    stage.page.advance(100_000);
    stage.restart();
    assert_eq!(snapshot(&stage).approvals, before);
    stage.world.scheduler.kill();
    stage.world.scheduler.advance(250_000);
    stage.start_again();
    stage.check_view();
    assert_eq!(snapshot(&stage).approvals, []);
    assert_eq!(stage.world.browser.written(), []);
}

#[test]
fn a_read_that_died_with_the_worker_runs_again_and_keeps_nobody_out() {
    let mut stage = Stage::new(20);
    stage.world.http.set_script(play);
    stage.world.browser.change(TAB, |page| page.blocked = true);
    stage.submit("Order it");
    stage.page.advance(1_000);
    let before = stage.world.scheduler.polls();
    stage.restart();
    assert!(stage.page.view.is_some(), "the page is greeted at once");
    assert!(stage.world.scheduler.polls() > before);
    // The dialog is closed in the end: the read is over its time, the model tries once more.
    stage.page.advance(5_000);
    stage.world.browser.change(TAB, |page| page.blocked = false);
    finish(&mut stage, "a read behind a dialog");
    stage.check_view();
}

#[test]
fn a_page_is_greeted_within_100_ms_when_the_database_does_not_answer() {
    let mut stage = Stage::new(21);
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.submit("Hi");
    stage.world.scheduler.kill();
    stage.world.store.set_stuck(true);
    stage.start_again();
    stage.page.advance(100);
    let greeted = stage.page.inbox.iter().any(|frame| matches!(frame.event, AgentEvent::Initialized { .. }));
    assert!(greeted);
}

#[test]
fn a_queue_goes_on_after_the_death_of_the_worker_with_no_page_open() {
    let mut stage = Stage::new(22);
    stage.world.http.push(Reply::stream(vec![text_step("a"), Step::Hang]));
    stage.submit("First");
    stage.submit("Second");
    stage.world.http.push(Reply::text(&["Second answer."]));
    stage.world.scheduler.kill();
    assert!(stage.world.notifier.shown().alarm, "the alarm wakes the next worker");
    stage.engine = panelot_engine::Engine::start(stage.world.clone());
    stage.world.scheduler.advance(1_000);
    stage.restart();
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "Second answer.");
    assert!(!stage.world.notifier.shown().alarm);
}

/// A stage whose turn is in the middle of its answer, and a change of its title.
fn rename_while_it_answers(seed: u64) -> (Stage, Op) {
    let mut stage = Stage::new(seed);
    let mut body = vec![text_step("Half an "), Step::Wait(5_000), text_step("answer.")];
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Go");
    stage.page.advance(100);
    let patch = ThreadPatch { title: Some("Another".to_owned()), ..ThreadPatch::default() };
    let op =
        Op::ThreadUpdate { submission_id: stage.page.submission(), thread_id: stage.thread.clone(), patch };
    (stage, op)
}

#[test]
fn a_change_that_the_disk_refuses_leaves_the_running_turn_alone_and_is_refused_the_same_way_again() {
    let (mut stage, op) = rename_while_it_answers(41);
    stage.world.store.fail_next_commit(StoreError::Full);
    let first = stage.page.ask(&op);
    assert!(matches!(first, AgentEvent::CommandRejected { code: ErrorCode::StorageFull, .. }), "{first:?}");
    assert_eq!(stage.page.ask(&op), first);
    stage.page.advance(10_000);
    stage.check_view();
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "Half an answer.");
}

#[test]
fn a_commit_of_which_nobody_knew_whether_it_holds_is_acknowledged_once_and_disturbs_nothing() {
    let (mut stage, op) = rename_while_it_answers(42);
    stage.world.store.fail_next_commit(StoreError::Unknown("the connection broke".to_owned()));
    let first = stage.page.ask(&op);
    assert!(matches!(first, AgentEvent::CommandAck { .. }), "{first:?}");
    assert_eq!(stage.page.ask(&op), first);
    stage.page.advance(10_000);
    stage.check_view();
    assert_eq!(snapshot(&stage).thread.title, "Another");
    assert_eq!(snapshot(&stage).items.last().unwrap().text, "Half an answer.");
}

#[test]
fn a_badge_that_a_dead_worker_left_is_taken_back_when_nothing_runs() {
    let mut stage = Stage::new(61);
    stage.world.http.push(Reply::stream(vec![text_step("It "), Step::Hang]));
    stage.submit("Order it");
    assert_eq!(stage.world.notifier.shown().activity, Activity::Running);
    stage.restart();
    stage.page.settle();
    assert_eq!(stage.world.notifier.shown().activity, Activity::Idle);
}

#[test]
fn a_turn_that_a_full_disk_keeps_from_going_on_goes_on_at_a_later_alarm() {
    let mut stage = Stage::new(62);
    stage.world.http.set_script(play);
    stage.world.browser.change(TAB, |page| page.answer_ms = 60_000);
    stage.submit("Order it");
    stage.page.advance(1_000);
    stage.world.scheduler.kill();
    for _ in 0..3 {
        stage.world.store.fail_next_commit(StoreError::Full);
    }
    stage.start_again();
    stage.page.settle();
    assert!(stage.world.notifier.shown().alarm, "nothing else wakes the worker again");
    stage.world.browser.change(TAB, |page| page.answer_ms = 0);
    stage.engine.alarm();
    stage.page.settle();
    let thread = stage.thread.clone();
    stage.page.subscribe(&thread);
    finish(&mut stage, "after a full disk");
}

#[test]
fn every_change_of_a_run_raises_its_revision() {
    let mut stage = Stage::new(63);
    let seen: Rc<RefCell<Vec<u64>>> = Rc::default();
    let revisions = Rc::clone(&seen);
    stage.world.store.set_watch(move |commit, _| {
        let of_runs = commit.put.iter().filter(|row| row.table == Table::Runs);
        revisions.borrow_mut().extend(of_runs.map(|row| row.revision));
    });
    stage.world.http.push(Reply::refusal(401, &json!({"error": {"message": "this key is not known"}})));
    stage.submit("Order it");
    let seen = seen.borrow();
    assert!(seen.len() > 2 && seen.is_sorted_by(|before, after| before < after), "{seen:?}");
}
