//! What of a large page is walked: the part around the viewport; the rest is counted by the browser.

use super::{Context, Frame};
use crate::dom::{self, Node};
use crate::tags::Kind;
use panelot_content::facts::{PageFacts, Unread};
use panelot_content::roles;
use std::cell::Cell;

/// A page with more elements than this is walked only around the viewport, unless a larger reading is asked for.
const WHOLE_ELEMENTS_MIN: u32 = 2_500;
/// A page with more elements than this is never walked whole.
const WHOLE_ELEMENTS_MAX: u32 = 20_000;
/// Containers with at least this many children are searched for the part that is near.
const LONG_CHILDREN_MIN: u32 = 40;
/// Containers with at least this many children are measured to see whether they are near at all.
const MEASURED_CHILDREN_MIN: u32 = 6;
/// Steps past an element without a box while searching.
const BOXLESS_STEPS_MAX: u32 = 8;

/// At most this many layers are walked before the page.
const LAYERS_MAX: u32 = 16;
/// What may lie over the page.
const LAYERS: &str = "dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true],[popover],[role=menu]";

/// The part of a page that is walked.
pub(super) struct Part {
    /// Top and bottom in viewport coordinates; none for the whole page.
    range: Option<(f64, f64)>,
    skipped: Cell<bool>,
}

impl Part {
    /// Everything.
    pub(super) fn whole() -> Part {
        Part { range: None, skipped: Cell::new(false) }
    }

    /// The viewport, as much above it and twice as much below it, if the page has more elements than a reading of
    /// `tokens_max` could tell: each that is told takes at least a token.
    pub(super) fn measure(facts: &PageFacts, tokens_max: u32) -> Part {
        let count = dom::document().by_tag("*").len();
        let height = facts.viewport_height;
        let whole_max = tokens_max.clamp(WHOLE_ELEMENTS_MIN, WHOLE_ELEMENTS_MAX);
        let range = (count > whole_max).then_some((-height, 3.0 * height));
        Part { range, skipped: Cell::new(false) }
    }

    /// Dialogs and what else lies over a large page, outermost only; none of a page that is walked whole.
    pub(super) fn layers(&self) -> Vec<Node> {
        let Some((top, _)) = self.range else { return Vec::new() };
        let document = dom::document();
        let found = document.query_all(LAYERS);
        let mut layers: Vec<Node> =
            (0..found.len().min(LAYERS_MAX)).filter_map(|at| found.item(at)).collect();
        // The part begins one viewport's height above the viewport.
        let middle = document.element_from_point(dom::window().inner_width() / 2.0, -top / 2.0);
        layers.extend(middle.and_then(|node| fixed_around(&node)));
        let outermost = |at: usize, node: &Node| {
            !layers.iter().enumerate().any(
                |(other, layer)| {
                    if layer == node { other < at } else { layer.contains(node) }
                },
            )
        };
        layers
            .iter()
            .enumerate()
            .filter(|(at, node)| outermost(*at, node))
            .map(|(_, node)| node.clone())
            .collect()
    }

    /// Whether the page is walked whole, whatever it costs to tell.
    pub(super) fn is_whole(&self) -> bool {
        self.range.is_none()
    }

    /// Whether anything was left out.
    pub(super) fn has_skipped(&self) -> bool {
        self.skipped.get()
    }

    /// Whether a container lies wholly outside of the part.
    pub(super) fn skips(&self, node: &Node, kind: Kind) -> bool {
        let Some((top, bottom)) = self.range else { return false };
        if !matches!(kind, Kind::Host | Kind::Plain | Kind::Custom)
            || node.child_element_count() < MEASURED_CHILDREN_MIN
        {
            return false;
        }
        let rect = node.bounding_rect();
        let (y, height) = (rect.y(), rect.height());
        let outside = height > 0.0 && (y + height < top || y > bottom);
        if outside {
            self.skipped.set(true);
        }
        outside
    }

    /// The children of a container that are to be walked.
    pub(super) fn frame(&self, node: &Node, context: Context) -> Option<Frame> {
        let Some((top, bottom)) = self.range else {
            return Some(Frame::siblings(node.first_child()?, context));
        };
        let count = node.child_element_count();
        if count < LONG_CHILDREN_MIN {
            return Some(Frame::siblings(node.first_child()?, context));
        }
        let children = node.children();
        // Boxes of a long container follow each other; the first that reaches into the part is found by halving.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            match lower_edge(&children, middle, count) {
                Some(edge) if edge < top => low = middle + 1,
                Some(_) | None => high = middle,
            }
        }
        let mut near = Vec::new();
        // What headers and sticky rows say belongs to every part.
        near.extend(children.item(0).filter(|_| low > 0));
        let mut at = low;
        while let Some(child) = children.item(at) {
            if at > low && child.bounding_rect().y() > bottom {
                break;
            }
            near.push(child);
            at += 1;
        }
        if low > 1 || at < count {
            self.skipped.set(true);
        }
        Some(Frame::list(near, context))
    }
}

/// The outermost element around a node that stays in place when the page is scrolled.
fn fixed_around(node: &Node) -> Option<Node> {
    /// Deeper nesting is not followed.
    const DEPTH_MAX: u32 = 256;
    let mut found = None;
    let mut next = Some(node.clone());
    for _ in 0..DEPTH_MAX {
        let Some(current) =
            next.filter(|node| dom::tag_of(node) != "body" && node.node_type() == dom::ELEMENT_NODE)
        else {
            break;
        };
        if dom::window().computed_style(&current).get("position") == "fixed" {
            found = Some(current.clone());
        }
        next = dom::flat_parent(&current);
    }
    found
}

/// The lower edge of a child, or of the next one that has a box.
fn lower_edge(children: &dom::List, at: u32, count: u32) -> Option<f64> {
    (at..count.min(at.saturating_add(BOXLESS_STEPS_MAX))).find_map(|at| {
        let rect = children.item(at)?.bounding_rect();
        let (height, width) = (rect.height(), rect.width());
        (height > 0.0 || width > 0.0).then(|| rect.y() + height)
    })
}

/// What was left out, by the browser's own count of the page less what was read.
pub(super) fn unread(facts: &PageFacts, read: u32) -> Unread {
    let document = dom::document();
    let all = |selector: &str| document.query_all(selector).len();
    let mut seen = Unread::default();
    for (index, role) in facts.iter().map(|(index, _)| index).zip(roles::roles(facts)) {
        let Some(element) = facts.element(index) else { continue };
        match element.tag.as_ref() {
            "a" if role == roles::Role::Link => seen.links += 1,
            "button" | "input" | "select" | "textarea" => seen.controls += 1,
            "tr" => seen.rows += 1,
            _ => {}
        }
    }
    Unread {
        elements: document.by_tag("*").len().saturating_sub(read),
        links: all("a[href]").saturating_sub(seen.links),
        controls: all("button,input,select,textarea").saturating_sub(seen.controls),
        rows: document.by_tag("tr").len().saturating_sub(seen.rows),
    }
}
