//! Writes the document of an export, piece by piece: no more than a page of rows is held at a time.
//!
//! A thread's row is read first and its nodes up to the row's next number after it. Nodes are only ever added, so what
//! is written is a state that the thread had, whatever happens meanwhile. A thread that is deleted while it is read ends
//! where its rows ended: a beginning of its nodes is a tree, too. A damaged row is left out together with what hangs on
//! it, and counted: an export is what can be saved of a damaged database.

use super::document::{AttachmentDoc, FORMAT, NodeDoc, ThreadDoc, VERSION};
use crate::host::Core;
use crate::ports::{Index, Key, KeyPart, KeyValueError, Query, Row, Store, Table, World};
use crate::store::RepoError;
use crate::store::attachments::{all_attachments, attachments_of, pieces};
use crate::store::records::{Record, StoredNode, StoredThread};
use panelot_protocol::ids::NodeId;
use serde::Serialize;
use std::collections::BTreeSet;
use thiserror::Error;

/// Threads that one read brings.
const THREADS_READ_COUNT: u32 = 50;
/// Nodes that one read brings.
const NODES_READ_COUNT: u32 = 50;
/// Bytes of attachments that a document can carry, so that an import can take it as base64 with all the rest.
const ATTACHMENTS_BYTES_MAX: u64 = 40 << 20;

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum ExportProblem {
    /// The database failed.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The settings cannot be read.
    #[error(transparent)]
    Settings(#[from] KeyValueError),
    /// The content of the attachments does not fit.
    #[error(
        "includeAttachments: they are {found_mib} MiB, and an export can carry {} MiB: export without them",
        ATTACHMENTS_BYTES_MAX >> 20
    )]
    TooMuch {
        /// What they are, in MiB.
        found_mib: u64,
    },
    /// Nobody listens any more.
    #[error("the page is gone")]
    NobodyListens,
}

/// Writes the document. `out` takes each piece of its text and says whether anybody listens.
///
/// # Errors
/// See [`ExportProblem`]; then what was written so far is no document.
pub(crate) async fn export<W: World>(
    core: &Core<W>,
    with_content: bool,
    out: &mut impl FnMut(&str) -> bool,
) -> Result<(), ExportProblem> {
    let store = core.world.store();
    if with_content {
        let all = all_attachments(store).await?;
        let bytes = all.iter().filter(|have| have.is_whole()).map(|have| have.size_bytes);
        let found = bytes.fold(0_u64, u64::saturating_add);
        if found > ATTACHMENTS_BYTES_MAX {
            return Err(ExportProblem::TooMuch { found_mib: found.div_ceil(1 << 20) });
        }
    }
    let settings = core.settings.view().await?;
    let mut writer = Writer { out, skipped: 0 };
    writer.text(&format!(
        "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"exportedAtMs\":{},\"settings\":",
        core.now_ms()
    ))?;
    writer.json("settings", &settings)?;
    writer.text(",\"threads\":[")?;
    let mut from = Key(Vec::new());
    let mut first = true;
    loop {
        let to = Key::text("\u{ffff}");
        let query = Query::Scan { table: Table::Threads, from, to, limit: THREADS_READ_COUNT };
        let rows = page(store, query).await?;
        let Some(last) = rows.last() else { break };
        // Behind the last one and before every other id.
        from = last.key.clone().and_number(0);
        for row in &rows {
            let Some(thread) = writer.readable::<StoredThread>(row).filter(|thread| !thread.deleting) else {
                continue;
            };
            writer.text(if std::mem::take(&mut first) { "\n" } else { ",\n" })?;
            write_thread(store, &thread, with_content, &mut writer).await?;
        }
    }
    let skipped = writer.skipped;
    writer.text(&match skipped {
        0 => "\n]}\n".to_owned(),
        _ => format!("\n],\"skipped\":{skipped}}}\n"),
    })
}

/// The rows of one read.
async fn page<S: Store>(store: &S, query: Query) -> Result<Vec<Row>, RepoError> {
    Ok(store.read(vec![query]).await?.into_iter().flatten().collect())
}

