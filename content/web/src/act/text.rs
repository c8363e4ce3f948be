//! Typing: what a field gets is what a person at the keyboard would have given it.

use super::Act;
use super::click::other_root;
use super::events;
use super::place::Cover;
use crate::dom::{self, Node};
use crate::wait::{self, Watch};
use panelot_content::action::{Code, Evidence, Failure, Held, Typing, check_held, prepare_input, typing_for};
use panelot_content::clean::clean;
use panelot_content::privacy;
use panelot_protocol::content::TypeMode;
use wasm_bindgen::{JsCast, JsValue};

/// Text up to this length is typed key by key, so that masks and shortcuts see each key, in characters.
const KEYED_CHARS_MAX: usize = 120;

/// What takes the text.
enum Field {
    /// An `input` that takes text, and its type.
    Input(Node, String),
    /// An `input` that takes one value, and its type.
    Value(Node, String),
    /// A `textarea`.
    Area(Node),
    /// The root of an editable region.
    Editor(Node),
}

impl Field {
    fn node(&self) -> &Node {
        match self {
            Field::Input(node, _) | Field::Value(node, _) | Field::Area(node) | Field::Editor(node) => node,
        }
    }

    fn is_secret(&self) -> bool {
        let autocomplete = self.node().attribute(&JsValue::from_str("autocomplete"));
        match self {
            Field::Input(_, kind) => privacy::is_secret_field(kind, autocomplete.as_deref()),
            Field::Area(_) => privacy::is_secret_field("text", autocomplete.as_deref()),
            Field::Value(_, _) | Field::Editor(_) => false,
        }
    }

    /// What it holds now.
    fn held(&self) -> String {
        match self {
            Field::Input(node, _) | Field::Value(node, _) | Field::Area(node) => node.value(),
            Field::Editor(node) => clean(&node.inner_text().unwrap_or_default()),
        }
    }
}

/// Types into the target, perhaps followed by Enter, and tells what it holds then.
pub(super) async fn type_text(
    act: &Act<'_>,
    text: &str,
    mode: TypeMode,
    submit: bool,
) -> Result<Vec<Evidence>, Failure> {
    let field = field(act)?;
    let value = match &field {
        Field::Value(_, kind) => prepare_input(kind, text)?,
        Field::Input(_, _) | Field::Area(_) | Field::Editor(_) => text.to_owned(),
    };
    let (_place, highlight) = act.reach(field.node(), Cover::Loose).await?;
    let watch = Watch::start(other_root(field.node()).as_ref());
    events::focus(field.node());
    let before = field.held();
    match &field {
        Field::Value(node, _) => set_value(node, &value),
        Field::Input(node, _) => {
            insert(node, &value, &before, mode, value.chars().count() <= KEYED_CHARS_MAX)
        }
        Field::Area(node) => insert(node, &value, &before, mode, false),
        Field::Editor(node) => edit(node, &value, mode).await,
    }
    let meant = meant(&field, &before, &value, mode);
    let mut evidence = Vec::new();
    if submit {
        // What the field took is judged before the page may clear it.
        evidence.push(judge_held(act, &field, &meant)?);
        evidence.extend(press_enter(field.node()));
        act.effects.settle(&watch, act.wanted, || false).await;
    } else {
        act.effects.settle(&watch, act.wanted, || field.held() != before).await;
        // A page that takes the text back does so while it settles.
        evidence.push(judge_held(act, &field, &meant)?);
    }
    drop(watch);
    drop(highlight);
    Ok(evidence)
}

/// The field that a ref names: itself, its label's control, or the only one in it.
fn field(act: &Act<'_>) -> Result<Field, Failure> {
    let element = act.element.control().unwrap_or_else(|| act.element.clone());
    if let Some(field) = as_field(act, &element)? {
        return Ok(field);
    }
    let selector = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]),textarea,\
                    [contenteditable=\"\"],[contenteditable=true],[contenteditable=plaintext-only]";
    let inside = element.query_all(selector);
    let root = dom::shadow_root_of(&element).map(|root| root.query_all(selector));
    let only = match (inside.len(), root.as_ref().map_or(0, dom::List::len)) {
        (1, 0) => inside.item(0),
        (0, 1) => root.and_then(|root| root.item(0)),
        (_, _) => None,
    };
    match only {
        Some(only) => as_field(act, &only)?.ok_or_else(|| not_editable(act)),
        None => Err(not_editable(act)),
    }
}

fn not_editable(act: &Act<'_>) -> Failure {
    Failure::new(
        Code::NotEditable,
        format!(
            "{} takes no text. Nothing was done. Choose a textbox, searchbox or combobox from the snapshot; if a field appears only after a click, click first.",
            act.called
        ),
    )
}

