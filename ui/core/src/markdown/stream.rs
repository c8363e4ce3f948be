//! Text that grows, and the blocks that it has become so far.

use std::rc::Rc;

use super::build::{parse, parse_placed};
use super::tree::Block;

/// Markdown that arrives in pieces.
///
/// CommonMark is line-based: as soon as a complete line has begun a new top-level block, no later text can change
/// the blocks before it. Those are *finished*: built once and shared by reference. What follows them, the *tail*, is
/// built again on each call of [`MarkdownStream::tail`], so a caller asks for it once per frame, not once per piece.
#[derive(Debug, Clone, Default)]
pub struct MarkdownStream {
    finished: Vec<Rc<Block>>,
    tail: String,
    /// Bytes of the tail that earlier searches for a block's end have covered.
    searched: usize,
}

impl MarkdownStream {
    /// The stream of a text that is already complete.
    #[must_use]
    pub fn complete(text: &str) -> Self {
        let mut stream = Self::default();
        stream.push(text);
        stream.finish();
        stream
    }

    /// Adds a piece. Costs its length, and one parse of the tail when a line has ended.
    pub fn push(&mut self, piece: &str) {
        self.tail.push_str(piece);
    }

    /// Moves the blocks that can no longer change from the tail to the finished ones.
    pub fn settle(&mut self) {
        let Some(complete_bytes) = self.tail.rfind('\n').map(|at| at + 1) else { return };
        if complete_bytes <= self.searched {
            return;
        }
        let Some(complete) = self.tail.get(..complete_bytes) else { return };
        let mut placed = parse_placed(complete);
        let Some(last) = placed.pop() else {
            self.searched = complete_bytes;
            return;
        };
        let keep_from = line_start(&self.tail, last.range.start);
        self.finished.extend(placed.into_iter().map(|placed| Rc::new(placed.block)));
        self.tail.drain(..keep_from);
        self.searched = complete_bytes - keep_from;
    }

    /// No more text will come: the tail becomes finished too.
    pub fn finish(&mut self) {
        self.finished.extend(parse(&self.tail).into_iter().map(Rc::new));
        self.tail.clear();
        self.searched = 0;
    }

    /// The blocks that will not change any more.
    #[must_use]
    pub fn finished(&self) -> &[Rc<Block>] {
        &self.finished
    }

    /// The blocks of the text behind the finished ones, as it stands now.
    #[must_use]
    pub fn tail(&self) -> Vec<Block> {
        parse(&self.tail)
    }

    /// Whether nothing has come yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty() && self.tail.trim().is_empty()
    }
}

/// Start of the line that holds `at`: an indented block's range begins behind its indentation.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn streamed(pieces: &[String]) -> Vec<Block> {
        let mut stream = MarkdownStream::default();
        for piece in pieces {
            stream.push(piece);
            stream.settle();
        }
        stream.finish();
        stream.finished().iter().map(|block| (**block).clone()).collect()
    }

    #[test]
    fn a_finished_block_is_never_built_again() {
        let mut stream = MarkdownStream::default();
        stream.push("first\n\nsecond\n\nthird");
        stream.settle();
        let first = Rc::clone(&stream.finished()[0]);
        stream.push(" goes on\n\nfourth\n");
        stream.settle();
        assert!(Rc::ptr_eq(&first, &stream.finished()[0]));
        assert_eq!(stream.finished().len(), 3);
    }

    #[test]
    fn an_open_fence_stays_in_the_tail() {
        let mut stream = MarkdownStream::default();
        stream.push("```rust\nfn main() {}\n\n# not a heading\n");
        stream.settle();
        assert_eq!(stream.finished().len(), 0);
        assert_eq!(
            stream.tail(),
            vec![Block::Code { language: "rust".into(), text: "fn main() {}\n\n# not a heading".into() }]
        );
    }

    #[test]
    fn twenty_thousand_pieces_keep_the_tail_short() {
        let mut stream = MarkdownStream::default();
        for piece in 0..20_000 {
            stream.push(if piece % 40 == 39 { "word\n\n" } else { "word " });
            stream.settle();
            assert!(stream.tail.len() < 500, "tail grew to {}", stream.tail.len());
        }
        assert_eq!(stream.finished().len(), 499);
    }

    fn markdown_piece() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("# head\n".to_owned()),
            Just("\n".to_owned()),
            Just("- item\n".to_owned()),
            Just("  more\n".to_owned()),
            Just("1. one\n".to_owned()),
            Just("```\n".to_owned()),
            Just("~~~ js\n".to_owned()),
            Just("> quote\n".to_owned()),
            Just("| a | b |\n".to_owned()),
            Just("|---|---|\n".to_owned()),
            Just("---\n".to_owned()),
            Just("===\n".to_owned()),
            Just("    code\n".to_owned()),
            Just("<div>\n".to_owned()),
            Just("</div>\n".to_owned()),
            Just("<!-- note\n".to_owned()),
            Just("-->\n".to_owned()),
            Just("\t- deep\n".to_owned()),
            Just("wo**rd** `co`".to_owned()),
            Just("北京 ".to_owned()),
            Just("\r\n".to_owned()),
            "[a-z*_`~\\[\\]()<>#|>. \n-]{0,6}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn pieces_make_the_same_blocks_as_the_whole(
            pieces in prop::collection::vec(markdown_piece(), 0..24)
        ) {
            prop_assert_eq!(streamed(&pieces), parse(&pieces.concat()));
        }
    }
}
