//! Markdown's tree as elements. No text of a model becomes anything but text.

use std::rc::Rc;

use dioxus::prelude::*;
use panelot_ui::highlight::{Token, highlight};
use panelot_ui::i18n::Key;
use panelot_ui::item::ItemState;
use panelot_ui::markdown::{Alignment, Block, Inline, LinkTarget, ListItem, host_beside};

use super::icons::{Icon, Shape};
use crate::chrome::{clipboard, clock};
use crate::store::Store;
use crate::{focus, shell};

/// Finished blocks that are painted as one, so that a long answer has few parts to compare.
const BLOCKS_PER_SHEET: usize = 24;
/// Sheets of an answer that are painted at once, about 30 screens.
const SHEETS_PER_PAGE: usize = 12;
/// Lines of code that are one element while a fence is open, so that only the last one changes.
const LINES_PER_RUN: usize = 40;
/// How long "Copied" is shown.
const COPIED_MS: u64 = 1_500;

/// A block that never changes: the same reference is the same block.
#[derive(Clone)]
struct Finished(Rc<Block>);

impl PartialEq for Finished {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// An assistant's text: sheets of finished blocks, and the tail that grows. Of an answer that is longer than any that is
/// read in one go only the beginning is painted, and more when the reader asks.
#[component]
pub fn Text(item: Signal<ItemState>, growing: bool) -> Element {
    let store = use_context::<Store>();
    // Who saw it grow keeps what was painted.
    let mut shown_max = use_signal(|| if growing { usize::MAX } else { SHEETS_PER_PAGE });
    let finished = use_memo(move || item.read().markdown.finished().len());
    let sheets = finished().div_ceil(BLOCKS_PER_SHEET);
    let shown = sheets.min(shown_max());
    let folded = finished().saturating_sub(shown * BLOCKS_PER_SHEET);
    rsx! {
        div { class: "md",
            for sheet in 0..shown {
                Sheet { key: "{sheet}", item, from: sheet * BLOCKS_PER_SHEET, until: finished().min((sheet + 1) * BLOCKS_PER_SHEET) }
            }
            if folded > 0 {
                button {
                    class: "link", "data-testid": "answer-more",
                    onclick: move |_| {
                        focus::keep();
                        shown_max += SHEETS_PER_PAGE;
                    },
                    {shell::say(&store, Key::AnswerMore, &[("count", &folded.to_string())])}
                }
            }
            if growing {
                Tail { item }
            }
        }
    }
}

#[component]
fn Sheet(item: Signal<ItemState>, from: usize, until: usize) -> Element {
    let item = item.peek();
    let blocks = item.markdown.finished().get(from..until).unwrap_or_default();
    rsx! {
        for (at, block) in blocks.iter().enumerate() {
            Settled { key: "{from + at}", block: Finished(Rc::clone(block)) }
        }
    }
}

#[component]
fn Settled(block: Finished) -> Element {
    show(&block.0)
}

#[component]
fn Tail(item: Signal<ItemState>) -> Element {
    let blocks = item.read().markdown.tail();
    let last = blocks.len().saturating_sub(1);
    rsx! {
        for (at, block) in blocks.iter().enumerate() {
            if let Block::Code { language, text } = block {
                OpenCode { key: "{at}", language: language.clone(), text: text.clone() }
            } else if at == last {
                div { key: "{at}", class: "caret", {show(block)} }
            } else {
                div { key: "{at}", {show(block)} }
            }
        }
    }
}

/// Code whose fence may still be open: plain, in runs of lines of which only the last changes.
#[component]
fn OpenCode(language: String, text: String) -> Element {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    rsx! {
        div { class: "code",
            header { span { "{language}" } }
            pre { tabindex: "0",
                code {
                    for (at, run) in lines.chunks(LINES_PER_RUN).enumerate() {
                        Run { key: "{at}", text: run.concat() }
                    }
                }
            }
        }
    }
}

#[component]
fn Run(text: String) -> Element {
    rsx! { "{text}" }
}

/// A block. The tree's depth is bounded where it is built, so this may call itself.
fn show(block: &Block) -> Element {
    match block {
        Block::Paragraph(content) => rsx! { p { dir: "auto", {spans(content)} } },
        // The page's own title is the first level.
        Block::Heading { level, content } => match level {
            1 => rsx! { h2 { class: "h1", dir: "auto", {spans(content)} } },
            2 => rsx! { h2 { dir: "auto", {spans(content)} } },
            3 => rsx! { h3 { dir: "auto", {spans(content)} } },
            _ => rsx! { h4 { dir: "auto", {spans(content)} } },
        },
        Block::Code { language, text } => rsx! { Code { language: language.clone(), text: text.clone() } },
        Block::Quote(blocks) => rsx! { blockquote { for block in blocks { {show(block)} } } },
        Block::List { start: None, items } => rsx! { ul { dir: "auto", {list_items(items)} } },
        Block::List { start: Some(start), items } => {
            rsx! { ol { dir: "auto", start: "{start}", {list_items(items)} } }
        }
        Block::Table { alignments, head, rows } => rsx! { {table(alignments, head, rows)} },
        Block::Rule => rsx! { hr {} },
        Block::Html(text) => rsx! { div { class: "html", dir: "ltr", "{text}" } },
    }
}

fn list_items(items: &[ListItem]) -> Element {
    rsx! {
        for item in items {
            match item.checked {
                Some(checked) => rsx! {
                    li { class: "task",
                        span { class: "box", role: "img", "data-checked": "{checked}", aria_label: if checked { "☑" } else { "☐" },
                            if checked { Icon { shape: Shape::Check, size: 10 } }
                        }
                        div { for block in &item.blocks { {show(block)} } }
                    }
                },
                None => rsx! { li { for block in &item.blocks { {show(block)} } } },
            }
        }
    }
}

fn table(alignments: &[Alignment], head: &[Vec<Inline>], rows: &[Vec<Vec<Inline>>]) -> Element {
    let class = |column: usize| match alignments.get(column) {
        Some(Alignment::Right) => "right",
        Some(Alignment::Center) => "center",
        Some(Alignment::Left | Alignment::Natural) | None => "",
    };
    rsx! {
        div { class: "table", tabindex: "0", role: "group",
            table {
                thead { tr { for (column, cell) in head.iter().enumerate() { th { class: class(column), dir: "auto", scope: "col", {spans(cell)} } } } }
                tbody {
                    for row in rows {
                        tr { for (column, cell) in row.iter().enumerate() { td { class: class(column), dir: "auto", {spans(cell)} } } }
                    }
                }
            }
        }
    }
}

fn spans(content: &[Inline]) -> Element {
    rsx! { for inline in content { {span(inline)} } }
}

fn span(inline: &Inline) -> Element {
    match inline {
        Inline::Text(text) => rsx! { "{text}" },
        Inline::Code(text) => rsx! { code { dir: "ltr", "{text}" } },
        Inline::Emphasis(content) => rsx! { em { {spans(content)} } },
        Inline::Strong(content) => rsx! { strong { {spans(content)} } },
        Inline::Strike(content) => rsx! { s { {spans(content)} } },
        Inline::Break => rsx! { br {} },
        Inline::Link { content, target } => match target {
            LinkTarget::Web { address, host } => {
                let beside = host_beside(&plain(content), address, host).map(str::to_owned);
                rsx! { Link { address: address.clone(), beside, {spans(content)} } }
            }
            LinkTarget::Address(address) if plain(content) == *address => {
                rsx! { span { class: "linked", {spans(content)} } }
            }
            LinkTarget::Address(address) => rsx! {
                span { class: "linked", {spans(content)} }
                span { class: "address", " ({address})" }
            },
            LinkTarget::Image(address) => {
                rsx! { NotLoaded { description: plain(content), address: address.clone() } }
            }
            LinkTarget::Inert => rsx! { span { {spans(content)} } },
        },
    }
}

/// A link of a model. It leads nowhere until the user has seen its address: the words show it, and it opens it.
#[component]
fn Link(address: String, beside: Option<String>, children: Element) -> Element {
    let store = use_context::<Store>();
    let mut shown = use_signal(|| false);
    let id = use_hook(focus::fresh_id);
    let wanted = id.clone();
    rsx! {
        button {
            class: "linked", "data-testid": "link", title: "{address}", aria_expanded: shown(),
            onclick: move |_| {
                shown.toggle();
                if shown() {
                    focus::soon([wanted.clone()]);
                }
            },
            {children}
        }
        if let Some(host) = beside {
            span { class: "address", dir: "ltr", " ({host})" }
        }
        if shown() {
            " "
            a {
                class: "link", id: "{id}", "data-testid": "link-open", dir: "auto", title: "{address}",
                href: "{address}", target: "_blank", rel: "noopener noreferrer",
                {shell::say(&store, Key::LinkOpen, &[("address", &address)])}
            }
        }
    }
}

#[component]
fn NotLoaded(description: String, address: String) -> Element {
    let store = use_context::<Store>();
    let what = store.t(Key::ImageNotLoaded);
    rsx! {
        span { class: "linked", "{description}" }
        span { class: "address", " [{what}: {address}]" }
    }
}

/// The characters of a run, for comparison.
fn plain(content: &[Inline]) -> String {
    content
        .iter()
        .map(|inline| match inline {
            Inline::Text(text) | Inline::Code(text) => text.clone(),
            Inline::Emphasis(inner) | Inline::Strong(inner) | Inline::Strike(inner) => plain(inner),
            Inline::Link { content, .. } => plain(content),
            Inline::Break => "\n".to_owned(),
        })
        .collect()
}

#[component]
fn Code(language: String, text: String) -> Element {
    let runs = highlight(&language, &text);
    rsx! {
        div { class: "code",
            header { span { "{language}" } CopyButton { text: text.clone() } }
            pre { tabindex: "0",
                code {
                    for (token, run) in runs {
                        match token {
                            Token::Plain => rsx! { "{run}" },
                            Token::Keyword => rsx! { span { class: "k", "{run}" } },
                            Token::Text => rsx! { span { class: "t", "{run}" } },
                            Token::Number => rsx! { span { class: "n", "{run}" } },
                            Token::Comment => rsx! { span { class: "c", "{run}" } },
                        }
                    }
                }
            }
        }
    }
}

/// Copies a text and says so.
#[component]
pub fn CopyButton(text: String) -> Element {
    let store = use_context::<Store>();
    let mut copied = use_signal(|| false);
    let label = store.t(if copied() { Key::Copied } else { Key::Copy });
    rsx! {
        button {
            class: "icon small", "data-testid": "copy", aria_label: label, title: label,
            onclick: move |_| {
                let text = text.clone();
                async move {
                    if clipboard::copy(&text).await {
                        copied.set(true);
                        let word = store.t(Key::Copied).to_owned();
                        store.announce(word);
                        clock::sleep_ms(COPIED_MS).await;
                        copied.set(false);
                    }
                }
            },
            Icon { shape: if copied() { Shape::Check } else { Shape::Copy }, size: 14 }
        }
    }
}
