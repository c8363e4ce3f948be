//! Events as a browser would send them for the same gesture.

use crate::dom::{self, Node, Window};
use panelot_protocol::content::{KeyModifier, MouseButton};
use wasm_bindgen::JsValue;

/// How a mouse is used.
pub(crate) struct Gesture {
    pub(crate) button: MouseButton,
    pub(crate) modifiers: Vec<KeyModifier>,
    pub(crate) count: u32,
}

/// Where events happen.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// Sends pointer and mouse events to one element.
pub(crate) struct Mouse<'a> {
    view: Window,
    target: &'a Node,
    point: Point,
    gesture: &'a Gesture,
}

impl<'a> Mouse<'a> {
    pub(crate) fn new(target: &'a Node, point: Point, gesture: &'a Gesture) -> Mouse<'a> {
        Mouse { view: dom::view_of(target), target, point, gesture }
    }

    /// The mouse arrives.
    pub(crate) fn hover(&self) {
        for (class, kind, bubbles) in [
            ("PointerEvent", "pointerover", true),
            ("PointerEvent", "pointerenter", false),
            ("MouseEvent", "mouseover", true),
            ("MouseEvent", "mouseenter", false),
            ("PointerEvent", "pointermove", true),
            ("MouseEvent", "mousemove", true),
        ] {
            self.send(class, kind, Shape { bubbles, pressed: false, detail: 0, button: -1 });
        }
    }

    /// One press and release with the events that follow; false if the page kept the default action.
    pub(crate) fn press(&self, detail: u32, focus: impl FnOnce()) -> bool {
        let button = self.button();
        let down = Shape { bubbles: true, pressed: true, detail, button };
        let up = Shape { pressed: false, ..down };
        self.send("PointerEvent", "pointerdown", Shape { detail: 0, ..down });
        if self.send("MouseEvent", "mousedown", down) {
            focus();
        }
        self.send("PointerEvent", "pointerup", Shape { detail: 0, ..up });
        self.send("MouseEvent", "mouseup", up);
        match self.gesture.button {
            MouseButton::Left => self.send("PointerEvent", "click", up),
            MouseButton::Middle => self.send("PointerEvent", "auxclick", up),
            MouseButton::Right => {
                self.send("PointerEvent", "auxclick", up);
                self.send("PointerEvent", "contextmenu", Shape { detail: 0, ..up })
            }
        }
    }

    /// The event after the second of two clicks.
    pub(crate) fn double(&self) {
        self.send("MouseEvent", "dblclick", Shape { bubbles: true, pressed: false, detail: 2, button: 0 });
    }

    fn button(&self) -> i32 {
        match self.gesture.button {
            MouseButton::Left => 0,
            MouseButton::Middle => 1,
            MouseButton::Right => 2,
        }
    }

    fn buttons(&self) -> u32 {
        match self.gesture.button {
            MouseButton::Left => 1,
            MouseButton::Middle => 4,
            MouseButton::Right => 2,
        }
    }

    /// Sends one event; false if a listener prevented its default action.
    fn send(&self, class: &str, kind: &str, shape: Shape) -> bool {
        let Point { x, y } = self.point;
        let pressed = if shape.pressed { self.buttons() } else { 0 };
        let screen = |axis: &str| dom::get(self.view.as_ref(), axis).as_f64().unwrap_or(0.0);
        let init = dom::object(&[
            ("bubbles", shape.bubbles.into()),
            ("cancelable", shape.bubbles.into()),
            ("composed", true.into()),
            ("view", JsValue::clone(self.view.as_ref())),
            ("detail", shape.detail.into()),
            ("clientX", x.into()),
            ("clientY", y.into()),
            ("screenX", (x + screen("screenX")).into()),
            ("screenY", (y + screen("screenY")).into()),
            ("button", shape.button.into()),
            ("buttons", pressed.into()),
        ]);
        modifiers(&init, &self.gesture.modifiers);
        if class == "PointerEvent" {
            dom::set(&init, "pointerId", &1.into());
            dom::set(&init, "pointerType", &"mouse".into());
            dom::set(&init, "isPrimary", &true.into());
            dom::set(&init, "pressure", &(if shape.pressed { 0.5 } else { 0.0 }).into());
            dom::set(&init, "width", &1.into());
            dom::set(&init, "height", &1.into());
        }
        send(&self.view, self.target, class, kind, &init)
    }
}

#[derive(Clone, Copy)]
struct Shape {
    bubbles: bool,
    pressed: bool,
    detail: u32,
    button: i32,
}

fn modifiers(init: &js_sys::Object, held: &[KeyModifier]) {
    for modifier in held {
        let name = match modifier {
            KeyModifier::Alt => "altKey",
            KeyModifier::Control => "ctrlKey",
            KeyModifier::Meta => "metaKey",
            KeyModifier::Shift => "shiftKey",
        };
        dom::set(init, name, &true.into());
    }
}

