//! Where an element is, and whether it receives what happens there.

use super::events::Point;
use crate::dom::{self, DOCUMENT_NODE, ELEMENT_NODE, FRAGMENT_NODE, Node};
use crate::page;
use crate::wait::{self, Wanted};
use panelot_content::action::{Code, Failure, Target, check_target};
use panelot_content::facts::Rect;
use wasm_bindgen::{JsCast, JsValue};

/// A moving element is looked at this often before it is given up.
const LOOKS_MAX: u32 = 12;
/// Time between two looks: one frame of a slow display.
const LOOK_MS: f64 = 17.0;
/// Positions closer than this are the same, in CSS pixels.
const MOVED_MIN: f64 = 0.5;

/// Where an element is acted on.
pub(crate) struct Place {
    pub(crate) rect: Rect,
    pub(crate) point: Point,
}

/// What counts as covering a target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    /// Everything that is not the target, in it, or its label.
    Strict,
    /// Decorations beside a field, such as a floating label, do not count.
    Loose,
}

/// Scrolls to an element, waits until it rests, and checks that it can be acted on.
///
/// # Errors
/// The failure that names the obstacle.
pub(crate) async fn reach(
    element: &Node,
    called: &str,
    cover: Cover,
    wanted: &Wanted,
) -> Result<Place, Failure> {
    let facts = Target { called: called.to_owned(), ..state(element) };
    // What is wrong with the element itself is said before the page is scrolled.
    check_target(&Target { width: 1.0, height: 1.0, in_view: true, ..facts.clone() })?;
    scroll_to(element, "nearest");
    rest(element, called, wanted).await?;
    let mut failure = None;
    for block in ["", "center", "start", "end"] {
        if !block.is_empty() {
            // What covers it may be a bar that stays at an edge.
            scroll_to(element, block);
        }
        let rect = box_of(element);
        let (point, hit) = hit(element, rect, cover);
        let target = Target {
            width: rect.width,
            height: rect.height,
            in_view: point.is_some(),
            cover: hit.as_ref().map(words),
            ..facts.clone()
        };
        match (check_target(&target), point) {
            (Ok(()), Some(point)) => return Ok(Place { rect, point }),
            (Err(found), _) => failure = failure.or(Some(found)),
            (Ok(()), None) => {}
        }
    }
    Err(failure.unwrap_or_else(|| {
        Failure::new(
            Code::NotVisible,
            format!("{called} has no place on the screen. Nothing was done. Read the page again."),
        )
    }))
}

/// What is known of an element without its place.
fn state(element: &Node) -> Target {
    Target {
        attached: element.is_connected(),
        rendered: dom::is_painted(element),
        disabled: element.matches(&JsValue::from_str(":disabled")),
        aria_disabled: around(element, "[aria-disabled=\"true\"]"),
        inert: around(element, "[inert]"),
        ..Target::default()
    }
}

/// Whether the element or one around it in the flat tree matches.
fn around(element: &Node, selector: &str) -> bool {
    /// Deeper nesting of shadow roots is not followed.
    const ROOTS_MAX: u32 = 64;
    let mut next = Some(element.clone());
    for _ in 0..ROOTS_MAX {
        let Some(node) = next else { return false };
        if node.closest(selector).is_some() {
            return true;
        }
        let root = node.root_node();
        next = if root.node_type() == FRAGMENT_NODE { root.host() } else { None };
    }
    false
}

fn scroll_to(element: &Node, block: &str) {
    element.scroll_into_view(&dom::object(&[
        ("block", block.into()),
        ("inline", "nearest".into()),
        ("behavior", "instant".into()),
    ]));
}

/// Waits until two looks see the element at the same place. Hidden pages do not move anything.
async fn rest(element: &Node, called: &str, wanted: &Wanted) -> Result<(), Failure> {
    if dom::document().hidden() {
        return Ok(());
    }
    let mut before = box_of(element);
    if !may_move(element) {
        return Ok(());
    }
    for _ in 0..LOOKS_MAX {
        wait::pause(LOOK_MS).await;
        let now = box_of(element);
        let moved =
            [(before.x, now.x), (before.y, now.y), (before.width, now.width), (before.height, now.height)]
                .iter()
                .any(|(old, new)| (old - new).abs() > MOVED_MIN);
        if !moved || !wanted.holds() {
            return Ok(());
        }
        before = now;
    }
    Err(Failure::new(
        Code::NotStable,
        format!("{called} keeps moving. Nothing was done. Wait for the animation to end, then try again."),
    ))
}

