//! Why an action was not done, and what the model should do next.

use std::fmt;

pub use panelot_protocol::content::ActionFailureCode as Code;

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
