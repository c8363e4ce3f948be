//! Sentences about tool calls: the row of a call, and the question about one.

use panelot_protocol::approval::{ApprovalFlag, ApprovalRequestPayload};
use panelot_protocol::interaction::{
    InteractionEnd, InteractionRequestPayload, InteractionResponse, WatchLoss,
};
use panelot_protocol::item::{ActionOutcome, ItemMeta, ItemStatus, NoticeKind};
use panelot_protocol::settings::Language;
use panelot_protocol::snapshot::{PendingTool, RecoveryReason};
use panelot_protocol::turn::StopReason;
use serde_json::Value;
use std::borrow::Cow;

use crate::format::site;
use crate::i18n::{Key, Piece, fill, pieces};

/// Longest text from the parameters that a question repeats; the whole is under "More".
const QUOTED_CHARS_MAX: usize = 80;

/// What a tool call's row says. A change that was never begun, because it was declined or stopped before, has no outcome:
/// it is not said to have failed. One whose outcome is uncertain is not said to have failed either.
#[must_use]
pub fn tool_line(
    language: Language,
    meta: &ItemMeta,
    status: ItemStatus,
    outcome: Option<ActionOutcome>,
) -> String {
    let tool = meta.tool_name.as_deref().unwrap_or_default();
    let label = spoken(language, meta.label.as_deref().unwrap_or_default());
    let label = label.as_ref();
    let address = text_parameter(meta.params.as_ref(), "url");
    let target = match tool {
        "navigate" | "tab_open" => address.map_or(label, site),
        _ => label,
    };
    let [running, done, failed, not_done] = tool_keys(tool);
    let key = match (status, outcome) {
        (ItemStatus::Running, _) => running,
        (ItemStatus::Done, _) | (ItemStatus::Failed, Some(ActionOutcome::Uncertain)) => done,
        (ItemStatus::Failed, Some(ActionOutcome::Failed | ActionOutcome::Verified)) => failed,
        (ItemStatus::Failed, None) => not_done,
    };
    let target = if target.is_empty() { unnamed(language, tool) } else { target };
    let line = fill(language, key, &[("target", target), ("tool", tool)]);
    let line = line.trim_end();
    if status != ItemStatus::Running && outcome == Some(ActionOutcome::Uncertain) {
        return fill(language, Key::ToolNotCertain, &[("what", line)]);
    }
    line.to_owned()
}

/// Running, done, failed, not done.
fn tool_keys(tool: &str) -> [Key; 4] {
    match tool {
        "tabs_list" => [Key::ToolTabsRunning, Key::ToolTabsDone, Key::ToolTabsFailed, Key::ToolTabsFailed],
        "tab_open" => [Key::ToolOpenRunning, Key::ToolOpenDone, Key::ToolOpenFailed, Key::ToolOpenNotDone],
        "navigate" => [
            Key::ToolNavigateRunning,
            Key::ToolNavigateDone,
            Key::ToolNavigateFailed,
            Key::ToolNavigateNotDone,
        ],
        "read_page" => [Key::ToolReadRunning, Key::ToolReadDone, Key::ToolReadFailed, Key::ToolReadFailed],
        "click" => [Key::ToolClickRunning, Key::ToolClickDone, Key::ToolClickFailed, Key::ToolClickNotDone],
        "type" => [Key::ToolTypeRunning, Key::ToolTypeDone, Key::ToolTypeFailed, Key::ToolTypeNotDone],
        "select_option" => {
            [Key::ToolSelectRunning, Key::ToolSelectDone, Key::ToolSelectFailed, Key::ToolSelectNotDone]
        }
        "wait_for" => [Key::ToolWaitRunning, Key::ToolWaitDone, Key::ToolWaitFailed, Key::ToolWaitFailed],
        "ask_user" => [Key::ToolAskRunning, Key::ToolAskDone, Key::ToolAskFailed, Key::ToolAskFailed],
        "request_user_action" => {
            [Key::ToolActRunning, Key::ToolActDone, Key::ToolActFailed, Key::ToolActFailed]
        }
        "watch_page" => {
            [Key::ToolWatchRunning, Key::ToolWatchDone, Key::ToolWatchFailed, Key::ToolWatchFailed]
        }
        "schedule_resume" => {
            [Key::ToolLaterRunning, Key::ToolLaterDone, Key::ToolLaterFailed, Key::ToolLaterFailed]
        }
        _ => [Key::ToolOtherRunning, Key::ToolOtherDone, Key::ToolOtherFailed, Key::ToolOtherFailed],
    }
}

