//! Steering, queueing, stopping, branching.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail at once")]

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, RunId, TurnId};
use panelot_protocol::item::{ItemKind, ItemStatus};
use panelot_protocol::op::Op;
use panelot_protocol::turn::{StopReason, TurnKind, UserInput};
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, Stage, Step};
use serde_json::json;

/// An answer that stops in the middle for so long.
fn slow(before: &str, wait_ms: u64, after: &str) -> Reply {
    let mut body = vec![text_step(before), Step::Wait(wait_ms), text_step(after)];
    body.extend(end_steps("stop"));
    Reply::stream(body)
}

fn steer(stage: &mut Stage, turn: &str, text: &str) -> AgentEvent {
    let op = Op::TurnSteer {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        expected_turn_id: TurnId::from(turn),
        input: UserInput::text(text),
    };
    stage.page.ask(&op)
}

fn interrupt(stage: &mut Stage) -> AgentEvent {
    let op = Op::TurnInterrupt { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op)
}

fn code(event: &AgentEvent) -> Option<ErrorCode> {
    if let AgentEvent::CommandRejected { code, .. } = event { Some(*code) } else { None }
}

fn run_of(event: &AgentEvent) -> RunId {
    let AgentEvent::CommandAck { run_id: Some(run_id), .. } = event else {
        panic!("not an acknowledgement of a run: {event:?}")
    };
    run_id.clone()
}

fn texts(stage: &Stage) -> Vec<(ItemKind, String, ItemStatus)> {
    let view = stage.page.view.as_ref().unwrap();
    let shown = |item: &panelot_protocol::item::ItemView| {
        let text = item.meta.input.as_ref().map_or(item.text.clone(), |input| input.text.clone());
        (item.kind, text, item.status)
    };
    view.snapshot.items.iter().map(shown).collect()
}

/// How the user's turns ended.
fn ends(stage: &mut Stage) -> Vec<StopReason> {
    let mut own = Vec::new();
    let mut ends = Vec::new();
    for frame in &stage.page.inbox {
        if let AgentEvent::TurnStart { turn_id, turn_kind: TurnKind::User, .. } = &frame.event {
            own.push(turn_id.clone());
        } else if let AgentEvent::TurnComplete { turn_id, stop_reason, .. } = &frame.event
            && own.contains(turn_id)
        {
            ends.push(*stop_reason);
        }
    }
    ends
}

#[test]
fn a_steered_message_enters_before_the_next_model_call_and_never_between_a_call_and_its_result() {
    let mut stage = Stage::new(2);
    stage.world.browser.change(panelot_testkit::TAB, |page| page.answer_ms = 500);
    stage.world.http.push(Reply::calls("", &[("read_page", json!({}))]));
    stage.world.http.push(Reply::text(&["Done."]));
    let ack = stage.submit("Look");
    let run = run_of(&ack);
    stage.page.advance(100);
    assert!(matches!(steer(&mut stage, run.as_str(), "also this"), AgentEvent::CommandAck { .. }));
    stage.page.advance(2_000);
    stage.check_view();
    let kinds: Vec<ItemKind> = texts(&stage).into_iter().map(|(kind, ..)| kind).collect();
    let want = [ItemKind::UserMessage, ItemKind::ToolCall, ItemKind::UserMessage, ItemKind::AssistantMessage];
    assert_eq!(kinds, want);
    let sent = stage.world.http.sent();
    let roles: Vec<&str> = sent[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["role"].as_str())
        .filter(|role| *role != "system")
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
}

#[test]
fn a_final_answer_with_a_steered_message_waiting_is_followed_by_another_model_call() {
    let mut stage = Stage::new(3);
    stage.world.http.push(slow("One", 400, " two."));
    stage.world.http.push(Reply::text(&["Three."]));
    let run = run_of(&stage.submit("Count"));
    stage.page.advance(100);
    steer(&mut stage, run.as_str(), "further");
    // Every page sees it wait, also one that comes now.
    stage.check_view();
    let waiting = stage.page.view.as_ref().unwrap().snapshot.active_turn.clone().unwrap().steers;
    assert_eq!(waiting, [UserInput::text("further")]);
    stage.page.advance(1_000);
    stage.check_view();
    assert_eq!(stage.world.http.left(), 0);
    assert_eq!(texts(&stage).last().unwrap().1, "Three.");
}

#[test]
fn steering_names_the_turn_that_the_user_saw() {
    let mut stage = Stage::new(4);
    assert_eq!(code(&steer(&mut stage, "t1", "x")), Some(ErrorCode::NoActiveTurn));
    stage.world.http.push(slow("a", 400, "b"));
    stage.submit("Go");
    stage.page.advance(50);
    assert_eq!(code(&steer(&mut stage, "another", "x")), Some(ErrorCode::TurnMismatch));
}

