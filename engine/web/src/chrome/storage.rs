//! `chrome.storage`.

use super::{object, text};
use crate::storage::WebArea;
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// One area.
    #[derive(Clone)]
    pub type Area;

    #[wasm_bindgen(method, catch, js_name = get)]
    async fn area_get(this: &Area, name: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = get)]
    async fn area_get_all(this: &Area) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = set)]
    async fn area_set(this: &Area, items: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = remove)]
    async fn area_remove(this: &Area, name: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = setAccessLevel)]
    async fn area_set_access_level(this: &Area, options: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(thread_local_v2, js_namespace = ["chrome", "storage"], js_name = local)]
    static LOCAL: Area;

    #[wasm_bindgen(thread_local_v2, js_namespace = ["chrome", "storage"], js_name = session)]
    static SESSION: Area;
}

/// An area.
pub fn area(which: WebArea) -> Area {
    match which {
        WebArea::Local => LOCAL.with(Clone::clone),
        WebArea::Session => SESSION.with(Clone::clone),
    }
}

/// The text under a name.
///
/// # Errors
/// Chrome's own.
pub async fn get(area: &Area, name: &str) -> Result<Option<String>, JsValue> {
    Ok(text(&area.area_get(name).await?, name))
}

/// All names.
///
/// # Errors
/// Chrome's own.
pub async fn names(area: &Area) -> Result<Vec<String>, JsValue> {
    let all = area.area_get_all().await?;
    let keys = all.dyn_ref::<js_sys::Object>().map(js_sys::Object::keys).unwrap_or_default();
    Ok(keys.iter().filter_map(|key| key.as_string()).collect())
}

/// Sets or removes the text under a name.
///
/// # Errors
/// Chrome's own.
pub async fn set(area: &Area, name: &str, value: Option<&str>) -> Result<(), JsValue> {
    match value {
        Some(value) => area.area_set(&object([(name, JsValue::from_str(value))])).await?,
        None => area.area_remove(name).await?,
    };
    Ok(())
}

/// Keeps content scripts, which run beside pages, out of the local area.
///
/// # Errors
/// Chrome's own.
pub async fn keep_from_content_scripts() -> Result<(), JsValue> {
    let options = object([("accessLevel", JsValue::from_str("TRUSTED_CONTEXTS"))]);
    area(WebArea::Local).area_set_access_level(&options).await?;
    Ok(())
}
