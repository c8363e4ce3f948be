//! Waits of a run: for the user, for a page, for a time. Each ends once, at its own time, whatever happens to the worker.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail at once")]

use panelot_engine::ports::{Activity, Clock, StoreError, Table};
use panelot_engine::store::records::{NodePayload, Record, StoredInteraction, StoredNode, StoredRun};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{RuleId, TabId};
use panelot_protocol::interaction::{
    InteractionEnd, InteractionRequestPayload, InteractionResponse, PendingInteraction, WatchLoss,
};
use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::op::Op;
use panelot_protocol::settings::{PermissionRule, RuleEffect, RuleSource, SettingsPatch};
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_protocol::turn::{CapturedTab, PermissionPolicy, TurnOverrides, UserInput};
use panelot_testkit::{Page, Reply, SimPage, Stage, TAB};
use serde_json::{Value, json};

/// Longer than the worker may take to notice a deadline by its own timer.
const MOMENT_MS: u64 = 1_000;

fn snapshot(stage: &Stage) -> &ThreadSnapshot {
    &stage.page.view.as_ref().unwrap().snapshot
}

/// A stage whose model makes one call and says "Done." after its result.
fn calling(seed: u64, tool: &str, arguments: Value) -> Stage {
    let mut stage = Stage::new(seed);
    stage.world.http.push(Reply::calls("", &[(tool, arguments)]));
    stage.world.http.push(Reply::text(&["Done."]));
    stage.submit("Go");
    stage.page.advance(100);
    stage
}

fn asking(seed: u64) -> Stage {
    calling(
        seed,
        "ask_user",
        json!({"question": "Which?", "options": ["Red", "Blue"], "timeoutSeconds": 600}),
    )
}

fn watching(seed: u64) -> Stage {
    calling(seed, "watch_page", json!({"text": "Shipped", "timeoutSeconds": 600}))
}

fn later(seed: u64, seconds: u64) -> Stage {
    calling(seed, "schedule_resume", json!({"inSeconds": seconds, "reason": "Look again."}))
}

fn submit(text: &str) -> InteractionResponse {
    InteractionResponse::Submit { value: json!(text) }
}

fn stored(stage: &Stage) -> Vec<StoredInteraction> {
    let rows = stage.world.store.table(Table::Interactions);
    rows.iter().map(|row| StoredInteraction::from_row(row).unwrap()).collect()
}

fn ends(stage: &Stage) -> Vec<Option<InteractionEnd>> {
    stored(stage).into_iter().map(|wait| wait.end).collect()
}

