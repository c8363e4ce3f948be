//! Ops: what a page asks of the engine. Each is answered exactly once, under its `submissionId`.

use crate::approval::ApprovalDecision;
use crate::ids::{
    ApprovalId, AttachmentId, ClientId, ConnectionId, FolderId, InteractionId, NodeId, PresetId, RunId,
    SubmissionId, ThreadId, TransferId, TurnId,
};
use crate::interaction::InteractionResponse;
use crate::settings::{GenParams, SettingsPatch};
use crate::turn::{TurnOverrides, UserInput};
use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// Everything that a page can ask.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Op {
    /// The first message of a connection: who speaks, and which protocol.
    #[serde(rename = "initialize")]
    Initialize {
        /// The submission.
        submission_id: SubmissionId,
        /// The protocol's name: [`crate::ENGINE_PROTOCOL`] unless the versions differ.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        protocol: String,
        /// The sender's [`crate::ENGINE_SCHEMA_HASH`].
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        schema_hash: String,
        /// The page.
        client_id: ClientId,
        /// A thread to subscribe to at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subscribe: Option<SubscribeParams>,
    },
    /// Makes an empty thread.
    #[serde(rename = "thread.create")]
    ThreadCreate {
        /// The submission.
        submission_id: SubmissionId,
        /// Its preset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preset: Option<PresetId>,
        /// Its folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder_id: Option<FolderId>,
    },
    /// Asks for a snapshot and all later events of a thread.
    #[serde(rename = "thread.subscribe")]
    ThreadSubscribe {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
    },
    /// Deletes a thread with everything in it.
    #[serde(rename = "thread.delete")]
    ThreadDelete {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
    },
    /// Makes a new empty thread that knows where it comes from.
    #[serde(rename = "thread.fork")]
    ThreadFork {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The node.
        at_node_id: NodeId,
    },
    /// Shows the newest path through a node.
    #[serde(rename = "thread.selectBranch")]
    ThreadSelectBranch {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The node.
        node_id: NodeId,
    },
    /// Asks for a page of threads, newest first.
    #[serde(rename = "thread.list")]
    ThreadList {
        /// The submission.
        submission_id: SubmissionId,
        /// Where the last page ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::CURSOR_CHARS_MAX)]
        cursor: Option<String>,
        /// Text to look for in titles.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::QUERY_CHARS_MAX)]
        query: Option<String>,
        /// Only those put away, or only the others (the default).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
    },
    /// Asks for older items of the shown path.
    #[serde(rename = "thread.items")]
    ThreadItems {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The node before which the page ends; absent means the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_node_id: Option<NodeId>,
        /// Most items in the page.
        #[shape(min = 1, max = limits::ITEMS_PAGE_COUNT_MAX)]
        limit: u32,
    },
    /// Changes a thread's metadata.
    #[serde(rename = "thread.update")]
    ThreadUpdate {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The change.
        patch: ThreadPatch,
    },
    /// Hides one message; its children join its nearest visible ancestor.
    #[serde(rename = "node.delete")]
    NodeDelete {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The node.
        node_id: NodeId,
    },
    /// Sends a message: a new turn, or a queued one when the thread is busy.
    #[serde(rename = "turn.submit")]
    TurnSubmit {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The message.
        input: UserInput,
        /// How its turn differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overrides: Option<TurnOverrides>,
    },
    /// Starts a turn beside a node: edit at a user's node, regenerate at an assistant's.
    #[serde(rename = "turn.fork")]
    TurnFork {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The node that gets a sibling.
        sibling_of_node_id: NodeId,
        /// The message.
        input: UserInput,
        /// How its turn differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overrides: Option<TurnOverrides>,
    },
    /// Adds a message to the running turn, before its next model call.
    #[serde(rename = "turn.steer")]
    TurnSteer {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The turn that the user saw.
        expected_turn_id: TurnId,
        /// The message.
        input: UserInput,
    },
    /// Puts a message into the thread's queue.
    #[serde(rename = "turn.enqueue")]
    TurnEnqueue {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The message.
        input: UserInput,
        /// How its turn differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overrides: Option<TurnOverrides>,
    },
    /// Stops the running turn.
    #[serde(rename = "turn.interrupt")]
    TurnInterrupt {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
    },
    /// Changes a queued message.
    #[serde(rename = "queue.update")]
    QueueUpdate {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The queued run.
        run_id: RunId,
        /// The new message.
        input: UserInput,
        /// How its turn differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overrides: Option<TurnOverrides>,
    },
    /// Removes a queued message.
    #[serde(rename = "queue.remove")]
    QueueRemove {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The queued run.
        run_id: RunId,
    },
    /// Lets a held queue go on.
    #[serde(rename = "queue.release")]
    QueueRelease {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
    },
    /// Lets an interrupted or paused run go on.
    #[serde(rename = "run.resume")]
    RunResume {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The run.
        run_id: RunId,
    },
    /// Decides on a write that may have happened.
    #[serde(rename = "run.resolveUncertain")]
    RunResolveUncertain {
        /// The submission.
        submission_id: SubmissionId,
        /// The thread.
        thread_id: ThreadId,
        /// The run.
        run_id: RunId,
        /// The decision.
        resolution: UncertainResolution,
    },
    /// Answers a question about a tool call.
    #[serde(rename = "approval.response")]
    ApprovalResponse {
        /// The submission.
        submission_id: SubmissionId,
        /// The question.
        approval_id: ApprovalId,
        /// The decision.
        decision: ApprovalDecision,
    },
    /// Answers a durable wait.
    #[serde(rename = "interaction.response")]
    InteractionResponse {
        /// The submission.
        submission_id: SubmissionId,
        /// The wait.
        interaction_id: InteractionId,
        /// The answer.
        response: InteractionResponse,
    },
    /// Stores a piece of an attachment; pieces come in order.
    #[serde(rename = "attachment.put")]
    AttachmentPut {
        /// The submission.
        submission_id: SubmissionId,
        /// The attachment, chosen by the client.
        attachment_id: AttachmentId,
        /// The thread that will use it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
        /// Its media type.
        #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
        mime: String,
        /// Its file name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        name: Option<String>,
        /// The piece's place, from 0.
        #[shape(min = 0, max = limits::TRANSFER_CHUNKS_COUNT_MAX)]
        index: u32,
        /// How many pieces there are.
        #[shape(min = 1, max = limits::TRANSFER_CHUNKS_COUNT_MAX)]
        total: u32,
        /// At most 1 MiB as base64.
        #[shape(len_max = limits::CHUNK_BASE64_CHARS_MAX)]
        chunk: String,
    },
    /// Asks for the settings.
    #[serde(rename = "settings.get")]
    SettingsGet {
        /// The submission.
        submission_id: SubmissionId,
    },
    /// Changes the settings.
    #[serde(rename = "settings.update")]
    SettingsUpdate {
        /// The submission.
        submission_id: SubmissionId,
        /// The change.
        patch: SettingsPatch,
    },
    /// Asks every enabled connection, or one, for its models.
    #[serde(rename = "models.list")]
    ModelsList {
        /// The submission.
        submission_id: SubmissionId,
        /// Only this connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        connection_id: Option<ConnectionId>,
    },
    /// Asks for all data as one JSON document in chunks. It changes nothing: sent again, it begins again.
    #[serde(rename = "data.export")]
    DataExport {
        /// The submission.
        submission_id: SubmissionId,
        /// Whether attachments' bytes are in it.
        include_attachments: bool,
    },
    /// Brings a chunk of a JSON document, in order, each after the answer to the one before; the last one starts the
    /// import.
    #[serde(rename = "data.import")]
    DataImport {
        /// The submission.
        submission_id: SubmissionId,
        /// The import, chosen by the client.
        transfer_id: TransferId,
        /// The chunk's place, from 0.
        #[shape(min = 0, max = limits::TRANSFER_CHUNKS_COUNT_MAX)]
        index: u32,
        /// How many chunks there are.
        #[shape(min = 1, max = limits::TRANSFER_CHUNKS_COUNT_MAX)]
        total: u32,
        /// The text.
        #[shape(len_max = limits::TRANSFER_CHUNK_CHARS_MAX)]
        chunk: String,
        /// What happens to what is there.
        mode: ImportMode,
    },
    /// Asks for a sign of life; keeps the worker awake.
    #[serde(rename = "ping")]
    Ping {
        /// The submission.
        submission_id: SubmissionId,
    },
}

