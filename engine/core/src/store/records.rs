//! The records that are stored, each with its key, its index keys and its revision.
//!
//! A stored type is its own type: it is never sent to a page, and what is sent is made of it explicitly.

use crate::ports::{Index, Key, Row, Sealed, Table};
use panelot_protocol::FromJson;
use panelot_protocol::approval::{ApprovalDecision, ApprovalRequestPayload, ToolCategory};
use panelot_protocol::content::TargetDescription;
use panelot_protocol::event::{ErrorCode, ProviderDetails, ProviderErrorKind};
use panelot_protocol::from_json::{Unreadable, from_text};
use panelot_protocol::ids::{
    ApprovalId, ClientId, FolderId, InteractionId, NodeId, PresetId, RunId, SubmissionId, TabId, ThreadId,
};
use panelot_protocol::interaction::{InteractionEnd, InteractionRequestPayload};
use panelot_protocol::item::{ActionOutcome, NoticeKind};
use panelot_protocol::settings::{GenParams, ModelCapabilities, ModelPricing};
use panelot_protocol::snapshot::{PendingTool, RecoveryReason, ThreadStats};
use panelot_protocol::turn::{
    ModelRef, PermissionPolicy, StopReason, TokenUsage, ToolLevel, TurnKind, TurnOverrides, UserInput,
};
use serde::Serialize;
use serde_json::Value;

/// A record of one table.
pub trait Record: Serialize + FromJson {
    /// The table.
    const TABLE: Table;

    /// Its key.
    fn key(&self) -> Key;

    /// Its keys in the table's indexes.
    fn index_keys(&self) -> Vec<(Index, Key)>;

    /// What [`crate::ports::Expect::Revision`] compares; 0 without one.
    fn revision(&self) -> u64 {
        0
    }

    /// The row of this record.
    ///
    /// # Errors
    /// When a value has no JSON form, such as a number that is not finite.
    fn to_row(&self) -> Result<Row, serde_json::Error> {
        Ok(Row {
            table: Self::TABLE,
            key: self.key(),
            index_keys: self.index_keys(),
            revision: self.revision(),
            body: serde_json::to_string(self)?,
        })
    }

    /// The record of a row.
    ///
    /// # Errors
    /// When the row's body is not a record of this kind: the database is damaged or of another version.
    fn from_row(row: &Row) -> Result<Self, Unreadable> {
        from_text(&row.body)
    }
}

/// What a question named as the target of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct AskedTarget {
    /// The element or address in words.
    pub label: String,
    /// The tab.
    pub tab_id: Option<TabId>,
    /// The origin of its document.
    pub origin: Option<String>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredThread {
    /// Its id.
    pub id: ThreadId,
    /// Grows by one with each commit that changes the thread.
    pub revision: u64,
    /// Its title; empty until one was found.
    pub title: String,
    /// Whether the user gave the title: then no title turn replaces it.
    pub title_by_user: bool,
    /// How often a model may still be asked for a title.
    #[serde(default)]
    pub title_tries: u32,
    /// When it was made.
    pub created_at_ms: u64,
    /// When something last happened in it.
    pub updated_at_ms: u64,
    /// The end of the shown path.
    pub leaf_id: Option<NodeId>,
    /// The number of the next node.
    pub next_seq: u64,
    /// Kept at the top of the list.
    pub pinned: bool,
    /// Put away.
    pub archived: bool,
    /// Its preset.
    pub preset: Option<PresetId>,
    /// Its folder.
    pub folder_id: Option<FolderId>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The thread and node that it was forked from.
    pub forked_from: Option<(ThreadId, NodeId)>,
    /// Its parameters over the preset's.
    pub param_overrides: Option<GenParams>,
    /// Its own ceiling of cost in US dollars over the settings'; 0 for none.
    #[serde(default)]
    pub cost_ceiling_usd: Option<f64>,
    /// The cost from which the ceiling counts: where the user last let it go on.
    #[serde(default)]
    pub cost_allowed_from_usd: f64,
    /// What it has used.
    pub stats: ThreadStats,
    /// Tabs that it may read: captured, referenced by the user, or opened by the agent.
    pub tabs: Vec<TabId>,
    /// Origins that it reached.
    pub origins: Vec<String>,
    /// Whether its queue stands still until released.
    pub queue_held: bool,
    /// Whether it is being deleted: nothing new is admitted.
    pub deleting: bool,
}