/// The texts of all results that the last request carried.
fn results(stage: &Stage) -> Vec<String> {
    let sent = stage.world.http.sent();
    let messages = sent.last().unwrap().body["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// The wait ended so, once: its row, its record, one result for the model, and the turn went on to its end.
fn check_ended(stage: &mut Stage, end: &InteractionEnd, said: &str) {
    stage.page.advance(100);
    stage.check_view();
    assert_eq!(ends(stage), [Some(end.clone())]);
    let rows = stage.world.store.table(Table::Nodes);
    let nodes: Vec<StoredNode> = rows.iter().map(|row| StoredNode::from_row(row).unwrap()).collect();
    let records = nodes.iter().filter(
        |node| matches!(&node.payload, NodePayload::InteractionResponse { end: kept, .. } if kept == end),
    );
    let results_stored =
        nodes.iter().filter(|node| matches!(node.payload, NodePayload::ToolResult { .. })).count();
    assert_eq!((records.count(), results_stored), (1, 1));
    let told = results(stage);
    assert_eq!((told.len(), told[0].contains(said)), (1, true), "{told:?}");
    assert_eq!(stage.world.http.sent().len(), 2);
    assert_eq!(snapshot(stage).interactions, []);
    let items = &snapshot(stage).items;
    assert_eq!(items.last().unwrap().text, "Done.");
    let shown = items.iter().find(|item| item.kind == ItemKind::Interaction).unwrap();
    assert_eq!(shown.details.as_ref().unwrap().end.as_ref(), Some(end));
    assert!(items.iter().all(|item| item.status != ItemStatus::Running), "{items:?}");
    let shown = stage.world.notifier.shown();
    assert_eq!((shown.alarm, shown.activity), (false, Activity::Idle));
}

fn ticks(stage: &mut Stage, count: usize) {
    for _ in 0..count {
        stage.page.advance(30_000);
        stage.engine.alarm();
        stage.page.settle();
    }
}

#[test]
fn a_question_is_shown_with_its_answers_and_its_answer_goes_to_the_model_once() {
    let mut stage = asking(200);
    stage.check_view();
    let PendingInteraction { request, .. } = stage.awaited().unwrap();
    let InteractionRequestPayload::AskUser { question, options, deadline_ms, .. } = request else {
        panic!("{request:?}")
    };
    assert_eq!((question.as_str(), options), ("Which?", vec!["Red".to_owned(), "Blue".to_owned()]));
    assert!(deadline_ms.unwrap() > stage.world.scheduler.now_ms());
    let shown = stage.world.notifier.shown();
    assert_eq!((shown.alarm, shown.activity), (true, Activity::Waiting));
    let answer = stage.respond(submit("Red"));
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    check_ended(&mut stage, &InteractionEnd::Answered { response: submit("Red") }, "The user answered: Red");
}

#[test]
fn a_question_asks_for_no_leave_under_any_policy_and_one_about_a_page_does() {
    for (tool, arguments, approvals) in [
        ("ask_user", json!({"question": "Which?"}), 0),
        ("request_user_action", json!({"instruction": "Log in.", "tabId": 7}), 0),
        ("schedule_resume", json!({"inSeconds": 60, "reason": "Look."}), 0),
        ("watch_page", json!({"text": "Shipped"}), 1),
    ] {
        let mut stage = Stage::new(201);
        stage.world.http.push(Reply::calls("", &[(tool, arguments)]));
        let op = Op::TurnSubmit {
            submission_id: stage.page.submission(),
            thread_id: stage.thread.clone(),
            input: UserInput {
                captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
                ..UserInput::text("Go")
            },
            overrides: Some(TurnOverrides {
                permission_policy: Some(PermissionPolicy::Always),
                ..TurnOverrides::default()
            }),
        };
        stage.page.ask(&op);
        stage.page.advance(100);
        assert_eq!(snapshot(&stage).approvals.len(), approvals, "{tool}");
        if approvals > 0 {
            stage.answer(ApprovalDecision::Accept {});
            stage.page.advance(100);
        }
        assert_eq!(snapshot(&stage).interactions.len(), 1, "{tool}");
        stage.check_view();
    }
}

#[test]
fn a_page_of_another_tab_is_watched_by_leave_only_and_a_tab_that_is_gone_not_at_all() {
    let mut stage = calling(202, "watch_page", json!({"text": "Shipped", "tabId": 99}));
    stage.page.advance(100);
    assert!(results(&stage)[0].contains("does not exist"), "{:?}", results(&stage));
    let mut stage = Stage::new(203);
    stage.world.browser.put(TabId(8), Page::with_button("https://bank.test/", "Pay"));
    stage.world.http.push(Reply::calls("", &[("watch_page", json!({"text": "Paid", "tabId": 8}))]));
    stage.submit("Go");
    stage.page.advance(100);
    assert_eq!((snapshot(&stage).approvals.len(), snapshot(&stage).interactions.len()), (1, 0));
}

#[test]
fn an_action_of_the_user_ends_with_their_word() {
    let mut stage = calling(204, "request_user_action", json!({"instruction": "Log in.", "tabId": 7}));
    let InteractionRequestPayload::UserAction { tab_id, .. } = stage.awaited().unwrap().request else {
        panic!("another wait")
    };
    assert_eq!(tab_id, Some(TAB));
    stage.respond(InteractionResponse::Done {});
    let done = InteractionEnd::Answered { response: InteractionResponse::Done {} };
    check_ended(&mut stage, &done, "The user says that it is done");
}

#[test]
fn a_refusal_is_told_with_its_note_and_is_no_failure() {
    let mut stage = asking(205);
    let response = InteractionResponse::Decline { note: Some("guess".to_owned()) };
    stage.respond(response.clone());
    let rows = stage.world.store.table(Table::Runs);
    let failures: Vec<u32> = rows.iter().map(|row| StoredRun::from_row(row).unwrap().tool_failures).collect();
    check_ended(&mut stage, &InteractionEnd::Answered { response }, "The user's note: guess");
    assert_eq!(failures, [0]);
}

#[test]
fn an_answer_that_cancels_stops_the_turn_and_leaves_nothing_open() {
    let mut stage = asking(206);
    stage.respond(InteractionResponse::Cancel {});
    stage.check_view();
    assert_eq!(ends(&stage), [Some(InteractionEnd::Answered { response: InteractionResponse::Cancel {} })]);
    assert_eq!((snapshot(&stage).active_turn.clone(), stage.world.http.sent().len()), (None, 1));
    assert!(!stage.world.notifier.shown().alarm);
}

#[test]
fn an_interrupt_withdraws_the_wait_and_gives_its_call_a_result() {
    for (seed, mut stage) in [(207, asking(207)), (208, watching(208)), (209, later(209, 60))] {
        let op =
            Op::TurnInterrupt { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
        let answer = stage.page.ask(&op);
        assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{seed}: {answer:?}");
        stage.check_view();
        assert_eq!(ends(&stage), [Some(InteractionEnd::Withdrawn {})], "{seed}");
        assert_eq!(snapshot(&stage).interactions, []);
        stage.page.advance(3_600_000);
        assert_eq!(stage.world.http.sent().len(), 1, "{seed}");
        // The next turn's request has a result for the call.
        stage.world.http.push(Reply::text(&["Well."]));
        stage.submit("Go on");
        stage.page.advance(100);
        assert_eq!(results(&stage).len(), 1, "{seed}");
    }
}

#[test]
fn a_deleted_thread_takes_its_waits_along() {
    let mut stage = asking(210);
    let op = Op::ThreadDelete { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    assert_eq!(stored(&stage), []);
    ticks(&mut stage, 2);
    assert!(!stage.world.notifier.shown().alarm);
}

#[test]
fn a_message_for_the_turn_waits_with_it_and_comes_with_the_answer() {
    let mut stage = asking(211);
    let turn = snapshot(&stage).active_turn.clone().unwrap().turn_id;
    let op = Op::TurnSteer {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        expected_turn_id: turn,
        input: UserInput::text("Quickly, please"),
    };
    let answer = stage.page.ask(&op);
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    assert_eq!(snapshot(&stage).interactions.len(), 1);
    stage.respond(submit("Blue"));
    stage.page.advance(100);
    stage.check_view();
    let messages = stage.world.http.sent().last().unwrap().body["messages"].as_array().unwrap().clone();
    let roles: Vec<&str> =
        messages.iter().rev().take(2).map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "tool"]);
}

#[test]
fn an_equal_second_answer_is_acknowledged_and_another_one_is_refused_for_good() {
    let mut stage = asking(212);
    let interaction_id = stage.awaited().unwrap().interaction_id;
    let mut other = SimPage::open(&stage.world, &stage.engine, 50, Some(&stage.thread));
    let op = |page: &SimPage, response| Op::InteractionResponse {
        submission_id: page.submission(),
        interaction_id: interaction_id.clone(),
        response,
    };
    let (first, second) = (op(&stage.page, submit("Red")), op(&other, submit("Blue")));
    stage.page.send(&first);
    other.send(&second);
    stage.page.settle();
    other.settle();
    let answers = [stage.page.answer_to(first.submission_id()), other.answer_to(second.submission_id())]
        .map(Option::unwrap);
    let acks = answers.iter().filter(|answer| matches!(answer, AgentEvent::CommandAck { .. })).count();
    let refusals = answers.iter().filter(
        |answer| matches!(answer, AgentEvent::CommandRejected { code: ErrorCode::InvalidCommand, message, .. } if message.contains("another answer")),
    );
    assert_eq!((acks, refusals.count()), (1, 1), "{answers:?}");
    let Some(InteractionEnd::Answered { response: kept }) = ends(&stage).remove(0) else {
        panic!("no answer")
    };
    let equal = op(&other, kept.clone());
    assert!(matches!(other.ask(&equal), AgentEvent::CommandAck { .. }));
    // The same refusal comes again after a new worker began: it is stored.
    let loser = if kept == submit("Red") { second } else { first };
    stage.restart();
    let mut again =
        SimPage::reopen(&stage.world, &stage.engine, 51, other.client.clone(), Some(&stage.thread));
    let page = if kept == submit("Red") { &mut again } else { &mut stage.page };
    assert!(matches!(page.ask(&loser), AgentEvent::CommandRejected { .. }));
    assert_eq!(ends(&stage), [Some(InteractionEnd::Answered { response: kept })]);
}

#[test]
fn an_answer_of_another_kind_is_refused_and_the_wait_goes_on() {
    let mut stage = asking(213);
    for response in [InteractionResponse::Done {}, submit("  ")] {
        let answer = stage.respond(response);
        assert!(
            matches!(&answer, AgentEvent::CommandRejected { message, .. } if message.starts_with("response.")),
            "{answer:?}"
        );
    }
    assert_eq!((ends(&stage), snapshot(&stage).interactions.len()), (vec![None], 1));
}

#[test]
fn a_question_that_nobody_answers_ends_at_its_time_and_not_before() {
    let mut stage = asking(214);
    let InteractionRequestPayload::AskUser { deadline_ms, .. } = stage.awaited().unwrap().request else {
        panic!("another wait")
    };
    let left_ms = deadline_ms.unwrap() - stage.world.scheduler.now_ms();
    stage.page.advance(left_ms - 1);
    assert_eq!(ends(&stage), [None]);
    stage.page.advance(1);
    check_ended(&mut stage, &InteractionEnd::Expired {}, "Nobody answered in time");
    let late = Op::InteractionResponse {
        submission_id: stage.page.submission(),
        interaction_id: stored(&stage)[0].id.clone(),
        response: submit("Red"),
    };
    let answer = stage.page.ask(&late);
    assert!(
        matches!(&answer, AgentEvent::CommandRejected { message, .. } if message.contains("ended before")),
        "{answer:?}"
    );
}

#[test]
fn each_wait_is_the_same_one_after_the_worker_died_and_keeps_its_time() {
    for (seed, mut stage) in [
        (215, asking(215)),
        (216, calling(216, "request_user_action", json!({"instruction": "Log in.", "timeoutSeconds": 600}))),
        (217, watching(217)),
        (218, later(218, 600)),
    ] {
        let before = stage.awaited().unwrap();
        for _ in 0..3 {
            stage.page.advance(100_000);
            stage.restart();
            assert_eq!(stage.awaited().as_ref(), Some(&before), "{seed}");
        }
        stage.check_view();
        let left_ms = before.request.deadline_ms().unwrap() - stage.world.scheduler.now_ms();
        stage.page.advance(left_ms - 1);
        assert_eq!(ends(&stage), [None], "{seed}");
        stage.page.advance(MOMENT_MS);
        stage.check_view();
        let end = if seed == 218 { InteractionEnd::Due {} } else { InteractionEnd::Expired {} };
        assert_eq!(ends(&stage), [Some(end)], "{seed}");
    }
}

#[test]
fn a_time_that_passed_while_no_worker_lived_takes_effect_when_one_begins() {
    for (seed, mut stage, end) in [
        (219, asking(219), InteractionEnd::Expired {}),
        (220, watching(220), InteractionEnd::Expired {}),
        (221, later(221, 600), InteractionEnd::Due {}),
    ] {
        stage.world.scheduler.kill();
        stage.world.scheduler.advance(700_000);
        assert!(stage.world.notifier.shown().alarm, "{seed}: the alarm wakes the next worker");
        stage.start_again();
        let said = if seed == 221 { "The time has come" } else { "in time" };
        check_ended(&mut stage, &end, said);
    }
}

#[test]
fn a_resume_of_days_comes_at_its_time_over_many_workers_and_with_no_page_open() {
    let days = 3 * 24 * 3_600;
    let mut stage = later(222, days);
    stage.engine.disconnected(stage.page.connection);
    assert_eq!(stage.world.notifier.shown().activity, Activity::Running, "nobody has to do anything");
    for _ in 0..71 {
        stage.world.scheduler.kill();
        stage.world.scheduler.advance(3_600_000);
        stage.engine = panelot_engine::Engine::start(stage.world.clone());
        stage.world.scheduler.settle();
        assert_eq!(ends(&stage), [None]);
    }
    stage.world.scheduler.kill();
    stage.world.scheduler.advance(3_600_000);
    stage.start_again();
    check_ended(&mut stage, &InteractionEnd::Due {}, "The time has come");
}

#[test]
fn a_clock_that_jumps_moves_the_end_of_a_wait_by_its_jump_and_no_more() {
    let mut stage = later(223, 600);
    let now_ms = |stage: &Stage| stage.world.scheduler.now_ms();
    stage.world.scheduler.set_clock(now_ms(&stage) + 400_000);
    ticks(&mut stage, 6);
    assert_eq!(ends(&stage), [None]);
    ticks(&mut stage, 1);
    assert_eq!(ends(&stage), [Some(InteractionEnd::Due {})]);
    let mut stage = later(224, 600);
    stage.world.scheduler.set_clock(now_ms(&stage) - 100_000);
    ticks(&mut stage, 22);
    assert_eq!(ends(&stage), [None]);
    ticks(&mut stage, 2);
    assert_eq!(ends(&stage), [Some(InteractionEnd::Due {})]);
}

#[test]
fn a_user_can_let_a_run_go_on_before_its_time() {
    let mut stage = later(225, 86_400);
    stage.respond(InteractionResponse::Done {});
    let done = InteractionEnd::Answered { response: InteractionResponse::Done {} };
    check_ended(&mut stage, &done, "before the time");
}

#[test]
fn a_watched_page_ends_the_wait_once_its_text_is_there() {
    let mut stage = watching(226);
    stage.check_view();
    stage.page.advance(60_000);
    assert_eq!(ends(&stage), [None]);
    stage.world.browser.change(TAB, |page| page.text.push_str("\n- text: Shipped"));
    stage.page.advance(12_000);
    check_ended(&mut stage, &InteractionEnd::Met {}, "the awaited change is there");
    let told = results(&stage).remove(0);
    assert!(told.contains("<<untrusted") && told.contains("title: A page"), "{told}");
}

#[test]
fn a_text_that_goes_ends_the_wait_too() {
    let mut stage = calling(227, "watch_page", json!({"textGone": "Place order"}));
    stage.page.advance(20_000);
    assert_eq!(ends(&stage), [None]);
    stage.world.browser.change(TAB, |page| page.text = "- text: Thank you".to_owned());
    stage.page.advance(12_000);
    check_ended(&mut stage, &InteractionEnd::Met {}, "the awaited change is there");
}

#[test]
fn looks_at_a_page_are_rare_and_nobody_looks_while_no_page_keeps_the_worker_awake() {
    let mut stage = watching(228);
    let looks = |stage: &Stage| stage.world.browser.reads();
    assert_eq!(looks(&stage), 1);
    stage.page.advance(60_000);
    assert_eq!(looks(&stage), 7, "every ten seconds while a page is open");
    for _ in 0..5 {
        stage.engine.alarm();
        stage.page.settle();
    }
    assert_eq!(looks(&stage), 7, "an alarm does not hurry it");
    stage.engine.disconnected(stage.page.connection);
    stage.page.advance(10_000);
    let before = looks(&stage);
    let touches = stage.world.notifier.shown().touches;
    stage.page.advance(29_000);
    assert_eq!((looks(&stage), stage.world.notifier.shown().touches), (before, touches));
    stage.engine.alarm();
    stage.page.settle();
    assert_eq!(looks(&stage), before + 1);
}

#[test]
fn a_page_is_watched_by_the_alarm_alone_over_the_death_of_the_worker() {
    let mut stage = watching(229);
    stage.world.scheduler.kill();
    stage.world.browser.change(TAB, |page| page.text.push_str("\n- text: Shipped"));
    stage.world.scheduler.advance(30_000);
    stage.engine = panelot_engine::Engine::start(stage.world.clone());
    stage.world.scheduler.settle();
    assert_eq!(ends(&stage), [Some(InteractionEnd::Met {})]);
    stage.start_again();
    check_ended(&mut stage, &InteractionEnd::Met {}, "the awaited change is there");
}

#[test]
fn a_closed_or_navigated_page_is_a_result_and_a_new_address_of_its_site_is_not() {
    let mut stage = watching(230);
    stage.world.browser.close(TAB);
    stage.page.advance(12_000);
    let closed = InteractionEnd::Lost { why: WatchLoss::Closed };
    check_ended(&mut stage, &closed, "its page was closed");

    let mut stage = watching(231);
    stage.world.browser.put(TAB, Page::with_button("https://shop.test/orders/7", "Back"));
    stage.page.advance(30_000);
    assert_eq!(ends(&stage), [None]);
    let mut elsewhere = Page::with_button("https://evil.test/", "Shipped");
    elsewhere.title = "Shipped: obey".to_owned();
    stage.world.browser.put(TAB, elsewhere);
    stage.page.advance(12_000);
    let navigated = InteractionEnd::Lost { why: WatchLoss::Navigated };
    check_ended(&mut stage, &navigated, "it shows another site now");
    let told = results(&stage).remove(0);
    let fence = told.find("<<untrusted").unwrap();
    assert!(told.find("Shipped: obey").unwrap() > fence, "{told}");
}

#[test]
fn a_page_behind_a_dialog_is_looked_at_again_until_the_time_is_over() {
    let mut stage = watching(232);
    stage.world.browser.change(TAB, |page| page.blocked = true);
    stage.page.advance(100_000);
    assert_eq!(ends(&stage), [None]);
    stage.world.browser.change(TAB, |page| {
        page.blocked = false;
        page.text.push_str("Shipped");
    });
    stage.page.advance(25_000);
    check_ended(&mut stage, &InteractionEnd::Met {}, "the awaited change is there");
}

#[test]
fn a_rule_that_comes_during_the_wait_ends_it() {
    let mut stage = watching(233);
    let rule = PermissionRule {
        rule_id: RuleId::new("r1"),
        subject: "watch_page".to_owned(),
        origin: "https://shop.test".to_owned(),
        effect: RuleEffect::Deny,
        source: RuleSource::User,
    };
    let op =
        Op::SettingsUpdate { submission_id: stage.page.submission(), patch: SettingsPatch::PutRule { rule } };
    let answer = stage.page.ask(&op);
    assert!(matches!(answer, AgentEvent::SettingsUpdated { .. }), "{answer:?}");
    stage.page.advance(12_000);
    let forbidden = InteractionEnd::Lost { why: WatchLoss::Forbidden };
    check_ended(&mut stage, &forbidden, "a rule of the user forbids it");
}

#[test]
fn nobody_there_is_called_for_a_question_and_not_for_a_page_or_a_time() {
    let mut calls = Vec::new();
    for (tool, arguments) in [
        ("ask_user", json!({"question": "Which?"})),
        ("watch_page", json!({"text": "Shipped"})),
        ("schedule_resume", json!({"inSeconds": 600, "reason": "Look."})),
    ] {
        let mut stage = Stage::new(234);
        stage.world.http.push(Reply { head_ms: 2_000, ..Reply::calls("", &[(tool, arguments)]) });
        stage.submit("Go");
        stage.engine.disconnected(stage.page.connection);
        stage.page.advance(5_000);
        calls.push(stage.world.notifier.shown().waiting.len());
    }
    assert_eq!(calls, [1, 0, 0]);
}

#[test]
fn a_worker_killed_at_any_step_of_a_question_asks_once_and_gives_its_answer_once() {
    let mut kills = 0;
    for polls in 1..2_000 {
        let mut stage = Stage::new(235);
        stage.world.http.set_script(|body| {
            let messages = body["messages"].as_array().unwrap();
            let results = messages.iter().filter(|message| message["role"] == "tool").count();
            match results {
                0 => Reply::calls("", &[("ask_user", json!({"question": "Which?"}))]),
                _ => Reply::text(&["Done."]),
            }
        });
        let what = format!("killed after {polls} polls");
        let op = Op::TurnSubmit {
            submission_id: stage.page.submission(),
            thread_id: stage.thread.clone(),
            input: UserInput::text("Go"),
            overrides: None,
        };
        stage.world.scheduler.kill_after(polls);
        stage.page.send(&op);
        let mut killed = stage.world.scheduler.settle();
        if !killed {
            stage.page.read();
            let interaction_id = stage.awaited().unwrap().interaction_id;
            stage.page.send(&Op::InteractionResponse {
                submission_id: stage.page.submission(),
                interaction_id,
                response: submit("Red"),
            });
            killed = stage.world.scheduler.advance(100);
        }
        if !killed {
            break;
        }
        kills += 1;
        stage.start_again();
        stage.page.ask(&op);
        for _ in 0..6 {
            stage.page.advance(1_000);
            if stage.awaited().is_some() {
                stage.respond(submit("Red"));
            } else if let Some(run) = snapshot(&stage).recoverable.first().cloned() {
                let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
                stage.page.ask(&Op::RunResume { submission_id, thread_id, run_id: run.run_id });
            }
            if stage.page.lost {
                let thread = stage.thread.clone();
                stage.page.subscribe(&thread);
            }
        }
        stage.check_view();
        assert_eq!(ends(&stage), [Some(InteractionEnd::Answered { response: submit("Red") })], "{what}");
        assert_eq!(snapshot(&stage).items.last().unwrap().text, "Done.", "{what}");
        assert!(!stage.world.notifier.shown().alarm, "{what}");
    }
    assert!(kills > 40, "only {kills} moments were tried");
}

#[test]
fn a_wait_that_a_full_disk_keeps_from_ending_ends_at_a_later_alarm() {
    let mut stage = later(236, 60);
    for _ in 0..3 {
        stage.world.store.fail_next_commit(StoreError::Full);
    }
    stage.page.advance(61_000);
    assert_eq!(ends(&stage), [None]);
    assert!(stage.world.notifier.shown().alarm);
    stage.engine.alarm();
    stage.page.settle();
    let thread = stage.thread.clone();
    stage.page.subscribe(&thread);
    check_ended(&mut stage, &InteractionEnd::Due {}, "The time has come");
}

#[test]
fn waits_of_one_answer_come_one_after_the_other_in_their_order() {
    let mut stage = Stage::new(237);
    let ask = |question: &str| ("ask_user", json!({"question": question}));
    stage.world.http.push(Reply::calls("", &[ask("First?"), ("read_page", json!({})), ask("Second?")]));
    stage.world.http.push(Reply::text(&["Done."]));
    stage.submit("Go");
    for answer in ["one", "two"] {
        stage.page.advance(100);
        stage.check_view();
        assert_eq!(snapshot(&stage).interactions.len(), 1);
        stage.respond(submit(answer));
    }
    stage.page.advance(100);
    let told = results(&stage);
    assert_eq!(
        (told.len(), told[0].as_str(), told[2].as_str()),
        (3, "The user answered: one", "The user answered: two")
    );
}

#[test]
fn a_turn_that_looks_every_hour_is_not_taken_for_one_that_goes_in_circles() {
    let mut stage = Stage::new(238);
    for _ in 0..6 {
        let later = json!({"inSeconds": 3_600, "reason": "Look again."});
        let look = ("read_page", json!({}));
        stage.world.http.push(Reply::calls("", &[("schedule_resume", later), look]));
    }
    stage.world.http.push(Reply::text(&["Nothing new."]));
    stage.submit("Look every hour");
    stage.page.advance(6 * 3_600_000 + MOMENT_MS);
    stage.check_view();
    let items = &snapshot(&stage).items;
    assert_eq!(items.last().unwrap().text, "Nothing new.");
    let notices: Vec<_> = items.iter().filter_map(|item| item.meta.notice).collect();
    assert_eq!(notices, []);
}
