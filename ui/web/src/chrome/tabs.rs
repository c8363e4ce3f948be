//! `chrome.tabs`: which page is in front of the user.

use js_sys::{Array, Function, Promise};
use panelot_protocol::ids::TabId;
use panelot_protocol::turn::CapturedTab;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::{field, object};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["chrome", "tabs"], js_name = query, catch)]
    fn query_js(filter: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "tabs"], js_name = create, catch)]
    fn create_js(properties: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = ["chrome", "windows"], js_name = getCurrent, catch)]
    fn get_current_window_js() -> Result<Promise, JsValue>;

    type TabEvent;
    #[wasm_bindgen(method, js_name = addListener)]
    fn add_listener(this: &TabEvent, listener: &Function);
    #[wasm_bindgen(js_namespace = ["chrome", "tabs"], js_name = onActivated, thread_local_v2)]
    static ON_ACTIVATED: TabEvent;
    #[wasm_bindgen(js_namespace = ["chrome", "tabs"], js_name = onUpdated, thread_local_v2)]
    static ON_UPDATED: TabEvent;
    #[wasm_bindgen(js_namespace = ["chrome", "tabs"], js_name = onRemoved, thread_local_v2)]
    static ON_REMOVED: TabEvent;
}

/// The ordinary page that the user had in front last, in this window: the active tab, or, for a page of the
/// extension that is itself a tab, the one that was used before it.
pub async fn in_front() -> Option<CapturedTab> {
    let filter = object(&[("currentWindow", &JsValue::TRUE)]);
    let tabs = JsFuture::from(query_js(&filter).ok()?).await.ok()?;
    let mut best: Option<(f64, CapturedTab)> = None;
    for tab in Array::from(&tabs).iter() {
        let url = field(&tab, "url").as_string().unwrap_or_default();
        if !(url.starts_with("http://") || url.starts_with("https://") || url.starts_with("file://")) {
            continue;
        }
        let Some(id) = field(&tab, "id").as_f64() else { continue };
        let used = if field(&tab, "active").is_truthy() {
            f64::INFINITY
        } else {
            field(&tab, "lastAccessed").as_f64().unwrap_or_default()
        };
        if best.as_ref().is_none_or(|(best_used, _)| used > *best_used) {
            let title = field(&tab, "title").as_string().map(|title| title.chars().take(1_024).collect());
            let url = Some(url).filter(|url| url.chars().count() <= 8_192);
            best = Some((used, CapturedTab { tab_id: TabId(id as i32), title, url }));
        }
    }
    best.map(|(_, tab)| tab)
}

/// Chrome's number of the window that this page is in.
pub async fn window_id() -> Option<i64> {
    let window = JsFuture::from(get_current_window_js().ok()?).await.ok()?;
    field(&window, "id").as_f64().map(|id| id as i64)
}

/// Calls back whenever another page may be in front. For the life of the page.
pub fn watch(changed: impl FnMut() + 'static) {
    let listener = Closure::<dyn FnMut()>::new(changed).into_js_value();
    let listener: &Function = listener.unchecked_ref();
    ON_ACTIVATED.with(|event| event.add_listener(listener));
    ON_UPDATED.with(|event| event.add_listener(listener));
    ON_REMOVED.with(|event| event.add_listener(listener));
}

/// Opens a page of the extension in a new tab.
pub fn open(url: &str) {
    let _ = create_js(&object(&[("url", &url.into())]));
}
