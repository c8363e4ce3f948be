//! What a node holds, as a document says it: without what only this browser session or the endpoint understands.

use crate::store::records::{AskedTarget, NodePayload};
use panelot_protocol::approval::{ApprovalDecision, ToolCategory};
use panelot_protocol::ids::{ApprovalId, InteractionId, NodeId, TabId};
use panelot_protocol::interaction::{InteractionEnd, InteractionRequestPayload};
use panelot_protocol::item::{ActionOutcome, NoticeKind};
use panelot_protocol::turn::{AttachedContext, ModelRef, PermissionPolicy, TokenUsage, UserInput};
use panelot_protocol::{FromJson, Shape, limits};
use serde::Serialize;
use serde_json::Value;

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PayloadDoc {
    /// What the user said.
    UserMessage {
        /// The message, without numbers of tabs.
        input: UserInput,
        /// Whether it was added to a running turn.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        steered: bool,
    },
    /// What the model said.
    AssistantMessage {
        /// The text.
        #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
        text: String,
        /// What it thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
        reasoning: Option<String>,
        /// Cut before its end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
        /// How many calls it made.
        #[serde(default)]
        call_count: u32,
        /// The model.
        model: ModelRef,
        /// Tokens of the call.
        usage: TokenUsage,
        /// Its cost in US dollars.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(min = 0.0)]
        cost_usd: Option<f64>,
    },
    /// A call of a tool.
    ToolCall {
        /// The answer that made it.
        assistant_id: NodeId,
        /// The id that the endpoint knows it by.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        call_id: String,
        /// The tool.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        tool_name: String,
        /// The arguments.
        arguments: Value,
        /// Arguments that could not be read, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
        argument_problem: Option<String>,
        /// What the tool does.
        category: ToolCategory,
        /// The target in a few words.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        label: String,
        /// Where it happens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::URL_CHARS_MAX)]
        origin: Option<String>,
    },
    /// What came of a call.
    ToolResult {
        /// The call.
        call_node_id: NodeId,
        /// The id that the endpoint knows it by.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        call_id: String,
        /// The tool.
        #[shape(len_max = limits::NAME_CHARS_MAX)]
        tool_name: String,
        /// Whether it succeeded.
        ok: bool,
        /// The result as the model read it.
        #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
        text: String,
        /// The result in a line.
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        summary: String,
        /// A write's outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ActionOutcome>,
    },
    /// The answer to a question about a call. It is history: it lets nothing run.
    ApprovalDecision {
        /// The question.
        approval_id: ApprovalId,
        /// The call.
        call_node_id: NodeId,
        /// The decision.
        decision: ApprovalDecision,
        /// Whether nobody answered in time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        timed_out: bool,
        /// What the question named as the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::MESSAGE_CHARS_MAX)]
        asked_label: Option<String>,
        /// Where the target was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::URL_CHARS_MAX)]
        asked_origin: Option<String>,
    },
    /// The end of a wait.
    InteractionResponse {
        /// The wait.
        interaction_id: InteractionId,
        /// What was awaited, without the number of a tab.
        request: InteractionRequestPayload,
        /// How it ended.
        end: InteractionEnd,
    },
    /// What a turn began with.
    TurnContext {
        /// Its policy then.
        policy: PermissionPolicy,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    /// A word of the engine, for people.
    SystemNotice {
        /// Which.
        notice: NoticeKind,
        /// More, in English.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[shape(len_max = limits::ITEM_TEXT_CHARS_MAX)]
        text: String,
    },
}

impl PayloadDoc {
    /// What stands for a deleted message.
    #[must_use]
    pub fn nothing() -> Self {
        Self::SystemNotice { notice: NoticeKind::Other, text: String::new() }
    }

    /// What a document says of a stored payload.
    #[must_use]
    pub fn of(payload: &NodePayload) -> Self {
        match payload.clone() {
            NodePayload::UserMessage { input, steered } => {
                Self::UserMessage { input: without_tabs(input), steered }
            }
            NodePayload::AssistantMessage {
                text,
                reasoning,
                provider_state: _,
                partial,
                call_count,
                model,
                usage,
                cost_usd,
            } => Self::AssistantMessage { text, reasoning, partial, call_count, model, usage, cost_usd },
            NodePayload::ToolCall {
                assistant_id,
                call_id,
                tool_name,
                arguments,
                argument_problem,
                category,
                label,
                tab_id: _,
                origin,
            } => Self::ToolCall {
                assistant_id,
                call_id,
                tool_name,
                arguments,
                argument_problem,
                category,
                label,
                origin,
            },
            NodePayload::ToolResult { call_node_id, call_id, tool_name, ok, text, summary, outcome } => {
                Self::ToolResult { call_node_id, call_id, tool_name, ok, text, summary, outcome }
            }
            NodePayload::ApprovalDecision { approval_id, call_node_id, decision, timed_out, asked } => {
                Self::ApprovalDecision {
                    approval_id,
                    call_node_id,
                    decision,
                    timed_out,
                    asked_label: asked.as_ref().map(|asked| asked.label.clone()),
                    asked_origin: asked.and_then(|asked| asked.origin),
                }
            }
            NodePayload::InteractionResponse { interaction_id, request, end } => {
                Self::InteractionResponse { interaction_id, request: awaited_nowhere(request), end }
            }
            NodePayload::TurnContext { policy, model } => Self::TurnContext { policy, model },
            NodePayload::SystemNotice { notice, text, for_model: _ } => Self::SystemNotice { notice, text },
        }
    }

    /// The payload as it is stored. Nothing that the document did not show comes to it: no tab, no state of the endpoint,
    /// no word for the model alone.
    #[must_use]
    pub fn stored(self) -> NodePayload {
        match self {
            Self::UserMessage { input, steered } => {
                NodePayload::UserMessage { input: without_tabs(input), steered }
            }
            Self::AssistantMessage { text, reasoning, partial, call_count, model, usage, cost_usd } => {
                NodePayload::AssistantMessage {
                    text,
                    reasoning,
                    provider_state: None,
                    partial,
                    call_count,
                    model,
                    usage,
                    cost_usd,
                }
            }
            Self::ToolCall {
                assistant_id,
                call_id,
                tool_name,
                arguments,
                argument_problem,
                category,
                label,
                origin,
            } => NodePayload::ToolCall {
                assistant_id,
                call_id,
                tool_name,
                arguments,
                argument_problem,
                category,
                label,
                tab_id: None,
                origin,
            },
            Self::ToolResult { call_node_id, call_id, tool_name, ok, text, summary, outcome } => {
                NodePayload::ToolResult { call_node_id, call_id, tool_name, ok, text, summary, outcome }
            }
            Self::ApprovalDecision {
                approval_id,
                call_node_id,
                decision,
                timed_out,
                asked_label,
                asked_origin,
            } => {
                let asked = |label| AskedTarget { label, tab_id: None, origin: asked_origin };
                let asked = asked_label.map(asked);
                NodePayload::ApprovalDecision { approval_id, call_node_id, decision, timed_out, asked }
            }
            Self::InteractionResponse { interaction_id, request, end } => {
                NodePayload::InteractionResponse { interaction_id, request: awaited_nowhere(request), end }
            }
            Self::TurnContext { policy, model } => NodePayload::TurnContext { policy, model },
            Self::SystemNotice { notice, text } => {
                NodePayload::SystemNotice { notice, text, for_model: false }
            }
        }
    }

    /// The nodes that it refers to, with the fields' names.
    pub(super) fn refers_to(&self) -> Option<(&'static str, &NodeId)> {
        match self {
            Self::ToolCall { assistant_id, .. } => Some(("payload.assistantId", assistant_id)),
            Self::ToolResult { call_node_id, .. } | Self::ApprovalDecision { call_node_id, .. } => {
                Some(("payload.callNodeId", call_node_id))
            }
            Self::UserMessage { .. }
            | Self::AssistantMessage { .. }
            | Self::InteractionResponse { .. }
            | Self::TurnContext { .. }
            | Self::SystemNotice { .. } => None,
        }
    }
}

/// A message without the numbers of tabs: they are those of another browser session, and a message that is sent again
/// would let its thread read whatever tab has the number now.
fn without_tabs(input: UserInput) -> UserInput {
    let context = |context: AttachedContext| AttachedContext { tab_id: None, ..context };
    UserInput {
        captured_tab: None,
        attached_context: input.attached_context.into_iter().map(context).collect(),
        ..input
    }
}

/// A number that the browser gives to no tab.
const NO_TAB: TabId = TabId(0);

/// What was awaited, without the number of the tab that it was awaited in.
fn awaited_nowhere(request: InteractionRequestPayload) -> InteractionRequestPayload {
    use InteractionRequestPayload::{AskUser, Elicitation, ScheduleResume, Takeover, UserAction, WatchPage};
    match request {
        UserAction { item_id, instruction, tab_id: _, deadline_ms } => {
            UserAction { item_id, instruction, tab_id: None, deadline_ms }
        }
        Takeover { tab_id: _, what } => Takeover { tab_id: NO_TAB, what },
        WatchPage { item_id, tab_id: _, condition, deadline_ms } => {
            WatchPage { item_id, tab_id: NO_TAB, condition, deadline_ms }
        }
        AskUser { .. } | ScheduleResume { .. } | Elicitation { .. } => request,
    }
}