/// Sends an event; false if a listener prevented its default action.
fn send(view: &Window, target: &Node, class: &str, kind: &str, init: &js_sys::Object) -> bool {
    match dom::new_event(view, class, kind, init) {
        // Listeners' own errors do not come back from here.
        Ok(event) => target.dispatch(&event).unwrap_or(true),
        Err(_) => true,
    }
}

/// A plain event that bubbles.
pub(crate) fn plain(target: &Node, kind: &str) -> bool {
    let init = dom::object(&[("bubbles", true.into())]);
    send(&dom::view_of(target), target, "Event", kind, &init)
}

/// An input event with the text that it brings.
pub(crate) fn input(target: &Node, kind: &str, input_type: &str, data: Option<&str>) -> bool {
    let init = dom::object(&[
        ("bubbles", true.into()),
        ("cancelable", (kind == "beforeinput").into()),
        ("composed", true.into()),
        ("inputType", input_type.into()),
        ("data", data.map_or(JsValue::NULL, JsValue::from_str)),
    ]);
    send(&dom::view_of(target), target, "InputEvent", kind, &init)
}

/// A key event; false if a listener prevented its default action.
pub(crate) fn key(target: &Node, kind: &str, key: &str, code: &str, key_code: u32) -> bool {
    let view = dom::view_of(target);
    let init = dom::object(&[
        ("bubbles", true.into()),
        ("cancelable", true.into()),
        ("composed", true.into()),
        ("view", JsValue::clone(view.as_ref())),
        ("key", key.into()),
        ("code", code.into()),
        ("keyCode", key_code.into()),
        ("which", key_code.into()),
        ("charCode", (if kind == "keypress" { key_code } else { 0 }).into()),
    ]);
    send(&view, target, "KeyboardEvent", kind, &init)
}

/// Moves the focus as a press would; where the browser sends no focus events (hidden pages), they are sent by hand.
pub(crate) fn focus(target: &Node) {
    let before = dom::deep_active_element();
    if before.as_ref() == Some(target) {
        return;
    }
    let view = dom::view_of(target);
    let seen = FocusSeen::listen(&view);
    let options = dom::object(&[("preventScroll", true.into())]);
    // What cannot take the focus leaves it where it is.
    let _ = target.focus(&options);
    let moved = dom::deep_active_element().as_ref() == Some(target);
    if moved && !seen.happened() {
        let relation = |other: Option<&Node>| other.map_or(JsValue::NULL, |node| node.clone().into());
        if let Some(old) = before.as_ref().filter(|old| dom::tag_of(old) != "body") {
            focus_event(old, "blur", false, &relation(Some(target)));
            focus_event(old, "focusout", true, &relation(Some(target)));
        }
        focus_event(target, "focus", false, &relation(before.as_ref()));
        focus_event(target, "focusin", true, &relation(before.as_ref()));
    }
}

fn focus_event(target: &Node, kind: &str, bubbles: bool, related: &JsValue) {
    let init = dom::object(&[
        ("bubbles", bubbles.into()),
        ("composed", true.into()),
        ("relatedTarget", related.clone()),
    ]);
    send(&dom::view_of(target), target, "FocusEvent", kind, &init);
}

/// Whether the browser itself sent a focus event.
struct FocusSeen {
    view: Window,
    happened: std::rc::Rc<std::cell::Cell<bool>>,
    listener: wasm_bindgen::closure::Closure<dyn FnMut()>,
}

impl FocusSeen {
    fn listen(view: &Window) -> FocusSeen {
        let happened = std::rc::Rc::new(std::cell::Cell::new(false));
        let flag = std::rc::Rc::clone(&happened);
        let listener = wasm_bindgen::closure::Closure::<dyn FnMut()>::new(move || flag.set(true));
        // A window always takes listeners.
        let _ = view.listen("focus", wasm_bindgen::JsCast::unchecked_ref(listener.as_ref()), true);
        FocusSeen { view: view.clone(), happened, listener }
    }

    fn happened(&self) -> bool {
        self.happened.get()
    }
}

impl Drop for FocusSeen {
    fn drop(&mut self) {
        let _ =
            self.view.unlisten("focus", wasm_bindgen::JsCast::unchecked_ref(self.listener.as_ref()), true);
    }
}

/// A plain event that bubbles out of shadow roots too.
pub(crate) fn plain_composed(target: &Node, kind: &str) -> bool {
    let init = dom::object(&[("bubbles", true.into()), ("composed", true.into())]);
    send(&dom::view_of(target), target, "Event", kind, &init)
}
