//! What a model call sends: the system prompt's layers, the path as messages, and the fences around foreign text.

use super::toolbox;
use crate::permission::Origin;
use crate::prompt::dates::date_text;
use crate::prompt::fence::one_line;
use crate::prompt::{self, Layers, Provenance, captured_tab_header, system_prompt};
use crate::provider::{ModelPlan, capabilities, gen_params};
use crate::store::context;
use crate::store::records::{Environment, StoredNode, StoredRun};
use panelot_protocol::ids::{AttachmentId, NodeId};
use panelot_protocol::turn::{ContextKind, UserInput};
use panelot_providers::{Part, ToolChoice};
use std::collections::BTreeMap;

/// Most characters of what a reference is called.
const CONTEXT_CHARS_MAX: usize = 500;

/// The plan of a run's next model call.
pub(crate) fn plan(
    run: &StoredRun,
    environment: &Environment,
    path: &[StoredNode],
    attachments: &BTreeMap<AttachmentId, Part>,
    attempts_before: u32,
) -> ModelPlan {
    let user = |node_id: &NodeId, input: &UserInput| {
        let mut parts = user_parts(node_id, input);
        parts.extend(input.attachments.iter().filter_map(|id| attachments.get(id)).cloned());
        parts
    };
    ModelPlan {
        model: environment.model.clone(),
        system: environment.system.clone(),
        messages: context::messages(path, &user),
        tools: toolbox::schemas(&environment.levels)
            .into_iter()
            .filter(|schema| environment.tools.contains(&schema.name))
            .collect(),
        tool_choice: if run.is_out_of_tries() { ToolChoice::Never } else { ToolChoice::Auto },
        params: gen_params(&environment.params),
        capabilities: capabilities(&environment.capabilities),
        attempts_before,
    }
}

/// The system prompt's layers: what stays the same for caches first, what changes from day to day last.
pub(crate) fn system_layers(
    preset: Option<&str>,
    global: Option<&str>,
    language: &str,
    now_ms: u64,
) -> Vec<String> {
    let stable = system_prompt(&Layers { preset, global, ..Layers::default() });
    let daily = format!("Today: {}\nLanguage of the user's interface: {language}", date_text(now_ms));
    vec![stable, daily]
}

/// The parts of a user's message: the tab in front of them, what they typed, and what they referenced. Text that comes
/// from pages stands in fences.
fn user_parts(node_id: &NodeId, input: &UserInput) -> Vec<Part> {
    let mut text = String::new();
    if let Some(tab) = &input.captured_tab {
        text.push_str(&captured_tab_header(tab));
        text.push_str("\n\n");
    }
    text.push_str(&input.text);
    for context in &input.attached_context {
        text.push_str("\n\n");
        let tab = context.tab_id.map(|tab_id| format!(", tabId {tab_id}")).unwrap_or_default();
        let url = context.url.as_ref().map(|url| format!(", address {}", one_line(url, CONTEXT_CHARS_MAX)));
        let label = one_line(&context.label, CONTEXT_CHARS_MAX).replace(['[', ']', '"'], "'");
        let kind = match context.kind {
            ContextKind::Tab => "tab",
            ContextKind::Selection => "selection",
            ContextKind::Resource => "resource",
        };
        let url = url.unwrap_or_default();
        text.push_str(&format!("[Referenced {kind}{tab}{url}, title (page's own words) \"{label}\"]"));
        if let Some(shown) = &context.text {
            text.push('\n');
            let origin = context.url.as_deref().and_then(|url| Origin::parse(url).ok());
            text.push_str(&fence(node_id, kind, origin.as_ref(), shown));
        }
    }
    vec![Part::Text(text)]
}

/// Foreign text in its fence, whose nonce follows from the node: the same text reads the same in every request.
pub(crate) fn fence(node: &NodeId, tool: &str, origin: Option<&Origin>, text: &str) -> String {
    let origin = origin.map(ToString::to_string);
    prompt::fence(Provenance { node_id: node, tool, origin: origin.as_deref() }, text)
}
