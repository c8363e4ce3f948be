//! What text means to each kind of field, and whether the field took it.

use super::failure::{Code, Failure};

/// How a field takes text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Typing {
    /// Character by character, as a text field does.
    Text,
    /// As one value in the field's own format.
    Value,
}

/// What a field held after the action, compared with what it should hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// Exactly the text.
    Same,
    /// Something else that the page made of it; in words.
    Reshaped(String),
    /// Nothing of it.
    Nothing,
}

/// How an input of this type takes text.
///
/// # Errors
/// When the type takes none; the failure names the tool that fits.
pub fn typing_for(input_type: &str) -> Result<Typing, Failure> {
    let refuse = |message: &str| Err(Failure::new(Code::NotEditable, message));
    match input_type {
        "checkbox" | "radio" => refuse("This is a choice, not a text field. Use click on it."),
        "button" | "submit" | "reset" | "image" => {
            refuse("This is a button, not a text field. Use click on it.")
        }
        "file" => refuse("This field takes a file, which only the user can choose. Ask the user."),
        "hidden" => refuse("This field is hidden from the user and is not typed into."),
        "number" | "date" | "time" | "datetime-local" | "month" | "week" | "color" | "range" => {
            Ok(Typing::Value)
        }
        _ => Ok(Typing::Text),
    }
}

/// The value to set for a field that takes one in its own format.
///
/// # Errors
/// When the text has not that format; the failure says which.
pub fn prepare_input(input_type: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() && !matches!(input_type, "color" | "range") {
        return Ok(String::new());
    }
    let (fits, format) = match input_type {
        "date" => (is_date(text), "a date as YYYY-MM-DD, as in 2026-11-30"),
        "time" => (is_time(text), "a time as HH:MM in 24 hours, as in 18:55"),
        "datetime-local" => {
            let parts = text.split_once('T').or_else(|| text.split_once(' '));
            let fits = parts.is_some_and(|(date, time)| is_date(date) && is_time(time));
            return if fits {
                Ok(text.replacen(' ', "T", 1))
            } else {
                Err(bad_value(text, "a date and time as YYYY-MM-DDTHH:MM, as in 2026-11-30T18:55"))
            };
        }
        "month" => (is_month(text), "a month as YYYY-MM, as in 2026-11"),
        "week" => (is_week(text), "a week as YYYY-Www, as in 2026-W49"),
        "color" => (is_color(text), "a colour as #rrggbb, as in #ff8800"),
        "number" | "range" => (is_number(text), "a number with a point, as in -12.5"),
        _ => (true, ""),
    };
    if !fits {
        return Err(bad_value(text, format));
    }
    Ok(if input_type == "color" { text.to_ascii_lowercase() } else { text.to_owned() })
}

fn bad_value(text: &str, format: &str) -> Failure {
    let shown = crate::clean::shorten(&crate::clean::clean(text), 60);
    Failure::new(
        Code::NotEditable,
        format!("\"{shown}\" is not {format}. Nothing was changed. Type it in that form."),
    )
}

/// Compares what a field holds with what was meant.
///
/// `secret` values are never part of the words.
#[must_use]
pub fn check_held(meant: &str, held: &str, secret: bool) -> Held {
    let same = |a: &str, b: &str| a == b || a.replace("\r\n", "\n") == b.replace("\r\n", "\n");
    if same(meant, held) {
        return Held::Same;
    }
    if held.is_empty() && !meant.is_empty() {
        return Held::Nothing;
    }
    if secret {
        return Held::Reshaped(format!(
            "{} characters instead of {}",
            held.chars().count(),
            meant.chars().count()
        ));
    }
    Held::Reshaped(format!("\"{}\"", crate::clean::shorten(&crate::clean::clean(held), 200)))
}

fn is_number(text: &str) -> bool {
    let rest = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let exponent_fits =
        exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || digits(whole)) && digits(fraction),
        None => digits(mantissa),
    };
    mantissa_fits && exponent_fits
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str, length: usize) -> Option<u32> {
    (text.len() == length && digits(text)).then(|| text.parse().ok()).flatten()
}

fn is_month(text: &str) -> bool {
    year_month(text).is_some()
}

