//! Refs: short names for elements, bound to one document and never given twice.

use std::collections::BTreeMap;
use std::fmt;

/// Letters in a document's nonce.
pub const NONCE_LETTERS: usize = 4;
/// A ref's number has at most this many digits.
const NUMBER_DIGITS_MAX: usize = 9;

/// What tells the refs of one document from those of another: four lower-case letters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Nonce(String);

impl Nonce {
    /// A nonce from random bits.
    #[must_use]
    pub fn from_random(mut bits: u32) -> Nonce {
        let mut letters = String::with_capacity(NONCE_LETTERS);
        for _ in 0..NONCE_LETTERS {
            let letter = u8::try_from(bits % 26).unwrap_or(0);
            letters.push(char::from(b'a' + letter));
            bits /= 26;
        }
        Nonce(letters)
    }

    /// The letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A ref as the model writes it: a document's nonce and a number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ref {
    /// The document that gave it.
    pub nonce: Nonce,
    /// The element's number in that document.
    pub number: u32,
}

impl Ref {
    /// Reads a ref; none if the text is not one. A leading `ref=` and brackets are forgiven.
    #[must_use]
    pub fn parse(text: &str) -> Option<Ref> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let text = text.strip_prefix("ref=").unwrap_or(text);
        let letters = text.get(..NONCE_LETTERS)?;
        let digits = text.get(NONCE_LETTERS..)?;
        let well_formed = letters.bytes().all(|byte| byte.is_ascii_lowercase())
            && !digits.is_empty()
            && digits.len() <= NUMBER_DIGITS_MAX
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        if !well_formed {
            return None;
        }
        Some(Ref { nonce: Nonce(letters.to_owned()), number: digits.parse().ok()? })
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.nonce.0, self.number)
    }
}

/// What the last snapshot said of an element.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Its role's token.
    pub role: String,
    /// Its accessible name.
    pub name: String,
}

/// Why a ref cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stale {
    /// The text is not a ref at all.
    NotARef,
    /// It belongs to another document: the tab has navigated, or it is another frame's.
    OtherDocument,
    /// This document never gave it.
    NeverGiven,
    /// Its element was taken out of the page.
    Removed(Identity),
    /// Its element is now something else, as in lists that reuse their rows.
    Changed {
        /// What the snapshot said.
        was: Identity,
        /// What it is now.
        now: Identity,
    },
}

impl Stale {
    /// What to tell the model: what happened and what to do.
    #[must_use]
    pub fn sentence(&self, text: &str) -> String {
        match self {
            Stale::NotARef => format!(
                "\"{}\" is not a ref. Use a ref from the last snapshot of this tab, as in ref={}12.",
                text.chars().take(40).collect::<String>(),
                "kqzw"
            ),
            Stale::OtherDocument => format!(
                "{text} belongs to another document: the page has navigated or reloaded since that snapshot \
                 (or the ref is of another tab). Read the page again and use a new ref."
            ),
            Stale::NeverGiven => {
                format!("{text} was never given in this document. Read the page again and use a ref from it.")
            }
            Stale::Removed(was) => format!(
                "{text} ({}) is no longer in the page: the page has re-rendered that part, it has not \
                 navigated. Nothing was done. Read the page again and use the new ref.",
                told(was)
            ),
            Stale::Changed { was, now } => format!(
                "{text} was {} and is now {}: the page has re-rendered and reused the element. Nothing was \
                 done. Read the page again and use the new ref.",
                told(was),
                told(now)
            ),
        }
    }
}

fn told(identity: &Identity) -> String {
    let role = if identity.role.is_empty() { "an element" } else { &identity.role };
    if identity.name.is_empty() {
        return format!("{role} without a name");
    }
    format!("{role} \"{}\"", crate::clean::shorten(&identity.name, 80))
}

/// The refs that one document has given.
#[derive(Clone, Debug)]
pub struct RefTable {
    nonce: Nonce,
    last: u32,
    told: BTreeMap<u32, Identity>,
}

impl RefTable {
    /// An empty table of the document with this nonce.
    #[must_use]
    pub fn new(nonce: Nonce) -> RefTable {
        RefTable { nonce, last: 0, told: BTreeMap::new() }
    }

    /// A number that was never given before.
    pub fn issue(&mut self) -> u32 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// The highest number given so far.
    #[must_use]
    pub fn last(&self) -> u32 {
        self.last
    }

    /// The ref for a number.
    #[must_use]
    pub fn to_ref(&self, number: u32) -> Ref {
        Ref { nonce: self.nonce.clone(), number }
    }