/// What stands for a target without a name. A tool that nobody here knows needs none.
fn unnamed(language: Language, tool: &str) -> &'static str {
    match tool_keys(tool) {
        [Key::ToolOtherRunning, ..] => "",
        _ => Key::ThePage.text(language),
    }
}

/// The question about a tool call, its names strong.
#[must_use]
pub fn question(language: Language, request: &ApprovalRequestPayload) -> Vec<Piece> {
    let params = Some(&request.params);
    let here = request.origin.as_deref().map(site).filter(|site| !site.is_empty());
    let place = here.unwrap_or_else(|| Key::ThisBrowser.text(language));
    let label = match request.label.as_str() {
        "" => Cow::Borrowed(Key::ThePage.text(language)),
        label => spoken(language, label),
    };
    let label = label.as_ref();
    let address = text_parameter(params, "url").unwrap_or(label);
    let text = quote(&match params.and_then(|params| params.get("values")) {
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Some(_) | None => text_parameter(params, "text").unwrap_or_default().to_owned(),
    });
    let submits = params.and_then(|params| params.get("submit")).and_then(Value::as_bool) == Some(true);
    let (key, target) = match request.tool_name.as_str() {
        "click" => (Key::AskClick, label),
        "type" if submits => (Key::AskTypeSubmit, label),
        "type" => (Key::AskType, label),
        "select_option" => (Key::AskSelect, label),
        "navigate" => (Key::AskNavigate, address),
        "tab_open" => (Key::AskOpen, address),
        "read_page" => (Key::AskRead, label),
        "watch_page" => (Key::AskWatch, label),
        _ if here.is_none() => (Key::AskOtherNoSite, label),
        _ => (Key::AskOther, label),
    };
    pieces(
        language,
        key,
        &[("target", target), ("site", place), ("text", &text), ("tool", &request.tool_name)],
    )
}

/// What the wider answers to a question allow, so that nobody allows more than is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// For the rest of the conversation.
    pub in_chat: String,
    /// For good, on the question's site.
    pub on_site: String,
}

/// How far the wider answers to a question reach: the tool as a whole, on the site, whatever its parameters.
#[must_use]
pub fn reach(language: Language, request: &ApprovalRequestPayload) -> Reach {
    let tool = request.tool_name.as_str();
    let doing = match tool {
        "click" => Key::DoClick,
        "type" => Key::DoType,
        "select_option" => Key::DoSelect,
        "navigate" => Key::DoNavigate,
        "tab_open" => Key::DoOpen,
        "read_page" => Key::DoRead,
        _ => Key::DoOther,
    };
    let doing = fill(language, doing, &[("tool", tool)]);
    let site = request.origin.as_deref().map(site).filter(|site| !site.is_empty());
    let names = [("doing", doing.as_str()), ("site", site.unwrap_or_default())];
    let [in_chat, on_site] = match site {
        Some(_) => [Key::AllowSession, Key::AllowSite],
        None => [Key::AllowSessionNoSite, Key::AllowSiteNone],
    };
    Reach { in_chat: fill(language, in_chat, &names), on_site: fill(language, on_site, &names) }
}

/// The sentence of a mark.
#[must_use]
pub fn risk(flag: ApprovalFlag) -> Key {
    match flag {
        ApprovalFlag::SensitivePayload => Key::RiskSensitive,
        ApprovalFlag::EscalationL2 => Key::RiskEscalation,
        ApprovalFlag::HostPermission => Key::RiskHost,
        ApprovalFlag::CrossSite => Key::RiskCrossSite,
    }
}

/// What is the matter with a run that does not go on by itself.
#[must_use]
pub fn recovery(language: Language, reason: RecoveryReason, tool: Option<&PendingTool>) -> Vec<Piece> {
    let target = tool.map_or(String::new(), |tool| {
        let meta = ItemMeta {
            tool_name: Some(tool.tool_name.clone()),
            label: Some(tool.label.clone()),
            ..ItemMeta::default()
        };
        tool_line(language, &meta, ItemStatus::Done, None)
    });
    let key = match reason {
        RecoveryReason::Interrupted => Key::RecoverInterrupted,
        RecoveryReason::UncertainWrite => Key::RecoverUncertain,
        RecoveryReason::BudgetPaused => Key::RecoverBudget,
        RecoveryReason::EnvironmentChanged => Key::RecoverEnvironment,
    };
    pieces(language, key, &[("target", &target)])
}

