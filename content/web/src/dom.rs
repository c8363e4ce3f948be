//! Bindings to the part of the DOM that the content script uses.
//!
//! Written by hand because a page has many realms and shadow roots: nothing here asks what an object is an instance
//! of, names cross as values that were made once, and what a page can shadow by naming a form field is asked of the
//! prototype.

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;

/// `nodeType` of an element.
pub const ELEMENT_NODE: u32 = 1;
/// `nodeType` of a text node.
pub const TEXT_NODE: u32 = 3;
/// `nodeType` of a document.
pub const DOCUMENT_NODE: u32 = 9;
/// `nodeType` of a shadow root.
pub const FRAGMENT_NODE: u32 = 11;

#[wasm_bindgen]
extern "C" {
    /// Any node; a method is called only where the node has it.
    #[derive(Clone, Debug, PartialEq)]
    pub type Node;

    #[wasm_bindgen(method, getter, js_name = nodeType)]
    fn node_type_value(this: &Node) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = firstChild)]
    pub fn first_child(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = nextSibling)]
    pub fn next_sibling(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = parentNode)]
    pub fn parent_node(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = parentElement)]
    pub fn parent_element(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = isConnected)]
    pub fn is_connected(this: &Node) -> bool;
    #[wasm_bindgen(method, getter, js_name = ownerDocument)]
    pub fn owner_document(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, js_name = getRootNode)]
    pub fn root_node(this: &Node) -> Node;
    #[wasm_bindgen(method)]
    pub fn contains(this: &Node, other: &Node) -> bool;
    #[wasm_bindgen(method, getter, js_name = textContent)]
    pub fn text_content(this: &Node) -> Option<String>;
    #[wasm_bindgen(method, setter, js_name = textContent)]
    pub fn set_text_content(this: &Node, text: &str);
    #[wasm_bindgen(method, catch, js_name = appendChild)]
    pub fn append_child(this: &Node, child: &Node) -> Result<Node, JsValue>;

    // Text.
    #[wasm_bindgen(method, getter)]
    pub fn length(this: &Node) -> u32;
    #[wasm_bindgen(method, getter)]
    pub fn data(this: &Node) -> String;
    #[wasm_bindgen(method, catch, js_name = substringData)]
    pub fn substring_data(this: &Node, offset: u32, count: u32) -> Result<String, JsValue>;

    // Elements.
    #[wasm_bindgen(method, getter, js_name = localName)]
    pub fn local_name(this: &Node) -> JsValue;
    #[wasm_bindgen(method, js_name = hasAttributes)]
    pub fn has_attributes(this: &Node) -> bool;
    #[wasm_bindgen(method, js_name = getAttribute)]
    pub fn attribute(this: &Node, name: &JsValue) -> Option<String>;
    #[wasm_bindgen(method, js_name = hasAttribute)]
    pub fn has_attribute(this: &Node, name: &JsValue) -> bool;
    #[wasm_bindgen(method)]
    pub fn matches(this: &Node, selector: &JsValue) -> bool;
    #[wasm_bindgen(method)]
    pub fn closest(this: &Node, selector: &str) -> Option<Node>;
    #[wasm_bindgen(method, js_name = querySelectorAll)]
    pub fn query_all(this: &Node, selector: &str) -> List;
    #[wasm_bindgen(method, js_name = querySelector)]
    pub fn query(this: &Node, selector: &str) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = childElementCount)]
    pub fn child_element_count(this: &Node) -> u32;
    #[wasm_bindgen(method, getter)]
    pub fn children(this: &Node) -> List;
    #[wasm_bindgen(method, getter, js_name = shadowRoot)]
    pub fn shadow_root(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = assignedSlot)]
    pub fn assigned_slot(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, js_name = assignedNodes)]
    pub fn assigned_nodes(this: &Node) -> Array;
    #[wasm_bindgen(method, js_name = getBoundingClientRect)]
    pub fn bounding_rect(this: &Node) -> DomRect;
    #[wasm_bindgen(method, js_name = getClientRects)]
    pub fn client_rects(this: &Node) -> List;
    #[wasm_bindgen(method, js_name = checkVisibility)]
    pub fn check_visibility(this: &Node) -> bool;
    #[wasm_bindgen(method, js_name = checkVisibility)]
    pub fn check_visibility_with(this: &Node, options: &Object) -> bool;
    #[wasm_bindgen(method, js_name = scrollIntoView)]
    pub fn scroll_into_view(this: &Node, options: &Object);
    #[wasm_bindgen(method, catch)]
    pub fn focus(this: &Node, options: &Object) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = dispatchEvent)]
    pub fn dispatch(this: &Node, event: &JsValue) -> Result<bool, JsValue>;
    #[wasm_bindgen(method)]
    pub fn remove(this: &Node);
    #[wasm_bindgen(method, getter)]
    pub fn style(this: &Node) -> Style;
    #[wasm_bindgen(method, catch, js_name = attachShadow)]
    pub fn attach_shadow(this: &Node, options: &Object) -> Result<Node, JsValue>;
    #[wasm_bindgen(method, getter, js_name = tabIndex)]
    pub fn tab_index(this: &Node) -> i32;
    #[wasm_bindgen(method, getter, js_name = isContentEditable)]
    pub fn is_content_editable(this: &Node) -> Option<bool>;
    #[wasm_bindgen(method, getter, js_name = innerText)]
    pub fn inner_text(this: &Node) -> Option<String>;

    // Controls.
    #[wasm_bindgen(method, getter)]
    pub fn value(this: &Node) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn checked(this: &Node) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn indeterminate(this: &Node) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn selected(this: &Node) -> bool;
    #[wasm_bindgen(method, setter)]
    pub fn set_selected(this: &Node, selected: bool);
    #[wasm_bindgen(method, setter, js_name = selectedIndex)]
    pub fn set_selected_index(this: &Node, at: i32);
    #[wasm_bindgen(method, getter)]
    pub fn multiple(this: &Node) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn disabled(this: &Node) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn required(this: &Node) -> bool;
    #[wasm_bindgen(method, getter, js_name = readOnly)]
    pub fn read_only(this: &Node) -> bool;
    #[wasm_bindgen(method, getter)]
    pub fn label(this: &Node) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn options(this: &Node) -> List;
    #[wasm_bindgen(method, getter)]
    pub fn labels(this: &Node) -> Option<List>;
    #[wasm_bindgen(method, getter)]
    pub fn control(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter)]
    pub fn form(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter)]
    pub fn href(this: &Node) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub fn open(this: &Node) -> bool;
    #[wasm_bindgen(method, catch, js_name = setSelectionRange)]
    pub fn set_selection_range(this: &Node, start: u32, end: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn select(this: &Node) -> Result<(), JsValue>;

    // Documents and shadow roots.
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter, js_name = documentElement)]
    pub fn document_element(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, getter)]
    pub fn title(this: &Node) -> String;
    #[wasm_bindgen(method, getter, js_name = URL)]
    pub fn url(this: &Node) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn hidden(this: &Node) -> bool;
    #[wasm_bindgen(method, getter, js_name = defaultView)]
    pub fn default_view(this: &Node) -> Option<Window>;
    #[wasm_bindgen(method, getter, js_name = activeElement)]
    pub fn active_element(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, js_name = getElementById)]
    pub fn element_by_id(this: &Node, id: &str) -> Option<Node>;
    #[wasm_bindgen(method, js_name = elementFromPoint)]
    pub fn element_from_point(this: &Node, x: f64, y: f64) -> Option<Node>;
    #[wasm_bindgen(method, getter)]
    pub fn host(this: &Node) -> Option<Node>;
    #[wasm_bindgen(method, catch, js_name = createElement)]
    pub fn create_element(this: &Node, tag: &str) -> Result<Node, JsValue>;
    #[wasm_bindgen(method, catch, js_name = execCommand)]
    pub fn exec_command(this: &Node, command: &str, ui: bool, value: &str) -> Result<bool, JsValue>;
    #[wasm_bindgen(method, js_name = getSelection)]
    pub fn selection(this: &Node) -> Option<Selection>;
    #[wasm_bindgen(method, js_name = getElementsByTagName)]
    pub fn by_tag(this: &Node, tag: &str) -> List;

    /// A list of nodes or rectangles.
    #[derive(Clone, Debug)]
    pub type List;
    #[wasm_bindgen(method, getter, js_name = length)]
    pub fn len(this: &List) -> u32;
    #[wasm_bindgen(method)]
    pub fn item(this: &List, at: u32) -> Option<Node>;
    #[wasm_bindgen(method, js_name = item)]
    pub fn rect(this: &List, at: u32) -> Option<DomRect>;

    /// A rectangle in CSS pixels.
    pub type DomRect;
    #[wasm_bindgen(method, getter)]
    pub fn x(this: &DomRect) -> f64;
    #[wasm_bindgen(method, getter)]
    pub fn y(this: &DomRect) -> f64;
    #[wasm_bindgen(method, getter)]
    pub fn width(this: &DomRect) -> f64;
    #[wasm_bindgen(method, getter)]
    pub fn height(this: &DomRect) -> f64;

    /// A style, own or computed.
    pub type Style;
    #[wasm_bindgen(method, getter)]
    pub fn cursor(this: &Style) -> JsValue;
    #[wasm_bindgen(method, js_name = getPropertyValue)]
    pub fn get(this: &Style, name: &str) -> String;
    #[wasm_bindgen(method, catch, js_name = setProperty)]
    pub fn set(this: &Style, name: &str, value: &str) -> Result<(), JsValue>;

    /// The user's selection in a document.
    pub type Selection;
    #[wasm_bindgen(method, catch, js_name = selectAllChildren)]
    pub fn select_all_children(this: &Selection, node: &Node) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = collapseToEnd)]
    pub fn collapse_to_end(this: &Selection) -> Result<(), JsValue>;

    /// A window.
    #[derive(Clone, Debug)]
    pub type Window;
    #[wasm_bindgen(method, getter, js_name = innerWidth)]
    pub fn inner_width(this: &Window) -> f64;
    #[wasm_bindgen(method, getter, js_name = innerHeight)]
    pub fn inner_height(this: &Window) -> f64;
    #[wasm_bindgen(method, getter, js_name = scrollX)]
    pub fn scroll_x(this: &Window) -> f64;
    #[wasm_bindgen(method, getter, js_name = scrollY)]
    pub fn scroll_y(this: &Window) -> f64;
    #[wasm_bindgen(method, js_name = getComputedStyle)]
    pub fn computed_style(this: &Window, element: &Node) -> Style;
    #[wasm_bindgen(method, js_name = getComputedStyle)]
    pub fn pseudo_style(this: &Window, element: &Node, pseudo: &str) -> Style;
    #[wasm_bindgen(method, catch, js_name = addEventListener)]
    pub fn listen(this: &Window, event: &str, listener: &Function, capture: bool) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = removeEventListener)]
    pub fn unlisten(this: &Window, event: &str, listener: &Function, capture: bool) -> Result<(), JsValue>;

    /// A weak reference to a node.
    pub type WeakRef;
    #[wasm_bindgen(constructor)]
    pub fn new(target: &Node) -> WeakRef;
    #[wasm_bindgen(method)]
    pub fn deref(this: &WeakRef) -> Option<Node>;

    /// A map whose numbers are read without a detour.
    pub type NumberMap;
    #[wasm_bindgen(constructor, js_class = "Map")]
    pub fn new() -> NumberMap;
    #[wasm_bindgen(method)]
    pub fn get(this: &NumberMap, key: &JsValue) -> Option<f64>;
    #[wasm_bindgen(method)]
    pub fn set(this: &NumberMap, key: &JsValue, value: f64);

    /// A map from nodes to numbers that keeps no node alive.
    pub type WeakNumberMap;
    #[wasm_bindgen(constructor, js_class = "WeakMap")]
    pub fn new() -> WeakNumberMap;
    #[wasm_bindgen(method)]
    pub fn get(this: &WeakNumberMap, key: &Node) -> Option<f64>;
    #[wasm_bindgen(method)]
    pub fn set(this: &WeakNumberMap, key: &Node, value: f64);

    #[wasm_bindgen(thread_local_v2, js_name = document)]
    static DOCUMENT: Node;
    #[wasm_bindgen(thread_local_v2, js_name = window)]
    static WINDOW: Window;
}

