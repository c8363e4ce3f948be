//! Data out and in: an export is a document that brings the same threads back, and an import is checked whole, written
//! whole, and never lets anything be done that could not be done before.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail at once"
)]

mod exports;
mod hostile;
mod imports;

use panelot_engine::Engine;
use panelot_engine::ports::{Commit, KeyValueArea, Row, StoreError, Table, Vault};
use panelot_engine::store::records::{NodePayload, Record, StoredNode, StoredThread};
use panelot_engine::transfer::{FORMAT, VERSION, check};
use panelot_protocol::event::{AgentEvent, ErrorCode, LeftOut, LeftOutKind};
use panelot_protocol::ids::{ConnectionId, PresetId, RuleId, ThreadId, TransferId};
use panelot_protocol::limits;
use panelot_protocol::op::{ImportMode, Op, ThreadPatch};
use panelot_protocol::settings::{
    ConnectionInput, ModelPreset, Patience, PermissionRule, ProviderKind, QuirkFlags, RuleEffect, RuleSource,
    SettingsPatch,
};
use panelot_protocol::turn::{AttachedContext, CapturedTab, ContextKind, ModelRef, UserInput};
use panelot_testkit::{Reply, SimPage, SimWorld, Stage, TAB, connection_of};
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
