//! What a person can ask for, and the Op that asks the engine for it.

use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::ids::{ApprovalId, InteractionId, NodeId, RunId, SubmissionId, ThreadId};
use panelot_protocol::interaction::InteractionResponse;
use panelot_protocol::op::{ImportMode, Op, ThreadPatch, UncertainResolution};
use panelot_protocol::settings::SettingsPatch;
use panelot_protocol::turn::{ModelRef, PermissionPolicy, TurnOverrides, UserInput};

use crate::session::Delivery;

/// A gesture.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Sends what is in the composer.
    Send {
        /// The message.
        input: UserInput,
        /// How.
        delivery: Delivery,
    },
    /// Stops the running turn.
    Stop,
    /// Shows a thread.
    OpenThread(ThreadId),
    /// Shows an empty draft.
    NewThread,
    /// Chooses the model of the next messages.
    ChooseModel(ModelRef),
    /// Chooses the policy of the next messages.
    ChoosePolicy(PermissionPolicy),
    /// Looks for threads.
    Search(String),
    /// Shows more threads.
    MoreThreads,
    /// Asks for settings and threads again.
    Refresh,
    /// Shows older items.
    Earlier,
    /// Asks for all data as one document.
    Export {
        /// Whether attachments' content is in it.
        with_attachments: bool,
    },
    /// Brings a document in.
    Import {
        /// The document.
        text: String,
        /// What happens to what is here.
        mode: ImportMode,
    },
    /// Has read how the last export or import ended.
    ForgetTransfer,
    /// Changes the settings.
    Settings(Box<SettingsPatch>),
    /// Does something in the shown thread.
    InThread(Act),
    /// Does something to any thread.
    OnThread(ThreadId, Act),
    /// Answers a question about a tool call.
    Decide {
        /// The question.
        approval_id: ApprovalId,
        /// The answer.
        decision: ApprovalDecision,
    },
    /// Answers a wait.
    Respond {
        /// The wait.
        interaction_id: InteractionId,
        /// The answer.
        response: InteractionResponse,
    },
}

/// What can be done to a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Deletes it.
    Delete,
    /// Gives it a title.
    Rename(String),
    /// Keeps it at the top, or no more.
    Pin(bool),
    /// Shows another branch.
    SelectBranch(NodeId),
    /// Sends a message beside an earlier one: edit, or answer again.
    Fork {
        /// The node that gets a sibling.
        node_id: NodeId,
        /// The message.
        input: Box<UserInput>,
    },
    /// Removes a queued message.
    Unqueue(RunId),
    /// Lets a held queue go on.
    ReleaseQueue,
    /// Lets a run go on.
    Resume(RunId),
    /// Decides on a write that may have happened.
    Resolve(RunId, UncertainResolution),
}

impl Act {
    /// The Op for it.
    #[must_use]
    pub fn op(
        self,
        submission_id: SubmissionId,
        thread_id: ThreadId,
        overrides: Option<TurnOverrides>,
    ) -> Op {
        let patched = |patch| Op::ThreadUpdate {
            submission_id: submission_id.clone(),
            thread_id: thread_id.clone(),
            patch,
        };
        match self {
            Self::Delete => Op::ThreadDelete { submission_id, thread_id },
            Self::Rename(title) => patched(ThreadPatch { title: Some(title), ..ThreadPatch::default() }),
            Self::Pin(pinned) => patched(ThreadPatch { pinned: Some(pinned), ..ThreadPatch::default() }),
            Self::SelectBranch(node_id) => Op::ThreadSelectBranch { submission_id, thread_id, node_id },
            Self::Fork { node_id, input } => Op::TurnFork {
                submission_id,
                thread_id,
                sibling_of_node_id: node_id,
                input: *input,
                overrides,
            },
            Self::Unqueue(run_id) => Op::QueueRemove { submission_id, thread_id, run_id },
            Self::ReleaseQueue => Op::QueueRelease { submission_id, thread_id },
            Self::Resume(run_id) => Op::RunResume { submission_id, thread_id, run_id },
            Self::Resolve(run_id, resolution) => {
                Op::RunResolveUncertain { submission_id, thread_id, run_id, resolution }
            }
        }
    }
}
