//! What pages see of the engine: the handshake, receipts, back-pressure, streams.

use panelot_engine::ports::{Clients, ConnectionKey, StoreError};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{FolderId, PresetId};
use panelot_protocol::item::{ItemKind, ItemView};
use panelot_protocol::op::{Op, ThreadPatch};
use panelot_protocol::turn::UserInput;
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use panelot_testkit::http::{end_steps, text_step};
use panelot_testkit::{Reply, SimPage, Stage, Step};
use serde_json::json;

fn rejected(event: &AgentEvent) -> Option<(ErrorCode, &str)> {
    if let AgentEvent::CommandRejected { code, message, .. } = event { Some((*code, message)) } else { None }
}

#[test]
fn a_page_of_another_build_is_told_to_reload_under_its_own_protocol_and_disconnected() {
    let stage = Stage::new(30);
    for (protocol, hash) in [("panelot/engine-v0", ENGINE_SCHEMA_HASH), (ENGINE_PROTOCOL, "abc")] {
        let connection = ConnectionKey(50);
        stage.engine.connect(connection);
        // Whatever else stands in the message of another build, the greeting can be read.
        let hello = json!({"type": "initialize", "submissionId": "s1", "protocol": protocol,
            "schemaHash": hash, "clientId": "00000000-0000-4000-8000-000000000001", "more": [1]});
        stage.engine.message(connection, &hello.to_string());
        let events = stage.world.clients.take(connection);
        let AgentEvent::FatalReloadRequired { protocol: echoed, submission_id, .. } = &events[0].event else {
            panic!("{events:?}")
        };
        assert_eq!((echoed.as_str(), submission_id.as_str()), (protocol, "s1"));
        assert!(stage.world.clients.ended(connection));
        stage.engine.message(connection, "{}");
        assert_eq!(stage.world.clients.take(connection), []);
    }
}

#[test]
fn nothing_is_done_before_the_greeting_and_nothing_that_cannot_be_read() {
    let mut stage = Stage::new(31);
    let connection = ConnectionKey(51);
    stage.engine.connect(connection);
    let op = Op::Ping { submission_id: stage.page.submission() };
    stage.engine.message(connection, &serde_json::to_string(&op).unwrap());
    let events = stage.world.clients.take(connection);
    assert_eq!(rejected(&events[0].event).unwrap().0, ErrorCode::InvalidCommand);

    let bad = json!({"type": "turn.submit", "submissionId": stage.page.submission().as_str(),
        "threadId": stage.thread.as_str(), "input": {"text": 5}});
    stage.engine.message(stage.page.connection, &bad.to_string());
    stage.engine.message(stage.page.connection, "not JSON");
    stage.page.settle();
    let events: Vec<&AgentEvent> = stage.page.inbox.iter().map(|frame| &frame.event).collect();
    assert!(rejected(events[0]).unwrap().1.contains("input.text"), "{events:?}");
    assert!(matches!(events[1], AgentEvent::Error { code: ErrorCode::InvalidCommand, .. }), "{events:?}");
}

#[test]
fn the_same_submission_again_gets_the_same_answer_byte_for_byte_and_does_nothing() {
    let mut stage = Stage::new(32);
    stage.world.http.push(Reply::text(&["Hello."]));
    let op = Op::TurnSubmit {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        input: UserInput::text("Hi"),
        overrides: None,
    };
    stage.page.send(&op);
    stage.world.scheduler.settle();
    let first = stage.world.clients.take_texts(stage.page.connection);
    stage.restart();
    stage.world.clients.take_texts(stage.page.connection);
    stage.page.send(&op);
    stage.world.scheduler.settle();
    let again = stage.world.clients.take_texts(stage.page.connection);
    assert_eq!(again, [first[0].clone()]);
    assert_eq!(stage.world.http.sent().len(), 1);
}

#[test]
fn another_payload_under_a_used_submission_is_a_conflict_and_the_first_answer_stays() {
    let mut stage = Stage::new(33);
    let submission_id = stage.page.submission();
    let rename = |title: &str| Op::ThreadUpdate {
        submission_id: submission_id.clone(),
        thread_id: stage.thread.clone(),
        patch: ThreadPatch { title: Some(title.to_owned()), ..ThreadPatch::default() },
    };
    let (one, two) = (rename("One"), rename("Two"));
    let first = stage.page.ask(&one);
    stage.page.inbox.clear();
    assert_eq!(rejected(&stage.page.ask(&two)).unwrap().0, ErrorCode::InvalidCommand);
    stage.page.inbox.clear();
    assert_eq!(stage.page.ask(&one), first);
    assert_eq!(stage.page.view.as_ref().unwrap().snapshot.thread.title, "One");
}

