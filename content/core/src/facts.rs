//! Plain facts about a page: what the collector saw, in one flat list, with no browser type in it.

use std::borrow::Cow;

/// Position of a node in [`PageFacts`]; valid only for the facts that handed it out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeIndex(u32);

impl NodeIndex {
    /// The position as a list index.
    #[must_use]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

macro_rules! attributes {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An attribute that a role, a name or a state can depend on.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Attr { $(#[doc = concat!("The `", $name, "` attribute.")] $variant),* }

        impl Attr {
            /// Every attribute of the list, in declaration order.
            pub const ALL: &'static [Attr] = &[$(Attr::$variant),*];

            /// The attribute's name in markup.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Attr::$variant => $name),* }
            }
        }
    };
}

attributes! {
    Role = "role", AriaLabel = "aria-label", AriaHidden = "aria-hidden", AriaChecked = "aria-checked",
    AriaSelected = "aria-selected", AriaExpanded = "aria-expanded", AriaDisabled = "aria-disabled",
    AriaRequired = "aria-required", AriaInvalid = "aria-invalid", AriaPressed = "aria-pressed",
    AriaCurrent = "aria-current", AriaLevel = "aria-level", AriaModal = "aria-modal",
    AriaValueText = "aria-valuetext", AriaValueNow = "aria-valuenow", AriaReadonly = "aria-readonly",
    AriaMultiselectable = "aria-multiselectable", AriaPlaceholder = "aria-placeholder",
    AriaHasPopup = "aria-haspopup", AriaBusy = "aria-busy", Alt = "alt", Title = "title",
    Placeholder = "placeholder", Type = "type", Href = "href", Autocomplete = "autocomplete",
    Scope = "scope", Size = "size", Multiple = "multiple", List = "list", Label = "label",
    ContentEditable = "contenteditable",
}

macro_rules! states {
    ($($name:ident: $text:literal),* $(,)?) => {
        states!(@consts 0u32; $($name: $text,)*);
    };
    (@consts $bit:expr; $name:ident: $text:literal, $($rest:tt)*) => {
        impl States { #[doc = $text] pub const $name: States = States(1 << $bit); }
        states!(@consts $bit + 1u32; $($rest)*);
    };
    (@consts $bit:expr;) => {};
}

/// A set of yes-or-no facts about an element.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct States(u32);

states! {
    DISABLED: "Natively disabled, by itself or by a fieldset.",
    CHECKED: "A checkbox or radio button that is checked.",
    MIXED: "A checkbox in the indeterminate state.",
    SELECTED: "A selected option.",
    REQUIRED: "Natively required.",
    INVALID: "Fails the browser's validation after the user had a say (`:user-invalid`).",
    READONLY: "Natively read-only.",
    FOCUSED: "Has the focus of its document or shadow root.",
    FOCUSABLE: "Can be focused: `tabIndex` of at least zero, or an explicit `tabindex`.",
    EDITABLE: "Root of an editable region.",
    POINTER: "Shows the pointer cursor while its parent does not.",
    LISTENS: "Has an inline click handler.",
    FILLED: "A secret field that holds something.",
    OPEN: "An open `details` or `dialog`.",
    MODAL: "A dialog in the top layer that blocks the rest (`:modal`).",
    POPOVER: "A popover that is showing.",
    INVISIBLE: "Takes part only with its visible descendants: its own text is not painted.",
    UNSEEN: "Painted so that nobody sees it: no size, or outside the canvas.",
    HIDDEN: "Not rendered at all; collected because something refers to it.",
    OWNER: "Inside a copied label: the very control that the label names.",
    DRAWN: "A canvas: what it shows is drawn and has no text.",
    GLOBAL_ARIA: "Has a global aria attribute, so a `none` role does not count.",
    CLOSED: "Hosts a shadow tree that could not be entered.",
    LABELS: "A label whose control is rendered, so that its text is told as the control's name.",
}

impl States {
    /// The empty set.
    pub const NONE: States = States(0);

    /// Whether all states of `other` are in this set.
    #[must_use]
    pub fn has(self, other: States) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds the states of `other`.
    pub fn add(&mut self, other: States) {
        self.0 |= other.0;
    }

    /// Adds the states of `other` when `condition` holds.
    pub fn add_if(&mut self, condition: bool, other: States) {
        if condition {
            self.add(other);
        }
    }

    /// This set together with `other`.
    #[must_use]
    pub fn with(mut self, other: States) -> States {
        self.add(other);
        self
    }
}

/// A box in CSS pixels, relative to the viewport of its document.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width, never negative.
    pub width: f64,
    /// Height, never negative.
    pub height: f64,
}

/// An option of a native `select`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionFacts {
    /// Its own label or text, as written.
    pub label: String,
    /// Its value, as the form would send it.
    pub value: String,
    /// Whether it is chosen now.
    pub selected: bool,
    /// Whether it, or its group, is disabled.
    pub disabled: bool,
}

