//! From a path's nodes to the provider-neutral history that a model sees.

use super::records::{NodePayload, StoredNode};
use panelot_protocol::ids::NodeId;
use panelot_protocol::turn::UserInput;
use panelot_providers::{Message, Part, ToolCall};
use serde_json::{Map, Value};

/// How a user's message is put to the model; the engine adds what was referenced and the captured tab, fenced.
pub trait UserText {
    /// The parts of a message.
    fn parts(&self, node_id: &NodeId, input: &UserInput) -> Vec<Part>;
}

impl<F: Fn(&NodeId, &UserInput) -> Vec<Part>> UserText for F {
    fn parts(&self, node_id: &NodeId, input: &UserInput) -> Vec<Part> {
        self(node_id, input)
    }
}

/// The history of a path, the oldest first. Tombstones and what only the engine needs are left out; calls join the
/// answer that made them. A call without a result stays so: the codec gives it one that says so.
pub fn messages(nodes: &[StoredNode], user: &impl UserText) -> Vec<Message> {
    let mut history: Vec<Message> = Vec::new();
    let mut last_answer: Option<(&NodeId, usize)> = None;
    for node in nodes.iter().filter(|node| !node.tombstone) {
        match &node.payload {
            NodePayload::UserMessage { input, .. } => {
                history.push(Message::User { parts: user.parts(&node.id, input) });
            }
            NodePayload::AssistantMessage { text, reasoning, provider_state, partial, .. } => {
                last_answer = Some((&node.id, history.len()));
                history.push(Message::Assistant {
                    text: text.clone(),
                    reasoning: reasoning.clone(),
                    calls: Vec::new(),
                    provider_state: provider_state.clone(),
                    partial: *partial,
                });
            }
            NodePayload::ToolCall { assistant_id, call_id, tool_name, arguments, .. } => {
                let Some((answer_id, place)) = last_answer else { continue };
                if answer_id != assistant_id {
                    continue;
                }
                if let Some(Message::Assistant { calls, .. }) = history.get_mut(place) {
                    calls.push(ToolCall {
                        id: call_id.clone(),
                        name: tool_name.clone(),
                        arguments: object(arguments),
                    });
                }
            }
            NodePayload::ToolResult { call_id, tool_name, ok, text, .. } => {
                history.push(Message::ToolResult {
                    call_id: call_id.clone(),
                    name: tool_name.clone(),
                    ok: *ok,
                    parts: vec![Part::Text(text.clone())],
                });
            }
            NodePayload::SystemNotice { text, for_model: true, .. } => {
                history.push(Message::User { parts: vec![Part::Text(format!("[Panelot] {text}"))] });
            }
            NodePayload::SystemNotice { for_model: false, .. }
            | NodePayload::ApprovalDecision { .. }
            | NodePayload::InteractionResponse { .. }
            | NodePayload::TurnContext { .. } => {}
        }
    }
    history
}

fn object(arguments: &Value) -> Map<String, Value> {
    match arguments {
        Value::Object(map) => map.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
