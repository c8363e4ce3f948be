//! What a person sees while a command works: one line per step, and how long the stages took.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Writes a line of the answer to standard output. Who reads it may stop reading: that is no fault.
macro_rules! answer {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        // The reader of a pipe may be gone.
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}
pub(crate) use answer;

/// Says what begins now.
pub fn step(text: &str) {
    eprintln!("\u{2192} {text}");
}

/// Says a fact that belongs to the step before.
pub fn note(text: &str) {
    eprintln!("  {text}");
}

/// Runs stages in order and remembers their times.
#[derive(Debug, Default)]
pub struct Stages {
    done: Vec<(String, Duration)>,
}

impl Stages {
    /// Runs one stage; the first that fails ends the run, after the table so far is printed.
    ///
    /// # Errors
    /// The stage's own error.
    pub fn run<T>(&mut self, name: &str, stage: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("== {name}");
        let start = Instant::now();
        let result = stage();
        self.done.push((name.to_owned(), start.elapsed()));
        if result.is_err() {
            eprintln!("{}failed in: {name}", self.table());
        }
        result
    }

    /// One line per stage, and the sum.
    pub fn table(&self) -> String {
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        let width = self.done.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("total".len());
        let mut table = String::new();
        for (name, time) in
            self.done.iter().map(|(name, time)| (name.as_str(), *time)).chain([("total", total)])
        {
            table.push_str(&format!("{name:width$}  {}\n", minutes(time)));
        }
        table
    }
}

/// A time as minutes and seconds, `2 min 03.4 s`.
pub fn minutes(time: Duration) -> String {
    let tenths = time.as_millis().div_ceil(100);
    let (minutes, rest) = (tenths / 600, tenths % 600);
    if minutes == 0 {
        format!("{:>8} {:>2}.{} s", "", rest / 10, rest % 10)
    } else {
        format!("{minutes:>4} min {:>2}.{} s", rest / 10, rest % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_each_stage_and_the_sum() {
        let stages = Stages {
            done: vec![
                ("lint".into(), Duration::from_millis(5_200)),
                ("test native".into(), Duration::from_millis(75_000)),
            ],
        };
        assert_eq!(
            stages.table(),
            "lint                   5.2 s\n\
             test native     1 min 15.0 s\n\
             total           1 min 20.2 s\n"
        );
    }
}
