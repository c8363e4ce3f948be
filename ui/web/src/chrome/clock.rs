//! Time, chance and frames.

use js_sys::{Date, Function, Promise};
use panelot_protocol::ids::SubmissionId;
use panelot_ui::connection::Surroundings;
use panelot_ui::format::LocalTime;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(run: &Function, ms: f64) -> f64;
    #[wasm_bindgen(js_name = requestAnimationFrame)]
    fn request_animation_frame(run: &Function) -> f64;
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

/// Longest wait for a frame: a hidden page paints none.
const FRAME_MS_MAX: f64 = 64.0;
/// Longest single timer: browsers keep the number of milliseconds in 31 bits.
const TIMER_MS_MAX: u64 = 86_400_000;

/// The surroundings of the machines in this page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Page;

impl Surroundings for Page {
    fn now_ms(&self) -> u64 {
        now_ms()
    }

    fn chance_permille(&mut self) -> u64 {
        // Chance by way of the one source of entropy that the page has anyway.
        let digits = random_uuid().chars().take(8).collect::<String>();
        u64::from_str_radix(&digits, 16).unwrap_or_default() % 1_001
    }

    fn submission_id(&mut self) -> SubmissionId {
        SubmissionId::new(random_uuid())
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn now_ms() -> u64 {
    Date::now() as u64
}

/// A fresh UUID.
#[must_use]
pub fn uuid() -> String {
    random_uuid()
}

/// The day in UTC, `2026-11-30`.
#[must_use]
pub fn day() -> String {
    String::from(Date::new_0().to_iso_string()).chars().take_while(|sign| *sign != 'T').collect()
}

/// The user's clock.
#[must_use]
pub fn local_time() -> LocalTime {
    let date = Date::new_0();
    LocalTime { now_ms: date.get_time() as u64, offset_minutes: -(date.get_timezone_offset() as i32) }
}

/// Comes back after a time.
pub async fn sleep_ms(ms: u64) {
    let promise = Promise::new(&mut |resolve, _| {
        set_timeout(&resolve, ms.min(TIMER_MS_MAX) as f64);
    });
    let _ = JsFuture::from(promise).await;
}

/// Comes back with the next frame, or soon after when the page paints none.
pub async fn next_frame() {
    let promise = Promise::new(&mut |resolve, _| {
        request_animation_frame(&resolve);
        set_timeout(&resolve, FRAME_MS_MAX);
    });
    let _ = JsFuture::from(promise).await;
}
