//! Events: what the engine tells its pages. An open set: a page ignores a type that it does not know.

use crate::approval::ApprovalRequestPayload;
use crate::ids::{
    ApprovalId, ConnectionId, InteractionId, ItemId, NodeId, RunId, SubmissionId, ThreadId, TurnId,
};
use crate::interaction::InteractionRequestPayload;
use crate::item::{ItemDelta, ItemKind, ItemMeta, ItemResult, ItemView};
use crate::notice::EngineNotice;
use crate::settings::{ModelEntry, Settings};
use crate::snapshot::{
    ActivityEntry, QueuedRun, RunRecoveryState, TabInfo, ThreadListEntry, ThreadMeta, ThreadMetaPatch,
    ThreadSnapshot, Waiting,
};
use crate::turn::{StopReason, TokenUsage, TurnKind, UserInput};
use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// Everything that the engine says.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// The connection stands.
    #[serde(rename = "initialized")]
    Initialized {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The engine's protocol.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        protocol: String,
        /// The engine's hash.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        schema_hash: String,
        /// The thread that was asked for, when it exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<Box<ThreadSnapshot>>,
    },
    /// Page and engine are of different builds. Every version can read this.
    #[serde(rename = "fatal.reload_required")]
    FatalReloadRequired {
        /// The Op that this answers.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        submission_id: String,
        /// The protocol that the page named.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        protocol: String,
        /// The engine's hash.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        schema_hash: String,
        /// What happened, as a sentence.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        message: String,
    },
    /// The Op was accepted and is durable.
    #[serde(rename = "command.ack")]
    CommandAck {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The thread that it concerned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
        /// The run that it made or concerned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        /// The revision that it led to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
    },
    /// The Op was refused; nothing changed.
    #[serde(rename = "command.rejected")]
    CommandRejected {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// Why.
        code: ErrorCode,
        /// What happened, as a sentence.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        message: String,
        /// The thread that it concerned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
        /// Whether sending it again later may work.
        retryable: bool,
    },
    /// A sign of life.
    #[serde(rename = "pong")]
    Pong {
        /// The Op that this answers.
        submission_id: SubmissionId,
    },
    /// Something failed.
    #[serde(rename = "error")]
    Error {
        /// The Op that caused it, when one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submission_id: Option<SubmissionId>,
        /// The thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
        /// The turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
        /// What failed.
        code: ErrorCode,
        /// What happened, as a sentence.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        message: String,
        /// Whether trying again may work.
        retryable: bool,
        /// `provider_error`: the kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_kind: Option<ProviderErrorKind>,
        /// `provider_error`: more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_details: Option<ProviderDetails>,
    },
    /// A thread was made.
    #[serde(rename = "thread.created")]
    ThreadCreated {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The thread.
        thread: ThreadMeta,
    },
    /// A thread was made from another.
    #[serde(rename = "thread.forked")]
    ThreadForked {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The new thread.
        thread: ThreadMeta,
        /// Where it comes from.
        at_node_id: NodeId,
    },
    /// The snapshot that was asked for.
    #[serde(rename = "thread.subscribed")]
    ThreadSubscribed {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The thread.
        snapshot: Box<ThreadSnapshot>,
    },
    /// A page of threads.
    #[serde(rename = "thread.listed")]
    ThreadListed {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The threads, newest first.
        #[shape(items_max = limits::THREADS_PAGE_COUNT_MAX)]
        threads: Vec<ThreadListEntry>,
        /// Where the next page begins; absent at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::CURSOR_CHARS_MAX)]
        cursor: Option<String>,
    },
    /// A page of older items.
    #[serde(rename = "thread.itemsPage")]
    ThreadItemsPage {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The items in their order.
        #[shape(items_max = 4_096)]
        items: Vec<ItemView>,
        /// The node before the first; absent when the path begins here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        older_than: Option<NodeId>,
    },
    /// The settings, asked for or changed.
    #[serde(rename = "settings.updated")]
    SettingsUpdated {
        /// The Op that caused it, when one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submission_id: Option<SubmissionId>,
        /// The settings.
        settings: Box<Settings>,
    },
    /// Models that can be chosen.
    #[serde(rename = "models.listed")]
    ModelsListed {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The models.
        #[shape(items_max = limits::MODELS_COUNT_MAX)]
        models: Vec<ModelEntry>,
        /// Connections that did not answer.
        #[shape(items_max = limits::CONNECTIONS_COUNT_MAX)]
        failures: Vec<ModelsFailure>,
    },
    /// A chunk of an export.
    #[serde(rename = "data.exported")]
    DataExported {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// The chunk's place, from 0.
        index: u32,
        /// How many there are; only the last one knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u32>,
        /// The text.
        #[shape(len_max = limits::TRANSFER_CHUNK_CHARS_MAX)]
        chunk: String,
    },
    /// An import ended.
    #[serde(rename = "data.imported")]
    DataImported {
        /// The Op that this answers.
        submission_id: SubmissionId,
        /// Threads that were brought in.
        threads: u64,
        /// What was wrong, each with its path; with one or more, nothing was written.
        #[shape(items_max = limits::IMPORT_PROBLEMS_COUNT_MAX, len_max = limits::MESSAGE_CHARS_MAX)]
        problems: Vec<String>,
        /// What the document holds and an import never brings in, because it could widen what may be done or where
        /// data goes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[shape(items_max = limits::LEFT_OUT_COUNT_MAX)]
        left_out: Vec<LeftOut>,
    },
    /// A turn runs, or goes on.
    #[serde(rename = "turn.start")]
    TurnStart {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// Whose it is.
        turn_kind: TurnKind,
        /// Whether `turn.steer` may add to it.
        steerable: bool,
    },
    /// A turn ended; everything of it is stored.
    #[serde(rename = "turn.complete")]
    TurnComplete {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// How it ended.
        stop_reason: StopReason,
    },
    /// What a model call used.
    #[serde(rename = "token.usage")]
    TokenUsage {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// Tokens of this call.
        usage: TokenUsage,
        /// Its cost in US dollars; absent when the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    /// An item began.
    #[serde(rename = "item.start")]
    ItemStart {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// The item.
        item_id: ItemId,
        /// Its kind.
        kind: ItemKind,
        /// What is known of it.
        meta: ItemMeta,
    },
    /// An item grew. Volatile: it is not stored as such.
    #[serde(rename = "item.delta")]
    ItemDelta {
        /// The thread.
        thread_id: ThreadId,
        /// The item.
        item_id: ItemId,
        /// What is new.
        delta: ItemDelta,
    },
    /// An item ended.
    #[serde(rename = "item.complete")]
    ItemComplete {
        /// The thread.
        thread_id: ThreadId,
        /// The item.
        item_id: ItemId,
        /// How; absent means well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<ItemResult>,
    },
    /// The engine asks about a tool call. The item of the same id ends with the answer.
    #[serde(rename = "approval.request")]
    ApprovalRequest {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// The question.
        approval_id: ApprovalId,
        /// What is asked.
        request: Box<ApprovalRequestPayload>,
    },
    /// A run waits for the user, a page or a time. The item of the same id ends with the answer.
    #[serde(rename = "interaction.request")]
    InteractionRequest {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// The wait.
        interaction_id: InteractionId,
        /// What it waits for.
        request: Box<InteractionRequestPayload>,
    },
    /// A thread is gone.
    #[serde(rename = "thread.deleted")]
    ThreadDeleted {
        /// The thread.
        thread_id: ThreadId,
    },
    /// A thread's metadata changed.
    #[serde(rename = "thread.updated")]
    ThreadUpdated {
        /// The thread.
        thread_id: ThreadId,
        /// The new revision.
        revision: u64,
        /// The change.
        patch: Box<ThreadMetaPatch>,
    },
    /// A thread's queue changed.
    #[serde(rename = "queue.updated")]
    QueueUpdated {
        /// The thread.
        thread_id: ThreadId,
        /// How many wait.
        pending: u32,
        /// Those that wait, in their order.
        #[shape(items_max = limits::QUEUED_RUNS_COUNT_MAX)]
        runs: Vec<QueuedRun>,
        /// Whether it stands still until released.
        held: bool,
    },
    /// A run does not go on by itself.
    #[serde(rename = "run.recovery_required")]
    RunRecoveryRequired {
        /// The thread.
        thread_id: ThreadId,
        /// The run.
        run: RunRecoveryState,
    },
    /// A turn waits for something that is not the user. Volatile.
    #[serde(rename = "run.waiting")]
    RunWaiting {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// Why and until when; absent: it goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<Waiting>,
    },
    /// The messages that wait for the running turn's next step are these.
    #[serde(rename = "turn.steers")]
    TurnSteers {
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn_id: TurnId,
        /// The messages, in their order.
        #[shape(items_max = limits::STEERS_COUNT_MAX)]
        steers: Vec<UserInput>,
    },
    /// Something about the engine itself that every page shows.
    #[serde(rename = "engine.notice")]
    EngineNotice {
        /// What.
        notice: EngineNotice,
    },
    /// The ordinary tabs changed.
    #[serde(rename = "tabs.updated")]
    TabsUpdated {
        /// All of them.
        #[shape(items_max = limits::TABS_COUNT_MAX)]
        tabs: Vec<TabInfo>,
    },
    /// What threads do, for lists.
    #[serde(rename = "activity.updated")]
    ActivityUpdated {
        /// Those that changed.
        #[shape(items_max = 4_096)]
        threads: Vec<ActivityEntry>,
    },
}

