//! Waits of a run for the user, a page or a time: what a call asks for, what people are shown of it, and what the model
//! is told of its end.

use super::catalogue::{
    ANSWER_S_DEFAULT, AskUserParams, RequestUserActionParams, ScheduleResumeParams, WATCH_S_DEFAULT,
    WatchPageParams,
};
use super::invocation::{ToolInvocation, condition, condition_label};
use super::results::{ToolText, page_lines};
use crate::prompt::dates::moment_text;
use panelot_protocol::content::{ContentAction, WaitCondition};
use panelot_protocol::ids::{ItemId, TabId};
use panelot_protocol::interaction::{
    InteractionEnd, InteractionRequestPayload, InteractionResponse, WatchLoss,
};
use serde_json::Value;

/// Most characters of an answer in words.
pub const ANSWER_CHARS_MAX: usize = 20_000;

/// A call that lets the run wait.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitCall {
    /// For an answer of the user.
    AskUser(AskUserParams),
    /// For something that the user does.
    UserAction(RequestUserActionParams),
    /// For a change of a page.
    WatchPage {
        /// What is awaited.
        condition: WaitCondition,
        /// How long at most, in seconds.
        timeout_s: u64,
        /// The tab; absent means the captured one.
        tab_id: Option<TabId>,
    },
    /// For a time.
    ScheduleResume(ScheduleResumeParams),
}

/// A page as it was when a look at it ended the wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSeen {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
}

impl WaitCall {
    /// The name of the tool.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::AskUser(_) => "ask_user",
            Self::UserAction(_) => "request_user_action",
            Self::WatchPage { .. } => "watch_page",
            Self::ScheduleResume(_) => "schedule_resume",
        }
    }

    /// The tab that the arguments name.
    pub fn tab_id(&self) -> Option<TabId> {
        match self {
            Self::UserAction(params) => params.tab_id,
            Self::WatchPage { tab_id, .. } => *tab_id,
            Self::AskUser(_) | Self::ScheduleResume(_) => None,
        }
    }

    /// Whether a tab must be there: the one that is watched, or one that the user is sent to.
    pub fn needs_tab(&self) -> bool {
        match self {
            Self::WatchPage { .. } => true,
            Self::UserAction(params) => params.tab_id.is_some(),
            Self::AskUser(_) | Self::ScheduleResume(_) => false,
        }
    }

    /// One look at the page that is watched; it does not wait there.
    pub fn look(&self) -> Option<ContentAction> {
        match self {
            Self::WatchPage { condition, .. } => {
                Some(ContentAction::WaitFor { condition: condition.clone(), timeout_ms: 0 })
            }
            Self::AskUser(_) | Self::UserAction(_) | Self::ScheduleResume(_) => None,
        }
    }

    /// What is awaited, for people.
    pub fn label(&self) -> String {
        match self {
            Self::AskUser(params) => params.question.clone(),
            Self::UserAction(params) => params.instruction.clone(),
            Self::WatchPage { condition, .. } => condition_label(condition),
            Self::ScheduleResume(params) => params.reason.clone(),
        }
    }

    /// What pages are told; nothing when a tab is to be watched and none was found. `tab_id` is the tab that was found.
    /// The wait's end is fixed here, once.
    pub fn request(
        &self,
        item_id: ItemId,
        tab_id: Option<TabId>,
        now_ms: u64,
    ) -> Option<InteractionRequestPayload> {
        let in_seconds = |seconds: u64| now_ms.saturating_add(seconds.saturating_mul(1_000));
        Some(match self {
            Self::AskUser(params) => {
                let mut options: Vec<String> = Vec::new();
                for option in params.options.iter().flatten().map(|option| option.trim()) {
                    if !option.is_empty() && !options.iter().any(|have| have == option) {
                        options.push(option.to_owned());
                    }
                }
                InteractionRequestPayload::AskUser {
                    item_id,
                    question: params.question.trim().to_owned(),
                    options,
                    deadline_ms: Some(in_seconds(params.timeout_seconds.unwrap_or(ANSWER_S_DEFAULT))),
                }
            }
            Self::UserAction(params) => InteractionRequestPayload::UserAction {
                item_id,
                instruction: params.instruction.trim().to_owned(),
                tab_id,
                deadline_ms: Some(in_seconds(params.timeout_seconds.unwrap_or(ANSWER_S_DEFAULT))),
            },
            Self::WatchPage { condition, timeout_s, tab_id: _ } => InteractionRequestPayload::WatchPage {
                item_id,
                tab_id: tab_id?,
                condition: condition_label(condition),
                deadline_ms: in_seconds(*timeout_s),
            },
            Self::ScheduleResume(params) => InteractionRequestPayload::ScheduleResume {
                item_id,
                at_ms: in_seconds(params.in_seconds),
                reason: params.reason.trim().to_owned(),
            },
        })
    }
}

