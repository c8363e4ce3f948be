//! The registry: every tool with all that is known about it before it is called.

use super::catalogue::{
    AskUserParams, ClickParams, NavigateParams, ReadPageParams, RequestUserActionParams,
    ScheduleResumeParams, SelectOptionParams, TabOpenParams, TabsListParams, TypeParams, WaitForParams,
    WatchPageParams,
};
use super::schema::json_schema;
use crate::permission::Effect;
use panelot_protocol::Shape;
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::schema::TypeShape;
use panelot_protocol::turn::ToolLevel;
use serde_json::Value;

/// What may be done about a call when nobody knows whether it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// It may be done again.
    RetrySafe,
    /// Looking at the world tells whether it happened.
    InspectFirst,
    /// It may not be done again without the user.
    NeverRetry,
}

/// Whose words a result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultTrust {
    /// The engine's own.
    Own,
    /// A page's, too: the result stands in a fence.
    Page,
}

/// A tool.
#[derive(Debug)]
pub struct ToolSpec {
    /// The name that models call.
    pub name: &'static str,
    /// What it does, for people, in English; views translate by the name.
    pub label: &'static str,
    /// What it does, when to use it and how to recover, for models.
    pub description: &'static str,
    /// The level that it belongs to.
    pub level: ToolLevel,
    /// How rules and people group it.
    pub category: ToolCategory,
    /// Whether it changes something.
    pub effect: Effect,
    /// What may be done when its outcome is unknown.
    pub recovery: Recovery,
    /// Whose words its result holds.
    pub trust: ResultTrust,
    /// Its parameters.
    pub parameters: &'static TypeShape,
}

impl ToolSpec {
    /// The JSON Schema of its parameters.
    pub fn schema(&self) -> Value {
        json_schema(self.name, self.parameters)
    }
}

