//! An import: a checked document becomes one commit that replaces what it must, or nothing at all.

use super::check::{Checked, Problems, check, left_preset};
use super::plan::{Plan, plan};
use crate::host::Core;
use crate::ports::{Index, Key, KeyPart, Query, Row, Store, Table, World};
use crate::store::marks::StoredImportMark;
use crate::store::records::{Record, StoredRun, StoredThread};
use crate::store::{CommitBuilder, RepoError};
use crate::thread::rows_of_thread;
use crate::turn::RunPhase;
use panelot_protocol::event::{AgentEvent, LeftOut};
use panelot_protocol::ids::{SubmissionId, ThreadId};
use panelot_protocol::limits;
use panelot_protocol::op::ImportMode;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that one read looks for.
const READ_COUNT: usize = 500;

/// What an import leads to.
pub(crate) struct Outcome {
    /// Its commit, without the receipt.
    pub commit: CommitBuilder,
    /// Its answer.
    pub answer: AgentEvent,
    /// What changed, once the commit holds.
    pub imported: Imported,
}

/// The threads that an import changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Imported {
    /// Those that are gone.
    pub removed: Vec<ThreadId>,
    /// Those that are other ones now, with their revisions.
    pub replaced: Vec<(ThreadId, u64)>,
    /// Those that were not there.
    pub added: Vec<ThreadId>,
}

/// Decides on a document.
///
/// # Errors
/// When the database fails. What is wrong with the document is the answer.
pub(crate) async fn import<W: World>(
    core: &Core<W>,
    submission_id: &SubmissionId,
    text: &str,
    mode: ImportMode,
) -> Result<Outcome, RepoError> {
    let checked = match check(text) {
        Ok(checked) => checked,
        Err(problems) => return Ok(refused(submission_id, problems)),
    };
    let store = core.world.store();
    let here = affected(store, &checked, mode).await?;
    let mut problems = Problems::default();
    busy(store, &here, &mut problems).await?;
    collisions(store, &checked, &here, &mut problems).await?;
    if !problems.is_empty() {
        return Ok(refused(submission_id, problems.list()));
    }
    let mut commit = CommitBuilder::new();
    commit.strict().delete(Table::Meta, StoredImportMark::place());
    for (thread_id, known) in &here {
        commit.at_revision(Table::Threads, Key::text(thread_id.as_str()), known.revision);
        for (table, key) in rows_of_thread(store, thread_id).await? {
            commit.delete(table, key);
        }
    }
    let mut imported = Imported::default();
    let presets: BTreeSet<_> = match core.settings.current().await {
        Ok(settings) => settings.presets.iter().map(|preset| preset.preset_id.clone()).collect(),
        Err(_) => BTreeSet::new(),
    };
    let mut left_out = checked.left_out;
    let count = u64::try_from(checked.threads.len()).unwrap_or(u64::MAX);
    for parts in checked.threads {
        let before = here.get(&parts.thread.id);
        if let Some(preset) = parts.thread.preset.as_ref().filter(|preset| !presets.contains(*preset)) {
            note(&mut left_out, left_preset(preset));
        }
        let revision = before.map_or(1, |before| before.revision.saturating_add(1));
        let plan = plan(parts, revision, |preset| presets.contains(preset));
        match before {
            Some(_) => imported.replaced.push((plan.thread.id.clone(), revision)),
            None => {
                commit.absent(Table::Threads, plan.thread.key());
                imported.added.push(plan.thread.id.clone());
            }
        }
        put(&mut commit, &plan);
    }
    let kept: BTreeSet<&ThreadId> = imported.replaced.iter().map(|(id, _)| id).collect();
    imported.removed = here.keys().filter(|id| !kept.contains(id)).cloned().collect();
    let answer = AgentEvent::DataImported {
        submission_id: submission_id.clone(),
        threads: count,
        problems: Vec::new(),
        left_out,
    };
    Ok(Outcome { commit, answer, imported })
}

fn put(commit: &mut CommitBuilder, plan: &Plan) {
    commit.put(&plan.thread);
    commit.put_all(&plan.nodes).put_all(&plan.chains);
    commit.put_all(&plan.attachments).put_all(&plan.pieces);
}

fn note(left_out: &mut Vec<LeftOut>, what: LeftOut) {
    let room = u64::try_from(left_out.len()).is_ok_and(|count| count < limits::LEFT_OUT_COUNT_MAX);
    if room && !left_out.contains(&what) {
        left_out.push(what);
    }
}

fn refused(submission_id: &SubmissionId, problems: Vec<String>) -> Outcome {
    let mut commit = CommitBuilder::new();
    commit.delete(Table::Meta, StoredImportMark::place());
    let answer = AgentEvent::DataImported {
        submission_id: submission_id.clone(),
        threads: 0,
        problems,
        left_out: Vec::new(),
    };
    Outcome { commit, answer, imported: Imported::default() }
}

