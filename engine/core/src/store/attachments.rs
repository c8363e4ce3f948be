//! Attachments as they are stored: one row that says what is known, and one row per piece of content.

use super::commit::{CommitBuilder, RepoError};
use super::records::Record;
use super::repo::{get, records, under};
use crate::ports::{Index, Key, Query, Store, Table};
use panelot_protocol::FromJson;
use panelot_protocol::ids::{AttachmentId, RunId, ThreadId};
use serde::Serialize;

/// Attachments that are looked at when room is counted.
const ATTACHMENTS_COUNT_MAX: u32 = 20_000;

/// What is known of an attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct StoredAttachment {
    /// Its id.
    pub id: AttachmentId,
    /// Grows by one with each change.
    pub revision: u64,
    /// The thread that uses it; `None` until a message does.
    pub thread_id: Option<ThreadId>,
    /// Its media type.
    pub mime: String,
    /// Its file name.
    pub name: Option<String>,
    /// When its first piece came.
    pub created_at_ms: u64,
    /// Bytes that came so far.
    pub size_bytes: u64,
    /// How many pieces it has.
    pub total: u32,
    /// How many of them came.
    pub received: u32,
    /// The runs whose messages refer to it.
    pub references: Vec<RunId>,
    /// Whether its content was removed to make room, or never came with an import.
    pub evicted: bool,
}

impl StoredAttachment {
    /// Whether its content is there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.received == self.total && !self.evicted
    }

    /// The keys of its pieces.
    pub fn piece_keys(&self) -> impl Iterator<Item = Key> + use<> {
        let id = self.id.clone();
        let count = if self.evicted { 0 } else { self.received };
        (0..count).map(move |index| StoredPiece::key_of(&id, index))
    }
}

impl Record for StoredAttachment {
    const TABLE: Table = Table::Attachments;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        let thread = self.thread_id.as_ref().map_or("", ThreadId::as_str);
        let key = Key::text(thread).and_number(self.created_at_ms).and_text(self.id.as_str());
        vec![(Index::AttachmentsByThread, key)]
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}

/// A piece of an attachment's content. It is in no index, so that what is known is read without the content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct StoredPiece {
    /// The attachment.
    pub attachment_id: AttachmentId,
    /// Its place, from 0.
    pub index: u32,
    /// The bytes; only the last piece may be padded, so that the pieces one after the other are base64, too.
    pub base64: String,
}

impl StoredPiece {
    /// The key of a piece.
    #[must_use]
    pub fn key_of(id: &AttachmentId, index: u32) -> Key {
        Key::text(id.as_str()).and_number(index.into())
    }
}

impl Record for StoredPiece {
    const TABLE: Table = Table::Attachments;

    fn key(&self) -> Key {
        Self::key_of(&self.attachment_id, self.index)
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        Vec::new()
    }
}

/// What is known of an attachment.
///
/// # Errors
/// See [`RepoError`].
pub async fn attachment<S: Store>(
    store: &S,
    id: &AttachmentId,
) -> Result<Option<StoredAttachment>, RepoError> {
    get(store, Key::text(id.as_str())).await
}

/// The attachments of a thread, the oldest first.
///
/// # Errors
/// See [`RepoError`].
pub async fn attachments_of<S: Store>(
    store: &S,
    thread_id: &ThreadId,
) -> Result<Vec<StoredAttachment>, RepoError> {
    let (from, to) = under(thread_id.as_str());
    in_range(store, from, to).await
}

/// All attachments, ordered by thread and time; those of no thread first.
///
/// # Errors
/// See [`RepoError`].
pub async fn all_attachments<S: Store>(store: &S) -> Result<Vec<StoredAttachment>, RepoError> {
    in_range(store, Key(Vec::new()), Key::text("\u{ffff}")).await
}

async fn in_range<S: Store>(store: &S, from: Key, to: Key) -> Result<Vec<StoredAttachment>, RepoError> {
    let query = Query::Range {
        index: Index::AttachmentsByThread,
        from,
        to,
        reverse: false,
        limit: ATTACHMENTS_COUNT_MAX,
    };
    records(&store.read(vec![query]).await?, 0)
}

/// The content of an attachment as its pieces; `None` when a piece is not there.
///
/// # Errors
/// See [`RepoError`].
pub async fn pieces<S: Store>(
    store: &S,
    attachment: &StoredAttachment,
) -> Result<Option<Vec<String>>, RepoError> {
    if !attachment.is_whole() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for key in attachment.piece_keys() {
        // One at a time: a piece is a megabyte.
        let Some(piece) = get::<_, StoredPiece>(store, key).await? else { return Ok(None) };
        found.push(piece.base64);
    }
    Ok(Some(found))
}

/// Removes an attachment with its content.
pub fn delete(commit: &mut CommitBuilder, attachment: &StoredAttachment) {
    commit.unchanged(attachment).delete(Table::Attachments, attachment.key());
    for key in attachment.piece_keys() {
        commit.delete(Table::Attachments, key);
    }
}

/// Removes an attachment's content; what is known of it stays, so that messages that refer to it can say so.
pub fn evict(commit: &mut CommitBuilder, attachment: &StoredAttachment) {
    commit.unchanged(attachment);
    for key in attachment.piece_keys() {
        commit.delete(Table::Attachments, key);
    }
    let revision = attachment.revision.saturating_add(1);
    commit.put(&StoredAttachment { evicted: true, revision, ..attachment.clone() });
}

/// The bytes that a text of base64 stands for.
#[must_use]
pub fn bytes_of_base64(text: &str) -> u64 {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (text.len() / 4).saturating_mul(3).saturating_sub(padding);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
