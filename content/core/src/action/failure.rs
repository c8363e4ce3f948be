//! Why an action was not done, and what the model should do next.

use std::fmt;

/// The kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Code {
    /// The ref is of another document, or the element is gone or something else.
    StaleRef,
    /// The element left the page while the action was under way.
    Detached,
    /// The element is not rendered, or has no size.
    NotVisible,
    /// The element keeps moving.
    NotStable,
    /// The element is disabled or inert.
    Disabled,
    /// The element takes no text.
    NotEditable,
    /// Something else receives the events at the element's place.
    Occluded,
    /// More than one thing matches.
    AmbiguousTarget,
    /// The element is in a frame that cannot be reached.
    UnsupportedFrame,
    /// A synthetic action had no effect; trusted input may have one.
    L1NotEffective,
    /// The document went away and nobody knows whether the action took place.
    NavigationUncertain,
    /// Something that only the user may answer is in the way.
    SafetyBoundaryUnavailable,
    /// The time for the action is over.
    Timeout,
    /// The action was cancelled.
    Aborted,
    /// Anything else.
    Unknown,
}

/// A failure with the sentence that the model reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Its kind.
    pub code: Code,
    /// What is the matter and what to do next.
    pub message: String,
}

impl Failure {
    /// A failure of this kind; `message` says what is the matter and what to do next.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
