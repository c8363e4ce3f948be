//! Forgets receipts whose time is over; those of Ops in progress have no time.

use super::Core;
use crate::ports::{Commit, Durability, Index, Key, KeyPart, Query, Store, World};
use crate::store::RepoError;

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
