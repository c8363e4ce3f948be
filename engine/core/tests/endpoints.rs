//! What endpoints do wrong, and what becomes of the turn.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_protocol::event::{AgentEvent, ErrorCode, ProviderErrorKind};
use panelot_protocol::item::ItemStatus;
use panelot_protocol::op::Op;
use panelot_protocol::settings::{ConnectionInput, Patience, SettingsPatch};
use panelot_protocol::snapshot::{RecoveryReason, WaitingReason};
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, Stage, Step, connection_of};
use serde_json::json;

const KEY: &str = "planted-key-0123456789";

fn errors(stage: &Stage) -> Vec<(ErrorCode, Option<ProviderErrorKind>, String)> {
    let errors = stage.page.inbox.iter().filter_map(|frame| {
        if let AgentEvent::Error { code, error_kind, message, .. } = &frame.event {
            Some((*code, *error_kind, message.clone()))
        } else {
            None
        }
    });
    errors.collect()
}

fn waits(stage: &Stage) -> Vec<WaitingReason> {
    let waits = stage.page.inbox.iter().filter_map(|frame| {
        if let AgentEvent::RunWaiting { waiting: Some(waiting), .. } = &frame.event {
            Some(waiting.reason)
        } else {
            None
        }
    });
    waits.collect()
}

fn last_text(stage: &Stage) -> String {
    stage.page.view.as_ref().unwrap().snapshot.items.last().unwrap().text.clone()
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::refusal(status, &json!({"error": {"message": message}}))
}

#[test]
fn a_refused_key_is_shown_without_the_key_and_the_thread_stays_usable() {
    let mut stage = Stage::new(50);
    stage.world.http.push(refusal(401, &format!("bad key {KEY} in Authorization: Bearer {KEY}")));
    stage.submit("Hi");
    stage.check_view();
    let errors = errors(&stage);
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].0, errors[0].1), (ErrorCode::ProviderError, Some(ProviderErrorKind::Auth)));
    stage.world.http.push(Reply::text(&["Now it works."]));
    stage.submit("Again");
    stage.check_view();
    assert_eq!(last_text(&stage), "Now it works.");
}

#[test]
fn the_planted_key_shows_nowhere_but_in_the_request() {
    let mut stage = Stage::new(51);
    stage.world.http.push(refusal(401, &format!("you sent {KEY}")));
    stage.submit("Hi");
    stage.world.http.push(Reply::stream(vec![Step::Bytes(
        format!("data: {{\"error\":{{\"message\":\"{KEY}\"}}}}\n\n").into_bytes(),
    )]));
    stage.submit("Again");
    stage.check_view();
    assert_eq!(stage.world.http.sent()[0].authorization.as_deref(), Some(format!("Bearer {KEY}").as_str()));
    assert!(!stage.world.clients.dump().contains(KEY), "an event shows the key");
    assert!(!stage.world.local.dump().contains(KEY), "the settings hold the key in the clear");
    for table in panelot_engine::ports::Table::ALL {
        let rows = format!("{:?}", stage.world.store.table(table));
        assert!(!rows.contains(KEY), "{table:?} holds the key");
    }
}

#[test]
fn the_second_key_is_tried_when_the_first_is_limited_and_is_used_from_then_on() {
    let mut stage = Stage::new(52);
    stage.page.configure(&["first-key-0123456789", "second-key-0123456789"]);
    stage.world.http.push(refusal(429, "slow down").with_header("retry-after", "30"));
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.world.http.push(Reply::text(&["Again."]));
    stage.submit("Hi");
    stage.submit("More");
    stage.check_view();
    let keys: Vec<String> =
        stage.world.http.sent().iter().filter_map(|sent| sent.authorization.clone()).collect();
    let bearer = |key: &str| format!("Bearer {key}-key-0123456789");
    assert_eq!(keys, [bearer("first"), bearer("second"), bearer("second")]);
}

#[test]
fn a_short_wait_is_shown_and_waited_for() {
    let mut stage = Stage::new(53);
    stage.world.http.push(refusal(429, "slow down").with_header("retry-after", "2"));
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.submit("Hi");
    assert_eq!(waits(&stage), [WaitingReason::RateLimit]);
    stage.page.advance(4_000);
    stage.check_view();
    assert_eq!(last_text(&stage), "Hello.");
}

