//! Building commits of records.

use super::records::Record;
use crate::mutants::mutant;
use crate::ports::{Commit, Durability, Expect, Key, StoreError, Table};
use panelot_protocol::event::ErrorCode;
use thiserror::Error;

/// Why data was not read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RepoError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A row is not a record.
    #[error("the stored {table} {key} cannot be read: {reason}")]
    Damaged {
        /// The table's name.
        table: &'static str,
        /// The row's key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A record has no JSON form.
    #[error("a {table} cannot be stored: {reason}")]
    Unstorable {
        /// The table's name.
        table: &'static str,
        /// Why.
        reason: String,
    },
}

impl RepoError {
    /// What pages are told: by it they say, in the user's language, what happened and what can be done.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Store(StoreError::Full) => ErrorCode::StorageFull,
            Self::Store(StoreError::Newer) => ErrorCode::StorageNewer,
            Self::Store(StoreError::Blocked) => ErrorCode::StorageBlocked,
            Self::Store(StoreError::Corrupt(_)) | Self::Damaged { .. } => ErrorCode::StorageDamaged,
            Self::Store(StoreError::Aborted(_) | StoreError::Unknown(_)) => ErrorCode::StorageFailed,
            Self::Store(StoreError::Conflict(_)) | Self::Unstorable { .. } => ErrorCode::Internal,
        }
    }
}

/// Collects a commit; a record that cannot be stored is reported by [`CommitBuilder::build`].
#[derive(Debug, Default)]
pub struct CommitBuilder {
    commit: Commit,
    problem: Option<RepoError>,
}

impl CommitBuilder {
    /// An empty commit.
    pub fn new() -> Self {
        Self::default()
    }

    /// The record must not be there.
    pub fn absent(&mut self, table: Table, key: Key) -> &mut Self {
        self.commit.expect.push(Expect::Absent { table, key });
        self
    }

    /// The record must be there as `before` was.
    pub fn unchanged<R: Record>(&mut self, before: &R) -> &mut Self {
        self.at_revision(R::TABLE, before.key(), before.revision())
    }

    /// The record must be there at a revision.
    pub fn at_revision(&mut self, table: Table, key: Key, revision: u64) -> &mut Self {
        if !mutant!(ClaimUnchecked) {
            self.commit.expect.push(Expect::Revision { table, key, revision });
        }
        self
    }

    /// Writes a record whole.
    pub fn put<R: Record>(&mut self, record: &R) -> &mut Self {
        match record.to_row() {
            Ok(row) => self.commit.put.push(row),
            Err(error) => {
                self.problem =
                    Some(RepoError::Unstorable { table: R::TABLE.name(), reason: error.to_string() });
            }
        }
        self
    }

    /// Writes several records.
    pub fn put_all<'a, R: Record + 'a>(&mut self, records: impl IntoIterator<Item = &'a R>) -> &mut Self {
        for record in records {
            self.put(record);
        }
        self
    }

    /// Removes a row.
    pub fn delete(&mut self, table: Table, key: Key) -> &mut Self {
        self.commit.delete.push((table, key));
        self
    }

    /// The commit must be on the disk before it counts.
    pub fn strict(&mut self) -> &mut Self {
        self.commit.durability = Durability::Strict;
        self
    }

    /// The commit.
    ///
    /// # Errors
    /// [`RepoError::Unstorable`] for the last record without a JSON form.
    pub fn build(self) -> Result<Commit, RepoError> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self.commit),
        }
    }
}