impl Node {
    /// The node's type. A form whose field is called `nodeType` is an element all the same.
    pub fn node_type(&self) -> u32 {
        self.node_type_value().as_f64().map_or(ELEMENT_NODE, |kind| kind as u32)
    }
}

/// The document that the script runs in.
pub fn document() -> Node {
    DOCUMENT.with(Clone::clone)
}

/// Its window.
pub fn window() -> Window {
    WINDOW.with(Clone::clone)
}

/// The window of an element's own document, where its classes live.
pub fn view_of(node: &Node) -> Window {
    node.owner_document().and_then(|document| document.default_view()).unwrap_or_else(window)
}

/// A plain object with these entries.
pub fn object(entries: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in entries {
        set(&object, name, value);
    }
    object
}

/// Sets a property of a plain object of our own, which cannot fail.
pub fn set(object: &Object, name: &str, value: &JsValue) {
    let set = Reflect::set(object, &JsValue::from_str(name), value);
    debug_assert!(set.is_ok(), "a plain object takes every property");
}

/// A property of any object, or undefined.
pub fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// Makes an event of a class of the given window.
pub fn new_event(view: &Window, class: &str, kind: &str, init: &Object) -> Result<JsValue, JsValue> {
    let constructor: Function = get(view.as_ref(), class).dyn_into()?;
    let arguments = Array::of2(&JsValue::from_str(kind), init);
    Reflect::construct(&constructor, &arguments)
}

