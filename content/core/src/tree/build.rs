//! One walk over the facts: which elements become items, and what text stands where.

use super::{Item, Kind, Zone, zone};
use crate::clean::{clean, shorten};
use crate::facts::{Attr, Content, ElementFacts, NodeIndex, PageFacts, States};
use crate::names::{self, Names};
use crate::privacy;
use crate::roles::{self, Role};

/// A name is told up to here, in characters.
const NAME_CHARS_MAX: usize = 300;
/// A value is told up to here, in characters.
const VALUE_CHARS_MAX: usize = 400;
/// One run of text is told up to here, in characters.
const TEXT_CHARS_MAX: usize = 1_200;
/// This many options of a `select` are told.
const OPTIONS_TOLD_MAX: usize = 12;
/// An option's label is told up to here, in characters.
const OPTION_CHARS_MAX: usize = 60;
/// A table row is told as one line up to here, in characters.
const ROW_CHARS_MAX: usize = 300;

/// The items of a page in the order of its flat tree.
pub(super) fn build(facts: &PageFacts) -> Vec<Item> {
    let roles = roles::roles(facts);
    let zones = zone::zones(facts, &roles);
    let mut builder = Builder {
        facts,
        names: Names::new(facts, &roles),
        actionable: actionable_counts(facts, &roles),
        roles: &roles,
        zones: &zones,
        items: Vec::new(),
        containers: Vec::new(),
        absorbing: 0,
        unseen: 0,
        disabled: 0,
        pending: String::new(),
        pending_node: None,
    };
    builder.walk();
    builder.items
}

/// How many targets each element has inside of it, and whether it is one itself.
#[derive(Clone, Copy, Default)]
struct Targets {
    own: bool,
    inside: u32,
}

fn actionable_counts(facts: &PageFacts, roles: &[Role]) -> Vec<Targets> {
    let mut counts = vec![Targets::default(); facts.len()];
    for (index, node) in facts.iter().rev() {
        let Content::Element(element) = &node.content else { continue };
        let own = is_target(element, roles::at(roles, index));
        let inside = match counts.get_mut(index.get()) {
            Some(count) => {
                count.own = own;
                count.inside
            }
            None => 0,
        };
        if let Some(above) = node.parent.and_then(|parent| counts.get_mut(parent.get())) {
            above.inside = above.inside.saturating_add(inside).saturating_add(u32::from(own));
        }
    }
    counts
}

fn is_target(element: &ElementFacts, role: Role) -> bool {
    let states = element.states;
    let never = matches!(element.tag.as_ref(), "body" | "html" | "iframe" | "frame");
    if never || (states.has(States::LABELS) && role == Role::Generic) {
        return false;
    }
    if role.is_part() && !role.is_widget() {
        return false;
    }
    role.is_widget()
        || states.has(States::FOCUSABLE)
        || states.has(States::EDITABLE)
        || states.has(States::POINTER)
        || states.has(States::LISTENS)
}

enum Step {
    Enter(NodeIndex),
    Exit(Undo),
}

/// What to take back when an element ends.
#[derive(Clone, Copy, Default)]
struct Undo {
    container: bool,
    absorbing: bool,
    unseen: bool,
    disabled: bool,
    block: bool,
}

struct Builder<'a> {
    facts: &'a PageFacts,
    names: Names<'a>,
    roles: &'a [Role],
    zones: &'a [Zone],
    actionable: Vec<Targets>,
    items: Vec<Item>,
    containers: Vec<usize>,
    absorbing: u32,
    unseen: u32,
    disabled: u32,
    pending: String,
    pending_node: Option<NodeIndex>,
}

