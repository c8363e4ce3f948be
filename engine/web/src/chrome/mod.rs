//! Bindings to Chrome's extension APIs, one file per API. Only what the worker uses.

pub mod action;
pub mod alarms;
pub mod notifications;
pub mod permissions;
pub mod runtime;
pub mod scripting;
pub mod storage;
pub mod tabs;

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::{JsCast, JsValue};

/// What an exception says.
pub fn js_message(error: &JsValue) -> String {
    text(error, "message").or_else(|| error.as_string()).unwrap_or_else(|| "unknown failure".to_owned())
}

/// A property that is a text.
pub fn text(value: &JsValue, name: &str) -> Option<String> {
    get(value, name).and_then(|value| value.as_string())
}

/// A property that is a number.
pub fn number(value: &JsValue, name: &str) -> Option<f64> {
    get(value, name).and_then(|value| value.as_f64())
}

/// A property that is true.
pub fn truth(value: &JsValue, name: &str) -> bool {
    get(value, name).is_some_and(|value| value.is_truthy())
}

/// A property, when there is one.
pub fn get(value: &JsValue, name: &str) -> Option<JsValue> {
    if !value.is_object() && !value.is_function() {
        return None;
    }
    Reflect::get(value, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined())
}

/// A plain object of the given properties.
pub fn object<const N: usize>(properties: [(&str, JsValue); N]) -> Object {
    let object = Object::new();
    for (name, value) in properties {
        // Setting a property of a plain object of our own cannot fail.
        let _set = Reflect::set(&object, &JsValue::from_str(name), &value);
    }
    object
}

/// The items of an array; empty when it is none.
pub fn items(value: &JsValue) -> Vec<JsValue> {
    value.dyn_ref::<js_sys::Array>().map(js_sys::Array::to_vec).unwrap_or_default()
}
