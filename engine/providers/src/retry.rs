//! What to do after a failed model call: a pure policy on a virtual clock.
//!
//! A key is kept as long as it works, because providers cache prompts by key or account. On a refused key or a rate
//! limit the next key is tried at once; only when no other key can be used does the call wait.

use crate::adjust::Adjustment;
use crate::errors::{ErrorKind, ProviderError};

/// The first back-off, in milliseconds; each further one is twice as long.
const BACKOFF_FIRST_MS: u64 = 1_000;
/// The longest back-off, in milliseconds.
const BACKOFF_MS_MAX: u64 = 32_000;
/// The part of a back-off that chance may add to it, as a divisor.
const JITTER_DIVISOR: u64 = 4;
/// The longest wait that is simply waited for, in milliseconds. A longer one is the user's decision.
const WAIT_UNASKED_MS_MAX: u64 = 5 * 60 * 1_000;
/// How many attempts there are beyond the first one with each key.
const ATTEMPTS_BEYOND_KEYS: usize = 3;
/// How many times one call may be adjusted and sent again.
const ADJUSTMENTS_MAX: usize = 4;

/// Whether the failed attempt has put anything before the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing was shown and no tool ran: another attempt goes unnoticed.
    Nothing,
    /// Some text or reasoning was shown: another attempt would show it twice.
    Shown,
}

/// What to do next. `key` is an index into the connection's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Try again at once with this key.
    Now {
        /// The key.
        key: usize,
    },
    /// Try again at once, with the request changed. Remember the adjustment for the model and tell the user.
    Adjusted {
        /// The key.
        key: usize,
        /// The change.
        adjustment: Adjustment,
    },
    /// Wait, visibly, and try again.
    After {
        /// The wait in milliseconds.
        ms: u64,
        /// The key.
        key: usize,
    },
    /// The provider asks for a wait too long to impose: show it, and wait only if the user agrees.
    AskUser {
        /// The wait in milliseconds.
        ms: u64,
        /// The key to use after it.
        key: usize,
    },
    /// Report the error.
    GiveUp,
}

/// How one key stands within one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeyState {
    #[default]
    Usable,
    /// Refused for good.
    Refused,
    /// Not to be used before this time, in milliseconds.
    Resting { until_ms: u64 },
}

/// The state of one model call over its attempts. Make a new one for each call, with the key that worked last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryState {
    keys: Vec<KeyState>,
    key: usize,
    attempts: usize,
    waits: u32,
    adjustments: Vec<Adjustment>,
}

impl RetryState {
    /// A call over a connection with that many keys (an endpoint without keys counts as one), beginning with `key`.
    #[must_use]
    pub fn new(keys: usize, key: usize) -> Self {
        let keys = keys.max(1);
        let key = if key < keys { key } else { 0 };
        Self { keys: vec![KeyState::Usable; keys], key, attempts: 1, waits: 0, adjustments: Vec::new() }
    }

    /// The key of the current attempt.
    #[must_use]
    pub fn key(&self) -> usize {
        self.key
    }

    /// How many attempts were begun, the current one included.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// How many attempts a call may take: each key once, and three more.
    #[must_use]
    pub fn attempts_max(&self) -> usize {
        self.keys.len().saturating_add(ATTEMPTS_BEYOND_KEYS)
    }

    /// Decides what follows on a failed attempt. `now_ms` is any steady clock; `jitter_unit` is a random number from 0
    /// to 1 that spreads the waits of many clients.
    pub fn next(&mut self, error: &ProviderError, output: Output, now_ms: u64, jitter_unit: f64) -> Retry {
        if output == Output::Shown {
            return Retry::GiveUp;
        }
        match &error.kind {
            ErrorKind::Rejected { adjustment: Some(adjustment) } => self.adjust(*adjustment),
            ErrorKind::Auth => {
                self.mark(KeyState::Refused);
                self.fail_over(now_ms)
            }
            ErrorKind::RateLimit { retry_after_ms } | ErrorKind::Overloaded { retry_after_ms } => {
                let wait_ms = self.wait_ms(*retry_after_ms, jitter_unit);
                self.mark(KeyState::Resting { until_ms: now_ms.saturating_add(wait_ms) });
                self.fail_over(now_ms)
            }
            ErrorKind::Server { retry_after_ms } => {
                let ms = self.wait_ms(*retry_after_ms, jitter_unit);
                self.wait(ms, self.key)
            }
            ErrorKind::Network => {
                let ms = self.wait_ms(None, jitter_unit);
                self.wait(ms, self.key)
            }
            ErrorKind::Rejected { adjustment: None }
            | ErrorKind::OriginRefused
            | ErrorKind::Quota
            | ErrorKind::ContextTooLong
            | ErrorKind::ContentFilter
            | ErrorKind::Protocol(_)
            | ErrorKind::NotFound
            | ErrorKind::Invalid { .. } => Retry::GiveUp,
        }
    }

