//! Rules and grants: what the user has decided before, and which rule speaks for a call.

use super::origins::{Origin, OriginPattern, UrlProblem};
use panelot_protocol::FromJson;
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::ids::RuleId;
use panelot_protocol::settings::{PermissionRule, RuleEffect, RuleSource};
use serde::Serialize;
use std::cmp::Reverse;

/// The id of the rule that a first start creates.
pub const INITIAL_RULE_ID: &str = "initial-run-javascript";

/// The name of a category in a rule's subject.
pub fn category_name(category: ToolCategory) -> &'static str {
    match category {
        ToolCategory::Read => "read",
        ToolCategory::Navigate => "navigate",
        ToolCategory::Organize => "organize",
        ToolCategory::Click => "click",
        ToolCategory::Fill => "fill",
        ToolCategory::Eval => "eval",
        ToolCategory::Download => "download",
        ToolCategory::Upload => "upload",
        ToolCategory::Interact => "interact",
        ToolCategory::Memory => "memory",
        ToolCategory::Mcp => "mcp",
    }
}

const CATEGORIES: [ToolCategory; 11] = [
    ToolCategory::Read,
    ToolCategory::Navigate,
    ToolCategory::Organize,
    ToolCategory::Click,
    ToolCategory::Fill,
    ToolCategory::Eval,
    ToolCategory::Download,
    ToolCategory::Upload,
    ToolCategory::Interact,
    ToolCategory::Memory,
    ToolCategory::Mcp,
];

/// An acceptance for a thread and a browser session: this tool on this origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The tool's name.
    pub tool: String,
    /// The origin; absent for tools that act on none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The rules that speak for one call, by effect. Of several with one effect the narrower pattern is named, then the
/// narrower subject, then the user's before a kept approval before a plugin's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching<'r> {
    /// The deny rule.
    pub deny: Option<&'r PermissionRule>,
    /// The ask rule.
    pub ask: Option<&'r PermissionRule>,
    /// The allow rule.
    pub allow: Option<&'r PermissionRule>,
    /// A deny or ask rule that cannot be read: nobody knows what it was to forbid.
    pub unreadable: Option<(&'r PermissionRule, RuleProblem)>,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The subject is none of the three forms.
    #[error("subject: write a tool's name, category:NAME with a known category, or *")]
    Subject,
    /// The origin is no pattern.
    #[error("origin: {0}")]
    Origin(UrlProblem),
}

/// Checks a rule before it is stored.
///
/// # Errors
/// The field and what is wrong with it.
pub fn check_rule(rule: &PermissionRule) -> Result<(), RuleProblem> {
    Subject::parse(&rule.subject)?;
    OriginPattern::parse(&rule.origin).map_err(RuleProblem::Origin)?;
    Ok(())
}

/// The rule that a first start creates, once: no code in pages. A user who deletes it has decided.
pub fn initial_rule() -> PermissionRule {
    PermissionRule {
        rule_id: RuleId::new(INITIAL_RULE_ID),
        subject: "run_javascript".to_owned(),
        origin: "*".to_owned(),
        effect: RuleEffect::Deny,
        source: RuleSource::User,
    }
}

/// The rule that keeps an acceptance for a site; none where the call has no origin.
pub fn rule_from_acceptance(rule_id: RuleId, tool: &str, origin: Option<&Origin>) -> Option<PermissionRule> {
    Some(PermissionRule {
        rule_id,
        subject: tool.to_owned(),
        origin: origin?.to_string(),
        effect: RuleEffect::Allow,
        source: RuleSource::Approval,
    })
}

/// Finds the rules that speak for a call. Restricting rules count when they match any of `places`; an allow rule
/// must match `acted_on`, the place that the call changes.
pub fn matching<'r>(
    rules: &'r [PermissionRule],
    tool: &str,
    category: ToolCategory,
    places: &[Option<&Origin>],
    acted_on: Option<&Origin>,
) -> Matching<'r> {
    let mut found = Matching::default();
    let mut best = [None, None, None];
    for rule in rules {
        let (subject, pattern) = match parsed(rule) {
            Ok(parsed) => parsed,
            Err(problem) => {
                match rule.effect {
                    RuleEffect::Deny | RuleEffect::Ask => _ = found.unreadable.get_or_insert((rule, problem)),
                    RuleEffect::Allow => {}
                }
                continue;
            }
        };
        let at_place = match rule.effect {
            RuleEffect::Deny | RuleEffect::Ask => places.iter().any(|place| pattern.matches(*place)),
            RuleEffect::Allow => pattern.matches(acted_on),
        };
        if !at_place || !subject.means(tool, category) {
            continue;
        }
        let rank = (pattern.narrowness(), subject.narrowness(), Reverse(source_place(rule.source)));
        let [deny, ask, allow] = &mut best;
        let (slot, best_rank) = match rule.effect {
            RuleEffect::Deny => (&mut found.deny, deny),
            RuleEffect::Ask => (&mut found.ask, ask),
            RuleEffect::Allow => (&mut found.allow, allow),
        };
        if best_rank.is_none_or(|best_rank| rank > best_rank) {
            *slot = Some(rule);
            *best_rank = Some(rank);
        }
    }
    found
}

fn source_place(source: RuleSource) -> u8 {
    match source {
        RuleSource::User => 0,
        RuleSource::Approval => 1,
        RuleSource::Plugin => 2,
    }
}

fn parsed(rule: &PermissionRule) -> Result<(Subject<'_>, OriginPattern), RuleProblem> {
    let subject = Subject::parse(&rule.subject)?;
    let pattern = OriginPattern::parse(&rule.origin).map_err(RuleProblem::Origin)?;
    Ok((subject, pattern))
}

