//! The verdict: one pure function over one order of rules.

use super::origins::{Origin, Place};
use super::payload::{Finding, Payload, Taints, address_parts, inspect};
use super::rules::{Grant, Matching, RuleProblem, matching};
use super::sensitive::{SensitiveKind, SensitiveOrigins};
use panelot_protocol::approval::{ApprovalFlag, ToolCategory};
use panelot_protocol::content::TargetDescription;
use panelot_protocol::ids::{RuleId, TabId};
use panelot_protocol::settings::PermissionRule;
use panelot_protocol::turn::{PermissionPolicy, ToolLevel};
use std::collections::BTreeSet;
use std::fmt;

/// Tools that pass under every policy: they only read what the user gave the agent, or ask the user themselves, whose
/// answer to the question is answer enough.
const FREE_TOOLS: [&str; 5] =
    ["memory_read", "load_skill", "ask_user", "request_user_action", "schedule_resume"];

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Looks.
    Read,
    /// Changes something.
    Write,
}

/// One call, with all that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// Its category.
    pub category: ToolCategory,
    /// Its effect.
    pub effect: Effect,
    /// Its level.
    pub level: ToolLevel,
    /// What it acts on.
    pub target: Target,
    /// The element, as the page described it just now.
    pub element: Option<TargetDescription>,
    /// The nonce of the element's document.
    pub document: Option<String>,
    /// Texts that it would type or choose.
    pub texts: Vec<String>,
    /// Whether Chrome lets the extension touch the site.
    pub host_access: HostAccess,
    /// Whether it repeats an action with more power.
    pub escalation: Escalation,
}

/// What a call acts on.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Nothing that has a place.
    None,
    /// A tab's document.
    Tab {
        /// The tab.
        tab_id: TabId,
        /// Its document's place.
        place: Place,
    },
    /// An address that the call opens; the call is judged by it.
    Address {
        /// The tab that goes there; none for a new tab.
        tab_id: Option<TabId>,
        /// The address.
        place: Place,
    },
    /// Data of the browser itself.
    Browser(BrowserData),
}

/// Data of the browser that a thread asks for once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BrowserData {
    /// The history.
    History,
    /// Bookmarks.
    Bookmarks,
    /// Tabs that were closed.
    RecentlyClosed,
}

/// Whether Chrome lets the extension touch a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAccess {
    /// It does, or the call needs none.
    Granted,
    /// The user has to allow it first.
    Missing,
}

/// Whether a call repeats another one with more power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escalation {
    /// It does not.
    None,
    /// The content script had no effect; the debugger is to do it.
    ToDebugger,
}

/// What a thread may read, and what it has read.
#[derive(Debug, Clone, Default)]
pub struct ThreadScope {
    /// The captured tab, those that the user referenced, those that the agent opened, those that were accepted.
    pub tabs: BTreeSet<TabId>,
    /// Data of the browser that the user has accepted.
    pub browser_data: BTreeSet<BrowserData>,
    /// The user's own e-mail addresses.
    pub own_emails: Vec<String>,
    /// Values that the thread has read.
    pub taints: Taints,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It passes.
    Allow {
        /// Why.
        because: AllowedBecause,
    },
    /// The user decides.
    Ask {
        /// What makes it more than ordinary.
        flags: Vec<ApprovalFlag>,
        /// Why.
        because: AskedBecause,
    },
    /// It does not pass; the reason's text is for the model.
    Deny {
        /// Why.
        because: DeniedBecause,
    },
}

/// Why a call passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedBecause {
    /// The tool is free under every policy.
    FreeTool,
    /// A read of what the thread may read.
    Read,
    /// The user has accepted this for the session.
    Grant,
    /// A rule allows it.
    Rule(RuleId),
    /// The policy lets it pass.
    Policy,
}

/// Why the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedBecause {
    /// A rule asks.
    Rule(RuleId),
    /// A rule that restricts cannot be read.
    UnreadableRule(RuleId, RuleProblem),
    /// What the call carries.
    Payload(Vec<Finding>),
    /// The tab is none of the thread's.
    OtherTab,
    /// Data of the browser that the thread has not asked for yet.
    BrowserData(BrowserData),
    /// The policy asks.
    Policy,
    /// Chrome has to let the extension touch the site.
    HostAccess,
}

/// Why a call does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeniedBecause {
    /// The address is a program or a document of its own.
    ScriptAddress(String),
    /// A write to a place where nothing is written, named as people name it.
    ForbiddenPlace(String),
    /// A rule denies it.
    Rule {
        /// The rule.
        rule_id: RuleId,
        /// The place that it forbids.
        place: String,
    },
    /// A sensitive site.
    Sensitive {
        /// What it is.
        kind: SensitiveKind,
        /// The site.
        origin: Origin,
    },
}