/// A word of the engine in the user's language.
#[must_use]
pub fn notice(language: Language, kind: Option<NoticeKind>, text: &str) -> String {
    let key = match kind {
        Some(NoticeKind::Interrupted) => Key::NoticeInterrupted,
        Some(NoticeKind::WorkerRestarted) => Key::NoticeWorkerRestarted,
        Some(NoticeKind::ProviderFailed) => Key::NoticeProviderFailed,
        Some(NoticeKind::IncompleteAnswer) => Key::NoticeIncomplete,
        Some(NoticeKind::ToolFailures) => Key::NoticeToolFailures,
        Some(NoticeKind::RepeatedCall) => Key::NoticeRepeated,
        Some(NoticeKind::TreeRepaired) => Key::NoticeTree,
        Some(NoticeKind::UncertainWrite) => Key::NoticeUncertain,
        Some(NoticeKind::BudgetPaused) => Key::NoticeBudget,
        Some(NoticeKind::Continued) => Key::NoticeContinued,
        Some(NoticeKind::Other) | None => Key::NoticeOther,
    };
    fill(language, key, &[("detail", text)])
}

/// What an open wait asks for, in the words of whoever asked.
#[must_use]
pub fn awaited(request: &InteractionRequestPayload) -> &str {
    match request {
        InteractionRequestPayload::AskUser { question, .. } => question,
        InteractionRequestPayload::UserAction { instruction, .. } => instruction,
        InteractionRequestPayload::Takeover { what, .. } => what,
        InteractionRequestPayload::WatchPage { condition, .. } => condition,
        InteractionRequestPayload::ScheduleResume { reason, .. } => reason,
        InteractionRequestPayload::Elicitation { message, .. } => message,
    }
}

/// How a wait ended: what was asked, and what came of it.
#[must_use]
pub fn wait_end(language: Language, request: &InteractionRequestPayload, end: &InteractionEnd) -> String {
    let mut answer = String::new();
    let key = match end {
        InteractionEnd::Answered { response } => match response {
            InteractionResponse::Submit { value } => {
                answer = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Key::WaitAnswered
            }
            InteractionResponse::Done {} if request.needs_user() => Key::WaitDone,
            InteractionResponse::Done {} => Key::WaitGoOn,
            InteractionResponse::Decline { note: None } => Key::WaitDeclined,
            InteractionResponse::Decline { note: Some(note) } => {
                answer.clone_from(note);
                Key::WaitDeclinedNote
            }
            InteractionResponse::Cancel {} => Key::WaitStopped,
        },
        InteractionEnd::Expired {} if request.needs_user() => Key::WaitUnanswered,
        InteractionEnd::Expired {} => Key::WaitNotSeen,
        InteractionEnd::Met {} => Key::WaitMet,
        InteractionEnd::Lost { why: WatchLoss::Closed } => Key::WaitClosed,
        InteractionEnd::Lost { why: WatchLoss::Navigated } => Key::WaitNavigated,
        InteractionEnd::Lost { why: WatchLoss::Forbidden } => Key::WaitForbidden,
        InteractionEnd::Due {} => Key::WaitDue,
        InteractionEnd::Withdrawn {} => Key::WaitStopped,
    };
    fill(language, key, &[("detail", awaited(request)), ("answer", &answer)])
}

