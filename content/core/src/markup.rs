//! A small model of a document for tests: markup in, the facts that a collector would bring out.
#![expect(clippy::string_slice, reason = "a reader of the tests' own ASCII markup")]

use crate::facts::{Attr, ElementFacts, NodeIndex, OptionFacts, PageFacts, Rect, States};
use crate::privacy;
use std::collections::BTreeMap;

struct DomNode {
    tag: String,
    text: String,
    attrs: BTreeMap<String, String>,
    parent: Option<usize>,
    children: Vec<usize>,
}

/// Facts of a document and the index of the element marked with `data-x`.
pub(crate) fn page(markup: &str) -> (PageFacts, NodeIndex) {
    let (facts, marked) = try_page(markup);
    (facts, marked.expect("the markup has an element with data-x"))
}

/// Facts of a document.
pub(crate) fn facts(markup: &str) -> PageFacts {
    try_page(markup).0
}

fn try_page(markup: &str) -> (PageFacts, Option<NodeIndex>) {
    let dom = parse(markup);
    let mut build = Builder { dom: &dom, facts: PageFacts::default(), marked: None };
    build.facts.url = "https://shop.test/list?page=1".to_owned();
    build.facts.title = "Test page".to_owned();
    build.facts.viewport_width = 1000.0;
    build.facts.viewport_height = 800.0;
    let pending = build.subtree(0, None, false);
    for (index, node) in pending {
        let labelled_by = build.references(node, "aria-labelledby");
        let labels = build.native_labels(node);
        let element = build.facts.element_mut(index).unwrap();
        element.labelled_by = labelled_by;
        element.labels = labels;
    }
    (build.facts, build.marked)
}

struct Builder<'a> {
    dom: &'a [DomNode],
    facts: PageFacts,
    marked: Option<NodeIndex>,
}

impl Builder<'_> {
    fn subtree(&mut self, top: usize, owner: Option<usize>, copy: bool) -> Vec<(NodeIndex, usize)> {
        let mut pending = Vec::new();
        let mut stack = vec![(top, None)];
        while let Some((at, parent)) = stack.pop() {
            let node = &self.dom[at];
            if node.tag.is_empty() {
                self.facts.push_text(parent, node.text.clone());
                continue;
            }
            if node.attrs.contains_key("hidden") && !copy {
                continue;
            }
            let mut element = self.element(node);
            element.states.add_if(owner == Some(at), States::OWNER);
            element.states.add_if(copy && node.attrs.contains_key("hidden"), States::HIDDEN);
            let index = self.facts.push_element(parent, element);
            if node.attrs.contains_key("data-x") && !copy {
                self.marked = Some(index);
            }
            if !copy {
                pending.push((index, at));
            }
            if !matches!(node.tag.as_str(), "select" | "textarea") {
                stack.extend(node.children.iter().rev().map(|&child| (child, Some(index))));
            }
        }
        pending
    }

    fn copy(&mut self, node: usize, owner: usize) -> NodeIndex {
        let index = self.facts.len();
        self.subtree(node, Some(owner), true);
        self.facts.iter().nth(index).unwrap().0
    }

    fn references(&mut self, node: usize, attr: &str) -> Vec<NodeIndex> {
        let ids = self.dom[node].attrs.get(attr).cloned().unwrap_or_default();
        let targets: Vec<usize> = ids
            .split_whitespace()
            .filter_map(|id| self.dom.iter().position(|n| n.attrs.get("id").is_some_and(|have| have == id)))
            .collect();
        targets.into_iter().map(|target| self.copy(target, usize::MAX)).collect()
    }

    fn native_labels(&mut self, node: usize) -> Vec<NodeIndex> {
        if !matches!(self.dom[node].tag.as_str(), "input" | "select" | "textarea" | "button") {
            return Vec::new();
        }
        let id = self.dom[node].attrs.get("id").cloned();
        let wraps = |label: usize| {
            std::iter::successors(self.dom[node].parent, |&n| self.dom[n].parent).any(|above| above == label)
        };
        let labels: Vec<usize> = (0..self.dom.len())
            .filter(|&n| self.dom[n].tag == "label")
            .filter(|&n| match self.dom[n].attrs.get("for") {
                Some(target) => Some(target) == id.as_ref(),
                None => wraps(n),
            })
            .collect();
        labels.into_iter().map(|label| self.copy(label, node)).collect()
    }

    fn element(&self, node: &DomNode) -> ElementFacts {
        let has = |name: &str| node.attrs.contains_key(name);
        let mut element = ElementFacts::new(node.tag.clone());
        for &attr in Attr::ALL {
            if let Some(value) = node.attrs.get(attr.name()) {
                element.attrs.push((attr, value.clone()));
            }
        }
        let tag = node.tag.as_str();
        let control = matches!(tag, "input" | "select" | "textarea" | "button");
        let states = &mut element.states;
        for (attr, state) in [
            ("disabled", States::DISABLED),
            ("checked", States::CHECKED),
            ("required", States::REQUIRED),
            ("readonly", States::READONLY),
            ("open", States::OPEN),
            ("contenteditable", States::EDITABLE),
            ("data-focus", States::FOCUSED),
            ("data-pointer", States::POINTER),
            ("data-modal", States::MODAL),
            ("data-unseen", States::UNSEEN),
            ("onclick", States::LISTENS),
            ("aria-label", States::GLOBAL_ARIA),
        ] {
            states.add_if(has(attr), state);
        }
        let focusable = control || has("tabindex") || has("contenteditable") || tag == "summary";
        states.add_if(focusable || (tag == "a" && has("href")), States::FOCUSABLE);
        if tag == "a" {
            element.url = node.attrs.get("href").map(|href| absolute(href));
        }
        if let Some(rect) = node.attrs.get("data-rect") {
            let n: Vec<f64> = rect.split(',').map(|n| n.trim().parse().unwrap()).collect();
            element.rect = Some(Rect { x: n[0], y: n[1], width: n[2], height: n[3] });
        }
        if tag == "input" || tag == "textarea" {
            let value = node.attrs.get("value").cloned();
            if privacy::is_secret(&element) {
                element.states.add_if(value.is_some(), States::FILLED);
            } else {
                element.value = value;
            }
        }
        if tag == "select" {
            self.options(node, &mut element);
        }
        element
    }

    fn options(&self, node: &DomNode, element: &mut ElementFacts) {
        for &child in &node.children {
            let option = &self.dom[child];
            if option.tag == "option" {
                let label: String =
                    option.children.iter().map(|&text| self.dom[text].text.as_str()).collect();
                let value = option.attrs.get("value").cloned().unwrap_or_else(|| label.clone());
                let selected = option.attrs.contains_key("selected");
                let disabled = option.attrs.contains_key("disabled");
                element.options.push(OptionFacts { label, value, selected, disabled });
                element.option_count += 1;
            }
        }
    }
}

