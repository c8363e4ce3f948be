//! Identities that cross a context: newtypes, so that one kind can never stand where another is meant.

use crate::{FromJson, Shape};
use serde::Serialize;
use std::fmt;

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident: $format:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson, Shape)]
        #[serde(transparent)]
        pub struct $name(#[shape(format = $format)] String);

        impl $name {
            /// Wraps a text that the caller made or has validated already.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )+};
}

text_id! {
    /// One conversation with its tree of nodes.
    ThreadId: id,
    /// One full exchange: an input, its model calls and tools, its end. A turn has the text of its run's id.
    TurnId: id,
    /// The durable execution record of one turn.
    RunId: id,
    /// One atomic output inside a turn. The item of a stored node has the node's text.
    ItemId: id,
    /// One stored node of a thread's tree.
    NodeId: id,
    /// One Op as its client sent it; a client sends it again under the same id until it is answered.
    SubmissionId: uuid,
    /// One page (side panel, chat, options) over its reconnections.
    ClientId: uuid,
    /// One question of the engine to the user about a tool call.
    ApprovalId: id,
    /// One durable wait of the engine for the user, a page or a time.
    InteractionId: id,
    /// One stored attachment.
    AttachmentId: id,
    /// One configured endpoint.
    ConnectionId: id,
    /// One model preset.
    PresetId: id,
    /// One permission rule.
    RuleId: id,
    /// One folder of the thread list.
    FolderId: id,
    /// One request to a content script.
    RequestId: id,
    /// One chunked export or import.
    TransferId: id,
    /// One life of the worker: random, made at start-up, never stored.
    Epoch: id,
}

impl From<&RunId> for TurnId {
    fn from(run: &RunId) -> Self {
        Self::new(run.as_str())
    }
}

impl From<&TurnId> for RunId {
    fn from(turn: &TurnId) -> Self {
        Self::new(turn.as_str())
    }
}

impl From<&NodeId> for ItemId {
    fn from(node: &NodeId) -> Self {
        Self::new(node.as_str())
    }
}

impl From<&ItemId> for NodeId {
    fn from(item: &ItemId) -> Self {
        Self::new(item.as_str())
    }
}

impl From<&ApprovalId> for ItemId {
    fn from(approval: &ApprovalId) -> Self {
        Self::new(approval.as_str())
    }
}

impl From<&InteractionId> for ItemId {
    fn from(interaction: &InteractionId) -> Self {
        Self::new(interaction.as_str())
    }
}

/// Chrome's number of a tab; valid for one browser session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson, Shape)]
#[serde(transparent)]
pub struct TabId(#[shape(min = 0, max = 2_147_483_647)] pub i32);

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
