//! Deliberate faults, to show that the simulation finds them. Nothing of this is there without the feature `mutants`.

/// Whether a fault is switched on. Without the feature it is the constant `false`.
macro_rules! mutant {
    ($name:ident) => {{
        #[cfg(feature = "mutants")]
        {
            crate::mutants::is_on(crate::mutants::Mutant::$name)
        }
        #[cfg(not(feature = "mutants"))]
        {
            false
        }
    }};
}

pub(crate) use mutant;

#[cfg(feature = "mutants")]
pub(crate) use switch::is_on;
#[cfg(feature = "mutants")]
pub use switch::{Mutant, set};

#[cfg(feature = "mutants")]
mod switch {
    use std::cell::Cell;

    /// The faults.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Mutant {
        /// An Op's commit lacks its receipt.
        ReceiptMissing,
        /// The receipt of another Op counts, too.
        ReceiptOfAnotherOp,
        /// Merged pieces of an answer are dropped when they should go out.
        DeltasLost,
        /// A write that may have happened runs again after a restart.
        WriteRetried,
        /// A call runs before it is stored that it does.
        EffectBeforeCommit,
        /// A commit holds whatever was changed meanwhile: two workers both go on with a run.
        ClaimUnchecked,
        /// What was added to a turn is dropped when the turn is stopped.
        SteerDropped,
        /// The queue begins with its newest message.
        QueueFromTheEnd,
        /// The second node of a commit stands beside the first, not below it.
        WrongParent,
        /// A thread's stream leaves a number out.
        CursorSkips,
        /// A question that outlived its worker gets a new deadline.
        DeadlineRenewed,
        /// An Op is answered twice.
        AnsweredTwice,
        /// An Op is answered before its commit.
        AnsweredEarly,
        /// The alarm is not set.
        AlarmNotSet,
        /// The beginning of an answer is shown as all of it.
        PartialAsWhole,
        /// A page that comes late sees the stream go on one event too far.
        SnapshotTooOld,
        /// The result of a call that the user stopped is missing.
        OrphanedCall,
        /// The draft of an answer outlives it.
        DraftKept,
        /// A run whose model call fails without a word keeps its revision.
        RevisionKept,
        /// A new worker takes the alarm back before it knows what did not end.
        AlarmForgotten,
        /// The queue goes on behind a turn that the user stopped.
        QueueNotHeld,
        /// A question that the user declined lets the call run all the same.
        DeclineIgnored,
        /// The row of a run stays when its thread is deleted.
        RowsLeft,
        /// A message for a turn that is over goes to the one that runs.
        SteerToAnyTurn,
        /// A wait that outlived its worker gets a new end.
        WaitRenewed,
        /// The end of a wait leaves its call without a result.
        AnswerWithoutResult,
        /// A second answer to a wait counts, too.
        WaitAnsweredTwice,
        /// A wait stays open when its turn is stopped.
        WaitLeftOpen,
        /// A page that is watched is looked at once only.
        WatchedOnce,
        /// The title that was found takes the place of the user's own.
        TitleOverUser,
        /// Every turn looks for a title once more.
        TitleTriesKept,
        /// A turn that the user lets go on past its budget has none any more.
        BudgetForgotten,
        /// A write that may have happened counts as not run when the user stops its turn.
        StoppedWriteDenied,
        /// It is stored in passing, not for good, that a write begins.
        WriteNotStrict,
        /// The answer to a question counts for whatever the page is by now.
        AnswerForAnyPage,
        /// A turn goes on below the message that is shown, not where it stopped.
        ResumedElsewhere,
        /// A stored wait forgets how often the endpoint was tried.
        TriesForgotten,
        /// The queue goes on behind a write of which the user said that it failed.
        QueueAfterFailure,
    }

    impl Mutant {
        /// All of them.
        pub const ALL: [Self; 38] = [
            Self::ReceiptMissing,
            Self::ReceiptOfAnotherOp,
            Self::DeltasLost,
            Self::WriteRetried,
            Self::EffectBeforeCommit,
            Self::ClaimUnchecked,
            Self::SteerDropped,
            Self::QueueFromTheEnd,
            Self::WrongParent,
            Self::CursorSkips,
            Self::DeadlineRenewed,
            Self::AnsweredTwice,
            Self::AnsweredEarly,
            Self::AlarmNotSet,
            Self::PartialAsWhole,
            Self::SnapshotTooOld,
            Self::OrphanedCall,
            Self::DraftKept,
            Self::RevisionKept,
            Self::AlarmForgotten,
            Self::QueueNotHeld,
            Self::DeclineIgnored,
            Self::RowsLeft,
            Self::SteerToAnyTurn,
            Self::WaitRenewed,
            Self::AnswerWithoutResult,
            Self::WaitAnsweredTwice,
            Self::WaitLeftOpen,
            Self::WatchedOnce,
            Self::TitleOverUser,
            Self::TitleTriesKept,
            Self::BudgetForgotten,
            Self::StoppedWriteDenied,
            Self::WriteNotStrict,
            Self::AnswerForAnyPage,
            Self::ResumedElsewhere,
            Self::TriesForgotten,
            Self::QueueAfterFailure,
        ];
    }

    thread_local! {
        static ON: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Switches one fault of the engines of this thread on, and every other off.
    pub fn set(mutant: Option<Mutant>) {
        ON.with(|on| on.set(mutant));
    }

    pub(crate) fn is_on(mutant: Mutant) -> bool {
        ON.with(|on| on.get() == Some(mutant))
    }
}
