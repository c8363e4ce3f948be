//! Data out and in: an export is a document that brings the same threads back, and an import is checked whole, written
//! whole, and never lets anything be done that could not be done before.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail at once"
)]

use panelot_engine::Engine;
use panelot_engine::ports::{Commit, KeyValueArea, Row, StoreError, Table, Vault};
use panelot_engine::store::records::{NodePayload, Record, StoredNode, StoredThread};
use panelot_engine::transfer::{FORMAT, VERSION, check};
use panelot_protocol::event::{AgentEvent, ErrorCode, LeftOut, LeftOutKind};
use panelot_protocol::ids::{ConnectionId, PresetId, RuleId, ThreadId, TransferId};
use panelot_protocol::limits;
use panelot_protocol::op::{ImportMode, Op, ThreadPatch};
use panelot_protocol::settings::{
    ConnectionInput, ModelPreset, PermissionRule, ProviderKind, QuirkFlags, RuleEffect, RuleSource,
    SettingsPatch,
};
use panelot_protocol::turn::{AttachedContext, CapturedTab, ContextKind, ModelRef, UserInput};
use panelot_testkit::{Reply, SimPage, SimWorld, Stage, TAB};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The document and the places of its chunks.
fn export(page: &mut SimPage) -> (String, Vec<(u32, Option<u32>)>) {
    let op = Op::DataExport { submission_id: page.submission(), include_attachments: true };
    page.inbox.clear();
    page.ask(&op);
    let (mut text, mut places) = (String::new(), Vec::new());
    for frame in &page.inbox {
        let AgentEvent::DataExported { index, total, chunk, .. } = &frame.event else {
            panic!("{:?}", frame.event)
        };
        assert!(u64::try_from(chunk.chars().count()).unwrap() <= limits::TRANSFER_CHUNK_CHARS_MAX);
        text.push_str(chunk);
        places.push((*index, *total));
    }
    (text, places)
}

fn chunk_op(page: &SimPage, id: &str, index: u32, total: u32, chunk: &str, mode: ImportMode) -> Op {
    Op::DataImport {
        submission_id: page.submission(),
        transfer_id: TransferId::from(id),
        index,
        total,
        chunk: chunk.to_owned(),
        mode,
    }
}

/// Characters of a chunk.
const CHUNK_CHARS: usize = 300_000;

/// Imports a document, in as many chunks as it takes.
fn import(page: &mut SimPage, text: &str, mode: ImportMode) -> AgentEvent {
    let chars: Vec<char> = text.chars().collect();
    let chunks: Vec<String> = match chars.len() {
        0 => vec![String::new()],
        _ => chars.chunks(CHUNK_CHARS).map(|chunk| chunk.iter().collect()).collect(),
    };
    let total = u32::try_from(chunks.len()).unwrap();
    let mut answer = None;
    for (index, chunk) in (0..).zip(&chunks) {
        let op = chunk_op(page, "t1", index, total, chunk, mode);
        answer = Some(page.ask(&op));
    }
    answer.unwrap()
}

fn problems(answer: &AgentEvent) -> Vec<String> {
    let AgentEvent::DataImported { threads, problems, .. } = answer else { panic!("{answer:?}") };
    assert!(problems.is_empty() || *threads == 0);
    problems.clone()
}