impl Builder<'_> {
    fn walk(&mut self) {
        // Copies of labels have no parent either; only the first root is the page.
        let Some((root, _)) = self.facts.iter().next() else { return };
        let mut steps = vec![Step::Enter(root)];
        let mut children = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Exit(undo) => self.leave(undo),
                Step::Enter(index) => {
                    if let Some(undo) = self.enter(index) {
                        steps.push(Step::Exit(undo));
                        children.extend(self.facts.children(index));
                        steps.extend(children.drain(..).rev().map(Step::Enter));
                    }
                }
            }
        }
        self.flush();
    }

    fn leave(&mut self, undo: Undo) {
        if undo.block {
            self.flush();
        }
        if undo.container {
            self.containers.pop();
        }
        self.absorbing -= u32::from(undo.absorbing);
        self.unseen -= u32::from(undo.unseen);
        self.disabled -= u32::from(undo.disabled);
    }

    /// None when nothing below the node is to be walked.
    fn enter(&mut self, index: NodeIndex) -> Option<Undo> {
        let node = self.facts.node(index)?;
        let element = match &node.content {
            Content::Text(text) => {
                self.text(node.parent.unwrap_or(index), text);
                return None;
            }
            Content::Element(element) => element,
        };
        if element.tag == "br" {
            self.pending.push(' ');
            return None;
        }
        let mut undo = Undo { block: !names::is_inline(&element.tag), ..Undo::default() };
        if undo.block {
            self.flush();
        }
        if element.states.has(States::UNSEEN) {
            self.flush();
            undo.unseen = true;
            undo.block = true;
            self.unseen += 1;
        }
        if element.attr_is_true(Attr::AriaDisabled) {
            undo.disabled = true;
            self.disabled += 1;
        }
        let role = roles::at(self.roles, index);
        match self.decide(index, element, role) {
            Fate::Transparent => {}
            Fate::Silent => {
                undo.absorbing = true;
                self.absorbing += 1;
            }
            Fate::Item { kind, name, absorbs } => {
                self.flush();
                undo.block = true;
                undo.container = true;
                self.push(index, element, kind, name);
                if absorbs {
                    undo.absorbing = true;
                    self.absorbing += 1;
                }
            }
        }
        if element.states.has(States::CLOSED) {
            self.closed_area(index, element);
        }
        Some(undo)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the standard's vocabulary only some roles matter here"
    )]
    fn decide(&self, index: NodeIndex, element: &ElementFacts, role: Role) -> Fate {
        let targets = self.actionable.get(index.get()).copied().unwrap_or_default();
        if targets.own
            && (!matches!(role, Role::Generic | Role::None | Role::Paragraph) || is_editable(element))
        {
            let name = self.names.name(index);
            let absorbs = role.names_from_content() || is_editable(element) || role == Role::Textbox;
            return Fate::Item { kind: Kind::Role(role), name, absorbs };
        }
        if targets.own {
            return self.clickable(index, element, targets);
        }
        if self.absorbing > 0 {
            return Fate::Transparent;
        }
        if element.states.has(States::LABELS) {
            return Fate::Silent;
        }
        match role {
            Role::Heading | Role::Tooltip => named(role, self.names.name(index), true),
            Role::Row => self.row(index, element),
            Role::Img | Role::Math => match self.names.name(index) {
                name if name.is_empty() => Fate::Transparent,
                name => named(role, name, true),
            },
            Role::Caption if self.names_its_parent(index) => Fate::Silent,
            Role::Canvas | Role::Iframe | Role::Video | Role::Audio => {
                named(role, self.names.name(index), true)
            }
            Role::Meter | Role::ProgressBar => named(role, self.names.name(index), true),
            _ if is_structure(role) => named(role, self.names.name(index), false),
            Role::Group | Role::Figure | Role::Article | Role::Blockquote | Role::Term | Role::Feed => {
                match self.names.name(index) {
                    name if name.is_empty() => Fate::Transparent,
                    name => named(role, name, false),
                }
            }
            _ => Fate::Transparent,
        }
    }

    /// An element without a role that reacts to clicks; a wrapper of one target is not one more.
    fn clickable(&self, index: NodeIndex, element: &ElementFacts, targets: Targets) -> Fate {
        let inside = targets.inside;
        if inside == 1 || (self.absorbing > 0 && inside == 0) {
            return Fate::Transparent;
        }
        if inside > 1 {
            let deliberate = element.states.has(States::LISTENS) || element.states.has(States::FOCUSABLE);
            if !deliberate {
                return Fate::Transparent;
            }
            let name = clean(element.attr(Attr::AriaLabel).unwrap_or_default());
            return Fate::Item { kind: Kind::Clickable, name, absorbs: false };
        }
        let mut name = self.names.name(index);
        if name.is_empty() {
            name = self.names.content(index);
        }
        if name.is_empty() {
            name = clean(element.attr(Attr::Title).or(element.attr(Attr::AriaLabel)).unwrap_or_default());
        }
        Fate::Item { kind: Kind::Clickable, name, absorbs: true }
    }

    /// A row of plain cells is one line; what can be operated in it follows below.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the standard's vocabulary only some roles matter here"
    )]
    fn row(&self, index: NodeIndex, element: &ElementFacts) -> Fate {
        if element.attr(Attr::AriaLabel).is_some() || !element.labelled_by.is_empty() {
            return named(Role::Row, self.names.name(index), false);
        }
        let mut cells = Vec::new();
        let mut stack: Vec<NodeIndex> = self.facts.children(index).collect();
        stack.reverse();
        while let Some(cell) = stack.pop() {
            match roles::at(self.roles, cell) {
                Role::Cell | Role::GridCell | Role::ColumnHeader | Role::RowHeader => {
                    cells.push(self.names.content(cell));
                }
                Role::Table | Role::Grid | Role::List => return named(Role::Row, String::new(), false),
                _ => {
                    let from = stack.len();
                    stack.extend(self.facts.children(cell));
                    if let Some(added) = stack.get_mut(from..) {
                        added.reverse();
                    }
                }
            }
        }
        let line = cells.join(" | ");
        if line.chars().count() > ROW_CHARS_MAX || self.holds_structure(index) {
            return named(Role::Row, String::new(), false);
        }
        named(Role::Row, line, true)
    }

    fn holds_structure(&self, row: NodeIndex) -> bool {
        let mut stack: Vec<NodeIndex> = self.facts.children(row).collect();
        while let Some(next) = stack.pop() {
            if matches!(roles::at(self.roles, next), Role::Table | Role::Grid | Role::List | Role::Heading) {
                return true;
            }
            stack.extend(self.facts.children(next));
        }
        false
    }

    fn names_its_parent(&self, index: NodeIndex) -> bool {
        let parent = self.facts.node(index).and_then(|node| node.parent);
        parent.is_some_and(|parent| {
            matches!(roles::at(self.roles, parent), Role::Table | Role::Figure)
                && self.names.name(parent) == self.names.content(index)
        })
    }

    fn text(&mut self, holder: NodeIndex, text: &str) {
        if self.absorbing > 0 {
            return;
        }
        if self.pending_node.is_none() && !text.trim().is_empty() {
            self.pending_node = Some(holder);
        }
        self.pending.push_str(text);
    }

    fn flush(&mut self) {
        let holder = self.pending_node.take();
        let text = clean(&self.pending);
        self.pending.clear();
        let Some(holder) = holder.filter(|_| !text.is_empty()) else { return };
        let kind = if self.unseen > 0 { Kind::UnseenText } else { Kind::Text };
        let item = self.item(holder, kind, shorten(&text, TEXT_CHARS_MAX));
        self.items.push(item);
    }

    fn item(&self, node: NodeIndex, kind: Kind, name: String) -> Item {
        Item {
            kind,
            name,
            notes: Vec::new(),
            value: None,
            options: None,
            url: None,
            count: 1,
            node,
            parent: self.containers.last().copied(),
            depth: u32::try_from(self.containers.len()).unwrap_or(u32::MAX),
            zone: self.zones.get(node.get()).copied().unwrap_or(Zone::Rest),
            actionable: false,
        }
    }

    fn push(&mut self, index: NodeIndex, element: &ElementFacts, kind: Kind, name: String) {
        let mut item = self.item(index, kind, shorten(&name, NAME_CHARS_MAX));
        item.actionable = self.actionable.get(index.get()).is_some_and(|targets| targets.own);
        item.notes = self.notes(index, element, kind);
        item.value = self.value(index, element, kind).filter(|value| !value.is_empty());
        item.options = (!element.options.is_empty()).then(|| options(element));
        item.url.clone_from(&element.url);
        self.containers.push(self.items.len());
        self.items.push(item);
    }

    fn closed_area(&mut self, index: NodeIndex, element: &ElementFacts) {
        let size =
            element.rect.map_or(String::new(), |rect| format!(", {:.0}×{:.0} px", rect.width, rect.height));
        let remark = format!("closed area{size}: its content cannot be read here");
        let item = self.item(index, Kind::Remark, remark);
        self.items.push(item);
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the standard's vocabulary only some roles matter here"
    )]
    fn value(&self, index: NodeIndex, element: &ElementFacts, kind: Kind) -> Option<String> {
        let Kind::Role(role) = kind else { return None };
        if privacy::is_secret(element) {
            return None;
        }
        let value = match role {
            Role::Textbox | Role::Searchbox if is_editable(element) => self.names.content(index),
            Role::Textbox | Role::Searchbox => clean(element.value.as_deref()?),
            Role::Combobox | Role::Listbox if !element.options.is_empty() => names::chosen(element),
            Role::Combobox => clean(element.value.as_deref()?),
            Role::Button
                if element.tag == "input" && matches!(element.input_type().as_str(), "file" | "color") =>
            {
                clean(element.value.as_deref()?)
            }
            Role::Slider | Role::SpinButton | Role::Meter | Role::ProgressBar | Role::Scrollbar => {
                clean(names::range_value(element)?)
            }
            _ => return None,
        };
        Some(shorten(&value, VALUE_CHARS_MAX))
    }

    fn notes(&self, index: NodeIndex, element: &ElementFacts, kind: Kind) -> Vec<String> {
        let states = element.states;
        let role = match kind {
            Kind::Role(role) => role,
            Kind::Clickable | Kind::Text | Kind::UnseenText | Kind::Remark => Role::Generic,
        };
        let mut notes = Vec::new();
        let mut note = |condition: bool, text: &str| {
            if condition {
                notes.push(text.to_owned());
            }
        };
        note(role == Role::Heading, &format!("level={}", heading_level(element)));
        note(role == Role::Row && self.is_header_row(index), "header");
        let kind_of_input = input_note(element, role);
        note(kind_of_input.is_some(), kind_of_input.as_deref().unwrap_or_default());
        match checked(element, role) {
            Some(Checked::Yes) => note(true, "checked"),
            Some(Checked::Mixed) => note(true, "mixed"),
            Some(Checked::No) | None => {}
        }
        note(element.attr_is_true(Attr::AriaPressed), "pressed");
        note(states.has(States::SELECTED) || element.attr_is_true(Attr::AriaSelected), "selected");
        match self.expanded(index, element) {
            Some(true) => note(true, "expanded"),
            Some(false) => note(true, "collapsed"),
            None => {}
        }
        let current = element.attr(Attr::AriaCurrent).map(clean).filter(|at| !at.is_empty() && at != "false");
        note(current.is_some(), "current");
        note(states.has(States::DISABLED) || self.disabled > 0, "disabled");
        note(states.has(States::REQUIRED) || element.attr_is_true(Attr::AriaRequired), "required");
        let invalid = element.attr(Attr::AriaInvalid).is_some_and(|at| !matches!(at.trim(), "" | "false"));
        note(states.has(States::INVALID) || invalid, "invalid");
        note(states.has(States::READONLY) || element.attr_is_true(Attr::AriaReadonly), "readonly");
        let multiple = role == Role::Listbox && element.attr(Attr::Multiple).is_some();
        note(multiple || element.attr_is_true(Attr::AriaMultiselectable), "multiple");
        note(states.has(States::MODAL) || element.attr_is_true(Attr::AriaModal), "modal");
        note(element.attr_is_true(Attr::AriaBusy), "busy");
        note(states.has(States::FILLED), "filled");
        note(states.has(States::FOCUSED), "focused");
        note(self.unseen > 0, "visually hidden");
        if role == Role::Canvas {
            note(true, "drawn: only a screenshot shows what is in it");
        }
        notes
    }

    fn is_header_row(&self, index: NodeIndex) -> bool {
        let mut cells =
            self.facts.children(index).filter(|&cell| self.facts.element(cell).is_some()).peekable();
        cells.peek().is_some() && cells.all(|cell| roles::at(self.roles, cell) == Role::ColumnHeader)
    }

    fn expanded(&self, index: NodeIndex, element: &ElementFacts) -> Option<bool> {
        if element.tag == "summary" {
            let details = self
                .facts
                .ancestors(index)
                .find_map(|above| self.facts.element(above).filter(|above| above.tag == "details"))?;
            return Some(details.states.has(States::OPEN));
        }
        match element.attr(Attr::AriaExpanded)?.trim() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

/// What becomes of an element.
enum Fate {
    /// Its children stand in its place.
    Transparent,
    /// So, but its text is told elsewhere.
    Silent,
    /// It is an item; if it absorbs, its text is in its name.
    Item { kind: Kind, name: String, absorbs: bool },
}

fn named(role: Role, name: String, absorbs: bool) -> Fate {
    Fate::Item { kind: Kind::Role(role), name, absorbs }
}

/// Containers that are told even without a name.
fn is_structure(role: Role) -> bool {
    (role.is_part() && role != Role::Feed)
        || matches!(
            role,
            Role::Alert
                | Role::ListItem
                | Role::Log
                | Role::Marquee
                | Role::Menubar
                | Role::Note
                | Role::RadioGroup
                | Role::Status
                | Role::TabList
                | Role::Timer
                | Role::Toolbar
                | Role::Cell
                | Role::GridCell
                | Role::ColumnHeader
                | Role::RowHeader
        )
}

fn is_editable(element: &ElementFacts) -> bool {
    element.states.has(States::EDITABLE)
}

fn heading_level(element: &ElementFacts) -> u32 {
    let explicit = element.attr(Attr::AriaLevel).and_then(|level| level.trim().parse::<u32>().ok());
    let native = || element.tag.strip_prefix('h').and_then(|level| level.parse::<u32>().ok());
    explicit.filter(|level| *level > 0).or_else(native).unwrap_or(2)
}

/// The type of an input where it decides what may be typed.
fn input_note(element: &ElementFacts, role: Role) -> Option<String> {
    if element.tag != "input" || !matches!(role, Role::Textbox | Role::Button) {
        return None;
    }
    let kind = element.input_type();
    let format = match kind.as_str() {
        "date" => "date YYYY-MM-DD",
        "time" => "time HH:MM",
        "datetime-local" => "datetime YYYY-MM-DDTHH:MM",
        "month" => "month YYYY-MM",
        "week" => "week YYYY-Www",
        "color" => "color #rrggbb",
        "password" | "email" | "tel" | "url" | "file" => kind.as_str(),
        _ => return None,
    };
    Some(format.to_owned())
}

enum Checked {
    Yes,
    No,
    Mixed,
}

fn checked(element: &ElementFacts, role: Role) -> Option<Checked> {
    let checkable = matches!(
        role,
        Role::Checkbox | Role::Radio | Role::Switch | Role::MenuItemCheckbox | Role::MenuItemRadio
    );
    if !checkable {
        return element.attr_is_true(Attr::AriaChecked).then_some(Checked::Yes);
    }
    if element.states.has(States::MIXED) {
        return Some(Checked::Mixed);
    }
    if element.states.has(States::CHECKED) {
        return Some(Checked::Yes);
    }
    match element.attr(Attr::AriaChecked).map(str::trim) {
        Some("true") => Some(Checked::Yes),
        Some("mixed") => Some(Checked::Mixed),
        Some(_) | None => Some(Checked::No),
    }
}

fn options(element: &ElementFacts) -> String {
    let mut told: Vec<String> = element
        .options
        .iter()
        .take(OPTIONS_TOLD_MAX)
        .map(|option| shorten(&clean(&option.label), OPTION_CHARS_MAX))
        .collect();
    let more = (element.option_count as usize).saturating_sub(told.len());
    if more > 0 {
        told.push(format!("… {more} more"));
    }
    told.join(" | ")
}
