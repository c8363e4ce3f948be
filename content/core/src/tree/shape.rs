//! Second pass over the items: empty containers go, single contents move up, repeats fold, dialogs come first.

use super::{Item, Kind, Zone};
use crate::facts::{PageFacts, States};
use crate::roles::Role;

/// Equal neighbours fold into one line from this many on.
const FOLD_MIN: usize = 3;

/// The items as they will be told.
pub(super) fn shape(facts: &PageFacts, mut items: Vec<Item>) -> Vec<Item> {
    let kept = prune(&mut items);
    let items = compact(items, &kept);
    let items = fold_repeats(items);
    dialogs_first(facts, items)
}

/// Marks what stays. Contents come after their containers, so one backward pass sees contents first.
fn prune(items: &mut [Item]) -> Vec<bool> {
    let mut kept = vec![true; items.len()];
    let mut contents: Vec<Contents> = vec![Contents::default(); items.len()];
    for at in (0..items.len()).rev() {
        let Some(item) = items.get(at) else { continue };
        let inside = contents.get(at).copied().unwrap_or_default();
        let mut keep = true;
        let mut name = None;
        let only = inside.only();
        if inside.count == 0 && says_nothing(item) {
            keep = false;
        } else if let Some(child) = only.and_then(|child| items.get(child)) {
            if child.kind == Kind::Text && inside.leaf && (takes_text(item) || child.name == item.name) {
                name = Some(child.name.clone());
            } else if is_thin(item) {
                keep = false;
            }
        }
        if let Some(name) = name {
            if let Some(child) = only.and_then(|child| kept.get_mut(child)) {
                *child = false;
            }
            if let Some(own) = contents.get_mut(at) {
                *own = Contents::default();
            }
            if let Some(item) = items.get_mut(at) {
                item.name = name;
            }
        }
        let parent = items.get(at).and_then(|item| item.parent);
        let passed = contents.get(at).copied().unwrap_or_default();
        if let Some(above) = parent.and_then(|parent| contents.get_mut(parent)) {
            if keep {
                above.add(at, passed.count == 0);
            } else {
                above.take_over(passed);
            }
        }
        if let Some(flag) = kept.get_mut(at) {
            *flag = keep;
        }
    }
    kept
}

/// What a container holds after pruning.
#[derive(Clone, Copy, Default)]
struct Contents {
    count: u32,
    last: usize,
    /// Whether the last one holds nothing itself.
    leaf: bool,
}

impl Contents {
    fn add(&mut self, at: usize, leaf: bool) {
        self.count = self.count.saturating_add(1);
        self.last = at;
        self.leaf = leaf;
    }

    fn take_over(&mut self, inside: Contents) {
        if inside.count > 0 {
            self.count = self.count.saturating_add(inside.count);
            self.last = inside.last;
            self.leaf = inside.leaf;
        }
    }

    fn only(self) -> Option<usize> {
        (self.count == 1).then_some(self.last)
    }
}

fn says_nothing(item: &Item) -> bool {
    let Kind::Role(role) = item.kind else { return false };
    let shows_itself = matches!(role, Role::Iframe | Role::Canvas | Role::Video | Role::Audio);
    !item.actionable
        && !shows_itself
        && item.name.is_empty()
        && item.value.is_none()
        && item.options.is_none()
}

/// Containers whose single text may stand on their own line.
fn takes_text(item: &Item) -> bool {
    let Kind::Role(role) = item.kind else { return false };
    item.name.is_empty()
        && !item.actionable
        && matches!(
            role,
            Role::ListItem
                | Role::Cell
                | Role::GridCell
                | Role::ColumnHeader
                | Role::RowHeader
                | Role::Alert
                | Role::Status
                | Role::Note
                | Role::Log
                | Role::Timer
                | Role::Marquee
        )
}

/// Containers that say nothing when they hold one thing only.
fn is_thin(item: &Item) -> bool {
    let Kind::Role(role) = item.kind else { return false };
    item.name.is_empty()
        && !item.actionable
        && item.notes.is_empty()
        && matches!(role, Role::ListItem | Role::Cell | Role::GridCell | Role::ColumnHeader | Role::RowHeader)
}