fn imported(answer: &AgentEvent) -> (u64, Vec<LeftOut>) {
    let AgentEvent::DataImported { threads, problems, left_out, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(problems, &Vec::<String>::new());
    (*threads, left_out.clone())
}

/// A stage after a turn with a call, a branch beside it, and a deleted message.
fn with_history(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    stage.world.http.push(Reply::calls("I look.", &[("read_page", json!({}))]));
    stage.world.http.push(Reply::text(&["It is a shop. 北京 🌍"]));
    stage.submit("What is this?");
    stage.page.advance(1_000);
    let nodes = nodes(&stage.world);
    let of = |wanted: fn(&NodePayload) -> bool| {
        nodes.iter().find(|node| wanted(&node.payload)).unwrap().id.clone()
    };
    let user = of(|payload| matches!(payload, NodePayload::UserMessage { .. }));
    stage.world.http.push(Reply::text(&["Another answer, to be deleted."]));
    let op = Op::TurnFork {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        sibling_of_node_id: user,
        input: UserInput::text("What else?"),
        overrides: None,
    };
    stage.page.ask(&op);
    stage.page.advance(1_000);
    stage.page.subscribe(&stage.thread.clone());
    let last = stage.page.view.as_ref().unwrap().snapshot.items.last().unwrap().item_id.clone();
    let op = Op::NodeDelete {
        submission_id: stage.page.submission(),
        thread_id: stage.thread.clone(),
        node_id: (&last).into(),
    };
    assert!(matches!(stage.page.ask(&op), AgentEvent::CommandAck { .. }));
    stage
}

/// A world with a page and nothing in it.
fn fresh(seed: u64) -> (SimWorld, SimPage) {
    let world = SimWorld::new(seed);
    let engine = Engine::start(world.clone());
    let page = SimPage::open(&world, &engine, 1, None);
    (world, page)
}

fn nodes(world: &SimWorld) -> Vec<StoredNode> {
    let mut nodes: Vec<StoredNode> =
        world.store.table(Table::Nodes).iter().map(|row| StoredNode::from_row(row).unwrap()).collect();
    nodes.sort_by_key(|node| (node.thread_id.clone(), node.seq));
    nodes
}

fn threads(world: &SimWorld) -> Vec<StoredThread> {
    world.store.table(Table::Threads).iter().map(|row| StoredThread::from_row(row).unwrap()).collect()
}

/// Everything but receipts, to see whether anything was written.
fn everything(world: &SimWorld) -> BTreeMap<&'static str, Vec<Row>> {
    let tables = Table::ALL.into_iter().filter(|table| *table != Table::Receipts);
    tables.map(|table| (table.name(), world.store.table(table))).collect()
}

/// A document of one thread with two nodes.
fn small(thread_id: &str) -> Value {
    json!({
        "format": FORMAT, "version": VERSION, "exportedAtMs": 5,
        "threads": [{
            "thread": {"id": thread_id, "title": "One", "createdAtMs": 1, "updatedAtMs": 2,
                "stats": {"turns": 1, "usage": {"input": 1, "output": 1}}},
            "nodes": [
                {"id": format!("{thread_id}-n1"), "atMs": 1, "runId": "r1",
                 "payload": {"type": "user_message", "input": {"text": "Hello"}}},
                {"id": format!("{thread_id}-n2"), "parentId": format!("{thread_id}-n1"), "atMs": 2, "runId": "r1",
                 "payload": {"type": "assistant_message", "text": "Hi", "callCount": 0,
                    "model": {"connectionId": "c1", "modelId": "m1"}, "usage": {"input": 1, "output": 1}}},
            ],
            "leafId": format!("{thread_id}-n2"),
        }],
    })
}

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
        kind: ProviderKind::Openai,
        base_url: "https://other.test/v1".to_owned(),
        api_keys: Some(vec!["planted-key-9876543210".to_owned()]),
        custom_headers: Some(BTreeMap::from([("x-token".to_owned(), "planted-header-555".to_owned())])),
        prefix_id: None,
        models: Vec::new(),
        enabled: true,
        quirks: QuirkFlags::default(),
        patience: Default::default(),
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

