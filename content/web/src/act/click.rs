//! Clicking.

use super::Act;
use super::events::{self, Gesture, Mouse};
use super::place::Cover;
use crate::dom::{self, Node};
use crate::wait::Watch;
use panelot_content::action::{Code, Evidence, Failure};
use panelot_protocol::content::MouseButton;
use wasm_bindgen::JsValue;

/// Clicks the target once (or as often as the gesture says) and tells what was seen.
pub(super) async fn click(act: &Act<'_>, gesture: &Gesture) -> Result<Vec<Evidence>, Failure> {
    refuse_native_popups(act, gesture)?;
    let aim = aim(act);
    let (place, highlight) = act.reach(&aim, Cover::Strict).await?;
    let before = State::of(&act.element);
    let watch = Watch::start(other_root(&aim).as_ref());
    let mouse = Mouse::new(&aim, place.point, gesture);
    mouse.hover();
    let mut kept = false;
    for detail in 1..=gesture.count {
        kept |= !mouse.press(detail, || focus_around(&aim));
        if detail == 2 && gesture.button == MouseButton::Left {
            mouse.double();
        }
    }
    act.effects.settle(&watch, act.wanted, || State::of(&act.element) != before).await;
    drop(watch);
    drop(highlight);
    let mut evidence = State::of(&act.element).compared(&before);
    if kept {
        evidence.push(Evidence::Prevented);
    }
    Ok(evidence)
}

/// Lists and pickers of the browser's own do not open by a synthetic click.
fn refuse_native_popups(act: &Act<'_>, gesture: &Gesture) -> Result<(), Failure> {
    if gesture.button != MouseButton::Left {
        return Ok(());
    }
    let tag = dom::tag_of(&act.element);
    let input_type = dom::get(&act.element, "type").as_string().unwrap_or_default();
    let advice = match (tag.as_str(), input_type.as_str()) {
        ("select", _) => {
            "Its list is the browser's own and does not open by click. Use select_option with the value or label."
        }
        ("option", _) => {
            "It is an option of the browser's own list. Use select_option on the list with its value or label."
        }
        ("input", "file") => {
            "It opens the browser's file dialog, which only the user can answer. Ask the user to choose the file."
        }
        ("input", "color" | "date" | "datetime-local" | "month" | "time" | "week") => {
            "Its picker is the browser's own and does not open by click. Use type with the value in the form that the snapshot shows."
        }
        _ => return Ok(()),
    };
    Err(Failure::new(Code::L1NotEffective, format!("{}: nothing was done. {advice}", act.called)))
}

/// A choice that the page hides under a drawing of its own is clicked through its label.
fn aim(act: &Act<'_>) -> Node {
    let element = &act.element;
    let checkable = matches!(dom::get(element, "type").as_string().as_deref(), Some("checkbox" | "radio"))
        && dom::tag_of(element) == "input";
    if !checkable {
        return element.clone();
    }
    let rect = element.bounding_rect();
    let small = rect.width() < 4.0 || rect.height() < 4.0;
    let clear = dom::view_of(element).computed_style(element).get("opacity") == "0";
    let label = element.labels().and_then(|labels| labels.item(0));
    match label {
        Some(label) if (small || clear) && dom::is_painted(&label) => label,
        Some(_) | None => element.clone(),
    }
}

/// The shadow root around an element, which an observer of the document does not see into.
pub(super) fn other_root(element: &Node) -> Option<Node> {
    let root = element.root_node();
    (root.node_type() == dom::FRAGMENT_NODE).then_some(root)
}

/// A press gives the focus to the nearest element that can have it.
fn focus_around(element: &Node) {
    let selector = "a[href],button,input,select,textarea,summary,[tabindex],[contenteditable]";
    if let Some(focusable) = element.closest(selector) {
        events::focus(&focusable);
    }
}

/// What a click can change on the target itself.
#[derive(PartialEq)]
struct State {
    checked: JsValue,
    aria: Vec<Option<String>>,
    open: bool,
    attached: bool,
}

/// States that a click toggles on elements of a page's own making.
const TOGGLED: [&str; 5] = ["aria-expanded", "aria-checked", "aria-pressed", "aria-selected", "aria-current"];

impl State {
    fn of(element: &Node) -> State {
        let control = element.control();
        let choice = control.as_ref().unwrap_or(element);
        let details = element.closest("details");
        State {
            checked: dom::get(choice, "checked"),
            aria: TOGGLED.iter().map(|name| element.attribute(&JsValue::from_str(name))).collect(),
            open: details.is_some_and(|details| details.open()),
            attached: element.is_connected(),
        }
    }

    fn compared(&self, before: &State) -> Vec<Evidence> {
        let mut evidence = Vec::new();
        if self.checked != before.checked
            && let Some(checked) = self.checked.as_bool()
        {
            evidence.push(Evidence::StateReached(
                if checked { "it is now checked" } else { "it is now unchecked" }.to_owned(),
            ));
        }
        for (name, (old, new)) in TOGGLED.iter().zip(before.aria.iter().zip(&self.aria)) {
            if old != new {
                let now = new.as_deref().unwrap_or("absent");
                evidence.push(Evidence::StateReached(format!(
                    "{name} is now {}",
                    panelot_content::clean::clean(now)
                )));
            }
        }
        if self.open != before.open {
            evidence.push(Evidence::StateReached(
                if self.open { "it is now open" } else { "it is now closed" }.to_owned(),
            ));
        }
        if before.attached && !self.attached {
            evidence.push(Evidence::PageChanged("the element left the page".to_owned()));
        }
        evidence
    }
}
