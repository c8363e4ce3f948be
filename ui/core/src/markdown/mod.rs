//! Markdown while it streams: every block is built once, when the text behind it can no longer change it.
//!
//! Nothing here makes markup. The result is a small tree of values that a page turns into elements, so that
//! text from a model can never become an element, an attribute or a request.

mod build;
mod stream;
mod tree;

pub use build::parse;
pub use stream::MarkdownStream;
pub use tree::{Alignment, Block, Inline, LinkTarget, ListItem, host_beside};

/// How deep blocks and inlines may nest. What lies deeper keeps its text and loses its frame.
pub const NESTING_MAX: usize = 16;
