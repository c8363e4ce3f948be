//! The fields for what a turn and a chat may use: texts into limits and back, and what a limit cannot do.

use panelot_protocol::settings::{Budgets, Settings};

use crate::i18n::Key;

/// The highest cost that the settings take, in US dollars.
const COST_USD_MAX: f64 = 1_000_000.0;
/// The most tokens that the settings take.
const TOKENS_MAX: u64 = 9_007_199_254_740_991;

/// The tokens that a turn may use; empty for no limit.
///
/// # Errors
/// The sentence that says what is wanted.
pub fn read_tokens(text: &str) -> Result<Option<u64>, Key> {
    // Thousands are often parted; a number of tokens has no fraction.
    let digits: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '_')).collect();
    match digits.parse::<u64>() {
        _ if digits.is_empty() => Ok(None),
        Ok(tokens) if (1..=TOKENS_MAX).contains(&tokens) => Ok(Some(tokens)),
        Ok(_) | Err(_) => Err(Key::LimitTokensWrong),
    }
}

/// The cost that a chat may reach in US dollars; empty for no limit.
///
/// # Errors
/// The sentence that says what is wanted.
pub fn read_cost(text: &str) -> Result<Option<f64>, Key> {
    let number = text.trim().trim_start_matches('$').trim();
    // A comma before three digits may part thousands or cents: nobody guesses about money.
    let number = match number.split_once(',') {
        Some((dollars, cents)) if cents.len() <= 2 => format!("{dollars}.{cents}"),
        Some(_) => return Err(Key::LimitCostWrong),
        None => number.to_owned(),
    };
    match number.parse::<f64>() {
        _ if number.is_empty() => Ok(None),
        Ok(cost) if cost > 0.0 && cost <= COST_USD_MAX => Ok(Some(cost)),
        Ok(_) | Err(_) => Err(Key::LimitCostWrong),
    }
}

/// What the fields hold for these limits: tokens, cost.
#[must_use]
pub fn texts(budgets: &Budgets) -> [String; 2] {
    [
        budgets.turn_tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
        budgets.thread_cost_usd.map(|cost| cost.to_string()).unwrap_or_default(),
    ]
}

/// The names of the models that can be chosen and have no known price: a limit of cost does nothing for them. Empty when
/// no cost is limited.
#[must_use]
pub fn without_price(settings: &Settings) -> Vec<String> {
    if settings.budgets.thread_cost_usd.is_none() {
        return Vec::new();
    }
    let enabled = settings.connections.iter().filter(|connection| connection.enabled);
    let unpriced = enabled.flat_map(|connection| &connection.models).filter(|entry| entry.pricing.is_none());
    unpriced.map(|entry| entry.display_name.clone().unwrap_or_else(|| entry.model.model_id.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_whole_and_above_zero_and_an_empty_field_is_no_limit() {
        let read = ["", "  ", "50000", "50,000", "1 000", "0", "-5", "1.5", "18446744073709551615"];
        let read = read.map(read_tokens);
        let wrong = Err(Key::LimitTokensWrong);
        let expected = [
            Ok(None),
            Ok(None),
            Ok(Some(50_000)),
            Ok(Some(50_000)),
            Ok(Some(1_000)),
            wrong,
            wrong,
            wrong,
            wrong,
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_cost_is_in_dollars_with_a_point_or_a_comma() {
        let read = ["", "2", "$2.50", "0,5", "0", "-1", "NaN", "1000001", "two"].map(read_cost);
        let wrong = Err(Key::LimitCostWrong);
        let expected =
            [Ok(None), Ok(Some(2.0)), Ok(Some(2.5)), Ok(Some(0.5)), wrong, wrong, wrong, wrong, wrong];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_cost_that_can_be_read_in_two_ways_is_refused() {
        let read = ["1,000", "1,000.50", "1.000,50", "1,2,3"].map(read_cost);
        assert_eq!(read, [Err(Key::LimitCostWrong); 4]);
    }

    #[test]
    fn what_is_shown_is_read_back() {
        let budgets = Budgets { turn_tokens: Some(12_000), thread_cost_usd: Some(0.25) };
        let [tokens, cost] = texts(&budgets);
        assert_eq!((read_tokens(&tokens), read_cost(&cost)), (Ok(Some(12_000)), Ok(Some(0.25))));
        assert_eq!(texts(&Budgets::default()), ["", ""]);
    }
}
