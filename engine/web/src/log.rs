//! Words to the console. Never content: no page text, no message, no key.

use crate::chrome::js_message;
use wasm_bindgen::prelude::JsValue;

/// Something went wrong that nothing depends on.
pub fn warn(what: &str, error: &JsValue) {
    web_sys::console::warn_1(&JsValue::from_str(&format!("Panelot: {what}: {}", js_message(error))));
}

/// Something went wrong and is dealt with.
pub fn warn_text(what: &str) {
    web_sys::console::warn_1(&JsValue::from_str(&format!("Panelot: {what}")));
}

/// Something went wrong.
pub fn error(what: &str) {
    web_sys::console::error_1(&JsValue::from_str(&format!("Panelot: {what}")));
}
