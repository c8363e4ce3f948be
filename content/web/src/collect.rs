//! One walk over the live document: what is there becomes facts, in few crossings.

mod element;
mod window;

use crate::dom::{self, DomRect, ELEMENT_NODE, Node, TEXT_NODE};
use crate::names::{Names, with_names};
use crate::tags::{self, Kind};
use element::Seen;
use panelot_content::facts::{ElementFacts, NodeIndex, PageFacts, Rect, States};
use std::borrow::Cow;
use wasm_bindgen::{JsCast, JsValue};
use window::Part;

/// Text nodes are read up to here, in UTF-16 units.
const TEXT_UNITS_MAX: u32 = 6_000;
/// A copy of a label or of a referenced element holds at most this many nodes.
const COPY_NODES_MAX: usize = 200;
/// All copies of one reading hold at most this many nodes.
const COPIES_NODES_MAX: usize = 20_000;
/// A reading ends here whatever it found, in nodes.
const NODES_MAX: usize = 30_000;
/// The reading goes on until it has this many times the budget, because distilling drops most of it.
const BUDGET_FACTOR: u32 = 3;
/// What an element and a target are taken to cost, in hundredths of a token.
const ELEMENT_COST: u32 = 150;
const TARGET_COST: u32 = 1_500;
/// What one UTF-16 unit of text is taken to cost, in hundredths of a token.
const UNIT_COST: u32 = 25;

/// Facts, and the live element behind each of them.
pub struct Collected {
    /// The facts.
    pub facts: PageFacts,
    elements: Vec<Option<Node>>,
}

impl Collected {
    /// The element behind a node of the facts; for text the element that holds it.
    pub fn element(&self, index: NodeIndex) -> Option<&Node> {
        let own = self.elements.get(index.get())?;
        own.as_ref().or_else(|| {
            let parent = self.facts.node(index)?.parent?;
            self.elements.get(parent.get())?.as_ref()
        })
    }
}

/// Reads the whole document, as far as a budget of `tokens_max` can hold it.
pub fn collect_page(tokens_max: u32) -> Collected {
    let mut collector = Collector::new(tokens_max);
    let Some(body) = dom::document().body() else { return collector.finish() };
    with_names(|names| {
        collector.window = Part::measure(&collector.facts, tokens_max);
        if let Some((index, frame)) =
            collector.element(names, &body, &body.local_name(), None, Context::default())
        {
            // Of a large page only a part is walked; what lies over it is never left out.
            if let Some(context) = frame.as_ref().map(|frame| frame.context) {
                for layer in collector.window.layers() {
                    collector.walk(names, &layer, Some(index), context);
                    collector.layers.push(layer);
                }
            }
            collector.walk_frames(names, frame.into_iter().collect(), Context::default());
        }
        collector.copies(names);
        collector.count_unread();
    });
    collector.finish()
}

/// Reads one element with all that is in it, below its bare ancestors. None if it is not in the page.
pub fn collect_below(element: &Node, tokens_max: u32) -> Option<(Collected, NodeIndex)> {
    let mut collector = Collector::new(tokens_max);
    let index = with_names(|names| {
        let mut context = Context::default();
        let mut parent = None;
        for above in ancestors(element).iter().rev() {
            let tag = above.local_name();
            let (seen, below) = collector.look(names, above, &tag, context)?;
            let index = collector.push(parent, above, seen.facts);
            collector.refer(index, above, seen.asks);
            parent = Some(index);
            context = below;
        }
        let index = collector.walk(names, element, parent, context);
        collector.copies(names);
        index
    })?;
    Some((collector.finish(), index))
}

/// The ancestors in the flat tree up to the body, nearest first.
fn ancestors(element: &Node) -> Vec<Node> {
    /// Deeper nesting is cut off at the top.
    const DEPTH_MAX: usize = 2_000;
    let mut found = Vec::new();
    let mut next = dom::flat_parent(element);
    while let Some(above) = next.filter(|above| above.node_type() == ELEMENT_NODE && found.len() < DEPTH_MAX)
    {
        next = if dom::tag_of(&above) == "body" { None } else { dom::flat_parent(&above) };
        found.push(above);
    }
    found
}