fn as_field(act: &Act<'_>, element: &Node) -> Result<Option<Field>, Failure> {
    let field = match dom::tag_of(element).as_str() {
        "input" => {
            let kind = dom::get(element, "type").as_string().unwrap_or_default();
            let named =
                |failure: Failure| Failure::new(failure.code, format!("{}: {}", act.called, failure.message));
            match typing_for(&kind).map_err(named)? {
                Typing::Text => Field::Input(element.clone(), kind),
                Typing::Value => Field::Value(element.clone(), kind),
            }
        }
        "textarea" => Field::Area(element.clone()),
        _ if element.is_content_editable() == Some(true) => {
            let selector = "[contenteditable=\"\"],[contenteditable=true],[contenteditable=plaintext-only]";
            Field::Editor(element.closest(selector).unwrap_or_else(|| element.clone()))
        }
        _ => return Ok(None),
    };
    let read_only = !matches!(field, Field::Editor(_)) && element.read_only();
    if read_only || element.attribute(&JsValue::from_str("aria-readonly")).as_deref() == Some("true") {
        return Err(Failure::new(
            Code::NotEditable,
            format!(
                "{} is read-only. Nothing was done. If it opens a picker, click it and choose there.",
                act.called
            ),
        ));
    }
    Ok(Some(field))
}

fn meant(field: &Field, before: &str, text: &str, mode: TypeMode) -> String {
    match (field, mode) {
        (Field::Value(_, _), _) | (_, TypeMode::Replace) => text.to_owned(),
        (_, TypeMode::Append) => format!("{before}{text}"),
    }
}

/// Sets a value in the field's own format, past a page's own accessors, with the events of a picker.
fn set_value(node: &Node, value: &str) {
    let view = dom::view_of(node);
    let class = if dom::tag_of(node) == "textarea" { "HTMLTextAreaElement" } else { "HTMLInputElement" };
    // What the setter refuses is seen when the value is read back.
    let _ = dom::set_native(&view, class, "value", node, &JsValue::from_str(value));
    events::plain_composed(node, "input");
    events::plain(node, "change");
}

/// Inserts text into an `input` or `textarea` where the caret is put by the mode.
fn insert(node: &Node, text: &str, before: &str, mode: TypeMode, by_keys: bool) {
    let document = node.owner_document().unwrap_or_else(dom::document);
    let placed = match mode {
        TypeMode::Replace => node.select().is_ok(),
        TypeMode::Append => {
            let end = u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX);
            node.set_selection_range(end, end).is_ok()
        }
    };
    if placed {
        if text.is_empty() {
            if mode == TypeMode::Replace && !before.is_empty() {
                edit_command(&document, node, "delete", "deleteContentBackward", None);
            }
        } else if by_keys {
            for c in text.chars() {
                type_key(&document, node, c);
            }
        } else {
            edit_command(&document, node, "insertText", "insertText", Some(text));
        }
    }
    let whole = match mode {
        TypeMode::Replace => text.to_owned(),
        TypeMode::Append => format!("{before}{text}"),
    };
    // Where the browser's own editing does nothing, the value is set as its own script would.
    let ignored = node.value() == before && whole != before;
    if ignored && events::input(node, "beforeinput", "insertText", Some(text)) {
        let view = dom::view_of(node);
        let class = if dom::tag_of(node) == "textarea" { "HTMLTextAreaElement" } else { "HTMLInputElement" };
        let _ = dom::set_native(&view, class, "value", node, &JsValue::from_str(&whole));
        events::input(node, "input", "insertText", Some(text));
    }
    events::plain(node, "change");
}

/// One key: a page may keep it for itself, and then nothing is inserted.
fn type_key(document: &Node, node: &Node, c: char) {
    let key = c.to_string();
    let (code, key_code) = code_of(c);
    if events::key(node, "keydown", &key, &code, key_code)
        && events::key(node, "keypress", &key, &code, u32::from(c))
    {
        edit_command(document, node, "insertText", "insertText", Some(&key));
    }
    events::key(node, "keyup", &key, &code, key_code);
}

fn code_of(c: char) -> (String, u32) {
    match c {
        'a'..='z' | 'A'..='Z' => {
            let upper = c.to_ascii_uppercase();
            (format!("Key{upper}"), u32::from(upper))
        }
        '0'..='9' => (format!("Digit{c}"), u32::from(c)),
        ' ' => ("Space".to_owned(), 32),
        _ => (String::new(), 0),
    }
}