impl StoredThread {
    /// A thread of nothing, for which no model is asked for a title.
    #[must_use]
    pub fn new(id: ThreadId, now_ms: u64) -> Self {
        Self {
            id,
            revision: 1,
            title: String::new(),
            title_by_user: false,
            title_tries: 0,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
            leaf_id: None,
            next_seq: 0,
            pinned: false,
            archived: false,
            preset: None,
            folder_id: None,
            tags: Vec::new(),
            forked_from: None,
            param_overrides: None,
            cost_ceiling_usd: None,
            cost_allowed_from_usd: 0.0,
            stats: ThreadStats::default(),
            tabs: Vec::new(),
            origins: Vec::new(),
            queue_held: false,
            deleting: false,
        }
    }
}

impl Record for StoredThread {
    const TABLE: Table = Table::Threads;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        let archived = if self.archived { "archived" } else { "open" };
        vec![(
            Index::ThreadsByUpdated,
            Key::text(archived).and_number(self.updated_at_ms).and_text(self.id.as_str()),
        )]
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}

/// A node of a thread's tree. Append-only, except for the tombstone.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredNode {
    /// Its id.
    pub id: NodeId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The node before it; `None` at a root.
    pub parent_id: Option<NodeId>,
    /// Its number in the thread: the order of making, never used twice.
    pub seq: u64,
    /// The chain that it is in: the id of the chain's first node.
    pub chain_id: NodeId,
    /// How many nodes come before it on its path.
    pub depth: u64,
    /// When it was made.
    pub at_ms: u64,
    /// The run that made it.
    pub run_id: RunId,
    /// Whether the user deleted it.
    pub tombstone: bool,
    /// What it holds.
    pub payload: NodePayload,
}

impl Record for StoredNode {
    const TABLE: Table = Table::Nodes;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        vec![
            (Index::NodesBySeq, Key::text(self.thread_id.as_str()).and_number(self.seq)),
            (Index::NodesByChain, Key::text(self.chain_id.as_str()).and_number(self.depth)),
        ]
    }
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NodePayload {
    /// What the user said.
    UserMessage {
        /// The message.
        input: UserInput,
        /// Whether it was added to a running turn.
        steered: bool,
    },
    /// What the model said; its calls follow as nodes of their own.
    AssistantMessage {
        /// The text.
        text: String,
        /// What it thought, as text.
        reasoning: Option<String>,
        /// The endpoint's own state, sent back unchanged.
        provider_state: Option<Value>,
        /// Cut before its end.
        partial: bool,
        /// How many calls it made; they follow as nodes.
        call_count: u32,
        /// The model.
        model: ModelRef,
        /// Tokens of the call.
        usage: TokenUsage,
        /// Its cost; `None` when the price is unknown.
        cost_usd: Option<f64>,
    },
    /// A call of a tool.
    ToolCall {
        /// The assistant's node that made it.
        assistant_id: NodeId,
        /// The id that the endpoint knows it by, unique in the thread.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// The arguments: always an object.
        arguments: Value,
        /// Arguments that could not be read, and why.
        argument_problem: Option<String>,
        /// What the tool does.
        category: ToolCategory,
        /// The target in a few words.
        label: String,
        /// The tab that is meant.
        tab_id: Option<TabId>,
        /// Where it happens.
        origin: Option<String>,
    },
    /// What came of a call.
    ToolResult {
        /// The call's node.
        call_node_id: NodeId,
        /// The id that the endpoint knows it by.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// Whether it succeeded.
        ok: bool,
        /// The result as the model reads it, fence included.
        text: String,
        /// The result in a line, for people.
        summary: String,
        /// A write's outcome.
        outcome: Option<ActionOutcome>,
    },
    /// The answer to a question about a call.
    ApprovalDecision {
        /// The question.
        approval_id: ApprovalId,
        /// The call's node.
        call_node_id: NodeId,
        /// The decision.
        decision: ApprovalDecision,
        /// Whether nobody answered in time.
        timed_out: bool,
        /// The target as it was asked about; the call's may be another by now. Absent in older rows.
        #[serde(default)]
        asked: Option<AskedTarget>,
    },
    /// The end of a wait.
    InteractionResponse {
        /// The wait.
        interaction_id: InteractionId,
        /// What was awaited.
        request: InteractionRequestPayload,
        /// How it ended.
        end: InteractionEnd,
    },
    /// What a turn began with.
    TurnContext {
        /// The turn's policy.
        policy: PermissionPolicy,
        /// Its model, once resolved.
        model: Option<ModelRef>,
    },
    /// A word of the engine.
    SystemNotice {
        /// Which.
        notice: NoticeKind,
        /// More, in English, for the model and as a fallback.
        text: String,
        /// Whether the model is told, too.
        for_model: bool,
    },
}

