//! What a view needs to show a thread from nothing.

use crate::approval::PendingApproval;
use crate::ids::{Epoch, FolderId, ItemId, NodeId, PresetId, RunId, TabId, ThreadId, TurnId};
use crate::interaction::PendingInteraction;
use crate::item::ItemView;
use crate::settings::GenParams;
use crate::turn::{StopReason, TokenUsage, TurnKind, TurnOverrides, UserInput};
use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// A thread's metadata at one revision.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ThreadMeta {
    /// The thread.
    pub thread_id: ThreadId,
    /// Grows by one with each commit that changes the thread.
    pub revision: u64,
    /// Its title; empty until one was found.
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// When something last happened in it, in milliseconds since 1970.
    pub updated_at_ms: u64,
    /// The end of the path that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_id: Option<NodeId>,
    /// Kept at the top of the list.
    pub pinned: bool,
    /// Put away.
    pub archived: bool,
    /// The model preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetId>,
    /// The folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::TAGS_COUNT_MAX, len_max = limits::NAME_CHARS_MAX)]
    pub tags: Vec<String>,
    /// The thread that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<ThreadId>,
    /// Parameters that this thread sets over its preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param_overrides: Option<GenParams>,
    /// Its own ceiling of cost in US dollars; 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub cost_ceiling_usd: Option<f64>,
    /// What it has used.
    pub stats: ThreadStats,
}

/// What a thread has used.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStats {
    /// Turns of the user.
    pub turns: u64,
    /// Tokens of all model calls.
    pub usage: TokenUsage,
    /// Cost in US dollars; absent when a price was unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What changed in a thread's metadata; an absent field is as it was.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ThreadMetaPatch {
    /// New title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: Option<String>,
    /// New time of the last happening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<u64>,
    /// New end of the shown path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_id: Option<NodeId>,
    /// The shown path is another one: items must be fetched again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path_replaced: bool,
    /// Pinned or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Archived or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// New preset; null for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(nullable)]
    pub preset: Option<Option<PresetId>>,
    /// New folder; null for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(nullable)]
    pub folder_id: Option<Option<FolderId>>,
    /// New tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = limits::TAGS_COUNT_MAX, len_max = limits::NAME_CHARS_MAX)]
    pub tags: Option<Vec<String>>,
    /// New parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param_overrides: Option<GenParams>,
    /// New ceiling of cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub cost_ceiling_usd: Option<f64>,
    /// New use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<ThreadStats>,
}

/// Where a view stands in a thread's stream of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct StreamCursor {
    /// The thread.
    pub thread_id: ThreadId,
    /// The worker's life; a new one means: subscribe again.
    pub epoch: Epoch,
    /// Free of gaps within an epoch; the first event has 1, a snapshot the number of the last event that it holds.
    pub sequence: u64,
}

/// Everything that a view needs of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSnapshot {
    /// Metadata.
    pub thread: ThreadMeta,
    /// The newest items of the shown path in their order, those of the running turn included.
    #[shape(items_max = 4_096)]
    pub items: Vec<ItemView>,
    /// The node before the first item; absent when the path begins here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<NodeId>,
    /// The turn that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_turn: Option<ActiveTurn>,
    /// Questions that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::PENDING_COUNT_MAX)]
    pub approvals: Vec<PendingApproval>,
    /// Waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::PENDING_COUNT_MAX)]
    pub interactions: Vec<PendingInteraction>,
    /// Runs that wait for their turn.
    pub queue: QueueView,
    /// Runs that need a decision of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::PENDING_COUNT_MAX)]
    pub recoverable: Vec<RunRecoveryState>,
    /// Where the stream stands.
    pub cursor: StreamCursor,
}

/// A turn that runs.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ActiveTurn {
    /// The turn.
    pub turn_id: TurnId,
    /// Whose it is.
    pub turn_kind: TurnKind,
    /// Whether `turn.steer` may add to it.
    pub steerable: bool,
    /// What it waits for, when it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Messages that wait for its next step, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::STEERS_COUNT_MAX)]
    pub steers: Vec<UserInput>,
}

/// A wait that is not the user's: shown, never stored in a view's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Why.
    pub reason: WaitingReason,
    /// Until when, in milliseconds since 1970, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
}

/// Reasons to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum WaitingReason {
    /// The endpoint asked for fewer requests.
    RateLimit,
    /// A failed request is sent again after a pause.
    Retry,
    /// The endpoint has not answered for a while.
    SlowProvider,
    /// A page loads.
    PageLoading,
    /// A page action takes long.
    SlowTool,
}

/// Runs that wait in a thread.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct QueueView {
    /// The runs in their order.
    #[shape(items_max = limits::QUEUED_RUNS_COUNT_MAX)]
    pub runs: Vec<QueuedRun>,
    /// Whether the queue stands still until it is released.
    pub held: bool,
}

/// A run that waits.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct QueuedRun {
    /// The run.
    pub run_id: RunId,
    /// What will be sent.
    pub input: UserInput,
    /// How its turn will differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<TurnOverrides>,
    /// The run's revision.
    pub revision: u64,
}

/// A run that does not go on by itself.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct RunRecoveryState {
    /// The run.
    pub run_id: RunId,
    /// Its turn.
    pub turn_id: TurnId,
    /// What is the matter.
    pub reason: RecoveryReason,
    /// `uncertain_write`: the call that may have happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_tool: Option<PendingTool>,
    /// The run's revision.
    pub revision: u64,
}

/// Why a run does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryReason {
    /// The worker ended, or the endpoint failed, in the middle of an answer: continue or leave.
    Interrupted,
    /// A write may have happened: retry, mark done or fail.
    UncertainWrite,
    /// A budget is spent: continue or leave.
    BudgetPaused,
    /// The environment is not the one that the run began with.
    EnvironmentChanged,
}

/// A tool call that may have happened.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct PendingTool {
    /// The call's item.
    pub item_id: ItemId,
    /// The tool's name.
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub tool_name: String,
    /// The target in a few words.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub label: String,
}

/// A row of the thread list.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ThreadListEntry {
    /// Metadata.
    pub thread: ThreadMeta,
    /// What it does.
    pub activity: ThreadActivity,
}

/// What a thread does, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ThreadActivity {
    /// Nothing.
    Idle,
    /// A turn runs.
    Running,
    /// A turn waits for the user.
    WaitingForUser,
    /// A run needs a decision.
    NeedsRecovery,
}

/// A thread's activity in a broadcast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ActivityEntry {
    /// The thread.
    pub thread_id: ThreadId,
    /// What it does.
    pub activity: ThreadActivity,
}

/// An ordinary tab that a message can mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// The tab.
    pub tab_id: TabId,
    /// Its window.
    #[shape(min = 0, max = 2_147_483_647)]
    pub window_id: i32,
    /// Whether it is in front in its window.
    pub active: bool,
    /// Its title.
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: String,
    /// Its address.
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub url: String,
}

/// How the last turn of a view ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// The turn.
    pub turn_id: TurnId,
    /// How it ended.
    pub stop_reason: StopReason,
}
