//! The tree of values that Markdown becomes.

/// One block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Running text.
    Paragraph(Vec<Inline>),
    /// A heading; `level` is 1 to 6.
    Heading {
        /// 1 to 6.
        level: u8,
        /// The words.
        content: Vec<Inline>,
    },
    /// Code as it was written, without the fence.
    Code {
        /// First word behind the fence in lower case, empty when there is none.
        language: String,
        /// The code, with one newline less at its end.
        text: String,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// A list, numbered when `start` is given.
    List {
        /// Number of the first item.
        start: Option<u64>,
        /// The items in order.
        items: Vec<ListItem>,
    },
    /// A table. Rows may be shorter or longer than the head.
    Table {
        /// One alignment for each column.
        alignments: Vec<Alignment>,
        /// Cells of the head row.
        head: Vec<Vec<Inline>>,
        /// Cells of the other rows.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// A thematic break.
    Rule,
    /// HTML that stood in the text. It is shown as the characters that were written.
    Html(String),
}

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// State of the check box, when the item has one.
    pub checked: Option<bool>,
    /// What the item holds.
    pub blocks: Vec<Block>,
}

/// Alignment of a table's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// As the text's direction has it.
    Natural,
    /// To the left.
    Left,
    /// Centred.
    Center,
    /// To the right.
    Right,
}

/// A run of text inside a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Plain characters.
    Text(String),
    /// Code in a line of text.
    Code(String),
    /// Emphasis.
    Emphasis(Vec<Inline>),
    /// Strong emphasis.
    Strong(Vec<Inline>),
    /// Struck-out text.
    Strike(Vec<Inline>),
    /// A link, or what would have been an image: words and the address, never a request.
    Link {
        /// The words of the link, or the image's description.
        content: Vec<Inline>,
        /// Where it would lead.
        target: LinkTarget,
    },
    /// A forced line break.
    Break,
}

/// Where a link would lead, judged by its scheme alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An `http`, `https` or `mailto` address. Shown beside the words.
    Address(String),
    /// An image's address. Shown beside its description, never fetched.
    Image(String),
    /// A scheme that could run code or read files, or an address relative to nothing. Not shown as an address.
    Inert,
}

impl LinkTarget {
    /// Judges an address that a model wrote.
    ///
    /// Control characters and spaces are dropped before the scheme is read, because browsers drop them too.
    #[must_use]
    pub fn of(address: &str) -> Self {
        let plain: String = address.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
        let Some((scheme, _)) = plain.split_once(':') else { return Self::Inert };
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" | "mailto" => Self::Address(plain),
            _ => Self::Inert,
        }
    }
}
