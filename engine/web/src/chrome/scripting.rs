//! `chrome.scripting`.

use super::{get, items, object, text};
use js_sys::Array;
use panelot_protocol::ids::TabId;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "scripting"], js_name = executeScript)]
    async fn execute_script(injection: &JsValue) -> Result<JsValue, JsValue>;
}

/// What a script left in the top document.
#[derive(Debug, Clone)]
pub struct Executed {
    /// Chrome's id of the document.
    pub document_id: String,
    /// The value of the script's last expression.
    pub result: JsValue,
}

/// Runs a file of the bundle in the isolated world of a tab's top document, or of one document.
///
/// # Errors
/// Chrome's own; `Ok(None)` when there was no document to run it in.
pub async fn run_file(
    tab_id: TabId,
    document_id: Option<&str>,
    file: &str,
) -> Result<Option<Executed>, JsValue> {
    let target = object([("tabId", JsValue::from_f64(tab_id.0.into()))]);
    if let Some(document_id) = document_id {
        let ids: Array = std::iter::once(JsValue::from_str(document_id)).collect();
        // Setting a property of a plain object of our own cannot fail.
        let _set = js_sys::Reflect::set(&target, &"documentIds".into(), &ids);
    }
    let files: Array = std::iter::once(JsValue::from_str(file)).collect();
    let injection = object([
        ("target", target.into()),
        ("files", files.into()),
        // A page that never ends loading would keep the call waiting otherwise.
        ("injectImmediately", JsValue::TRUE),
    ]);
    let results = items(&execute_script(&injection).await?);
    Ok(results.first().and_then(|result| {
        Some(Executed {
            document_id: text(result, "documentId")?,
            result: get(result, "result").unwrap_or(JsValue::UNDEFINED),
        })
    }))
}