fn year_month(text: &str) -> Option<(u32, u32)> {
    let (year, month) = text.split_once('-')?;
    let (year, month) = (number(year, 4)?, number(month, 2)?);
    (year > 0 && (1..=12).contains(&month)).then_some((year, month))
}

fn is_date(text: &str) -> bool {
    let Some(((year, month), day)) =
        text.rsplit_once('-').and_then(|(month, day)| Some((year_month(month)?, number(day, 2)?)))
    else {
        return false;
    };
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let hour = parts.next().and_then(|part| number(part, 2)).is_some_and(|hour| hour < 24);
    let minute = parts.next().and_then(|part| number(part, 2)).is_some_and(|minute| minute < 60);
    let second = match parts.next() {
        None => true,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            number(whole, 2).is_some_and(|second| second < 60) && digits(fraction) && fraction.len() <= 3
        }
    };
    hour && minute && second && parts.next().is_none()
}

fn is_week(text: &str) -> bool {
    let Some((year, week)) = text.split_once("-W") else { return false };
    number(year, 4).is_some_and(|year| year > 0)
        && number(week, 2).is_some_and(|week| (1..=53).contains(&week))
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_the_fields_own_format_pass() {
        let table = [
            ("date", "2026-11-30", "2026-11-30"),
            ("date", " 2024-02-29 ", "2024-02-29"),
            ("date", "", ""),
            ("time", "18:55", "18:55"),
            ("time", "18:55:01.250", "18:55:01.250"),
            ("datetime-local", "2026-11-30 18:55", "2026-11-30T18:55"),
            ("month", "2026-11", "2026-11"),
            ("week", "2026-W49", "2026-W49"),
            ("color", "#FF8800", "#ff8800"),
            ("number", "1e5", "1e5"),
            ("number", "-.5", "-.5"),
            ("range", "40", "40"),
        ];
        for (kind, text, value) in table {
            assert_eq!(prepare_input(kind, text), Ok(value.to_owned()), "{kind} {text}");
        }
    }

    #[test]
    fn values_in_another_format_are_refused_with_the_right_one() {
        let table = [
            ("date", "30.11.2026", "YYYY-MM-DD"),
            ("date", "2026-02-29", "YYYY-MM-DD"),
            ("date", "2026-13-01", "YYYY-MM-DD"),
            ("time", "6:55 pm", "HH:MM"),
            ("time", "24:00", "HH:MM"),
            ("datetime-local", "2026-11-30", "YYYY-MM-DDTHH:MM"),
            ("month", "11/2026", "YYYY-MM"),
            ("week", "2026-W54", "YYYY-Www"),
            ("color", "red", "#rrggbb"),
            ("color", "", "#rrggbb"),
            ("number", "12,5", "a number"),
            ("number", "e", "a number"),
            ("range", "", "a number"),
        ];
        for (kind, text, format) in table {
            let failure = prepare_input(kind, text).unwrap_err();
            assert_eq!(failure.code, Code::NotEditable, "{kind} {text}");
            assert!(failure.message.contains(format), "{failure}");
        }
    }

    #[test]
    fn fields_that_take_no_text_name_the_tool_that_fits() {
        for (kind, tool) in [("checkbox", "click"), ("submit", "click"), ("file", "Ask the user")] {
            assert!(typing_for(kind).unwrap_err().message.contains(tool), "{kind}");
        }
        assert_eq!(typing_for("tel"), Ok(Typing::Text));
        assert_eq!(typing_for("date"), Ok(Typing::Value));
    }

    #[test]
    fn what_a_field_made_of_the_text_is_told() {
        assert_eq!(check_held("a\r\nb", "a\nb", false), Held::Same);
        assert_eq!(check_held("5551234", "(555) 1234", false), Held::Reshaped("\"(555) 1234\"".to_owned()));
        assert_eq!(check_held("abc", "", false), Held::Nothing);
        assert_eq!(check_held("", "", false), Held::Same);
    }

    #[test]
    fn a_secret_is_compared_without_being_told() {
        assert_eq!(
            check_held("hunter22", "hunter", true),
            Held::Reshaped("6 characters instead of 8".to_owned())
        );
    }
}
