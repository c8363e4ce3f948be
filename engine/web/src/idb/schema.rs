//! What the database looks like in each version, and the steps from one to the next.
//!
//! A step is frozen once it was published: it names its stores and indexes itself, whatever today's tables are. A new
//! version adds a step and, in `testkit`, a fixture of the version before it.

use super::failure;
use idb::event::{DatabaseEvent as _, Event as _};
use idb::request::Request as _;
use idb::{Database, IndexParams, KeyPath, ObjectStoreParams, Transaction};
use panelot_engine::ports::StoreError;

/// What a step of an upgrade changes: stores by the database, indexes of stores that are there by the transaction.
pub type Step = fn(&Database, &Transaction) -> Result<(), StoreError>;

/// A version with the steps that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Schema(pub &'static [Step]);

/// Today's.
pub const TODAY: Schema = Schema(&[version_1]);

/// The stores of version 1 with their indexes; each index is over the row's property of its name.
pub const STORES_1: [(&str, &[&str]); 10] = [
    ("threads", &["byUpdated"]),
    ("nodes", &["bySeq", "byChain"]),
    ("chains", &[]),
    ("runs", &["byThread", "unfinished"]),
    ("receipts", &["byExpiry"]),
    ("approvals", &["pending", "byThread"]),
    ("interactions", &["pending", "byThread"]),
    ("drafts", &[]),
    ("attachments", &["byThread"]),
    ("meta", &[]),
];

impl Schema {
    /// The version that its last step leads to.
    #[must_use]
    pub fn version(self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Takes the steps that the database has not taken. They are one transaction: when one fails, the database stays
    /// as it was.
    ///
    /// # Errors
    /// What a step says.
    pub(super) fn upgrade(self, event: &idb::event::VersionChangeEvent) -> Result<(), StoreError> {
        let database = event.database().map_err(failure)?;
        let from = usize::try_from(event.old_version().map_err(failure)?).unwrap_or(usize::MAX);
        let missing = || StoreError::Aborted("the upgrade has no transaction".to_owned());
        let transaction = event.target().map_err(failure)?.transaction().ok_or_else(missing)?;
        for step in self.0.iter().skip(from) {
            if let Err(problem) = step(&database, &transaction) {
                // Without this what the steps before it made would stay, under the new version.
                let _aborted = transaction.abort();
                return Err(problem);
            }
        }
        Ok(())
    }
}

/// The step to version 1: all stores with their indexes.
///
/// # Errors
/// When the browser refuses.
pub fn version_1(database: &Database, _: &Transaction) -> Result<(), StoreError> {
    for (name, indexes) in STORES_1 {
        let mut params = ObjectStoreParams::new();
        params.key_path(Some(KeyPath::new_single("k")));
        let store = database.create_object_store(name, params).map_err(failure)?;
        for index in indexes {
            let path = KeyPath::new_single(index);
            store.create_index(index, path, Some(IndexParams::new())).map_err(failure)?;
        }
    }
    Ok(())
}