async fn write_thread<S: Store, F: FnMut(&str) -> bool>(
    store: &S,
    thread: &StoredThread,
    with_content: bool,
    writer: &mut Writer<'_, F>,
) -> Result<(), ExportProblem> {
    writer.text("{\"thread\":")?;
    writer.json("threads", &ThreadDoc::from(thread))?;
    writer.text(",\"attachments\":[")?;
    let attachments = attachments_of(store, &thread.id).await?;
    for (at, attachment) in attachments.iter().filter(|have| have.received == have.total).enumerate() {
        let content = if with_content { pieces(store, attachment).await? } else { None };
        writer.text(if at == 0 { "\n" } else { ",\n" })?;
        writer.json("attachments", &AttachmentDoc::of(attachment, content))?;
    }
    writer.text("],\"nodes\":[")?;
    let leaf = write_nodes(store, thread, writer).await?;
    writer.text("]")?;
    if let Some(leaf) = leaf {
        writer.text(",\"leafId\":")?;
        writer.json("threads", &leaf)?;
    }
    writer.text("}")
}

/// Writes a thread's nodes in the order in which they were made. Answers the thread's leaf if it was among them.
async fn write_nodes<S: Store, F: FnMut(&str) -> bool>(
    store: &S,
    thread: &StoredThread,
    writer: &mut Writer<'_, F>,
) -> Result<Option<NodeId>, ExportProblem> {
    let place = |seq: u64| Key::text(thread.id.as_str()).and_number(seq);
    let mut leaf = None;
    let mut written: BTreeSet<NodeId> = BTreeSet::new();
    let mut next = 0;
    let mut first = true;
    while next < thread.next_seq {
        let (from, to) = (place(next), place(thread.next_seq.saturating_sub(1)));
        let query =
            Query::Range { index: Index::NodesBySeq, from, to, reverse: false, limit: NODES_READ_COUNT };
        let rows = page(store, query).await?;
        let Some(last) = rows.last() else { break };
        next = place_of(last).map_or(thread.next_seq, |seq| seq.saturating_add(1));
        for row in &rows {
            let Some(node) = writer.readable::<StoredNode>(row) else { continue };
            let doc = NodeDoc::from(&node);
            let hangs_on = doc.parent_id.iter().chain(doc.payload.refers_to().map(|(_, id)| id));
            if !hangs_on.clone().all(|id| written.contains(id)) {
                writer.skipped = writer.skipped.saturating_add(1);
                continue;
            }
            writer.text(if std::mem::take(&mut first) { "\n" } else { ",\n" })?;
            writer.json("nodes", &doc)?;
            if thread.leaf_id.as_ref() == Some(&doc.id) {
                leaf = Some(doc.id.clone());
            }
            written.insert(doc.id);
        }
    }
    Ok(leaf)
}

/// The number of a node in its thread, by its row's place.
fn place_of(row: &Row) -> Option<u64> {
    let (_, key) = row.index_keys.iter().find(|(index, _)| *index == Index::NodesBySeq)?;
    match key.0.get(1) {
        Some(KeyPart::Number(seq)) => Some(*seq),
        Some(KeyPart::Text(_)) | None => None,
    }
}

struct Writer<'a, F> {
    out: &'a mut F,
    /// Rows that are not in the document because they, or what they hang on, cannot be read.
    skipped: u64,
}

impl<F: FnMut(&str) -> bool> Writer<'_, F> {
    fn text(&mut self, text: &str) -> Result<(), ExportProblem> {
        if (self.out)(text) { Ok(()) } else { Err(ExportProblem::NobodyListens) }
    }

    /// The record of a row; a damaged one is counted.
    fn readable<R: Record>(&mut self, row: &Row) -> Option<R> {
        let read = R::from_row(row).ok();
        self.skipped = self.skipped.saturating_add(u64::from(read.is_none()));
        read
    }

    fn json<T: Serialize>(&mut self, table: &'static str, value: &T) -> Result<(), ExportProblem> {
        let text = serde_json::to_string(value)
            .map_err(|error| RepoError::Unstorable { table, reason: error.to_string() })?;
        self.text(&text)
    }
}
