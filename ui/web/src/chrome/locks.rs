//! `navigator.locks`: which pages are alive.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::object;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["navigator", "locks"], js_name = request, catch)]
    fn request_js(name: &str, options: &JsValue, holder: &Function) -> Result<Promise, JsValue>;
}

/// Takes a lock for the life of this page. `false` when another page holds it.
pub async fn hold(name: &str) -> bool {
    let options = object(&[("ifAvailable", &JsValue::TRUE)]);
    let answered = Promise::new(&mut |resolve, _| {
        let answer = resolve.clone();
        let holder = Closure::once_into_js(move |lock: JsValue| -> JsValue {
            let taken = !lock.is_null();
            // Resolving a promise of our own cannot fail.
            let _ = answer.call1(&JsValue::UNDEFINED, &JsValue::from_bool(taken));
            // A promise that never settles keeps the lock until the page is gone.
            if taken { Promise::new(&mut |_, _| {}).into() } else { JsValue::UNDEFINED }
        });
        if request_js(name, &options, holder.unchecked_ref()).is_err() {
            let _ = resolve.call1(&JsValue::UNDEFINED, &JsValue::FALSE);
        }
    });
    JsFuture::from(answered).await.is_ok_and(|taken| taken.is_truthy())
}