/// Calls a method of a class's prototype, so that a form field of the same name is not in the way.
pub fn call_native(view: &Window, class: &str, method: &str, this: &Node) -> Result<JsValue, JsValue> {
    let prototype = get(&get(view.as_ref(), class), "prototype");
    let function: Function = get(&prototype, method).dyn_into()?;
    function.call0(this)
}

/// Sets a property through the setter of a class's prototype, past what a page laid over it.
pub fn set_native(
    view: &Window,
    class: &str,
    name: &str,
    this: &Node,
    value: &JsValue,
) -> Result<(), JsValue> {
    let prototype: Object = get(&get(view.as_ref(), class), "prototype").dyn_into()?;
    let descriptor = Object::get_own_property_descriptor(&prototype, &JsValue::from_str(name));
    let setter: Function = get(&descriptor, "set").dyn_into()?;
    setter.call1(this, value).map(|_| ())
}

/// Whether an element is rendered, and neither invisible nor the content of a closed part.
pub fn is_painted(element: &Node) -> bool {
    element.check_visibility_with(&object(&[("visibilityProperty", JsValue::TRUE)]))
}

/// The tag of an element as text.
pub fn tag_of(node: &Node) -> String {
    node.local_name().as_string().unwrap_or_default()
}

/// The element that has the focus, followed into shadow roots.
pub fn deep_active_element() -> Option<Node> {
    /// Deeper nesting of shadow roots is not followed.
    const ROOTS_MAX: u32 = 32;
    let mut active = document().active_element()?;
    for _ in 0..ROOTS_MAX {
        match shadow_root_of(&active).and_then(|root| root.active_element()) {
            Some(inner) => active = inner,
            None => break,
        }
    }
    Some(active)
}

