//! Parser events to the tree, with an explicit stack and a bounded depth.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

use super::NESTING_MAX;
use super::tree::{Alignment, Block, Inline, LinkTarget, ListItem};

/// A block and the bytes of the text that it came from.
pub(super) struct Placed {
    pub(super) block: Block,
    pub(super) range: Range<usize>,
}

/// Parses a whole text at once.
#[must_use]
pub fn parse(text: &str) -> Vec<Block> {
    parse_placed(text).into_iter().map(|placed| placed.block).collect()
}

/// Parses a text and keeps where each top-level block stood.
pub(super) fn parse_placed(text: &str) -> Vec<Placed> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        builder.event(event, range);
    }
    builder.finish()
}

/// What is open while events arrive.
enum Frame {
    Paragraph(Vec<Inline>),
    Heading(u8, Vec<Inline>),
    Code(String, String),
    Quote(Vec<Block>),
    List(Option<u64>, Vec<ListItem>),
    Item(Option<bool>, Vec<Block>),
    Table { alignments: Vec<Alignment>, head: Vec<Vec<Inline>>, rows: Vec<Vec<Vec<Inline>>> },
    Row { head: bool, cells: Vec<Vec<Inline>> },
    Cell(Vec<Inline>),
    Html(String),
    Span(Span, Vec<Inline>),
}

enum Span {
    Emphasis,
    Strong,
    Strike,
    Link(LinkTarget),
}

