//! Messages between the engine and the content script in a page.

use crate::ids::RequestId;
use crate::item::ActionOutcome;
use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// What the engine asks of a content script.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentOp {
    /// Does one thing in the page.
    Execute {
        /// The protocol's name: [`crate::CONTENT_PROTOCOL`].
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        protocol: String,
        /// The sender's [`crate::CONTENT_SCRIPT_SCHEMA_HASH`].
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        schema_hash: String,
        /// The request.
        request_id: RequestId,
        /// When nobody waits for the answer any more, in milliseconds since 1970.
        deadline_ms: u64,
        /// What to do.
        action: ContentAction,
    },
    /// Gives a request up; a write that began may have happened.
    Cancel {
        /// The request.
        request_id: RequestId,
    },
    /// Asks whether a script of this build is there.
    Ping {
        /// The sender's [`crate::CONTENT_SCRIPT_SCHEMA_HASH`].
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        schema_hash: String,
        /// The request.
        request_id: RequestId,
    },
}

/// What can be done in a page.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "tool", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentAction {
    /// Reads the page.
    Snapshot {
        /// Tokens that the text may cost.
        #[shape(min = 100, max = limits::SNAPSHOT_TOKENS_MAX)]
        max_tokens: u32,
        /// Only what is below this ref.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::REF_CHARS_MAX)]
        scope_ref: Option<String>,
    },
    /// Tells what a ref is now, without touching it: for questions to the user and the check before a write.
    Describe {
        /// The element.
        #[serde(rename = "ref")]
        #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
        target: String,
    },
    /// Clicks an element.
    Click {
        /// The element.
        #[serde(rename = "ref")]
        #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
        target: String,
        /// The mouse button.
        button: MouseButton,
        /// Keys held down.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[shape(items_max = 4)]
        modifiers: Vec<KeyModifier>,
        /// How often.
        #[shape(min = 1, max = 3)]
        click_count: u32,
    },
    /// Types into an element.
    Type {
        /// The element.
        #[serde(rename = "ref")]
        #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
        target: String,
        /// The text.
        #[shape(len_max = limits::TYPE_TEXT_CHARS_MAX)]
        text: String,
        /// What happens to what is there.
        mode: TypeMode,
        /// Whether Enter follows.
        submit: bool,
    },
    /// Chooses options of a list.
    SelectOption {
        /// The element.
        #[serde(rename = "ref")]
        #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
        target: String,
        /// The options: each a value, a label or an index.
        #[shape(items_min = 1, items_max = limits::SELECT_VALUES_COUNT_MAX, len_max = limits::MESSAGE_CHARS_MAX)]
        values: Vec<String>,
    },
    /// Waits for a condition.
    WaitFor {
        /// The condition.
        condition: WaitCondition,
        /// Longest wait in milliseconds.
        #[shape(min = 0, max = limits::WAIT_MS_MAX)]
        timeout_ms: u64,
    },
}

impl ContentAction {
    /// Whether it may change the page.
    pub fn is_write(&self) -> bool {
        match self {
            Self::Snapshot { .. } | Self::Describe { .. } | Self::WaitFor { .. } => false,
            Self::Click { .. } | Self::Type { .. } | Self::SelectOption { .. } => true,
        }
    }
}

/// Mouse buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    /// The main one.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The one of menus.
    Right,
}

/// Keys that are held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum KeyModifier {
    /// Alt.
    Alt,
    /// Control.
    Control,
    /// Command.
    Meta,
    /// Shift.
    Shift,
}

/// What happens to the text that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "snake_case")]
pub enum TypeMode {
    /// It goes.
    #[default]
    Replace,
    /// It stays, the new text comes behind it.
    Append,
}

/// What `wait_for` waits for.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum WaitCondition {
    /// A text is there.
    Text {
        /// The text.
        #[shape(len_min = 1, len_max = limits::MESSAGE_CHARS_MAX)]
        text: String,
    },
    /// A text is gone.
    TextGone {
        /// The text.
        #[shape(len_min = 1, len_max = limits::MESSAGE_CHARS_MAX)]
        text: String,
    },
}

