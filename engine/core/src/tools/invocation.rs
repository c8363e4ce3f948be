//! A call that was read: one closed set, and what each call is for the page, for the judge and for people.

use super::catalogue::{
    ClickParams, NavigateParams, ReadPageParams, SelectOptionParams, TabOpenParams, TypeParams, WaitForParams,
};
use super::registry::ToolSpec;
use super::waits::WaitCall;
use crate::permission::{Escalation, HostAccess, Place, Question, Target};
use panelot_protocol::content::{ContentAction, TargetDescription, WaitCondition};
use panelot_protocol::ids::TabId;
use panelot_protocol::limits;

/// Most characters of a label.
const LABEL_CHARS_MAX: usize = 120;

/// A call of a tool whose arguments are sound.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInvocation {
    /// Lists tabs.
    TabsList,
    /// Opens a tab.
    TabOpen {
        /// The parameters.
        params: TabOpenParams,
        /// The address, read.
        destination: Place,
    },
    /// Sends a tab elsewhere.
    Navigate {
        /// The parameters.
        params: NavigateParams,
        /// The address, read.
        destination: Place,
    },
    /// Reads a page.
    ReadPage(ReadPageParams),
    /// Clicks.
    Click(ClickParams),
    /// Types.
    Type(TypeParams),
    /// Chooses options.
    SelectOption(SelectOptionParams),
    /// Waits for a text.
    WaitForText {
        /// What for.
        condition: WaitCondition,
        /// How long at most, in milliseconds.
        timeout_ms: u64,
        /// The tab; absent means the captured one.
        tab_id: Option<TabId>,
    },
    /// Waits for a time; the engine's clock does it, no page is asked.
    WaitForTime {
        /// How long, in milliseconds.
        time_ms: u64,
    },
    /// Lets the whole run wait, durably: it is begun, never executed.
    Wait(WaitCall),
}

/// What the engine knows about the moment of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallContext {
    /// The tab that the call means, with its document's place.
    pub tab: Option<(TabId, Place)>,
    /// The element under the ref, as the page described it just now.
    pub element: Option<TargetDescription>,
    /// The nonce of that document.
    pub document: Option<String>,
    /// Whether Chrome lets the extension touch the site.
    pub host_access: HostAccess,
    /// Whether the call repeats another one with more power.
    pub escalation: Escalation,
}

