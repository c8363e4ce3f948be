//! `chrome.action`.

use super::object;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "action"], js_name = setBadgeText)]
    async fn set_badge_text(details: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "action"], js_name = setBadgeBackgroundColor)]
    async fn set_badge_background_color(details: &JsValue) -> Result<JsValue, JsValue>;
}

/// Shows a mark at the toolbar's button.
pub fn set_badge(text: &'static str, color: &'static str) {
    wasm_bindgen_futures::spawn_local(async move {
        let color = object([("color", JsValue::from_str(color))]);
        let text = object([("text", JsValue::from_str(text))]);
        for result in [set_badge_background_color(&color).await, set_badge_text(&text).await] {
            if let Err(error) = result {
                crate::log::warn("the badge could not be set", &error);
            }
        }
    });
}