#[test]
fn a_commit_of_which_nobody_knows_is_looked_up_and_answered_once() {
    let mut stage = Stage::new(34);
    stage.world.http.push(Reply::text(&["Hello."]));
    stage.world.store.fail_next_commit(StoreError::Unknown("the connection closed".to_owned()));
    let answer = stage.submit("Hi");
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    stage.page.advance(1_000);
    let thread = stage.thread.clone();
    let snapshot = stage.page.subscribe(&thread);
    assert_eq!(snapshot.items.last().unwrap().text, "Hello.");
}

#[test]
fn a_full_disk_refuses_the_message_and_loses_nothing() {
    let mut stage = Stage::new(35);
    stage.world.store.fail_next_commit(StoreError::Full);
    let answer = stage.submit("Hi");
    assert_eq!(rejected(&answer).unwrap().0, ErrorCode::StorageFull);
    stage.world.http.push(Reply::text(&["Hello."]));
    assert!(matches!(stage.submit("Hi"), AgentEvent::CommandAck { .. }));
    let thread = stage.thread.clone();
    assert_eq!(stage.page.subscribe(&thread).items.last().unwrap().text, "Hello.");
}

#[test]
fn the_33rd_op_is_refused_at_once_and_an_interrupt_waits_behind_none() {
    let mut stage = Stage::new(36);
    let ops: Vec<Op> = (0..33)
        .map(|_| Op::ThreadItems {
            submission_id: stage.page.submission(),
            thread_id: stage.thread.clone(),
            before_node_id: None,
            limit: 10,
        })
        .collect();
    for op in &ops {
        stage.page.send(op);
    }
    stage.page.read();
    let early: Vec<&AgentEvent> = stage.page.inbox.iter().map(|frame| &frame.event).collect();
    assert_eq!(early.len(), 1, "only the refusal comes at once");
    assert_eq!(rejected(early[0]).unwrap().0, ErrorCode::Overloaded);
    stage.page.settle();
    for op in &ops {
        assert!(stage.page.answer_to(op.submission_id()).is_some());
    }
}

#[test]
fn twenty_thousand_pieces_come_in_order_in_a_bounded_number_of_posts() {
    let mut stage = Stage::new(37);
    let mut body = Vec::new();
    for number in 0..20_000_u32 {
        body.push(text_step(&format!("{number} ")));
        if number % 100 == 0 {
            body.push(Step::Wait(1));
        }
    }
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Count");
    stage.page.advance(1_000);
    let posts = stage.page.take_types().iter().filter(|name| **name == "item.delta").count();
    assert!(posts < 60, "{posts} posts in 200 ms");
    stage.check_view();
    let text = &stage.page.view.as_ref().unwrap().snapshot.items.last().unwrap().text;
    let want: String = (0..20_000_u32).map(|number| format!("{number} ")).collect();
    assert_eq!(text, &want);
}

/// Streams an answer of so many megabytes.
fn pour(stage: &mut Stage, megabytes: usize) {
    let piece = "x".repeat(64 * 1024);
    let mut body: Vec<Step> = Vec::new();
    for _ in 0..megabytes * 16 {
        body.extend([text_step(&piece), Step::Wait(1)]);
    }
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Pour");
    stage.world.scheduler.advance(2_000);
}

#[test]
fn a_page_that_is_frozen_is_given_up_and_one_that_lives_is_not() {
    let mut stage = Stage::new(41);
    let frozen = SimPage::open(&stage.world, &stage.engine, 2, Some(&stage.thread));
    let elsewhere = SimPage::open(&stage.world, &stage.engine, 3, None);
    stage.world.scheduler.advance(61_000);
    pour(&mut stage, 5);
    pour(&mut stage, 4);
    let ended = [&stage.page, &frozen, &elsewhere].map(|page| stage.world.clients.ended(page.connection));
    assert_eq!(ended, [false, true, false], "the page that asked, the frozen one, one that was sent little");
    stage.check_view();
}

#[test]
fn a_thread_of_very_long_answers_opens_with_the_last_of_them_and_shows_the_others_page_by_page() {
    let mut stage = Stage::new(42);
    (0..4).for_each(|_| pour(&mut stage, 5));
    let snapshot = stage.page.subscribe(&stage.thread.clone());
    let sizes = |items: &[ItemView]| -> Vec<usize> { items.iter().map(|item| item.text.len()).collect() };
    let (long, said) = (5 * 1024 * 1024, 0);
    assert_eq!(sizes(&snapshot.items), [said, long, said, long]);
    let op = Op::ThreadItems {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        before_node_id: snapshot.older_than,
        limit: 50,
    };
    let AgentEvent::ThreadItemsPage { items, older_than, .. } = stage.page.ask(&op) else {
        panic!("no page")
    };
    assert_eq!((sizes(&items), older_than), (vec![said, long, said, long], None));
}