impl AgentEvent {
    /// The name on the wire.
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::Initialized { .. } => "initialized",
            Self::FatalReloadRequired { .. } => "fatal.reload_required",
            Self::CommandAck { .. } => "command.ack",
            Self::CommandRejected { .. } => "command.rejected",
            Self::Pong { .. } => "pong",
            Self::Error { .. } => "error",
            Self::ThreadCreated { .. } => "thread.created",
            Self::ThreadForked { .. } => "thread.forked",
            Self::ThreadSubscribed { .. } => "thread.subscribed",
            Self::ThreadListed { .. } => "thread.listed",
            Self::ThreadItemsPage { .. } => "thread.itemsPage",
            Self::SettingsUpdated { .. } => "settings.updated",
            Self::ModelsListed { .. } => "models.listed",
            Self::DataExported { .. } => "data.exported",
            Self::DataImported { .. } => "data.imported",
            Self::TurnStart { .. } => "turn.start",
            Self::TurnComplete { .. } => "turn.complete",
            Self::TokenUsage { .. } => "token.usage",
            Self::ItemStart { .. } => "item.start",
            Self::ItemDelta { .. } => "item.delta",
            Self::ItemComplete { .. } => "item.complete",
            Self::ApprovalRequest { .. } => "approval.request",
            Self::InteractionRequest { .. } => "interaction.request",
            Self::ThreadDeleted { .. } => "thread.deleted",
            Self::ThreadUpdated { .. } => "thread.updated",
            Self::QueueUpdated { .. } => "queue.updated",
            Self::RunRecoveryRequired { .. } => "run.recovery_required",
            Self::RunWaiting { .. } => "run.waiting",
            Self::TurnSteers { .. } => "turn.steers",
            Self::EngineNotice { .. } => "engine.notice",
            Self::TabsUpdated { .. } => "tabs.updated",
            Self::ActivityUpdated { .. } => "activity.updated",
        }
    }

    /// The submission that it answers or that caused it. A refused greeting has none that can be relied on.
    pub fn submission_id(&self) -> Option<&SubmissionId> {
        match self {
            Self::Initialized { submission_id, .. }
            | Self::CommandAck { submission_id, .. }
            | Self::CommandRejected { submission_id, .. }
            | Self::Pong { submission_id }
            | Self::ThreadCreated { submission_id, .. }
            | Self::ThreadForked { submission_id, .. }
            | Self::ThreadSubscribed { submission_id, .. }
            | Self::ThreadListed { submission_id, .. }
            | Self::ThreadItemsPage { submission_id, .. }
            | Self::ModelsListed { submission_id, .. }
            | Self::DataExported { submission_id, .. }
            | Self::DataImported { submission_id, .. } => Some(submission_id),
            Self::Error { submission_id, .. } | Self::SettingsUpdated { submission_id, .. } => {
                submission_id.as_ref()
            }
            Self::FatalReloadRequired { .. }
            | Self::TurnStart { .. }
            | Self::TurnComplete { .. }
            | Self::TokenUsage { .. }
            | Self::ItemStart { .. }
            | Self::ItemDelta { .. }
            | Self::ItemComplete { .. }
            | Self::ApprovalRequest { .. }
            | Self::InteractionRequest { .. }
            | Self::ThreadDeleted { .. }
            | Self::ThreadUpdated { .. }
            | Self::QueueUpdated { .. }
            | Self::RunRecoveryRequired { .. }
            | Self::RunWaiting { .. }
            | Self::TurnSteers { .. }
            | Self::EngineNotice { .. }
            | Self::TabsUpdated { .. }
            | Self::ActivityUpdated { .. } => None,
        }
    }

    /// The thread in whose stream it stands; `None` for answers and for broadcasts across threads.
    pub fn stream_thread(&self) -> Option<&ThreadId> {
        match self {
            Self::TurnStart { thread_id, .. }
            | Self::TurnComplete { thread_id, .. }
            | Self::TokenUsage { thread_id, .. }
            | Self::ItemStart { thread_id, .. }
            | Self::ItemDelta { thread_id, .. }
            | Self::ItemComplete { thread_id, .. }
            | Self::ApprovalRequest { thread_id, .. }
            | Self::InteractionRequest { thread_id, .. }
            | Self::ThreadDeleted { thread_id, .. }
            | Self::ThreadUpdated { thread_id, .. }
            | Self::QueueUpdated { thread_id, .. }
            | Self::RunRecoveryRequired { thread_id, .. }
            | Self::RunWaiting { thread_id, .. }
            | Self::TurnSteers { thread_id, .. } => Some(thread_id),
            Self::Error { thread_id, submission_id: None, .. } => thread_id.as_ref(),
            Self::Initialized { .. }
            | Self::FatalReloadRequired { .. }
            | Self::CommandAck { .. }
            | Self::CommandRejected { .. }
            | Self::Pong { .. }
            | Self::Error { .. }
            | Self::ThreadCreated { .. }
            | Self::ThreadForked { .. }
            | Self::ThreadSubscribed { .. }
            | Self::ThreadListed { .. }
            | Self::ThreadItemsPage { .. }
            | Self::SettingsUpdated { .. }
            | Self::ModelsListed { .. }
            | Self::DataExported { .. }
            | Self::DataImported { .. }
            | Self::EngineNotice { .. }
            | Self::TabsUpdated { .. }
            | Self::ActivityUpdated { .. } => None,
        }
    }
}