    /// Each adjustment is tried once: an endpoint that refuses the changed request as well has its error shown.
    fn adjust(&mut self, adjustment: Adjustment) -> Retry {
        if self.adjustments.contains(&adjustment) || self.adjustments.len() >= ADJUSTMENTS_MAX {
            return Retry::GiveUp;
        }
        self.adjustments.push(adjustment);
        Retry::Adjusted { key: self.key, adjustment }
    }

    fn mark(&mut self, state: KeyState) {
        if let Some(slot) = self.keys.get_mut(self.key) {
            *slot = state;
        }
    }

    /// The next key in order that can be used now; else the one that can be used soonest.
    fn fail_over(&mut self, now_ms: u64) -> Retry {
        let count = self.keys.len();
        let mut soonest: Option<(u64, usize)> = None;
        for key in (1..=count).map(|step| self.key.saturating_add(step) % count) {
            let rest_ms = match self.keys.get(key) {
                Some(KeyState::Usable) => 0,
                Some(KeyState::Resting { until_ms }) => until_ms.saturating_sub(now_ms),
                Some(KeyState::Refused) | None => continue,
            };
            if soonest.is_none_or(|(best_ms, _)| rest_ms < best_ms) {
                soonest = Some((rest_ms, key));
            }
        }
        match soonest {
            Some((ms, key)) => self.wait(ms, key),
            None => Retry::GiveUp,
        }
    }

