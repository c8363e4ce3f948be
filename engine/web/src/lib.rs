//! The engine in the service worker: entry, listeners, IndexedDB, fetch, Chrome bindings.

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the engine that runs.
#[wasm_bindgen]
pub fn engine_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