#[test]
fn an_interrupt_ends_the_turn_keeps_the_text_and_holds_the_queue() {
    let mut stage = Stage::new(5);
    stage.world.http.push(slow("Half an ans", 60_000, "wer"));
    stage.submit("First");
    stage.page.advance(100);
    stage.submit("Second");
    interrupt(&mut stage);
    stage.check_view();
    assert_eq!(ends(&mut stage), [StopReason::Interrupted]);
    let items = texts(&stage);
    assert_eq!(items[1], (ItemKind::AssistantMessage, "Half an ans".to_owned(), ItemStatus::Failed));
    let queue = &stage.page.view.as_ref().unwrap().snapshot.queue;
    assert_eq!((queue.runs.len(), queue.held), (1, true));
    stage.page.advance(60_000);
    assert_eq!(stage.world.http.sent().len(), 1, "the queue stands still");
    stage.world.http.push(Reply::text(&["Second answer."]));
    let op = Op::QueueRelease { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    stage.page.ask(&op);
    stage.check_view();
    assert_eq!(texts(&stage).last().unwrap().1, "Second answer.");
}

#[test]
fn an_interrupt_in_a_tool_a_question_and_a_retry_wait_ends_the_turn_at_once() {
    let mut stage = Stage::new(6);
    stage.world.browser.change(panelot_testkit::TAB, |page| page.blocked = true);
    stage.world.http.push(Reply::calls("", &[("read_page", json!({}))]));
    stage.submit("Read");
    stage.page.advance(100);
    interrupt(&mut stage);
    stage.check_view();
    assert_eq!(ends(&mut stage), [StopReason::Interrupted]);

    stage.world.browser.change(panelot_testkit::TAB, |page| page.blocked = false);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.submit("Click");
    let asked = stage.asked().unwrap();
    interrupt(&mut stage);
    stage.check_view();
    let late = Op::ApprovalResponse {
        submission_id: stage.page.submission(),
        approval_id: asked,
        decision: ApprovalDecision::Accept {},
    };
    assert_eq!(code(&stage.page.ask(&late)), Some(ErrorCode::InvalidCommand));
    assert_eq!(stage.world.browser.written(), []);

    stage.world.http.push(Reply::refusal(503, &json!({"error": {"message": "busy"}})));
    stage.submit("Again");
    stage.page.advance(100);
    interrupt(&mut stage);
    stage.check_view();
    assert_eq!(ends(&mut stage), [StopReason::Interrupted; 3]);
}

#[test]
fn a_busy_thread_queues_up_to_eight_messages_in_order() {
    let mut stage = Stage::new(7);
    stage.world.http.push(slow("a", 5_000, "b"));
    stage.submit("0");
    for number in 1..=8 {
        stage.world.http.push(Reply::text(&["ok"]));
        assert!(matches!(stage.submit(&number.to_string()), AgentEvent::CommandAck { .. }));
    }
    assert_eq!(code(&stage.submit("9")), Some(ErrorCode::QueueFull));
    stage.check_view();
    stage.page.advance(10_000);
    stage.check_view();
    let said: Vec<String> = texts(&stage)
        .into_iter()
        .filter(|(kind, ..)| *kind == ItemKind::UserMessage)
        .map(|(_, text, _)| text)
        .collect();
    assert_eq!(said, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[test]
fn a_queued_message_can_be_changed_and_removed() {
    let mut stage = Stage::new(8);
    stage.world.http.push(slow("a", 5_000, "b"));
    stage.submit("0");
    let (one, two) = (run_of(&stage.submit("1")), run_of(&stage.submit("2")));
    let thread_id = stage.thread.clone();
    let update = Op::QueueUpdate {
        submission_id: stage.page.submission(),
        thread_id: thread_id.clone(),
        run_id: two,
        input: UserInput::text("2b"),
        overrides: None,
    };
    assert!(matches!(stage.page.ask(&update), AgentEvent::CommandAck { .. }));
    let remove = Op::QueueRemove { submission_id: stage.page.submission(), thread_id, run_id: one.clone() };
    assert!(matches!(stage.page.ask(&remove), AgentEvent::CommandAck { .. }));
    stage.check_view();
    let queue = &stage.page.view.as_ref().unwrap().snapshot.queue;
    let waiting: Vec<&str> = queue.runs.iter().map(|run| run.input.text.as_str()).collect();
    assert_eq!(waiting, ["2b"]);
}

#[test]
fn an_edit_makes_a_sibling_and_a_regenerated_answer_has_the_same_message() {
    let mut stage = Stage::new(9);
    stage.world.http.push(Reply::text(&["First."]));
    stage.submit("Question");
    let node = |stage: &Stage, at: usize| {
        stage.page.view.as_ref().unwrap().snapshot.items[at].meta.node_id.clone().unwrap()
    };
    let (user, answer) = (node(&stage, 0), node(&stage, 1));
    let fork = |stage: &mut Stage, node: NodeId, text: &str, reply: &str| {
        stage.world.http.push(Reply::text(&[reply]));
        let op = Op::TurnFork {
            submission_id: stage.page.submission(),
            thread_id: stage.thread.clone(),
            sibling_of_node_id: node,
            input: UserInput::text(text),
            overrides: None,
        };
        let ack = stage.page.ask(&op);
        assert!(matches!(ack, AgentEvent::CommandAck { .. }), "{ack:?}");
        let thread = stage.thread.clone();
        stage.page.subscribe(&thread);
        stage.check_view();
    };
    fork(&mut stage, answer, "Question", "Second.");
    let shown: Vec<String> = texts(&stage).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(shown, ["Question", "Second."]);
    fork(&mut stage, user.clone(), "Better question", "Third.");
    let shown: Vec<String> = texts(&stage).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(shown, ["Better question", "Third."]);
    let branch = stage.page.view.as_ref().unwrap().snapshot.items[0].meta.branch.clone().unwrap();
    assert_eq!((branch.index, branch.count), (1, 2));

    let back = Op::ThreadSelectBranch {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        node_id: user,
    };
    assert!(matches!(stage.page.ask(&back), AgentEvent::CommandAck { .. }));
    assert!(stage.page.lost, "another path is shown: the page asks for it");
    let thread = stage.thread.clone();
    stage.page.subscribe(&thread);
    let shown: Vec<String> = texts(&stage).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(shown, ["Question", "Second."], "the newest descendant is shown");
}

#[test]
fn a_declined_call_tells_the_model_and_the_turn_goes_on() {
    let mut stage = Stage::new(10);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["Then not."]));
    stage.submit("Click");
    stage.answer(ApprovalDecision::Decline { note: Some("too dear".to_owned()) });
    stage.check_view();
    assert_eq!(stage.world.browser.written(), []);
    let sent = stage.world.http.sent();
    assert!(sent[1].body.to_string().contains("too dear"));
    assert_eq!(texts(&stage).last().unwrap().1, "Then not.");
}

#[test]
fn nobody_answers_for_five_minutes_and_the_call_is_declined() {
    let mut stage = Stage::new(11);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["Later."]));
    stage.submit("Click");
    stage.page.advance(299_000);
    assert!(stage.asked().is_some());
    stage.page.advance(2_000);
    stage.check_view();
    assert_eq!(stage.asked(), None);
    assert_eq!(texts(&stage).last().unwrap().1, "Later.");
}

