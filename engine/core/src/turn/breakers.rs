//! What keeps a turn from going in circles: failures in a row, and the same call again and again.
//!
//! Failures are counted in the run, in the commit of the result that failed; everything else is read off the path. So a
//! worker that dies in between forgets nothing and says nothing twice.

use crate::prompt::fence::without_nonce;
use crate::store::records::{NodePayload, StoredNode, StoredRun};
use panelot_protocol::ids::{NodeId, RunId};
use panelot_protocol::item::NoticeKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Failures of tools in a row after which the model is told to change its approach.
const FAILURES_COUNT_TOLD: u32 = 3;
/// Failures of tools in a row after which the model gives one last answer without tools.
const FAILURES_COUNT_LAST: u32 = 5;
/// Times that a call may come without anything new, the last of which is too much.
const REPEATS_COUNT: usize = 3;
/// Said after [`FAILURES_COUNT_TOLD`].
const FAILURES_NOTICE: &str = "Three tool calls in a row failed. Do not try the same way again: look at the \
     page anew, choose another approach, or ask the user.";
/// Said after [`FAILURES_COUNT_LAST`].
const LAST_ANSWER_NOTICE: &str = "Five tool calls in a row failed, so no more tools can be called in this turn. \
     Answer now: say what was done and verified, what was not, and what the user can do.";
/// Said when a call comes again and again.
const REPEATED_NOTICE: &str = "You made the same call with the same arguments three times, and nothing new came of it. \
     Do something else, or tell the user what keeps you from going on.";
/// Times that the model is told of its circles; the next one is the last.
const CIRCLES_COUNT_TOLD: usize = 2;
/// Said when the model was told [`CIRCLES_COUNT_TOLD`] times in vain.
const CIRCLES_LAST_NOTICE: &str = "You keep making calls that bring nothing new, so no more tools can be called in this \
     turn. Answer now: say what was done and verified, what was not, and what the user can do.";
/// The result of a call that comes after the fifth failure.
pub(crate) const NOT_RUN_TEXT: &str = "Not run: five tool calls before this one failed.";
/// What people read when the last answer was no answer.
pub(crate) const NO_LAST_ANSWER_TEXT: &str =
    "No more tools could be called in this turn, and the model wanted to call more in place of an answer.";

impl StoredRun {
    /// Whether the run's next answer is its last one, without tools.
    pub(crate) fn is_out_of_tries(&self) -> bool {
        self.tool_failures >= FAILURES_COUNT_LAST
    }
}

/// What the next answer of a run begins with.
pub(crate) struct Due {
    /// Failures in a row to go on with: as many as end the tools when the model goes in circles, whatever it is told.
    pub tool_failures: u32,
    /// What the model must be told.
    pub notices: Vec<NodePayload>,
}

/// Looks at the failures and circles of a run before its next answer.
pub(crate) fn due(run: &StoredRun, path: &[StoredNode]) -> Due {
    let mut notices = Vec::new();
    let mut say = |notice, text: &str| {
        notices.push(NodePayload::SystemNotice { notice, text: text.to_owned(), for_model: true });
    };
    let circles = goes_in_circles(&run.id, path);
    // Who says something wants it tried anew.
    let tool_failures = if run.steers.is_empty() { run.tool_failures } else { 0 };
    if circles && run.steers.is_empty() && times_told_of_circles(&run.id, path) >= CIRCLES_COUNT_TOLD {
        say(NoticeKind::RepeatedCall, CIRCLES_LAST_NOTICE);
        return Due { tool_failures: tool_failures.max(FAILURES_COUNT_LAST), notices };
    }
    let told = told_of_failures(&run.id, path);
    if tool_failures >= FAILURES_COUNT_LAST {
        if told != Told::LastAnswer {
            say(NoticeKind::ToolFailures, LAST_ANSWER_NOTICE);
        }
    } else if tool_failures >= FAILURES_COUNT_TOLD && told == Told::Nothing {
        say(NoticeKind::ToolFailures, FAILURES_NOTICE);
    }
    if circles {
        say(NoticeKind::RepeatedCall, REPEATED_NOTICE);
    }
    Due { tool_failures, notices }
}

/// How often the model was told of its circles since the user last said something.
fn times_told_of_circles(run: &RunId, path: &[StoredNode]) -> usize {
    let since_user = path
        .iter()
        .rev()
        .take_while(|node| &node.run_id == run && !matches!(node.payload, NodePayload::UserMessage { .. }));
    let told = since_user.filter(|node| {
        matches!(node.payload, NodePayload::SystemNotice { notice: NoticeKind::RepeatedCall, .. })
    });
    told.count()
}

/// What the model was told of the failures that stand at the end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    AnotherApproach,
    LastAnswer,
}

/// The newest word about failures since something succeeded or the user said something.
fn told_of_failures(run: &RunId, path: &[StoredNode]) -> Told {
    for node in path.iter().rev().take_while(|node| &node.run_id == run) {
        match &node.payload {
            NodePayload::SystemNotice { notice: NoticeKind::ToolFailures, text, .. } => {
                return if text == LAST_ANSWER_NOTICE { Told::LastAnswer } else { Told::AnotherApproach };
            }
            NodePayload::SystemNotice { text, .. } if text == CIRCLES_LAST_NOTICE => return Told::LastAnswer,
            NodePayload::ToolResult { ok: true, .. } | NodePayload::UserMessage { .. } => break,
            NodePayload::ToolResult { ok: false, .. }
            | NodePayload::SystemNotice { .. }
            | NodePayload::AssistantMessage { .. }
            | NodePayload::ToolCall { .. }
            | NodePayload::ApprovalDecision { .. }
            | NodePayload::InteractionResponse { .. }
            | NodePayload::TurnContext { .. } => {}
        }
    }
    Told::Nothing
}

/// Whether a call came [`REPEATS_COUNT`] times with the same result, and nothing that the run had not seen before came
/// between the last two of them. Counted anew after the model was told, and after a word of the user.
fn goes_in_circles(run: &RunId, path: &[StoredNode]) -> bool {
    let own: Vec<&StoredNode> = path.iter().rev().take_while(|node| &node.run_id == run).collect();
    let mut calls: BTreeMap<&NodeId, (&str, &Value)> = BTreeMap::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut stale: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut circles = false;
    for node in own.into_iter().rev() {
        match &node.payload {
            NodePayload::ToolCall { tool_name, arguments, .. } => {
                calls.insert(&node.id, (tool_name, arguments));
            }
            NodePayload::ToolResult { call_node_id, text, .. } => {
                let Some((tool, arguments)) = calls.get(call_node_id) else { continue };
                let key = (format!("{tool} {arguments}"), without_nonce(call_node_id, text));
                if seen.insert(key.clone()) {
                    stale.clear();
                    continue;
                }
                let again = stale.entry(key).or_default();
                *again = again.saturating_add(1);
                // The first time was something new, so the third one is the second that brought nothing.
                circles |= again.saturating_add(1) >= REPEATS_COUNT;
            }
            NodePayload::SystemNotice { notice: NoticeKind::RepeatedCall, .. }
            | NodePayload::UserMessage { .. } => {
                seen.clear();
                stale.clear();
                circles = false;
            }
            NodePayload::SystemNotice { .. }
            | NodePayload::AssistantMessage { .. }
            | NodePayload::ApprovalDecision { .. }
            | NodePayload::InteractionResponse { .. }
            | NodePayload::TurnContext { .. } => {}
        }
    }
    circles
}