thread_local! {
    static CLOSED_ROOT: Option<(JsValue, Function)> = closed_root_function();
}

/// `chrome.dom.openOrClosedShadowRoot`, where there is one.
fn closed_root_function() -> Option<(JsValue, Function)> {
    let dom = get(&get(&js_sys::global(), "chrome"), "dom");
    let function = get(&dom, "openOrClosedShadowRoot").dyn_into::<Function>().ok()?;
    Some((dom, function))
}

/// The shadow root of an HTML element, closed ones included where the browser lets extensions in.
pub fn shadow_root_of(element: &Node) -> Option<Node> {
    element.shadow_root().or_else(|| closed_shadow_root(element))
}

/// The closed shadow root of an element. The browser's function throws on what is not an HTML element.
pub fn closed_shadow_root(element: &Node) -> Option<Node> {
    CLOSED_ROOT.with(|found| {
        let (dom, function) = found.as_ref()?;
        let root = function.call1(dom, element).ok()?;
        (!root.is_null() && !root.is_undefined()).then(|| root.unchecked_into())
    })
}

/// The parent in the flat tree: the slot that an element is assigned to, the host of a shadow root.
pub fn flat_parent(node: &Node) -> Option<Node> {
    let is_plain_element = node.node_type() == ELEMENT_NODE && !matches!(tag_of(node).as_str(), "" | "form");
    if is_plain_element && let Some(slot) = node.assigned_slot() {
        return Some(slot);
    }
    let parent = native(node, &NATIVE_PARENT)?;
    if parent.node_type() == FRAGMENT_NODE { parent.host() } else { Some(parent) }
}

/// The child nodes of a form, whatever its fields are called.
pub fn native_children(form: &Node) -> Option<Vec<Node>> {
    let mut children = Vec::new();
    let mut next = native(form, &NATIVE_FIRST_CHILD);
    while let Some(child) = next {
        next = native(&child, &NATIVE_NEXT_SIBLING);
        children.push(child);
    }
    Some(children).filter(|children| !children.is_empty())
}

/// The sibling after a form, whatever its fields are called.
pub fn native_next_sibling(form: &Node) -> Option<Node> {
    native(form, &NATIVE_NEXT_SIBLING)
}

type Getter = std::thread::LocalKey<Option<Function>>;

thread_local! {
    static NATIVE_FIRST_CHILD: Option<Function> = native_getter("firstChild");
    static NATIVE_NEXT_SIBLING: Option<Function> = native_getter("nextSibling");
    static NATIVE_PARENT: Option<Function> = native_getter("parentNode");
}

fn native_getter(name: &str) -> Option<Function> {
    let prototype = get(&get(&js_sys::global(), "Node"), "prototype").dyn_into::<Object>().ok()?;
    let descriptor = Object::get_own_property_descriptor(&prototype, &JsValue::from_str(name));
    get(&descriptor, "get").dyn_into().ok()
}

/// A property of any node through the getter of `Node.prototype`.
fn native(node: &Node, getter: &'static Getter) -> Option<Node> {
    let found = getter.with(|getter| getter.as_ref()?.call0(node).ok())?;
    (!found.is_null() && !found.is_undefined()).then(|| found.unchecked_into())
}

/// Calls a method of a class's prototype with one argument.
pub fn call_native1(
    view: &Window,
    class: &str,
    method: &str,
    this: &Node,
    argument: &JsValue,
) -> Result<JsValue, JsValue> {
    let prototype = get(&get(view.as_ref(), class), "prototype");
    let function: Function = get(&prototype, method).dyn_into()?;
    function.call1(this, argument)
}
