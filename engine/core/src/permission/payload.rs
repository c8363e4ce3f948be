//! What a write would carry: card numbers, credentials, foreign addresses, values read on other sites.

use super::origins::{Origin, percent_decoded};
use panelot_protocol::FromJson;
use panelot_protocol::content::SensitiveField;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Digits of a payment card's number.
const CARD_DIGITS_MIN: usize = 13;
/// Digits of a payment card's number.
const CARD_DIGITS_MAX: usize = 19;
/// Characters from which a run with a digit in it is a value that can be recognised.
const CODE_CHARS_MIN: usize = 8;
/// Characters from which any run is a value that can be recognised.
const RUN_CHARS_MIN: usize = 20;
/// Words that make one value together.
const PHRASE_WORDS: usize = 4;
/// Characters from which such words are a value.
const PHRASE_CHARS_MIN: usize = 20;
/// Characters of a script without spaces that make one value together.
const DENSE_CHARS: usize = 8;
/// Most characters of one text that are looked at; the rest is judged by what was seen.
const TEXT_CHARS_MAX: usize = 400_000;
/// Values that are remembered per thread; the oldest are forgotten first.
pub const TAINT_VALUES_COUNT_MAX: usize = 60_000;

/// Something sensitive in what a write would carry. Never holds the value itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A number that is a payment card's by its form and check digit.
    CardNumber,
    /// The field takes a password.
    PasswordField,
    /// The field takes a one-time code.
    OneTimeCodeField,
    /// The field takes a card's number, date or code.
    CardField,
    /// The field's name asks for a secret.
    CredentialField,
    /// The text is a key or token by its form.
    CredentialText,
    /// An e-mail address that is not the user's own.
    ForeignEmail,
    /// A value that was read on another site.
    ReadElsewhere {
        /// That site.
        from: Origin,
    },
}

impl Finding {
    /// The finding in the words of a sentence: "it carries ...".
    pub fn phrase(&self) -> String {
        match self {
            Self::CardNumber => "a payment card's number".to_owned(),
            Self::PasswordField => "text for a password field".to_owned(),
            Self::OneTimeCodeField => "text for a one-time code field".to_owned(),
            Self::CardField => "text for a payment card field".to_owned(),
            Self::CredentialField => "text for a field that asks for a secret".to_owned(),
            Self::CredentialText => "what looks like a key or token".to_owned(),
            Self::ForeignEmail => "an e-mail address that is not known as the user's own".to_owned(),
            Self::ReadElsewhere { from } => format!("a value that was read on {from}"),
        }
    }
}

/// What a write would carry, and where to.
#[derive(Debug, Clone, Copy)]
pub struct Payload<'a> {
    /// Texts that would be typed, chosen or sent. Of an address: the parts after the host, by [`address_parts`].
    pub texts: &'a [String],
    /// What the field is, where the page says so.
    pub field: Option<SensitiveField>,
    /// The field's accessible name; empty without a field.
    pub field_name: &'a str,
    /// Where it would go.
    pub to: Option<&'a Origin>,
}

/// Looks for what is sensitive. The answer is sorted and names each finding once.
pub fn inspect(payload: &Payload<'_>, own_emails: &[String], taints: &Taints) -> Vec<Finding> {
    let mut found = BTreeSet::new();
    let carries = payload.texts.iter().any(|text| !text.trim().is_empty());
    if !carries {
        return Vec::new();
    }
    match payload.field {
        Some(SensitiveField::Password) => _ = found.insert(Finding::PasswordField),
        Some(SensitiveField::OneTimeCode) => _ = found.insert(Finding::OneTimeCodeField),
        Some(SensitiveField::Card) => _ = found.insert(Finding::CardField),
        None if asks_for_secret(payload.field_name) => _ = found.insert(Finding::CredentialField),
        None => {}
    }
    for text in payload.texts {
        if has_card_number(text) {
            found.insert(Finding::CardNumber);
        }
        if has_credential(text) {
            found.insert(Finding::CredentialText);
        }
        if emails(text).any(|email| !own_emails.iter().any(|own| own.eq_ignore_ascii_case(email))) {
            found.insert(Finding::ForeignEmail);
        }
        found
            .extend(taints.sources(text, payload.to).into_iter().map(|from| Finding::ReadElsewhere { from }));
    }
    found.into_iter().collect()
}

/// The parts of an address after its host that could carry a value out, with escapes undone.
pub fn address_parts(rest: &str) -> Vec<String> {
    let parts = rest.split(['/', '?', '#', '&', '=', ';']).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let spaced = part.replace('+', " ");
            percent_decoded(&spaced).unwrap_or(spaced)
        })
        .collect()
}