/// A target as a person calls it. The engine's label is the role's word and the name in quotes; a role without a word
/// for people stays as it is.
fn spoken(language: Language, label: &str) -> Cow<'_, str> {
    let parts = label.split_once(" \"").and_then(|(role, name)| Some((role, name.strip_suffix('"')?)));
    let (role, name) = parts.unwrap_or((label, ""));
    let key = match role {
        "button" => Key::RoleButton,
        "checkbox" => Key::RoleCheckbox,
        "textbox" | "searchbox" | "spinbutton" => Key::RoleField,
        "link" => Key::RoleLink,
        "combobox" | "listbox" => Key::RoleList,
        "menuitem" => Key::RoleMenuItem,
        "option" => Key::RoleOption,
        "radio" => Key::RoleRadio,
        "slider" => Key::RoleSlider,
        "switch" => Key::RoleSwitch,
        "tab" => Key::RoleTab,
        _ => return Cow::Borrowed(label),
    };
    let name =
        if name.is_empty() { String::new() } else { fill(language, Key::QuotedName, &[("name", name)]) };
    Cow::Owned(fill(language, key, &[("name", &name)]).trim_end().to_owned())
}

fn text_parameter<'a>(params: Option<&'a Value>, name: &str) -> Option<&'a str> {
    params.and_then(|params| params.get(name)).and_then(Value::as_str)
}

/// The text in quotation marks, cut where it is long, line breaks made visible as spaces.
fn quote(text: &str) -> String {
    let mut short: String =
        text.chars().take(QUOTED_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        short.push('…');
    }
    format!("“{short}”")
}

/// What assistive technology is told when a turn has ended.
#[must_use]
pub const fn ending(reason: StopReason) -> Key {
    match reason {
        StopReason::End | StopReason::Done => Key::AnswerReady,
        StopReason::MaxTokens => Key::EndMaxTokens,
        StopReason::ContentFilter => Key::EndContentFilter,
        StopReason::Interrupted => Key::EndInterrupted,
        StopReason::BudgetPause => Key::EndBudget,
        StopReason::Error => Key::PartialAnswer,
    }
}

#[cfg(test)]
mod tests {
    use panelot_protocol::approval::ToolCategory;
    use serde_json::json;

    use super::*;

    fn request(tool: &str, label: &str, params: Value, origin: Option<&str>) -> ApprovalRequestPayload {
        ApprovalRequestPayload {
            item_id: "i".into(),
            tool_name: tool.into(),
            category: ToolCategory::Click,
            label: label.into(),
            params,
            origin: origin.map(Into::into),
            tab_id: None,
            flags: Vec::new(),
            preview: None,
            deadline_ms: 0,
        }
    }