#[derive(Default)]
struct Builder {
    frames: Vec<Frame>,
    done: Vec<Placed>,
    top: Range<usize>,
    /// Frames that were not opened because the text nests too deeply; their ends are skipped too.
    skipped: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if self.frames.is_empty() {
            self.top = range;
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(text),
            Event::Code(code) => self.inline(Inline::Code(code.into_string())),
            Event::Html(html) | Event::InlineHtml(html) => self.html(html),
            Event::SoftBreak => self.text(CowStr::Borrowed("\n")),
            Event::HardBreak => self.inline(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(checked) => {
                if let Some(Frame::Item(state, _)) =
                    self.frames.iter_mut().rev().find(|frame| matches!(frame, Frame::Item(..)))
                {
                    *state = Some(checked);
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.skipped > 0 || self.frames.len() >= NESTING_MAX {
            self.skipped += 1;
            return;
        }
        let frame = match tag {
            Tag::Paragraph => Frame::Paragraph(Vec::new()),
            Tag::Heading { level, .. } => Frame::Heading(level as u8, Vec::new()),
            Tag::BlockQuote(_) => Frame::Quote(Vec::new()),
            Tag::CodeBlock(kind) => Frame::Code(language(&kind), String::new()),
            Tag::HtmlBlock => Frame::Html(String::new()),
            Tag::List(start) => Frame::List(start, Vec::new()),
            Tag::Item => Frame::Item(None, Vec::new()),
            Tag::Table(columns) => Frame::Table {
                alignments: columns.iter().map(alignment).collect(),
                head: Vec::new(),
                rows: Vec::new(),
            },
            Tag::TableHead => Frame::Row { head: true, cells: Vec::new() },
            Tag::TableRow => Frame::Row { head: false, cells: Vec::new() },
            Tag::TableCell => Frame::Cell(Vec::new()),
            Tag::Emphasis => Frame::Span(Span::Emphasis, Vec::new()),
            Tag::Strong => Frame::Span(Span::Strong, Vec::new()),
            Tag::Strikethrough => Frame::Span(Span::Strike, Vec::new()),
            Tag::Link { dest_url, .. } => Frame::Span(Span::Link(LinkTarget::of(&dest_url)), Vec::new()),
            Tag::Image { dest_url, .. } => Frame::Span(Span::Link(image(&dest_url)), Vec::new()),
            // The extensions behind these are off; whatever would come is kept as a paragraph.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => Frame::Paragraph(Vec::new()),
        };
        self.frames.push(frame);
    }

    fn end(&mut self, _tag: TagEnd) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if let Some(frame) = self.frames.pop() {
            self.close(frame);
        }
    }

    fn close(&mut self, frame: Frame) {
        match frame {
            Frame::Paragraph(content) => self.block(Block::Paragraph(content)),
            Frame::Heading(level, content) => self.block(Block::Heading { level, content }),
            Frame::Code(language, mut text) => {
                if text.ends_with('\n') {
                    text.pop();
                }
                self.block(Block::Code { language, text });
            }
            Frame::Quote(blocks) => self.block(Block::Quote(blocks)),
            Frame::List(start, items) => self.block(Block::List { start, items }),
            Frame::Item(checked, blocks) => match self.frames.last_mut() {
                Some(Frame::List(_, items)) => items.push(ListItem { checked, blocks }),
                _ => blocks.into_iter().for_each(|block| self.block(block)),
            },
            Frame::Table { alignments, head, rows } => self.block(Block::Table { alignments, head, rows }),
            Frame::Row { head: is_head, cells } => {
                if let Some(Frame::Table { head, rows, .. }) = self.frames.last_mut() {
                    if is_head {
                        *head = cells;
                    } else {
                        rows.push(cells);
                    }
                }
            }
            Frame::Cell(content) => {
                if let Some(Frame::Row { cells, .. }) = self.frames.last_mut() {
                    cells.push(content);
                }
            }
            Frame::Html(text) => self.block(Block::Html(text.trim_end().to_owned())),
            Frame::Span(span, content) => self.inline(match span {
                Span::Emphasis => Inline::Emphasis(content),
                Span::Strong => Inline::Strong(content),
                Span::Strike => Inline::Strike(content),
                Span::Link(target) => Inline::Link { content, target },
            }),
        }
    }

    fn html(&mut self, html: CowStr<'_>) {
        if let Some(Frame::Html(text)) = self.frames.last_mut() {
            text.push_str(&html);
        } else {
            self.text(html);
        }
    }

    fn text(&mut self, text: CowStr<'_>) {
        if let Some(Frame::Code(_, code) | Frame::Html(code)) = self.frames.last_mut() {
            code.push_str(&text);
        } else {
            self.inline(Inline::Text(text.into_string()));
        }
    }

    /// Adds to what is open. Text that stands directly in an item (a tight list), or whose frame was skipped for
    /// its depth, joins the nearest place that can hold it.
    fn inline(&mut self, inline: Inline) {
        match self.frames.last_mut() {
            Some(
                Frame::Paragraph(content)
                | Frame::Heading(_, content)
                | Frame::Cell(content)
                | Frame::Span(_, content),
            ) => append(content, inline),
            Some(Frame::Item(_, blocks) | Frame::Quote(blocks)) => append_to_blocks(blocks, inline),
            Some(Frame::List(_, items)) => match items.last_mut() {
                Some(item) => append_to_blocks(&mut item.blocks, inline),
                None => {
                    items.push(ListItem { checked: None, blocks: vec![Block::Paragraph(vec![inline])] });
                }
            },
            Some(Frame::Row { cells, .. } | Frame::Table { head: cells, .. }) => match cells.last_mut() {
                Some(cell) => append(cell, inline),
                None => cells.push(vec![inline]),
            },
            Some(Frame::Code(..) | Frame::Html(_)) | None => {
                self.done.push(Placed { block: Block::Paragraph(vec![inline]), range: self.top.clone() });
            }
        }
    }

    fn block(&mut self, block: Block) {
        match self.frames.last_mut() {
            Some(Frame::Quote(blocks) | Frame::Item(_, blocks)) => blocks.push(block),
            Some(_) | None => self.done.push(Placed { block, range: self.top.clone() }),
        }
    }

    fn finish(mut self) -> Vec<Placed> {
        while let Some(frame) = self.frames.pop() {
            self.close(frame);
        }
        self.done
    }
}

fn append(content: &mut Vec<Inline>, inline: Inline) {
    match (content.last_mut(), inline) {
        (Some(Inline::Text(last)), Inline::Text(text)) => last.push_str(&text),
        (_, inline) => content.push(inline),
    }
}

fn append_to_blocks(blocks: &mut Vec<Block>, inline: Inline) {
    if let Some(Block::Paragraph(content)) = blocks.last_mut() {
        append(content, inline);
    } else {
        blocks.push(Block::Paragraph(vec![inline]));
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Indented => String::new(),
        CodeBlockKind::Fenced(info) => {
            info.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default().to_lowercase()
        }
    }
}

fn alignment(alignment: &pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::Natural,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}

fn image(address: &str) -> LinkTarget {
    match LinkTarget::of(address) {
        LinkTarget::Web { address, .. } | LinkTarget::Address(address) | LinkTarget::Image(address) => {
            LinkTarget::Image(address)
        }
        LinkTarget::Inert => LinkTarget::Inert,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> Inline {
        Inline::Text(words.into())
    }

    fn check(source: &str, expected: &[Block]) {
        assert_eq!(parse(source), expected);
    }

    #[test]
    fn an_image_becomes_its_description_and_address() {
        check(
            "![a cat](http://b.example/p.png?d=1)",
            &[Block::Paragraph(vec![Inline::Link {
                content: vec![text("a cat")],
                target: LinkTarget::Image("http://b.example/p.png?d=1".into()),
            }])],
        );
    }

    #[test]
    fn a_reference_image_becomes_its_description_and_address() {
        check(
            "![a cat][1]\n\n[1]: http://b.example/p.png\n",
            &[Block::Paragraph(vec![Inline::Link {
                content: vec![text("a cat")],
                target: LinkTarget::Image("http://b.example/p.png".into()),
            }])],
        );
    }

    #[test]
    fn html_stays_the_characters_that_were_written() {
        check(
            "<img src=x onerror=alert(1)>\n\na <b>c</b>",
            &[Block::Html("<img src=x onerror=alert(1)>".into()), Block::Paragraph(vec![text("a <b>c</b>")])],
        );
    }

    #[test]
    fn schemes_that_could_run_code_are_inert() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\tscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "chrome-extension://abc/options.html",
            "blob:http://a.example/1",
            "/relative",
            "//host/path",
        ] {
            assert_eq!(LinkTarget::of(address), LinkTarget::Inert, "{address:?}");
        }
    }

    #[test]
    fn a_task_list_keeps_its_boxes_and_a_tight_list_its_words() {
        check(
            "- [x] done\n- [ ] open\n- plain",
            &[Block::List {
                start: None,
                items: vec![
                    ListItem { checked: Some(true), blocks: vec![Block::Paragraph(vec![text("done")])] },
                    ListItem { checked: Some(false), blocks: vec![Block::Paragraph(vec![text("open")])] },
                    ListItem { checked: None, blocks: vec![Block::Paragraph(vec![text("plain")])] },
                ],
            }],
        );
    }

    #[test]
    fn a_table_has_a_head_and_rows() {
        check(
            "| a | b |\n|:--|--:|\n| 1 | `2` |\n",
            &[Block::Table {
                alignments: vec![Alignment::Left, Alignment::Right],
                head: vec![vec![text("a")], vec![text("b")]],
                rows: vec![vec![vec![text("1")], vec![Inline::Code("2".into())]]],
            }],
        );
    }

    fn depth(block: &Block) -> usize {
        match block {
            Block::Quote(blocks) => 1 + blocks.iter().map(depth).max().unwrap_or(0),
            Block::List { items, .. } => {
                1 + items.iter().flat_map(|item| &item.blocks).map(depth).max().unwrap_or(0)
            }
            Block::Paragraph(_)
            | Block::Heading { .. }
            | Block::Code { .. }
            | Block::Table { .. }
            | Block::Rule
            | Block::Html(_) => 1,
        }
    }

    #[test]
    fn deep_nesting_is_cut_and_keeps_its_words() {
        let blocks = parse(&format!("{} deep", ">".repeat(5_000)));
        assert_eq!(
            depth(&blocks[0]),
            NESTING_MAX + 1,
            "the words stand in a paragraph inside the deepest frame"
        );
        assert!(format!("{blocks:?}").contains("deep"));
    }
}
