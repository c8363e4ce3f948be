//! The parameters of the tools, as types: schema, validation and reading derive from them.

use panelot_protocol::content::{KeyModifier, MouseButton, TypeMode};
use panelot_protocol::ids::TabId;
use panelot_protocol::{FromJson, Shape, limits};

/// `tabs_list` takes nothing.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct TabsListParams {}

/// Parameters of `tab_open`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct TabOpenParams {
    /// The address.
    #[shape(len_min = 1, len_max = limits::URL_CHARS_MAX)]
    pub url: String,
}

/// Parameters of `navigate`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct NavigateParams {
    /// The address.
    #[shape(len_min = 1, len_max = limits::URL_CHARS_MAX)]
    pub url: String,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Ways to read a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// The accessibility tree with refs.
    #[default]
    Snapshot,
}

/// Parameters of `read_page`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ReadPageParams {
    /// How to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ReadMode>,
    /// Tokens that the answer may cost.
    #[shape(min = 100, max = limits::SNAPSHOT_TOKENS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Only what is below this element.
    #[serde(rename = "ref")]
    #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `click`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ClickParams {
    /// The element.
    #[serde(rename = "ref")]
    #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
    pub target: String,
    /// The button.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<MouseButton>,
    /// Keys held down.
    #[shape(items_max = 4)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Vec<KeyModifier>>,
    /// How often.
    #[shape(min = 1, max = 3)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_count: Option<u32>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `type`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct TypeParams {
    /// The element.
    #[serde(rename = "ref")]
    #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
    pub target: String,
    /// The text.
    #[shape(len_max = limits::TYPE_TEXT_CHARS_MAX)]
    pub text: String,
    /// What happens to the text that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<TypeMode>,
    /// Whether Enter follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<bool>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `select_option`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct SelectOptionParams {
    /// The element.
    #[serde(rename = "ref")]
    #[shape(len_min = 1, len_max = limits::REF_CHARS_MAX)]
    pub target: String,
    /// The options.
    #[shape(items_min = 1, items_max = limits::SELECT_VALUES_COUNT_MAX, len_max = limits::MESSAGE_CHARS_MAX)]
    pub values: Vec<String>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `wait_for`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct WaitForParams {
    /// A text that is to appear.
    #[shape(len_min = 1, len_max = limits::MESSAGE_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A text that is to go.
    #[shape(len_min = 1, len_max = limits::MESSAGE_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_gone: Option<String>,
    /// How long at most.
    #[shape(min = 0, max = limits::WAIT_MS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Characters of a question or an instruction.
pub const QUESTION_CHARS_MAX: u64 = 2_000;
/// Answers that a question may offer.
pub const OPTIONS_COUNT_MAX: u64 = 8;
/// Characters of an offered answer.
pub const OPTION_CHARS_MAX: u64 = 200;
/// The longest wait, in seconds: a week.
pub const WAIT_S_MAX: u64 = 7 * 24 * 3_600;
/// The shortest time that a person is given to answer, in seconds.
pub const ANSWER_S_MIN: u64 = 30;
/// How long a person is given unless the call says otherwise, in seconds: a day.
pub const ANSWER_S_DEFAULT: u64 = 24 * 3_600;
/// How long a page is watched unless the call says otherwise, in seconds: an hour.
pub const WATCH_S_DEFAULT: u64 = 3_600;

/// Parameters of `ask_user`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct AskUserParams {
    /// The question.
    #[shape(len_min = 1, len_max = QUESTION_CHARS_MAX)]
    pub question: String,
    /// Answers to choose from.
    #[shape(items_max = OPTIONS_COUNT_MAX, len_min = 1, len_max = OPTION_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// How long at most.
    #[shape(min = ANSWER_S_MIN, max = WAIT_S_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

/// Parameters of `request_user_action`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct RequestUserActionParams {
    /// What is to be done.
    #[shape(len_min = 1, len_max = QUESTION_CHARS_MAX)]
    pub instruction: String,
    /// How long at most.
    #[shape(min = ANSWER_S_MIN, max = WAIT_S_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `watch_page`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct WatchPageParams {
    /// A text that is to appear.
    #[shape(len_min = 1, len_max = QUESTION_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A text that is to go.
    #[shape(len_min = 1, len_max = QUESTION_CHARS_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_gone: Option<String>,
    /// How long at most.
    #[shape(min = 1, max = WAIT_S_MAX)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The tab; absent means the captured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<TabId>,
}

/// Parameters of `schedule_resume`.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleResumeParams {
    /// How long from now.
    #[shape(min = 1, max = WAIT_S_MAX)]
    pub in_seconds: u64,
    /// What for.
    #[shape(len_min = 1, len_max = QUESTION_CHARS_MAX)]
    pub reason: String,
}

/// What a model is told about a parameter, by tool and name; a tool's own entry comes before the common one.
const DESCRIPTIONS: [(&str, &str, &str); 27] = [
    ("", "tabId", "The tab to act in, from tabs_list. Leave out for the current tab."),
    ("", "ref", "The element's ref, copied exactly from the last snapshot."),
    ("tab_open", "url", "The whole address, with https://."),
    ("navigate", "url", "The whole address, with https://."),
    ("read_page", "mode", "snapshot: the page's accessibility tree with refs."),
    ("read_page", "maxTokens", "What the answer may cost; 3000 unless given."),
    ("read_page", "ref", "Read only what is below this element, to see more of a part that was cut."),
    ("click", "button", "left unless given."),
    ("click", "modifiers", "Keys held down during the click."),
    ("click", "clickCount", "2 for a double click; 1 unless given."),
    ("type", "text", "The text, exactly as it should stand in the field."),
    ("type", "mode", "replace (unless given): the old text goes; append: the new text comes after it."),
    ("type", "submit", "Press Enter afterwards."),
    (
        "select_option",
        "values",
        "The options to choose, each by its text, value or index. All others are unselected.",
    ),
    ("wait_for", "text", "Wait until this text is in the page."),
    ("wait_for", "textGone", "Wait until this text is no longer in the page."),
    ("wait_for", "timeMs", "Longest wait in milliseconds; 10000 unless given. Alone: just wait this long."),
    ("", "timeoutSeconds", "Longest wait; a day unless given."),
    ("ask_user", "question", "One question, in the user's language."),
    ("ask_user", "options", "Likely answers, shown as buttons."),
    ("request_user_action", "instruction", "What the user should do, in their language."),
    ("request_user_action", "tabId", "The tab where it is to be done."),
    ("watch_page", "text", "Wait until this text is in the page."),
    ("watch_page", "textGone", "Wait until this text is no longer in the page."),
    ("watch_page", "timeoutSeconds", "Longest wait; an hour unless given."),
    ("schedule_resume", "inSeconds", "How long from now."),
    ("schedule_resume", "reason", "What you will do then, in the user's language."),
];

/// What a model is told about a parameter.
pub fn description(tool: &str, parameter: &str) -> Option<&'static str> {
    let entry = |of: &str| {
        DESCRIPTIONS
            .iter()
            .find(|(tool, name, _)| *tool == of && *name == parameter)
            .map(|(_, _, description)| *description)
    };
    entry(tool).or_else(|| entry(""))
}

#[cfg(test)]
pub(super) fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    DESCRIPTIONS.iter().map(|(tool, name, _)| (*tool, *name))
}
