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
    /// A link, or what would have been an image. Neither makes a request by being shown.
    Link {
        /// The words of the link, or the image's description.
        content: Vec<Inline>,
        /// Where it would lead.
        target: LinkTarget,
    },
    /// A forced line break.
    Break,
}

/// Where a link would lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An address that the user may open.
    Web {
        /// The whole address.
        address: String,
        /// Its host, with the port when it names one.
        host: String,
    },
    /// An `http` or `https` address of which it is not plain where it leads, or one of `mailto`. Shown beside the words.
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
            "http" | "https" => match plain_host(&plain).map(str::to_owned) {
                Some(host) => Self::Web { address: plain, host },
                None => Self::Address(plain),
            },
            "mailto" => Self::Address(plain),
            _ => Self::Inert,
        }
    }
}

/// The host of a web address when a reader sees the same one as a browser does.
///
/// A user name before the host, a backslash (which browsers read as a slash), an escape and letters that look like others
/// are ways to make them differ.
fn plain_host(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') && host.chars().all(plain))
        .then_some(host)
}

/// What stands beside a link's words: its host, unless the words are the address already.
#[must_use]
pub fn host_beside<'a>(words: &str, address: &str, host: &'a str) -> Option<&'a str> {
    let bare = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
        rest.strip_suffix('/').unwrap_or(rest).to_owned()
    };
    let words = bare(words);
    (words != bare(address) && words != host.to_ascii_lowercase()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_whose_host_is_plain_may_be_opened() {
        let cases = [
            ("https://example.com", "example.com"),
            ("HTTPS://Example.com/a@b?c#d", "Example.com"),
            ("http://127.0.0.1:8080/form", "127.0.0.1:8080"),
            ("http://[::1]/", "[::1]"),
            ("ht\ntps://example.com", "example.com"),
        ];
        for (written, host) in cases {
            let address = written.replace('\n', "");
            assert_eq!(
                LinkTarget::of(written),
                LinkTarget::Web { address, host: host.into() },
                "{written:?}"
            );
        }
    }

    #[test]
    fn an_address_that_may_lead_elsewhere_than_it_looks_is_only_shown() {
        for address in [
            "https://bank.example@evil.example/",
            "https://evil.example\\@bank.example/",
            "https:evil.example",
            "https:///evil.example",
            "https://%65vil.example/",
            "https://b\u{430}nk.example/",
            "https://",
            "mailto:a@b.example",
        ] {
            assert_eq!(LinkTarget::of(address), LinkTarget::Address(address.into()), "{address:?}");
        }
    }

    #[test]
    fn a_link_names_its_host_unless_its_words_are_its_address() {
        let cases = [
            ("ok", Some("shop.example")),
            ("https://bank.example", Some("shop.example")),
            ("bank.example/shop.example", Some("shop.example")),
            ("shop.example", None),
            ("https://shop.example/a", None),
            ("Shop.example/a/", None),
        ];
        for (words, expected) in cases {
            assert_eq!(host_beside(words, "https://shop.example/a", "shop.example"), expected, "{words}");
        }
    }
}