#[test]
fn a_page_that_changed_while_the_question_was_open_is_not_touched() {
    let mut stage = Stage::new(12);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["I look again."]));
    stage.submit("Click");
    let other = panelot_testkit::Page::with_button("https://shop.test/cart", "Delete account");
    stage.world.browser.put(panelot_testkit::TAB, other);
    stage.answer(ApprovalDecision::Accept {});
    stage.check_view();
    assert_eq!(stage.world.browser.written(), []);
    assert_eq!(texts(&stage).last().unwrap().1, "I look again.");
}

#[test]
fn an_answered_question_keeps_the_target_that_it_asked_about() {
    let mut stage = Stage::new(15);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.world.http.push(Reply::text(&["I look again."]));
    stage.submit("Click");
    let other = panelot_testkit::Page::with_button("https://other.test/cart", "Order");
    stage.world.browser.put(panelot_testkit::TAB, other);
    stage.restart();
    stage.answer(ApprovalDecision::Accept {});
    while stage.asked().is_some() {
        stage.answer(ApprovalDecision::Decline { note: None });
    }
    stage.page.advance(1_000);
    stage.check_view();
    let items = &stage.page.view.as_ref().unwrap().snapshot.items;
    let asked = items.iter().find(|item| item.kind == ItemKind::Approval).unwrap();
    assert_eq!(asked.meta.origin.as_deref(), Some("https://shop.test"));
}

#[test]
fn a_grant_of_the_session_passes_the_next_call_and_outlives_the_worker() {
    let mut stage = Stage::new(13);
    for reply in ["One.", "Two."] {
        stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
        stage.world.http.push(Reply::text(&[reply]));
    }
    stage.submit("Click");
    stage.answer(ApprovalDecision::AcceptForSession {});
    stage.restart();
    stage.submit("Click again");
    stage.check_view();
    assert_eq!(stage.world.browser.written().len(), 2);
    assert_eq!(texts(&stage).last().unwrap().1, "Two.");
}