/// Whether a run of digits, with single spaces or hyphens between them, is a payment card's number: known first
/// digits, a length that such cards have, and a valid Luhn check digit.
pub fn has_card_number(text: &str) -> bool {
    let mut digits: Vec<u8> = Vec::new();
    let mut after_separator = false;
    // The closing mark ends the last run.
    for c in text.chars().chain(['.']) {
        if let Some(digit) = c.to_digit(10).and_then(|digit| u8::try_from(digit).ok()) {
            digits.push(digit);
            after_separator = false;
        } else if matches!(c, ' ' | '-' | '\u{a0}') && !digits.is_empty() && !after_separator {
            after_separator = true;
        } else {
            if is_card(&digits) {
                return true;
            }
            digits.clear();
            after_separator = false;
        }
    }
    false
}

fn is_card(digits: &[u8]) -> bool {
    let known_start = match digits {
        [4, ..] | [5, 1..=5, ..] | [3, 4 | 7, ..] | [6, 0 | 2 | 4 | 5, ..] | [3, 0 | 5 | 6 | 8, ..] => true,
        [2, 2..=7, ..] => digits.len() == 16,
        _ => false,
    };
    (CARD_DIGITS_MIN..=CARD_DIGITS_MAX).contains(&digits.len()) && known_start && luhn(digits)
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(*digit) * if place % 2 == 1 { 2 } else { 1 };
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Words in the names of fields that take a secret, in the languages of the interface.
const SECRET_FIELD_WORDS: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "api key",
    "apikey",
    "api-key",
    "access key",
    "private key",
    "recovery",
    "seed phrase",
    "security code",
    "cvv",
    "cvc",
    "ssn",
    "social security",
    "密码",
    "口令",
    "密钥",
    "验证码",
];

fn asks_for_secret(field_name: &str) -> bool {
    let name = field_name.to_lowercase().replace('_', " ");
    let is_pin = name.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "pin" | "otp" | "2fa"));
    is_pin || SECRET_FIELD_WORDS.iter().any(|word| name.contains(word))
}

/// How keys of well-known services begin, and the least length of what follows.
const KEY_PREFIXES: [(&str, usize); 16] = [
    ("sk-", 16),
    ("sk_live_", 12),
    ("sk_test_", 12),
    ("rk_live_", 12),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("hf_", 20),
    ("npm_", 30),
];

fn has_credential(text: &str) -> bool {
    let is_key_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.contains("-----BEGIN ") && text.contains("PRIVATE KEY")
        || text.split(|c: char| !is_key_char(c)).any(|word| is_web_token(word) || is_key(word))
}

fn is_key(word: &str) -> bool {
    KEY_PREFIXES.iter().any(|(prefix, least)| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() >= *least
                && rest.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        })
    })
}

/// A JSON Web Token: three parts in base64, of which the first two are objects.
fn is_web_token(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    matches!(parts.as_slice(), [head, claims, _] if head.len() >= 10 && head.starts_with("eyJ") && claims.starts_with("eyJ"))
}

/// The e-mail addresses in a text.
fn emails(text: &str) -> impl Iterator<Item = &str> {
    let in_email = |c: char| c.is_alphanumeric() || matches!(c, '@' | '.' | '_' | '-' | '+' | '%' | '\'');
    text.split(move |c| !in_email(c)).map(|word| word.trim_matches(['.', '-', '\''])).filter(|word| {
        word.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty()
                && host.rsplit_once('.').is_some_and(|(name, top)| {
                    !name.is_empty() && !name.contains('@') && top.chars().count() >= 2
                })
        })
    })
}

/// Values that a thread has read, as hashes by the origin that showed them.
///
/// Recognises codes and numbers (8 characters with a digit), long runs (20 characters), phrases of four words and
/// pieces of eight characters of scripts without spaces. A value that is rewritten before it is sent is not
/// recognised: this wall stands behind the others. Runs with a slash are remembered whole only, so that the links
/// of a page can be followed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, FromJson)]
#[serde(from = "StoredTaints", into = "StoredTaints")]
pub struct Taints {
    origins: Vec<Origin>,
    /// Value → places of `origins` that showed it.
    values: HashMap<u64, BTreeSet<u32>>,
    /// Values in the order of arrival.
    order: VecDeque<u64>,
    /// Values that the user has said; these may go anywhere.
    own: BTreeSet<u64>,
}

/// The form in which taints are stored with their thread.
#[derive(Debug, Clone, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
struct StoredTaints {
    origins: Vec<Origin>,
    values: Vec<(u64, BTreeSet<u32>)>,
    own: BTreeSet<u64>,
}

