//! Which Op is legal in which situation of its thread: the one table.

use crate::store::repo::ThreadState;
use crate::turn::RunPhase;
use panelot_protocol::event::ErrorCode;

/// What a thread is doing when an Op arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Situation {
    /// No run, or only queued ones.
    Idle,
    /// A turn works: it prepares, streams or executes.
    Working,
    /// A turn waits for the user: an approval or another wait.
    WaitingForUser,
    /// A write may have happened.
    Uncertain,
    /// A turn was stopped, or a budget is spent, and it can go on.
    Resumable,
}

impl Situation {
    /// All situations.
    pub const ALL: [Self; 5] =
        [Self::Idle, Self::Working, Self::WaitingForUser, Self::Uncertain, Self::Resumable];

    /// The situation of a thread.
    pub fn of(state: &ThreadState) -> Self {
        let current = state.runs.iter().map(|run| RunPhase::of(&run.state)).find(|p| *p != RunPhase::Queued);
        match current {
            None
            | Some(RunPhase::Queued | RunPhase::Interrupted | RunPhase::Failed | RunPhase::Completed) => {
                Self::Idle
            }
            Some(RunPhase::Preparing | RunPhase::StreamingModel | RunPhase::ExecutingTool) => Self::Working,
            Some(RunPhase::WaitingApproval | RunPhase::WaitingInteraction) => Self::WaitingForUser,
            Some(RunPhase::PausedUncertain) => Self::Uncertain,
            Some(RunPhase::Stopped | RunPhase::PausedBudget) => Self::Resumable,
        }
    }
}

/// The Ops that a thread's actor takes and that are ruled by its situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// `turn.submit`.
    Submit,
    /// `turn.enqueue`.
    Enqueue,
    /// `turn.fork`.
    ForkTurn,
    /// `turn.steer`.
    Steer,
    /// `turn.interrupt`.
    Interrupt,
    /// `run.resume`.
    Resume,
    /// `run.resolveUncertain`.
    Resolve,
    /// `queue.update` and `queue.remove`.
    EditQueue,
    /// `queue.release`.
    ReleaseQueue,
    /// `thread.selectBranch` and `node.delete`.
    EditTree,
    /// `thread.update`, `thread.fork` and `thread.delete`.
    EditThread,
    /// `approval.response` and `interaction.response`.
    Answer,
}

impl OpKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Submit,
        Self::Enqueue,
        Self::ForkTurn,
        Self::Steer,
        Self::Interrupt,
        Self::Resume,
        Self::Resolve,
        Self::EditQueue,
        Self::ReleaseQueue,
        Self::EditTree,
        Self::EditThread,
        Self::Answer,
    ];
}

/// What an Op leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It is done.
    Do,
    /// It starts a turn at once.
    Start,
    /// It waits in the queue.
    Queue,
    /// It is refused.
    Refuse(ErrorCode, &'static str),
}

/// The table.
pub fn ruling(op: OpKind, situation: Situation) -> Ruling {
    use Situation::{Idle, Resumable, Uncertain, WaitingForUser, Working};
    const BUSY: Ruling = Ruling::Refuse(
        ErrorCode::InvalidCommand,
        "a turn is running in this thread: stop it or wait for its end",
    );
    const NO_TURN: Ruling = Ruling::Refuse(ErrorCode::NoActiveTurn, "no turn is running in this thread");
    const NOTHING_TO_RESUME: Ruling =
        Ruling::Refuse(ErrorCode::InvalidCommand, "runId: this run has nothing to go on with");
    const NOT_UNCERTAIN: Ruling =
        Ruling::Refuse(ErrorCode::InvalidCommand, "runId: nothing about this run is uncertain");
    match (op, situation) {
        (OpKind::Submit, Idle | Resumable) => Ruling::Start,
        (OpKind::Submit, Working | WaitingForUser | Uncertain) => Ruling::Queue,
        (OpKind::Enqueue, _) => Ruling::Queue,
        (OpKind::ForkTurn, Idle | Resumable) => Ruling::Start,
        (OpKind::ForkTurn, Working | WaitingForUser | Uncertain) => BUSY,
        (OpKind::Steer, Working | WaitingForUser | Uncertain) => Ruling::Do,
        (OpKind::Steer, Idle | Resumable) => NO_TURN,
        (OpKind::Interrupt, Working | WaitingForUser | Uncertain | Resumable) => Ruling::Do,
        (OpKind::Interrupt, Idle) => NO_TURN,
        (OpKind::Resume, Resumable) => Ruling::Do,
        (OpKind::Resume, Idle | Working | WaitingForUser | Uncertain) => NOTHING_TO_RESUME,
        (OpKind::Resolve, Uncertain) => Ruling::Do,
        (OpKind::Resolve, Idle | Working | WaitingForUser | Resumable) => NOT_UNCERTAIN,
        (OpKind::EditTree, Idle | Resumable) => Ruling::Do,
        (OpKind::EditTree, Working | WaitingForUser | Uncertain) => BUSY,
        (OpKind::EditQueue | OpKind::ReleaseQueue | OpKind::EditThread | OpKind::Answer, _) => Ruling::Do,
    }
}