/// Removes what was not kept; contents move up to the nearest container that was.
fn compact(items: Vec<Item>, kept: &[bool]) -> Vec<Item> {
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(items.len());
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    for (at, mut item) in items.into_iter().enumerate() {
        // The place of a removed item is that of its container, so that contents find it in one look.
        let parent = item.parent.and_then(|parent| moved.get(parent).copied().flatten());
        if kept.get(at).copied().unwrap_or(true) {
            item.depth = parent.and_then(|parent| out.get(parent)).map_or(0, |above| above.depth + 1);
            item.parent = parent;
            moved.push(Some(out.len()));
            out.push(item);
        } else {
            moved.push(parent);
        }
    }
    out
}

/// Runs of equal lines without a target become one line with a count.
fn fold_repeats(mut items: Vec<Item>) -> Vec<Item> {
    let leaf = leaves(&items);
    let mut kept = vec![true; items.len()];
    let mut start = 0;
    while start < items.len() {
        let mut end = start + 1;
        while end < items.len() && leaf.get(end) == Some(&true) && same(&items, start, end) {
            end += 1;
        }
        let run = end - start;
        if run >= FOLD_MIN && leaf.get(start) == Some(&true) {
            if let Some(first) = items.get_mut(start) {
                first.count = u32::try_from(run).unwrap_or(u32::MAX);
            }
            for flag in kept.iter_mut().take(end).skip(start + 1) {
                *flag = false;
            }
        }
        start = end;
    }
    compact(items, &kept)
}

fn leaves(items: &[Item]) -> Vec<bool> {
    let mut leaf = vec![true; items.len()];
    for item in items {
        if let Some(flag) = item.parent.and_then(|parent| leaf.get_mut(parent)) {
            *flag = false;
        }
    }
    leaf
}

fn same(items: &[Item], one: usize, other: usize) -> bool {
    match (items.get(one), items.get(other)) {
        (Some(one), Some(other)) => {
            !one.wants_ref()
                && one.kind == other.kind
                && one.parent == other.parent
                && one.name == other.name
                && one.value == other.value
                && one.notes == other.notes
        }
        (_, _) => false,
    }
}

/// Open dialogs are told first. Behind one that blocks the rest, the rest is one line.
fn dialogs_first(facts: &PageFacts, items: Vec<Item>) -> Vec<Item> {
    let mut in_dialog: Vec<bool> = Vec::with_capacity(items.len());
    let mut blocked = false;
    for item in &items {
        let inside = item.parent.is_some_and(|parent| in_dialog.get(parent) == Some(&true));
        in_dialog.push(inside || is_dialog(item));
        blocked |= is_dialog(item)
            && facts.element(item.node).is_some_and(|element| element.states.has(States::MODAL));
    }
    if !in_dialog.contains(&true) {
        return items;
    }
    let mut moved: Vec<Option<usize>> = vec![None; items.len()];
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    let behind = in_dialog.iter().filter(|inside| !**inside).count();
    for dialogs in [true, false] {
        if !dialogs && blocked {
            if let Some(item) = items.first().filter(|_| behind > 0) {
                out.push(remark_behind(item, behind));
            }
            break;
        }
        for (at, item) in items.iter().enumerate() {
            if in_dialog.get(at) != Some(&dialogs) {
                continue;
            }
            let mut item = item.clone();
            item.parent = item.parent.and_then(|parent| moved.get(parent).copied().flatten());
            item.depth = item.parent.and_then(|parent| out.get(parent)).map_or(0, |above| above.depth + 1);
            if let Some(place) = moved.get_mut(at) {
                *place = Some(out.len());
            }
            out.push(item);
        }
    }
    out
}

fn is_dialog(item: &Item) -> bool {
    match item.kind {
        Kind::Role(role) => role.is_dialog(),
        Kind::Clickable | Kind::Text | Kind::UnseenText | Kind::Remark => false,
    }
}

fn remark_behind(like: &Item, behind: usize) -> Item {
    Item {
        kind: Kind::Remark,
        name: format!(
            "the page behind the modal dialog does not react until the dialog is closed: {behind} lines not shown"
        ),
        notes: Vec::new(),
        value: None,
        options: None,
        url: None,
        count: 1,
        node: like.node,
        parent: None,
        depth: 0,
        zone: Zone::Dialog,
        actionable: false,
    }
}