/// What was seen of one element.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ElementFacts {
    /// Local name in lower case.
    pub tag: Cow<'static, str>,
    /// The attributes of [`Attr`] that are present.
    pub attrs: Vec<(Attr, String)>,
    /// The yes-or-no facts.
    pub states: States,
    /// Its box, where one was measured.
    pub rect: Option<Rect>,
    /// What the control holds; never set for a secret field.
    pub value: Option<String>,
    /// The first options of a native `select`, and every chosen one.
    pub options: Vec<OptionFacts>,
    /// How many options the `select` has in all.
    pub option_count: u32,
    /// Copies of the elements that `aria-labelledby` names, in its order.
    pub labelled_by: Vec<NodeIndex>,
    /// Copies of the native labels.
    pub labels: Vec<NodeIndex>,
    /// Generated text before the content.
    pub before: Option<String>,
    /// Generated text after the content.
    pub after: Option<String>,
    /// The resolved address of a link.
    pub url: Option<String>,
}

impl ElementFacts {
    /// Facts of an element that has nothing but its tag.
    #[must_use]
    pub fn new(tag: impl Into<Cow<'static, str>>) -> ElementFacts {
        ElementFacts { tag: tag.into(), ..ElementFacts::default() }
    }

    /// The attribute's value, if it is present.
    #[must_use]
    pub fn attr(&self, attr: Attr) -> Option<&str> {
        self.attrs.iter().find(|(name, _)| *name == attr).map(|(_, value)| value.as_str())
    }

    /// Whether the attribute is present and says `true`.
    #[must_use]
    pub fn attr_is_true(&self, attr: Attr) -> bool {
        self.attr(attr).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }

    /// The `type` of an input in lower case; `text` where none is given.
    #[must_use]
    pub fn input_type(&self) -> String {
        match self.attr(Attr::Type).map(str::trim) {
            None | Some("") => "text".to_owned(),
            Some(kind) => kind.to_ascii_lowercase(),
        }
    }
}

/// An element or a run of text.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// An element.
    Element(Box<ElementFacts>),
    /// Text as the page holds it, not yet cleaned.
    Text(String),
}

/// One entry of the list: content and its place in the flat tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The parent in the flat tree; none for a root and for a copy that something refers to.
    pub parent: Option<NodeIndex>,
    /// The first child.
    pub first_child: Option<NodeIndex>,
    /// The next sibling.
    pub next_sibling: Option<NodeIndex>,
    last_child: Option<NodeIndex>,
    /// What is here.
    pub content: Content,
}

/// What the collector did not look at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unread {
    /// Elements of any kind.
    pub elements: u32,
    /// Links among them.
    pub links: u32,
    /// Buttons and form fields among them.
    pub controls: u32,
    /// Table rows among them.
    pub rows: u32,
}

/// All facts of one document, root first, parents before children.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PageFacts {
    /// The document's address.
    pub url: String,
    /// The document's title, as written.
    pub title: String,
    /// Width of the viewport in CSS pixels.
    pub viewport_width: f64,
    /// Height of the viewport in CSS pixels.
    pub viewport_height: f64,
    /// What was left out because the budget was spent.
    pub unread: Unread,
    nodes: Vec<Node>,
}

impl PageFacts {
    /// Facts of a document of which nothing was collected yet.
    #[must_use]
    pub fn of(url: String, title: String) -> PageFacts {
        PageFacts { url, title, ..PageFacts::default() }
    }

    /// Adds an element as the last child of `parent`, or as a root.
    pub fn push_element(&mut self, parent: Option<NodeIndex>, facts: ElementFacts) -> NodeIndex {
        self.push(parent, Content::Element(Box::new(facts)))
    }

    /// Adds text as the last child of `parent`, or as a root.
    pub fn push_text(&mut self, parent: Option<NodeIndex>, text: impl Into<String>) -> NodeIndex {
        self.push(parent, Content::Text(text.into()))
    }

    fn push(&mut self, parent: Option<NodeIndex>, content: Content) -> NodeIndex {
        let index = NodeIndex(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { parent, first_child: None, next_sibling: None, last_child: None, content });
        let previous = parent.and_then(|parent| self.nodes.get_mut(parent.get())).and_then(|parent| {
            let previous = parent.last_child.replace(index);
            if previous.is_none() {
                parent.first_child = Some(index);
            }
            previous
        });
        if let Some(previous) = previous.and_then(|previous| self.nodes.get_mut(previous.get())) {
            previous.next_sibling = Some(index);
        }
        index
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was collected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node at `index`.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index.get())
    }

    /// The element at `index`; none for text.
    #[must_use]
    pub fn element(&self, index: NodeIndex) -> Option<&ElementFacts> {
        match &self.node(index)?.content {
            Content::Element(facts) => Some(facts),
            Content::Text(_) => None,
        }
    }

    /// The element at `index`, to be completed by the collector.
    pub fn element_mut(&mut self, index: NodeIndex) -> Option<&mut ElementFacts> {
        match &mut self.nodes.get_mut(index.get())?.content {
            Content::Element(facts) => Some(facts),
            Content::Text(_) => None,
        }
    }

    /// Every index with its node, in the order of collection.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeIndex, &Node)> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (NodeIndex(u32::try_from(index).unwrap_or(u32::MAX)), node))
    }

    /// The children of a node, in order.
    pub fn children(&self, index: NodeIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        let first = self.node(index).and_then(|node| node.first_child);
        std::iter::successors(first, move |&child| self.node(child).and_then(|node| node.next_sibling))
    }

    /// The ancestors of a node, nearest first.
    pub fn ancestors(&self, index: NodeIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        let parent = self.node(index).and_then(|node| node.parent);
        std::iter::successors(parent, move |&above| self.node(above).and_then(|node| node.parent))
    }
}
