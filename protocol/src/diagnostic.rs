//! What is wrong with a message: where, and which rule.

use crate::budget::Overdraft;
use crate::format::Format;
use std::fmt;

/// Most characters of one key that a diagnostic repeats; the rest of a key from outside is cut.
const KEY_CHARS_MAX: usize = 64;

/// The place of a fault in a message and the rule that it breaks, as `input.tags[2]: longer than 64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place: `input.tags[2]`. Empty for the message itself.
    pub path: String,
    /// The rule.
    pub rule: Rule,
}

/// A rule that a message breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The message costs more than its budget.
    Budget(Overdraft),
    /// The text is not JSON; holds what the parser says.
    NotJson(String),
    /// A tag that names no variant.
    UnknownType,
    /// A key that is not part of the protocol.
    UnknownField,
    /// A string that is none of a closed set.
    UnknownValue,
    /// A key that must be there.
    Missing,
    /// Null where a key may only be absent.
    Null,
    /// Another kind of JSON value.
    WrongType(Kind),
    /// A string of more characters.
    TooLong(u64),
    /// A string of fewer characters.
    TooShort(u64),
    /// An array of more items.
    TooManyItems(u64),
    /// An array of fewer items.
    TooFewItems(u64),
    /// An object of more keys.
    TooManyKeys(u64),
    /// A number below the least, which is given as text.
    TooSmall(String),
    /// A number above the greatest, which is given as text.
    TooLarge(String),
    /// A string that does not look as it should.
    NotOfFormat(Format),
    /// A rule written by hand, in its own words.
    Boundary(String),
    /// The reader of the type refused what its shape allows, in its own words.
    Unreadable(String),
}

/// A kind of JSON value that a shape asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Diagnostic {
    /// A fault of the message as a whole.
    pub fn of_message(rule: Rule) -> Self {
        Self { path: String::new(), rule }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "message" } else { self.path.as_str() };
        write!(f, "{place}: {}", self.rule)
    }
}

impl std::error::Error for Diagnostic {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(overdraft) => overdraft.fmt(f),
            Self::NotJson(said) => write!(f, "not JSON ({said})"),
            Self::UnknownType => f.write_str("unknown type"),
            Self::UnknownField => f.write_str("unknown field"),
            Self::UnknownValue => f.write_str("not one of the known values"),
            Self::Missing => f.write_str("missing"),
            Self::Null => f.write_str("null where only absence is allowed"),
            Self::WrongType(kind) => write!(f, "not {kind}"),
            Self::TooLong(max) => write!(f, "longer than {max}"),
            Self::TooShort(min) => write!(f, "shorter than {min}"),
            Self::TooManyItems(max) => write!(f, "more than {max} items"),
            Self::TooFewItems(min) => write!(f, "fewer than {min} items"),
            Self::TooManyKeys(max) => write!(f, "more than {max} keys"),
            Self::TooSmall(min) => write!(f, "less than {min}"),
            Self::TooLarge(max) => write!(f, "greater than {max}"),
            Self::NotOfFormat(format) => write!(f, "not {format}"),
            Self::Boundary(said) | Self::Unreadable(said) => f.write_str(said),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// One step of the way to a place in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes the way as a path. Keys come from outside: control characters are escaped and long keys cut.
pub(crate) fn path_text(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.extend(key.chars().take(KEY_CHARS_MAX).flat_map(char::escape_debug));
                if key.chars().nth(KEY_CHARS_MAX).is_some() {
                    path.push('…');
                }
            }
            Step::Index(index) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_names_the_place_and_the_rule() {
        let steps = [Step::Key("input"), Step::Key("attachedContext"), Step::Index(2), Step::Key("label")];
        let diagnostic = Diagnostic { path: path_text(&steps), rule: Rule::TooLong(512) };
        assert_eq!(diagnostic.to_string(), "input.attachedContext[2].label: longer than 512");
    }

    #[test]
    fn a_fault_of_the_whole_message_says_message() {
        let diagnostic = Diagnostic::of_message(Rule::WrongType(Kind::Object));
        assert_eq!(diagnostic.to_string(), "message: not an object");
    }

    #[test]
    fn a_key_from_outside_is_escaped_and_cut() {
        let key = format!("a\n\u{202e}{}", "x".repeat(100));
        let expected = format!("a\\n\\u{{202e}}{}…", "x".repeat(61));
        assert_eq!(path_text(&[Step::Key(&key)]), expected);
    }
}
