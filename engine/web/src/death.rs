//! The end of this instance of the module: a panic stops everything in it, and the worker's entry starts another.

use crate::log;
use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::AbortSignal;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = globalThis, js_name = panelotPanicked)]
    fn tell_entry(words: &str);
}

thread_local! {
    static DEAD: Cell<bool> = const { Cell::new(false) };
    static LIFE: RefCell<Option<AbortSignal>> = const { RefCell::new(None) };
}

/// Whether this instance has panicked. Nothing goes on in it: what it believes may be half of a change.
pub fn is_dead() -> bool {
    DEAD.get()
}

/// Makes panics known to the worker's entry. `life` is aborted when another instance takes this one's place.
pub fn watch(life: AbortSignal) {
    LIFE.set(Some(life));
    std::panic::set_hook(Box::new(|info| {
        DEAD.set(true);
        let words = words(info);
        log::warn_text(&words);
        tell_entry(&words);
    }));
}

/// What ends with this instance, besides `own`.
pub fn signal_with(own: &AbortSignal) -> AbortSignal {
    LIFE.with_borrow(|life| match life {
        Some(life) => AbortSignal::any(&js_sys::Array::of2(own, life)),
        None => own.clone(),
    })
}

/// Where it happened, and what was said when that was written by a programmer: a message that was put together at run
/// time may hold what a person or a page wrote.
fn words(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let message = info.payload().downcast_ref::<&'static str>().unwrap_or(&"(a message that is not shown)");
    format!("the engine panicked at {place}: {message}")
}