    /// Remembers what a snapshot says of an element.
    pub fn tell(&mut self, number: u32, identity: Identity) {
        self.told.insert(number, identity);
    }

    /// What the last snapshot said of an element.
    #[must_use]
    pub fn told(&self, number: u32) -> Option<&Identity> {
        self.told.get(&number)
    }

    /// Forgets the numbers for which `alive` says no, so that the table does not grow without bound;
    /// their numbers stay used.
    pub fn retain(&mut self, mut alive: impl FnMut(u32) -> bool) {
        self.told.retain(|number, _| alive(*number));
    }

    /// The number that a ref stands for, if it is of this document.
    ///
    /// # Errors
    /// When the text is no ref, of another document, or was never given.
    pub fn resolve(&self, text: &str) -> Result<u32, Stale> {
        let parsed = Ref::parse(text).ok_or(Stale::NotARef)?;
        if parsed.nonce != self.nonce {
            return Err(Stale::OtherDocument);
        }
        if parsed.number == 0 || parsed.number > self.last {
            return Err(Stale::NeverGiven);
        }
        Ok(parsed.number)
    }

    /// Whether an element is still what the snapshot said; `now` is none when it left the page.
    ///
    /// # Errors
    /// When it left the page or has become something else.
    pub fn check(&self, number: u32, now: Option<&Identity>) -> Result<(), Stale> {
        let was = self.told.get(&number).cloned().unwrap_or_default();
        match now {
            None => Err(Stale::Removed(was)),
            Some(now) if *now != was => Err(Stale::Changed { was, now: now.clone() }),
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RefTable {
        RefTable::new(Nonce("kqzw".to_owned()))
    }

    fn button(name: &str) -> Identity {
        Identity { role: "button".to_owned(), name: name.to_owned() }
    }

    #[test]
    fn a_ref_reads_back_as_it_was_written() {
        let mut refs = table();
        let number = refs.issue();
        let text = refs.to_ref(number).to_string();
        assert_eq!(text, "kqzw1");
        assert_eq!(refs.resolve(&text), Ok(1));
        assert_eq!(refs.resolve("[ref=kqzw1]"), Ok(1));
    }

    #[test]
    fn numbers_are_never_given_twice() {
        let mut refs = table();
        let first = refs.issue();
        refs.tell(first, button("A"));
        refs.retain(|_| false);
        assert_eq!((first, refs.issue(), refs.last()), (1, 2, 2));
    }

    #[test]
    fn what_is_not_a_ref_of_this_document_is_told_apart() {
        let mut refs = table();
        refs.issue();
        let table = [
            ("", Stale::NotARef),
            ("e12", Stale::NotARef),
            ("kqzw", Stale::NotARef),
            ("kqzw01", Stale::NotARef),
            ("kqzw-1", Stale::NotARef),
            ("kqzw1234567890", Stale::NotARef),
            ("KQZW1", Stale::NotARef),
            ("äöüß1", Stale::NotARef),
            ("abcd1", Stale::OtherDocument),
            ("kqzw2", Stale::NeverGiven),
        ];
        for (text, stale) in table {
            assert_eq!(refs.resolve(text), Err(stale), "{text}");
        }
    }

    #[test]
    fn an_element_must_still_be_what_the_snapshot_said() {
        let mut refs = table();
        let number = refs.issue();
        refs.tell(number, button("Beta"));
        assert_eq!(refs.check(number, Some(&button("Beta"))), Ok(()));
        assert_eq!(refs.check(number, None), Err(Stale::Removed(button("Beta"))));
        assert_eq!(
            refs.check(number, Some(&button("Gamma"))),
            Err(Stale::Changed { was: button("Beta"), now: button("Gamma") })
        );
    }

    #[test]
    fn the_sentence_tells_a_re_render_from_a_navigation() {
        let removed = Stale::Removed(button("Beta")).sentence("kqzw1");
        assert!(removed.contains("re-rendered") && removed.contains("button \"Beta\""), "{removed}");
        let other = Stale::OtherDocument.sentence("abcd1");
        assert!(other.contains("navigated or reloaded"), "{other}");
    }

    #[test]
    fn nonces_are_four_letters_whatever_the_bits() {
        for bits in [0, 1, 25, 26, u32::MAX] {
            let nonce = Nonce::from_random(bits);
            assert_eq!(Ref::parse(&format!("{}7", nonce.as_str())).map(|r| r.number), Some(7));
        }
    }
}