/// What a rule is about.
enum Subject<'r> {
    Any,
    Category(ToolCategory),
    Tool(&'r str),
}

impl<'r> Subject<'r> {
    fn parse(text: &'r str) -> Result<Self, RuleProblem> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(name) = text.strip_prefix("category:") {
            let category = CATEGORIES.into_iter().find(|category| category_name(*category) == name);
            return category.map(Self::Category).ok_or(RuleProblem::Subject);
        }
        let is_name = !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'));
        if is_name { Ok(Self::Tool(text)) } else { Err(RuleProblem::Subject) }
    }

    fn means(&self, tool: &str, category: ToolCategory) -> bool {
        match self {
            Self::Any => true,
            Self::Category(own) => *own == category,
            Self::Tool(name) => *name == tool,
        }
    }

    fn narrowness(&self) -> u8 {
        match self {
            Self::Any => 0,
            Self::Category(_) => 1,
            Self::Tool(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, subject: &str, origin: &str, effect: RuleEffect, source: RuleSource) -> PermissionRule {
        PermissionRule {
            rule_id: RuleId::new(id),
            subject: subject.to_owned(),
            origin: origin.to_owned(),
            effect,
            source,
        }
    }

    fn winner(rules: &[PermissionRule], effect: RuleEffect) -> Option<String> {
        let origin = Origin::parse("https://shop.x.test").unwrap();
        let found = matching(rules, "click", ToolCategory::Click, &[Some(&origin)], Some(&origin));
        let winner = match effect {
            RuleEffect::Deny => found.deny,
            RuleEffect::Ask => found.ask,
            RuleEffect::Allow => found.allow,
        };
        winner.map(|rule| rule.rule_id.to_string())
    }

    #[test]
    fn narrow_comes_before_wide_and_the_user_before_approval_before_plugin() {
        use RuleSource::{Approval, Plugin, User};
        let allow = |id, subject, origin, source| rule(id, subject, origin, RuleEffect::Allow, source);
        let ordered = [
            allow("1", "click", "https://shop.x.test", User),
            allow("2", "click", "https://shop.x.test", Approval),
            allow("3", "click", "https://shop.x.test", Plugin),
            allow("4", "category:click", "https://shop.x.test", User),
            allow("5", "*", "https://shop.x.test", User),
            allow("6", "click", "*.shop.x.test", User),
            allow("7", "click", "*.x.test", User),
            allow("8", "click", "*", User),
            allow("9", "*", "*", Plugin),
        ];
        for first in 0..ordered.len() {
            let mut rules: Vec<PermissionRule> = ordered.get(first..).unwrap().to_vec();
            let expected = Some((first + 1).to_string());
            assert_eq!(winner(&rules, RuleEffect::Allow), expected);
            rules.reverse();
            assert_eq!(winner(&rules, RuleEffect::Allow), expected, "whatever the order of storage");
        }
    }

    #[test]
    fn a_rule_of_another_subject_or_origin_does_not_speak() {
        for (subject, origin) in [
            ("type", "*"),
            ("category:fill", "*"),
            ("click", "https://x.test"),
            ("*", "*.y.test"),
            ("Click", "*"),
        ] {
            let rules = [rule("r", subject, origin, RuleEffect::Deny, RuleSource::User)];
            assert_eq!(winner(&rules, RuleEffect::Deny), None, "{subject} × {origin}");
        }
    }

    #[test]
    fn an_unreadable_rule_is_named_when_it_restricts_and_ignored_when_it_allows() {
        let problem = |subject: &str, origin: &str, effect| {
            let rules = [rule("r", subject, origin, effect, RuleSource::User)];
            let found = matching(&rules, "click", ToolCategory::Click, &[None], None);
            (found.unreadable.map(|(_, problem)| problem.to_string()), found.allow.is_some())
        };
        let subject = "subject: write a tool's name, category:NAME with a known category, or *";
        assert_eq!(problem("category:all", "*", RuleEffect::Deny), (Some(subject.to_owned()), false));
        assert_eq!(
            problem("click", "a.*", RuleEffect::Ask),
            (Some("origin: a star may only stand alone or first, as *.example.com".to_owned()), false)
        );
        assert_eq!(problem("click", "a.*", RuleEffect::Allow), (None, false));
    }

    #[test]
    fn a_rule_is_checked_before_it_is_stored() {
        let checked =
            |subject, origin| check_rule(&rule("r", subject, origin, RuleEffect::Allow, RuleSource::User));
        assert_eq!(checked("category:fill", "*.x.test"), Ok(()));
        assert_eq!(checked("server.tool-1", "https://x.test"), Ok(()));
        assert_eq!(checked("two words", "*"), Err(RuleProblem::Subject));
        assert_eq!(checked("", "*"), Err(RuleProblem::Subject));
        assert_eq!(checked("click", "x.test"), Err(RuleProblem::Origin(UrlProblem::BareHost)));
        assert_eq!(check_rule(&initial_rule()), Ok(()));
    }

    #[test]
    fn an_acceptance_for_a_site_becomes_a_rule_for_that_tool_and_origin() {
        let origin = Origin::parse("https://shop.x.test:8443").unwrap();
        let kept = rule_from_acceptance(RuleId::new("r"), "click", Some(&origin));
        let expected =
            rule("r", "click", "https://shop.x.test:8443", RuleEffect::Allow, RuleSource::Approval);
        assert_eq!(kept, Some(expected));
        assert_eq!(rule_from_acceptance(RuleId::new("r"), "tabs_list", None), None);
    }
}
