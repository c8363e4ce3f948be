//! `chrome.runtime`: the Port to the engine, and the extension itself.

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::{field, object};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = connect, catch)]
    fn connect_js(info: &JsValue) -> Result<PortJs, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = reload, catch)]
    fn reload_js() -> Result<(), JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = openOptionsPage, catch)]
    fn open_options_page_js() -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "runtime"], js_name = getManifest, catch)]
    fn get_manifest_js() -> Result<JsValue, JsValue>;

    type PortJs;
    #[wasm_bindgen(method, js_name = postMessage, catch)]
    fn post_message(this: &PortJs, message: &str) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn disconnect(this: &PortJs) -> Result<(), JsValue>;
    #[wasm_bindgen(method, getter, js_name = onMessage)]
    fn on_message(this: &PortJs) -> ChromeEvent;
    #[wasm_bindgen(method, getter, js_name = onDisconnect)]
    fn on_disconnect(this: &PortJs) -> ChromeEvent;

    type ChromeEvent;
    #[wasm_bindgen(method, js_name = addListener)]
    fn add_listener(this: &ChromeEvent, listener: &Function);
}

/// A Port with the listeners that belong to it. Dropping it closes it and forgets them.
pub struct Port {
    port: PortJs,
    _on_message: Closure<dyn FnMut(JsValue)>,
    _on_disconnect: Closure<dyn FnMut()>,
}

impl Port {
    /// Opens a Port. `None` when the browser refuses, as it does after the extension was replaced.
    pub fn open(
        name: &str,
        mut heard: impl FnMut(String) + 'static,
        mut lost: impl FnMut() + 'static,
    ) -> Option<Self> {
        let port = connect_js(&object(&[("name", &JsValue::from_str(name))])).ok()?;
        let on_message = Closure::<dyn FnMut(JsValue)>::new(move |message: JsValue| {
            // Messages are JSON texts; whatever else comes is shown as what it is, unreadable.
            heard(message.as_string().unwrap_or_default());
        });
        let on_disconnect = Closure::<dyn FnMut()>::new(move || {
            // The browser logs a reason that nobody reads as an error. A worker that dies while it is called is none.
            let _reason = field(&field(&field(&js_sys::global(), "chrome"), "runtime"), "lastError");
            lost();
        });
        port.on_message().add_listener(on_message.as_ref().unchecked_ref());
        port.on_disconnect().add_listener(on_disconnect.as_ref().unchecked_ref());
        Some(Self { port, _on_message: on_message, _on_disconnect: on_disconnect })
    }

    /// Sends a text. `false` when the Port is closed.
    pub fn post(&self, text: &str) -> bool {
        self.port.post_message(text).is_ok()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // A Port that is closed already is as good.
        let _ = self.port.disconnect();
    }
}

/// Reloads the extension; this page goes with it.
pub fn reload() {
    let _ = reload_js();
}

/// Opens the options in their own tab.
pub fn open_options() {
    let _ = open_options_page_js();
}

/// Whether this page still belongs to a running extension.
pub fn is_alive() -> bool {
    let runtime = field(&field(&js_sys::global(), "chrome"), "runtime");
    field(&runtime, "id").is_string()
}

/// The extension's version.
pub fn version() -> String {
    get_manifest_js()
        .ok()
        .and_then(|manifest| field(&manifest, "version").as_string())
        .unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}
