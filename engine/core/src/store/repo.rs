//! Typed reads: threads with everything that an actor keeps of them, pages of a path, lists.

use super::commit::RepoError;
use super::records::{
    Record, StoredApproval, StoredChain, StoredDraft, StoredInteraction, StoredNode, StoredRun, StoredThread,
};
use super::tree::{Position, Segment, Tree};
use crate::ports::{Index, Key, KeyPart, Query, Row, Store, Table};
use panelot_protocol::ids::{NodeId, RunId, ThreadId};

/// Most rows of one kind that belong to one thread and are read at once.
const ROWS_PER_THREAD_COUNT_MAX: u32 = 100_000;
/// Nodes that a snapshot looks at for its newest items.
pub const SNAPSHOT_NODES_COUNT: u64 = 200;

/// A thread as its actor keeps it: everything but the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadState {
    /// The thread.
    pub thread: StoredThread,
    /// The shape of its tree.
    pub tree: Tree,
    /// Runs that are not finished, oldest first.
    pub runs: Vec<StoredRun>,
    /// Undecided questions.
    pub approvals: Vec<StoredApproval>,
    /// Open waits.
    pub interactions: Vec<StoredInteraction>,
}

impl ThreadState {
    /// Where the thread's leaf stands: `None` in an empty thread. A damaged leaf gives the newest sound one.
    pub fn leaf(&self) -> Option<Position> {
        let leaf = self.thread.leaf_id.as_ref().and_then(|leaf| self.tree.tip(leaf));
        leaf.filter(|leaf| self.tree.segments(leaf).is_some()).or_else(|| self.tree.newest_sound_tip())
    }
}

/// The record under a key.
///
/// # Errors
/// See [`RepoError`].
pub async fn get<S: Store, R: Record>(store: &S, key: Key) -> Result<Option<R>, RepoError> {
    let answers = store.read(vec![Query::Get { table: R::TABLE, key }]).await?;
    Ok(records(&answers, 0)?.into_iter().next())
}

/// The records of one answer.
///
/// # Errors
/// [`RepoError::Damaged`] for the first row that is no record of this kind.
pub fn records<R: Record>(answers: &[Vec<Row>], place: usize) -> Result<Vec<R>, RepoError> {
    answers.get(place).map_or(&[][..], Vec::as_slice).iter().map(record).collect()
}

fn record<R: Record>(row: &Row) -> Result<R, RepoError> {
    R::from_row(row).map_err(|error| RepoError::Damaged {
        table: row.table.name(),
        key: key_text(&row.key),
        reason: error.to_string(),
    })
}

