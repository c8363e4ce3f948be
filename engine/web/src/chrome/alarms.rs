//! `chrome.alarms`.

use super::object;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// The shortest period that Chrome keeps.
const PERIOD_MINUTES: f64 = 0.5;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "alarms"], js_name = create)]
    async fn create(name: &str, options: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "alarms"], js_name = clear)]
    async fn clear_alarm(name: &str) -> Result<JsValue, JsValue>;
}

/// Wakes the worker every 30 s from now on.
pub async fn create_every_half_minute(name: &str) {
    let options = object([("periodInMinutes", JsValue::from_f64(PERIOD_MINUTES))]);
    if let Err(error) = create(name, &options).await {
        crate::log::warn("the alarm could not be set", &error);
    }
}

/// Lets the worker sleep.
pub async fn clear(name: &str) {
    if let Err(error) = clear_alarm(name).await {
        crate::log::warn("the alarm could not be cleared", &error);
    }
}