/// Hostile changes of a small document, and the problems that they lead to.
fn hostile() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    let changed = |path: &str, value: Value| {
        let mut document = small("a");
        *document.pointer_mut(path).unwrap() = value;
        document
    };
    let with = |pointer: &str, key: &str, value: Value| {
        let mut document = small("a");
        document.pointer_mut(pointer).unwrap()[key] = value;
        document
    };
    let no_parent = "threads[0].nodes[1].parentId: no node before this one in this thread has this id";
    let mut two = small("a");
    let mut other = small("b")["threads"][0].clone();
    other["nodes"][1]["parentId"] = json!("a-n1");
    two["threads"].as_array_mut().unwrap().push(other);
    let mut twice = small("a");
    let copy = twice["threads"][0].clone();
    twice["threads"].as_array_mut().unwrap().push(copy);
    vec![
        ("an array", json!([]), vec!["document: not an object"]),
        (
            "another format",
            changed("/format", json!("zip")),
            vec!["format: must be \"panelot-export\": this is no export of Panelot"],
        ),
        (
            "a newer version",
            changed("/version", json!(2)),
            vec!["version: 2 is newer than 1: update the extension"],
        ),
        ("a wrong version", changed("/version", json!("1")), vec!["version: must be 1"]),
        (
            "__proto__ at the top",
            with("", "__proto__", json!({"polluted": true})),
            vec!["__proto__: unknown field"],
        ),
        (
            "__proto__ in a node",
            with("/threads/0/nodes/0", "__proto__", json!({})),
            vec!["threads[0].nodes[0].__proto__: unknown field"],
        ),
        (
            "runs that claim to be running",
            with("/threads/0", "runs", json!([{"state": "executing_tool"}])),
            vec!["threads[0].runs: unknown field"],
        ),
        (
            "a state of the endpoint",
            with("/threads/0/nodes/1/payload", "providerState", json!({})),
            vec!["threads[0].nodes[1].payload.providerState: unknown field"],
        ),
        (
            "a ceiling of cost",
            with("/threads/0/thread", "costCeilingUsd", json!(0)),
            vec!["threads[0].thread.costCeilingUsd: unknown field"],
        ),
        (
            "a circle",
            changed(
                "/threads/0/nodes/0",
                json!({"id": "a-n1", "parentId": "a-n2", "atMs": 1,
            "runId": "r1", "payload": {"type": "user_message", "input": {"text": "x"}}}),
            ),
            vec!["threads[0].nodes[0].parentId: no node before this one in this thread has this id"],
        ),
        ("its own parent", changed("/threads/0/nodes/1/parentId", json!("a-n2")), vec![no_parent]),
        ("no such parent", changed("/threads/0/nodes/1/parentId", json!("nobody")), vec![no_parent]),
        (
            "a parent in another thread",
            two,
            vec!["threads[1].nodes[1].parentId: no node before this one in this thread has this id"],
        ),
        (
            "an id twice",
            changed("/threads/0/nodes/1/id", json!("a-n1")),
            vec![
                "threads[0].nodes[1].id: another node of this document has this id",
                "threads[0].leafId: no node of this thread has this id",
            ],
        ),
        (
            "a thread twice",
            twice,
            vec![
                "threads[1].thread.id: another thread of this document has this id",
                "threads[1].nodes[0].id: another node of this document has this id",
                "threads[1].nodes[1].id: another node of this document has this id",
            ],
        ),
        (
            "a leaf of nobody",
            changed("/threads/0/leafId", json!("nobody")),
            vec!["threads[0].leafId: no node of this thread has this id"],
        ),
        (
            "wrong types",
            changed("/threads/0/nodes/0/payload/input/text", json!(["x"])),
            vec!["threads[0].nodes[0].payload.input.text: not a string"],
        ),
        ("threads that are none", changed("/threads", json!({"0": 1})), vec!["threads: not an array"]),
        ("a thread that is none", changed("/threads/0", json!("x")), vec!["threads[0]: not an object"]),
        (
            "an id with a path in it",
            changed("/threads/0/thread/id", json!("../x")),
            vec!["threads[0].thread.id: not an id (1 to 64 of A-Z a-z 0-9 _ -)"],
        ),
        (
            "a negative cost",
            with("/threads/0/thread/stats", "costUsd", json!(-5)),
            vec!["threads[0].thread.stats.costUsd: less than 0"],
        ),
        (
            "a result without a call",
            changed(
                "/threads/0/nodes/1/payload",
                json!({"type": "tool_result",
            "callNodeId": "a-n9", "callId": "c", "toolName": "click", "ok": true, "text": "", "summary": ""}),
            ),
            vec![
                "threads[0].nodes[1].payload.callNodeId: no node before this one in this thread has this id",
            ],
        ),
        (
            "a kind of node that there is not",
            changed("/threads/0/nodes/1/payload", json!({"type": "grant"})),
            vec!["threads[0].nodes[1].payload.type: unknown type"],
        ),
        (
            "an attachment that lies about its size",
            with(
                "/threads/0",
                "attachments",
                json!([{"id": "x",
            "mime": "image/png", "size": 9, "createdAtMs": 1, "pieces": ["QUJD"]}]),
            ),
            vec!["threads[0].attachments[0].size: the pieces hold 3 bytes"],
        ),
    ]
}

