//! The time that goes on while something is shown that counts it.

use dioxus::prelude::*;
use panelot_ui::format::LocalTime;

use crate::chrome::clock;

/// How often the time is shown anew.
const TICK_MS: u64 = 1_000;

/// The user's clock, by the second, while the component that asks for it is shown.
pub fn use_local_time() -> Signal<LocalTime> {
    let mut time = use_signal(clock::local_time);
    use_future(move || async move {
        loop {
            clock::sleep_ms(TICK_MS).await;
            time.set(clock::local_time());
        }
    });
    time
}
