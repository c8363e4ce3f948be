//! The way of a call: `ToolCall`, then `Permitted`, then `Executed`. Only this module makes a `Permitted`.

use super::policy::{AllowedBecause, AskedBecause, DeniedBecause, Question, Target, Verdict};
use panelot_protocol::approval::{ApprovalDecision, ApprovalFlag};
use panelot_protocol::content::{SensitiveField, TargetDescription};

/// A call that nobody has judged. `T` is what will be executed.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall<T> {
    call: T,
    question: Question,
}

/// A judged call.
#[derive(Debug, PartialEq)]
pub enum Decision<T> {
    /// It may be executed.
    Permitted(Permitted<T>),
    /// It waits for the user.
    Held(Held<T>),
    /// It is not executed; the reason's text is for the model.
    Denied(DeniedBecause),
}

/// A call that may be executed, once: executing consumes it.
#[derive(Debug, PartialEq)]
pub struct Permitted<T> {
    call: T,
    question: Question,
    because: PermittedBecause,
}

/// Why a call may be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermittedBecause {
    /// The verdict let it pass.
    Verdict(AllowedBecause),
    /// The user was asked and accepted.
    Accepted,
}

/// A call that waits for the user's answer.
#[derive(Debug, PartialEq)]
pub struct Held<T> {
    call: T,
    question: Question,
    /// What makes it more than ordinary.
    pub flags: Vec<ApprovalFlag>,
    /// Why the user is asked.
    pub because: AskedBecause,
}

/// Why a call that the user was asked about is not executed. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The user declined, perhaps with a note.
    #[error("The user declined this call.{}", note(.0.as_deref()))]
    Declined(Option<String>),
    /// The user declined and stopped the turn.
    #[error("The user stopped this call and the turn.")]
    Cancelled,
    /// What was accepted is no longer what would happen.
    #[error("Not done: {0} after the user was asked. Read the page again and decide anew.")]
    Changed(Change),
    /// It is forbidden by now.
    #[error("{0}")]
    Denied(DeniedBecause),
}

/// What changed between the question to the user and the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Change {
    /// The tab is another one.
    #[error("the tab changed")]
    Tab,
    /// The tab shows another site or the call goes to another address.
    #[error("the page changed")]
    Place,
    /// The document was replaced.
    #[error("the page was loaded again")]
    Document,
    /// The element under the ref is another one now.
    #[error("the element changed")]
    Element,
    /// What would be sent is different or more sensitive.
    #[error("what would be sent changed")]
    Payload,
}

/// A call that was executed, with what came of it.
#[derive(Debug, PartialEq)]
pub struct Executed<T, O> {
    /// The call.
    pub call: T,
    /// What came of it.
    pub outcome: O,
}

impl<T> ToolCall<T> {
    /// A call and the question that describes it.
    pub fn new(call: T, question: Question) -> Self {
        Self { call, question }
    }

    /// What is asked.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Lets the judge decide. `judge` is [`super::policy::verdict`] with the rules of the moment.
    pub fn decide(self, judge: impl FnOnce(&Question) -> Verdict) -> Decision<T> {
        let Self { call, question } = self;
        match judge(&question) {
            Verdict::Allow { because } => {
                Decision::Permitted(Permitted { call, question, because: PermittedBecause::Verdict(because) })
            }
            Verdict::Ask { flags, because } => Decision::Held(Held { call, question, flags, because }),
            Verdict::Deny { because } => Decision::Denied(because),
        }
    }
}

impl<T> Held<T> {
    /// What the user is asked about.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// What would be executed.
    pub fn call(&self) -> &T {
        &self.call
    }

    /// Takes the user's answer and checks everything again: `now` is the same call with the facts of this moment, and
    /// `judge` the verdict with the rules of this moment.
    ///
    /// # Errors
    /// Why the call is not executed.
    pub fn answered(
        self,
        decision: &ApprovalDecision,
        now: Question,
        judge: impl FnOnce(&Question) -> Verdict,
    ) -> Result<Permitted<T>, Refusal> {
        match decision {
            ApprovalDecision::Accept {}
            | ApprovalDecision::AcceptForSession {}
            | ApprovalDecision::AcceptForSite {} => {}
            ApprovalDecision::Decline { note } => return Err(Refusal::Declined(note.clone())),
            ApprovalDecision::Cancel {} => return Err(Refusal::Cancelled),
        }
        if let Some(change) = change(&self.question, &now) {
            return Err(Refusal::Changed(change));
        }
        match judge(&now) {
            Verdict::Deny { because } => Err(Refusal::Denied(because)),
            Verdict::Ask { because: AskedBecause::Payload(findings), .. }
                if !matches!(&self.because, AskedBecause::Payload(asked) if findings.iter().all(|one| asked.contains(one)))
                    && !self.covers_payload() =>
            {
                Err(Refusal::Changed(Change::Payload))
            }
            Verdict::Allow { .. } | Verdict::Ask { .. } => {
                Ok(Permitted { call: self.call, question: now, because: PermittedBecause::Accepted })
            }
        }
    }

    /// Whether the question outranked the look at the payload, so that the payload was not named although it was
    /// shown: the parameters are complete on every card.
    fn covers_payload(&self) -> bool {
        match self.because {
            AskedBecause::Rule(_) | AskedBecause::UnreadableRule(..) => true,
            AskedBecause::Payload(_)
            | AskedBecause::OtherTab
            | AskedBecause::BrowserData(_)
            | AskedBecause::Policy
            | AskedBecause::HostAccess => false,
        }
    }
}

impl<T> Permitted<T> {
    /// Why it may be executed.
    pub fn because(&self) -> &PermittedBecause {
        &self.because
    }

    /// What was judged.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// What is to be executed; looking does not spend the permission.
    pub fn call(&self) -> &T {
        &self.call
    }

    /// Spends the permission: the call with what came of it.
    pub fn executed<O>(self, outcome: O) -> Executed<T, O> {
        Executed { call: self.call, outcome }
    }
}

/// What differs between two descriptions of one call, as far as the user's answer depends on it.
fn change(asked: &Question, now: &Question) -> Option<Change> {
    if asked.tab_id() != now.tab_id() {
        return Some(Change::Tab);
    }
    let same_place = match (&asked.target, &now.target) {
        // A page may change its own path while the card is open; its origin may not change.
        (Target::Tab { place: before, .. }, Target::Tab { place: after, .. }) => {
            before.to_string() == after.to_string()
        }
        (before, after) => before == after,
    };
    if !same_place || asked.acted_on() != now.acted_on() {
        return Some(Change::Place);
    }
    if asked.document != now.document {
        return Some(Change::Document);
    }
    if identity(asked.element.as_ref()) != identity(now.element.as_ref()) {
        return Some(Change::Element);
    }
    let same_call = asked.tool == now.tool && asked.texts == now.texts;
    if same_call { None } else { Some(Change::Payload) }
}

/// What makes an element the one that the user saw: all of its description but where the focus is, which moves while
/// a question is open.
fn identity(element: Option<&TargetDescription>) -> Option<(&str, &str, String, Option<SensitiveField>)> {
    element.map(|element| {
        let line = element.line.replace(" [focused]", "").replace(" [active]", "");
        (element.role.as_str(), element.name.as_str(), line, element.sensitive)
    })
}

fn note(text: Option<&str>) -> String {
    text.map(|text| format!(" The user's note: {text}")).unwrap_or_default()
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
