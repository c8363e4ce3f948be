//! `chrome.notifications`.

use super::object;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "notifications"], js_name = create)]
    async fn create(id: &str, options: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "notifications"], js_name = clear)]
    async fn clear_notification(id: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = ["chrome", "i18n"], js_name = getMessage)]
    fn get_message(name: &str) -> String;
}

/// Says, without content, that somebody waits.
pub fn show(id: &str) {
    let id = id.to_owned();
    wasm_bindgen_futures::spawn_local(async move {
        let options = object([
            ("type", JsValue::from_str("basic")),
            ("iconUrl", JsValue::from_str(&super::runtime::url("icons/icon-128.png"))),
            ("title", JsValue::from_str(&get_message("name"))),
            ("message", JsValue::from_str(&get_message("waiting"))),
        ]);
        if let Err(error) = create(&id, &options).await {
            crate::log::warn("the notification could not be shown", &error);
        }
    });
}

/// Takes it back.
pub fn clear(id: &str) {
    let id = id.to_owned();
    wasm_bindgen_futures::spawn_local(async move {
        if let Err(error) = clear_notification(&id).await {
            crate::log::warn("the notification could not be taken back", &error);
        }
    });
}
