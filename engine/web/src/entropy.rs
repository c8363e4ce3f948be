//! Randomness in the worker.

use panelot_engine::ports::Entropy;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

/// The browser's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebEntropy;

impl Entropy for WebEntropy {
    fn uuid(&self) -> String {
        random_uuid()
    }

    fn unit(&self) -> f64 {
        js_sys::Math::random()
    }
}