/// Whether anything on the page is being animated; where nothing is, there is nothing to wait for.
fn may_move(element: &Node) -> bool {
    let document = element.owner_document().unwrap_or_else(dom::document);
    let animations = dom::get(&document, "getAnimations").dyn_into::<js_sys::Function>();
    let running = animations.and_then(|list| list.call0(&document));
    match running {
        Ok(list) => js_sys::Array::from(&list).iter().any(|animation| moves(&animation, element)),
        Err(_) => true,
    }
}

fn moves(animation: &JsValue, element: &Node) -> bool {
    let target = dom::get(&dom::get(animation, "effect"), "target");
    let running = dom::get(animation, "playState").as_string().is_none_or(|state| state == "running");
    running && target.is_object() && target.unchecked_ref::<Node>().contains(element)
}

/// The box of an element; of one that is broken over lines, the first that can be hit.
fn box_of(element: &Node) -> Rect {
    let rects = element.client_rects();
    let found = (0..rects.len().min(8)).filter_map(|at| rects.rect(at)).map(|found| rect(&found));
    let first = found.into_iter().find(|rect| rect.width >= 1.0 && rect.height >= 1.0);
    first.unwrap_or_else(|| rect(&element.bounding_rect()))
}

fn rect(found: &dom::DomRect) -> Rect {
    Rect { x: found.x(), y: found.y(), width: found.width(), height: found.height() }
}

/// A point of the element that is in view, and what receives events there instead of it.
fn hit(element: &Node, rect: Rect, cover: Cover) -> (Option<Point>, Option<Node>) {
    let view = dom::view_of(element);
    let (right, bottom) =
        ((rect.x + rect.width).min(view.inner_width()), (rect.y + rect.height).min(view.inner_height()));
    let (left, top) = (rect.x.max(0.0), rect.y.max(0.0));
    if right - left < 1.0 || bottom - top < 1.0 {
        return (None, None);
    }
    let root = element.root_node();
    if !matches!(root.node_type(), DOCUMENT_NODE | FRAGMENT_NODE) {
        return (None, None);
    }
    let mut first = None;
    for (part_x, part_y) in
        [(0.5, 0.5), (0.25, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75), (0.1, 0.1), (0.9, 0.9)]
    {
        let point = Point { x: left + (right - left) * part_x, y: top + (bottom - top) * part_y };
        match root.element_from_point(point.x, point.y) {
            Some(found) if receives(element, &found, cover) => return (Some(point), None),
            found => {
                first.get_or_insert((point, found));
            }
        }
    }
    match first {
        Some((point, Some(found))) => (Some(point), Some(found)),
        // Nothing at all is there: clipped away by a container.
        Some((_, None)) | None => (None, None),
    }
}

/// Whether what is hit stands for the element.
fn receives(element: &Node, found: &Node, cover: Cover) -> bool {
    if found == element || element.contains(found) || found.contains(element) {
        return true;
    }
    // A slotted child is in the light tree, its slot's owner around it.
    let mut next = dom::flat_parent(found);
    for _ in 0..64 {
        match next {
            Some(above) if above == *element => return true,
            Some(above) => next = dom::flat_parent(&above),
            None => break,
        }
    }
    let label = found.closest("label").and_then(|label| label.control());
    if label.as_ref() == Some(element) || element.control().as_ref() == Some(found) {
        return true;
    }
    if cover == Cover::Loose {
        let around = element.parent_element().and_then(|parent| parent.parent_element().or(Some(parent)));
        return around.is_some_and(|around| around.contains(found) && dom::tag_of(&around) != "body");
    }
    false
}

/// What covers, in words: the dialog that it belongs to, else itself.
fn words(found: &Node) -> String {
    let dialog = found.closest("dialog,[role=dialog],[role=alertdialog],[aria-modal=true]");
    let named = dialog.as_ref().unwrap_or(found);
    let words = page::called(named);
    if named.node_type() == ELEMENT_NODE && words.is_empty() { dom::tag_of(named) } else { words }
}
