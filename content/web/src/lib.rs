//! The content script: collects facts from the DOM and performs actions.

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the content script that runs.
#[wasm_bindgen]
pub fn content_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
