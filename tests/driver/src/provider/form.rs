//! The built-in script: fills the form on the page from the user's own sentence.
//!
//! It knows no page. It reads the snapshot that it was given, looks in the sentence for what belongs into each
//! field, makes one call at a time, presses the button, reads again and tells what the page says.

use serde_json::{Map, Value, json};

use super::Script;
use super::reply::Reply;
use super::request::{ParsedRequest, ToolResult};
use super::snapshot::{SnapshotNode as Node, snapshot_lines};

/// How often the page is read before the script gives up on it.
const READS_MAX: usize = 6;
/// Words shorter than this in a label say nothing about it.
const LABEL_WORD_CHARS_MIN: usize = 4;
/// How many words of the user's sentence make a title.
const TITLE_WORDS_MAX: usize = 6;
/// What buttons that send a form are called.
const SUBMIT_WORDS: [&str; 7] = ["place order", "submit", "send", "order", "save", "sign up", "book"];

/// Fills whatever form is on the page.
pub struct FormFiller;

impl Script for FormFiller {
    fn reply(&self, request: &ParsedRequest) -> Reply {
        if !request.offers("read_page") {
            return without_page(request);
        }
        let results = request.results();
        let reads = results.iter().filter(|result| result.name == "read_page").count();
        let Some(last) = results.last() else {
            return Reply::text("I will look at the page first.").and_call("read_page", json!({}));
        };
        if is_refusal(last) {
            return Reply::text("You said no, so I stopped here. Nothing was sent.");
        }
        if last.text.contains("stale_ref") && reads < READS_MAX {
            return Reply::text("The page has changed; I look again.").and_call("read_page", json!({}));
        }
        let sentence = request.task();
        let lines = newest_reading(&results);
        let done =
            |node: &Node| results.iter().any(|result| result.arguments["ref"] == node.reference.as_str());
        if let Some((node, name, arguments)) =
            plan(sentence, &lines).into_iter().find(|(node, ..)| !done(node))
        {
            return Reply::text(format!("**{}** comes next.", node.name)).and_call(name, arguments);
        }
        match last.name.as_str() {
            "click" => Reply::call("read_page", json!({})),
            _ => Reply::text(report(&lines)),
        }
    }
}

/// Answers requests that have nothing to do with a page: titles, and the probes of a connection.
fn without_page(request: &ParsedRequest) -> Reply {
    match (request.tools.first(), request.last_result()) {
        (Some(_), Some(result)) => Reply::text(format!("The tool said: {}", result.text)),
        (Some(tool), None) => Reply::call(&tool.name, sample_arguments(&tool.parameters)),
        (None, _) => {
            let words: Vec<&str> = request.task().split_whitespace().take(TITLE_WORDS_MAX).collect();
            Reply::text(words.join(" "))
        }
    }
}

/// Arguments that satisfy a flat object schema.
fn sample_arguments(schema: &Value) -> Value {
    let mut arguments = Map::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let property = &schema["properties"][name];
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            _ => property["enum"].get(0).cloned().unwrap_or_else(|| json!("ping")),
        };
        arguments.insert(name.to_owned(), value);
    }
    Value::Object(arguments)
}

fn is_refusal(result: &ToolResult) -> bool {
    let text = result.text.to_ascii_lowercase();
    ["declined", "denied", "refused"].iter().any(|word| text.contains(word))
}

/// The lines of the newest whole reading of the page.
fn newest_reading(results: &[ToolResult]) -> Vec<Node> {
    let reading = results.iter().rev().find(|result| result.name == "read_page");
    reading.map(|result| snapshot_lines(&result.text)).unwrap_or_default()
}

/// The calls that the sentence asks for, in the order of the page, the button last.
fn plan(sentence: &str, lines: &[Node]) -> Vec<(Node, &'static str, Value)> {
    let mut calls = Vec::new();
    for node in lines {
        if node.reference.is_empty() || node.is("disabled") {
            continue;
        }
        let reference = &node.reference;
        match node.role.as_str() {
            "textbox" | "searchbox" | "spinbutton" => {
                if let Some(text) = value_for(sentence, &node.name) {
                    calls.push((node.clone(), "type", json!({ "ref": reference, "text": text })));
                }
            }
            "combobox" | "listbox" => {
                if let Some(option) = option_for(sentence, &node.options) {
                    let arguments = json!({ "ref": reference, "values": [option] });
                    calls.push((node.clone(), "select_option", arguments));
                }
            }
            "checkbox" | "radio" if mentions(sentence, &node.name) && !node.is("checked") => {
                calls.push((node.clone(), "click", json!({ "ref": reference })));
            }
            _ => {}
        }
    }
    let is_submit = |node: &&Node| {
        let name = node.name.to_ascii_lowercase();
        node.role == "button"
            && !node.reference.is_empty()
            && SUBMIT_WORDS.iter().any(|word| name.contains(word))
    };
    if let (false, Some(button)) = (calls.is_empty(), lines.iter().find(is_submit)) {
        calls.push((button.clone(), "click", json!({ "ref": button.reference })));
    }
    calls
}