#[test]
fn an_answer_without_an_end_is_cut_behind_the_piece_that_makes_it_too_long() {
    let mut stage = Stage::new(43);
    pour(&mut stage, 9);
    let snapshot = stage.page.subscribe(&stage.thread.clone());
    let answer = snapshot.items.iter().find(|item| item.kind == ItemKind::AssistantMessage).unwrap();
    assert_eq!(
        (answer.text.len(), answer.details.as_ref().map(|details| details.partial)),
        (6 * 1024 * 1024 + 64 * 1024, Some(true))
    );
}

#[test]
fn a_page_that_misses_an_event_notices_and_is_right_again_after_a_snapshot() {
    let mut stage = Stage::new(38);
    stage.world.http.push(Reply::text(&["One."]));
    stage.submit("Hi");
    stage.check_view();
    stage.world.http.push(Reply::text(&["Two."]));
    let op = Op::TurnSubmit {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        input: UserInput::text("Again"),
        overrides: None,
    };
    stage.page.send(&op);
    stage.world.scheduler.settle();
    let mut texts = stage.world.clients.take_texts(stage.page.connection);
    texts.remove(texts.len() / 2);
    for text in texts {
        stage.world.clients.post(stage.page.connection, &text);
    }
    stage.page.read();
    assert!(stage.page.lost);
    let thread = stage.thread.clone();
    stage.page.subscribe(&thread);
    stage.check_view();
}

#[test]
fn a_thread_opens_in_a_second_page_in_the_middle_of_its_first_answer() {
    let mut stage = Stage::new(39);
    let mut body = vec![text_step("Half"), Step::Wait(1_000), text_step(" and half.")];
    body.extend(end_steps("stop"));
    stage.world.http.push(Reply::stream(body));
    stage.submit("Tell");
    stage.page.advance(100);
    let mut other = SimPage::open(&stage.world, &stage.engine, 60, Some(&stage.thread));
    let texts = |page: &SimPage| -> Vec<String> {
        page.view.as_ref().unwrap().snapshot.items.iter().map(|item| item.text.clone()).collect()
    };
    assert_eq!(texts(&other), ["", "Half"]);
    other.advance(2_000);
    stage.page.read();
    assert_eq!(other.view.as_ref().unwrap().snapshot, stage.page.view.as_ref().unwrap().snapshot);
    assert_eq!(texts(&other), ["", "Half and half."]);
}

#[test]
fn threads_are_listed_searched_and_paged() {
    let mut stage = Stage::new(40);
    for number in 0..60 {
        let thread_id = stage.page.create_thread();
        let patch = ThreadPatch { title: Some(format!("Thread {number}")), ..ThreadPatch::default() };
        let op = Op::ThreadUpdate { submission_id: stage.page.submission(), thread_id, patch };
        stage.page.ask(&op);
    }
    let mut list = |cursor: Option<String>, query: Option<&str>| {
        let op = Op::ThreadList {
            submission_id: stage.page.submission(),
            cursor,
            query: query.map(str::to_owned),
            archived: None,
        };
        let answer = stage.page.ask(&op);
        let AgentEvent::ThreadListed { threads, cursor, .. } = answer else { panic!("{answer:?}") };
        (threads.len(), cursor)
    };
    let (first, cursor) = list(None, None);
    let (rest, end) = list(cursor, None);
    assert_eq!((first, rest, end), (50, 11, None));
    assert_eq!(list(None, Some("THREAD 7")).0, 1);
}

#[test]
fn receipts_are_forgotten_after_seven_days_and_not_before() {
    let mut stage = Stage::new(42);
    let receipts = |stage: &Stage| stage.world.store.table(panelot_engine::ports::Table::Receipts).len();
    let before = receipts(&stage);
    assert!(before > 0);
    stage.world.scheduler.kill();
    stage.world.scheduler.advance(6 * 24 * 3_600_000);
    stage.start_again();
    assert_eq!(receipts(&stage), before);
    stage.world.scheduler.kill();
    stage.world.scheduler.advance(25 * 3_600_000);
    stage.start_again();
    stage.page.settle();
    assert_eq!(receipts(&stage), 0);
}

/// The items of the thread, read from its end to its begin in pages of so many.
#[expect(clippy::panic, reason = "a helper of tests fails at once")]
fn read_in_pages(stage: &mut Stage, limit: u32) -> Vec<ItemView> {
    let (mut items, mut before_node_id) = (Vec::new(), None);
    loop {
        let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
        let answer = stage.page.ask(&Op::ThreadItems { submission_id, thread_id, before_node_id, limit });
        let AgentEvent::ThreadItemsPage { items: page, older_than, .. } = answer else {
            panic!("{answer:?}")
        };
        items.splice(0..0, page);
        before_node_id = older_than;
        if before_node_id.is_none() {
            return items;
        }
    }
}