impl Op {
    /// The submission that its answer carries.
    pub fn submission_id(&self) -> &SubmissionId {
        match self {
            Self::Initialize { submission_id, .. }
            | Self::ThreadCreate { submission_id, .. }
            | Self::ThreadSubscribe { submission_id, .. }
            | Self::ThreadDelete { submission_id, .. }
            | Self::ThreadFork { submission_id, .. }
            | Self::ThreadSelectBranch { submission_id, .. }
            | Self::ThreadList { submission_id, .. }
            | Self::ThreadItems { submission_id, .. }
            | Self::ThreadUpdate { submission_id, .. }
            | Self::NodeDelete { submission_id, .. }
            | Self::TurnSubmit { submission_id, .. }
            | Self::TurnFork { submission_id, .. }
            | Self::TurnSteer { submission_id, .. }
            | Self::TurnEnqueue { submission_id, .. }
            | Self::TurnInterrupt { submission_id, .. }
            | Self::QueueUpdate { submission_id, .. }
            | Self::QueueRemove { submission_id, .. }
            | Self::QueueRelease { submission_id, .. }
            | Self::RunResume { submission_id, .. }
            | Self::RunResolveUncertain { submission_id, .. }
            | Self::ApprovalResponse { submission_id, .. }
            | Self::InteractionResponse { submission_id, .. }
            | Self::AttachmentPut { submission_id, .. }
            | Self::SettingsGet { submission_id, .. }
            | Self::SettingsUpdate { submission_id, .. }
            | Self::ModelsList { submission_id, .. }
            | Self::DataExport { submission_id, .. }
            | Self::DataImport { submission_id, .. }
            | Self::Ping { submission_id, .. } => submission_id,
        }
    }

