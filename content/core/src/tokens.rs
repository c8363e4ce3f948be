//! What a piece of text costs in a model's context, estimated on the high side.

/// Weights are in hundredths of a token, so that short pieces add up without rounding.
const CENTI: u32 = 100;

/// The estimated cost of `text`, in hundredths of a token.
///
/// Tokenisers differ; the weights are those of the dearer ones for each kind of character.
#[must_use]
pub fn centitokens(text: &str) -> u32 {
    let mut sum = 0u32;
    for c in text.chars() {
        sum = sum.saturating_add(match c {
            'a'..='z' => 24,
            'A'..='Z' => 32,
            ' ' => 8,
            '0'..='9' => 45,
            '\n' => 50,
            '\0'..='\u{7F}' => 60,
            '\u{80}'..='\u{24F}' => 60,
            '\u{250}'..='\u{1FFF}' => 70,
            '\u{2000}'..='\u{2FFF}' => 120,
            '\u{3000}'..='\u{FFFF}' => 120,
            '\u{10000}'..='\u{10FFFF}' => 250,
        });
    }
    sum
}

/// A budget in tokens as hundredths.
#[must_use]
pub fn budget(tokens: u32) -> u32 {
    tokens.saturating_mul(CENTI)
}

/// The estimated cost of `text` in whole tokens, rounded up.
#[must_use]
pub fn tokens(text: &str) -> u32 {
    centitokens(text).div_ceil(CENTI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_costs_about_a_token_for_four_letters() {
        assert_eq!(tokens("the quick brown fox jumps over the lazy dog"), 10);
    }

    #[test]
    fn chinese_costs_at_least_a_token_for_each_character() {
        assert_eq!(tokens("北京欢迎你"), 6);
    }

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(tokens(""), 0);
    }
}
