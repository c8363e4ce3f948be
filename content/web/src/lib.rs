//! The content script: collects facts from the DOM and performs actions.

mod act;
mod collect;
mod dom;
mod names;
mod overlay;
mod page;
mod port;
mod tags;
#[cfg(test)]
mod tests;
mod wait;

use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the content script; called once, when the module has been loaded.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        port::answer_all_after_panic(&place);
        port::restore_later();
    }));
    port::start();
}

/// The schema hash of the running script, which the probe reads to know whether it must be injected again.
#[wasm_bindgen]
#[must_use]
pub fn content_schema_hash() -> String {
    panelot_protocol::CONTENT_SCRIPT_SCHEMA_HASH.to_owned()
}

/// The version of the content script that runs.
#[wasm_bindgen]
#[must_use]
pub fn content_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
