//! What stands in an export, what does not, and what comes back of it.

use super::*;

#[test]
fn an_export_brings_the_same_threads_into_a_fresh_profile() {
    let mut stage = with_history(300);
    let (text, _) = export(&mut stage.page);
    let (world, mut page) = fresh(301);
    let (count, left_out) = imported(&import(&mut page, &text, ImportMode::Replace));
    assert_eq!(count, 1);
    assert_eq!(left_out.iter().filter(|left| left.kind == LeftOutKind::Connection).count(), 1);
    // What a document leaves out is what only the first profile could use.
    let want: Vec<StoredNode> = nodes(&stage.world)
        .into_iter()
        .map(|node| {
            let payload = panelot_engine::transfer::NodeDoc::from(&node).payload.stored();
            StoredNode { payload, ..node }
        })
        .collect();
    assert_eq!(nodes(&world), want);
    let before = threads(&stage.world).remove(0);
    let after = threads(&world).remove(0);
    let want = StoredThread { revision: 1, title_tries: 0, tabs: Vec::new(), origins: Vec::new(), ..before };
    assert_eq!(after, want);
    assert_eq!(world.store.table(Table::Chains), stage.world.store.table(Table::Chains));
    // And the page of the new profile shows what the first one shows.
    let first = stage.page.subscribe(&stage.thread.clone());
    let second = page.subscribe(&stage.thread);
    let texts = |items: &[panelot_protocol::item::ItemView]| -> Vec<(String, String)> {
        items.iter().map(|item| (item.item_id.to_string(), item.text.clone())).collect()
    };
    assert_eq!(texts(&second.items), texts(&first.items));
}

#[test]
fn an_export_holds_no_secret_no_deleted_words_and_nothing_of_one_browser_session() {
    let mut stage = with_history(302);
    let connection = ConnectionInput {
        connection_id: ConnectionId::from("c2"),
        name: "With header".to_owned(),
        base_url: "https://other.test/v1".to_owned(),
        custom_headers: Some(BTreeMap::from([("x-token".to_owned(), "planted-header-555".to_owned())])),
        models: Vec::new(),
        ..connection_of(&["planted-key-9876543210"])
    };
    let patch = SettingsPatch::PutConnection { connection };
    stage.page.ask(&Op::SettingsUpdate { submission_id: stage.page.submission(), patch });
    let (text, _) = export(&mut stage.page);
    let sealed = |secret: &str| futures::executor::block_on(stage.world.vault.seal(secret)).unwrap().0;
    let sealed = [sealed("planted-key-9876543210"), sealed("planted-header-555")];
    let stored = stage.world.local.dump();
    assert!(
        sealed.iter().all(|sealed| stored.contains(sealed)),
        "the secrets are stored: they could be found"
    );
    for absent in sealed.iter().map(String::as_str) {
        assert!(!text.contains(absent), "a sealed secret stands in the export");
    }
    for absent in ["planted-key", "planted-header", "to be deleted", "capturedTab", "tabId", "providerState"]
    {
        assert!(!text.contains(absent), "{absent} stands in the export");
    }
    for there in ["What is this?", "It is a shop. 北京 🌍", "x-token", "https://other.test/v1"] {
        assert!(text.contains(there), "{there} is missing");
    }
}

#[test]
fn two_exports_of_the_same_data_are_the_same_text() {
    let mut stage = with_history(303);
    let (first, places) = export(&mut stage.page);
    assert_eq!(places, [(0, Some(1))]);
    assert_eq!(export(&mut stage.page).0, first);
    let checked = check(&first).unwrap();
    assert_eq!(checked.threads.len(), 1);
}

#[test]
fn a_large_export_comes_in_chunks_of_which_only_the_last_knows_how_many_there_are() {
    let (world, mut page) = fresh(304);
    let mut document = small("a");
    let nodes = document["threads"][0]["nodes"].as_array_mut().unwrap();
    let long = "文\"\\🌍".repeat(2_000);
    for place in 3..400 {
        nodes.push(
            json!({"id": format!("a-n{place}"), "parentId": format!("a-n{}", place - 1), "atMs": place,
            "runId": "r1", "payload": {"type": "user_message", "input": {"text": long}}}),
        );
    }
    imported(&import(&mut page, &document.to_string(), ImportMode::Merge));
    let reads = world.store.reads();
    let (text, places) = export(&mut page);
    assert!(places.len() > 5, "{places:?}");
    let count = u32::try_from(places.len()).unwrap();
    let want: Vec<(u32, Option<u32>)> =
        (0..count).map(|place| (place, (place + 1 == count).then_some(count))).collect();
    assert_eq!(places, want);
    assert_eq!(check(&text).unwrap().threads[0].nodes.len(), 399);
    let reads = world.store.reads() - reads;
    assert!((8..=16).contains(&reads), "399 nodes are read page by page, in {reads} reads");
}

