//! Waiting without frames: for a change of the page, a message of the engine, or a time, whichever is first.

use crate::dom::{self, Node};
use js_sys::{Array, Function, Promise};
use panelot_content::action::{Settle, Step};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, ms: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);

    #[wasm_bindgen(js_name = MutationObserver)]
    type Observer;
    #[wasm_bindgen(constructor, js_class = "MutationObserver")]
    fn new(callback: &Function) -> Observer;
    #[wasm_bindgen(method)]
    fn observe(this: &Observer, target: &Node, options: &JsValue);
    #[wasm_bindgen(method)]
    fn disconnect(this: &Observer);

    #[wasm_bindgen(thread_local_v2, js_name = performance)]
    static PERFORMANCE: JsValue;
    type Clock;
    #[wasm_bindgen(method)]
    fn now(this: &Clock) -> f64;
}

/// Milliseconds of a clock that only goes forward.
pub fn now() -> f64 {
    PERFORMANCE.with(|clock| clock.unchecked_ref::<Clock>().now())
}

/// Up to here a hidden page waits from task to task, which keeps its thread busy, in milliseconds.
const TASKS_WAIT_MS_MAX: f64 = 600.0;

thread_local! {
    /// Those who wait, by their resolving functions.
    static SLEEPERS: RefCell<Vec<Function>> = const { RefCell::new(Vec::new()) };
    /// How often they were woken.
    static WAKES: Cell<u32> = const { Cell::new(0) };
}

/// Wakes everybody who waits; each looks again whether it has what it waits for.
pub fn wake_all() {
    WAKES.set(WAKES.get().wrapping_add(1));
    let sleepers =
        SLEEPERS.with(|sleepers| sleepers.try_borrow_mut().map(|mut list| std::mem::take(&mut *list)));
    for sleeper in sleepers.unwrap_or_default() {
        // A resolving function does not throw.
        let _ = sleeper.call0(&JsValue::UNDEFINED);
    }
}

/// Waits until `ms` have passed or somebody wakes the waiters.
///
/// The timers of a hidden page go off once a second: there, short waits go from task to task instead.
pub async fn pause(ms: f64) {
    if ms <= TASKS_WAIT_MS_MAX && dom::document().hidden() {
        return pause_by_tasks(ms).await;
    }
    let mut timer = JsValue::UNDEFINED;
    let promise = Promise::new(&mut |resolve, _| {
        timer = set_timeout(&resolve, ms.max(0.0));
        SLEEPERS.with(|sleepers| {
            if let Ok(mut list) = sleepers.try_borrow_mut() {
                list.push(resolve);
            }
        });
    });
    // It only ever resolves.
    let _ = JsFuture::from(promise).await;
    clear_timeout(&timer);
}

async fn pause_by_tasks(ms: f64) {
    let (end, wakes) = (now() + ms, WAKES.get());
    let Some(tasks) = Tasks::new() else { return };
    while now() < end && WAKES.get() == wakes {
        tasks.next().await;
    }
}

/// Lets the page's own tasks run once, without a timer.
pub async fn next_task() {
    if let Some(tasks) = Tasks::new() {
        tasks.next().await;
    }
}

/// A channel to itself: each message is one task, which no page is late with.
struct Tasks {
    near: JsValue,
    far: JsValue,
}

impl Tasks {
    fn new() -> Option<Tasks> {
        let class = dom::get(&js_sys::global(), "MessageChannel").dyn_into::<Function>().ok()?;
        let channel = js_sys::Reflect::construct(&class, &Array::new()).ok()?;
        Some(Tasks { near: dom::get(&channel, "port1"), far: dom::get(&channel, "port2") })
    }

    async fn next(&self) {
        let promise = Promise::new(&mut |resolve, _| {
            // Both are plain calls on an object of our own.
            let _ = js_sys::Reflect::set(&self.near, &JsValue::from_str("onmessage"), &resolve);
            if let Ok(post) = dom::get(&self.far, "postMessage").dyn_into::<Function>() {
                let _ = post.call1(&self.far, &JsValue::NULL);
            }
        });
        let _ = JsFuture::from(promise).await;
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        if let Ok(close) = dom::get(&self.near, "close").dyn_into::<Function>() {
            let _ = close.call0(&self.near);
        }
    }
}

/// Whether a request is still wanted.
#[derive(Clone, Default)]
pub struct Wanted {
    given_up: Rc<Cell<bool>>,
}

impl Wanted {
    /// Nobody waits for the answer any more.
    pub fn give_up(&self) {
        self.given_up.set(true);
        wake_all();
    }

    /// Whether somebody still waits.
    pub fn holds(&self) -> bool {
        !self.given_up.get()
    }
}

/// Watches a document and one more root for changes, and wakes the waiters at each.
pub struct Watch {
    observer: Observer,
    last_change: Rc<Cell<Option<f64>>>,
    _callback: Closure<dyn FnMut()>,
}

impl Watch {
    /// Begins to watch.
    pub fn start(also: Option<&Node>) -> Watch {
        let last_change = Rc::new(Cell::new(None));
        let seen = Rc::clone(&last_change);
        let callback = Closure::<dyn FnMut()>::new(move || {
            seen.set(Some(now()));
            wake_all();
        });
        let observer = Observer::new(callback.as_ref().unchecked_ref());
        let options = dom::object(&[
            ("childList", JsValue::TRUE),
            ("subtree", JsValue::TRUE),
            ("characterData", JsValue::TRUE),
            ("attributes", JsValue::TRUE),
        ]);
        observer.observe(&dom::document(), &options);
        if let Some(root) = also {
            observer.observe(root, &options);
        }
        Watch { observer, last_change, _callback: callback }
    }

    /// When something last changed, on the clock of [`now`].
    pub fn last_change(&self) -> Option<f64> {
        self.last_change.get()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Waits until the page has settled after an action; whether any effect was seen.
///
/// `touched` tells of effects that no mutation shows; `leaving` ends the wait at once, while there is still a document
/// to answer from.
pub async fn settle(
    watch: &Watch,
    wanted: &Wanted,
    touched: impl Fn() -> bool,
    leaving: impl Fn() -> bool,
) -> bool {
    let mut settle = Settle::new(now());
    let mut seen = None;
    loop {
        let changed = watch.last_change();
        if changed != seen {
            seen = changed;
            if let Some(at) = changed {
                settle.changed(at);
            }
        }
        if !settle.has_effect() && touched() {
            settle.changed(now());
        }
        match settle.step(now()) {
            Step::Done => return settle.has_effect(),
            Step::Wait(_) if !wanted.holds() || leaving() => return settle.has_effect(),
            Step::Wait(ms) => pause(ms).await,
        }
    }
}
