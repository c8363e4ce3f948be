//! The dates of HTTP headers (RFC 9110, section 5.6.7), as far as `retry-after` needs them.

/// Milliseconds in a day.
const DAY_MS: i64 = 86_400_000;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, or one in the two obsolete forms, as milliseconds since 1970.
/// `None` for anything else, and for years before 1970.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match *words.as_slice() {
        // asctime: `Sun Nov  6 08:49:37 1994`
        [_, month, day, time, year] if time.contains(':') => (day, month, year, time),
        // IMF-fixdate and RFC 850, which differ in the year's digits only.
        [_, day, month, year, time, "GMT" | "UTC"] => (day, month, year, time),
        _ => return None,
    };
    let month = month.to_ascii_lowercase();
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?.saturating_add(1);
    let day = number(day, 1, 31)?;
    let days = days_since_1970(full_year(year)?, month, day);
    u64::try_from(days.saturating_mul(DAY_MS).saturating_add(time_ms(time)?)).ok()
}

fn number(digits: &str, min: i64, max: i64) -> Option<i64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let value: i64 = if is_plain { digits.parse().ok()? } else { return None };
    (min..=max).contains(&value).then_some(value)
}

fn full_year(digits: &str) -> Option<i64> {
    let year = number(digits, 0, 9999)?;
    Some(match (digits.len(), year) {
        (2, 0..70) => year.saturating_add(2000),
        (2, _) => year.saturating_add(1900),
        (4, _) => year,
        _ => return None,
    })
}

fn time_ms(text: &str) -> Option<i64> {
    let mut fields = text.split(':');
    let hour = number(fields.next()?, 0, 23)?;
    let minute = number(fields.next()?, 0, 59)?;
    let second = number(fields.next()?, 0, 60)?;
    if fields.next().is_some() {
        return None;
    }
    Some(
        hour.saturating_mul(3600)
            .saturating_add(minute.saturating_mul(60))
            .saturating_add(second)
            .saturating_mul(1000),
    )
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar. Years begin in March here, so that the leap day is last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_name_the_same_moment() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(text), Some(784_111_777_000), "{text}");
        }
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800_000));
        assert_eq!(parse("Mon, 30 Nov 2026 13:21:32 GMT"), Some(1_796_044_892_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        let cases = [
            "",
            "120",
            "soon",
            "Sun, 06 Nov 1994 08:49:37 +0200",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1960 08:49:37 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
        ];
        for text in cases {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