fn absolute(href: &str) -> String {
    if href.starts_with('/') { format!("https://shop.test{href}") } else { href.to_owned() }
}

fn parse(markup: &str) -> Vec<DomNode> {
    let body = DomNode {
        tag: "body".to_owned(),
        text: String::new(),
        attrs: BTreeMap::new(),
        parent: None,
        children: Vec::new(),
    };
    let mut dom = vec![body];
    let mut open = vec![0usize];
    let mut rest = markup;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("</") {
            let end = after.find('>').unwrap();
            let tag = &after[..end];
            let at = open.iter().rposition(|&n| dom[n].tag == tag).expect("a closing tag matches");
            open.truncate(at);
            rest = &after[end + 1..];
        } else if let Some(after) = rest.strip_prefix('<') {
            let (tag, attrs, left) = parse_tag(after);
            let void = matches!(tag.as_str(), "input" | "img" | "br" | "hr" | "wbr" | "area");
            let at = add(&mut dom, *open.last().unwrap(), tag, String::new(), attrs);
            if !void {
                open.push(at);
            }
            rest = left;
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            add(&mut dom, *open.last().unwrap(), String::new(), rest[..end].to_owned(), BTreeMap::new());
            rest = &rest[end..];
        }
    }
    dom
}

fn add(
    dom: &mut Vec<DomNode>,
    parent: usize,
    tag: String,
    text: String,
    attrs: BTreeMap<String, String>,
) -> usize {
    let at = dom.len();
    dom.push(DomNode { tag, text, attrs, parent: Some(parent), children: Vec::new() });
    dom[parent].children.push(at);
    at
}

fn parse_tag(text: &str) -> (String, BTreeMap<String, String>, &str) {
    let end = text.find(|c: char| c.is_whitespace() || c == '>').unwrap();
    let tag = text[..end].to_owned();
    let mut rest = text[end..].trim_start();
    let mut attrs = BTreeMap::new();
    loop {
        if let Some(after) = rest.strip_prefix('>') {
            return (tag, attrs, after);
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '=').unwrap();
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix('=') {
            let (found, left) = match after.chars().next() {
                Some(quote @ ('\'' | '"')) => after[1..].split_once(quote).unwrap(),
                _ => after.split_at(after.find(|c: char| c.is_whitespace() || c == '>').unwrap()),
            };
            value = found.to_owned();
            rest = left;
        }
        attrs.insert(name, value);
        rest = rest.trim_start();
    }
}