#[test]
fn a_thread_in_pages_of_any_size_is_the_thread_of_its_snapshot() {
    let mut stage = Stage::new(47);
    for answer in [
        Reply::calls("Twice.", &[("click", json!({"ref": "e1"})), ("click", json!({"ref": "e1"}))]),
        Reply::calls("", &[("read_page", json!({}))]),
        Reply::text(&["Done."]),
    ] {
        stage.world.http.push(answer);
    }
    stage.submit("Order it twice");
    for _ in 0..2 {
        stage.answer(ApprovalDecision::Accept {});
    }
    stage.world.http.push(Reply::text(&["Another."]));
    let view = stage.page.view.as_ref().unwrap();
    let answer = view.snapshot.items.iter().rev().find(|item| item.kind == ItemKind::AssistantMessage);
    let op = Op::TurnFork {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        sibling_of_node_id: answer.unwrap().meta.node_id.clone().unwrap(),
        input: UserInput::text("Order it twice"),
        overrides: None,
    };
    stage.page.ask(&op);
    let thread = stage.thread.clone();
    let whole = stage.page.subscribe(&thread).items;
    assert_eq!(whole.len(), 8, "{whole:?}");
    for limit in 1..=9 {
        assert_eq!(read_in_pages(&mut stage, limit), whole, "in pages of {limit}");
    }
}

#[test]
fn a_preset_and_a_folder_are_set_and_cleared_and_an_absent_field_leaves_them() {
    let mut stage = Stage::new(48);
    let (preset, folder) = (PresetId::from("p1"), FolderId::from("f1"));
    let set = ThreadPatch {
        preset: Some(Some(preset.clone())),
        folder_id: Some(Some(folder.clone())),
        ..ThreadPatch::default()
    };
    let rename = ThreadPatch { title: Some("Other".to_owned()), ..ThreadPatch::default() };
    let clear = ThreadPatch { preset: Some(None), folder_id: Some(None), ..ThreadPatch::default() };
    let mut seen = Vec::new();
    for patch in [set, rename, clear] {
        let op = Op::ThreadUpdate {
            submission_id: stage.page.submission(),
            thread_id: stage.thread.clone(),
            patch,
        };
        let answer = stage.page.ask(&op);
        assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
        let thread = &stage.page.view.as_ref().unwrap().snapshot.thread;
        seen.push((thread.preset.clone(), thread.folder_id.clone()));
    }
    let both = (Some(preset), Some(folder));
    assert_eq!(seen, [both.clone(), both, (None, None)]);
    stage.check_view();
}

#[test]
fn a_database_that_takes_nothing_refuses_the_same_submission_the_same_way_again() {
    let mut stage = Stage::new(49);
    for _ in 0..8 {
        stage.world.store.fail_next_commit(StoreError::Full);
    }
    let patch = ThreadPatch { title: Some("Lost".to_owned()), ..ThreadPatch::default() };
    let op =
        Op::ThreadUpdate { submission_id: stage.page.submission(), thread_id: stage.thread.clone(), patch };
    let first = stage.page.ask(&op);
    assert_eq!(rejected(&first).unwrap().0, ErrorCode::StorageFull);
    stage.world.store.forget_faults();
    stage.page.inbox.clear();
    assert_eq!(stage.page.ask(&op), first, "the same submission gets the answer that was given");
    stage.check_view();
    assert_ne!(stage.page.view.as_ref().unwrap().snapshot.thread.title, "Lost");
}

#[test]
fn each_failure_of_the_database_is_told_by_a_code_of_its_own() {
    let cases = [
        (StoreError::Full, ErrorCode::StorageFull, true),
        (StoreError::Blocked, ErrorCode::StorageBlocked, true),
        (StoreError::Aborted("x".to_owned()), ErrorCode::StorageFailed, true),
        (StoreError::Newer, ErrorCode::StorageNewer, false),
        (StoreError::Corrupt("x".to_owned()), ErrorCode::StorageDamaged, false),
    ];
    for (place, (fault, code, retryable)) in cases.into_iter().enumerate() {
        let mut stage = Stage::new(140 + u64::try_from(place).unwrap());
        stage.world.store.fail_next_commit(fault.clone());
        let create =
            Op::ThreadCreate { submission_id: stage.page.submission(), preset: None, folder_id: None };
        let answer = stage.page.ask(&create);
        let AgentEvent::CommandRejected { code: told, retryable: again, .. } = answer else {
            panic!("{fault:?}: {answer:?}")
        };
        assert_eq!((told, again), (code, retryable), "a commit fails with {fault:?}");
        stage.world.store.fail_next_read(fault.clone());
        let answer = stage.page.ask(&Op::ThreadList {
            submission_id: stage.page.submission(),
            cursor: None,
            query: None,
            archived: None,
        });
        assert_eq!(rejected(&answer).unwrap().0, code, "a read fails with {fault:?}");
    }
}