    fn plain(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| if piece.strong { format!("*{}*", piece.text) } else { piece.text.clone() })
            .collect()
    }

    #[test]
    fn each_tool_asks_in_its_own_words() {
        let shop = Some("https://shop.example");
        let cases = [
            (
                request("click", "button \"Place order\"", json!({"ref": "e3"}), shop),
                "Click *button “Place order”* on *shop.example*",
            ),
            (
                request("type", "textbox \"Name\"", json!({"ref": "e1", "text": "Ann\nBo"}), shop),
                "Type *“Ann Bo”* into *field “Name”* on *shop.example*",
            ),
            (
                request("type", "textbox \"Find\"", json!({"text": "a", "submit": true}), shop),
                "Type *“a”* into *field “Find”* on *shop.example* and press Enter",
            ),
            (
                request("select_option", "combobox \"Size\"", json!({"values": ["L", "XL"]}), shop),
                "Choose *“L, XL”* in *list “Size”* on *shop.example*",
            ),
            (
                request("navigate", "", json!({"url": "https://a.example/x"}), None),
                "Go to *https://a.example/x*",
            ),
            (
                request("tab_open", "", json!({"url": "https://a.example/"}), None),
                "Open *https://a.example/* in a new tab",
            ),
            (
                request("watch_page", "\"Shipped\"", json!({"text": "Shipped"}), shop),
                "Watch *shop.example* for the change *\"Shipped\"*",
            ),
            (request("remote__do", "all", json!({}), None), "Use *remote__do*: *all*"),
        ];
        for (request, expected) in cases {
            assert_eq!(plain(&question(Language::English, &request)), expected);
        }
    }

    #[test]
    fn the_end_of_a_wait_says_what_was_asked_and_what_came_of_it() {
        let item_id = || panelot_protocol::ids::ItemId::new("call");
        let ask = InteractionRequestPayload::AskUser {
            item_id: item_id(),
            question: "Which {answer}?".into(),
            options: Vec::new(),
            deadline_ms: None,
        };
        let watch = InteractionRequestPayload::WatchPage {
            item_id: item_id(),
            tab_id: panelot_protocol::ids::TabId(1),
            condition: "\"Shipped\"".into(),
            deadline_ms: 0,
        };
        let answered = |response| InteractionEnd::Answered { response };
        let submit = answered(InteractionResponse::Submit { value: json!("Red") });
        let done = answered(InteractionResponse::Done {});
        let declined = answered(InteractionResponse::Decline { note: Some("busy".into()) });
        let lost = InteractionEnd::Lost { why: WatchLoss::Closed };
        let cases = [
            (&ask, submit.clone(), Language::English, "Which {answer}? You answered: Red"),
            (&ask, submit, Language::Chinese, "Which {answer}? 你的回答：Red"),
            (&ask, declined, Language::English, "You declined: Which {answer}? (busy)"),
            (&ask, InteractionEnd::Expired {}, Language::English, "Nobody answered in time: Which {answer}?"),
            (&watch, done, Language::English, "You let it go on: \"Shipped\""),
            (&watch, InteractionEnd::Met {}, Language::English, "The change of the page came: \"Shipped\""),
            (&watch, InteractionEnd::Expired {}, Language::Chinese, "页面未及时变化：\"Shipped\""),
            (&watch, lost, Language::English, "The page was closed while it was watched: \"Shipped\""),
        ];
        for (request, end, language, expected) in cases {
            assert_eq!(wait_end(language, request, &end), expected);
        }
    }

    #[test]
    fn a_target_has_the_words_of_its_language() {
        let said = |label| {
            [Language::English, Language::Chinese].map(|language| spoken(language, label).into_owned())
        };
        assert_eq!(said("textbox \"Your name\""), ["field “Your name”", "输入框“Your name”"]);
        assert_eq!(said("button \"a \"b\" c\""), ["button “a \"b\" c”", "按钮“a \"b\" c”"]);
        assert_eq!(said("combobox"), ["list", "列表"]);
        assert_eq!(said("gridcell \"4\""), ["gridcell \"4\"", "gridcell \"4\""]);
    }

    #[test]
    fn the_wider_answers_say_how_far_they_reach() {
        let of = |tool: &str, origin: Option<&str>| {
            reach(Language::English, &request(tool, "", json!({}), origin))
        };
        let said = |in_chat: &str, on_site: &str| Reach { in_chat: in_chat.into(), on_site: on_site.into() };
        let shop = Some("https://shop.example");
        assert_eq!(
            [of("click", shop), of("remote__do", shop), of("type", None)],
            [
                said(
                    "Allow every click on shop.example in this chat",
                    "Always allow every click on shop.example"
                ),
                said(
                    "Allow every use of remote__do on shop.example in this chat",
                    "Always allow every use of remote__do on shop.example"
                ),
                said("Allow all typing in this chat", "Always allow on this site"),
            ]
        );
    }

    #[test]
    fn long_text_is_cut_in_the_question() {
        let request = request("type", "box", json!({"text": "x".repeat(500)}), None);
        assert_eq!(
            plain(&question(Language::English, &request)),
            format!("Type *“{}…”* into *box* on *this browser*", "x".repeat(80))
        );
    }

    #[test]
    fn a_row_says_what_happens_and_what_happened() {
        let meta = |tool: &str, label: &str| ItemMeta {
            tool_name: Some(tool.into()),
            label: Some(label.into()),
            ..ItemMeta::default()
        };
        let cases = [
            (meta("click", "button \"Go\""), ItemStatus::Running, None, "Clicking button “Go”"),
            (
                meta("click", "button \"Go\""),
                ItemStatus::Failed,
                Some(ActionOutcome::Failed),
                "Could not click button “Go”",
            ),
            (meta("click", "button \"Go\""), ItemStatus::Failed, None, "Did not click button “Go”"),
            (
                meta("click", "button \"Go\""),
                ItemStatus::Failed,
                Some(ActionOutcome::Uncertain),
                "Clicked button “Go” (not certain)",
            ),
            (meta("read_page", ""), ItemStatus::Done, None, "Read the page"),
            (meta("read_page", ""), ItemStatus::Failed, None, "Could not read the page"),
            (meta("server__tool", ""), ItemStatus::Done, None, "Used server__tool"),
        ];
        for (meta, status, outcome, expected) in cases {
            assert_eq!(tool_line(Language::English, &meta, status, outcome), expected);
        }
    }
}
