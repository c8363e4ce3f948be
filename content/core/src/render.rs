//! The lines that a model reads: one per item, indented, quoted so that a page cannot forge one.

use crate::facts::PageFacts;
use crate::facts::Unread;
use crate::select::{self, Counts, Selection};
use crate::tokens::centitokens;
use crate::tree::{Item, Kind, Tree};
use std::fmt::Write as _;

/// Deeper lines are not indented further.
pub const INDENT_MAX: u32 = 16;
/// An address is told up to here, in characters.
const URL_CHARS_MAX: usize = 100;
/// Of a page that was not read whole, this many parts get a ref, so that they can be read by themselves.
const PART_REFS_MAX: u32 = 12;

/// A rendered snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rendered {
    /// The lines.
    pub text: String,
    /// How many refs are in it.
    pub refs: u32,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// Renders a tree within `tokens_max`.
///
/// `refs` gives the ref of the item at a position; it is asked only for lines that are told. `ref_sample` is
/// a ref as long as any that it will give.
pub fn render(
    facts: &PageFacts,
    tree: &Tree,
    tokens_max: u32,
    ref_sample: &str,
    mut refs: impl FnMut(usize, &Item) -> Option<String>,
) -> Rendered {
    let unread = unread_line(&facts.unread);
    let ref_cost = centitokens(&format!(" [ref={ref_sample}]"));
    let reserve = unread.as_deref().map_or(0, |line| {
        let parts = ref_cost.saturating_mul(PART_REFS_MAX);
        centitokens(line).saturating_add(centitokens("\n")).saturating_add(parts)
    });
    let mut part_refs = if unread.is_some() { PART_REFS_MAX } else { 0 };
    let selection = select::select(tree, tokens_max, ref_cost, reserve);
    let mut writer =
        Writer { page: &facts.url, selection: &selection, text: String::new(), refs: 0, open: Vec::new() };
    for (at, item) in tree.items.iter().enumerate() {
        if selection.shown.get(at) == Some(&true) {
            writer.close_until(item.parent);
            let cut = selection.cuts.contains_key(&Some(at));
            let part = part_refs > 0 && item.holds_cuts();
            part_refs -= u32::from(part);
            let own = if item.wants_ref() || cut || part { refs(at, item) } else { None };
            writer.item(at, item, own);
        }
    }
    writer.close_until(None);
    writer.cut(None, None, 0);
    if let Some(line) = &unread {
        writer.text.push_str(line);
        writer.text.push('\n');
    }
    let truncated = unread.is_some() || !selection.cuts.is_empty();
    Rendered { text: writer.text, refs: writer.refs, truncated }
}

struct Writer<'a> {
    page: &'a str,
    selection: &'a Selection,
    text: String,
    refs: u32,
    open: Vec<Open>,
}

struct Open {
    at: usize,
    depth: u32,
    own_ref: Option<String>,
}

impl Writer<'_> {
    fn item(&mut self, at: usize, item: &Item, own_ref: Option<String>) {
        self.refs += u32::from(own_ref.is_some());
        indent(&mut self.text, item.depth);
        write_line(&mut self.text, item, own_ref.as_deref(), Some(self.page));
        self.text.push('\n');
        self.open.push(Open { at, depth: item.depth, own_ref });
    }

    /// Ends the containers that are not around the next item; each says what it did not tell.
    fn close_until(&mut self, container: Option<usize>) {
        while let Some(last) = self.open.last() {
            if Some(last.at) == container {
                return;
            }
            if let Some(open) = self.open.pop() {
                self.cut(Some(open.at), open.own_ref.as_deref(), open.depth + 1);
            }
        }
    }

    fn cut(&mut self, at: Option<usize>, own_ref: Option<&str>, depth: u32) {
        if let Some(counts) = self.selection.cuts.get(&at) {
            indent(&mut self.text, depth);
            self.text.push_str(&cut_line(*counts, own_ref));
            self.text.push('\n');
        }
    }
}

