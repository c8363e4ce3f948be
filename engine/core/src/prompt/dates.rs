//! Days and moments as models read them, in UTC.

const MS_PER_MINUTE: u64 = 60_000;
const MS_PER_DAY: u64 = 86_400_000;

/// A day as `2026-11-30 (Monday)`.
pub fn date_text(now_ms: u64) -> String {
    const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    let days = now_ms / MS_PER_DAY;
    let weekday = usize::try_from(days % 7).ok().and_then(|day| DAYS.get(day)).copied().unwrap_or_default();
    format!("{} ({weekday})", day_text(days))
}

/// A moment as `2026-11-30 13:42 UTC`.
pub fn moment_text(now_ms: u64) -> String {
    let minutes = now_ms % MS_PER_DAY / MS_PER_MINUTE;
    format!("{} {:02}:{:02} UTC", day_text(now_ms / MS_PER_DAY), minutes / 60, minutes % 60)
}

/// A number of days since 1970 as `2026-11-30`.
fn day_text(days: u64) -> String {
    // Years of 365.2425 days that begin in March, counted from the year 0: leap days come last.
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 (Thursday)", "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 (Tuesday)", "2000-02-29 00:00 UTC"),
            (1_796_046_170_000, "2026-11-30 (Monday)", "2026-11-30 13:42 UTC"),
        ];
        for (now_ms, day, moment) in cases {
            assert_eq!((date_text(now_ms), moment_text(now_ms)), (day.to_owned(), moment.to_owned()));
        }
    }
}