#[test]
fn a_second_export_is_refused_while_one_is_written_and_one_that_nobody_hears_ends() {
    let mut stage = with_history(305);
    let first = Op::DataExport { submission_id: stage.page.submission(), include_attachments: false };
    let second = Op::DataExport { submission_id: stage.page.submission(), include_attachments: false };
    stage.page.send(&first);
    let answer = stage.page.ask(&second);
    let refused = matches!(
        (&answer, stage.page.answer_to(first.submission_id()).unwrap()),
        (AgentEvent::CommandRejected { code: ErrorCode::Overloaded, .. }, AgentEvent::DataExported { .. })
            | (
                AgentEvent::DataExported { .. },
                AgentEvent::CommandRejected { code: ErrorCode::Overloaded, .. }
            )
    );
    assert!(refused, "{answer:?}");
    let third = Op::DataExport { submission_id: stage.page.submission(), include_attachments: false };
    stage.page.send(&third);
    stage.engine.disconnected(stage.page.connection);
    stage.world.scheduler.settle();
    assert!(!stage.world.clients.take(stage.page.connection).iter().any(|frame| {
        matches!(&frame.event, AgentEvent::DataExported { submission_id, .. } if submission_id == third.submission_id())
    }));
    let mut other = SimPage::open(&stage.world, &stage.engine, 70, None);
    assert_eq!(export(&mut other).1.len(), 1);
}

#[test]
fn a_thread_that_changes_while_it_is_read_is_exported_as_it_was() {
    let mut stage = with_history(318);
    let count = nodes(&stage.world).len();
    stage.world.http.push(Reply::text(&["More."]));
    let export_op = Op::DataExport { submission_id: stage.page.submission(), include_attachments: false };
    stage.page.inbox.clear();
    stage.page.send(&export_op);
    stage.submit("And now?");
    stage.page.advance(1_000);
    let mut text = String::new();
    for frame in &stage.page.inbox {
        if let AgentEvent::DataExported { chunk, .. } = &frame.event {
            text.push_str(chunk);
        }
    }
    let checked = check(&text).unwrap();
    let found = checked.threads[0].nodes.len();
    assert!(found >= count && checked.threads[0].leaf_id.is_some(), "{found} nodes of {count}");
}

#[test]
fn an_export_of_version_1_is_read_for_good() {
    let text = include_str!("../fixtures/export-v1.json");
    let checked = check(text).unwrap();
    let (world, mut page) = fresh(319);
    assert_eq!(imported(&import(&mut page, text, ImportMode::Replace)).0, 2);
    let (again, _) = export(&mut page);
    let threads = |text: &str| serde_json::from_str::<Value>(text).unwrap()["threads"].clone();
    let brought = check(&again).unwrap();
    assert_eq!(brought.threads, checked.threads);
    assert_eq!(threads(&again), threads(text));
    assert_eq!(world.store.table(Table::Threads).len(), 2);
    let rename = ThreadPatch { pinned: Some(true), ..ThreadPatch::default() };
    let op = Op::ThreadUpdate {
        submission_id: page.submission(),
        thread_id: checked.threads[0].thread.id.clone(),
        patch: rename,
    };
    assert!(matches!(page.ask(&op), AgentEvent::CommandAck { .. }), "the thread can be used");
}

/// Makes a row unreadable.
fn damage(world: &SimWorld, mut row: Row) {
    row.body = "{".to_owned();
    world.store.memory().commit_now(&Commit { put: vec![row], ..Commit::default() }).unwrap();
}

#[test]
fn of_a_damaged_database_what_is_left_can_be_exported_and_an_import_replaces_it() {
    let mut stage = with_history(320);
    imported(&import(&mut stage.page, &small("a").to_string(), ImportMode::Merge));
    imported(&import(&mut stage.page, &small("b").to_string(), ImportMode::Merge));
    let rows = stage.world.store.table(Table::Nodes);
    let second = rows.iter().find(|row| StoredNode::from_row(row).unwrap().id.as_str() == "a-n1").unwrap();
    damage(&stage.world, second.clone());
    let rows = stage.world.store.table(Table::Threads);
    let thread = rows.iter().find(|row| StoredThread::from_row(row).unwrap().id.as_str() == "b").unwrap();
    damage(&stage.world, thread.clone());
    let (text, _) = export(&mut stage.page);
    let checked = check(&text).unwrap();
    let left: Vec<(String, usize)> =
        checked.threads.iter().map(|parts| (parts.thread.id.to_string(), parts.nodes.len())).collect();
    let own = (stage.thread.to_string(), left.iter().map(|(_, count)| *count).max().unwrap());
    let mut want = vec![own, ("a".to_owned(), 0)];
    want.sort();
    assert_eq!(left, want, "a node hangs on the damaged one, and thread b is gone");
    assert!(text.ends_with("],\"skipped\":3}\n"), "what is left out is counted");
    assert_eq!(imported(&import(&mut stage.page, &text, ImportMode::Replace)).0, 2);
    assert_eq!(threads(&stage.world).len(), 2, "every thread can be read again");
    nodes(&stage.world);
}