/// Edits a region through the browser's own editing, so that editors see what they see at a keyboard.
async fn edit(host: &Node, text: &str, mode: TypeMode) {
    let document = host.owner_document().unwrap_or_else(dom::document);
    if let Some(selection) = document.selection() {
        // A selection that cannot be made shows when the text is read back.
        let _ = selection.select_all_children(host);
        if mode == TypeMode::Append {
            let _ = selection.collapse_to_end();
        }
    }
    // Editors learn of the selection by an event that comes as a task.
    wait::next_task().await;
    wait::next_task().await;
    if text.is_empty() && mode == TypeMode::Replace {
        edit_command(&document, host, "delete", "deleteContentBackward", None);
    }
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            edit_command(&document, host, "insertParagraph", "insertParagraph", None);
        }
        if !line.is_empty() {
            edit_command(&document, host, "insertText", "insertText", Some(line));
        }
    }
}

/// One edit by the browser. It announces only edits of the user, so the announcement is made here; an editor that
/// takes it over makes the edit itself.
fn edit_command(document: &Node, target: &Node, command: &str, input_type: &str, data: Option<&str>) {
    if events::input(target, "beforeinput", input_type, data) {
        // An edit that was refused shows when the field is read back.
        let _ = document.exec_command(command, false, data.unwrap_or_default());
    }
}

/// Compares what the field holds with what was meant.
fn judge_held(act: &Act<'_>, field: &Field, meant: &str) -> Result<Evidence, Failure> {
    let (meant, held) = match field {
        Field::Editor(_) => (clean(meant), field.held()),
        Field::Input(_, _) | Field::Value(_, _) | Field::Area(_) => (meant.to_owned(), field.held()),
    };
    let secret = field.is_secret();
    match check_held(&meant, &held, secret) {
        Held::Same if secret => Ok(Evidence::StateReached("the field holds the text".to_owned())),
        Held::Same => Ok(Evidence::StateReached(format!(
            "the field holds \"{}\"",
            panelot_content::clean::shorten(&clean(&held), 200)
        ))),
        Held::Reshaped(words) if letters(&meant) == letters(&held) => {
            Ok(Evidence::StateReached(format!("the page formatted the text: the field holds {words}")))
        }
        Held::Reshaped(words) => Ok(Evidence::StateDiffers(format!(
            "the field holds {words}, which is not the text that was typed"
        ))),
        Held::Nothing => Err(Failure::new(
            Code::L1NotEffective,
            format!(
                "{} did not take the text and is empty now. If a tool for trusted input is offered, try it once; else ask the user to type it.",
                act.called
            ),
        )),
    }
}

/// What stays of a text that a mask formats.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Presses Enter; a form is submitted once, as the browser would, unless the page kept the key for itself.
fn press_enter(node: &Node) -> Vec<Evidence> {
    let down = events::key(node, "keydown", "Enter", "Enter", 13);
    let kept = !(down && events::key(node, "keypress", "Enter", "Enter", 13));
    let mut evidence = Vec::new();
    if kept {
        evidence.push(Evidence::Prevented);
    } else if let Some(form) = node.form() {
        evidence.push(submit(&form));
    }
    events::key(node, "keyup", "Enter", "Enter", 13);
    evidence
}

/// Submits a form through its default button, or by itself where it has none.
fn submit(form: &Node) -> Evidence {
    let view = dom::view_of(form);
    let selector = "button:not([type]),button[type=submit],input[type=submit],input[type=image]";
    let found = dom::call_native1(&view, "Element", "querySelector", form, &JsValue::from_str(selector));
    let button = found.ok().filter(JsValue::is_object).map(JsCast::unchecked_into::<Node>);
    let seen = std::rc::Rc::new(std::cell::Cell::new(false));
    let flag = std::rc::Rc::clone(&seen);
    let listener = wasm_bindgen::closure::Closure::<dyn FnMut()>::new(move || flag.set(true));
    let _ = view.listen("submit", listener.as_ref().unchecked_ref(), true);
    let outcome = match &button {
        Some(button) if button.matches(&JsValue::from_str(":disabled")) => None,
        Some(button) => Some(dom::call_native(&view, "HTMLElement", "click", button)),
        None => Some(dom::call_native(&view, "HTMLFormElement", "requestSubmit", form)),
    };
    let _ = view.unlisten("submit", listener.as_ref().unchecked_ref(), true);
    if seen.get() {
        return Evidence::PageChanged("the form was submitted".to_owned());
    }
    if outcome.is_none() {
        return Evidence::StateDiffers("the form was not submitted: its button is disabled".to_owned());
    }
    let invalid = dom::call_native1(&view, "Element", "querySelector", form, &JsValue::from_str(":invalid"));
    let field = invalid.ok().filter(JsValue::is_object).map(JsCast::unchecked_into::<Node>);
    match field {
        Some(field) => {
            let message = dom::get(&field, "validationMessage").as_string().unwrap_or_default();
            Evidence::StateDiffers(format!(
                "the form was not submitted: {}: {}",
                crate::page::called(&field),
                clean(&message)
            ))
        }
        None => Evidence::Nothing,
    }
}
