//! The fence: the only way in which text of pages, files and servers reaches a model.
//!
//! ```text
//! <<untrusted 9f86d081884c7d65 tool=read_page origin=https://a.test>>
//! ...
//! <</untrusted 9f86d081884c7d65>>
//! ```
//!
//! The number is derived from the node's id, which is random and which no page can know, so that the same node gives the
//! same bytes whenever the history is built again and prompt caches hold. Inside, what looks like a fence or like a
//! control token of a chat template is defanged, and invisible characters are removed or made visible.

use panelot_protocol::ids::NodeId;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// How the first line begins.
pub const OPEN: &str = "<<untrusted";
/// How the last line begins.
pub const CLOSE: &str = "<</untrusted";

/// The word that makes two angle brackets a fence.
const FENCE_WORD: &str = "untrusted";
/// Most characters of an origin or a tool's name in the first line.
const ATTRIBUTE_CHARS_MAX: usize = 300;
/// Most characters between brackets and bars of a control token.
const CONTROL_TOKEN_CHARS_MAX: usize = 40;
/// Most joiners and direction marks in a row that are kept: more of them carry no writing but a message.
const JOINERS_KEPT: usize = 2;
/// What stands in the place of a bracket that would have begun a fence.
const DEFANGED: char = '\u{2039}';

/// Where a text comes from.
#[derive(Debug, Clone, Copy)]
pub struct Provenance<'a> {
    /// The stored node that holds the text.
    pub node_id: &'a NodeId,
    /// The tool that brought it.
    pub tool: &'a str,
    /// The origin that showed it.
    pub origin: Option<&'a str>,
}

/// Puts a text into its fence.
pub fn fence(from: Provenance<'_>, text: &str) -> String {
    let nonce = nonce(from.node_id);
    let mut fenced = format!("{OPEN} {nonce} tool={}", attribute(from.tool));
    if let Some(origin) = from.origin {
        fenced.push_str(" origin=");
        fenced.push_str(&attribute(origin));
    }
    fenced.push_str(">>\n");
    let inside = cleaned(text).replace(&nonce, "");
    fenced.push_str(&inside);
    if !inside.ends_with('\n') {
        fenced.push('\n');
    }
    // Writing to a String cannot fail.
    _ = write!(fenced, "{CLOSE} {nonce}>>");
    fenced
}

/// The text without the nonce that its node gave it: two results that say the same are equal then.
pub fn without_nonce(node_id: &NodeId, text: &str) -> String {
    text.replace(&nonce(node_id), "")
}

/// A text from outside that stands in a line of our own: cleaned, on one line, cut.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let spaced = cleaned(text);
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = joined.chars().take(chars_max).collect();
    if cut.len() < joined.len() {
        cut.push('…');
    }
    cut
}

/// The text with invisible characters removed or made visible, and with what looks like a fence or a control token
/// defanged.
pub fn cleaned(text: &str) -> String {
    defanged(&visible(text))
}

/// 64 bits of the hash of the node's id, in hex.
fn nonce(node_id: &NodeId) -> String {
    let hash = Sha256::digest(node_id.as_str().as_bytes());
    hash.iter().take(8).fold(String::with_capacity(16), |mut nonce, byte| {
        _ = write!(nonce, "{byte:02x}");
        nonce
    })
}

fn attribute(text: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '-' | '_' | '[' | ']');
    text.chars().take(ATTRIBUTE_CHARS_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// What becomes of a character.
enum Fate {
    Keep,
    Remove,
    /// Carries meaning in some scripts and in emoji: kept, but not in long rows.
    Joiner,
    /// Chooses the look of the character before it: kept once.
    Selector,
    /// Turns the order of what is read: shown by its number.
    Show,
    Break,
}

fn fate(c: char) -> Fate {
    match c {
        '\n' | '\t' => Fate::Keep,
        '\u{2028}' | '\u{2029}' | '\u{85}' => Fate::Break,
        '\u{200c}' | '\u{200d}' | '\u{200e}' | '\u{200f}' => Fate::Joiner,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Fate::Selector,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Fate::Show,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}' => Fate::Remove,
        _ if c.is_control() => Fate::Remove,
        _ => Fate::Keep,
    }
}

fn visible(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut joiners = 0;
    let mut after_selector = false;
    for c in text.chars() {
        let fate = fate(c);
        match fate {
            Fate::Keep => clean.push(c),
            Fate::Joiner if joiners < JOINERS_KEPT => clean.push(c),
            Fate::Selector if !after_selector && !clean.is_empty() => clean.push(c),
            Fate::Joiner | Fate::Selector | Fate::Remove => {}
            Fate::Show => _ = write!(clean, "[U+{:04X}]", u32::from(c)),
            Fate::Break => clean.push('\n'),
        }
        match fate {
            Fate::Joiner => joiners += 1,
            Fate::Selector => after_selector = true,
            // What is removed must not split a row into two short ones.
            Fate::Remove => {}
            Fate::Keep | Fate::Show | Fate::Break => {
                joiners = 0;
                after_selector = false;
            }
        }
    }
    clean
}

/// Replaces the first bracket of everything that could be read as a fence or as a control token.
fn defanged(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let begins = is_bracket(c) && (begins_fence(rest.clone()) || begins_control_token(rest.clone()));
        safe.push(if begins { DEFANGED } else { c });
    }
    safe
}

fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '<' | '\u{ff1c}'
            | '\u{2039}'
            | '\u{ab}'
            | '\u{226a}'
            | '\u{300a}'
            | '\u{3008}'
            | '\u{276e}'
            | '\u{2329}'
            | '\u{27e8}'
            | '\u{fe64}'
    )
}

/// Whether, after one bracket, more brackets, slashes and spaces and then the word of the fence follow.
fn begins_fence(rest: impl Iterator<Item = char>) -> bool {
    let mut letters = rest
        .filter(|c| !matches!(fate(*c), Fate::Joiner | Fate::Selector))
        .take(CONTROL_TOKEN_CHARS_MAX)
        .skip_while(|c| is_bracket(*c) || c.is_whitespace() || matches!(folded(*c), '/' | '\\'))
        .map(folded);
    FENCE_WORD.chars().all(|expected| letters.next() == Some(expected))
}

/// Whether, after a bracket, a name between bars and the closing bracket follow: `|im_start|>` and its kin.
fn begins_control_token(mut rest: impl Iterator<Item = char>) -> bool {
    if rest.next().map(folded) != Some('|') {
        return false;
    }
    let mut rest = rest.map(folded).take(CONTROL_TOKEN_CHARS_MAX);
    let bar =
        rest.by_ref().find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '\u{2581}' | '/')));
    bar == Some('|') && rest.next() == Some('>')
}

/// The character in plain ASCII where it is a full-width twin, in lower case.
fn folded(c: char) -> char {
    let plain = match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    };
    plain.to_ascii_lowercase()
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
