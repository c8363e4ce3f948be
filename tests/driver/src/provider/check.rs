//! The rules that every chat request keeps; what breaks one becomes a sentence.

use std::collections::BTreeSet;

use super::request::{ChatMessage, ParsedRequest, Role};

/// The longest tool name that the wire allows.
const TOOL_NAME_CHARS_MAX: usize = 64;

/// Checks a request; each returned sentence names the request, the place and the rule.
pub(super) fn violations(request: &ParsedRequest, secrets: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    check_messages(&request.messages, &mut found);
    check_tools(request, &mut found);
    check_system(request, &mut found);
    let body = request.body.to_string();
    let key = request.key.iter().filter(|key| !key.is_empty());
    for secret in secrets.iter().chain(key) {
        if body.contains(secret.as_str()) {
            found.push("body: holds a secret".into());
        }
    }
    found.iter().map(|sentence| format!("request {}: {sentence}", request.number)).collect()
}

/// Each call has exactly one result, right after its message and in order; nothing else has one.
fn check_messages(messages: &[ChatMessage], found: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    let mut due: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            let id = message.call_id.as_deref().unwrap_or_default();
            match due.first() {
                Some(next) if *next == id => {
                    due.remove(0);
                }
                Some(next) => found.push(format!("messages[{index}]: answers `{id}`, but `{next}` is due")),
                None => found.push(format!("messages[{index}]: answers `{id}`, but no call is open")),
            }
            continue;
        }
        for id in due.drain(..) {
            found.push(format!("messages[{index}]: comes before the result of `{id}`"));
        }
        for call in &message.calls {
            if message.role != Role::Assistant {
                found.push(format!("messages[{index}]: only an assistant calls tools"));
            }
            if call.id.is_empty() || !ids.insert(call.id.clone()) {
                found.push(format!("messages[{index}]: the call id `{}` is empty or used twice", call.id));
            }
            if !call.arguments().is_object() {
                found.push(format!("messages[{index}]: the arguments of `{}` are no JSON object", call.id));
            }
            due.push(&call.id);
        }
        if message.text.is_empty() && message.calls.is_empty() {
            found.push(format!("messages[{index}]: is empty"));
        }
    }
    for id in due {
        found.push(format!("messages: the result of `{id}` is missing"));
    }
}

fn check_tools(request: &ParsedRequest, found: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for (index, tool) in request.tools.iter().enumerate() {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = &tool.name;
        if name.is_empty() || name.len() > TOOL_NAME_CHARS_MAX || !name.chars().all(legal) {
            found.push(format!("tools[{index}]: `{name}` is no legal name"));
        }
        if !names.insert(name) {
            found.push(format!("tools[{index}]: `{name}` is offered twice"));
        }
        if tool.parameters["type"] != "object" {
            found.push(format!("tools[{index}]: the parameters of `{name}` are no object schema"));
        }
    }
}

/// A system prompt comes first, and only there. A probe of the connection, which offers no page tool, needs none.
fn check_system(request: &ParsedRequest, found: &mut Vec<String>) {
    let first_is_system = request.messages.first().is_some_and(|message| message.role == Role::System);
    if request.offers("read_page") && !first_is_system {
        found.push("messages[0]: must be the system prompt".into());
    }
    let later = request.messages.iter().skip(1).filter(|message| message.role == Role::System).count();
    if later > 0 {
        found.push("messages: a system message stands behind the first place".into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(body: Value, expected: &[&str]) {
        let request = ParsedRequest::parse(3, Some("sk-key".into()), body).unwrap();
        let secrets = BTreeSet::from(["hunter2".to_owned()]);
        assert_eq!(violations(&request, &secrets), expected);
    }

    fn call(id: &str, arguments: &str) -> Value {
        json!({ "id": id, "type": "function", "function": { "name": "click", "arguments": arguments } })
    }

    #[test]
    fn a_well_formed_request_breaks_no_rule() {
        let tool = json!({ "type": "function", "function": { "name": "read_page", "parameters": { "type": "object" } } });
        let messages = json!([
            { "role": "system", "content": "be good" },
            { "role": "user", "content": [{ "type": "text", "text": "go" }] },
            { "role": "assistant", "content": null, "tool_calls": [call("a", "{}"), call("b", "{}")] },
            { "role": "tool", "tool_call_id": "a", "content": "done" },
            { "role": "tool", "tool_call_id": "b", "content": "done" },
        ]);
        check(json!({ "model": "m", "messages": messages, "tools": [tool] }), &[]);
    }

    #[test]
    fn results_out_of_place_are_named() {
        let messages = json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": null, "tool_calls": [call("a", "{}"), call("a", "[]")] },
            { "role": "tool", "tool_call_id": "x", "content": "done" },
            { "role": "user", "content": "and" },
            { "role": "tool", "tool_call_id": "a", "content": "late" },
        ]);
        let expected = [
            "request 3: messages[1]: the call id `a` is empty or used twice",
            "request 3: messages[1]: the arguments of `a` are no JSON object",
            "request 3: messages[2]: answers `x`, but `a` is due",
            "request 3: messages[3]: comes before the result of `a`",
            "request 3: messages[3]: comes before the result of `a`",
            "request 3: messages[4]: answers `a`, but no call is open",
        ];
        check(json!({ "model": "m", "messages": messages }), &expected);
    }

    #[test]
    fn tools_secrets_and_the_system_prompt_are_checked() {
        let tool = |name: &str, schema: Value| json!({ "function": { "name": name, "parameters": schema } });
        let messages = json!([{ "role": "user", "content": "my password is hunter2, my key sk-key" }]);
        let object = json!({ "type": "object" });
        let tools = [tool("read_page", object.clone()), tool("read_page", object), tool("a b", json!({}))];
        let expected = [
            "request 3: tools[1]: `read_page` is offered twice",
            "request 3: tools[2]: `a b` is no legal name",
            "request 3: tools[2]: the parameters of `a b` are no object schema",
            "request 3: messages[0]: must be the system prompt",
            "request 3: body: holds a secret",
            "request 3: body: holds a secret",
        ];
        check(json!({ "model": "m", "messages": messages, "tools": tools }), &expected);
    }
}