/// What a content script answers.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ContentResult {
    /// The protocol's name: [`crate::CONTENT_PROTOCOL`].
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub protocol: String,
    /// The script's [`crate::CONTENT_SCRIPT_SCHEMA_HASH`].
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub schema_hash: String,
    /// The request that this answers.
    pub request_id: RequestId,
    /// The document's nonce: an answer of another document than the one that was asked does not count.
    #[shape(len_max = limits::REF_CHARS_MAX)]
    pub document: String,
    /// How it went.
    pub outcome: ContentOutcome,
}

/// How a request to a content script went.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentOutcome {
    /// The script is there and of this build.
    Pong {},
    /// The page as text.
    Snapshot {
        /// The page.
        snapshot: PageSnapshot,
    },
    /// What a ref is now.
    Target {
        /// The element.
        target: TargetDescription,
    },
    /// What an action did.
    Action {
        /// The outcome.
        action: ActionReport,
    },
    /// A wait ended.
    Waited {
        /// Whether the condition holds.
        met: bool,
        /// How long it took in milliseconds.
        elapsed_ms: u64,
    },
    /// It failed; nothing was done unless the code says otherwise.
    Failure {
        /// The kind of failure.
        code: ActionFailureCode,
        /// What happened and what to do next, for the model.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        message: String,
    },
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct PageSnapshot {
    /// The document's address.
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub url: String,
    /// The document's title.
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: String,
    /// The accessibility tree as indented lines.
    #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
    pub text: String,
    /// How many elements have a ref.
    pub ref_count: u32,
    /// Whether something was left out.
    pub truncated: bool,
}

/// What a ref is now.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct TargetDescription {
    /// Its role.
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub role: String,
    /// Its accessible name.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub name: String,
    /// Its line in a snapshot.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub line: String,
    /// What is sensitive about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<SensitiveField>,
    /// The document's origin.
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub origin: String,
}

/// Fields that hold something sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum SensitiveField {
    /// A password.
    Password,
    /// A one-time code.
    OneTimeCode,
    /// A card's number, date or code.
    Card,
}

/// What an action did.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ActionReport {
    /// How sure it is.
    pub outcome: ActionOutcome,
    /// What was seen.
    #[shape(items_max = limits::EVIDENCE_COUNT_MAX, len_max = limits::MESSAGE_CHARS_MAX)]
    pub evidence: Vec<String>,
    /// What changed in the page since the last snapshot, as lines with `+` and `-`.
    #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
    pub diff: String,
    /// Whether the document began to go elsewhere.
    pub navigating: bool,
    /// The document's address.
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub url: String,
}

/// Kinds of failures of page actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ActionFailureCode {
    /// The ref is of an element that is gone or is another one now.
    StaleRef,
    /// The element is no longer in the document.
    Detached,
    /// The element is not shown.
    NotVisible,
    /// The element moves.
    NotStable,
    /// The element is disabled.
    Disabled,
    /// The element takes no text.
    NotEditable,
    /// Something lies over the element.
    Occluded,
    /// Several elements could be meant.
    AmbiguousTarget,
    /// The frame cannot be reached.
    UnsupportedFrame,
    /// The page ignored what a content script can do.
    L1NotEffective,
    /// A navigation began; what happened cannot be told.
    NavigationUncertain,
    /// A dialog or another boundary holds the page.
    SafetyBoundaryUnavailable,
    /// The time is over.
    Timeout,
    /// It was given up.
    Aborted,
    /// Something else.
    Unknown,
}

impl ActionFailureCode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StaleRef => "stale_ref",
            Self::Detached => "detached",
            Self::NotVisible => "not_visible",
            Self::NotStable => "not_stable",
            Self::Disabled => "disabled",
            Self::NotEditable => "not_editable",
            Self::Occluded => "occluded",
            Self::AmbiguousTarget => "ambiguous_target",
            Self::UnsupportedFrame => "unsupported_frame",
            Self::L1NotEffective => "l1_not_effective",
            Self::NavigationUncertain => "navigation_uncertain",
            Self::SafetyBoundaryUnavailable => "safety_boundary_unavailable",
            Self::Timeout => "timeout",
            Self::Aborted => "aborted",
            Self::Unknown => "unknown",
        }
    }
}
