//! Durable waits of a run for the user, a page or a time.

use crate::ids::{InteractionId, ItemId, TabId, TurnId};
use crate::{FromJson, Shape, limits};
use serde::Serialize;
use serde_json::Value;

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum InteractionRequestPayload {
    /// An answer in words.
    AskUser {
        /// The tool call's item.
        item_id: ItemId,
        /// The question.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        question: String,
        /// Answers to choose from; the user may always give another one in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[shape(items_max = 16, len_max = limits::NAME_CHARS_MAX)]
        options: Vec<String>,
        /// When the wait ends by itself, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ms: Option<u64>,
    },
    /// Something that only the user can do: a log-in, a payment, a human check.
    UserAction {
        /// The tool call's item.
        item_id: ItemId,
        /// What is to be done.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        instruction: String,
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<TabId>,
        /// When the wait ends by itself, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ms: Option<u64>,
    },
    /// The user acted in a tab that the agent works in.
    Takeover {
        /// The tab.
        tab_id: TabId,
        /// What was seen: a click, a key.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        what: String,
    },
    /// A change of a page.
    WatchPage {
        /// The tool call's item.
        item_id: ItemId,
        /// The tab.
        tab_id: TabId,
        /// What is awaited.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        condition: String,
        /// When the wait ends by itself, in milliseconds since 1970.
        deadline_ms: u64,
    },
    /// A time.
    ScheduleResume {
        /// The tool call's item.
        item_id: ItemId,
        /// When the run goes on, in milliseconds since 1970.
        at_ms: u64,
        /// Why.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        reason: String,
    },
    /// A form of a remote server.
    Elicitation {
        /// The server's name.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        server: String,
        /// What the server says.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        message: String,
        /// The form as a JSON Schema.
        schema: Value,
    },
}

impl InteractionRequestPayload {
    /// When the wait ends by itself, in milliseconds since 1970; `None` when only the user ends it.
    pub fn deadline_ms(&self) -> Option<u64> {
        match self {
            Self::AskUser { deadline_ms, .. } | Self::UserAction { deadline_ms, .. } => *deadline_ms,
            Self::WatchPage { deadline_ms, .. } => Some(*deadline_ms),
            Self::ScheduleResume { at_ms, .. } => Some(*at_ms),
            Self::Takeover { .. } | Self::Elicitation { .. } => None,
        }
    }

    /// The item of the call that waits; `None` when none does.
    pub fn item_id(&self) -> Option<&ItemId> {
        match self {
            Self::AskUser { item_id, .. }
            | Self::UserAction { item_id, .. }
            | Self::WatchPage { item_id, .. }
            | Self::ScheduleResume { item_id, .. } => Some(item_id),
            Self::Takeover { .. } | Self::Elicitation { .. } => None,
        }
    }

    /// Whether it is the user who is waited for. A page and a time are awaited without them.
    pub fn needs_user(&self) -> bool {
        match self {
            Self::AskUser { .. }
            | Self::UserAction { .. }
            | Self::Takeover { .. }
            | Self::Elicitation { .. } => true,
            Self::WatchPage { .. } | Self::ScheduleResume { .. } => false,
        }
    }
}

/// What the user answers.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum InteractionResponse {
    /// An answer; finite JSON.
    Submit {
        /// The answer's value.
        value: Value,
    },
    /// Done, go on.
    Done {},
    /// Not now; the model is told.
    Decline {
        /// What the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::NOTE_CHARS_MAX)]
        note: Option<String>,
    },
    /// Not now; the turn is interrupted.
    Cancel {},
}

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum InteractionEnd {
    /// The user answered.
    Answered {
        /// The answer.
        response: InteractionResponse,
    },
    /// Its time was over and nothing had come.
    Expired {},
    /// The page shows what was awaited.
    Met {},
    /// The page cannot be watched any more.
    Lost {
        /// Why.
        why: WatchLoss,
    },
    /// The time that was awaited has come.
    Due {},
    /// The turn ended before.
    Withdrawn {},
}

impl InteractionEnd {
    /// Whether what was awaited came.
    pub fn is_good(&self) -> bool {
        match self {
            Self::Answered { response } => match response {
                InteractionResponse::Submit { .. } | InteractionResponse::Done {} => true,
                InteractionResponse::Decline { .. } | InteractionResponse::Cancel {} => false,
            },
            Self::Met {} | Self::Due {} => true,
            Self::Expired {} | Self::Lost { .. } | Self::Withdrawn {} => false,
        }
    }
}

/// Why a page cannot be watched any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum WatchLoss {
    /// Its tab was closed.
    Closed,
    /// Its tab shows another site.
    Navigated,
    /// A rule of the user forbids it by now.
    Forbidden,
}

/// A wait, as a snapshot carries it.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct PendingInteraction {
    /// The wait.
    pub interaction_id: InteractionId,
    /// The turn that waits.
    pub turn_id: TurnId,
    /// What it waits for.
    pub request: InteractionRequestPayload,
}
