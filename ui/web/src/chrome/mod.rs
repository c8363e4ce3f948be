//! The browser's own interfaces, one file for each, and nothing of the product in them.

pub mod clipboard;
pub mod clock;
pub mod files;
pub mod locks;
pub mod permissions;
pub mod runtime;
pub mod session_storage;
pub mod tabs;

use wasm_bindgen::JsValue;

/// An object with these fields.
pub(crate) fn object(fields: &[(&str, &JsValue)]) -> JsValue {
    let object = js_sys::Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh plain object cannot fail.
        let _ = js_sys::Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
}

/// A field of an object, `undefined` when there is none.
pub(crate) fn field(object: &JsValue, name: &str) -> JsValue {
    js_sys::Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}
