//! The end of an instance in a real browser. A file of its own with one test: the panic stays in the instance.

#![cfg(target_arch = "wasm32")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and this one also succeeds by it"
)]

use futures::FutureExt;
use panelot_engine::ports::Spawner;
use panelot_engine_web::death;
use panelot_engine_web::spawn::WebSpawner;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::AbortController;

wasm_bindgen_test_configure!(run_in_browser);

/// Calls a function of this module from outside, and answers whether it ended well.
fn ends_well(function: &Closure<dyn FnMut()>) -> bool {
    let function: &js_sys::Function = function.as_ref().unchecked_ref();
    function.call0(&JsValue::UNDEFINED).is_ok()
}

/// Lets everything run that is due.
async fn a_moment() {
    gloo_timers::future::TimeoutFuture::new(0).await;
}

#[wasm_bindgen_test]
async fn a_panic_is_told_without_its_content_and_no_task_goes_on_behind_it() {
    let heard = js_sys::Array::new();
    let told = heard.clone();
    let tell = Closure::<dyn FnMut(JsValue)>::new(move |words: JsValue| {
        told.push(&words);
    });
    js_sys::Reflect::set(&js_sys::global(), &"panelotPanicked".into(), tell.as_ref()).unwrap();
    let life = AbortController::new().unwrap();
    death::watch(life.signal());
    let steps = Rc::new(Cell::new(0));
    let step = || {
        let steps = Rc::clone(&steps);
        WebSpawner.spawn(async move { steps.set(steps.get() + 1) }.boxed_local());
    };
    step();
    a_moment().await;
    assert_eq!((steps.get(), death::is_dead()), (1, false));

    let own = AbortController::new().unwrap();
    let signal = death::signal_with(&own.signal());
    let secret = String::from("what a person wrote");
    let put_together = Closure::<dyn FnMut()>::new(move || panic!("{secret}"));
    let written = Closure::<dyn FnMut()>::new(|| panic!("what a programmer wrote"));
    assert!(!ends_well(&put_together) && !ends_well(&written));
    step();
    a_moment().await;
    assert_eq!((steps.get(), death::is_dead()), (1, true));
    let words: Vec<String> = heard.iter().filter_map(|words| words.as_string()).collect();
    assert_eq!(words.len(), 2);
    assert!(words.iter().all(|words| words.contains("death.rs:")), "{words:?}");
    assert!(words.iter().all(|words| !words.contains("a person")), "{words:?}");
    assert!(words.last().unwrap().ends_with(": what a programmer wrote"), "{words:?}");
    assert!(!signal.aborted());
    life.abort();
    assert!(signal.aborted());
}