/// The line of one item, without indentation; addresses are told whole.
#[must_use]
pub fn line(item: &Item, own_ref: Option<&str>) -> String {
    let mut out = String::new();
    write_line(&mut out, item, own_ref, None);
    out
}

/// The line about what a container holds beyond what is told.
#[must_use]
pub fn cut_line(counts: Counts, own_ref: Option<&str>) -> String {
    let words = counts.words();
    match own_ref {
        Some(own) => format!("- (cut: {words} here are not shown; read_page with ref {own} shows them)"),
        None => {
            format!("- (cut: {words} not shown; read_page with the ref of a part, or with more maxTokens)")
        }
    }
}

fn unread_line(unread: &Unread) -> Option<String> {
    if *unread == Unread::default() {
        return None;
    }
    let mut out = format!("- (not read: about {} more elements", unread.elements);
    for (count, what) in [(unread.rows, "rows"), (unread.links, "links"), (unread.controls, "controls")] {
        if count > 0 {
            let _ = write!(out, ", {count} {what}");
        }
    }
    out.push_str("; read_page with the ref of a part)");
    Some(out)
}

fn indent(out: &mut String, depth: u32) {
    for _ in 0..depth.min(INDENT_MAX) {
        out.push_str("  ");
    }
}

fn write_line(out: &mut String, item: &Item, own_ref: Option<&str>, page: Option<&str>) {
    out.push_str("- ");
    if item.kind == Kind::Remark {
        let _ = write!(out, "({})", item.name);
        return;
    }
    out.push_str(item.role_name());
    if !item.name.is_empty() {
        out.push(' ');
        quote(out, &item.name);
    }
    if item.kind == Kind::UnseenText {
        out.push_str(" [visually hidden]");
    }
    for note in &item.notes {
        let _ = write!(out, " [{note}]");
    }
    if let Some(own) = own_ref {
        let _ = write!(out, " [ref={own}]");
    }
    if let Some(url) = item.url.as_deref().and_then(|url| address(url, page)) {
        let _ = write!(out, " [url={url}]");
    }
    if let Some(value) = &item.value {
        out.push_str(": ");
        quote(out, value);
    }
    if let Some(options) = &item.options {
        out.push_str(" options: ");
        quote(out, options);
    }
    if item.count > 1 {
        let _ = write!(out, " ×{}", item.count);
    }
}

/// Quotes text of the page; it is one line already.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// What of an address says something: the path on the same site, else host and path.
fn address(url: &str, page: Option<&str>) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    let told = match scheme {
        "http" | "https" => {
            let rest = rest.strip_prefix("//")?;
            let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (host, path) = rest.split_at_checked(split)?;
            let same_site = page.and_then(origin) == origin(url);
            let path_says = !matches!(path, "" | "/" | "#" | "/#");
            match (same_site, path_says) {
                (true, false) => return None,
                (true, true) => fragment_only(url, page).unwrap_or(path).to_owned(),
                (false, true) => format!("{host}{path}"),
                (false, false) => host.to_owned(),
            }
        }
        "mailto" | "tel" => url.to_owned(),
        "javascript" => return None,
        other => format!("{other}:…"),
    };
    let visible: String =
        crate::clean::clean(&told).chars().map(|c| if c == ']' || c == ' ' { '_' } else { c }).collect();
    let cut: String = visible.chars().take(URL_CHARS_MAX).collect();
    Some(if cut.len() < visible.len() { format!("{cut}…") } else { cut })
}

/// The fragment, where the address differs from the page's in nothing else.
fn fragment_only<'a>(url: &'a str, page: Option<&str>) -> Option<&'a str> {
    let page = page?;
    let page = page.split_once('#').map_or(page, |(before, _)| before);
    let fragment = url.strip_prefix(page)?;
    (fragment.starts_with('#') && fragment.len() > 1).then_some(fragment)
}

fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")?.checked_add(3)?;
    let end = url.get(start..)?.find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    url.get(..end)
}
