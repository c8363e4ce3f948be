//! Writes the document of an export, piece by piece: no more than a page of rows is held at a time.
//!
//! A thread's row is read first and its nodes up to the row's next number after it. Nodes are only ever added, so what
//! is written is a state that the thread had, whatever happens meanwhile. A thread that is deleted while it is read ends
//! where its rows ended: a beginning of its nodes is a tree, too.

use super::document::{AttachmentDoc, FORMAT, NodeDoc, ThreadDoc, VERSION};
use crate::host::Core;
use crate::ports::{Index, Key, KeyValueError, Query, Store, Table, World};
use crate::store::RepoError;
use crate::store::attachments::{all_attachments, attachments_of, pieces};
use crate::store::records::{Record, StoredNode, StoredThread};
use crate::store::repo::records;
use panelot_protocol::ids::NodeId;
use serde::Serialize;
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
    let mut writer = Writer { out };
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
        let threads: Vec<StoredThread> =
            records(&store.read(vec![query]).await.map_err(RepoError::Store)?, 0)?;
        let Some(last) = threads.last() else { break };
        // Behind the last one and before every other id.
        from = last.key().and_number(0);
        for thread in threads.iter().filter(|thread| !thread.deleting) {
            writer.text(if std::mem::take(&mut first) { "\n" } else { ",\n" })?;
            write_thread(store, thread, with_content, &mut writer).await?;
        }
    }
    writer.text("\n]}\n")
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
    let mut next = 0;
    let mut first = true;
    while next < thread.next_seq {
        let (from, to) = (place(next), place(thread.next_seq.saturating_sub(1)));
        let query =
            Query::Range { index: Index::NodesBySeq, from, to, reverse: false, limit: NODES_READ_COUNT };
        let nodes: Vec<StoredNode> = records(&store.read(vec![query]).await.map_err(RepoError::Store)?, 0)?;
        let Some(last) = nodes.last() else { break };
        next = last.seq.saturating_add(1);
        for node in &nodes {
            writer.text(if std::mem::take(&mut first) { "\n" } else { ",\n" })?;
            writer.json("nodes", &NodeDoc::from(node))?;
            if thread.leaf_id.as_ref() == Some(&node.id) {
                leaf = Some(node.id.clone());
            }
        }
    }
    Ok(leaf)
}

struct Writer<'a, F> {
    out: &'a mut F,
}

impl<F: FnMut(&str) -> bool> Writer<'_, F> {
    fn text(&mut self, text: &str) -> Result<(), ExportProblem> {
        if (self.out)(text) { Ok(()) } else { Err(ExportProblem::NobodyListens) }
    }

    fn json<T: Serialize>(&mut self, table: &'static str, value: &T) -> Result<(), ExportProblem> {
        let text = serde_json::to_string(value)
            .map_err(|error| RepoError::Unstorable { table, reason: error.to_string() })?;
        self.text(&text)
    }
}
