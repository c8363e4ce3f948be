//! `chrome.permissions`.

use super::object;
use js_sys::Array;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["chrome", "permissions"], js_name = contains)]
    async fn contains(permissions: &JsValue) -> Result<JsValue, JsValue>;
}

/// Whether the extension holds the permission for an address. An address that is none is not permitted.
pub async fn contains_origin(url: &str) -> bool {
    let origins: Array = std::iter::once(JsValue::from_str(&pattern_of(url))).collect();
    let asked = object([("origins", origins.into())]);
    contains(&asked).await.is_ok_and(|answer| answer.is_truthy())
}

/// The match pattern of an address's host: patterns know no ports, so a port is left out.
fn pattern_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host_and_port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match host_and_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => host_and_port,
    };
    format!("{scheme}://{host}/*")
}