/// A stretch of a thread's tree without branches: a first child continues its parent's chain, a later one begins a
/// chain. All chains of a thread together tell the shape of its tree without its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct StoredChain {
    /// The thread.
    pub thread_id: ThreadId,
    /// The chain's first node.
    pub chain_id: NodeId,
    /// The parent of the first node, and that parent's chain; `None` at a root.
    pub parent: Option<(NodeId, NodeId)>,
    /// Depth of the first node.
    pub base_depth: u64,
    /// Number of the first node.
    pub base_seq: u64,
    /// The last node.
    pub tip_id: NodeId,
    /// Depth of the last node.
    pub tip_depth: u64,
    /// Number of the last node.
    pub tip_seq: u64,
}

impl Record for StoredChain {
    const TABLE: Table = Table::Chains;

    fn key(&self) -> Key {
        Key::text(self.thread_id.as_str()).and_text(self.chain_id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        Vec::new()
    }

    fn revision(&self) -> u64 {
        self.tip_seq
    }
}

/// The states of a run. Each variant carries what only that state has.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    /// Waits for its turn in the queue.
    Queued {},
    /// About to ask the model, also after a pause.
    Preparing {
        /// Not before this time.
        not_before_ms: Option<u64>,
        /// Failed attempts of this model call.
        attempts: u32,
    },
    /// The model answers.
    StreamingModel {
        /// The node that the answer will be.
        node_id: NodeId,
    },
    /// The user is asked about a call.
    WaitingApproval {
        /// The question.
        approval_id: ApprovalId,
        /// The call.
        call_node_id: NodeId,
    },
    /// A durable wait.
    WaitingInteraction {
        /// The wait.
        interaction_id: InteractionId,
        /// The call, when a call waits.
        call_node_id: Option<NodeId>,
    },
    /// A call runs, or ran and its result is not stored.
    ExecutingTool {
        /// The call.
        call_node_id: NodeId,
        /// What its loss means.
        recovery: RecoveryClass,
    },
    /// A budget is spent.
    PausedBudget {},
    /// A write may have happened.
    PausedUncertain {
        /// The call.
        call_node_id: NodeId,
    },
    /// Stopped, by the user or with the worker.
    Interrupted {
        /// Whether the user can let it go on.
        resumable: bool,
    },
    /// Ended badly.
    Failed {
        /// How.
        error: RunError,
    },
    /// Ended.
    Completed {
        /// How.
        stop_reason: StopReason,
    },
}

impl RunState {
    /// Whether the run waits in its thread's queue.
    pub fn is_queued(&self) -> bool {
        match self {
            Self::Queued {} => true,
            Self::Preparing { .. }
            | Self::StreamingModel { .. }
            | Self::WaitingApproval { .. }
            | Self::WaitingInteraction { .. }
            | Self::ExecutingTool { .. }
            | Self::PausedBudget {}
            | Self::PausedUncertain { .. }
            | Self::Interrupted { .. }
            | Self::Failed { .. }
            | Self::Completed { .. } => false,
        }
    }

    /// Whether the run will not change any more unless the user asks for it.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Interrupted { resumable } => !resumable,
            Self::Failed { .. } | Self::Completed { .. } => true,
            Self::Queued {}
            | Self::Preparing { .. }
            | Self::StreamingModel { .. }
            | Self::WaitingApproval { .. }
            | Self::WaitingInteraction { .. }
            | Self::ExecutingTool { .. }
            | Self::PausedBudget {}
            | Self::PausedUncertain { .. } => false,
        }
    }
}

