//! What of a page is told within a token budget, and what is only counted.

use crate::render;
use crate::roles::Role;
use crate::tokens::{self, centitokens};
use crate::tree::{Item, Kind, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What was not told, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Links.
    pub links: u32,
    /// Buttons, tabs, menu items and clickable elements.
    pub buttons: u32,
    /// Fields, choices and sliders.
    pub fields: u32,
    /// Table rows.
    pub rows: u32,
    /// List items.
    pub items: u32,
    /// Headings and text.
    pub texts: u32,
    /// Everything else.
    pub others: u32,
}

impl Counts {
    fn add(&mut self, item: &Item) {
        let place = match item.kind {
            Kind::Clickable => &mut self.buttons,
            Kind::Text | Kind::UnseenText => &mut self.texts,
            Kind::Remark => &mut self.others,
            Kind::Role(Role::Link) => &mut self.links,
            Kind::Role(Role::Row) => &mut self.rows,
            Kind::Role(Role::ListItem) => &mut self.items,
            Kind::Role(Role::Heading) => &mut self.texts,
            Kind::Role(role) if is_field(role) => &mut self.fields,
            Kind::Role(_) if item.actionable => &mut self.buttons,
            Kind::Role(_) => &mut self.others,
        };
        *place = place.saturating_add(item.count);
    }

    /// The kinds in words; empty when nothing was left out.
    #[must_use]
    pub fn words(&self) -> String {
        let mut out = String::new();
        for (count, one, many) in [
            (self.rows, "row", "rows"),
            (self.items, "list item", "list items"),
            (self.links, "link", "links"),
            (self.buttons, "button", "buttons"),
            (self.fields, "field", "fields"),
            (self.texts, "text", "texts"),
            (self.others, "other", "others"),
        ] {
            if count > 0 {
                let comma = if out.is_empty() { "" } else { ", " };
                let _ = write!(out, "{comma}{count} {}", if count == 1 { one } else { many });
            }
        }
        out
    }
}

fn is_field(role: Role) -> bool {
    matches!(
        role,
        Role::Textbox
            | Role::Searchbox
            | Role::Combobox
            | Role::Listbox
            | Role::Checkbox
            | Role::Radio
            | Role::Switch
            | Role::Slider
            | Role::SpinButton
    )
}

/// What is told, and where something was cut.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// For each item whether it is told.
    pub shown: Vec<bool>,
    /// For each container, or none for the whole page, what it holds that is not told.
    pub cuts: BTreeMap<Option<usize>, Counts>,
}

/// Chooses what to tell so that the text, refs and cut lines included, stays within `tokens_max`.
///
/// `ref_cost` is what one ref costs; `reserve` is kept free for lines that are added later. Both are in
/// hundredths of a token.
#[must_use]
pub fn select(tree: &Tree, tokens_max: u32, ref_cost: u32, reserve: u32) -> Selection {
    let budget = tokens::budget(tokens_max).saturating_sub(reserve);
    let costs: Vec<u32> = tree.items.iter().map(|item| cost(item, ref_cost)).collect();
    let holders = holders(tree);
    let total = costs.iter().fold(0u32, |sum, cost| sum.saturating_add(*cost));
    if total <= budget {
        return Selection { shown: vec![true; tree.items.len()], cuts: BTreeMap::new() };
    }
    let mut order: Vec<usize> = (0..tree.items.len()).collect();
    order.sort_by_key(|&at| tree.items.get(at).map(|item| (item.zone, !item.actionable, at)));
    let attempt = |count: usize| {
        let shown = show(tree, order.iter().take(count));
        let cuts = cuts(tree, &shown, &holders);
        let told = costs.iter().zip(&shown).filter(|(_, shown)| **shown);
        let told = told.fold(0u32, |sum, (cost, _)| sum.saturating_add(*cost));
        let lines = cuts
            .iter()
            .fold(0u32, |sum, (at, counts)| sum.saturating_add(cut_cost(tree, *at, *counts, ref_cost)));
        (told.saturating_add(lines) <= budget).then_some(Selection { shown, cuts })
    };
    let (mut fits, mut too_many) = (0, order.len());
    let mut best = None;
    while fits + 1 < too_many {
        let middle = fits + (too_many - fits) / 2;
        match attempt(middle) {
            Some(selection) => {
                best = Some(selection);
                fits = middle;
            }
            None => too_many = middle,
        }
    }
    best.unwrap_or_else(|| {
        let shown = vec![false; tree.items.len()];
        let cuts = cuts(tree, &shown, &holders);
        Selection { shown, cuts }
    })
}

fn cost(item: &Item, ref_cost: u32) -> u32 {
    let refs = if item.wants_ref() { ref_cost } else { 0 };
    centitokens(&render::line(item, None)).saturating_add(refs).saturating_add(indent_cost(item.depth))
}

fn indent_cost(depth: u32) -> u32 {
    // The line's end and its indentation.
    centitokens("\n").saturating_add(centitokens("  ").saturating_mul(depth.min(render::INDENT_MAX)))
}

fn cut_cost(tree: &Tree, at: Option<usize>, counts: Counts, ref_cost: u32) -> u32 {
    let item = at.and_then(|at| tree.items.get(at));
    let depth = item.map_or(0, |item| item.depth + 1);
    // A container that is cut shows its ref on its own line and again in the line about the cut.
    centitokens(&render::cut_line(counts, None))
        .saturating_add(ref_cost.saturating_mul(2))
        .saturating_add(indent_cost(depth))
}

/// Shows the chosen items together with what contains them.
fn show<'a>(tree: &Tree, chosen: impl Iterator<Item = &'a usize>) -> Vec<bool> {
    let mut shown = vec![false; tree.items.len()];
    for &at in chosen {
        let mut next = Some(at);
        while let Some(current) = next {
            match shown.get_mut(current) {
                Some(flag) if !*flag => *flag = true,
                Some(_) | None => break,
            }
            next = tree.items.get(current).and_then(|item| item.parent);
        }
    }
    shown
}

/// For each item the containers around it that may carry a cut line, nearest only.
fn holders(tree: &Tree) -> Vec<Option<usize>> {
    let mut holders: Vec<Option<usize>> = Vec::with_capacity(tree.items.len());
    for item in &tree.items {
        let holder = item.parent.and_then(|parent| {
            let above = tree.items.get(parent)?;
            if above.holds_cuts() { Some(parent) } else { holders.get(parent).copied().flatten() }
        });
        holders.push(holder);
    }
    holders
}

fn cuts(tree: &Tree, shown: &[bool], holders: &[Option<usize>]) -> BTreeMap<Option<usize>, Counts> {
    let mut cuts: BTreeMap<Option<usize>, Counts> = BTreeMap::new();
    for (at, item) in tree.items.iter().enumerate() {
        if shown.get(at) == Some(&true) {
            continue;
        }
        let mut holder = holders.get(at).copied().flatten();
        while let Some(above) = holder.filter(|above| shown.get(*above) != Some(&true)) {
            holder = holders.get(above).copied().flatten();
        }
        cuts.entry(holder).or_default().add(item);
    }
    cuts
}