#[test]
fn a_long_wait_is_stored_survives_the_worker_and_ends_with_an_alarm() {
    let mut stage = Stage::new(54);
    stage.world.http.push(refusal(429, "slow down").with_header("retry-after", "60"));
    stage.submit("Hi");
    stage.check_view();
    assert_eq!(waits(&stage), [WaitingReason::RateLimit]);
    assert!(stage.world.notifier.shown().alarm);
    let touches = stage.world.notifier.shown().touches;
    stage.page.advance(30_000);
    assert!(stage.world.notifier.shown().touches <= touches + 1, "nobody keeps the worker awake");
    stage.world.scheduler.kill();
    stage.world.scheduler.advance(40_000);
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.start_again();
    stage.check_view();
    assert_eq!(last_text(&stage), "Hello.");
}

#[test]
fn a_wait_of_more_than_five_minutes_is_the_users_decision() {
    let mut stage = Stage::new(55);
    stage.world.http.push(refusal(429, "slow down").with_header("retry-after", "3600"));
    stage.submit("Hi");
    stage.check_view();
    let recoverable = stage.page.view.as_ref().unwrap().snapshot.recoverable.clone();
    assert_eq!(recoverable[0].reason, RecoveryReason::Interrupted);
    assert_eq!(errors(&stage)[0].1, Some(ProviderErrorKind::RateLimit));
}

#[test]
fn a_spent_account_is_not_tried_again() {
    let mut stage = Stage::new(56);
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    stage.world.http.push(Reply::refusal(429, &body));
    stage.submit("Hi");
    stage.page.advance(60_000);
    assert_eq!(stage.world.http.sent().len(), 1);
    assert_eq!(errors(&stage)[0].1, Some(ProviderErrorKind::InsufficientQuota));
}

#[test]
fn a_cut_stream_keeps_its_text_as_partial_and_offers_to_go_on() {
    let mut stage = Stage::new(57);
    stage.world.http.push(Reply::stream(vec![text_step("Half"), Step::Break]));
    stage.submit("Hi");
    stage.check_view();
    let snapshot = stage.page.view.as_ref().unwrap().snapshot.clone();
    assert_eq!((snapshot.items[1].text.as_str(), snapshot.items[1].status), ("Half", ItemStatus::Failed));
    assert_eq!(snapshot.recoverable[0].reason, RecoveryReason::Interrupted);
    assert_eq!(snapshot.active_turn, None);
    stage.world.http.push(Reply::text(&["The rest."]));
    let op = Op::RunResume {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        run_id: snapshot.recoverable[0].run_id.clone(),
    };
    assert!(matches!(stage.page.ask(&op), AgentEvent::CommandAck { .. }));
    stage.check_view();
    assert_eq!(last_text(&stage), "The rest.");
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.recoverable, []);
}

#[test]
fn a_stream_without_its_closing_mark_runs_none_of_its_calls() {
    let mut stage = Stage::new(58);
    let Reply { mut body, .. } = Reply::calls("I click.", &[("click", json!({"ref": "e1"}))]);
    body.pop();
    stage.world.http.push(Reply::stream(body));
    stage.submit("Hi");
    stage.check_view();
    assert_eq!(stage.asked(), None);
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.recoverable.len(), 1);
}

#[test]
fn an_endpoint_that_says_nothing_is_given_up_in_time_and_the_wait_is_shown() {
    let mut stage = Stage::new(59);
    for _ in 0..4 {
        stage.world.http.push(Reply::stream(vec![Step::Hang]));
    }
    stage.submit("Hi");
    stage.page.advance(15_000);
    assert_eq!(waits(&stage), [WaitingReason::SlowProvider]);
    stage.page.advance(300_000);
    stage.check_view();
    assert_eq!(errors(&stage)[0].1, Some(ProviderErrorKind::Timeout));
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.active_turn, None);
}

#[test]
fn silence_in_the_middle_of_an_answer_ends_it_after_two_minutes() {
    let mut stage = Stage::new(60);
    stage.world.http.push(Reply::stream(vec![text_step("Half"), Step::Hang]));
    stage.submit("Hi");
    stage.page.advance(121_000);
    stage.check_view();
    assert_eq!(errors(&stage)[0].1, Some(ProviderErrorKind::Timeout));
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.items[1].text, "Half");
}

