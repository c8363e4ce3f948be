//! The document of an export: what stands in it, and the limits by which it is checked when it comes back.

use super::payload::PayloadDoc;
use crate::store::attachments::StoredAttachment;
use crate::store::records::{StoredNode, StoredThread};
use panelot_protocol::ids::{AttachmentId, FolderId, NodeId, PresetId, RunId, ThreadId};
use panelot_protocol::settings::GenParams;
use panelot_protocol::snapshot::ThreadStats;
use panelot_protocol::{FromJson, Shape, limits};
use serde::Serialize;

/// What the document calls itself.
pub const FORMAT: &str = "panelot-export";
/// The version of its schema. A reader refuses a newer one; a change that an older reader would misread raises it.
pub const VERSION: u64 = 1;

/// A thread without its nodes. What is bound to one browser session (tabs, origins, grants), the queue, and the thread's
/// own ceiling of cost are not in it.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ThreadDoc {
    /// The thread.
    pub id: ThreadId,
    /// Its title.
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: String,
    /// Whether the user gave the title.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub title_by_user: bool,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// When something last happened in it, in milliseconds since 1970.
    pub updated_at_ms: u64,
    /// Kept at the top of the list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Put away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Its preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetId>,
    /// Its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::TAGS_COUNT_MAX, len_max = limits::NAME_CHARS_MAX)]
    pub tags: Vec<String>,
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkDoc>,
    /// Its parameters over the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param_overrides: Option<GenParams>,
    /// What it has used.
    pub stats: ThreadStats,
}

/// A node of another thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ForkDoc {
    /// The thread.
    pub thread_id: ThreadId,
    /// The node.
    pub node_id: NodeId,
}

/// A node. The nodes of a thread stand in the order in which they were made, so a parent comes before its children.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct NodeDoc {
    /// The node.
    pub id: NodeId,
    /// The node before it; absent at a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// The turn that made it.
    pub run_id: RunId,
    /// Whether the user deleted it; then its words are not in the document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// What it holds.
    pub payload: PayloadDoc,
}

/// An attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentDoc {
    /// The attachment.
    pub id: AttachmentId,
    /// Its media type.
    #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
    pub mime: String,
    /// Its file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub name: Option<String>,
    /// Its size in bytes.
    #[shape(min = 0, max = limits::ATTACHMENT_BYTES_MAX)]
    pub size: u64,
    /// When it came, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// The turns whose messages refer to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = 4_096)]
    pub references: Vec<RunId>,
    /// Its bytes, in pieces of at most 1 MiB; absent when they were not asked for or are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = 64, len_max = limits::CHUNK_BASE64_CHARS_MAX, format = base64)]
    pub pieces: Option<Vec<String>>,
}

impl From<&StoredThread> for ThreadDoc {
    fn from(thread: &StoredThread) -> Self {
        let forked_from = thread.forked_from.clone();
        Self {
            id: thread.id.clone(),
            title: thread.title.clone(),
            title_by_user: thread.title_by_user,
            created_at_ms: thread.created_at_ms,
            updated_at_ms: thread.updated_at_ms,
            pinned: thread.pinned,
            archived: thread.archived,
            preset: thread.preset.clone(),
            folder_id: thread.folder_id.clone(),
            tags: thread.tags.clone(),
            forked_from: forked_from.map(|(thread_id, node_id)| ForkDoc { thread_id, node_id }),
            param_overrides: thread.param_overrides.clone(),
            stats: thread.stats.clone(),
        }
    }
}

impl From<&StoredNode> for NodeDoc {
    fn from(node: &StoredNode) -> Self {
        Self {
            id: node.id.clone(),
            parent_id: node.parent_id.clone(),
            at_ms: node.at_ms,
            run_id: node.run_id.clone(),
            deleted: node.tombstone,
            payload: if node.tombstone { PayloadDoc::nothing() } else { PayloadDoc::of(&node.payload) },
        }
    }
}

impl AttachmentDoc {
    /// An attachment with its bytes, or without.
    #[must_use]
    pub fn of(attachment: &StoredAttachment, pieces: Option<Vec<String>>) -> Self {
        Self {
            id: attachment.id.clone(),
            mime: attachment.mime.clone(),
            name: attachment.name.clone(),
            size: attachment.size_bytes,
            created_at_ms: attachment.created_at_ms,
            references: attachment.references.clone(),
            pieces,
        }
    }
}
