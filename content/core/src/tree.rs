//! Distils facts into the items that a model should read: containers that mean something, targets, text.

mod build;
mod shape;
mod zone;

pub use zone::Zone;

use crate::facts::{NodeIndex, PageFacts};
use crate::refs::Identity;
use crate::roles::Role;

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// An element with a role that is worth telling.
    Role(Role),
    /// An element without a role that reacts to a click.
    Clickable,
    /// Text in reading order.
    Text,
    /// Text that is in the page but that nobody sees.
    UnseenText,
    /// A remark of our own about the page, never words of the page.
    Remark,
}

/// One line of the page, with its place among the others.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its accessible name, or the text itself.
    pub name: String,
    /// Level, states and the like, in the order in which they are told.
    pub notes: Vec<String>,
    /// What a control holds; never of a secret field.
    pub value: Option<String>,
    /// The options of a native `select`, as far as they are told.
    pub options: Option<String>,
    /// The resolved address of a link or a frame.
    pub url: Option<String>,
    /// How many equal neighbours this line stands for.
    pub count: u32,
    /// The element that it stands for; for text the element that holds it.
    pub node: NodeIndex,
    /// The position of the containing item.
    pub parent: Option<usize>,
    /// How many items contain it.
    pub depth: u32,
    /// How near it is to what the user sees.
    pub zone: Zone,
    /// Whether a person could operate it.
    pub actionable: bool,
}

impl Item {
    /// The role's token, or what stands in its place.
    #[must_use]
    pub fn role_name(&self) -> &'static str {
        match self.kind {
            Kind::Role(role) => role.name(),
            Kind::Clickable => "clickable",
            Kind::Text | Kind::UnseenText => "text",
            Kind::Remark => "",
        }
    }

    /// What a snapshot says of the element, which must still hold when its ref is used.
    #[must_use]
    pub fn identity(&self) -> Identity {
        Identity { role: self.role_name().to_owned(), name: self.name.clone() }
    }

    /// Whether the item always carries a ref.
    #[must_use]
    pub fn wants_ref(&self) -> bool {
        self.actionable
            || match self.kind {
                Kind::Role(role) => role.is_dialog() || matches!(role, Role::Iframe | Role::Canvas),
                Kind::Clickable => true,
                Kind::Text | Kind::UnseenText | Kind::Remark => false,
            }
    }

    /// Whether a line about what was cut may stand inside of it.
    #[must_use]
    pub fn holds_cuts(&self) -> bool {
        match self.kind {
            Kind::Role(role) => role.is_part(),
            Kind::Clickable | Kind::Text | Kind::UnseenText | Kind::Remark => false,
        }
    }
}

/// The items of a page, containers before their content.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tree {
    /// All items in the order of telling.
    pub items: Vec<Item>,
}

/// Distils a page.
#[must_use]
pub fn distil(facts: &PageFacts) -> Tree {
    let items = build::build(facts);
    Tree { items: shape::shape(facts, items) }
}

/// What a reading of these facts says of one element, if it tells of it at all.
///
/// The facts must hold the element's ancestors and its whole content, so that the answer is the one that a
/// reading of the whole page would give.
#[must_use]
pub fn identify(facts: &PageFacts, node: NodeIndex) -> Option<Identity> {
    let items = build::build(facts);
    items.iter().find(|item| item.node == node && item.kind != Kind::Text).map(Item::identity)
}

#[cfg(test)]
mod tests;