/// Why something failed or was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// A message of the other side could not be read.
    ProtocolMismatch,
    /// No such thread.
    ThreadNotFound,
    /// Another turn runs than the one that was named.
    TurnMismatch,
    /// The running turn takes no messages.
    TurnNotSteerable,
    /// No turn runs.
    NoActiveTurn,
    /// Eight runs wait already.
    QueueFull,
    /// Too many Ops wait; try again.
    Overloaded,
    /// The user stopped it.
    Interrupted,
    /// The endpoint failed.
    ProviderError,
    /// No usable model is configured.
    NotConfigured,
    /// The Op is wrong, or not legal now.
    InvalidCommand,
    /// The engine's own failure.
    Internal,
    /// There is no room left to store this.
    StorageFull,
    /// Another window keeps the database from being upgraded.
    StorageBlocked,
    /// The stored data is of a newer version.
    StorageNewer,
    /// The stored data cannot be read.
    StorageDamaged,
    /// The browser did not store this, or does not say whether it did.
    StorageFailed,
    /// An import was cut off before anything of it was stored.
    ImportInterrupted,
}

/// Something that an import leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// What it is.
    pub kind: LeftOutKind,
    /// Its name, or a rule as `allow category:write https://shop.example`.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub name: String,
}

/// What an import leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutKind {
    /// A connection.
    Connection,
    /// A model preset.
    Preset,
    /// A permission rule.
    Rule,
    /// A thread's preset that is not here.
    ThreadPreset,
    /// Every other setting of the document.
    Settings,
}

/// Kinds of endpoint failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorKind {
    /// The key was refused.
    Auth,
    /// Too many requests.
    RateLimit,
    /// The account has no credit.
    InsufficientQuota,
    /// The endpoint has too much to do.
    Overloaded,
    /// The conversation is longer than the model takes.
    ContextTooLong,
    /// The endpoint refused the content.
    ContentFilter,
    /// The endpoint was not reached, or the connection broke.
    Network,
    /// The endpoint's answer is not of its wire.
    Protocol,
    /// Nothing came for too long.
    Timeout,
    /// The extension may not reach the endpoint's host.
    HostPermission,
    /// The endpoint refused the request as wrong.
    BadRequest,
}

/// What is known of an endpoint's failure; never a key, never a whole body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ProviderDetails {
    /// The connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub connection_name: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// The endpoint's own id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub request_id: Option<String>,
    /// How long the endpoint wants the client to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// A connection that did not list its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelsFailure {
    /// The connection.
    pub connection_id: ConnectionId,
    /// The kind of failure.
    pub error_kind: ProviderErrorKind,
    /// What happened, as a sentence.
    #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
    pub message: String,
}