    /// The thread that it concerns, where it names one.
    pub fn thread_id(&self) -> Option<&ThreadId> {
        match self {
            Self::ThreadSubscribe { thread_id, .. }
            | Self::ThreadDelete { thread_id, .. }
            | Self::ThreadFork { thread_id, .. }
            | Self::ThreadSelectBranch { thread_id, .. }
            | Self::ThreadItems { thread_id, .. }
            | Self::ThreadUpdate { thread_id, .. }
            | Self::NodeDelete { thread_id, .. }
            | Self::TurnSubmit { thread_id, .. }
            | Self::TurnFork { thread_id, .. }
            | Self::TurnSteer { thread_id, .. }
            | Self::TurnEnqueue { thread_id, .. }
            | Self::TurnInterrupt { thread_id, .. }
            | Self::QueueUpdate { thread_id, .. }
            | Self::QueueRemove { thread_id, .. }
            | Self::QueueRelease { thread_id, .. }
            | Self::RunResume { thread_id, .. }
            | Self::RunResolveUncertain { thread_id, .. } => Some(thread_id),
            Self::Initialize { .. }
            | Self::ThreadCreate { .. }
            | Self::ThreadList { .. }
            | Self::ApprovalResponse { .. }
            | Self::InteractionResponse { .. }
            | Self::AttachmentPut { .. }
            | Self::SettingsGet { .. }
            | Self::SettingsUpdate { .. }
            | Self::ModelsList { .. }
            | Self::DataExport { .. }
            | Self::DataImport { .. }
            | Self::Ping { .. } => None,
        }
    }