/// What an element inherits from those around it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context {
    /// Inside of something that can be operated.
    in_target: bool,
    /// The parent shows the pointer cursor.
    pointer: bool,
    /// Nothing of the parent itself is painted.
    invisible: bool,
    /// Nothing is painted here at all; only fields that a page draws itself are collected.
    transparent: bool,
    /// Inside of a `details` that is closed.
    closed_details: bool,
    /// A copy of something that may be hidden.
    copy: bool,
}

/// What must be asked of other elements once the walk is over.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asks {
    labelled_by: bool,
    labels: bool,
}

struct Pending {
    index: NodeIndex,
    element: Node,
    asks: Asks,
}

struct Collector {
    facts: PageFacts,
    elements: Vec<Option<Node>>,
    pending: Vec<Pending>,
    active: Option<Node>,
    left: u32,
    window: Part,
    copied: usize,
    scroll: (f64, f64),
    last_kind: Kind,
    /// What lies over the page and was walked before it.
    layers: Vec<Node>,
}

impl Collector {
    fn new(tokens_max: u32) -> Collector {
        let (document, window) = (dom::document(), dom::window());
        let mut facts = PageFacts::of(document.url(), document.title());
        facts.viewport_width = window.inner_width();
        facts.viewport_height = window.inner_height();
        Collector {
            facts,
            elements: Vec::new(),
            pending: Vec::new(),
            active: dom::deep_active_element(),
            left: panelot_content::tokens::budget(tokens_max).saturating_mul(BUDGET_FACTOR),
            window: Part::whole(),
            copied: 0,
            scroll: (window.scroll_x(), window.scroll_y()),
            last_kind: Kind::Plain,
            layers: Vec::new(),
        }
    }

    fn finish(self) -> Collected {
        Collected { facts: self.facts, elements: self.elements }
    }

    fn push(&mut self, parent: Option<NodeIndex>, element: &Node, facts: ElementFacts) -> NodeIndex {
        self.elements.push(Some(element.clone()));
        self.facts.push_element(parent, facts)
    }

    fn refer(&mut self, index: NodeIndex, element: &Node, asks: Asks) {
        if asks.labelled_by || asks.labels {
            self.pending.push(Pending { index, element: element.clone(), asks });
        }
    }

    /// Of a page that is small enough to be walked whole, the end is worth as much as the beginning.
    fn spend(&mut self, cost: u32) {
        if self.window.is_whole() {
            return;
        }
        self.left = self.left.saturating_sub(cost);
    }

    /// Walks the flat tree below and with `top`; the index of `top`, if it is rendered.
    fn walk(
        &mut self,
        names: &Names,
        top: &Node,
        parent: Option<NodeIndex>,
        context: Context,
    ) -> Option<NodeIndex> {
        self.walk_frames(names, vec![Frame::single(top.clone(), parent, context)], context)
    }

    fn walk_frames(&mut self, names: &Names, mut stack: Vec<Frame>, context: Context) -> Option<NodeIndex> {
        let nodes_max = if context.copy { self.facts.len() + COPY_NODES_MAX } else { NODES_MAX };
        let mut first = None;
        while let Some(frame) = stack.last_mut() {
            let Some(node) = frame.take() else {
                stack.pop();
                continue;
            };
            if self.facts.len() >= nodes_max || (self.left == 0 && !context.copy) {
                break;
            }
            let (parent, context) = (frame.parent, frame.context);
            let name = node.local_name();
            if name.is_undefined() {
                // Only elements have a local name; a comment is nothing to anybody.
                if node.node_type() == TEXT_NODE {
                    self.text(&node, parent, context);
                }
                continue;
            }
            let found = self.element(names, &node, &name, parent, context);
            frame.shadowed = self.last_kind == Kind::Form;
            if let Some((index, below)) = found {
                first.get_or_insert(index);
                stack.extend(below);
            }
        }
        first
    }

    fn element(
        &mut self,
        names: &Names,
        node: &Node,
        name: &JsValue,
        parent: Option<NodeIndex>,
        context: Context,
    ) -> Option<(NodeIndex, Option<Frame>)> {
        let (mut seen, below) = self.look(names, node, name, context)?;
        if !context.copy && (self.window.skips(node, seen.kind) || self.layers.contains(node)) {
            return None;
        }
        self.spend(if seen.target { TARGET_COST } else { ELEMENT_COST });
        if seen.target && !context.copy {
            let rect = node.bounding_rect();
            self.measured(&mut seen.facts, &rect);
        }
        let children = self.children(node, &seen, below);
        let index = self.push(parent, node, seen.facts);
        if !context.copy {
            self.refer(index, node, seen.asks);
        }
        let frame = children.map(|mut frame| {
            frame.parent = Some(index);
            frame
        });
        Some((index, frame))
    }

