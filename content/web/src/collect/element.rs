//! Facts of one element: asked of it only where its tag and its attributes make them likely.

use super::{Asks, Context};
use crate::dom::{self, DOCUMENT_NODE, FRAGMENT_NODE, Node};
use crate::names::{COMMON, Names};
use crate::tags::Kind;
use panelot_content::facts::{Attr, ElementFacts, OptionFacts, States};
use panelot_content::privacy;
use panelot_content::roles::Role;
use std::borrow::Cow;
use std::cell::OnceCell;
use wasm_bindgen::JsValue;

/// Options of a `select` are read up to here; what follows is only counted, but for what is chosen.
const OPTIONS_READ_MAX: u32 = 24;
/// Options of a `select` are searched for chosen ones up to here.
const OPTIONS_SEARCHED_MAX: u32 = 2_000;
/// Values are read up to here, in characters.
const VALUE_CHARS_MAX: usize = 2_000;
/// An element refers to at most this many others.
const REFERENCES_MAX: usize = 32;

/// What was seen of one element.
pub(super) struct Seen {
    pub(super) facts: ElementFacts,
    pub(super) kind: Kind,
    pub(super) asks: Asks,
    /// Whether it can be operated.
    pub(super) target: bool,
}

/// How an element is painted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paint {
    /// As it should.
    Seen,
    /// Not itself, but perhaps something in it (`visibility: hidden`).
    Invisible,
    /// With nothing in it (`opacity: 0`).
    Transparent,
    /// Not rendered.
    Gone,
}

/// Facts of an element that is rendered, and what its content inherits.
pub(super) fn look(
    names: &Names,
    node: &Node,
    tag: Cow<'static, str>,
    kind: Kind,
    context: Context,
    active: Option<&Node>,
) -> Option<(Seen, Context)> {
    if kind == Kind::Form {
        return look_at_form(names, node, tag, context);
    }
    let mut below = context;
    let paint = if context.copy { Paint::Seen } else { paint(node, context) };
    match paint {
        Paint::Seen => below.invisible = false,
        Paint::Invisible => below.invisible = true,
        Paint::Transparent => below.transparent = true,
        Paint::Gone => return None,
    }
    let mut facts = ElementFacts::new(tag);
    let mut asks = Asks::default();
    let mut explicit_tabindex = false;
    if node.has_attributes() {
        if node.matches(&names.telling) {
            if !context.copy && (node.has_attribute(&names.inert) || is_aria_hidden(names, node)) {
                return None;
            }
            common_attributes(names, node, &mut facts);
            asks.labelled_by = node.has_attribute(&names.labelledby);
            explicit_tabindex = node.has_attribute(&names.tabindex);
            facts.states.add_if(node.has_attribute(&names.onclick), States::LISTENS);
            if node.has_attribute(&names.popover) {
                facts.states.add_if(node.matches(&names.popover_open), States::POPOVER);
            }
        }
        of_kind(names, node, kind, &mut facts, &mut asks);
    }
    if kind == Kind::Label && !context.copy {
        label(node, &mut facts);
    }
    if kind == Kind::Button {
        facts.states.add_if(node.disabled() || node.matches(&names.disabled), States::DISABLED);
    }
    if matches!(kind, Kind::Input | Kind::TextArea | Kind::Select) {
        control(names, node, kind, &mut facts);
        asks.labels = true;
    }
    focusable(node, kind, explicit_tabindex, &mut facts);
    if facts.attr(Attr::ContentEditable).is_some_and(|value| value != "false") {
        facts.states.add(States::EDITABLE);
    }
    let widget = is_widget(kind, &facts);
    let label = facts.states.has(States::LABELS);
    if !widget && !label && !context.in_target && !context.copy {
        pointer(names, node, context, &mut facts, &mut below);
    }
    let reacts = facts.states.has(States::POINTER) || facts.states.has(States::LISTENS);
    let target = !label && (widget || reacts);
    if below.transparent && !is_drawn_field(kind, &facts) {
        if context.transparent || !has_children(node) {
            return None;
        }
        // Only fields that the page draws itself matter inside of it.
        facts = ElementFacts::new(facts.tag);
        asks = Asks::default();
    }
    below.in_target = target || label || context.in_target;
    facts.states.add_if(below.invisible, States::INVISIBLE);
    if target {
        facts.states.add_if(active == Some(node), States::FOCUSED);
        generated(node, kind, context, &mut facts);
    }
    Some((Seen { facts, kind, asks, target: target && !below.transparent }, below))
}