    fn wait(&mut self, ms: u64, key: usize) -> Retry {
        if self.attempts >= self.attempts_max() {
            return Retry::GiveUp;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.key = key;
        match ms {
            0 => Retry::Now { key },
            1..=WAIT_UNASKED_MS_MAX => {
                self.waits = self.waits.saturating_add(1);
                Retry::After { ms, key }
            }
            _ => Retry::AskUser { ms, key },
        }
    }

    /// What the provider asks for, else the back-off; never less than the provider asks for.
    fn wait_ms(&self, retry_after_ms: Option<u64>, jitter_unit: f64) -> u64 {
        let doubled = 1_u64
            .checked_shl(self.waits)
            .map_or(BACKOFF_MS_MAX, |factor| BACKOFF_FIRST_MS.saturating_mul(factor));
        let backoff_ms = doubled.min(BACKOFF_MS_MAX);
        let asked_ms = retry_after_ms.filter(|ms| *ms > 0);
        let jitter_ms = jitter(asked_ms.map_or(backoff_ms, |_| BACKOFF_FIRST_MS), jitter_unit);
        asked_ms.unwrap_or(backoff_ms).saturating_add(jitter_ms)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the product lies between 0 and 8,000"
)]
fn jitter(base_ms: u64, jitter_unit: f64) -> u64 {
    let unit = if jitter_unit.is_finite() { jitter_unit.clamp(0.0, 1.0) } else { 0.0 };
    ((base_ms / JITTER_DIVISOR) as f64 * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::ProtocolFault;

    fn error(kind: ErrorKind) -> ProviderError {
        ProviderError::new(kind)
    }

    fn rate_limit(retry_after_ms: Option<u64>) -> ProviderError {
        error(ErrorKind::RateLimit { retry_after_ms })
    }

    /// Plays errors against the policy on a virtual clock without jitter; a wait moves the clock.
    fn play(keys: usize, errors: &[ProviderError]) -> Vec<Retry> {
        let mut state = RetryState::new(keys, 0);
        let mut now_ms = 1_000_000;
        let mut steps = Vec::new();
        for error in errors {
            let step = state.next(error, Output::Nothing, now_ms, 0.0);
            if let Retry::After { ms, .. } | Retry::AskUser { ms, .. } = step {
                now_ms += ms;
            }
            steps.push(step);
        }
        steps
    }

    #[test]
    fn one_key_gets_four_attempts_with_doubling_waits() {
        let overloaded = error(ErrorKind::Overloaded { retry_after_ms: None });
        let server = error(ErrorKind::Server { retry_after_ms: None });
        for failure in [rate_limit(None), overloaded, server, ProviderError::network("reset")] {
            let after = |ms| Retry::After { ms, key: 0 };
            let want = [after(1_000), after(2_000), after(4_000), Retry::GiveUp];
            assert_eq!(play(1, &vec![failure.clone(); 4]), want, "{failure}");
        }
    }

    #[test]
    fn the_back_off_stops_growing_at_its_limit() {
        let want: Vec<Retry> = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]
            .map(|ms| Retry::After { ms, key: 0 })
            .to_vec();
        assert_eq!(play(9, &vec![ProviderError::network("reset"); 8]), want);
    }

    #[test]
    fn a_refused_key_gives_way_to_the_next_and_is_not_tried_again() {
        let auth = || error(ErrorKind::Auth);
        let now = |key| Retry::Now { key };
        assert_eq!(play(1, &[auth()]), [Retry::GiveUp]);
        assert_eq!(play(3, &[auth(), auth(), auth()]), [now(1), now(2), Retry::GiveUp]);
        let got = play(2, &[auth(), rate_limit(None), auth()]);
        assert_eq!(got, [now(1), Retry::After { ms: 1_000, key: 1 }, Retry::GiveUp]);
    }

    #[test]
    fn a_rate_limit_tries_every_other_key_before_it_waits_for_the_soonest() {
        let got = play(3, &[rate_limit(Some(9_000)), rate_limit(Some(2_000)), rate_limit(Some(5_000))]);
        assert_eq!(got, [Retry::Now { key: 1 }, Retry::Now { key: 2 }, Retry::After { ms: 2_000, key: 1 }]);
    }

    #[test]
    fn every_key_of_many_gets_its_attempt() {
        let mut errors = vec![error(ErrorKind::Auth); 11];
        errors.push(error(ErrorKind::Auth));
        let mut want: Vec<Retry> = (1..12).map(|key| Retry::Now { key }).collect();
        want.push(Retry::GiveUp);
        assert_eq!(play(12, &errors), want);
    }

    #[test]
    fn a_call_begins_with_the_key_that_worked_last_and_comes_around() {
        let mut state = RetryState::new(3, 2);
        assert_eq!(state.next(&error(ErrorKind::Auth), Output::Nothing, 0, 0.0), Retry::Now { key: 0 });
        assert_eq!((state.key(), state.attempts()), (0, 2));
        assert_eq!(RetryState::new(2, 7).key(), 0, "a key that is gone");
        assert_eq!(RetryState::new(0, 0).attempts_max(), 4, "an endpoint without keys");
    }

    #[test]
    fn a_wait_that_the_provider_asks_for_is_kept_and_a_long_one_is_the_users_decision() {
        let cases = [
            (Some(2_000), Retry::After { ms: 2_000, key: 0 }),
            (Some(300_000), Retry::After { ms: 300_000, key: 0 }),
            (Some(300_001), Retry::AskUser { ms: 300_001, key: 0 }),
            (Some(3_600_000), Retry::AskUser { ms: 3_600_000, key: 0 }),
            (Some(u64::MAX / 2), Retry::AskUser { ms: u64::MAX / 2, key: 0 }),
            (Some(0), Retry::After { ms: 1_000, key: 0 }),
            (None, Retry::After { ms: 1_000, key: 0 }),
        ];
        for (asked, want) in cases {
            assert_eq!(play(1, &[rate_limit(asked)]), [want], "{asked:?}");
        }
    }

    #[test]
    fn chance_only_ever_lengthens_a_wait() {
        for (unit, extra_ms) in [(0.0, 0), (0.5, 125), (1.0, 250), (7.0, 250), (-1.0, 0), (f64::NAN, 0)] {
            let next = |error| RetryState::new(1, 0).next(&error, Output::Nothing, 0, unit);
            assert_eq!(next(rate_limit(None)), Retry::After { ms: 1_000 + extra_ms, key: 0 }, "{unit}");
            assert_eq!(
                next(rate_limit(Some(9_000))),
                Retry::After { ms: 9_000 + extra_ms, key: 0 },
                "{unit}"
            );
        }
    }

    #[test]
    fn what_waiting_cannot_mend_is_not_tried_again() {
        let kinds = [
            ErrorKind::Quota,
            ErrorKind::OriginRefused,
            ErrorKind::ContextTooLong,
            ErrorKind::ContentFilter,
            ErrorKind::Protocol(ProtocolFault::Empty),
            ErrorKind::NotFound,
            ErrorKind::Rejected { adjustment: None },
            ErrorKind::Invalid { field: "model".into(), rule: "must not be empty".into() },
        ];
        for kind in kinds {
            assert_eq!(play(3, &[error(kind.clone())]), [Retry::GiveUp], "{kind:?}");
            assert!(!kind.is_transient(), "{kind:?}");
        }
    }

    #[test]
    fn nothing_is_tried_again_once_something_was_shown() {
        for failure in [rate_limit(Some(1)), error(ErrorKind::Auth), ProviderError::network("reset")] {
            assert_eq!(RetryState::new(3, 0).next(&failure, Output::Shown, 0, 0.0), Retry::GiveUp);
        }
    }

    #[test]
    fn a_refused_field_is_left_out_once_and_then_reported() {
        let refused = |adjustment| error(ErrorKind::Rejected { adjustment: Some(adjustment) });
        let temperature = refused(Adjustment::DropTemperature);
        let stream = refused(Adjustment::DropStreamOptions);
        let adjusted = |adjustment| Retry::Adjusted { key: 0, adjustment };
        let want =
            [adjusted(Adjustment::DropTemperature), adjusted(Adjustment::DropStreamOptions), Retry::GiveUp];
        assert_eq!(play(1, &[temperature.clone(), stream, temperature]), want);
    }
}