    /// The name on the wire; part of a receipt's identity.
    pub fn command_type(&self) -> &'static str {
        match self {
            Self::Initialize { .. } => "initialize",
            Self::ThreadCreate { .. } => "thread.create",
            Self::ThreadSubscribe { .. } => "thread.subscribe",
            Self::ThreadDelete { .. } => "thread.delete",
            Self::ThreadFork { .. } => "thread.fork",
            Self::ThreadSelectBranch { .. } => "thread.selectBranch",
            Self::ThreadList { .. } => "thread.list",
            Self::ThreadItems { .. } => "thread.items",
            Self::ThreadUpdate { .. } => "thread.update",
            Self::NodeDelete { .. } => "node.delete",
            Self::TurnSubmit { .. } => "turn.submit",
            Self::TurnFork { .. } => "turn.fork",
            Self::TurnSteer { .. } => "turn.steer",
            Self::TurnEnqueue { .. } => "turn.enqueue",
            Self::TurnInterrupt { .. } => "turn.interrupt",
            Self::QueueUpdate { .. } => "queue.update",
            Self::QueueRemove { .. } => "queue.remove",
            Self::QueueRelease { .. } => "queue.release",
            Self::RunResume { .. } => "run.resume",
            Self::RunResolveUncertain { .. } => "run.resolveUncertain",
            Self::ApprovalResponse { .. } => "approval.response",
            Self::InteractionResponse { .. } => "interaction.response",
            Self::AttachmentPut { .. } => "attachment.put",
            Self::SettingsGet { .. } => "settings.get",
            Self::SettingsUpdate { .. } => "settings.update",
            Self::ModelsList { .. } => "models.list",
            Self::DataExport { .. } => "data.export",
            Self::DataImport { .. } => "data.import",
            Self::Ping { .. } => "ping",
        }
    }

    /// Whether it only asks: then it makes no receipt.
    pub fn is_query(&self) -> bool {
        match self {
            Self::Initialize { .. }
            | Self::ThreadSubscribe { .. }
            | Self::ThreadList { .. }
            | Self::ThreadItems { .. }
            | Self::SettingsGet { .. }
            | Self::ModelsList { .. }
            | Self::DataExport { .. }
            | Self::Ping { .. } => true,
            Self::ThreadCreate { .. }
            | Self::ThreadDelete { .. }
            | Self::ThreadFork { .. }
            | Self::ThreadSelectBranch { .. }
            | Self::ThreadUpdate { .. }
            | Self::NodeDelete { .. }
            | Self::TurnSubmit { .. }
            | Self::TurnFork { .. }
            | Self::TurnSteer { .. }
            | Self::TurnEnqueue { .. }
            | Self::TurnInterrupt { .. }
            | Self::QueueUpdate { .. }
            | Self::QueueRemove { .. }
            | Self::QueueRelease { .. }
            | Self::RunResume { .. }
            | Self::RunResolveUncertain { .. }
            | Self::ApprovalResponse { .. }
            | Self::InteractionResponse { .. }
            | Self::AttachmentPut { .. }
            | Self::SettingsUpdate { .. }
            | Self::DataImport { .. } => false,
        }
    }
}

/// A thread to subscribe to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeParams {
    /// The thread.
    pub thread_id: ThreadId,
}

/// What a user may change of a thread; an absent field stays as it is.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct ThreadPatch {
    /// New title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::TITLE_CHARS_MAX)]
    pub title: Option<String>,
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
    /// New ceiling of cost in US dollars; 0 for none, whatever the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub cost_ceiling_usd: Option<f64>,
}

/// What to do about a write that may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum UncertainResolution {
    /// It did not happen: do it again.
    Retry,
    /// It happened: go on.
    MarkDone,
    /// Leave it: the run ends.
    Fail,
}

/// What an import does to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ImportMode {
    /// Everything there goes first.
    Replace,
    /// What is there stays; the same thread is replaced.
    Merge,
}