#[test]
fn a_connection_can_have_patience_of_its_own() {
    let mut stage = Stage::new(64);
    let connection = ConnectionInput {
        patience: Patience { first_byte_s: Some(600), silence_s: Some(5) },
        ..connection_of(&["key"])
    };
    let patch = SettingsPatch::PutConnection { connection };
    stage.page.ask(&Op::SettingsUpdate { submission_id: stage.page.submission(), patch });
    let slow = Reply { head_ms: 550_000, ..Reply::stream(vec![text_step("Half"), Step::Hang]) };
    stage.world.http.push(slow);
    stage.submit("Hi");
    stage.page.advance(554_000);
    assert_eq!(errors(&stage), []);
    stage.page.advance(2_000);
    let said = "the answer stopped within 5 s";
    assert!(errors(&stage)[0].2.contains(said), "{:?}", errors(&stage));
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.items[1].text, "Half");
}

#[test]
fn a_missing_permission_is_named_before_any_request() {
    let mut stage = Stage::new(61);
    stage.world.http.set_reachable(false);
    stage.submit("Hi");
    stage.check_view();
    assert_eq!(errors(&stage)[0].1, Some(ProviderErrorKind::HostPermission));
    assert_eq!(stage.world.http.sent(), []);
}

#[test]
fn a_lost_key_asks_for_the_key_again_and_a_missing_model_for_a_model() {
    let mut stage = Stage::new(62);
    stage.world.vault.lose_key();
    stage.submit("Hi");
    stage.check_view();
    assert_eq!(errors(&stage)[0].0, ErrorCode::NotConfigured);
    assert!(errors(&stage)[0].2.contains("enter it again"));
    let patch = SettingsPatch::RemoveConnection { connection_id: "c1".into() };
    let op = Op::SettingsUpdate { submission_id: stage.page.submission(), patch };
    stage.page.ask(&op);
    stage.submit("Hi");
    stage.check_view();
    assert_eq!(errors(&stage)[1].0, ErrorCode::NotConfigured);
}

#[test]
fn a_web_page_in_place_of_an_answer_is_named() {
    let mut stage = Stage::new(63);
    let html = b"<html><title>Sign in</title><body>...".to_vec();
    stage.world.http.push(Reply::stream(vec![Step::Bytes(html)]));
    stage.submit("Hi");
    stage.check_view();
    assert!(errors(&stage)[0].2.contains("Sign in"), "{:?}", errors(&stage));
}

#[test]
fn a_refused_parameter_is_left_out_and_that_is_remembered() {
    let mut stage = Stage::new(64);
    let body =
        json!({"error": {"message": "Unsupported parameter: stream_options", "param": "stream_options"}});
    stage.world.http.push(Reply::refusal(400, &body));
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.submit("Hi");
    stage.restart();
    stage.world.http.push(Reply::text(&["Again."]));
    stage.submit("More");
    stage.check_view();
    let asked: Vec<bool> =
        stage.world.http.sent().iter().map(|sent| sent.body.get("stream_options").is_some()).collect();
    assert_eq!(asked, [true, false, false]);
}

#[test]
fn use_and_cost_are_counted_once() {
    let mut stage = Stage::new(65);
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.world.http.push(Reply::text(&["Again."]));
    stage.submit("Hi");
    stage.submit("More");
    stage.check_view();
    let stats = stage.page.view.as_ref().unwrap().snapshot.thread.stats.clone();
    // Two answers and a title.
    assert_eq!((stats.turns, stats.usage.input, stats.usage.output), (2, 300, 30));
    let cost = stats.cost_usd.unwrap_or_else(|| panic!("the price is known"));
    assert!((cost - 0.000_36).abs() < 1e-9, "{cost}");
}

#[test]
fn thoughts_are_an_item_of_their_own() {
    let mut stage = Stage::new(66);
    let thought = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "Hmm."}}]});
    let mut body = vec![panelot_testkit::http::chunk_step(&thought), Step::Wait(100), text_step("Yes.")];
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Is it?");
    stage.check_view();
    stage.page.advance(500);
    stage.check_view();
    let shown: Vec<String> =
        stage.page.view.as_ref().unwrap().snapshot.items.iter().map(|item| item.text.clone()).collect();
    assert_eq!(shown, ["", "Hmm.", "Yes."]);
}
