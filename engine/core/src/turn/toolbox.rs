//! Between the registry of tools and the loop: a parsed call, how it is judged, and what its loss means.

use crate::permission::{Effect, Escalation, HostAccess, Place, Question, Target};
use crate::store::records::{RecoveryClass, StoredFacts};
use panelot_protocol::approval::ToolCategory;
use panelot_protocol::content::{
    ContentAction, KeyModifier, MouseButton, TargetDescription, TypeMode, WaitCondition,
};
use panelot_protocol::ids::TabId;
use panelot_protocol::limits;
use panelot_protocol::turn::ToolLevel;
use panelot_providers::ToolSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A call whose arguments are right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invocation {
    tool: &'static str,
    /// The tab that it names.
    named_tab: Option<TabId>,
    /// What it does.
    pub action: Action,
}

/// What a call does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Lists the tabs.
    ListTabs,
    /// Opens a tab.
    OpenTab {
        /// The address.
        url: String,
    },
    /// Sends a tab to an address.
    Navigate {
        /// The address.
        url: String,
    },
    /// Waits.
    Pause {
        /// How long.
        ms: u64,
    },
    /// Acts in a page.
    Page(ContentAction),
}

impl Invocation {
    /// The tool's name.
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// The tab that is meant.
    pub fn tab(&self, captured: Option<TabId>) -> Option<TabId> {
        match self.action {
            Action::ListTabs | Action::OpenTab { .. } | Action::Pause { .. } => None,
            Action::Navigate { .. } | Action::Page(_) => self.named_tab.or(captured),
        }
    }

    /// Whether it may change something.
    pub fn effect(&self) -> Effect {
        match &self.action {
            Action::ListTabs | Action::Pause { .. } => Effect::Read,
            Action::OpenTab { .. } | Action::Navigate { .. } => Effect::Write,
            Action::Page(action) if action.is_write() => Effect::Write,
            Action::Page(_) => Effect::Read,
        }
    }

    /// What its loss means.
    pub fn recovery(&self) -> RecoveryClass {
        match (&self.action, self.effect()) {
            (_, Effect::Read) | (Action::Navigate { .. }, _) => RecoveryClass::RetrySafe,
            (
                Action::ListTabs | Action::OpenTab { .. } | Action::Pause { .. } | Action::Page(_),
                Effect::Write,
            ) => RecoveryClass::InspectFirst,
        }
    }

    /// The element that it acts on.
    pub fn target_ref(&self) -> Option<&str> {
        match &self.action {
            Action::Page(
                ContentAction::Click { target, .. }
                | ContentAction::Type { target, .. }
                | ContentAction::SelectOption { target, .. },
            ) => Some(target),
            Action::Page(
                ContentAction::Snapshot { .. }
                | ContentAction::Describe { .. }
                | ContentAction::WaitFor { .. },
            )
            | Action::ListTabs
            | Action::OpenTab { .. }
            | Action::Navigate { .. }
            | Action::Pause { .. } => None,
        }
    }

    /// The question about it, with what was seen of its target.
    pub fn question(&self, facts: &StoredFacts) -> Question {
        let place = |url: &str| Place::parse(url).unwrap_or(Place::Other { scheme: String::new() });
        let target = match &self.action {
            Action::ListTabs | Action::Pause { .. } => Target::None,
            Action::OpenTab { url } => Target::Address { tab_id: None, place: place(url) },
            Action::Navigate { url } => Target::Address { tab_id: facts.tab_id, place: place(url) },
            Action::Page(_) => match facts.tab_id {
                Some(tab_id) => {
                    Target::Tab { tab_id, place: place(facts.url.as_deref().unwrap_or_default()) }
                }
                None => Target::None,
            },
        };
        let texts = match &self.action {
            Action::Page(ContentAction::Type { text, .. }) => vec![text.clone()],
            Action::Page(ContentAction::SelectOption { values, .. }) => values.clone(),
            Action::Page(_)
            | Action::ListTabs
            | Action::OpenTab { .. }
            | Action::Navigate { .. }
            | Action::Pause { .. } => Vec::new(),
        };
        Question {
            tool: self.tool.to_owned(),
            category: category(self.tool),
            effect: self.effect(),
            level: level(self.tool),
            target,
            element: facts.element.clone(),
            document: facts.document.clone(),
            texts,
            host_access: if facts.access_missing { HostAccess::Missing } else { HostAccess::Granted },
            escalation: Escalation::None,
        }
    }

