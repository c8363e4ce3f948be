//! An import is written whole or not at all, and disturbs nothing that runs.

use super::*;

#[test]
fn a_merge_keeps_what_is_there_and_a_replacement_does_not() {
    let mut stage = with_history(311);
    let own = stage.thread.clone();
    imported(&import(&mut stage.page, &small("a").to_string(), ImportMode::Merge));
    let ids = |world: &SimWorld| -> Vec<String> { threads(world).iter().map(|t| t.id.to_string()).collect() };
    let mut both = vec![own.to_string(), "a".to_owned()];
    both.sort();
    assert_eq!(ids(&stage.world), both);
    // The same document again replaces its thread, with a revision that whoever knew the old one notices.
    imported(&import(&mut stage.page, &small("a").to_string(), ImportMode::Merge));
    let again = threads(&stage.world).into_iter().find(|thread| thread.id.as_str() == "a").unwrap();
    assert_eq!(
        (again.revision, nodes(&stage.world).iter().filter(|n| n.thread_id == again.id).count()),
        (2, 2)
    );
    stage.page.inbox.clear();
    imported(&import(&mut stage.page, &small("b").to_string(), ImportMode::Replace));
    assert_eq!(ids(&stage.world), ["b"]);
    assert_eq!(nodes(&stage.world).len(), 2);
    for table in [Table::Runs, Table::Approvals, Table::Interactions, Table::Drafts, Table::Meta] {
        assert_eq!(stage.world.store.table(table), Vec::new(), "{}", table.name());
    }
    let told: Vec<&ThreadId> = stage
        .page
        .inbox
        .iter()
        .filter_map(|frame| {
            if let AgentEvent::ThreadDeleted { thread_id } = &frame.event { Some(thread_id) } else { None }
        })
        .collect();
    assert!(told.contains(&&own), "pages that show a thread learn that it is gone");
}

#[test]
fn a_thread_in_which_a_turn_runs_is_not_replaced() {
    let mut stage = Stage::new(312);
    stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
    stage.submit("Order it");
    stage.page.advance(1_000);
    assert!(stage.asked().is_some(), "the turn waits for the user");
    let before = everything(&stage.world);
    let said = problems(&import(&mut stage.page, &small("a").to_string(), ImportMode::Replace));
    assert_eq!(
        said,
        [format!("thread {}: a turn runs or waits in the thread \"A title\": stop it first", stage.thread)]
    );
    assert_eq!(everything(&stage.world), before);
    // A document of other threads disturbs nobody.
    imported(&import(&mut stage.page, &small("a").to_string(), ImportMode::Merge));
    stage.check_view();
}

#[test]
fn chunks_come_in_order_and_the_same_submission_again_gets_the_same_answer() {
    let (world, mut page) = fresh(314);
    let text = small("a").to_string();
    let (one, two) = text.split_at(100);
    let first = chunk_op(&page, "t1", 0, 2, one, ImportMode::Merge);
    let second = chunk_op(&page, "t1", 1, 2, two, ImportMode::Merge);
    let early = chunk_op(&page, "t0", 1, 2, two, ImportMode::Merge);
    let rejected = page.ask(&early);
    assert!(matches!(rejected, AgentEvent::CommandRejected { code: ErrorCode::InvalidCommand, .. }));
    for _ in 0..2 {
        page.inbox.clear();
        assert!(matches!(page.ask(&first), AgentEvent::CommandAck { .. }));
    }
    let gap = chunk_op(&page, "t1", 0, 3, one, ImportMode::Merge);
    assert!(matches!(page.ask(&gap), AgentEvent::CommandRejected { .. }), "another count");
    page.inbox.clear();
    let answer = page.ask(&second);
    assert_eq!(imported(&answer).0, 1);
    let after = everything(&world);
    page.inbox.clear();
    assert_eq!(page.ask(&second), answer);
    assert_eq!(everything(&world), after);
}

#[test]
fn a_worker_that_dies_between_chunks_leaves_nothing_behind_and_the_next_one_says_so() {
    let mut stage = with_history(315);
    let before = everything(&stage.world);
    let text = small("a").to_string();
    let (one, two) = text.split_at(100);
    let first = chunk_op(&stage.page, "t1", 0, 2, one, ImportMode::Replace);
    stage.page.ask(&first);
    assert_eq!(stage.world.store.table(Table::Meta).len(), 1, "the import is marked");
    stage.restart();
    let told =
        stage.page.inbox.iter().any(|frame| {
            matches!(&frame.event, AgentEvent::Error { code: ErrorCode::ImportInterrupted, .. })
        });
    assert!(told, "{:?}", stage.page.inbox);
    assert_eq!(everything(&stage.world), before);
    let second = chunk_op(&stage.page, "t1", 1, 2, two, ImportMode::Replace);
    let AgentEvent::CommandRejected { message, .. } = stage.page.ask(&second) else { panic!("not refused") };
    assert!(message.contains("begin again"), "{message}");
    assert_eq!(everything(&stage.world), before);
    stage.restart();
    assert!(
        !stage.page.inbox.iter().any(|frame| matches!(frame.event, AgentEvent::Error { .. })),
        "said once"
    );
}

#[test]
fn a_kill_at_any_moment_of_an_import_leaves_all_of_it_or_nothing() {
    let document = {
        let mut document = small("a");
        document["threads"].as_array_mut().unwrap().push(small("b")["threads"][0].clone());
        document.to_string()
    };
    let (mut nothing, mut all) = (0, 0);
    for polls in 0..60 {
        let (world, mut page) = fresh(316);
        imported(&import(&mut page, &small("old").to_string(), ImportMode::Merge));
        let before = everything(&world);
        let op = chunk_op(&page, "t1", 0, 1, &document, ImportMode::Replace);
        page.send(&op);
        world.scheduler.kill_after(polls);
        world.scheduler.settle();
        world.scheduler.kill_never();
        world.scheduler.kill();
        let engine = Engine::start(world.clone());
        let client = page.client.clone();
        let mut page = SimPage::reopen(&world, &engine, 2, client, None);
        page.settle();
        let ids: Vec<String> = threads(&world).iter().map(|thread| thread.id.to_string()).collect();
        if ids == ["old"] {
            nothing += 1;
            assert_eq!(everything(&world), before, "after {polls} polls");
        } else {
            all += 1;
            assert_eq!(ids, ["a", "b"], "after {polls} polls");
            assert_eq!(nodes(&world).len(), 4);
        }
        // The same submission ends well either way, once.
        assert_eq!(imported(&page.ask(&op)).0, 2);
        assert_eq!(threads(&world).len(), 2);
    }
    assert!(nothing > 3 && all > 3, "both sides of the commit were met: {nothing} and {all}");
}

#[test]
fn a_full_disk_refuses_the_import_and_keeps_what_was_there() {
    let mut stage = with_history(317);
    let before = everything(&stage.world);
    stage.world.store.fail_next_commit(StoreError::Full);
    let answer = import(&mut stage.page, &small("a").to_string(), ImportMode::Replace);
    assert!(matches!(answer, AgentEvent::CommandRejected { code: ErrorCode::StorageFull, .. }), "{answer:?}");
    assert_eq!(everything(&stage.world), before);
    stage.world.store.fail_next_commit(StoreError::Unknown("the connection broke".to_owned()));
    let answer = import(&mut stage.page, &small("a").to_string(), ImportMode::Replace);
    assert_eq!(imported(&answer).0, 1);
    assert_eq!(threads(&stage.world).len(), 1);
}
