//! Between the registry of tools and the loop: a parsed call with its entry, how it is judged, what its loss means.

use crate::permission::{Effect, Escalation, HostAccess, Place, Question};
use crate::store::records::{RecoveryClass, StoredFacts};
use crate::tools::{
    ArgumentProblem, CallContext, Recovery, ToolInvocation, ToolSpec, find, offered, parse_call,
};
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::content::TargetDescription;
use panelot_protocol::ids::TabId;
use panelot_protocol::turn::ToolLevel;
use panelot_providers::ToolSchema;
use serde_json::Value;

/// A call whose arguments are right, with its entry in the registry.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    /// The call.
    pub call: ToolInvocation,
    /// Its entry.
    pub spec: &'static ToolSpec,
}

impl Invocation {
    /// The tab that is meant.
    pub fn tab(&self, captured: Option<TabId>) -> Option<TabId> {
        if self.call.needs_tab() { self.call.tab_id().or(captured) } else { None }
    }

    /// Whether it may change something.
    pub fn writes(&self) -> bool {
        self.spec.effect == Effect::Write
    }

    /// Whether the run waits for it, durably.
    pub fn waits(&self) -> bool {
        matches!(self.call, ToolInvocation::Wait(_))
    }

    /// Whether it only looks: then it may run beside other looks. A wait is no look, since its place in the order matters.
    pub fn is_independent(&self) -> bool {
        let waits = match &self.call {
            ToolInvocation::WaitForText { .. }
            | ToolInvocation::WaitForTime { .. }
            | ToolInvocation::Wait(_) => true,
            ToolInvocation::TabsList
            | ToolInvocation::TabOpen { .. }
            | ToolInvocation::Navigate { .. }
            | ToolInvocation::ReadPage(_)
            | ToolInvocation::Click(_)
            | ToolInvocation::Type(_)
            | ToolInvocation::SelectOption(_) => false,
        };
        self.spec.effect == Effect::Read && self.spec.recovery == Recovery::RetrySafe && !waits
    }

    /// What its loss means.
    pub fn recovery(&self) -> RecoveryClass {
        match self.spec.recovery {
            Recovery::RetrySafe => RecoveryClass::RetrySafe,
            Recovery::InspectFirst => RecoveryClass::InspectFirst,
            Recovery::NeverRetry => RecoveryClass::NeverRetry,
        }
    }

    /// The question about it, with what was seen of its target.
    pub fn question(&self, facts: &StoredFacts) -> Question {
        let place = facts.url.as_deref().map(|url| {
            // An address that cannot be read is a place where nothing is written.
            Place::parse(url).unwrap_or(Place::Other { scheme: String::new() })
        });
        let context = CallContext {
            tab: facts.tab_id.zip(place),
            element: facts.element.clone(),
            document: facts.document.clone(),
            host_access: if facts.access_missing { HostAccess::Missing } else { HostAccess::Granted },
            escalation: Escalation::None,
        };
        self.call.question(self.spec, &context)
    }

    /// The target in a few words, better once the element is known.
    pub fn label(&self, element: Option<&TargetDescription>) -> String {
        self.call.label(element)
    }
}

/// Reads a call.
///
/// # Errors
/// What is wrong, as a sentence for the model.
pub(crate) fn parse(name: &str, arguments: &Value) -> Result<Invocation, ArgumentProblem> {
    let call = parse_call(name, arguments)?;
    let spec = find(call.tool())
        .ok_or_else(|| ArgumentProblem::UnknownTool { name: call.tool().to_owned(), known: String::new() })?;
    Ok(Invocation { call, spec })
}

/// The category of a tool, also of one that does not exist.
pub(crate) fn category(tool: &str) -> ToolCategory {
    find(tool).map_or(ToolCategory::Read, |spec| spec.category)
}

/// The tools of the given levels as the model sees them.
pub(crate) fn schemas(levels: &[ToolLevel]) -> Vec<ToolSchema> {
    offered(levels)
        .map(|spec| ToolSchema {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            parameters: spec.schema(),
        })
        .collect()
}
