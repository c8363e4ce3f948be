//! Times, sums and sizes as people read them.

use crate::i18n::Key;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// A clock that is not the system's: what it shows, and how far the user's zone is from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Milliseconds since 1970, UTC.
    pub now_ms: u64,
    /// Minutes to add to UTC for the user's zone, summer time included.
    pub offset_minutes: i32,
}

impl LocalTime {
    fn local_ms(self, at_ms: u64) -> i64 {
        i64::try_from(at_ms).unwrap_or(i64::MAX / 2) + i64::from(self.offset_minutes) * MINUTE_MS
    }

    /// The time of day, `14:02`.
    #[must_use]
    pub fn clock(self, at_ms: u64) -> String {
        let minutes = self.local_ms(at_ms).rem_euclid(DAY_MS) / MINUTE_MS;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// The time of day, and before it the day when that is not today, and the year when it is another one:
    /// `12-03 14:02`, `2027-01-03 14:02`.
    #[must_use]
    pub fn moment(self, at_ms: u64) -> String {
        let days = |at_ms| self.local_ms(at_ms).div_euclid(DAY_MS);
        let (today, that) = (days(self.now_ms), days(at_ms));
        let clock = self.clock(at_ms);
        let (year, month, day) = date(that);
        if that == today {
            clock
        } else if year == date(today).0 {
            format!("{month:02}-{day:02} {clock}")
        } else {
            format!("{year:04}-{month:02}-{day:02} {clock}")
        }
    }

    /// The heading under which a list shows something of this time.
    #[must_use]
    pub fn group(self, at_ms: u64) -> Key {
        let today = self.local_ms(self.now_ms).div_euclid(DAY_MS);
        let day = self.local_ms(at_ms).div_euclid(DAY_MS);
        match today - day {
            ..=0 => Key::GroupToday,
            1 => Key::GroupYesterday,
            2..=6 => Key::GroupWeek,
            _ => Key::GroupOlder,
        }
    }
}

/// The year, month and day of a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // Years of 365.2425 days that begin in March, counted from the year 0: leap days come last.
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * month_from_march + 2) / 5 + 1)
}

