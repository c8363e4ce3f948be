//! What happens to the document while an action is under way: mutations, and the beginning of a navigation.

use crate::dom;
use crate::wait::{self, Watch};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[derive(Default)]
struct Seen {
    destination: RefCell<Option<String>>,
    download: Cell<bool>,
    leaving: Cell<bool>,
}

/// Listens from just before an action until it is reported.
pub(crate) struct Effects {
    seen: Rc<Seen>,
    on_navigate: Closure<dyn FnMut(JsValue)>,
    on_leave: Closure<dyn FnMut()>,
}

impl Effects {
    pub(crate) fn start() -> Effects {
        let seen = Rc::new(Seen::default());
        let navigate = Rc::clone(&seen);
        let on_navigate = Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
            let url = dom::get(&dom::get(&event, "destination"), "url").as_string();
            navigate.download.set(!dom::get(&event, "downloadRequest").is_null_or_undefined());
            navigate.destination.replace(url);
            wait::wake_all();
        });
        let leave = Rc::clone(&seen);
        let on_leave = Closure::<dyn FnMut()>::new(move || {
            leave.leaving.set(true);
            wait::wake_all();
        });
        let effects = Effects { seen, on_navigate, on_leave };
        effects.each(|target, event, listener| {
            let method = dom::get(target, "addEventListener").dyn_into::<js_sys::Function>();
            if let Ok(method) = method {
                // A target that takes no listeners tells nothing.
                let _ = method.call2(target, &JsValue::from_str(event), listener);
            }
        });
        effects
    }

    fn each(&self, with: impl Fn(&JsValue, &str, &JsValue)) {
        let global: JsValue = js_sys::global().into();
        let navigation = dom::get(&global, "navigation");
        if navigation.is_object() {
            with(&navigation, "navigate", self.on_navigate.as_ref());
        }
        for event in ["beforeunload", "pagehide"] {
            with(&global, event, self.on_leave.as_ref());
        }
    }

    /// Whether anything began that no mutation shows.
    pub(crate) fn any(&self) -> bool {
        self.seen.leaving.get() || self.seen.destination.borrow().is_some()
    }

    /// Whether the document is about to be replaced.
    pub(crate) fn is_leaving(&self) -> bool {
        self.seen.leaving.get() && !self.seen.download.get()
    }

    /// In words, where the page goes or what it downloads.
    pub(crate) fn leaving(&self) -> Option<String> {
        let destination = self.seen.destination.borrow();
        let url = destination.as_deref().map(|url| panelot_content::clean::shorten(url, 300));
        if self.seen.download.get() {
            return Some(format!("a download began from {}", url.unwrap_or_default()));
        }
        if self.is_leaving() {
            return Some(match url {
                Some(url) => format!("the page is going to {url}"),
                None => "the page is going elsewhere".to_owned(),
            });
        }
        None
    }

    /// Waits until the page has settled; whether any effect was seen. `touched` tells of effects on the target
    /// itself that no mutation shows.
    pub(crate) async fn settle(
        &self,
        watch: &Watch,
        wanted: &wait::Wanted,
        touched: impl Fn() -> bool,
    ) -> bool {
        wait::settle(watch, wanted, || self.any() || touched(), || self.is_leaving()).await
    }
}

impl Drop for Effects {
    fn drop(&mut self) {
        self.each(|target, event, listener| {
            let method = dom::get(target, "removeEventListener").dyn_into::<js_sys::Function>();
            if let Ok(method) = method {
                let _ = method.call2(target, &JsValue::from_str(event), listener);
            }
        });
    }
}
