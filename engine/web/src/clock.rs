//! Time in the worker.

use gloo_timers::future::TimeoutFuture;
use panelot_engine::ports::Clock;
use std::future::Future;

/// Longest timer that the browser takes.
const TIMER_MS_MAX: u64 = 2_000_000_000;

/// The browser's clock and timers.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebClock;

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    crate::idb::whole(js_sys::Date::now())
}

impl Clock for WebClock {
    fn now_ms(&self) -> u64 {
        now_ms()
    }

    fn sleep_until(&self, at_ms: u64) -> impl Future<Output = ()> + 'static {
        async move {
            loop {
                let left = at_ms.saturating_sub(now_ms());
                if left == 0 {
                    return;
                }
                let step = u32::try_from(left.min(TIMER_MS_MAX)).unwrap_or(u32::MAX);
                TimeoutFuture::new(step).await;
            }
        }
    }
}