/// What the loss of a call in flight means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryClass {
    /// It can run again.
    RetrySafe,
    /// Its effect must be looked at before it may run again.
    InspectFirst,
    /// It must not run again by itself.
    NeverRetry,
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct RunError {
    /// What failed.
    pub code: ErrorCode,
    /// As a sentence.
    pub message: String,
    /// Whether trying again may work.
    pub retryable: bool,
    /// An endpoint's failure: the kind.
    pub kind: Option<ProviderErrorKind>,
    /// An endpoint's failure: more.
    pub details: Option<ProviderDetails>,
}

/// One execution of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredRun {
    /// Its id, which is its turn's, too.
    pub id: RunId,
    /// The thread.
    pub thread_id: ThreadId,
    /// Grows by one with each change of state.
    pub revision: u64,
    /// When it was made.
    pub created_at_ms: u64,
    /// Whose it is.
    pub kind: TurnKind,
    /// Its state.
    pub state: RunState,
    /// The message that it answers.
    pub input: UserInput,
    /// How it differs.
    pub overrides: Option<TurnOverrides>,
    /// The policy that the composer showed.
    pub policy: PermissionPolicy,
    /// The node of its message, once admitted.
    pub user_node_id: Option<NodeId>,
    /// Where its message goes: after this node; `None` with `fork` unset means after the thread's leaf.
    pub parent_id: Option<NodeId>,
    /// Whether `parent_id` was chosen (a fork), also when it is `None`, the root.
    pub forked: bool,
    /// The end of what it has written.
    pub leaf_id: Option<NodeId>,
    /// Its environment, fixed at its first start.
    pub environment: Option<Environment>,
    /// Calls of the last answer that have no result yet, in their order.
    pub open_calls: Vec<NodeId>,
    /// Messages that wait for the next model call.
    pub steers: Vec<UserInput>,
    /// Failures of tools in a row.
    pub tool_failures: u32,
    /// Model calls made.
    pub model_calls: u32,
    /// Tokens used.
    pub usage: TokenUsage,
    /// The tokens from which its budget counts: where the user last let it go on.
    #[serde(default)]
    pub tokens_allowed_from: u64,
    /// Cost; `None` once a price was unknown.
    pub cost_usd: Option<f64>,
    /// Why it needs a decision, when it does.
    pub recovery: Option<RecoveryReason>,
    /// The call that may have happened, for people.
    pub pending_tool: Option<PendingTool>,
    /// The call that the user wants done again.
    pub consented_call: Option<NodeId>,
}

impl Record for StoredRun {
    const TABLE: Table = Table::Runs;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        let key =
            || Key::text(self.thread_id.as_str()).and_number(self.created_at_ms).and_text(self.id.as_str());
        let mut keys = vec![(Index::RunsByThread, key())];
        if !self.state.is_finished() {
            keys.push((Index::RunsUnfinished, key()));
        }
        keys
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}

/// Everything that a run's behaviour depends on, fixed at its first start.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct Environment {
    /// The model.
    pub model: ModelRef,
    /// Its parameters.
    pub params: GenParams,
    /// What it can do.
    pub capabilities: ModelCapabilities,
    /// What it costs.
    pub pricing: Option<ModelPricing>,
    /// The system prompt's layers, the most stable first.
    pub system: Vec<String>,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// The levels that may be used.
    pub levels: Vec<ToolLevel>,
    /// The policy.
    pub policy: PermissionPolicy,
    /// The tab that is meant when none is named.
    pub captured_tab: Option<TabId>,
    /// SHA-256 over all of the above, in hex.
    pub digest: String,
}

/// The durable answer to a submission.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredReceipt {
    /// The page.
    pub client_id: ClientId,
    /// The submission.
    pub submission_id: SubmissionId,
    /// The Op's name on the wire.
    pub command_type: String,
    /// SHA-256 of the payload's canonical encoding, in hex; never the payload.
    pub payload_sha256: String,
    /// When it may be forgotten.
    pub expires_at_ms: u64,
    /// The answer as it was sent; `None` while the Op is in progress.
    pub answer: Option<String>,
}

