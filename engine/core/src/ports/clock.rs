//! Time, so that a test can own it.

use std::future::Future;

/// Wall-clock time and waits.
pub trait Clock: 'static {
    /// Milliseconds since 1970. May jump; never panics.
    fn now_ms(&self) -> u64;

    /// Ends when [`Clock::now_ms`] has reached `at_ms`; at once when it has already. Dropping it clears the timer.
    fn sleep_until(&self, at_ms: u64) -> impl Future<Output = ()> + 'static;

    /// Ends after `ms` milliseconds.
    fn sleep(&self, ms: u64) -> impl Future<Output = ()> + 'static {
        self.sleep_until(self.now_ms().saturating_add(ms))
    }
}