/// A form's own properties may be shadowed by its fields; all that is asked goes through the prototype.
fn look_at_form(
    names: &Names,
    node: &Node,
    tag: Cow<'static, str>,
    context: Context,
) -> Option<(Seen, Context)> {
    let attribute = |name: &JsValue| {
        dom::call_native1(&dom::window(), "Element", "getAttribute", node, name).ok()?.as_string()
    };
    if !context.copy {
        let visible = dom::call_native(&dom::window(), "Element", "checkVisibility", node);
        let contents = || dom::window().computed_style(node).get("display") == "contents";
        if visible.is_ok_and(|visible| visible == JsValue::FALSE) && !contents() {
            return None;
        }
        if attribute(&names.inert).is_some() {
            return None;
        }
    }
    let mut facts = ElementFacts::new(tag);
    for attr in [Attr::Role, Attr::AriaLabel, Attr::AriaHidden, Attr::Title] {
        if let Some(value) = attribute(names.attr(attr)) {
            facts.attrs.push((attr, value));
        }
    }
    if facts.attr_is_true(Attr::AriaHidden) && !context.copy {
        return None;
    }
    let asks = Asks { labelled_by: attribute(&names.labelledby).is_some(), labels: false };
    Some((Seen { facts, kind: Kind::Form, asks, target: false }, context))
}

fn paint(node: &Node, context: Context) -> Paint {
    thread_local! {
        static ALL: OnceCell<js_sys::Object> = const { OnceCell::new() };
    }
    let all = |options: &OnceCell<js_sys::Object>| {
        let options = options.get_or_init(|| {
            dom::object(&[("opacityProperty", JsValue::TRUE), ("visibilityProperty", JsValue::TRUE)])
        });
        node.check_visibility_with(options)
    };
    if context.transparent {
        return if node.check_visibility() { Paint::Transparent } else { Paint::Gone };
    }
    if ALL.with(all) {
        return Paint::Seen;
    }
    let style = dom::view_of(node).computed_style(node);
    if !node.check_visibility() {
        // A box of its own is not needed to show one's children.
        let contents = style.get("display") == "contents";
        return if contents { Paint::Seen } else { Paint::Gone };
    }
    if style.get("visibility") == "visible" { Paint::Transparent } else { Paint::Invisible }
}

fn is_aria_hidden(names: &Names, node: &Node) -> bool {
    node.attribute(names.attr(Attr::AriaHidden)).is_some_and(|value| value.trim() == "true")
}

fn common_attributes(names: &Names, node: &Node, facts: &mut ElementFacts) {
    for &attr in COMMON {
        if let Some(value) = node.attribute(names.attr(attr)) {
            let global = matches!(
                attr,
                Attr::AriaLabel | Attr::AriaCurrent | Attr::AriaBusy | Attr::AriaDisabled | Attr::AriaInvalid
            );
            facts.states.add_if(global, States::GLOBAL_ARIA);
            facts.attrs.push((attr, value));
        }
    }
}

