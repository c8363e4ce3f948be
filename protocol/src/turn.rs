//! What a user submits, how a turn may differ from its thread's defaults, and how turns end.

use crate::ids::{AttachmentId, ConnectionId, TabId};
use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// A message of the user with everything that it refers to.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct UserInput {
    /// What the user typed; may be empty when something is attached.
    #[shape(len_max = limits::INPUT_TEXT_CHARS_MAX)]
    pub text: String,
    /// Attachments stored before with `attachment.put`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::INPUT_ATTACHMENTS_COUNT_MAX)]
    pub attachments: Vec<AttachmentId>,
    /// Tabs, selections and resources that the user referenced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::INPUT_CONTEXT_COUNT_MAX)]
    pub attached_context: Vec<AttachedContext>,
    /// The tab that page tools mean when they name none, as the composer showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_tab: Option<CapturedTab>,
}

impl UserInput {
    /// A message of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Something outside the message that the user pointed at.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct AttachedContext {
    /// What kind of thing it is.
    pub kind: ContextKind,
    /// How the composer named it.
    #[shape(len_max = limits::CONTEXT_LABEL_CHARS_MAX)]
    pub label: String,
    /// The tab that it is or comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
    /// Its address, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub url: Option<String>,
    /// Its text, when the page that sends it already holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::CONTEXT_TEXT_CHARS_MAX)]
    pub text: Option<String>,
}

/// Kinds of referenced things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// An open tab; the thread may read it from then on.
    Tab,
    /// Text that was selected in a page.
    Selection,
    /// A resource of a connected server.
    Resource,
}

/// The tab in front of the user when the message was sent.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct CapturedTab {
    /// Chrome's tab number.
    pub tab_id: TabId,
    /// Title at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: Option<String>,
    /// Address at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub url: Option<String>,
}

/// What one turn does differently from its thread.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct TurnOverrides {
    /// Another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The policy that the composer showed when the message was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_policy: Option<PermissionPolicy>,
    /// The tool levels that may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = 4)]
    pub enabled_tool_levels: Option<Vec<ToolLevel>>,
    /// Tokens that it may use before the user is asked; absent as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 1)]
    pub token_budget: Option<u64>,
}

/// A model of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// The endpoint.
    pub connection_id: ConnectionId,
    /// The id that its requests carry.
    #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
    pub model_id: String,
}

/// How much passes without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "snake_case")]
pub enum PermissionPolicy {
    /// Every tool asks, reads too.
    Always,
    /// Reads are free, writes ask.
    #[default]
    Untrusted,
    /// Ordinary writes pass; what is sensitive still asks.
    Auto,
}

/// Groups of tools by what they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, FromJson, Shape)]
pub enum ToolLevel {
    /// Tabs and browser data.
    L0,
    /// The content script.
    L1,
    /// Chrome's debugger.
    L2,
    /// Remote MCP servers.
    #[serde(rename = "mcp")]
    Mcp,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// A turn that the user started.
    User,
    /// The internal turn that finds a title.
    Title,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had nothing more to do.
    End,
    /// The answer was cut by the model's own limit.
    MaxTokens,
    /// The endpoint withheld the answer.
    ContentFilter,
    /// Older spelling of `end`: decoded, never sent.
    Done,
    /// The user stopped it.
    Interrupted,
    /// It failed; an `error` event says how.
    Error,
    /// A budget of the user is spent; the run can be resumed.
    BudgetPause,
}

/// Tokens of one model call or of several, normalised: `input` includes cache reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens sent, cache reads and writes included.
    pub input: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
    /// Of the input, tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Of the input, tokens written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
}

impl TokenUsage {
    /// The sum of two counts; saturates instead of overflowing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let optional = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: optional(self.cache_read, other.cache_read),
            cache_write: optional(self.cache_write, other.cache_write),
        }
    }
}