/// Time that is left, `4:32`, `2:04:32` when it is hours; `0:00` when it is over. A begun second counts.
#[must_use]
pub fn time_left(until_ms: u64, now_ms: u64) -> String {
    let seconds = until_ms.saturating_sub(now_ms).div_ceil(1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A count of tokens, `950`, `12.3k`, `1.2M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = count.saturating_mul(10) / unit;
        if tenths >= 1_000 || tenths.is_multiple_of(10) {
            format!("{}", tenths / 10)
        } else {
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", tenths(1_000)),
        _ => format!("{}M", tenths(1_000_000)),
    }
}

/// A count of bytes, `950 B`, `12.3 KB`, `64 MB`; a KB has 1,024.
#[must_use]
pub fn size(bytes: u64) -> String {
    let tenths = |unit: u64, name: &str| {
        let tenths = bytes.saturating_mul(10) / unit;
        match tenths % 10 {
            0 => format!("{} {name}", tenths / 10),
            rest => format!("{}.{rest} {name}", tenths / 10),
        }
    };
    match bytes {
        0..=1_023 => format!("{bytes} B"),
        1_024..=1_048_575 => tenths(1 << 10, "KB"),
        _ => tenths(1 << 20, "MB"),
    }
}

/// A sum in US dollars: two digits, or two that count when it is small. `None` when the price is unknown.
#[must_use]
pub fn cost(usd: Option<f64>) -> Option<String> {
    let usd = usd.filter(|usd| usd.is_finite() && *usd >= 0.0)?;
    Some(if usd == 0.0 || usd >= 0.095 {
        format!("${usd:.2}")
    } else if usd >= 0.0095 {
        format!("${usd:.3}")
    } else if usd >= 0.000_1 {
        format!("${usd:.4}")
    } else {
        "<$0.0001".to_owned()
    })
}

/// The host of an origin or address, with its port when it names one: what people know a site by.
///
/// An address without a host is returned as it is.
#[must_use]
pub fn site(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.is_empty() { address } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 13:21:00 UTC.
    const NOW_MS: u64 = 1_796_044_860_000;

    #[test]
    fn the_clock_is_the_users() {
        let cases = [(0, "13:21"), (480, "21:21"), (-300, "08:21"), (660, "00:21")];
        for (offset_minutes, expected) in cases {
            assert_eq!(
                LocalTime { now_ms: NOW_MS, offset_minutes }.clock(NOW_MS),
                expected,
                "{offset_minutes}"
            );
        }
    }

    #[test]
    fn days_begin_at_the_users_midnight() {
        let shanghai = LocalTime { now_ms: NOW_MS, offset_minutes: 480 };
        let hours = |count: u64| NOW_MS - count * 3_600_000;
        let cases = [
            (NOW_MS + 60_000, Key::GroupToday),
            (hours(21), Key::GroupToday),
            (hours(22), Key::GroupYesterday),
            (hours(46), Key::GroupWeek),
            (hours(24 * 6 + 21), Key::GroupWeek),
            (hours(24 * 6 + 22), Key::GroupOlder),
        ];
        for (at_ms, expected) in cases {
            assert_eq!(shanghai.group(at_ms), expected, "{at_ms}");
        }
    }

    #[test]
    fn a_begun_second_counts_as_left() {
        assert_eq!(time_left(NOW_MS + 272_000, NOW_MS), "4:32");
        assert_eq!(time_left(NOW_MS + 1, NOW_MS), "0:01");
        assert_eq!(time_left(NOW_MS - 1, NOW_MS), "0:00");
        assert_eq!(time_left(NOW_MS + 7_505_000, NOW_MS), "2:05:05");
    }

    #[test]
    fn a_moment_of_another_day_has_its_date() {
        let cases = [
            (480, NOW_MS + 3_600_000, "22:21"),
            (480, NOW_MS + 3 * 3_600_000, "12-01 00:21"),
            (0, NOW_MS + 3 * 3_600_000, "16:21"),
            (0, NOW_MS + 32 * 86_400_000, "2027-01-01 13:21"),
            (0, 951_782_400_000, "2000-02-29 00:00"),
        ];
        for (offset_minutes, at_ms, expected) in cases {
            assert_eq!(LocalTime { now_ms: NOW_MS, offset_minutes }.moment(at_ms), expected);
        }
    }

    #[test]
    fn tokens_keep_one_digit_behind_the_point() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (12_345, "12.3k"),
            (123_456, "123k"),
            (999_999, "999k"),
            (1_250_000, "1.2M"),
        ];
        for (count, expected) in cases {
            assert_eq!(tokens(count), expected, "{count}");
        }
    }

    #[test]
    fn sizes_keep_one_digit_behind_the_point() {
        let cases = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1 KB"),
            (12_600, "12.3 KB"),
            (1_048_575, "1023.9 KB"),
            (64 << 20, "64 MB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let cases: [(Option<f64>, Option<&str>); 8] = [
            (None, None),
            (Some(f64::NAN), None),
            (Some(0.0), Some("$0.00")),
            (Some(1.0), Some("$1.00")),
            (Some(0.25), Some("$0.25")),
            (Some(0.0123), Some("$0.012")),
            (Some(0.0012), Some("$0.0012")),
            (Some(0.000_01), Some("<$0.0001")),
        ];
        for (usd, expected) in cases {
            assert_eq!(cost(usd).as_deref(), expected, "{usd:?}");
        }
    }

    #[test]
    fn a_site_is_its_host() {
        let cases = [
            ("https://shop.example", "shop.example"),
            ("https://a@evil.example/x?y", "evil.example"),
            ("http://127.0.0.1:8080/form", "127.0.0.1:8080"),
            ("about:blank", "about:blank"),
            ("", ""),
        ];
        for (address, expected) in cases {
            assert_eq!(site(address), expected, "{address}");
        }
    }
}
