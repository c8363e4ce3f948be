//! `chrome.runtime`.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A connection to a page.
    #[derive(Clone)]
    pub type Port;

    /// Its name.
    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Port) -> String;

    /// Who connected.
    #[wasm_bindgen(method, getter)]
    pub fn sender(this: &Port) -> JsValue;

    /// Sends; throws when the other side is gone.
    #[wasm_bindgen(method, catch, js_name = postMessage)]
    pub fn post_message(this: &Port, message: &JsValue) -> Result<(), JsValue>;

    /// Ends the connection.
    #[wasm_bindgen(method)]
    pub fn disconnect(this: &Port);

    #[wasm_bindgen(thread_local_v2, js_namespace = ["chrome", "runtime"], js_name = id)]
    static ID: String;

    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = getURL)]
    fn get_url(path: &str) -> String;

    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = reload)]
    fn reload_js();

    #[wasm_bindgen(catch, js_namespace = ["chrome", "runtime"], js_name = getPlatformInfo)]
    async fn get_platform_info() -> Result<JsValue, JsValue>;
}

/// This extension's id.
pub fn id() -> String {
    ID.with(Clone::clone)
}

/// The address of a file of this extension.
pub fn url(path: &str) -> String {
    get_url(path)
}

/// Loads the extension anew, in the version that waits when there is one; this worker ends.
pub fn reload() {
    reload_js();
}

/// The cheapest call that counts as a sign of life of the worker.
pub async fn touch() {
    // Only the call matters, not its answer.
    let _answer = get_platform_info().await;
}