#[test]
fn five_failures_in_a_row_lead_to_one_last_answer_without_tools() {
    let mut stage = Stage::new(14);
    for _ in 0..5 {
        stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "nope"}))]));
    }
    stage.world.http.push(Reply::text(&["I could not."]));
    stage.submit("Click");
    stage.page.advance(1_000);
    stage.check_view();
    let sent = stage.world.http.sent();
    assert_eq!(sent.len(), 6);
    assert!(sent[3].body.to_string().contains("Three tool calls in a row failed"));
    assert_eq!(sent[5].body["tool_choice"], json!("none"));
    assert_eq!(ends(&mut stage), [StopReason::End]);
}

#[test]
fn arguments_that_are_wrong_are_a_result_that_the_model_can_act_on() {
    let mut stage = Stage::new(15);
    stage.world.http.push(Reply::calls("", &[("click", json!({"reff": "e1"})), ("fly", json!({}))]));
    stage.world.http.push(Reply::text(&["Sorry."]));
    stage.submit("Click");
    stage.check_view();
    assert_eq!(texts(&stage).last().unwrap().1, "Sorry.");
}

#[test]
fn a_deleted_thread_is_gone_for_its_viewers_and_its_answer_can_come_again() {
    let mut stage = Stage::new(16);
    stage.world.http.push(slow("a", 5_000, "b"));
    stage.submit("Go");
    stage.page.advance(50);
    let op = Op::ThreadDelete { submission_id: stage.page.submission(), thread_id: stage.thread.clone() };
    let first = stage.page.ask(&op);
    assert!(matches!(first, AgentEvent::CommandAck { .. }), "{first:?}");
    assert!(stage.page.view.is_none());
    stage.page.inbox.clear();
    assert_eq!(stage.page.ask(&op), first);
    for table in panelot_engine::ports::Table::ALL {
        let left = stage.world.store.table(table).len();
        assert!(left == 0 || table == panelot_engine::ports::Table::Receipts, "{table:?}: {left}");
    }
}

#[test]
fn a_steered_message_is_kept_when_its_turn_is_stopped() {
    let mut stage = Stage::new(31);
    stage.world.http.push(slow("Half an ans", 60_000, "wer"));
    let run = run_of(&stage.submit("First"));
    stage.page.advance(100);
    run_of(&steer(&mut stage, run.as_str(), "And this"));
    interrupt(&mut stage);
    stage.check_view();
    let said: Vec<String> = texts(&stage).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(said, ["First", "Half an ans", "And this", "Stopped by the user."]);
}

#[test]
fn a_steered_message_is_kept_when_its_turn_fails() {
    let mut stage = Stage::new(32);
    let body = vec![text_step("Half an ans"), Step::Wait(1_000), Step::Break];
    stage.world.http.push(Reply::stream(body));
    let run = run_of(&stage.submit("First"));
    stage.page.advance(100);
    run_of(&steer(&mut stage, run.as_str(), "And this"));
    stage.page.advance(2_000);
    stage.check_view();
    let said: Vec<(ItemKind, String)> =
        texts(&stage).into_iter().map(|(kind, text, _)| (kind, text)).collect();
    let expected = |kind, text: &str| (kind, text.to_owned());
    assert_eq!(
        said.get(..3),
        Some(
            &[
                expected(ItemKind::UserMessage, "First"),
                expected(ItemKind::AssistantMessage, "Half an ans"),
                expected(ItemKind::UserMessage, "And this"),
            ][..]
        )
    );
}

#[test]
fn another_answer_tells_its_branch_to_pages_that_saw_it_begin() {
    let mut stage = Stage::new(33);
    stage.world.http.push(Reply::text(&["One."]));
    stage.submit("First");
    stage.page.advance(1_000);
    let answer = stage.page.view.as_ref().unwrap().snapshot.items[1].meta.node_id.clone().unwrap();
    stage.world.http.push(slow("Tw", 5_000, "o."));
    let op = Op::TurnFork {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        sibling_of_node_id: answer,
        input: UserInput::text("First"),
        overrides: None,
    };
    run_of(&stage.page.ask(&op));
    stage.page.subscribe(&stage.thread);
    stage.page.advance(10_000);
    assert!(stage.page.lost, "the page shows an answer that does not say which of two it is");
    stage.page.subscribe(&stage.thread);
    stage.check_view();
    let items = &stage.page.view.as_ref().unwrap().snapshot.items;
    let branch = items.last().unwrap().meta.branch.as_ref().map(|branch| (branch.index, branch.count));
    assert_eq!(branch, Some((1, 2)));
}
