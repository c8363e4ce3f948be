//! Which options of a native `select` are meant: by value, by label, or by index.

use super::failure::{Code, Failure};
use crate::clean::{clean, shorten};
use crate::facts::OptionFacts;

/// A failure lists this many options at most.
const LISTED_MAX: usize = 40;
/// A listed label is cut here, in characters.
const LISTED_CHARS_MAX: usize = 60;

/// The positions to select, ascending, each once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Positions among the options.
    pub positions: Vec<usize>,
}

/// Finds the options that `wanted` names.
///
/// A wanted text is taken as a value, then as a label, then as a label without regard to case, then as a
/// position that starts at 0 and is written `#3` or, where nothing else matches, `3`.
///
/// # Errors
/// When one is not there, is disabled, or fits several options; the failure lists the options.
pub fn choose_options(options: &[OptionFacts], wanted: &[String], multiple: bool) -> Result<Choice, Failure> {
    if wanted.len() > 1 && !multiple {
        return Err(Failure::new(
            Code::AmbiguousTarget,
            format!(
                "This list takes one value, but {} were given. Give one of: {}.",
                wanted.len(),
                list(options)
            ),
        ));
    }
    let mut positions = Vec::with_capacity(wanted.len());
    for text in wanted {
        positions.push(find(options, text)?);
    }
    positions.sort_unstable();
    positions.dedup();
    Ok(Choice { positions })
}

fn find(options: &[OptionFacts], text: &str) -> Result<usize, Failure> {
    let label = clean(text);
    let lower = label.to_lowercase();
    let rules: [&dyn Fn(&OptionFacts) -> bool; 3] =
        [&|option| option.value == text, &|option| clean(&option.label) == label, &|option| {
            clean(&option.label).to_lowercase() == lower
        }];
    for fits in rules {
        let found: Vec<usize> =
            options.iter().enumerate().filter(|(_, option)| fits(option)).map(|(at, _)| at).collect();
        match found.as_slice() {
            [] => {}
            [at] => return enabled(options, *at, text),
            // Equal values are one choice to the form; the first that can be chosen is as good as any.
            [first, ..] => {
                let can = found.iter().find(|at| options.get(**at).is_some_and(|option| !option.disabled));
                return enabled(options, *can.unwrap_or(first), text);
            }
        }
    }
    let digits = text.trim().strip_prefix('#').unwrap_or(text.trim());
    if let Some(at) = digits.parse::<usize>().ok().filter(|at| *at < options.len()) {
        return enabled(options, at, text);
    }
    Err(Failure::new(
        Code::AmbiguousTarget,
        format!(
            "There is no option \"{}\". Nothing was changed. Choose one of: {}.",
            shorten(&label, 80),
            list(options)
        ),
    ))
}

fn enabled(options: &[OptionFacts], at: usize, text: &str) -> Result<usize, Failure> {
    if options.get(at).is_some_and(|option| option.disabled) {
        return Err(Failure::new(
            Code::Disabled,
            format!(
                "The option \"{}\" is disabled. Nothing was changed. Choose one of: {}.",
                clean(text),
                list(options)
            ),
        ));
    }
    Ok(at)
}

/// The options in words, labels in quotes; the value beside a label that differs from it.
fn list(options: &[OptionFacts]) -> String {
    let mut told: Vec<String> = options
        .iter()
        .filter(|option| !option.disabled)
        .take(LISTED_MAX)
        .map(|option| {
            let label = shorten(&clean(&option.label), LISTED_CHARS_MAX);
            if option.value == option.label || option.value.is_empty() {
                format!("\"{label}\"")
            } else {
                format!("\"{label}\" (value {})", shorten(&clean(&option.value), LISTED_CHARS_MAX))
            }
        })
        .collect();
    let more = options.iter().filter(|option| !option.disabled).count().saturating_sub(told.len());
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(value: &str, label: &str) -> OptionFacts {
        OptionFacts { label: label.to_owned(), value: value.to_owned(), ..OptionFacts::default() }
    }

    fn countries() -> Vec<OptionFacts> {
        let mut closed = option("at", "Atlantis");
        closed.disabled = true;
        vec![option("de", "Germany"), option("fr", "France"), option("1", "  One\n island "), closed]
    }

    fn wanted(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_value_goes_before_a_label_and_a_label_before_a_position() {
        let table =
            [("de", 0), ("France", 1), ("FRANCE", 1), ("1", 2), ("One island", 2), ("#1", 1), ("0", 0)];
        for (text, at) in table {
            let choice = choose_options(&countries(), &wanted(&[text]), false);
            assert_eq!(choice, Ok(Choice { positions: vec![at] }), "{text}");
        }
    }

    #[test]
    fn several_values_need_a_list_that_takes_several() {
        let both = wanted(&["fr", "de", "Germany"]);
        assert_eq!(choose_options(&countries(), &both, true), Ok(Choice { positions: vec![0, 1] }));
        assert_eq!(
            choose_options(&countries(), &both, false).unwrap_err(),
            Failure::new(
                Code::AmbiguousTarget,
                "This list takes one value, but 3 were given. Give one of: \"Germany\" (value de), \"France\" \
                 (value fr), \"One island\" (value 1)."
            )
        );
    }

    #[test]
    fn an_unknown_option_lists_what_there_is() {
        assert_eq!(
            choose_options(&countries(), &wanted(&["Spain"]), false).unwrap_err(),
            Failure::new(
                Code::AmbiguousTarget,
                "There is no option \"Spain\". Nothing was changed. Choose one of: \"Germany\" (value de), \
                 \"France\" (value fr), \"One island\" (value 1)."
            )
        );
    }

    #[test]
    fn a_disabled_option_is_refused() {
        assert_eq!(choose_options(&countries(), &wanted(&["at"]), false).unwrap_err().code, Code::Disabled);
    }

    #[test]
    fn an_empty_wish_clears_a_list() {
        assert_eq!(choose_options(&countries(), &[], true), Ok(Choice { positions: vec![] }));
    }

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        let many: Vec<OptionFacts> = (0..100).map(|n| option(&format!("o{n}"), &format!("o{n}"))).collect();
        let failure = choose_options(&many, &wanted(&["x"]), false).unwrap_err();
        assert!(failure.message.ends_with("\"o39\", and 60 more."), "{failure}");
    }
}
