//! How long to wait after an action: until an effect was seen and the page is quiet, never long.

/// A page is quiet when nothing changed for this long.
const QUIET_MS: f64 = 60.0;
/// Without any effect, this long is waited for one.
const EFFECT_WAIT_MS_MAX: f64 = 500.0;
/// A page that keeps changing is not waited for longer than this.
const BUSY_WAIT_MS_MAX: f64 = 1_200.0;
/// Changes after the effect that come at this rate or slower are a clock or a carousel, not the answer.
const NOISE_PERIOD_MS: f64 = 90.0;

/// What to do next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Look again after this many milliseconds, or when something changes.
    Wait(f64),
    /// The page has settled.
    Done,
}

/// The wait after one action; times are in milliseconds of any one clock.
#[derive(Clone, Debug)]
pub struct Settle {
    started: f64,
    effect: Option<f64>,
    last_change: f64,
    burst_end: f64,
}

impl Settle {
    /// A wait that starts now.
    #[must_use]
    pub fn new(now: f64) -> Settle {
        Settle { started: now, effect: None, last_change: now, burst_end: now }
    }

    /// The page changed.
    pub fn changed(&mut self, now: f64) {
        // A change soon after another belongs to one burst of work; a lone one later is noise.
        if self.effect.is_none() || now - self.last_change < NOISE_PERIOD_MS {
            self.burst_end = now;
        }
        self.last_change = now;
        self.effect.get_or_insert(now);
    }

    /// Whether any effect was seen.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        self.effect.is_some()
    }

    /// What to do at `now`.
    #[must_use]
    pub fn step(&self, now: f64) -> Step {
        let elapsed = now - self.started;
        match self.effect {
            None if elapsed >= EFFECT_WAIT_MS_MAX => Step::Done,
            None => Step::Wait(EFFECT_WAIT_MS_MAX - elapsed),
            Some(_) if elapsed >= BUSY_WAIT_MS_MAX => Step::Done,
            Some(_) => {
                let quiet = now - self.burst_end;
                if quiet >= QUIET_MS {
                    Step::Done
                } else {
                    Step::Wait((QUIET_MS - quiet).min(BUSY_WAIT_MS_MAX - elapsed))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a wait in which the page changes at the given times; returns when it ended.
    fn run(changes: &[f64]) -> f64 {
        let mut settle = Settle::new(0.0);
        let mut changes = changes.iter().copied().peekable();
        let mut now = 0.0;
        loop {
            match settle.step(now) {
                Step::Done => return now,
                Step::Wait(ms) => {
                    let wake = now + ms;
                    match changes.next_if(|at| *at <= wake) {
                        Some(at) => {
                            now = at.max(now);
                            settle.changed(now);
                        }
                        None => now = wake,
                    }
                }
            }
        }
    }

    #[test]
    fn without_an_effect_the_wait_is_half_a_second() {
        assert_eq!(run(&[]), 500.0);
    }

    #[test]
    fn with_an_effect_it_ends_once_the_page_is_quiet() {
        assert_eq!(run(&[1.0]), 61.0);
        assert_eq!(run(&[1.0, 30.0, 50.0]), 110.0);
        assert_eq!(run(&[400.0]), 460.0);
    }

    #[test]
    fn a_page_that_changes_every_hundred_milliseconds_costs_no_more() {
        let ticks: Vec<f64> = (0..100).map(|n| 3.0 + f64::from(n) * 100.0).collect();
        assert_eq!(run(&ticks), 63.0);
    }

    #[test]
    fn a_page_that_never_rests_is_left_after_a_while() {
        let ticks: Vec<f64> = (0..1_000).map(|n| f64::from(n) * 10.0).collect();
        assert_eq!(run(&ticks), 1_200.0);
    }
}