fn of_kind(names: &Names, node: &Node, kind: Kind, facts: &mut ElementFacts, asks: &mut Asks) {
    let mut take = |attr: Attr| {
        if let Some(value) = node.attribute(names.attr(attr)) {
            facts.attrs.push((attr, value));
        }
    };
    match kind {
        Kind::Link => {
            take(Attr::Href);
            if facts.attr(Attr::Href).is_some() {
                facts.url = node.href().as_string();
            }
        }
        Kind::Input => {
            for attr in [Attr::Type, Attr::Placeholder, Attr::Autocomplete, Attr::List, Attr::Alt] {
                take(attr);
            }
        }
        Kind::TextArea => {
            take(Attr::Placeholder);
            take(Attr::Autocomplete);
        }
        Kind::Select => {
            for attr in [Attr::Multiple, Attr::Size, Attr::Autocomplete] {
                take(attr);
            }
        }
        Kind::Button => asks.labels = false,
        Kind::Details => facts.states.add_if(node.open(), States::OPEN),
        Kind::Dialog => {
            facts.states.add_if(node.open(), States::OPEN);
            facts.states.add_if(node.matches(&names.modal), States::MODAL);
        }
        Kind::Opaque => opaque(node, facts),
        Kind::Plain => match facts.tag.as_ref() {
            "img" => take(Attr::Alt),
            "th" => take(Attr::Scope),
            "option" | "optgroup" => take(Attr::Label),
            _ => {}
        },
        Kind::Skip
        | Kind::Host
        | Kind::Custom
        | Kind::Summary
        | Kind::Slot
        | Kind::Svg
        | Kind::Form
        | Kind::Label => {}
    }
}

/// A label tells its control's name; where the control itself is not rendered, it stands for the control.
fn label(node: &Node, facts: &mut ElementFacts) {
    let Some(control) = node.control() else { return };
    if control.check_visibility() {
        facts.states.add(States::LABELS);
        return;
    }
    let role = match dom::get(&control, "type").as_string().as_deref() {
        Some("checkbox") => "checkbox",
        Some("radio") => "radio",
        Some(_) | None => return,
    };
    if facts.attr(Attr::Role).is_none() {
        facts.attrs.push((Attr::Role, role.to_owned()));
        facts.states.add(States::LISTENS);
        facts.states.add_if(control.checked(), States::CHECKED);
        facts.states.add_if(control.disabled(), States::DISABLED);
    }
}

fn opaque(node: &Node, facts: &mut ElementFacts) {
    match facts.tag.as_ref() {
        "progress" | "meter" => {
            let value = dom::get(node, "value").as_f64();
            let max = dom::get(node, "max").as_f64();
            if let (Some(value), Some(max)) = (value.filter(|_| has_value(node)), max) {
                facts.value = Some(format!("{value} of {max}"));
            }
        }
        "iframe" | "frame" => {
            facts.url = dom::get(node, "src").as_string().filter(|url| !url.is_empty());
        }
        _ => {}
    }
}

fn has_value(node: &Node) -> bool {
    node.has_attribute(&JsValue::from_str("value"))
}

fn control(names: &Names, node: &Node, kind: Kind, facts: &mut ElementFacts) {
    let states = &mut facts.states;
    states.add_if(node.disabled() || node.matches(&names.disabled), States::DISABLED);
    states.add_if(node.required(), States::REQUIRED);
    states.add_if(node.matches(&names.user_invalid), States::INVALID);
    let input_type = if kind == Kind::Input { facts.input_type() } else { String::new() };
    let checkable = matches!(input_type.as_str(), "checkbox" | "radio");
    let states = &mut facts.states;
    if checkable {
        states.add_if(node.checked(), States::CHECKED);
        states.add_if(node.indeterminate(), States::MIXED);
        return;
    }
    if kind == Kind::Select {
        if !privacy::is_secret(facts) {
            options(node, facts);
        }
        return;
    }
    states.add_if(node.read_only(), States::READONLY);
    if privacy::is_secret(facts) {
        // The value is compared where it is; it never crosses.
        let filled = dom::get(node, "value") != names.empty;
        facts.states.add_if(filled, States::FILLED);
        return;
    }
    let value = node.value();
    let kept: String = match value.char_indices().nth(VALUE_CHARS_MAX) {
        Some((cut, _)) => value
            .chars()
            .take(VALUE_CHARS_MAX)
            .chain(format!("… ({} bytes)", value.len() - cut).chars())
            .collect(),
        None => value,
    };
    // A button without a value shows the browser's own words.
    if !(kept.is_empty() && matches!(input_type.as_str(), "submit" | "reset")) {
        facts.value = Some(kept);
    }
}

fn options(node: &Node, facts: &mut ElementFacts) {
    let options = node.options();
    facts.option_count = options.len();
    for at in 0..facts.option_count.min(OPTIONS_SEARCHED_MAX) {
        let Some(option) = options.item(at) else { break };
        let selected = option.selected();
        if at < OPTIONS_READ_MAX || selected {
            facts.options.push(OptionFacts {
                label: option.label(),
                value: option.value(),
                selected,
                disabled: option.disabled(),
            });
        }
    }
}

