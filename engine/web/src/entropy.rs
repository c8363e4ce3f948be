//! Randomness in the worker.

use js_sys::{Object, Uint32Array};
use panelot_engine::ports::Entropy;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;

    /// Fills an array with random bits; it throws for more than 64 KiB only.
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    pub fn fill_random(array: &Object) -> Result<JsValue, JsValue>;
}

/// The browser's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebEntropy;

impl Entropy for WebEntropy {
    fn uuid(&self) -> String {
        random_uuid()
    }

    fn unit(&self) -> f64 {
        let bits = Uint32Array::new_with_length(1);
        match fill_random(&bits) {
            Ok(_) => f64::from(bits.get_index(0)) / (f64::from(u32::MAX) + 1.0),
            // Jitter in the middle is as good as any.
            Err(_) => 0.5,
        }
    }
}