#[test]
fn a_hostile_document_is_refused_with_every_problem_at_its_path_and_nothing_is_written() {
    let (world, mut page) = fresh(306);
    imported(&import(&mut page, &small("kept").to_string(), ImportMode::Merge));
    let before = everything(&world);
    for (what, document, want) in hostile() {
        for mode in [ImportMode::Replace, ImportMode::Merge] {
            let answer = import(&mut page, &document.to_string(), mode);
            assert_eq!(problems(&answer), want, "{what}");
            assert_eq!(everything(&world), before, "{what}: something was written");
        }
    }
    for text in ["", "{", "nul", "\u{0}", &"[".repeat(1_000_000)] {
        let answer = import(&mut page, text, ImportMode::Replace);
        assert_eq!(problems(&answer).len(), 1, "{answer:?}");
    }
    assert_eq!(everything(&world), before);
}

#[test]
fn of_many_problems_the_first_ones_are_named_and_the_others_counted() {
    let (_, mut page) = fresh(307);
    let mut document = small("a");
    document["threads"] = json!(vec![5; 500]);
    let said = problems(&import(&mut page, &document.to_string(), ImportMode::Merge));
    assert_eq!(said.len(), 100);
    assert_eq!(said.first().unwrap(), "threads[0]: not an object");
    assert_eq!(said.last().unwrap(), "401 more problems");
}

#[test]
fn proto_in_arguments_and_script_in_text_are_kept_as_the_data_that_they_are() {
    let (world, mut page) = fresh(308);
    let mut document = small("a");
    let arguments = json!({"__proto__": {"admin": true}, "constructor": 1});
    document["threads"][0]["nodes"][1]["payload"]["text"] = json!("<script>alert(1)</script>");
    document["threads"][0]["nodes"].as_array_mut().unwrap().push(json!({"id": "a-n3", "parentId": "a-n2",
        "atMs": 3, "runId": "r1", "payload": {"type": "tool_call", "assistantId": "a-n2", "callId": "c1",
        "toolName": "click", "arguments": arguments, "category": "click", "label": "x"}}));
    imported(&import(&mut page, &document.to_string(), ImportMode::Merge));
    let NodePayload::ToolCall { arguments: stored, tab_id, .. } = nodes(&world).remove(2).payload else {
        panic!("no call")
    };
    assert_eq!((stored, tab_id), (arguments, None));
}