fn focusable(node: &Node, kind: Kind, explicit_tabindex: bool, facts: &mut ElementFacts) {
    let natively = match kind {
        Kind::Input | Kind::TextArea | Kind::Select | Kind::Button | Kind::Summary => true,
        Kind::Link => facts.attr(Attr::Href).is_some(),
        Kind::Skip
        | Kind::Host
        | Kind::Plain
        | Kind::Label
        | Kind::Details
        | Kind::Dialog
        | Kind::Form
        | Kind::Slot
        | Kind::Opaque
        | Kind::Svg
        | Kind::Custom => false,
    };
    let chosen = explicit_tabindex && node.tab_index() >= 0;
    facts.states.add_if(natively || chosen, States::FOCUSABLE);
}

fn is_widget(kind: Kind, facts: &ElementFacts) -> bool {
    let by_role = facts
        .attr(Attr::Role)
        .and_then(|roles| {
            roles.split_ascii_whitespace().find_map(|role| Role::parse(&role.to_ascii_lowercase()))
        })
        .is_some_and(Role::is_widget);
    by_role
        || facts.states.has(States::FOCUSABLE)
        || facts.states.has(States::EDITABLE)
        || matches!(kind, Kind::Input | Kind::TextArea | Kind::Select | Kind::Button)
}

/// The cursor is inherited: the element where it begins to be a pointer is the one that was made to react.
fn pointer(names: &Names, node: &Node, context: Context, facts: &mut ElementFacts, below: &mut Context) {
    let is_pointer = dom::window().computed_style(node).cursor() == names.pointer;
    facts.states.add_if(is_pointer && !context.pointer && facts.tag != "body", States::POINTER);
    below.pointer = is_pointer;
}

/// Fields that pages hide under a drawing of their own but that still take the click.
fn is_drawn_field(kind: Kind, facts: &ElementFacts) -> bool {
    kind == Kind::Input && matches!(facts.input_type().as_str(), "checkbox" | "radio" | "file" | "range")
}

fn has_children(node: &Node) -> bool {
    node.first_child().is_some()
}

/// Generated text of a target that has no text of its own: icon buttons get their name from it.
fn generated(node: &Node, kind: Kind, context: Context, facts: &mut ElementFacts) {
    let named = facts.attr(Attr::AriaLabel).is_some() || facts.attr(Attr::Title).is_some();
    let empty = node.first_child().is_none_or(|child| child.next_sibling().is_none() && !has_text(&child));
    if context.copy || named || !empty || matches!(kind, Kind::Input | Kind::TextArea | Kind::Select) {
        return;
    }
    let view = dom::view_of(node);
    for (pseudo, place) in [("::before", &mut facts.before), ("::after", &mut facts.after)] {
        let content = view.pseudo_style(node, pseudo).get("content");
        *place = panelot_content::pseudo::text(&content);
    }
}

fn has_text(node: &Node) -> bool {
    node.text_content().is_some_and(|text| !text.trim().is_empty())
}

/// The elements that an attribute of ids names, in its order, each in the element's own tree.
pub(super) fn referenced(node: &Node, attribute: &JsValue) -> Vec<Node> {
    let ids = dom::call_native1(&dom::window(), "Element", "getAttribute", node, attribute);
    let Some(ids) = ids.ok().and_then(|ids| ids.as_string()) else { return Vec::new() };
    let root = node.root_node();
    if !matches!(root.node_type(), DOCUMENT_NODE | FRAGMENT_NODE) {
        return Vec::new();
    }
    ids.split_ascii_whitespace().take(REFERENCES_MAX).filter_map(|id| root.element_by_id(id)).collect()
}

/// The native labels of a control.
pub(super) fn labels(node: &Node) -> Vec<Node> {
    let Some(labels) = node.labels() else { return Vec::new() };
    let count = labels.len().min(u32::try_from(REFERENCES_MAX).unwrap_or(u32::MAX));
    (0..count).filter_map(|at| labels.item(at)).collect()
}
