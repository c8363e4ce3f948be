//! From a checked thread to the records that are stored of it.

use super::check::ThreadParts;
use super::document::AttachmentDoc;
use crate::store::attachments::{StoredAttachment, StoredPiece};
use crate::store::records::{StoredChain, StoredNode, StoredThread};
use crate::store::tree::{NewNode, Position, Tree};
use panelot_protocol::ids::{NodeId, PresetId, ThreadId};
use std::collections::BTreeMap;

/// The records of one thread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// The thread.
    pub thread: StoredThread,
    /// Its nodes.
    pub nodes: Vec<StoredNode>,
    /// The chains of its tree.
    pub chains: Vec<StoredChain>,
    /// Its attachments.
    pub attachments: Vec<StoredAttachment>,
    /// Their content.
    pub pieces: Vec<StoredPiece>,
}

/// Makes the records. Numbers, chains and depths are made anew from the order of the nodes, whatever the document's
/// writer had; `revision` is above the one of the thread that is replaced, so that whoever still holds that one notices.
pub(super) fn plan(parts: ThreadParts, revision: u64, known_preset: impl Fn(&PresetId) -> bool) -> Plan {
    let ThreadParts { thread: head, attachments, nodes: docs, leaf_id } = parts;
    let mut thread = StoredThread {
        revision,
        title: head.title,
        title_by_user: head.title_by_user,
        updated_at_ms: head.updated_at_ms,
        pinned: head.pinned,
        archived: head.archived,
        preset: head.preset.filter(known_preset),
        folder_id: head.folder_id,
        tags: head.tags,
        forked_from: head.forked_from.map(|fork| (fork.thread_id, fork.node_id)),
        param_overrides: head.param_overrides,
        stats: head.stats,
        ..StoredThread::new(head.id, head.created_at_ms)
    };
    let mut tree = Tree::default();
    let mut places: BTreeMap<NodeId, Position> = BTreeMap::new();
    let mut nodes = Vec::with_capacity(docs.len());
    for doc in docs {
        let parent = doc.parent_id.as_ref().and_then(|parent| places.get(parent)).cloned();
        let new = vec![NewNode { id: doc.id, payload: doc.payload.stored() }];
        let appended = tree.append(&mut thread, parent.as_ref(), &doc.run_id, doc.at_ms, new);
        for node in appended.nodes {
            places.insert(node.id.clone(), Position::from(&node));
            nodes.push(StoredNode { tombstone: doc.deleted, ..node });
        }
    }
    let shown = leaf_id.as_ref().and_then(|leaf| places.get(leaf));
    let leaf = shown.and_then(|place| tree.newest_descendant(place)).or_else(|| tree.newest_sound_tip());
    thread.leaf_id = leaf.map(|leaf| leaf.node_id);
    // Appending moved it.
    thread.updated_at_ms = head.updated_at_ms;
    let (attachments, pieces) = attachments_of(&thread.id, attachments);
    Plan { chains: tree.chains().cloned().collect(), thread, nodes, attachments, pieces }
}

fn attachments_of(
    thread_id: &ThreadId,
    docs: Vec<AttachmentDoc>,
) -> (Vec<StoredAttachment>, Vec<StoredPiece>) {
    let (mut attachments, mut pieces) = (Vec::with_capacity(docs.len()), Vec::new());
    for doc in docs {
        let evicted = doc.pieces.is_none();
        let mut total = 0_u32;
        for base64 in doc.pieces.into_iter().flatten() {
            pieces.push(StoredPiece { attachment_id: doc.id.clone(), index: total, base64 });
            total = total.saturating_add(1);
        }
        attachments.push(StoredAttachment {
            id: doc.id,
            revision: 1,
            thread_id: Some(thread_id.clone()),
            mime: doc.mime,
            name: doc.name,
            created_at_ms: doc.created_at_ms,
            size_bytes: doc.size,
            total,
            received: total,
            references: doc.references,
            evicted,
        });
    }
    (attachments, pieces)
}
