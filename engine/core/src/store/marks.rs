//! Single values of the database.

use super::records::Record;
use crate::ports::{Index, Key, Table};
use panelot_protocol::FromJson;
use panelot_protocol::ids::TransferId;
use serde::Serialize;

/// Says that an import is under way. It is written when its first chunk comes and goes in the commit that ends it, so a
/// worker that finds it at its start knows that an import was cut off, and that nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct StoredImportMark {
    /// The import.
    pub transfer_id: TransferId,
    /// When it began.
    pub begun_at_ms: u64,
}

impl StoredImportMark {
    /// Where it stands.
    #[must_use]
    pub fn place() -> Key {
        Key::text("import")
    }
}

impl Record for StoredImportMark {
    const TABLE: Table = Table::Meta;

    fn key(&self) -> Key {
        Self::place()
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        Vec::new()
    }
}