impl ToolInvocation {
    /// The name of the tool.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::TabsList => "tabs_list",
            Self::TabOpen { .. } => "tab_open",
            Self::Navigate { .. } => "navigate",
            Self::ReadPage(_) => "read_page",
            Self::Click(_) => "click",
            Self::Type(_) => "type",
            Self::SelectOption(_) => "select_option",
            Self::WaitForText { .. } | Self::WaitForTime { .. } => "wait_for",
            Self::Wait(wait) => wait.tool(),
        }
    }

    /// The tab that the arguments name.
    pub fn tab_id(&self) -> Option<TabId> {
        match self {
            Self::TabsList | Self::TabOpen { .. } | Self::WaitForTime { .. } => None,
            Self::Navigate { params, .. } => params.tab_id,
            Self::ReadPage(params) => params.tab_id,
            Self::Click(params) => params.tab_id,
            Self::Type(params) => params.tab_id,
            Self::SelectOption(params) => params.tab_id,
            Self::WaitForText { tab_id, .. } => *tab_id,
            Self::Wait(wait) => wait.tab_id(),
        }
    }

    /// Whether the call needs a tab: the one that it names, or the captured one.
    pub fn needs_tab(&self) -> bool {
        match self {
            Self::TabsList | Self::TabOpen { .. } | Self::WaitForTime { .. } => false,
            Self::Navigate { .. }
            | Self::ReadPage(_)
            | Self::Click(_)
            | Self::Type(_)
            | Self::SelectOption(_)
            | Self::WaitForText { .. } => true,
            Self::Wait(wait) => wait.needs_tab(),
        }
    }

    /// The element that the call means.
    pub fn target_ref(&self) -> Option<&str> {
        match self {
            Self::TabsList
            | Self::TabOpen { .. }
            | Self::Navigate { .. }
            | Self::WaitForText { .. }
            | Self::WaitForTime { .. }
            | Self::Wait(_) => None,
            Self::ReadPage(params) => params.scope.as_deref(),
            Self::Click(params) => Some(&params.target),
            Self::Type(params) => Some(&params.target),
            Self::SelectOption(params) => Some(&params.target),
        }
    }

    /// What a content script is asked to do; nothing for calls that no page takes part in.
    pub fn content_action(&self) -> Option<ContentAction> {
        match self {
            Self::TabsList | Self::TabOpen { .. } | Self::Navigate { .. } | Self::WaitForTime { .. } => None,
            Self::ReadPage(params) => Some(ContentAction::Snapshot {
                max_tokens: params.max_tokens.unwrap_or(limits::SNAPSHOT_TOKENS_DEFAULT),
                scope_ref: params.scope.clone(),
            }),
            Self::Click(params) => Some(ContentAction::Click {
                target: params.target.clone(),
                button: params.button.unwrap_or_default(),
                modifiers: params.modifiers.clone().unwrap_or_default(),
                click_count: params.click_count.unwrap_or(1),
            }),
            Self::Type(params) => Some(ContentAction::Type {
                target: params.target.clone(),
                text: params.text.clone(),
                mode: params.mode.unwrap_or_default(),
                submit: params.submit.unwrap_or_default(),
            }),
            Self::SelectOption(params) => Some(ContentAction::SelectOption {
                target: params.target.clone(),
                values: params.values.clone(),
            }),
            Self::WaitForText { condition, timeout_ms, .. } => {
                Some(ContentAction::WaitFor { condition: condition.clone(), timeout_ms: *timeout_ms })
            }
            Self::Wait(wait) => wait.look(),
        }
    }

    /// The address to open, exactly as it was judged; nothing for other calls and for places that no rule lets pass.
    pub fn href(&self) -> Option<String> {
        let destination = match self {
            Self::TabOpen { destination, .. } | Self::Navigate { destination, .. } => destination,
            Self::TabsList
            | Self::ReadPage(_)
            | Self::Click(_)
            | Self::Type(_)
            | Self::SelectOption(_)
            | Self::WaitForText { .. }
            | Self::WaitForTime { .. }
            | Self::Wait(_) => return None,
        };
        match destination {
            Place::Blank => Some("about:blank".to_owned()),
            Place::Web(url) => Some(url.href()),
            Place::Store(_)
            | Place::Script { .. }
            | Place::File
            | Place::Browser { .. }
            | Place::Extension
            | Place::Other { .. } => None,
        }
    }

    /// The question for the judge. `spec` is the call's own entry of the registry.
    pub fn question(&self, spec: &ToolSpec, context: &CallContext) -> Question {
        let tab = context.tab.clone();
        let of_tab = || match tab.clone() {
            Some((tab_id, place)) => Target::Tab { tab_id, place },
            None => Target::None,
        };
        let target = match self {
            Self::TabsList | Self::WaitForTime { .. } => Target::None,
            Self::TabOpen { destination, .. } => Target::Address { tab_id: None, place: destination.clone() },
            Self::Navigate { destination, .. } => Target::Address {
                tab_id: tab.as_ref().map(|(tab_id, _)| *tab_id),
                place: destination.clone(),
            },
            Self::ReadPage(_)
            | Self::Click(_)
            | Self::Type(_)
            | Self::SelectOption(_)
            | Self::WaitForText { .. } => of_tab(),
            // Who is asked to act in a page is not helped by rules about what is read there.
            Self::Wait(wait) => {
                if wait.look().is_some() {
                    of_tab()
                } else {
                    Target::None
                }
            }
        };
        Question {
            tool: spec.name.to_owned(),
            category: spec.category,
            effect: spec.effect,
            level: spec.level,
            target,
            element: context.element.clone(),
            document: context.document.clone(),
            texts: self.texts(),
            host_access: context.host_access,
            escalation: context.escalation,
        }
    }

    /// The texts that the call would put into a page.
    fn texts(&self) -> Vec<String> {
        match self {
            Self::Type(params) => vec![params.text.clone()],
            Self::SelectOption(params) => params.values.clone(),
            Self::TabsList
            | Self::TabOpen { .. }
            | Self::Navigate { .. }
            | Self::ReadPage(_)
            | Self::Click(_)
            | Self::WaitForText { .. }
            | Self::WaitForTime { .. }
            | Self::Wait(_) => vec![],
        }
    }

    /// The target in a few words that need no translation: `button "Place order"`, an address, a text.
    pub fn label(&self, element: Option<&TargetDescription>) -> String {
        let of_ref = |target: &str| match element {
            Some(element) if element.name.is_empty() => element.role.clone(),
            Some(element) => format!("{} \"{}\"", element.role, element.name),
            None => target.to_owned(),
        };
        let whole = match self {
            Self::TabsList => String::new(),
            Self::TabOpen { params, destination } => address(destination, &params.url),
            Self::Navigate { params, destination } => address(destination, &params.url),
            Self::ReadPage(params) => params.scope.as_deref().map(of_ref).unwrap_or_default(),
            Self::Click(params) => of_ref(&params.target),
            Self::Type(params) => of_ref(&params.target),
            Self::SelectOption(params) => of_ref(&params.target),
            Self::WaitForText { condition, .. } => condition_label(condition),
            Self::WaitForTime { time_ms } => format!("{time_ms} ms"),
            Self::Wait(wait) => wait.label(),
        };
        crate::prompt::fence::one_line(&whole, LABEL_CHARS_MAX)
    }
}

/// The judged address where it is a web address, so that nobody is shown a host that is only user info.
fn address(destination: &Place, written: &str) -> String {
    destination.web().map_or_else(|| written.to_owned(), crate::permission::WebUrl::href)
}

/// A condition in signs that need no translation.
pub(super) fn condition_label(condition: &WaitCondition) -> String {
    match condition {
        WaitCondition::Text { text } => format!("\"{text}\""),
        WaitCondition::TextGone { text } => format!("− \"{text}\""),
    }
}

/// Reads what is waited for in a page: a text that comes, or one that goes, or neither.
pub(super) fn condition(
    text: Option<String>,
    text_gone: Option<String>,
) -> Result<Option<WaitCondition>, &'static str> {
    match (text, text_gone) {
        (Some(_), Some(_)) => Err("give text or textGone, not both"),
        (Some(text), None) => Ok(Some(WaitCondition::Text { text })),
        (None, Some(text)) => Ok(Some(WaitCondition::TextGone { text })),
        (None, None) => Ok(None),
    }
}

/// Reads the parameters of `wait_for`: a text that comes, or one that goes, or a time.
pub(super) fn wait(params: WaitForParams) -> Result<ToolInvocation, &'static str> {
    let Some(condition) = condition(params.text, params.text_gone)? else {
        let time_ms = params.time_ms.ok_or("give text, textGone or timeMs")?;
        return Ok(ToolInvocation::WaitForTime { time_ms });
    };
    let timeout_ms = params.time_ms.unwrap_or(limits::CONTENT_TIMEOUT_MS);
    Ok(ToolInvocation::WaitForText { condition, timeout_ms, tab_id: params.tab_id })
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;