/// A thread that is there. It need not be readable: an import is also the way out of a damaged database.
struct Known {
    revision: u64,
    title: String,
}

/// The threads that are there and go, or become others.
async fn affected<S: Store>(
    store: &S,
    checked: &Checked,
    mode: ImportMode,
) -> Result<BTreeMap<ThreadId, Known>, RepoError> {
    let rows = match mode {
        ImportMode::Merge => {
            let keys = checked.threads.iter().map(|parts| Key::text(parts.thread.id.as_str()));
            rows_under(store, Table::Threads, keys.collect()).await?
        }
        ImportMode::Replace => {
            let (from, to) = (Key(Vec::new()), Key::text("\u{ffff}"));
            let query = Query::Scan { table: Table::Threads, from, to, limit: u32::MAX };
            store.read(vec![query]).await?
        }
    };
    let known = |row: &Row| {
        let title = StoredThread::from_row(row).map(|thread| thread.title).unwrap_or_default();
        Some((ThreadId::new(first_text(&row.key)?), Known { revision: row.revision, title }))
    };
    Ok(rows.iter().flatten().filter_map(known).collect())
}

/// The first part of a key, where that is a text.
fn first_text(key: &Key) -> Option<&str> {
    match key.0.first() {
        Some(KeyPart::Text(text)) => Some(text),
        Some(KeyPart::Number(_)) | None => None,
    }
}

/// The thread that a row belongs to, by its place in the index of threads.
fn owner(row: &Row, index: Index) -> Option<&str> {
    row.index_keys.iter().find(|(of, _)| *of == index).and_then(|(_, key)| first_text(key))
}

/// Names the threads in which something runs: it would go on with what is no more.
async fn busy<S: Store>(
    store: &S,
    here: &BTreeMap<ThreadId, Known>,
    problems: &mut Problems,
) -> Result<(), RepoError> {
    let (from, to) = (Key(Vec::new()), Key::text("\u{ffff}"));
    let index = Index::RunsUnfinished;
    let rows = store.read(vec![Query::Range { index, from, to, reverse: false, limit: u32::MAX }]).await?;
    // A run that cannot be read does not go on.
    let runs = rows.iter().flatten().filter_map(|row| StoredRun::from_row(row).ok());
    let works = |run: &StoredRun| {
        let phase = RunPhase::of(&run.state);
        phase != RunPhase::Stopped && phase != RunPhase::PausedBudget
    };
    let threads: BTreeSet<ThreadId> = runs.filter(works).map(|run| run.thread_id).collect();
    for thread_id in &threads {
        let Some(known) = here.get(thread_id) else { continue };
        let rule = format!("a turn runs or waits in the thread \"{}\": stop it first", known.title);
        problems.add(&format!("thread {thread_id}"), &rule);
    }
    Ok(())
}

/// Names nodes and attachments whose ids belong to threads that stay.
async fn collisions<S: Store>(
    store: &S,
    checked: &Checked,
    here: &BTreeMap<ThreadId, Known>,
    problems: &mut Problems,
) -> Result<(), RepoError> {
    let stays = |row: &Row, index| owner(row, index).is_none_or(|id| !here.contains_key(&ThreadId::from(id)));
    for (at, parts) in checked.threads.iter().enumerate() {
        let keys = parts.nodes.iter().map(|node| Key::text(node.id.as_str())).collect();
        let found = rows_under(store, Table::Nodes, keys).await?;
        for (place, rows) in found.iter().enumerate() {
            if rows.iter().any(|row| stays(row, Index::NodesBySeq)) {
                let path = format!("threads[{at}].nodes[{place}].id");
                problems.add(&path, "a node of another thread here has this id");
            }
        }
        let keys = parts.attachments.iter().map(|have| Key::text(have.id.as_str())).collect();
        let found = rows_under(store, Table::Attachments, keys).await?;
        for (place, rows) in found.iter().enumerate() {
            if rows.iter().any(|row| stays(row, Index::AttachmentsByThread)) {
                let path = format!("threads[{at}].attachments[{place}].id");
                problems.add(&path, "an attachment of another thread here has this id");
            }
        }
    }
    Ok(())
}

/// The rows under keys, in their order, a bounded number of them per read.
async fn rows_under<S: Store>(store: &S, table: Table, keys: Vec<Key>) -> Result<Vec<Vec<Row>>, RepoError> {
    let mut found = Vec::with_capacity(keys.len());
    for keys in keys.chunks(READ_COUNT) {
        let queries = keys.iter().map(|key| Query::Get { table, key: key.clone() }).collect();
        found.extend(store.read(queries).await?);
    }
    Ok(found)
}
