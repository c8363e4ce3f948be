//! Forgets receipts whose time is over, and the mark of an import that was cut off; receipts of Ops in progress have no
//! time.

use super::Core;
use crate::ports::{Commit, Durability, Index, Key, KeyPart, Query, Store, Table, World};
use crate::store::marks::StoredImportMark;
use crate::store::{CommitBuilder, RepoError, repo};

/// Receipts that one sweep forgets; the next start of a worker forgets more.
const SWEPT_COUNT_MAX: u32 = 1_000;

/// Removes receipts that expired.
///
/// # Errors
/// When the database fails: then they stay until the next sweep.
pub(super) async fn sweep<W: World>(core: &Core<W>) -> Result<(), RepoError> {
    let query = Query::Range {
        index: Index::ReceiptsByExpiry,
        from: Key(vec![KeyPart::Number(0)]),
        to: Key(vec![KeyPart::Number(core.now_ms())]),
        reverse: false,
        limit: SWEPT_COUNT_MAX,
    };
    let store = core.world.store();
    let expired: Vec<_> = store.read(vec![query]).await?.into_iter().flatten().collect();
    if expired.is_empty() {
        return Ok(());
    }
    let delete = expired.into_iter().map(|row| (row.table, row.key)).collect();
    let commit = Commit { delete, durability: Durability::Relaxed, ..Commit::default() };
    Ok(store.commit(commit).await?)
}

/// Removes the mark of an import that another worker left. Whether there was one. An import is one commit, which takes
/// its mark with it: where there is a mark, nothing of the import is stored.
///
/// # Errors
/// When the database fails: then the mark stays.
pub(super) async fn take_import_mark<W: World>(core: &Core<W>) -> Result<bool, RepoError> {
    let store = core.world.store();
    let mark = repo::get::<_, StoredImportMark>(store, StoredImportMark::place()).await?;
    if mark.is_none() || core.incoming.is_under_way() {
        return Ok(false);
    }
    let mut commit = CommitBuilder::new();
    commit.delete(Table::Meta, StoredImportMark::place());
    store.commit(commit.build()?).await?;
    Ok(true)
}