impl fmt::Display for DeniedBecause {
    /// A sentence for the model: what is forbidden and what to do instead.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScriptAddress(scheme) => write!(
                f,
                "Not allowed: {scheme}: addresses are never opened. Use an http or https address, or act on the page with \
                 the page tools."
            ),
            Self::ForbiddenPlace(place) => write!(
                f,
                "Not allowed: nothing is opened or changed at {place}. Ask the user to do this step themselves, or \
                 continue without it."
            ),
            Self::Rule { place, .. } => write!(
                f,
                "Not allowed: a rule of the user forbids this tool for {place}. Do not try another way to the same \
                 effect; tell the user what you could not do."
            ),
            Self::Sensitive { kind, origin } => write!(
                f,
                "Not allowed: {origin} is {}, where the user acts alone. Pages that the user has opened there may be \
                 read; ask the user to do this step themselves.",
                kind.phrase()
            ),
        }
    }
}

impl Question {
    /// The place that the call acts on: the element's own document where it is known (a frame's, say), else the
    /// target's.
    pub fn acted_on(&self) -> Option<Origin> {
        let of_element = self.element.as_ref().and_then(|element| Origin::parse(&element.origin).ok());
        of_element.or_else(|| self.place().and_then(|place| place.origin().cloned()))
    }

    /// The target's place.
    pub fn place(&self) -> Option<&Place> {
        match &self.target {
            Target::Tab { place, .. } | Target::Address { place, .. } => Some(place),
            Target::None | Target::Browser(_) => None,
        }
    }

    /// The tab that the call changes or reads.
    pub fn tab_id(&self) -> Option<TabId> {
        match &self.target {
            Target::Tab { tab_id, .. } => Some(*tab_id),
            Target::Address { tab_id, .. } => *tab_id,
            Target::None | Target::Browser(_) => None,
        }
    }

    fn findings(&self, acted_on: Option<&Origin>, thread: &ThreadScope) -> Vec<Finding> {
        let mut texts = self.texts.clone();
        match &self.target {
            Target::Address { place, .. } => {
                texts.extend(place.web().map(|url| address_parts(&url.rest)).unwrap_or_default());
            }
            Target::None | Target::Tab { .. } | Target::Browser(_) => {}
        }
        let payload = Payload {
            texts: &texts,
            field: self.element.as_ref().and_then(|element| element.sensitive),
            field_name: self.element.as_ref().map_or("", |element| element.name.as_str()),
            to: acted_on,
        };
        inspect(&payload, &thread.own_emails, &thread.taints)
    }

    fn is_in_scope(&self, thread: &ThreadScope) -> bool {
        self.tab_id().is_none_or(|tab_id| thread.tabs.contains(&tab_id))
    }
}

/// Judges a call. The order, from what nothing overrides to the policy's default:
///
/// 1. addresses that are programs, and writes to places where nothing is written: deny;
/// 2. a deny rule, for reads and writes: deny;
/// 3. a write to a sensitive site: deny;
/// 4. an ask rule, or a restricting rule that cannot be read: ask;
/// 5. a write with a sensitive payload: ask;
/// 6. a read: free in the thread's tabs, asked once for other tabs and for the browser's data;
/// 7. a grant of this session or an allow rule: allow;
/// 8. the policy's default.
///
/// Two points where this order leaves a choice are decided for the stricter side. A write shows what it changed, so
/// in a tab that is none of the thread's it asks under `auto` too. A call that passes but needs access that Chrome
/// has not given is asked, since only a click can give it.
pub fn verdict(
    question: &Question,
    rules: &[PermissionRule],
    session_grants: &[Grant],
    policy: PermissionPolicy,
    sensitive: &SensitiveOrigins,
    thread: &ThreadScope,
) -> Verdict {
    let judged = judge(question, rules, session_grants, policy, sensitive, thread);
    match (judged, question.host_access) {
        (Verdict::Allow { .. }, HostAccess::Missing) => ask(question, AskedBecause::HostAccess),
        (judged, HostAccess::Granted | HostAccess::Missing) => judged,
    }
}

