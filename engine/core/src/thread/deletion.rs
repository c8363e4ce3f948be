//! Everything that goes with a thread.

use crate::mutants::mutant;
use crate::ports::{Index, Key, Query, Store, Table};
use crate::store::RepoError;
use crate::store::attachments::StoredAttachment;
use crate::store::records::Record;
use crate::store::repo::under;
use panelot_protocol::ids::ThreadId;

/// The keys of all rows of a thread. Receipts are not among them: they outlive it.
///
/// # Errors
/// When the database fails.
pub(crate) async fn rows_of_thread<S: Store>(
    store: &S,
    id: &ThreadId,
) -> Result<Vec<(Table, Key)>, RepoError> {
    let (from, to) = under(id.as_str());
    let indexed = [
        Index::NodesBySeq,
        Index::RunsByThread,
        Index::ApprovalsByThread,
        Index::InteractionsByThread,
        Index::AttachmentsByThread,
    ];
    let mut queries: Vec<Query> = indexed
        .into_iter()
        .map(|index| Query::Range {
            index,
            from: from.clone(),
            to: to.clone(),
            reverse: false,
            limit: u32::MAX,
        })
        .collect();
    queries.push(Query::Scan { table: Table::Chains, from, to, limit: u32::MAX });
    let mut keys = vec![(Table::Threads, Key::text(id.as_str()))];
    for row in store.read(queries).await?.into_iter().flatten() {
        if row.table == Table::Runs && mutant!(RowsLeft) {
            continue;
        }
        if row.table == Table::Runs {
            // A draft stands under its run's key.
            keys.push((Table::Drafts, row.key.clone()));
        }
        if row.table == Table::Attachments {
            // Its content stands in rows of their own; a damaged row has none that can be found.
            let pieces = StoredAttachment::from_row(&row).ok();
            keys.extend(pieces.iter().flat_map(StoredAttachment::piece_keys).map(|key| (row.table, key)));
        }
        keys.push((row.table, row.key));
    }
    Ok(keys)
}