    /// Facts of one element and what its content inherits; none if it is not rendered.
    fn look(
        &mut self,
        names: &Names,
        node: &Node,
        name: &JsValue,
        context: Context,
    ) -> Option<(Seen, Context)> {
        let (tag, kind): (Cow<'static, str>, Kind) = match tags::known(name) {
            Some((tag, kind)) => (Cow::Borrowed(tag), kind),
            None => match name.as_string() {
                Some(tag) => (Cow::Owned(tag.to_ascii_lowercase()), Kind::Custom),
                // A form whose field is called `localName`: its own properties cannot be trusted.
                None => (Cow::Borrowed("form"), Kind::Form),
            },
        };
        self.last_kind = kind;
        if kind == Kind::Skip || (context.closed_details && kind != Kind::Summary) {
            return None;
        }
        element::look(names, node, tag, kind, context, self.active.as_ref())
    }

    fn measured(&self, facts: &mut ElementFacts, rect: &DomRect) {
        let rect = Rect { x: rect.x(), y: rect.y(), width: rect.width(), height: rect.height() };
        facts.rect = Some(rect);
        if self.is_unseen(rect) {
            facts.states.add(States::UNSEEN);
        }
    }

    /// Painted where nobody can see it: no size, or left of or above all that can be scrolled to.
    fn is_unseen(&self, rect: Rect) -> bool {
        let (scroll_x, scroll_y) = self.scroll;
        rect.width <= 1.0
            || rect.height <= 1.0
            || rect.x + rect.width + scroll_x <= 0.0
            || rect.y + rect.height + scroll_y <= 0.0
    }

    fn text(&mut self, node: &Node, parent: Option<NodeIndex>, context: Context) {
        if context.invisible || context.transparent || context.closed_details {
            return;
        }
        let units = node.length();
        let text = if units > TEXT_UNITS_MAX {
            node.substring_data(0, TEXT_UNITS_MAX).unwrap_or_default()
        } else {
            node.data()
        };
        if text.trim().is_empty() {
            // White space between inline elements still separates their words.
            if !text.is_empty() {
                self.push_text(parent, " ".to_owned());
            }
            return;
        }
        self.spend(units.min(TEXT_UNITS_MAX).saturating_mul(UNIT_COST));
        if !context.copy {
            self.measure_holder(parent);
        }
        self.push_text(parent, text);
    }

    fn push_text(&mut self, parent: Option<NodeIndex>, text: String) {
        self.elements.push(None);
        self.facts.push_text(parent, text);
    }

    /// Text is as near as the element that holds it, and as visible.
    fn measure_holder(&mut self, holder: Option<NodeIndex>) {
        let Some(holder) = holder else { return };
        let unmeasured = self.facts.element(holder).is_some_and(|facts| facts.rect.is_none());
        let Some(node) = self.elements.get(holder.get()).cloned().flatten().filter(|_| unmeasured) else {
            return;
        };
        let boxes = node.bounding_rect();
        let rect = Rect { x: boxes.x(), y: boxes.y(), width: boxes.width(), height: boxes.height() };
        // An element with `display: contents` or a slot has no box of its own.
        let boxless = rect.width == 0.0 && rect.height == 0.0 && node.client_rects().len() == 0;
        let unseen = !boxless && self.is_unseen(rect);
        if let Some(facts) = self.facts.element_mut(holder).filter(|_| !boxless) {
            facts.rect = Some(rect);
            facts.states.add_if(unseen, States::UNSEEN);
        }
    }