/// All tools, in the order in which models see them.
pub static TOOLS: [ToolSpec; 12] = [
    ToolSpec {
        name: "tabs_list",
        label: "List tabs",
        description: "Lists the open tabs with their tabId, title and address. Use it when the task is about several tabs or \
                      you need a tabId.",
        level: ToolLevel::L0,
        category: ToolCategory::Read,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Page,
        parameters: TabsListParams::SHAPE,
    },
    ToolSpec {
        name: "tab_open",
        label: "Open tab",
        description: "Opens an address in a new tab behind the user's tab and returns its tabId. Use it to look something up \
                      without losing the current page. Call read_page with the tabId next. If it fails, check the address.",
        level: ToolLevel::L0,
        category: ToolCategory::Navigate,
        effect: Effect::Write,
        recovery: Recovery::InspectFirst,
        trust: ResultTrust::Page,
        parameters: TabOpenParams::SHAPE,
    },
    ToolSpec {
        name: "navigate",
        label: "Go to address",
        description: "Sends a tab to another address. What was typed in its page is lost, and its refs with it: call \
                      read_page afterwards. The result names the address where it arrived, which can differ after a redirect.",
        level: ToolLevel::L0,
        category: ToolCategory::Navigate,
        effect: Effect::Write,
        recovery: Recovery::InspectFirst,
        trust: ResultTrust::Page,
        parameters: NavigateParams::SHAPE,
    },
    ToolSpec {
        name: "read_page",
        label: "Read page",
        description: "Reads a page as an indented accessibility tree: role, name, state and, for what can be acted on, [ref=...]. \
                      Call it before you act and after a navigation. A line says what was left out; pass a ref to read one part \
                      in full. If the page is empty or still loading, use wait_for and read again.",
        level: ToolLevel::L1,
        category: ToolCategory::Read,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Page,
        parameters: ReadPageParams::SHAPE,
    },
    ToolSpec {
        name: "click",
        label: "Click",
        description: "Clicks an element. The result says whether an effect was seen and what changed. On stale_ref read the page \
                      again; on occluded deal first with what lies over the element; on uncertain look before you click again.",
        level: ToolLevel::L1,
        category: ToolCategory::Click,
        effect: Effect::Write,
        recovery: Recovery::NeverRetry,
        trust: ResultTrust::Page,
        parameters: ClickParams::SHAPE,
    },
    ToolSpec {
        name: "type",
        label: "Type",
        description: "Types text into a field or editor, as if the user had typed it. The result says what the field holds now: \
                      compare it. Use select_option for lists and click for checkboxes. Do not type passwords, codes or card \
                      data: ask the user.",
        level: ToolLevel::L1,
        category: ToolCategory::Fill,
        effect: Effect::Write,
        recovery: Recovery::NeverRetry,
        trust: ResultTrust::Page,
        parameters: TypeParams::SHAPE,
    },
    ToolSpec {
        name: "select_option",
        label: "Select option",
        description: "Chooses options of a native list (combobox or listbox). A failure lists the options that there are. For a \
                      list that the page draws itself, click it, read the page and click the option.",
        level: ToolLevel::L1,
        category: ToolCategory::Fill,
        effect: Effect::Write,
        recovery: Recovery::InspectFirst,
        trust: ResultTrust::Page,
        parameters: SelectOptionParams::SHAPE,
    },
    ToolSpec {
        name: "wait_for",
        label: "Wait",
        description: "Waits until a text appears (text) or goes away (textGone), or for a time (timeMs alone). Use it when a page \
                      is loading or working. When the time is over, read the page to see where it stands.",
        level: ToolLevel::L1,
        category: ToolCategory::Read,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Page,
        parameters: WaitForParams::SHAPE,
    },
    ToolSpec {
        name: "ask_user",
        label: "Ask the user",
        description: "Asks the user one question and waits for the answer, for days if need be. Use it when the task is unclear in \
                      a way that changes the result, not for what a page tells. If nobody answers, go on with the safest choice, \
                      or stop and say what is missing.",
        level: ToolLevel::L0,
        category: ToolCategory::Interact,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Own,
        parameters: AskUserParams::SHAPE,
    },
    ToolSpec {
        name: "request_user_action",
        label: "Ask for an action",
        description: "Asks the user to do what only they can: a log-in, a code, a payment's last step, a human check. Waits until \
                      they say that it is done. Read the page afterwards; if they decline, do not reach it another way.",
        level: ToolLevel::L0,
        category: ToolCategory::Interact,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Own,
        parameters: RequestUserActionParams::SHAPE,
    },
    ToolSpec {
        name: "watch_page",
        label: "Watch page",
        description: "Waits minutes to days until a text appears in a page (text) or goes away (textGone); the page is looked at \
                      about twice a minute. Use it for a result that comes later, wait_for for seconds. When its tab is closed \
                      or shows another site, find the page again or tell the user.",
        level: ToolLevel::L1,
        category: ToolCategory::Read,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Page,
        parameters: WatchPageParams::SHAPE,
    },
    ToolSpec {
        name: "schedule_resume",
        label: "Go on later",
        description: "Pauses this task and goes on with it after a time, also when the browser was restarted meanwhile. Use it when \
                      the user wants something done later. Read pages again afterwards: they may have changed.",
        level: ToolLevel::L0,
        category: ToolCategory::Interact,
        effect: Effect::Read,
        recovery: Recovery::RetrySafe,
        trust: ResultTrust::Own,
        parameters: ScheduleResumeParams::SHAPE,
    },
];

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools of the enabled levels, in the order in which models see them.
pub fn offered(levels: &[ToolLevel]) -> impl Iterator<Item = &'static ToolSpec> {
    TOOLS.iter().filter(move |tool| levels.contains(&tool.level))
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{described, description};
    use super::*;
    use crate::prompt::estimate::tokens;
    use std::collections::BTreeSet;

    /// Tokens that the schemas of the default set may cost.
    const SCHEMAS_TOKENS_MAX: u64 = 3_500;

    fn parameters(tool: &ToolSpec) -> Vec<&'static str> {
        let TypeShape::Record(record) = tool.parameters else { panic!("{}: no record", tool.name) };
        record.fields.iter().map(|field| field.name).collect()
    }

    #[test]
    fn the_schemas_of_the_default_set_stay_within_their_budget() {
        let cost: u64 = offered(&[ToolLevel::L0, ToolLevel::L1, ToolLevel::L2, ToolLevel::Mcp])
            .map(|tool| {
                let function = serde_json::json!({
                    "type": "function",
                    "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema() },
                });
                tokens(&function.to_string())
            })
            .sum();
        assert!(cost < SCHEMAS_TOKENS_MAX, "{cost} tokens");
    }

    #[test]
    fn names_are_unique_and_every_parameter_is_described() {
        let names: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
        let missing: Vec<(&str, &str)> = TOOLS
            .iter()
            .flat_map(|tool| parameters(tool).into_iter().map(|name| (tool.name, name)))
            .filter(|(tool, name)| description(tool, name).is_none())
            .collect();
        assert_eq!(missing, vec![]);
    }

    #[test]
    fn no_description_is_of_a_parameter_that_does_not_exist() {
        let stray: Vec<(&str, &str)> = described()
            .filter(|(of, name)| {
                !TOOLS
                    .iter()
                    .any(|tool| (of.is_empty() || tool.name == *of) && parameters(tool).contains(name))
            })
            .collect();
        assert_eq!(stray, vec![]);
    }

    #[test]
    fn a_read_may_be_repeated_and_a_write_may_not() {
        for tool in &TOOLS {
            assert_eq!(tool.effect == Effect::Read, tool.recovery == Recovery::RetrySafe, "{}", tool.name);
        }
    }

    #[test]
    fn a_level_that_is_off_offers_nothing() {
        let names: Vec<&str> = offered(&[ToolLevel::L0]).map(|tool| tool.name).collect();
        let waits = ["ask_user", "request_user_action", "schedule_resume"];
        assert_eq!(names, [&["tabs_list", "tab_open", "navigate"][..], &waits].concat());
    }
}