/// The longest option that the sentence names.
fn option_for(sentence: &str, options: &[String]) -> Option<String> {
    options.iter().filter(|name| mentions(sentence, name)).max_by_key(|name| name.len()).cloned()
}

/// Whether the sentence has the words of the label, whatever their case.
fn mentions(sentence: &str, label: &str) -> bool {
    let label = label.trim().to_ascii_lowercase();
    !label.is_empty() && sentence.to_ascii_lowercase().contains(&label)
}

/// What the sentence says belongs into the field with this label.
fn value_for(sentence: &str, label: &str) -> Option<String> {
    let lower = sentence.to_ascii_lowercase();
    let label = label.to_ascii_lowercase();
    let words = label.split_whitespace().filter(|word| word.chars().count() >= LABEL_WORD_CHARS_MIN);
    for key in std::iter::once(label.as_str()).chain(words) {
        let Some(at) = lower.find(key) else { continue };
        let rest = sentence.get(at + key.len()..)?.trim_start_matches([':', '=', ' ']);
        let rest = rest.strip_prefix("is ").unwrap_or(rest);
        if let Some(value) = first_value(rest) {
            return Some(value);
        }
    }
    // A person's name is what an order is "for".
    let (_, rest) = label.contains("name").then(|| sentence.split_once(" for "))??;
    first_value(rest)
}

/// A quoted text, or everything up to the next comma or full stop.
fn first_value(text: &str) -> Option<String> {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let value = match quoted {
        Some((value, _)) => value,
        None => text.split([',', '.', ';', '\n']).next()?,
    };
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// What the page says now, for the user: the text of its status or alert.
fn report(lines: &[Node]) -> String {
    let at = lines.iter().position(|node| matches!(node.role.as_str(), "status" | "alert"));
    let said = at.and_then(|at| {
        let own = lines.get(at)?;
        let below = lines.iter().skip(at + 1).take_while(|node| node.indent > own.indent);
        let texts = std::iter::once(own).chain(below).flat_map(|node| [&node.value, &node.name]);
        texts.into_iter().find(|text| !text.is_empty())
    });
    match said {
        Some(said) => format!("Done. The page says: *{said}*"),
        None => "I have done what I could find to do on this page.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str =
        "Order a flat white with oat milk, size large, for Mei Chen, note \"extra hot, please\".";

    fn check(lines: &str, expected: &[(&str, Value)]) {
        let calls = plan(SENTENCE, &snapshot_lines(lines));
        let calls: Vec<_> = calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn each_field_gets_what_the_sentence_says_and_the_button_comes_last() {
        check(
            r#"- textbox "Your name" [ref=a1]
               - combobox "Drink" [ref=a2] options: "White tea | Flat white"
               - checkbox "Oat milk" [ref=a3]
               - checkbox "Sugar" [ref=a4]
               - button "Place order" [ref=a5]
               - textbox "Note" [ref=a6]"#,
            &[
                ("type", json!({ "ref": "a1", "text": "Mei Chen" })),
                ("select_option", json!({ "ref": "a2", "values": ["Flat white"] })),
                ("click", json!({ "ref": "a3" })),
                ("type", json!({ "ref": "a6", "text": "extra hot, please" })),
                ("click", json!({ "ref": "a5" })),
            ],
        );
    }

    #[test]
    fn a_page_without_matching_fields_has_nothing_pressed() {
        check(r#"- button "Place order" [ref=a5]"#, &[]);
    }

    #[test]
    fn sample_arguments_follow_the_schema() {
        let schema = json!({
            "type": "object", "required": ["text", "count"],
            "properties": { "text": { "type": "string" }, "count": { "type": "integer" } },
        });
        assert_eq!(sample_arguments(&schema), json!({ "text": "ping", "count": 1 }));
    }
}
