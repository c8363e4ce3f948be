//! `chrome.permissions`: access to hosts, asked for in the click that needs it.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::object;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["chrome", "permissions"], js_name = request, catch)]
    fn request_js(permissions: &JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = ["chrome", "permissions"], js_name = contains, catch)]
    fn contains_js(permissions: &JsValue) -> Result<Promise, JsValue>;
}

fn origins(pattern: &str) -> JsValue {
    object(&[("origins", &Array::of1(&JsValue::from_str(pattern)).into())])
}

/// Asks for a host. The question itself is put before this returns, as the gesture demands; the answer may be long
/// in coming, or never come, so nothing may wait for it.
pub fn request(pattern: &str) -> impl Future<Output = bool> + use<> {
    let asked = request_js(&origins(pattern));
    async move { settle(asked).await }
}

/// Whether the extension may reach a host.
pub async fn contains(pattern: &str) -> bool {
    settle(contains_js(&origins(pattern))).await
}

async fn settle(promise: Result<Promise, JsValue>) -> bool {
    match promise {
        Ok(promise) => JsFuture::from(promise).await.is_ok_and(|answer| answer.is_truthy()),
        Err(_) => false,
    }
}
