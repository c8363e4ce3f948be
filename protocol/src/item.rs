//! Items: the atomic outputs of a turn, as a view shows them.

use crate::approval::ToolCategory;
use crate::event::ErrorCode;
use crate::ids::{ItemId, NodeId, TabId, TurnId};
use crate::interaction::{InteractionEnd, InteractionRequestPayload};
use crate::turn::UserInput;
use crate::{FromJson, Shape, limits};
use serde::Serialize;
use serde_json::Value;

/// Kinds of items. A stored node can be of more kinds than these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// What the user said.
    UserMessage,
    /// What the model said.
    AssistantMessage,
    /// What the model thought, where the endpoint shows it.
    Reasoning,
    /// A call of a tool.
    ToolCall,
    /// A question to the user about a tool call.
    Approval,
    /// A wait of the turn for the user, a page or a time.
    Interaction,
    /// A word of the engine.
    SystemNotice,
}

/// What is known of an item when it starts; which fields are there depends on its kind.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ItemMeta {
    /// The stored node that the item shows, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// `user_message`: what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<UserInput>,
    /// `tool_call` and `approval`: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub tool_name: Option<String>,
    /// `tool_call` and `approval`: what the tool does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolCategory>,
    /// `tool_call` and `approval`: the target in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub label: Option<String>,
    /// `tool_call`: the arguments, cut for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// `tool_call`: the tab that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
    /// `tool_call`: where it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub origin: Option<String>,
    /// `interaction`: what is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Box<InteractionRequestPayload>>,
    /// `system_notice`: which notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeKind>,
    /// The branches at this place, when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchInfo>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
}

/// Words of the engine; the UI says them in the user's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The user stopped the turn.
    Interrupted,
    /// The worker ended in the middle of an answer.
    WorkerRestarted,
    /// The model call failed; the item's text says how.
    ProviderFailed,
    /// The answer ended without the endpoint's closing mark.
    IncompleteAnswer,
    /// The model was told to change its approach.
    ToolFailures,
    /// The same call came three times without progress.
    RepeatedCall,
    /// The stored tree was damaged; the newest sound branch is shown.
    TreeRepaired,
    /// A write may or may not have happened.
    UncertainWrite,
    /// A budget is spent.
    BudgetPaused,
    /// The user lets a cut answer go on.
    Continued,
    /// Something else, in the item's text.
    Other,
}

/// Where a node stands among its siblings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct BranchInfo {
    /// Its place, from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// The sibling before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<NodeId>,
    /// The sibling after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NodeId>,
}

/// What is new in a running item.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ItemDelta {
    /// More text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
    pub text: Option<String>,
    /// More reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
    pub reasoning: Option<String>,
    /// How far a tool is; replaces what was said before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_progress: Option<Value>,
}

/// How an item ended.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ItemResult {
    /// Whether it went well.
    pub ok: bool,
    /// More, for the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<ItemDetails>,
}

/// What a view can show of an ended item.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ItemDetails {
    /// A text that was cut before its end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
    /// The result in a line or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub summary: Option<String>,
    /// A write's outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ActionOutcome>,
    /// A failure's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
    /// The user's decision on an approval, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<crate::approval::ApprovalDecision>,
    /// How a wait ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<InteractionEnd>,
}

/// How sure it is that a write happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    /// The page shows it.
    Verified,
    /// The page shows that it did not.
    Failed,
    /// It cannot be told.
    Uncertain,
}

/// Where an item is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Not ended.
    Running,
    /// Ended well.
    Done,
    /// Ended badly, or cut.
    Failed,
}

/// An item as a snapshot carries it and a view keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ItemView {
    /// The item.
    pub item_id: ItemId,
    /// Its turn.
    pub turn_id: TurnId,
    /// Its kind.
    pub kind: ItemKind,
    /// What was known at its start.
    pub meta: ItemMeta,
    /// Its text so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
    pub text: String,
    /// A tool's last word on its progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_progress: Option<Value>,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// What is known since its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<ItemDetails>,
}

fn is_false(value: &bool) -> bool {
    !*value
}
