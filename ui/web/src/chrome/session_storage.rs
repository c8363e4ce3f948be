//! `chrome.storage.session`: texts that outlive a page and end with the browser.

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::{field, object};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["chrome", "storage", "session"], js_name = get, catch)]
    fn get_js(key: &str) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "storage", "session"], js_name = get, catch)]
    fn get_all_js() -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "storage", "session"], js_name = set, catch)]
    fn set_js(items: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "storage", "session"], js_name = remove, catch)]
    fn remove_js(key: &str) -> Result<Promise, JsValue>;
}

/// The stored text, when there is one.
pub async fn get(key: &str) -> Option<String> {
    let items = JsFuture::from(get_js(key).ok()?).await.ok()?;
    field(&items, key).as_string()
}

/// The keys that begin with a prefix, without it.
pub async fn keys_behind(prefix: &str) -> Vec<String> {
    let Ok(promise) = get_all_js() else { return Vec::new() };
    let Ok(items) = JsFuture::from(promise).await else { return Vec::new() };
    let Some(items) = items.dyn_ref::<js_sys::Object>() else { return Vec::new() };
    js_sys::Object::keys(items)
        .iter()
        .filter_map(|key| key.as_string()?.strip_prefix(prefix).map(str::to_owned))
        .collect()
}

/// Stores a text; an empty one is removed. Begins at once and is not waited for: a later call comes later.
pub fn put(key: &str, text: &str) {
    let begun = if text.is_empty() { remove_js(key) } else { set_js(&object(&[(key, &text.into())])) };
    if let Ok(promise) = begun {
        wasm_bindgen_futures::spawn_local(async move {
            if let Err(error) = JsFuture::from(promise).await {
                web_sys::console::warn_2(&"panelot: session storage refused a write".into(), &error);
            }
        });
    }
}
