//! Puts long threads straight into the extension's database, as the engine would have stored them.

use anyhow::{Context, Result};
use panelot_driver::browser::Page;
use panelot_engine::ports::{Index, Key, KeyPart, Row};
use panelot_engine::store::records::{NodePayload, Record, StoredChain, StoredNode, StoredThread};
use panelot_protocol::ids::{ConnectionId, NodeId, RunId, ThreadId};
use panelot_protocol::turn::{ModelRef, TokenUsage, UserInput};
use serde_json::{Map, Value, json};

use crate::DATABASE;

/// When the seeded threads were made, in milliseconds since 1970; late, so that they head the list.
const SEEDED_AT_MS: u64 = 4_000_000_000_000;
/// How many rows go into one message to the page.
const ROWS_PER_MESSAGE: usize = 2_000;

/// The rows of a thread whose one path has `nodes` nodes, a user's and an assistant's in turn.
///
/// # Errors
/// When a record has no JSON form.
pub fn thread_rows(title: &str, nodes: u64) -> Result<Vec<Row>> {
    let thread_id = ThreadId::new(format!("seeded-{nodes}"));
    let node_id = |place: u64| NodeId::new(format!("seeded-{nodes}-{place}"));
    let last = nodes.checked_sub(1).context("a thread has at least one node")?;
    let mut rows = Vec::new();
    for place in 0..nodes {
        let node = StoredNode {
            id: node_id(place),
            thread_id: thread_id.clone(),
            parent_id: place.checked_sub(1).map(node_id),
            seq: place,
            chain_id: node_id(0),
            depth: place,
            at_ms: SEEDED_AT_MS,
            run_id: RunId::new(format!("seeded-{nodes}-run-{}", place / 2)),
            tombstone: false,
            payload: payload(place),
        };
        rows.push(node.to_row()?);
    }
    let chain = StoredChain {
        thread_id: thread_id.clone(),
        chain_id: node_id(0),
        parent: None,
        base_depth: 0,
        base_seq: 0,
        tip_id: node_id(last),
        tip_depth: last,
        tip_seq: last,
    };
    rows.push(chain.to_row()?);
    let thread = StoredThread {
        revision: nodes,
        title: title.into(),
        title_by_user: true,
        leaf_id: Some(node_id(last)),
        next_seq: nodes,
        ..StoredThread::new(thread_id, SEEDED_AT_MS)
    };
    rows.push(thread.to_row()?);
    Ok(rows)
}

/// The id of the thread that [`thread_rows`] makes.
#[must_use]
pub fn thread_id(nodes: u64) -> String {
    format!("seeded-{nodes}")
}

fn payload(place: u64) -> NodePayload {
    if place.is_multiple_of(2) {
        let input = UserInput::text(format!("Question {place}: what stands in the table?"));
        return NodePayload::UserMessage { input, steered: false };
    }
    NodePayload::AssistantMessage {
        text: format!(
            "Answer {place}: the table has **three** rows, and `{place}` is one of them.\n\n- a\n- b"
        ),
        reasoning: None,
        provider_state: None,
        partial: false,
        call_count: 0,
        model: ModelRef { connection_id: ConnectionId::new("seeded"), model_id: "seeded".into() },
        usage: TokenUsage::default(),
        cost_usd: None,
    }
}

/// Writes rows into the database, which the engine must have made; `page` is any page of the extension.
///
/// # Errors
/// When the browser refuses.
pub async fn put_rows(page: &Page, rows: &[Row]) -> Result<()> {
    let put = "(database, rows) => new Promise((resolve, reject) => {
        const opening = indexedDB.open(database);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
            const tables = [...new Set(rows.map((row) => row.table))];
            const transaction = opening.result.transaction(tables, 'readwrite');
            for (const { table, row } of rows) transaction.objectStore(table).put(row);
            transaction.oncomplete = () => { opening.result.close(); resolve(true); };
            transaction.onabort = () => reject(transaction.error);
        };
    })";
    for part in rows.chunks(ROWS_PER_MESSAGE) {
        let part: Vec<Value> = part.iter().map(row_to_json).collect();
        page.call::<bool>(put, &[json!(DATABASE), json!(part)]).await?;
    }
    Ok(())
}

/// A row as its object in the database: `k`, `r`, `b`, and a property per index.
fn row_to_json(row: &Row) -> Value {
    let mut object = Map::new();
    object.insert("k".into(), key_to_json(&row.key));
    object.insert("r".into(), json!(row.revision));
    object.insert("b".into(), json!(row.body));
    for (index, key) in &row.index_keys {
        object.insert(Index::name(*index).into(), key_to_json(key));
    }
    json!({ "table": row.table.name(), "row": object })
}

fn key_to_json(key: &Key) -> Value {
    let part = |part: &KeyPart| match part {
        KeyPart::Number(number) => json!(number),
        KeyPart::Text(text) => json!(text),
    };
    key.0.iter().map(part).collect()
}
