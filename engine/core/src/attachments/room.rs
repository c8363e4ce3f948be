//! Room for attachments: what nobody refers to goes after a day, and beyond the limit the oldest lose their content.

use crate::host::Core;
use crate::ports::{Store, World};
use crate::store::attachments::{StoredAttachment, all_attachments, delete, evict};
use crate::store::repo::unfinished_runs;
use crate::store::{CommitBuilder, RepoError};
use panelot_protocol::limits;
use std::collections::BTreeSet;

/// Brings the attachments' bytes below the limit: the oldest first, never those of a thread with a run that did not
/// end. What is known of an attachment stays, marked, in the same commit in which its content goes.
///
/// # Errors
/// When the database fails: then there is more than the limit until the next time.
pub(crate) async fn make_room<W: World>(core: &Core<W>) -> Result<(), RepoError> {
    let store = core.world.store();
    let mut all = all_attachments(store).await?;
    let mut bytes = all.iter().map(held).fold(0_u64, u64::saturating_add);
    if bytes <= limits::ATTACHMENTS_BYTES_MAX {
        return Ok(());
    }
    let runs = unfinished_runs(store).await?;
    let active: BTreeSet<_> = runs.iter().map(|run| &run.thread_id).collect();
    all.retain(|have| {
        have.is_whole() && have.thread_id.as_ref().is_some_and(|thread_id| !active.contains(thread_id))
    });
    all.sort_by(|a, b| (a.created_at_ms, &a.id).cmp(&(b.created_at_ms, &b.id)));
    let mut commit = CommitBuilder::new();
    for attachment in &all {
        if bytes <= limits::ATTACHMENTS_BYTES_MAX {
            break;
        }
        evict(&mut commit, attachment);
        bytes = bytes.saturating_sub(held(attachment));
    }
    Ok(store.commit(commit.build()?).await?)
}

/// Removes attachments that no message refers to and that came a day ago or earlier.
///
/// # Errors
/// When the database fails: then they stay until the next time.
pub(crate) async fn sweep_orphans<W: World>(core: &Core<W>) -> Result<(), RepoError> {
    let store = core.world.store();
    let until_ms = core.now_ms().saturating_sub(limits::ORPHAN_LIFETIME_MS);
    let mut all = all_attachments(store).await?;
    all.retain(|have| have.references.is_empty() && have.created_at_ms <= until_ms);
    if all.is_empty() {
        return Ok(());
    }
    let mut commit = CommitBuilder::new();
    for attachment in &all {
        delete(&mut commit, attachment);
    }
    Ok(store.commit(commit.build()?).await?)
}

fn held(attachment: &StoredAttachment) -> u64 {
    if attachment.evicted { 0 } else { attachment.size_bytes }
}
