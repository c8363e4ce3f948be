//! `chrome.tabs`.

use super::{items, number, object, text, truth};
use panelot_engine::ports::TabState;
use panelot_protocol::ids::TabId;
use panelot_protocol::limits;
use panelot_protocol::snapshot::TabInfo;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"], js_name = query)]
    async fn query(filter: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"], js_name = get)]
    async fn get_tab(tab_id: i32) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"], js_name = create)]
    async fn create_tab(options: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"], js_name = update)]
    async fn update_tab(tab_id: i32, options: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"], js_name = sendMessage)]
    async fn send_message(tab_id: i32, message: &JsValue, options: &JsValue) -> Result<JsValue, JsValue>;
}

/// All tabs.
///
/// # Errors
/// Chrome's own.
pub async fn all() -> Result<Vec<TabState>, JsValue> {
    Ok(items(&query(&object([])).await?).iter().filter_map(state_of).collect())
}

/// One tab; `None` when it is gone.
pub async fn one(tab_id: TabId) -> Option<TabState> {
    state_of(&get_tab(tab_id.0).await.ok()?)
}

/// Opens a tab behind the one in front.
///
/// # Errors
/// Chrome's own.
pub async fn open(url: &str, opener: Option<TabId>) -> Result<Option<TabState>, JsValue> {
    let options = object([("url", JsValue::from_str(url)), ("active", JsValue::FALSE)]);
    if let Some(opener) = opener {
        // Setting a property of a plain object of our own cannot fail.
        let _set = js_sys::Reflect::set(&options, &"openerTabId".into(), &JsValue::from_f64(opener.0.into()));
    }
    Ok(state_of(&create_tab(&options).await?))
}

/// Sends a tab to an address.
///
/// # Errors
/// Chrome's own.
pub async fn navigate(tab_id: TabId, url: &str) -> Result<Option<TabState>, JsValue> {
    Ok(state_of(&update_tab(tab_id.0, &object([("url", JsValue::from_str(url))])).await?))
}

/// Sends a text to the content script of one document and waits for its answer.
///
/// # Errors
/// Chrome's own, when nobody took the text or nobody answered.
pub async fn ask(tab_id: TabId, document_id: &str, message: &str) -> Result<JsValue, JsValue> {
    let options = object([("documentId", JsValue::from_str(document_id))]);
    send_message(tab_id.0, &JsValue::from_str(message), &options).await
}

/// A text cut to a number of characters.
fn cut(text: String, chars_max: u64) -> String {
    let chars_max = usize::try_from(chars_max).unwrap_or(usize::MAX);
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "Chrome's tab and window numbers are 32-bit")]
fn state_of(tab: &JsValue) -> Option<TabState> {
    let url = text(tab, "pendingUrl").filter(|url| !url.is_empty()).or_else(|| text(tab, "url"));
    Some(TabState {
        info: TabInfo {
            tab_id: TabId(number(tab, "id")? as i32),
            window_id: number(tab, "windowId")? as i32,
            active: truth(tab, "active"),
            title: cut(text(tab, "title").unwrap_or_default(), limits::TITLE_CHARS_MAX),
            url: cut(url.unwrap_or_default(), limits::URL_CHARS_MAX),
        },
        complete: text(tab, "status").as_deref() == Some("complete"),
        discarded: truth(tab, "discarded"),
    })
}
