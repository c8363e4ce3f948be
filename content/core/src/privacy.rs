//! Which fields are secret: their value is never read, only whether there is one.

use crate::facts::{Attr, ElementFacts};

/// Tokens of `autocomplete` that name passwords, one-time codes and card data.
const SECRET_TOKENS: [&str; 8] = [
    "current-password",
    "new-password",
    "one-time-code",
    "cc-number",
    "cc-csc",
    "cc-exp",
    "cc-exp-month",
    "cc-exp-year",
];

/// Whether a field with this `type` and `autocomplete` must not show its value.
#[must_use]
pub fn is_secret_field(input_type: &str, autocomplete: Option<&str>) -> bool {
    input_type.trim().eq_ignore_ascii_case("password")
        || autocomplete.is_some_and(|tokens| {
            tokens
                .split_ascii_whitespace()
                .any(|token| SECRET_TOKENS.iter().any(|secret| token.eq_ignore_ascii_case(secret)))
        })
}

/// Whether the element is a field that must not show its value.
#[must_use]
pub fn is_secret(facts: &ElementFacts) -> bool {
    matches!(facts.tag.as_ref(), "input" | "textarea" | "select")
        && is_secret_field(&facts.input_type(), facts.attr(Attr::Autocomplete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_codes_and_cards_are_secret_and_names_are_not() {
        let table = [
            (("password", None), true),
            ((" PassWord", None), true),
            (("text", Some("one-time-code")), true),
            (("tel", Some("section-a billing CC-Number")), true),
            (("text", Some("cc-csc webauthn")), true),
            (("text", Some("cc-name")), false),
            (("email", Some("username")), false),
            (("text", None), false),
        ];
        for ((kind, autocomplete), secret) in table {
            assert_eq!(is_secret_field(kind, autocomplete), secret, "{kind} {autocomplete:?}");
        }
    }
}
