//! Keys of the port as keys of IndexedDB: arrays of numbers and texts.

use super::failure;
use idb::KeyRange;
use js_sys::Array;
use panelot_engine::ports::{Key, KeyPart, StoreError};
use wasm_bindgen::prelude::{JsCast, JsValue};

/// The key as an array.
pub fn key_to_js(key: &Key) -> JsValue {
    key.0
        .iter()
        .map(|part| match part {
            #[expect(clippy::cast_precision_loss, reason = "numbers in keys stay below 2^53")]
            KeyPart::Number(number) => JsValue::from_f64(*number as f64),
            KeyPart::Text(text) => JsValue::from_str(text),
        })
        .collect::<Array>()
        .into()
}

/// The key of an array; `None` when it is something else.
pub fn key_from_js(value: &JsValue) -> Option<Key> {
    let array = value.dyn_ref::<Array>()?;
    let part = |value: JsValue| match value.as_f64() {
        Some(number) => Some(KeyPart::Number(whole(number))),
        None => value.as_string().map(KeyPart::Text),
    };
    array.iter().map(part).collect::<Option<Vec<_>>>().map(Key)
}

/// A whole number of a key or revision.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from f64 saturates, and what is written is whole and below 2^53"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// The range from one key to another, both in it; `None` when it is empty.
pub fn range(from: &Key, to: &Key) -> Result<Option<KeyRange>, StoreError> {
    if from > to {
        return Ok(None);
    }
    KeyRange::bound(&key_to_js(from), &key_to_js(to), Some(false), Some(false)).map(Some).map_err(failure)
}
