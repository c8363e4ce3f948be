//! How near a part of the page is to what the user sees, which is the order in which a budget is spent.

use crate::facts::{PageFacts, Rect, States};
use crate::roles::{self, Role};

/// Order of worth when not everything can be told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Zone {
    /// Inside of an open dialog or popup.
    Dialog,
    /// What has the focus.
    Focus,
    /// In the viewport.
    Viewport,
    /// Within one viewport's height of it.
    Near,
    /// Everything else.
    Rest,
}

/// The zone of every node, by position.
///
/// Only some elements are measured; one that is not takes the zone of the last measured one before it.
pub(super) fn zones(facts: &PageFacts, roles: &[Role]) -> Vec<Zone> {
    let mut zones: Vec<Option<Zone>> = Vec::with_capacity(facts.len());
    let mut last = None;
    for (index, _) in facts.iter() {
        let element = facts.element(index);
        if let Some(rect) = element.and_then(|element| element.rect) {
            last = Some(by_rect(facts, rect));
        }
        zones.push(last);
    }
    let mut next = Zone::Viewport;
    for zone in zones.iter_mut().rev() {
        next = *zone.get_or_insert(next);
    }
    let mut zones: Vec<Zone> = zones.into_iter().map(|zone| zone.unwrap_or(Zone::Rest)).collect();
    for (index, node) in facts.iter() {
        let above = node.parent.and_then(|parent| zones.get(parent.get()).copied());
        let Some(own) = zones.get_mut(index.get()) else { continue };
        let states = facts.element(index).map_or(States::NONE, |element| element.states);
        if above == Some(Zone::Dialog) || is_open_layer(roles::at(roles, index), states) {
            *own = Zone::Dialog;
        } else if states.has(States::FOCUSED) {
            *own = Zone::Focus;
        }
    }
    zones
}

fn is_open_layer(role: Role, states: States) -> bool {
    role.is_dialog() || role == Role::Menu || states.has(States::POPOVER) || states.has(States::MODAL)
}

fn by_rect(facts: &PageFacts, rect: Rect) -> Zone {
    let (height, width) = (facts.viewport_height, facts.viewport_width);
    let (bottom, right) = (rect.y + rect.height, rect.x + rect.width);
    let reaches = |margin: f64| bottom > -margin && rect.y < height + margin;
    if reaches(0.0) && right > 0.0 && rect.x < width {
        Zone::Viewport
    } else if reaches(height) {
        Zone::Near
    } else {
        Zone::Rest
    }
}
