//! Questions about tool calls, and what the user answers.

use crate::ids::{ApprovalId, AttachmentId, ItemId, TabId, TurnId};
use crate::{FromJson, Shape, limits};
use serde::Serialize;
use serde_json::Value;

/// What a tool does, as rules and people group it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    /// Looks, changes nothing.
    Read,
    /// Goes to an address.
    Navigate,
    /// Arranges tabs and groups.
    Organize,
    /// Clicks and presses keys.
    Click,
    /// Fills fields.
    Fill,
    /// Runs code in a page.
    Eval,
    /// Saves a file.
    Download,
    /// Hands a file to a page.
    Upload,
    /// Asks the user for something.
    Interact,
    /// Remembers something.
    Memory,
    /// Calls a remote server's tool.
    Mcp,
}

/// Everything that the user needs to decide on one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequestPayload {
    /// The tool call's item.
    pub item_id: ItemId,
    /// The tool's name as the model called it.
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub tool_name: String,
    /// What the tool does.
    pub category: ToolCategory,
    /// The thing that is acted on, in a few words: `button "Place order"`.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub label: String,
    /// The complete parameters.
    pub params: Value,
    /// Where it happens: scheme, host and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub origin: Option<String>,
    /// The tab in which it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
    /// What makes this call more than ordinary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = 8)]
    pub flags: Vec<ApprovalFlag>,
    /// A look at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ApprovalPreview>,
    /// When the question is declined by itself, in milliseconds since 1970.
    pub deadline_ms: u64,
}

/// Marks of a call that is more than ordinary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalFlag {
    /// The parameters hold something sensitive.
    SensitivePayload,
    /// The call would use Chrome's debugger after the content script had no effect.
    EscalationL2,
    /// The extension has no permission for this site yet.
    HostPermission,
    /// A value that was read on one site would go to another.
    CrossSite,
}

/// A look at the target of a call.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPreview {
    /// The target's line in the last snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub snapshot_line: Option<String>,
    /// A picture of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_id: Option<AttachmentId>,
}

/// What the user decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ApprovalDecision {
    /// This call, once.
    Accept {},
    /// Calls of this kind in this thread until the browser is closed.
    AcceptForSession {},
    /// Calls of this kind on this site, as a rule.
    AcceptForSite {},
    /// Not this call; the turn goes on.
    Decline {
        /// What the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::NOTE_CHARS_MAX)]
        note: Option<String>,
    },
    /// Not this call; the turn is interrupted.
    Cancel {},
}

impl ApprovalDecision {
    /// Whether the call may run.
    pub fn accepts(&self) -> bool {
        match self {
            Self::Accept {} | Self::AcceptForSession {} | Self::AcceptForSite {} => true,
            Self::Decline { .. } | Self::Cancel {} => false,
        }
    }
}

/// A question that waits, as a snapshot carries it.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// The question.
    pub approval_id: ApprovalId,
    /// The turn that waits.
    pub turn_id: TurnId,
    /// What is asked.
    pub request: ApprovalRequestPayload,
}