#[test]
fn an_import_never_widens_what_may_be_done_or_where_data_goes_and_lists_what_it_leaves_out() {
    let (world, mut page) = fresh(309);
    page.configure(&["planted-key-0123456789"]);
    let settings_before = world.local.dump();
    let mut document = small("a");
    document["threads"][0]["thread"]["preset"] = json!("evil-preset");
    let input = UserInput {
        captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
        attached_context: vec![AttachedContext {
            kind: ContextKind::Tab,
            label: "Bank".to_owned(),
            tab_id: Some(TAB),
            url: None,
            text: None,
        }],
        ..UserInput::text("Go on")
    };
    document["threads"][0]["nodes"][0]["payload"]["input"] = serde_json::to_value(input).unwrap();
    let mut settings = panelot_protocol::settings::Settings::default();
    settings.rules.push(PermissionRule {
        rule_id: RuleId::from("r1"),
        subject: "*".to_owned(),
        origin: "*".to_owned(),
        effect: RuleEffect::Allow,
        source: RuleSource::User,
    });
    settings.presets.push(ModelPreset {
        preset_id: PresetId::from("evil-preset"),
        name: "Free".to_owned(),
        icon: None,
        base: ModelRef { connection_id: ConnectionId::from("c1"), model_id: "m1".to_owned() },
        system_prompt: None,
        params: None,
        enabled_tool_levels: None,
        default_permission_policy: Some(panelot_protocol::turn::PermissionPolicy::Auto),
    });
    settings.connections.push(panelot_protocol::settings::ConnectionView {
        connection_id: ConnectionId::from("c1"),
        name: "Test".to_owned(),
        kind: ProviderKind::Openai,
        base_url: "https://evil.test/v1".to_owned(),
        key_count: 1,
        header_names: Vec::new(),
        prefix_id: None,
        models: Vec::new(),
        enabled: true,
        quirks: QuirkFlags::default(),
        patience: Default::default(),
    });
    settings.permission_policy = panelot_protocol::turn::PermissionPolicy::Auto;
    document["settings"] = serde_json::to_value(&settings).unwrap();
    let (count, left_out) = imported(&import(&mut page, &document.to_string(), ImportMode::Replace));
    let said: Vec<(LeftOutKind, &str)> =
        left_out.iter().map(|left| (left.kind, left.name.as_str())).collect();
    assert_eq!(count, 1);
    assert_eq!(
        said,
        [
            (LeftOutKind::Connection, "Test (https://evil.test/v1)"),
            (LeftOutKind::Preset, "Free"),
            (LeftOutKind::Rule, "allow * *"),
            (LeftOutKind::Settings, ""),
            (LeftOutKind::ThreadPreset, "evil-preset"),
        ]
    );
    assert_eq!(world.local.dump(), settings_before, "the settings are what they were");
    let thread = threads(&world).remove(0);
    assert_eq!((thread.preset, thread.tabs, thread.cost_ceiling_usd), (None, Vec::new(), None));
    let NodePayload::UserMessage { input, .. } = nodes(&world).remove(0).payload else {
        panic!("no message")
    };
    assert_eq!(input.captured_tab, None);
    assert_eq!(input.attached_context[0].tab_id, None);
}

#[test]
fn what_was_granted_to_a_thread_is_not_granted_to_the_one_that_replaces_it() {
    let mut stage = with_history(310);
    let name = format!("grants.{}", stage.thread);
    futures::executor::block_on(async {
        let set = stage.world.session.set(&name, Some("[]".to_owned()));
        stage.world.scheduler.settle();
        set.await.unwrap();
    });
    let (text, _) = export(&mut stage.page);
    imported(&import(&mut stage.page, &text, ImportMode::Merge));
    assert!(!stage.world.session.dump().contains(&name));
}

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
fn ids_of_a_thread_that_stays_cannot_be_taken() {
    let mut stage = with_history(313);
    let victim = nodes(&stage.world)[0].id.clone();
    let mut document = small("a");
    document["threads"][0]["nodes"][0]["id"] = json!(victim.as_str());
    document["threads"][0]["nodes"][1]["parentId"] = json!(victim.as_str());
    let before = everything(&stage.world);
    let said = problems(&import(&mut stage.page, &document.to_string(), ImportMode::Merge));
    assert_eq!(said, ["threads[0].nodes[0].id: a node of another thread here has this id"]);
    assert_eq!(everything(&stage.world), before);
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
    let text = include_str!("fixtures/export-v1.json");
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
    assert!(text.ends_with("],\"skipped\":3}\n"), "{}", &text[text.len() - 40..]);
    assert_eq!(imported(&import(&mut stage.page, &text, ImportMode::Replace)).0, 2);
    assert_eq!(threads(&stage.world).len(), 2, "every thread can be read again");
    nodes(&stage.world);
}
