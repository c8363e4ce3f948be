//! What strings of the protocol look like: small checks over their characters.

use std::fmt;

/// What a string must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A UUID in lower or upper hex with its four hyphens.
    Uuid,
    /// 1 to 64 of `A-Z a-z 0-9 _ -`.
    Id,
    /// A SHA-256 in 64 lower hex digits.
    Hash,
    /// Digits with at most one point between digits, and a leading minus at most.
    Decimal,
    /// Standard base64 with its padding.
    Base64,
}

/// Most characters of an id.
pub const ID_CHARS_MAX: usize = 64;
/// Characters of a hash.
pub const HASH_CHARS: usize = 64;
/// Most characters of a decimal number.
pub const DECIMAL_CHARS_MAX: usize = 64;

const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

impl Format {
    /// Whether the text looks like this.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Uuid => is_uuid(text),
            Self::Id => {
                (1..=ID_CHARS_MAX).contains(&text.len())
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            }
            Self::Hash => {
                text.len() == HASH_CHARS
                    && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            }
            Self::Decimal => is_decimal(text),
            Self::Base64 => is_base64(text),
        }
    }

    /// The name that the manifest knows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uuid => "uuid",
            Self::Id => "id",
            Self::Hash => "hash",
            Self::Decimal => "decimal",
            Self::Base64 => "base64",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uuid => "a UUID",
            Self::Id => "an id (1 to 64 of A-Z a-z 0-9 _ -)",
            Self::Hash => "a hash (64 lower hex digits)",
            Self::Decimal => "a decimal number",
            Self::Base64 => "base64",
        })
    }
}

fn is_uuid(text: &str) -> bool {
    let mut groups = text.split('-');
    let right = UUID_GROUPS.iter().all(|length| {
        groups
            .next()
            .is_some_and(|group| group.len() == *length && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    right && groups.next().is_none()
}

fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    text.len() <= DECIMAL_CHARS_MAX
        && match unsigned.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(unsigned),
        }
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::Format::{self, Base64, Decimal, Hash, Id, Uuid};

    fn check(format: Format, good: &[&str], bad: &[&str]) {
        let accepted: Vec<&str> =
            good.iter().chain(bad).copied().filter(|text| format.accepts(text)).collect();
        assert_eq!(accepted, good);
    }

    #[test]
    fn a_uuid_has_five_groups_of_hex() {
        check(
            Uuid,
            &["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"],
            &[
                "",
                "0f8fad5b-d9cb-469f-a165-70867728950",
                "0f8fad5b-d9cb-469f-a165-70867728950e-",
                "0f8fad5bd9cb469fa16570867728950e",
                "0g8fad5b-d9cb-469f-a165-70867728950e",
            ],
        );
    }

    #[test]
    fn an_id_has_1_to_64_plain_characters() {
        let longest = "x".repeat(64);
        let longer = "x".repeat(65);
        check(Id, &["a", "A-9_z", &longest], &["", "a b", "a.b", "ä", &longer]);
    }

    #[test]
    fn a_hash_has_64_lower_hex_digits() {
        let hash = "0123456789abcdef".repeat(4);
        let upper = hash.to_uppercase();
        check(Hash, &[&hash], &["", &upper, "0123456789abcdef"]);
    }

    #[test]
    fn a_decimal_has_digits_on_both_sides_of_its_point() {
        check(Decimal, &["0", "-12", "3.50"], &["", "-", ".5", "5.", "1e3", "1.2.3", "+1", "--1", "-1.-2"]);
    }

    #[test]
    fn base64_comes_in_padded_groups_of_four() {
        check(Base64, &["", "QQ==", "QUI=", "QUJD", "+/+/"], &["QQ", "QQ=", "Q===", "QU-D", "====", "Q=Q="]);
    }
}
