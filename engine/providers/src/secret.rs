//! Keys and other secrets: values that can be sent but never printed, and the redaction of texts that echo them.

use std::fmt;

use crate::types::Connection;

/// The shortest piece of a secret that is masked when a foreign text repeats it, in bytes.
const SECRET_PIECE_BYTES_MIN: usize = 8;
/// What stands in a text where a secret stood.
const MASK: &str = "•••";
/// Beginnings that mark a word as a key, whoever it belongs to.
const KEY_PREFIXES: [&str; 8] = ["sk-", "sk_", "xai-", "gsk_", "AIza", "pplx-", "hf_", "r8_"];
/// The shortest word that is taken for a key because of its beginning, in bytes.
const KEY_WORD_BYTES_MIN: usize = 16;

/// An API key or a secret header value. It has no `Serialize`, and its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key as the user entered it; surrounding white space, which a paste often brings, is dropped.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.trim().to_owned())
    }

    /// The secret itself, for the one header that carries it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(•••)")
    }
}

/// Removes known secrets, pieces of them and anything that looks like a key from texts that others wrote.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Masked also where only a piece of them stands.
    secrets: Vec<String>,
    /// Header values that are addresses: masked as a whole only, since their pieces stand in any text.
    addresses: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// A redactor for everything secret that a request over `connection` with `keys` carries.
    #[must_use]
    pub fn new<'k>(connection: &Connection, keys: impl IntoIterator<Item = &'k Secret>) -> Self {
        let headers = connection.custom_headers.values().cloned();
        let (addresses, secrets) = keys
            .into_iter()
            .map(|key| key.expose().to_owned())
            .chain(headers)
            .filter(|secret| secret.len() >= SECRET_PIECE_BYTES_MIN)
            .partition(|secret| secret.contains("://"));
        Self { secrets, addresses }
    }

    /// `text` with every secret, and every piece of one that is long enough to be of use, masked.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let text = self.addresses.iter().fold(text.to_owned(), |text, address| text.replace(address, MASK));
        mask_key_like_words(&self.mask_known(&text))
    }

    fn mask_known(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let piece = self.longest_piece_at(rest);
            let step = if piece >= SECRET_PIECE_BYTES_MIN {
                masked.push_str(MASK);
                piece
            } else {
                masked.push(first);
                first.len_utf8()
            };
            rest = rest.get(step..).unwrap_or_default();
        }
        masked
    }

    /// The length in bytes of the longest run at the start of `text` that also stands somewhere in a secret.
    fn longest_piece_at(&self, text: &str) -> usize {
        let mut longest = 0;
        for secret in &self.secrets {
            for (start, _) in secret.char_indices() {
                let tail = secret.get(start..).unwrap_or_default();
                let shared = tail
                    .chars()
                    .zip(text.chars())
                    .take_while(|(ours, theirs)| ours == theirs)
                    .map(|(ours, _)| ours.len_utf8())
                    .sum();
                longest = longest.max(shared);
            }
        }
        longest
    }
}

/// Masks words that begin like a key: a provider may quote a key that is not the one we sent.
fn mask_key_like_words(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !is_key_char(c)) {
        let core = word.trim_end_matches(|c: char| !is_key_char(c));
        let is_key = core.len() >= KEY_WORD_BYTES_MIN && KEY_PREFIXES.iter().any(|p| core.starts_with(p));
        if is_key {
            masked.push_str(MASK);
            masked.push_str(word.get(core.len()..).unwrap_or_default());
        } else {
            masked.push_str(word);
        }
    }
    masked
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Kind;

    fn redactor() -> Redactor {
        let mut connection = Connection::new("c1", Kind::Openai, "https://api.example.com/v1");
        connection.custom_headers.insert("api-key".into(), "azure-header-secret".into());
        connection.custom_headers.insert("x-n".into(), "1".into());
        connection.custom_headers.insert("referer-url".into(), "https://me.example/secret".into());
        Redactor::new(&connection, [&Secret::new(" planted-KEY-0123456789 ")])
    }

    #[test]
    fn a_secret_is_masked_whole_in_part_and_in_a_header_value() {
        let cases = [
            ("no 1 secret here", "no 1 secret here"),
            ("Authorization: Bearer planted-KEY-0123456789.", "Authorization: Bearer •••."),
            ("you sent planted-KEY-01", "you sent •••"),
            ("…KEY-0123456789!", "…•••!"),
            ("api-key azure-header-secret", "api-key •••"),
            ("from https://me.example/secret", "from •••"),
            ("see https://me.example/docs", "see https://me.example/docs"),
            ("北京 planted-KEY-0123456789 京", "北京 ••• 京"),
        ];
        for (text, want) in cases {
            assert_eq!(redactor().redact(text), want);
        }
    }

    #[test]
    fn a_foreign_key_is_masked_by_its_beginning() {
        let text = "Incorrect API key provided: sk-proj-****************abcd. See sk-1.";
        assert_eq!(Redactor::default().redact(text), "Incorrect API key provided: ••• See sk-1.");
    }

    #[test]
    fn a_secret_never_shows_in_debug() {
        assert_eq!(format!("{:?}", Secret::new("planted")), "Secret(•••)");
        assert!(!format!("{:?}", redactor()).contains("planted"));
    }
}
