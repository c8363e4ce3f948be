//! Databases of earlier versions are read by today's records, row for row.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_engine::ports::{Commit, Row, Table};
use panelot_engine::store::attachments::{StoredAttachment, StoredPiece};
use panelot_engine::store::marks::StoredImportMark;
use panelot_engine::store::records::{
    Record, StoredApproval, StoredChain, StoredDraft, StoredInteraction, StoredNode, StoredReceipt,
    StoredRun, StoredThread,
};
use panelot_protocol::ids::ThreadId;
use panelot_testkit::{SimPage, SimWorld, fixtures};
use std::collections::BTreeSet;

/// A row as today's records write it after reading it.
fn again<R: Record>(row: &Row) -> Row {
    R::from_row(row).unwrap_or_else(|error| unreachable!("{row:?}: {error}")).to_row().unwrap()
}

fn read_and_written(row: &Row) -> Row {
    match row.table {
        Table::Threads => again::<StoredThread>(row),
        Table::Nodes => again::<StoredNode>(row),
        Table::Chains => again::<StoredChain>(row),
        Table::Runs => again::<StoredRun>(row),
        Table::Receipts => again::<StoredReceipt>(row),
        Table::Approvals => again::<StoredApproval>(row),
        Table::Interactions => again::<StoredInteraction>(row),
        Table::Drafts => again::<StoredDraft>(row),
        Table::Attachments if row.index_keys.is_empty() => again::<StoredPiece>(row),
        Table::Attachments => again::<StoredAttachment>(row),
        Table::Meta => again::<StoredImportMark>(row),
    }
}

#[test]
fn every_row_of_version_1_is_read_and_keeps_its_place() {
    let rows = fixtures::version_1();
    let tables: BTreeSet<Table> = rows.iter().map(|row| row.table).collect();
    assert_eq!(tables, Table::ALL.into_iter().collect(), "the fixture fills every table");
    for row in rows {
        let now = read_and_written(&row);
        let place = |row: &Row| {
            let indexes: BTreeSet<_> = row.index_keys.iter().cloned().collect();
            (row.table, row.key.clone(), indexes, row.revision)
        };
        assert_eq!(place(&now), place(&row));
    }
}

#[test]
fn a_profile_of_version_1_goes_on_with_what_it_was_doing() {
    let world = SimWorld::new(501);
    let put = fixtures::version_1();
    let threads: Vec<ThreadId> = put
        .iter()
        .filter(|row| row.table == Table::Threads)
        .map(|row| StoredThread::from_row(row).unwrap().id)
        .collect();
    world.store.memory().commit_now(&Commit { put, ..Commit::default() }).unwrap();
    let engine = panelot_engine::Engine::start(world.clone());
    let mut page = SimPage::open(&world, &engine, 1, None);
    let snapshot = page.subscribe(threads.first().unwrap());
    assert_eq!(snapshot.approvals.len(), 1, "the question that waited waits again");
    assert!(snapshot.items.iter().any(|item| item.text == "Another."), "{:?}", snapshot.items);
}