impl From<StoredTaints> for Taints {
    fn from(stored: StoredTaints) -> Self {
        let order = stored.values.iter().map(|(value, _)| *value).collect();
        Self { origins: stored.origins, values: stored.values.into_iter().collect(), order, own: stored.own }
    }
}

impl From<Taints> for StoredTaints {
    fn from(taints: Taints) -> Self {
        let values = taints
            .order
            .iter()
            .filter_map(|value| taints.values.get(value).map(|places| (*value, places.clone())))
            .collect();
        Self { origins: taints.origins, values, own: taints.own }
    }
}

impl Taints {
    /// Remembers what a document showed.
    pub fn record(&mut self, from: &Origin, text: &str) {
        let place = self.place_of(from);
        for value in values_of(text) {
            match self.values.get_mut(&value) {
                Some(places) => _ = places.insert(place),
                None => {
                    self.values.insert(value, BTreeSet::from([place]));
                    self.order.push_back(value);
                }
            }
        }
        while self.order.len() > TAINT_VALUES_COUNT_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.values.remove(&oldest);
            }
        }
    }

    /// Remembers what the user said: it may go where the user's task takes it.
    pub fn record_own(&mut self, text: &str) {
        let free = TAINT_VALUES_COUNT_MAX.saturating_sub(self.own.len());
        self.own.extend(values_of(text).into_iter().take(free));
    }

    /// The origins whose values a text carries, when it goes to `to`. A value that `to` itself has shown, or that
    /// the user has said, is free.
    pub fn sources(&self, text: &str, to: Option<&Origin>) -> Vec<Origin> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeMap<&Origin, ()> = BTreeMap::new();
        for value in values_of(text) {
            if self.own.contains(&value) {
                continue;
            }
            let Some(places) = self.values.get(&value) else { continue };
            let mut shown_by = places
                .iter()
                .filter_map(|place| usize::try_from(*place).ok().and_then(|place| self.origins.get(place)));
            if shown_by.clone().all(|origin| Some(origin) != to) {
                found.extend(shown_by.next().map(|origin| (origin, ())));
            }
        }
        found.into_keys().cloned().collect()
    }

    fn place_of(&mut self, origin: &Origin) -> u32 {
        let known = self.origins.iter().position(|known| known == origin);
        let place = known.unwrap_or_else(|| {
            self.origins.push(origin.clone());
            self.origins.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }
}

/// The hashes of the values of a text.
fn values_of(text: &str) -> BTreeSet<u64> {
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let lower = text.get(..end).unwrap_or(text).to_lowercase();
    let mut values = BTreeSet::new();
    let mut words: VecDeque<&str> = VecDeque::new();
    for run in lower.split_whitespace() {
        let trimmed = run.trim_matches(|c: char| !c.is_alphanumeric());
        if is_value(trimmed) {
            values.insert(hash(&[trimmed]));
        }
        if trimmed.contains('/') {
            words.clear();
            continue;
        }
        for code in trimmed.split(is_code_border).filter(|code| is_value(code)) {
            values.insert(hash(&[code]));
        }
        for word in trimmed.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if is_value(word) {
                values.insert(hash(&[word]));
            }
            values.extend(dense_pieces(word));
            words.push_back(word);
            if words.len() > PHRASE_WORDS {
                words.pop_front();
            }
            let chars: usize = words.iter().map(|word| word.chars().count()).sum();
            if words.len() == PHRASE_WORDS && chars >= PHRASE_CHARS_MIN {
                values.insert(hash(words.make_contiguous()));
            }
        }
    }
    values
}

/// What stands around codes and numbers but not inside them.
fn is_code_border(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.' | ',' | '@' | '+')
}

fn is_value(run: &str) -> bool {
    let chars = run.chars().count();
    let marked = run.chars().any(|c| c.is_numeric() || c == '@');
    (chars >= CODE_CHARS_MIN && marked) || chars >= RUN_CHARS_MIN
}

/// Every piece of eight characters of a word in a script that puts no spaces between words.
fn dense_pieces(word: &str) -> Vec<u64> {
    let chars: Vec<char> = word.chars().collect();
    chars
        .windows(DENSE_CHARS)
        .filter(|piece| piece.iter().all(|c| is_dense(*c)))
        .map(|piece| hash(&[piece.iter().collect::<String>().as_str()]))
        .collect()
}

fn is_dense(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a over the words with a border between them. A page that finds a collision only makes one question more.
fn hash(words: &[&str]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    state
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