    fn children(&mut self, node: &Node, seen: &Seen, mut below: Context) -> Option<Frame> {
        match seen.kind {
            Kind::Input | Kind::TextArea | Kind::Select | Kind::Opaque => return None,
            Kind::Form => return Frame::of_form(node, below),
            Kind::Slot => {
                let assigned = node.assigned_nodes();
                if assigned.length() > 0 {
                    let nodes: Vec<Node> = assigned.iter().map(JsCast::unchecked_into).collect();
                    return Some(Frame::list(nodes, below));
                }
            }
            Kind::Host | Kind::Custom => {
                let light = node.first_child();
                // Asking for closed roots is dear: only of custom elements, and of those that look empty.
                let root = match (seen.kind, &light) {
                    (Kind::Custom, _) | (_, None) => dom::shadow_root_of(node),
                    (_, Some(_)) => node.shadow_root(),
                };
                if let Some(root) = root {
                    return Some(Frame::siblings(root.first_child()?, below));
                }
                light?;
            }
            Kind::Details => below.closed_details = !seen.facts.states.has(States::OPEN),
            Kind::Plain
            | Kind::Link
            | Kind::Button
            | Kind::Label
            | Kind::Summary
            | Kind::Dialog
            | Kind::Svg
            | Kind::Skip => {}
        }
        if seen.kind == Kind::Summary {
            below.closed_details = false;
        }
        self.window.frame(node, below)
    }

    /// Copies of labels and of what `aria-labelledby` names.
    fn copies(&mut self, names: &Names) {
        let limit = self.facts.len() + COPIES_NODES_MAX;
        for pending in std::mem::take(&mut self.pending) {
            if self.facts.len() >= limit {
                return;
            }
            let mut labelled_by = Vec::new();
            if pending.asks.labelled_by {
                for target in element::referenced(&pending.element, &names.labelledby) {
                    labelled_by.extend(self.copy(names, &target, None));
                }
            }
            let mut labels = Vec::new();
            if pending.asks.labels && labelled_by.is_empty() {
                for label in element::labels(&pending.element) {
                    labels.extend(self.copy(names, &label, Some(&pending.element)));
                }
            }
            if let Some(facts) = self.facts.element_mut(pending.index) {
                facts.labelled_by = labelled_by;
                facts.labels = labels;
            }
        }
    }

    fn copy(&mut self, names: &Names, target: &Node, owner: Option<&Node>) -> Option<NodeIndex> {
        let before = self.facts.len();
        let context = Context { in_target: true, copy: true, ..Context::default() };
        let index = self.walk(names, target, None, context);
        if let Some(owner) = owner {
            for at in before..self.facts.len() {
                if self.elements.get(at).and_then(Option::as_ref) == Some(owner) {
                    let found = self.facts.iter().nth(at).map(|(index, _)| index);
                    if let Some(facts) = found.and_then(|index| self.facts.element_mut(index)) {
                        facts.states.add(States::OWNER);
                    }
                }
            }
        }
        self.copied += self.facts.len() - before;
        index
    }

    fn count_unread(&mut self) {
        if self.left == 0 || self.facts.len() >= NODES_MAX || self.window.has_skipped() {
            let read = u32::try_from(self.elements.len() - self.copied.min(self.elements.len()));
            self.facts.unread = window::unread(&self.facts, read.unwrap_or(u32::MAX));
        }
    }
}

/// Nodes that are still to be visited under one parent.
pub(crate) struct Frame {
    next: Next,
    parent: Option<NodeIndex>,
    context: Context,
    /// The node taken last is a form, whose own properties a field may shadow.
    shadowed: bool,
}

enum Next {
    /// A node and its following siblings.
    First(Node),
    /// The siblings that follow a node that was taken already.
    After(Node),
    /// Nodes in order, last first.
    List(Vec<Node>),
}

impl Frame {
    fn new(next: Next, context: Context) -> Frame {
        Frame { next, parent: None, context, shadowed: false }
    }

    fn single(node: Node, parent: Option<NodeIndex>, context: Context) -> Frame {
        Frame { parent, ..Frame::new(Next::List(vec![node]), context) }
    }

    pub(crate) fn siblings(first: Node, context: Context) -> Frame {
        Frame::new(Next::First(first), context)
    }

    pub(crate) fn list(mut nodes: Vec<Node>, context: Context) -> Frame {
        nodes.reverse();
        Frame::new(Next::List(nodes), context)
    }

    /// The children of a form, asked of the prototype.
    fn of_form(form: &Node, context: Context) -> Option<Frame> {
        Some(Frame::list(dom::native_children(form)?, context))
    }

    fn take(&mut self) -> Option<Node> {
        let node = match &mut self.next {
            Next::List(nodes) => return nodes.pop(),
            Next::First(node) => node.clone(),
            Next::After(node) if self.shadowed => dom::native_next_sibling(node)?,
            Next::After(node) => node.next_sibling()?,
        };
        self.shadowed = false;
        self.next = Next::After(node.clone());
        Some(node)
    }
}