    /// The target in a few words, better once the element is known.
    pub fn label(&self, element: Option<&TargetDescription>) -> String {
        let on = element.map(|element| format!("{} \"{}\"", element.role, element.name));
        match &self.action {
            Action::ListTabs => String::new(),
            Action::OpenTab { url } | Action::Navigate { url } => url.clone(),
            Action::Pause { ms } => format!("{ms} ms"),
            Action::Page(ContentAction::WaitFor { condition, .. }) => match condition {
                WaitCondition::Text { text } | WaitCondition::TextGone { text } => text.clone(),
            },
            Action::Page(_) => on.or_else(|| self.target_ref().map(str::to_owned)).unwrap_or_default(),
        }
    }
}

/// The category of a tool, for what is not known the mildest that still asks.
pub(crate) fn category(tool: &str) -> ToolCategory {
    match tool {
        "tab_open" | "navigate" => ToolCategory::Navigate,
        "click" => ToolCategory::Click,
        "type" | "select_option" => ToolCategory::Fill,
        _ => ToolCategory::Read,
    }
}

fn level(tool: &str) -> ToolLevel {
    match tool {
        "tabs_list" | "tab_open" | "navigate" => ToolLevel::L0,
        _ => ToolLevel::L1,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TabsListParams {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TabOpenParams {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NavigateParams {
    url: String,
    tab_id: Option<TabId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadPageParams {
    max_tokens: Option<u32>,
    #[serde(rename = "ref")]
    scope_ref: Option<String>,
    tab_id: Option<TabId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClickParams {
    #[serde(rename = "ref")]
    target: String,
    button: Option<MouseButton>,
    #[serde(default)]
    modifiers: Vec<KeyModifier>,
    double: Option<bool>,
    tab_id: Option<TabId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TypeParams {
    #[serde(rename = "ref")]
    target: String,
    text: String,
    mode: Option<TypeMode>,
    submit: Option<bool>,
    tab_id: Option<TabId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SelectParams {
    #[serde(rename = "ref")]
    target: String,
    values: Vec<String>,
    tab_id: Option<TabId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WaitParams {
    text: Option<String>,
    text_gone: Option<String>,
    time_ms: Option<u64>,
    timeout_ms: Option<u64>,
    tab_id: Option<TabId>,
}

/// Reads a call.
///
/// # Errors
/// What is wrong, as a sentence for the model.
pub(crate) fn parse(name: &str, arguments: &Value) -> Result<Invocation, String> {
    fn read<T: serde::de::DeserializeOwned>(arguments: &Value) -> Result<T, String> {
        T::deserialize(arguments).map_err(|error| format!("The arguments are not right: {error}."))
    }
    let (tool, named_tab, action) = match name {
        "tabs_list" => {
            read::<TabsListParams>(arguments)?;
            ("tabs_list", None, Action::ListTabs)
        }
        "tab_open" => ("tab_open", None, Action::OpenTab { url: read::<TabOpenParams>(arguments)?.url }),
        "navigate" => {
            let params: NavigateParams = read(arguments)?;
            ("navigate", params.tab_id, Action::Navigate { url: params.url })
        }
        "read_page" => {
            let params: ReadPageParams = read(arguments)?;
            let max = u32::try_from(limits::SNAPSHOT_TOKENS_MAX).unwrap_or(u32::MAX);
            let max_tokens = params.max_tokens.unwrap_or(limits::SNAPSHOT_TOKENS_DEFAULT).clamp(100, max);
            let action = ContentAction::Snapshot { max_tokens, scope_ref: params.scope_ref };
            ("read_page", params.tab_id, Action::Page(action))
        }
        "click" => {
            let params: ClickParams = read(arguments)?;
            let action = ContentAction::Click {
                target: params.target,
                button: params.button.unwrap_or_default(),
                modifiers: params.modifiers,
                click_count: if params.double == Some(true) { 2 } else { 1 },
            };
            ("click", params.tab_id, Action::Page(action))
        }
        "type" => {
            let params: TypeParams = read(arguments)?;
            let action = ContentAction::Type {
                target: params.target,
                text: params.text,
                mode: params.mode.unwrap_or_default(),
                submit: params.submit.unwrap_or(false),
            };
            ("type", params.tab_id, Action::Page(action))
        }
        "select_option" => {
            let params: SelectParams = read(arguments)?;
            let action = ContentAction::SelectOption { target: params.target, values: params.values };
            ("select_option", params.tab_id, Action::Page(action))
        }
        "wait_for" => {
            let params: WaitParams = read(arguments)?;
            ("wait_for", params.tab_id, wait_action(params)?)
        }
        _ => return Err(format!("There is no tool named {name}.")),
    };
    Ok(Invocation { tool, named_tab, action })
}

fn wait_action(params: WaitParams) -> Result<Action, String> {
    let timeout_ms = params.timeout_ms.unwrap_or(limits::CONTENT_TIMEOUT_MS).min(limits::WAIT_MS_MAX);
    let condition = match (params.text, params.text_gone, params.time_ms) {
        (Some(text), None, None) => WaitCondition::Text { text },
        (None, Some(text), None) => WaitCondition::TextGone { text },
        (None, None, Some(ms)) => return Ok(Action::Pause { ms: ms.min(limits::WAIT_MS_MAX) }),
        _ => return Err("Give exactly one of text, textGone and timeMs.".to_owned()),
    };
    Ok(Action::Page(ContentAction::WaitFor { condition, timeout_ms }))
}

/// The tools of the given levels as the model sees them.
pub(crate) fn schemas(levels: &[ToolLevel]) -> Vec<ToolSchema> {
    let tab = json!({"type": "integer", "description": "The tab; the captured one when absent."});
    let element = json!({"type": "string", "description": "The element's ref, copied exactly."});
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let all = [
        ("tabs_list", "Lists the open tabs.", object(json!({}), &[])),
        (
            "tab_open",
            "Opens an address in a new background tab.",
            object(json!({"url": {"type": "string"}}), &["url"]),
        ),
        (
            "navigate",
            "Sends a tab to an address and waits for it to load.",
            object(json!({"url": {"type": "string"}, "tabId": tab}), &["url"]),
        ),
        (
            "read_page",
            "Reads a page as an accessibility tree; elements carry refs.",
            object(json!({"maxTokens": {"type": "integer"}, "ref": element, "tabId": tab}), &[]),
        ),
        (
            "click",
            "Clicks an element.",
            object(
                json!({"ref": element, "button": {"enum": ["left", "middle", "right"]},
                    "modifiers": {"type": "array", "items": {"enum": ["alt", "control", "meta", "shift"]}},
                    "double": {"type": "boolean"}, "tabId": tab}),
                &["ref"],
            ),
        ),
        (
            "type",
            "Types text into a field.",
            object(
                json!({"ref": element, "text": {"type": "string"}, "mode": {"enum": ["replace", "append"]},
                    "submit": {"type": "boolean"}, "tabId": tab}),
                &["ref", "text"],
            ),
        ),
        (
            "select_option",
            "Chooses options of a list by value, label or index.",
            object(
                json!({"ref": element, "values": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "tabId": tab}),
                &["ref", "values"],
            ),
        ),
        (
            "wait_for",
            "Waits until a text is there or gone, or for a time.",
            object(
                json!({"text": {"type": "string"}, "textGone": {"type": "string"},
                    "timeMs": {"type": "integer"}, "timeoutMs": {"type": "integer"}, "tabId": tab}),
                &[],
            ),
        ),
    ];
    all.into_iter()
        .filter(|(name, _, _)| levels.contains(&level(name)))
        .map(|(name, description, parameters)| ToolSchema {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters,
        })
        .collect()
}
