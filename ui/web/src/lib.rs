//! The pages in Dioxus: side panel, chat, options.

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the pages that run.
#[wasm_bindgen]
pub fn ui_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