fn judge(
    question: &Question,
    rules: &[PermissionRule],
    session_grants: &[Grant],
    policy: PermissionPolicy,
    sensitive: &SensitiveOrigins,
    thread: &ThreadScope,
) -> Verdict {
    let acted_on = question.acted_on();
    let acted_on = acted_on.as_ref();
    let outer = question.place().and_then(Place::origin);
    let places = [outer, acted_on];
    let matching = matching(rules, &question.tool, question.category, &places, acted_on);
    if let Some(because) = denied(question, &matching, &places, sensitive) {
        return Verdict::Deny { because };
    }
    if let Some(rule) = matching.ask {
        return ask(question, AskedBecause::Rule(rule.rule_id.clone()));
    }
    if let Some((rule, problem)) = matching.unreadable {
        return ask(question, AskedBecause::UnreadableRule(rule.rule_id.clone(), problem));
    }
    let grant = |question: &Question| {
        session_grants.iter().any(|grant| grant.tool == question.tool && grant.origin.as_ref() == acted_on)
    };
    match question.effect {
        Effect::Write => {
            let findings = question.findings(acted_on, thread);
            if !findings.is_empty() {
                return ask(question, AskedBecause::Payload(findings));
            }
        }
        Effect::Read => {
            if let Some(verdict) = judge_read(question, grant(question), policy, thread) {
                return verdict;
            }
        }
    }
    if grant(question) {
        return Verdict::Allow { because: AllowedBecause::Grant };
    }
    if let Some(rule) = matching.allow {
        return Verdict::Allow { because: AllowedBecause::Rule(rule.rule_id.clone()) };
    }
    match policy {
        PermissionPolicy::Always | PermissionPolicy::Untrusted => ask(question, AskedBecause::Policy),
        PermissionPolicy::Auto if question.is_in_scope(thread) => {
            Verdict::Allow { because: AllowedBecause::Policy }
        }
        PermissionPolicy::Auto => ask(question, AskedBecause::OtherTab),
    }
}

/// Steps 1 to 3: what nothing overrides.
fn denied(
    question: &Question,
    matching: &Matching<'_>,
    places: &[Option<&Origin>],
    sensitive: &SensitiveOrigins,
) -> Option<DeniedBecause> {
    let writes = question.effect == Effect::Write;
    match question.place() {
        Some(Place::Script { scheme }) => return Some(DeniedBecause::ScriptAddress(scheme.clone())),
        Some(
            place @ (Place::File
            | Place::Browser { .. }
            | Place::Extension
            | Place::Store(_)
            | Place::Other { .. }),
        ) if writes => return Some(DeniedBecause::ForbiddenPlace(place.to_string())),
        Some(
            Place::Web(_)
            | Place::Blank
            | Place::File
            | Place::Browser { .. }
            | Place::Extension
            | Place::Store(_)
            | Place::Other { .. },
        )
        | None => {}
    }
    if let Some(rule) = matching.deny {
        let place =
            places.iter().rev().flatten().next().map_or("every place".to_owned(), ToString::to_string);
        return Some(DeniedBecause::Rule { rule_id: rule.rule_id.clone(), place });
    }
    if !writes {
        return None;
    }
    places.iter().flatten().find_map(|origin| {
        let kind = sensitive.kind_of(origin)?;
        Some(DeniedBecause::Sensitive { kind, origin: (*origin).clone() })
    })
}

/// Step 6. `None`: the call goes on to grants, rules and the policy's default, as every read does under `always`.
fn judge_read(
    question: &Question,
    is_granted: bool,
    policy: PermissionPolicy,
    thread: &ThreadScope,
) -> Option<Verdict> {
    if FREE_TOOLS.contains(&question.tool.as_str()) {
        return Some(Verdict::Allow { because: AllowedBecause::FreeTool });
    }
    if is_granted {
        return Some(Verdict::Allow { because: AllowedBecause::Grant });
    }
    let missing = match &question.target {
        Target::Browser(data) if !thread.browser_data.contains(data) => {
            Some(AskedBecause::BrowserData(*data))
        }
        Target::Browser(_) => None,
        Target::None | Target::Tab { .. } | Target::Address { .. } if question.is_in_scope(thread) => None,
        Target::None | Target::Tab { .. } | Target::Address { .. } => Some(AskedBecause::OtherTab),
    };
    if let Some(because) = missing {
        return Some(ask(question, because));
    }
    match policy {
        PermissionPolicy::Always => None,
        PermissionPolicy::Untrusted | PermissionPolicy::Auto => {
            Some(Verdict::Allow { because: AllowedBecause::Read })
        }
    }
}

fn ask(question: &Question, because: AskedBecause) -> Verdict {
    let mut flags = Vec::new();
    if let AskedBecause::Payload(findings) = &because {
        let crosses = |finding: &Finding| matches!(finding, Finding::ReadElsewhere { .. });
        if findings.iter().any(|finding| !crosses(finding)) {
            flags.push(ApprovalFlag::SensitivePayload);
        }
        if findings.iter().any(crosses) {
            flags.push(ApprovalFlag::CrossSite);
        }
    }
    match question.escalation {
        Escalation::ToDebugger => flags.push(ApprovalFlag::EscalationL2),
        Escalation::None => {}
    }
    match question.host_access {
        HostAccess::Missing => flags.push(ApprovalFlag::HostPermission),
        HostAccess::Granted => {}
    }
    Verdict::Ask { flags, because }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
