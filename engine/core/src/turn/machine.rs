//! The states of a run and the one table of legal steps between them.

use crate::store::records::{RunState, StoredRun};
use thiserror::Error;

/// The states of a run without their data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunPhase {
    /// Waits in the queue.
    Queued,
    /// About to ask the model or to run the next call.
    Preparing,
    /// The model answers.
    StreamingModel,
    /// The user is asked about a call.
    WaitingApproval,
    /// A durable wait.
    WaitingInteraction,
    /// A call runs, or ran and its result is not stored.
    ExecutingTool,
    /// A budget is spent.
    PausedBudget,
    /// A write may have happened.
    PausedUncertain,
    /// Stopped, and the user can let it go on.
    Stopped,
    /// Stopped for good.
    Interrupted,
    /// Ended badly.
    Failed,
    /// Ended.
    Completed,
}

impl RunPhase {
    /// All phases.
    pub const ALL: [Self; 12] = [
        Self::Queued,
        Self::Preparing,
        Self::StreamingModel,
        Self::WaitingApproval,
        Self::WaitingInteraction,
        Self::ExecutingTool,
        Self::PausedBudget,
        Self::PausedUncertain,
        Self::Stopped,
        Self::Interrupted,
        Self::Failed,
        Self::Completed,
    ];

    /// The phase of a state.
    pub fn of(state: &RunState) -> Self {
        match state {
            RunState::Queued {} => Self::Queued,
            RunState::Preparing { .. } => Self::Preparing,
            RunState::StreamingModel { .. } => Self::StreamingModel,
            RunState::WaitingApproval { .. } => Self::WaitingApproval,
            RunState::WaitingInteraction { .. } => Self::WaitingInteraction,
            RunState::ExecutingTool { .. } => Self::ExecutingTool,
            RunState::PausedBudget {} => Self::PausedBudget,
            RunState::PausedUncertain { .. } => Self::PausedUncertain,
            RunState::Interrupted { resumable: true } => Self::Stopped,
            RunState::Interrupted { resumable: false } => Self::Interrupted,
            RunState::Failed { .. } => Self::Failed,
            RunState::Completed { .. } => Self::Completed,
        }
    }

    /// The phases that may follow. A phase that may follow itself has data that changes.
    pub fn next(self) -> &'static [Self] {
        match self {
            Self::Queued => &[Self::Queued, Self::Preparing],
            Self::Preparing => &[
                Self::Preparing,
                Self::StreamingModel,
                Self::WaitingApproval,
                Self::WaitingInteraction,
                Self::ExecutingTool,
                Self::PausedBudget,
                Self::Stopped,
                Self::Interrupted,
                Self::Failed,
                Self::Completed,
            ],
            Self::StreamingModel => &[
                Self::StreamingModel,
                Self::Preparing,
                Self::PausedBudget,
                Self::Stopped,
                Self::Interrupted,
                Self::Failed,
                Self::Completed,
            ],
            Self::WaitingApproval | Self::WaitingInteraction => {
                &[Self::WaitingApproval, Self::WaitingInteraction, Self::Preparing, Self::Interrupted]
            }
            Self::ExecutingTool => &[
                Self::ExecutingTool,
                Self::Preparing,
                Self::WaitingInteraction,
                Self::PausedUncertain,
                Self::Interrupted,
            ],
            Self::PausedBudget | Self::Stopped => &[Self::Preparing, Self::Interrupted],
            Self::PausedUncertain => &[Self::ExecutingTool, Self::Preparing, Self::Interrupted, Self::Failed],
            Self::Interrupted | Self::Failed | Self::Completed => &[],
        }
    }

    /// Whether the worker must stay awake for it.
    pub fn is_working(self) -> bool {
        match self {
            Self::Preparing | Self::StreamingModel | Self::ExecutingTool => true,
            Self::Queued
            | Self::WaitingApproval
            | Self::WaitingInteraction
            | Self::PausedBudget
            | Self::PausedUncertain
            | Self::Stopped
            | Self::Interrupted
            | Self::Failed
            | Self::Completed => false,
        }
    }

    /// Whether a turn of this phase keeps the next one of its thread from starting.
    pub fn is_busy(self) -> bool {
        match self {
            Self::Preparing
            | Self::StreamingModel
            | Self::WaitingApproval
            | Self::WaitingInteraction
            | Self::ExecutingTool
            | Self::PausedUncertain => true,
            Self::Queued
            | Self::PausedBudget
            | Self::Stopped
            | Self::Interrupted
            | Self::Failed
            | Self::Completed => false,
        }
    }
}

/// A step that the table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a run cannot go from {from:?} to {to:?}")]
pub struct IllegalStep {
    /// Where the run is.
    pub from: RunPhase,
    /// Where it should have gone.
    pub to: RunPhase,
}

/// The run one step further, with its revision raised.
///
/// # Errors
/// When the table does not have the step; the run is as it was.
pub fn step(run: &StoredRun, to: RunState) -> Result<StoredRun, IllegalStep> {
    let (from, target) = (RunPhase::of(&run.state), RunPhase::of(&to));
    if !from.next().contains(&target) {
        return Err(IllegalStep { from, to: target });
    }
    Ok(StoredRun { revision: run.revision.saturating_add(1), state: to, ..run.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_phases_lead_nowhere_and_every_other_phase_can_end() {
        for phase in RunPhase::ALL {
            let mut reached = vec![phase];
            let mut at = 0;
            while let Some(here) = reached.get(at).copied() {
                at += 1;
                for next in here.next() {
                    if !reached.contains(next) {
                        reached.push(*next);
                    }
                }
            }
            let ended = [RunPhase::Interrupted, RunPhase::Failed, RunPhase::Completed];
            assert_eq!(phase.next().is_empty(), ended.contains(&phase), "{phase:?}");
            assert!(reached.contains(&RunPhase::Interrupted) || ended.contains(&phase), "{phase:?}");
        }
    }
}