impl StoredReceipt {
    /// The key of a submission's receipt. The type is compared, not part of the key: the same submission with another
    /// type is a conflict.
    pub fn key_of(client_id: &ClientId, submission_id: &SubmissionId) -> Key {
        Key::text(client_id.as_str()).and_text(submission_id.as_str())
    }
}

impl Record for StoredReceipt {
    const TABLE: Table = Table::Receipts;

    fn key(&self) -> Key {
        Self::key_of(&self.client_id, &self.submission_id)
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        match &self.answer {
            Some(_) => vec![(
                Index::ReceiptsByExpiry,
                Key(vec![])
                    .and_number(self.expires_at_ms)
                    .and_text(self.client_id.as_str())
                    .and_text(self.submission_id.as_str()),
            )],
            None => Vec::new(),
        }
    }
}

/// What was seen of a call's target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, FromJson)]
pub struct StoredFacts {
    /// The tab.
    pub tab_id: Option<TabId>,
    /// The address of its document.
    pub url: Option<String>,
    /// The element.
    pub element: Option<TargetDescription>,
    /// The nonce of the element's document.
    pub document: Option<String>,
    /// Whether Chrome has not let the extension touch the site.
    pub access_missing: bool,
}

/// A question about a call.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredApproval {
    /// Its id.
    pub id: ApprovalId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The run that waits.
    pub run_id: RunId,
    /// The call's node.
    pub call_node_id: NodeId,
    /// What is asked; its deadline is the original one for good.
    pub request: ApprovalRequestPayload,
    /// The target as it was when the question was asked: what runs must be the same.
    pub facts: StoredFacts,
    /// The decision, once there is one.
    pub decision: Option<ApprovalDecision>,
    /// 0 while it is open, 1 when it is decided.
    pub revision: u64,
}

impl Record for StoredApproval {
    const TABLE: Table = Table::Approvals;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        let key = || Key::text(self.thread_id.as_str()).and_text(self.id.as_str());
        let mut keys = vec![(Index::ApprovalsByThread, key())];
        if self.decision.is_none() {
            keys.push((Index::ApprovalsPending, key()));
        }
        keys
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}

/// A durable wait.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredInteraction {
    /// Its id.
    pub id: InteractionId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The run that waits.
    pub run_id: RunId,
    /// The call's node, when a call waits.
    pub call_node_id: Option<NodeId>,
    /// What it waits for; its deadline is the original one for good.
    pub request: InteractionRequestPayload,
    /// The target of the call as it was judged: a page is watched as long as it is on this site.
    #[serde(default)]
    pub facts: StoredFacts,
    /// How it ended, once it has.
    #[serde(default)]
    pub end: Option<InteractionEnd>,
    /// 0 while it is open, 1 when it has ended.
    pub revision: u64,
}

impl Record for StoredInteraction {
    const TABLE: Table = Table::Interactions;

    fn key(&self) -> Key {
        Key::text(self.id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        let key = || Key::text(self.thread_id.as_str()).and_text(self.id.as_str());
        let mut keys = vec![(Index::InteractionsByThread, key())];
        if self.end.is_none() {
            keys.push((Index::InteractionsPending, key()));
        }
        keys
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}

/// Text so far of a running answer, so that a killed worker loses a second of it at most. Not a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
pub struct StoredDraft {
    /// The run.
    pub run_id: RunId,
    /// The node that the answer will be.
    pub node_id: NodeId,
    /// Text so far.
    pub text: String,
    /// Reasoning so far.
    pub reasoning: String,
    /// When it was stored.
    pub at_ms: u64,
}

impl Record for StoredDraft {
    const TABLE: Table = Table::Drafts;

    fn key(&self) -> Key {
        Key::text(self.run_id.as_str())
    }

    fn index_keys(&self) -> Vec<(Index, Key)> {
        Vec::new()
    }
}

/// A connection as it is stored, in the browser's local area: its secrets are sealed.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredConnection {
    /// What pages may see of it.
    pub view: panelot_protocol::settings::ConnectionView,
    /// Its keys in the order of use.
    pub keys: Vec<Sealed>,
    /// Its own headers: name and sealed value.
    pub headers: Vec<(String, Sealed)>,
}