/// Reads the parameters of `ask_user`.
pub(super) fn ask(params: AskUserParams) -> Result<ToolInvocation, &'static str> {
    if params.question.trim().is_empty() {
        return Err("must say something");
    }
    Ok(ToolInvocation::Wait(WaitCall::AskUser(params)))
}

/// Reads the parameters of `request_user_action`.
pub(super) fn act(params: RequestUserActionParams) -> Result<ToolInvocation, &'static str> {
    if params.instruction.trim().is_empty() {
        return Err("must say something");
    }
    Ok(ToolInvocation::Wait(WaitCall::UserAction(params)))
}

/// Reads the parameters of `watch_page`: a text that comes, or one that goes.
pub(super) fn watch(params: WatchPageParams) -> Result<ToolInvocation, &'static str> {
    let condition = condition(params.text, params.text_gone)?.ok_or("give text or textGone")?;
    let timeout_s = params.timeout_seconds.unwrap_or(WATCH_S_DEFAULT);
    Ok(ToolInvocation::Wait(WaitCall::WatchPage { condition, timeout_s, tab_id: params.tab_id }))
}

/// Whether a wait takes an answer of this kind.
///
/// # Errors
/// The rule that it breaks, with its field.
pub fn check_response(
    request: &InteractionRequestPayload,
    response: &InteractionResponse,
) -> Result<(), String> {
    let value = match response {
        InteractionResponse::Decline { .. } | InteractionResponse::Cancel {} => return Ok(()),
        InteractionResponse::Done {} => {
            return match request {
                InteractionRequestPayload::UserAction { .. }
                | InteractionRequestPayload::Takeover { .. }
                | InteractionRequestPayload::WatchPage { .. }
                | InteractionRequestPayload::ScheduleResume { .. } => Ok(()),
                InteractionRequestPayload::AskUser { .. } | InteractionRequestPayload::Elicitation { .. } => {
                    Err("response.kind: a question is answered by submit, decline or cancel".to_owned())
                }
            };
        }
        InteractionResponse::Submit { value } => value,
    };
    match (request, value) {
        (InteractionRequestPayload::AskUser { .. }, Value::String(text)) => {
            if text.trim().is_empty() {
                return Err("response.value: must say something".to_owned());
            }
            if text.chars().count() > ANSWER_CHARS_MAX {
                return Err(format!("response.value: at most {ANSWER_CHARS_MAX} characters"));
            }
            Ok(())
        }
        (InteractionRequestPayload::AskUser { .. }, _) => Err("response.value: must be a text".to_owned()),
        (InteractionRequestPayload::Elicitation { .. }, _) => Ok(()),
        (
            InteractionRequestPayload::UserAction { .. }
            | InteractionRequestPayload::Takeover { .. }
            | InteractionRequestPayload::WatchPage { .. }
            | InteractionRequestPayload::ScheduleResume { .. },
            _,
        ) => Err("response.kind: this wait is answered by done, decline or cancel".to_owned()),
    }
}

/// The end of a wait as the model is told. `now_ms` is the time of the end: no two waits of a turn that waits again and
/// again end alike, so they are not taken for circles. What the user says is their own word and stands outside of every fence; what a
/// page says of itself stands in the body.
pub fn render_end(
    request: &InteractionRequestPayload,
    end: &InteractionEnd,
    page: Option<&PageSeen>,
    now_ms: u64,
) -> ToolText {
    let now = moment_text(now_ms);
    let head = match end {
        InteractionEnd::Answered { response } => answered(request, response),
        InteractionEnd::Expired {} => format!("{} It is {now}.", expired(request)),
        InteractionEnd::Met {} => format!(
            "{}the awaited change is there. Call read_page to see the page as it is now.",
            tab_of(request)
        ),
        InteractionEnd::Lost { why } => {
            let why = match why {
                WatchLoss::Closed => {
                    "its page was closed, so it is not known whether the change came. Call tabs_list to see which tabs there \
                     are, or tell the user."
                }
                WatchLoss::Navigated => {
                    "it shows another site now, so the page is watched no longer. Call read_page to see where it is, or tell \
                     the user."
                }
                WatchLoss::Forbidden => {
                    "a rule of the user forbids it by now to watch this page. Do not try another way; tell the user."
                }
            };
            format!("{}{why}", tab_of(request))
        }
        InteractionEnd::Due {} => {
            format!(
                "The time has come, it is {now}: go on now. Pages can have changed meanwhile, so read them again before you \
                 act."
            )
        }
        InteractionEnd::Withdrawn {} => "The user stopped the turn during this wait.".to_owned(),
    };
    let body = page.map(|page| page_lines(&page.url, &page.title)).unwrap_or_default();
    ToolText { ok: end.is_good(), head, body }
}

