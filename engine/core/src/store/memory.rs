//! The in-memory twin of the database: the same behaviour as the browser's, for native tests and simulation.

use crate::ports::{Commit, Expect, Index, Key, Query, Row, Store, StoreError, Table};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, ready};
use std::rc::Rc;

/// A database in memory. A clone is another handle to the same data, as another worker of the same profile has it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    data: Rc<RefCell<Data>>,
}

#[derive(Debug, Default)]
struct Data {
    rows: BTreeMap<(Table, Key), Row>,
    indexes: BTreeMap<Index, BTreeSet<(Key, Key)>>,
}

impl MemoryStore {
    /// Answers queries from the state of this moment.
    pub fn read_now(&self, queries: &[Query]) -> Vec<Vec<Row>> {
        let data = self.data.borrow();
        queries.iter().map(|query| data.answer(query)).collect()
    }

    /// Applies a commit, or refuses it.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when an expectation does not hold.
    pub fn commit_now(&self, commit: &Commit) -> Result<(), StoreError> {
        self.data.borrow_mut().apply(commit)
    }

    /// Whether a commit would be applied now.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when an expectation does not hold.
    pub fn check_now(&self, commit: &Commit) -> Result<(), StoreError> {
        let data = self.data.borrow();
        commit.expect.iter().try_for_each(|expect| data.check(expect))
    }

    /// All rows of a table in the order of their keys, for tests.
    pub fn table(&self, table: Table) -> Vec<Row> {
        let data = self.data.borrow();
        data.rows.iter().filter(|((of, _), _)| *of == table).map(|(_, row)| row.clone()).collect()
    }
}

impl Store for MemoryStore {
    fn read(&self, queries: Vec<Query>) -> impl Future<Output = Result<Vec<Vec<Row>>, StoreError>> + 'static {
        ready(Ok(self.read_now(&queries)))
    }

    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), StoreError>> + 'static {
        ready(self.commit_now(&commit))
    }
}

impl Data {
    fn answer(&self, query: &Query) -> Vec<Row> {
        match query {
            Query::Get { table, key } => self.row(*table, key).into_iter().cloned().collect(),
            Query::Scan { table, from, to, limit } => {
                if from > to {
                    return Vec::new();
                }
                let range = (*table, from.clone())..=(*table, to.clone());
                self.rows.range(range).take(*limit as usize).map(|(_, row)| row.clone()).collect()
            }
            Query::Range { index, from, to, reverse, limit } => {
                let Some(entries) = self.indexes.get(index) else { return Vec::new() };
                if from > to {
                    return Vec::new();
                }
                let first = (from.clone(), Key(Vec::new()));
                let within = entries.range(first..).take_while(|(key, _)| key <= to);
                let rows = |(_, primary): &(Key, Key)| self.row(index.table(), primary).cloned();
                if *reverse {
                    let mut found: Vec<Row> = within.filter_map(rows).collect();
                    found.reverse();
                    found.truncate(*limit as usize);
                    found
                } else {
                    within.filter_map(rows).take(*limit as usize).collect()
                }
            }
        }
    }

    fn row(&self, table: Table, key: &Key) -> Option<&Row> {
        self.rows.get(&(table, key.clone()))
    }

    fn apply(&mut self, commit: &Commit) -> Result<(), StoreError> {
        for expect in &commit.expect {
            self.check(expect)?;
        }
        for (table, key) in &commit.delete {
            self.remove(*table, key);
        }
        for row in &commit.put {
            self.remove(row.table, &row.key);
            for (index, key) in &row.index_keys {
                self.indexes.entry(*index).or_default().insert((key.clone(), row.key.clone()));
            }
            self.rows.insert((row.table, row.key.clone()), row.clone());
        }
        Ok(())
    }

    fn check(&self, expect: &Expect) -> Result<(), StoreError> {
        match expect {
            Expect::Absent { table, key } => match self.row(*table, key) {
                Some(_) => Err(StoreError::Conflict(format!("{} {key:?} is there already", table.name()))),
                None => Ok(()),
            },
            Expect::Revision { table, key, revision } => match self.row(*table, key) {
                Some(row) if row.revision == *revision => Ok(()),
                Some(row) => Err(StoreError::Conflict(format!(
                    "{} {key:?} is at revision {}, not {revision}",
                    table.name(),
                    row.revision
                ))),
                None => Err(StoreError::Conflict(format!("{} {key:?} is not there", table.name()))),
            },
        }
    }

    fn remove(&mut self, table: Table, key: &Key) {
        let Some(old) = self.rows.remove(&(table, key.clone())) else { return };
        for (index, index_key) in old.index_keys {
            if let Some(entries) = self.indexes.get_mut(&index) {
                entries.remove(&(index_key, old.key.clone()));
            }
        }
    }
}