fn key_text(key: &Key) -> String {
    let parts = key.0.iter().map(|part| match part {
        KeyPart::Number(number) => number.to_string(),
        KeyPart::Text(text) => text.clone(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The range of all keys that begin with a text.
pub fn under(first: &str) -> (Key, Key) {
    // The last text of all: no id holds a character behind it.
    (Key::text(first), Key::text(first).and_text("\u{ffff}"))
}

fn range(index: Index, first: &str, limit: u32) -> Query {
    let (from, to) = under(first);
    Query::Range { index, from, to, reverse: false, limit }
}

/// Everything of a thread but its nodes, in one round trip; `None` when there is no such thread.
///
/// # Errors
/// See [`RepoError`].
pub async fn load_thread<S: Store>(store: &S, id: &ThreadId) -> Result<Option<ThreadState>, RepoError> {
    let (from, to) = under(id.as_str());
    let answers = store
        .read(vec![
            Query::Get { table: Table::Threads, key: Key::text(id.as_str()) },
            Query::Scan { table: Table::Chains, from, to, limit: ROWS_PER_THREAD_COUNT_MAX },
            range(Index::RunsUnfinished, id.as_str(), ROWS_PER_THREAD_COUNT_MAX),
            range(Index::ApprovalsPending, id.as_str(), ROWS_PER_THREAD_COUNT_MAX),
            range(Index::InteractionsPending, id.as_str(), ROWS_PER_THREAD_COUNT_MAX),
        ])
        .await?;
    let Some(thread) = records::<StoredThread>(&answers, 0)?.into_iter().next() else { return Ok(None) };
    Ok(Some(ThreadState {
        thread,
        tree: Tree::new(records::<StoredChain>(&answers, 1)?),
        runs: records(&answers, 2)?,
        approvals: records(&answers, 3)?,
        interactions: records(&answers, 4)?,
    }))
}

/// Unfinished runs of all threads, oldest thread first: what recovery looks at.
///
/// # Errors
/// See [`RepoError`].
pub async fn unfinished_runs<S: Store>(store: &S) -> Result<Vec<StoredRun>, RepoError> {
    let answers = store
        .read(vec![Query::Range {
            index: Index::RunsUnfinished,
            from: Key(Vec::new()),
            to: Key::text("\u{ffff}"),
            reverse: false,
            limit: ROWS_PER_THREAD_COUNT_MAX,
        }])
        .await?;
    records(&answers, 0)
}

/// The draft of a running answer.
///
/// # Errors
/// See [`RepoError`].
pub async fn draft<S: Store>(store: &S, run_id: &RunId) -> Result<Option<StoredDraft>, RepoError> {
    get(store, Key::text(run_id.as_str())).await
}

/// A page of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPage {
    /// The nodes from the root's side to the leaf's.
    pub nodes: Vec<StoredNode>,
    /// Whether the path goes on before the first one.
    pub more_before: bool,
}

/// The `count` nodes of the path to `leaf` that come before `before_depth` (exclusive; `u64::MAX` for the newest), in
/// one round trip.
///
/// # Errors
/// See [`RepoError`]. A path that does not reach the root is [`RepoError::Damaged`].
pub async fn path_page<S: Store>(
    store: &S,
    tree: &Tree,
    leaf: &Position,
    before_depth: u64,
    count: u64,
) -> Result<PathPage, RepoError> {
    let segments = tree.segments(leaf).ok_or_else(|| RepoError::Damaged {
        table: Table::Chains.name(),
        key: leaf.node_id.to_string(),
        reason: "its path does not reach the root".to_owned(),
    })?;
    let before = before_depth.min(leaf.depth.saturating_add(1));
    let window = Tree::window(&segments, before, count);
    let lowest = before.saturating_sub(count);
    let answers = store.read(window.iter().rev().map(segment_query).collect()).await?;
    let mut nodes: Vec<StoredNode> = Vec::new();
    for place in 0..answers.len() {
        nodes.extend(records::<StoredNode>(&answers, place)?);
    }
    Ok(PathPage { nodes, more_before: lowest > 0 })
}

fn segment_query(segment: &Segment) -> Query {
    let key = |depth: u64| Key::text(segment.chain_id.as_str()).and_number(depth);
    Query::Range {
        index: Index::NodesByChain,
        from: key(segment.from_depth),
        to: key(segment.to_depth),
        reverse: false,
        limit: u32::MAX,
    }
}

/// The nodes at the given chains and depths, as far as they exist, in one round trip.
///
/// # Errors
/// See [`RepoError`].
pub async fn nodes_at<S: Store>(
    store: &S,
    places: &[(NodeId, u64)],
) -> Result<Vec<Option<StoredNode>>, RepoError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let queries = places.iter().map(|(chain_id, depth)| {
        segment_query(&Segment { chain_id: chain_id.clone(), from_depth: *depth, to_depth: *depth })
    });
    let answers = store.read(queries.collect()).await?;
    (0..places.len()).map(|place| Ok(records(&answers, place)?.into_iter().next())).collect()
}

/// A page of threads, the newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadPage {
    /// The threads.
    pub threads: Vec<StoredThread>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<(u64, ThreadId)>,
}

/// The `limit` threads that come after `after` in the list.
///
/// # Errors
/// See [`RepoError`].
pub async fn thread_page<S: Store>(
    store: &S,
    archived: bool,
    after: Option<&(u64, ThreadId)>,
    limit: u32,
) -> Result<ThreadPage, RepoError> {
    let first = if archived { "archived" } else { "open" };
    let to = match after {
        Some((updated_at_ms, id)) => Key::text(first).and_number(*updated_at_ms).and_text(id.as_str()),
        None => under(first).1,
    };
    let query = Query::Range {
        index: Index::ThreadsByUpdated,
        from: Key::text(first),
        to,
        reverse: true,
        limit: limit.saturating_add(2),
    };
    let mut threads: Vec<StoredThread> = records(&store.read(vec![query]).await?, 0)?;
    if let Some((_, id)) = after {
        threads.retain(|thread| &thread.id != id);
    }
    let more = threads.len() > limit as usize;
    threads.truncate(limit as usize);
    let next = threads.last().filter(|_| more).map(|last| (last.updated_at_ms, last.id.clone()));
    Ok(ThreadPage { threads, next })
}
