//! Pages of the thread list.

use super::Core;
use crate::ports::World;
use crate::store::RepoError;
use crate::store::records::StoredThread;
use crate::store::repo::thread_page;
use crate::store::snapshot::thread_meta;
use panelot_protocol::ids::ThreadId;
use panelot_protocol::snapshot::ThreadListEntry;
use std::rc::Rc;

/// Threads of one page.
const PAGE_COUNT: usize = 50;
/// Threads that one search looks at before it answers what it has.
const SEARCHED_COUNT_MAX: usize = 2_000;
/// Threads that are read at once.
const READ_COUNT: u32 = 200;

/// Why there is no list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Problem {
    /// The cursor is not readable.
    Cursor,
    /// The database failed.
    Repo(RepoError),
}

impl From<RepoError> for Problem {
    fn from(error: RepoError) -> Self {
        Self::Repo(error)
    }
}

/// A page of threads and where the next one begins.
pub(super) async fn list<W: World>(
    core: &Rc<Core<W>>,
    cursor: Option<&str>,
    query: Option<&str>,
    archived: bool,
) -> Result<(Vec<ThreadListEntry>, Option<String>), Problem> {
    let mut after = cursor.map(|cursor| read_cursor(cursor).ok_or(Problem::Cursor)).transpose()?;
    let wanted = query.map(str::to_lowercase).filter(|query| !query.trim().is_empty());
    let (mut found, mut searched) = (Vec::new(), 0_usize);
    loop {
        let page = thread_page(core.world.store(), archived, after.as_ref(), READ_COUNT).await?;
        let last_page = page.next.is_none();
        for thread in page.threads {
            searched = searched.saturating_add(1);
            after = Some((thread.updated_at_ms, thread.id.clone()));
            let fits = wanted.as_ref().is_none_or(|query| thread.title.to_lowercase().contains(query.trim()));
            if fits && !thread.deleting {
                found.push(entry(core, &thread));
            }
            if found.len() >= PAGE_COUNT {
                return Ok((found, after.map(|after| cursor_text(&after))));
            }
        }
        if last_page {
            return Ok((found, None));
        }
        if searched >= SEARCHED_COUNT_MAX {
            return Ok((found, after.map(|after| cursor_text(&after))));
        }
    }
}

fn entry<W: World>(core: &Core<W>, thread: &StoredThread) -> ThreadListEntry {
    ThreadListEntry { thread: thread_meta(thread), activity: core.presence.activity(&thread.id) }
}

fn cursor_text((updated_at_ms, id): &(u64, ThreadId)) -> String {
    format!("{updated_at_ms}.{id}")
}

fn read_cursor(text: &str) -> Option<(u64, ThreadId)> {
    let (time, id) = text.split_once('.')?;
    Some((time.parse().ok()?, ThreadId::new(id)))
}