/// What people read of the end of a wait in the row of its call.
pub fn summary(end: &InteractionEnd) -> String {
    match end {
        InteractionEnd::Answered { response } => match response {
            InteractionResponse::Submit { value } => words_of(value),
            InteractionResponse::Done {} => "done".to_owned(),
            InteractionResponse::Decline { .. } => "declined".to_owned(),
            InteractionResponse::Cancel {} => "stopped".to_owned(),
        },
        InteractionEnd::Expired {} => "nothing came in time".to_owned(),
        InteractionEnd::Met {} => "it came".to_owned(),
        InteractionEnd::Lost { why: WatchLoss::Closed } => "the page was closed".to_owned(),
        InteractionEnd::Lost { why: WatchLoss::Navigated } => "the tab shows another site".to_owned(),
        InteractionEnd::Lost { why: WatchLoss::Forbidden } => "a rule forbids it".to_owned(),
        InteractionEnd::Due {} => "the time has come".to_owned(),
        InteractionEnd::Withdrawn {} => "stopped".to_owned(),
    }
}

fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn answered(request: &InteractionRequestPayload, response: &InteractionResponse) -> String {
    match response {
        InteractionResponse::Submit { value } => format!("The user answered: {}", words_of(value)),
        InteractionResponse::Done {} => match request {
            InteractionRequestPayload::UserAction { .. } | InteractionRequestPayload::Takeover { .. } => {
                "The user says that it is done. Read the page to see where it stands."
            }
            InteractionRequestPayload::WatchPage { .. } => {
                "The user ended this wait: go on now. Read the page to see where it stands."
            }
            InteractionRequestPayload::ScheduleResume { .. } => {
                "The user lets you go on now, before the time. Read pages again before you act."
            }
            InteractionRequestPayload::AskUser { .. } | InteractionRequestPayload::Elicitation { .. } => {
                "The user says that you can go on."
            }
        }
        .to_owned(),
        InteractionResponse::Decline { note } => {
            let note = note.as_deref().map(|note| format!(" The user's note: {note}")).unwrap_or_default();
            let declined = match request {
                InteractionRequestPayload::AskUser { .. } | InteractionRequestPayload::Elicitation { .. } => {
                    "The user does not answer this now. Go on without it where that is safe, or say what is missing; do not \
                     ask the same again."
                }
                InteractionRequestPayload::UserAction { .. } | InteractionRequestPayload::Takeover { .. } => {
                    "The user does not do this now. Do not reach it another way; do what is possible without it and say what \
                     is left."
                }
                InteractionRequestPayload::WatchPage { .. }
                | InteractionRequestPayload::ScheduleResume { .. } => {
                    "The user does not want you to wait for this. Do what is possible now and say what is left."
                }
            };
            format!("{declined}{note}")
        }
        InteractionResponse::Cancel {} => "The user stopped the turn.".to_owned(),
    }
}

fn expired(request: &InteractionRequestPayload) -> &'static str {
    match request {
        InteractionRequestPayload::AskUser { .. } | InteractionRequestPayload::Elicitation { .. } => {
            "Nobody answered in time. Go on with the safest choice and say so, or stop and say what is missing."
        }
        InteractionRequestPayload::UserAction { .. } | InteractionRequestPayload::Takeover { .. } => {
            "Nobody said in time that it is done. Read the page to see whether it is; if not, stop and say what is left."
        }
        InteractionRequestPayload::WatchPage { .. } => {
            "The awaited change was not seen in time. Read the page to see where it stands; watch it again only if it is \
             still working."
        }
        InteractionRequestPayload::ScheduleResume { .. } => "The time has come.",
    }
}

fn tab_of(request: &InteractionRequestPayload) -> String {
    match request {
        InteractionRequestPayload::WatchPage { tab_id, .. }
        | InteractionRequestPayload::Takeover { tab_id, .. } => format!("Tab {tab_id}: "),
        InteractionRequestPayload::UserAction { .. }
        | InteractionRequestPayload::AskUser { .. }
        | InteractionRequestPayload::ScheduleResume { .. }
        | InteractionRequestPayload::Elicitation { .. } => String::new(),
    }
}

#[cfg(test)]
#[path = "waits_tests.rs"]
mod tests;
