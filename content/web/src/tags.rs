//! Tags by what the collector does with them, looked up by the element's own name value.

use crate::dom::NumberMap;
use wasm_bindgen::JsValue;

/// What the collector does with an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Never rendered as content.
    Skip,
    /// Walked, and may host a shadow root.
    Host,
    /// Walked.
    Plain,
    /// `a` and `area`.
    Link,
    /// `input`.
    Input,
    /// `textarea`.
    TextArea,
    /// `select`.
    Select,
    /// `button`.
    Button,
    /// `label`.
    Label,
    /// `details`.
    Details,
    /// `summary`.
    Summary,
    /// `dialog`.
    Dialog,
    /// `form`: its properties may be shadowed by its fields.
    Form,
    /// `slot`.
    Slot,
    /// Its content is not of this document.
    Opaque,
    /// `svg`: only its title and text are content.
    Svg,
    /// A custom element, or one that this table does not know.
    Custom,
}

use Kind::{
    Button, Details, Dialog, Form, Host, Input, Label, Link, Opaque, Plain, Select, Skip, Slot, Summary, Svg,
    TextArea,
};

const TABLE: &[(&str, Kind)] = &[
    ("div", Host),
    ("span", Host),
    ("p", Host),
    ("section", Host),
    ("article", Host),
    ("aside", Host),
    ("blockquote", Host),
    ("body", Host),
    ("footer", Host),
    ("header", Host),
    ("main", Host),
    ("nav", Host),
    ("h1", Host),
    ("h2", Host),
    ("h3", Host),
    ("h4", Host),
    ("h5", Host),
    ("h6", Host),
    ("a", Link),
    ("area", Link),
    ("input", Input),
    ("textarea", TextArea),
    ("select", Select),
    ("button", Button),
    ("label", Label),
    ("details", Details),
    ("summary", Summary),
    ("dialog", Dialog),
    ("form", Form),
    ("slot", Slot),
    ("iframe", Opaque),
    ("frame", Opaque),
    ("canvas", Opaque),
    ("video", Opaque),
    ("audio", Opaque),
    ("object", Opaque),
    ("embed", Opaque),
    ("img", Plain),
    ("progress", Opaque),
    ("meter", Opaque),
    ("svg", Svg),
    ("ul", Plain),
    ("ol", Plain),
    ("li", Plain),
    ("menu", Plain),
    ("dl", Plain),
    ("dt", Plain),
    ("dd", Plain),
    ("table", Plain),
    ("caption", Plain),
    ("thead", Plain),
    ("tbody", Plain),
    ("tfoot", Plain),
    ("tr", Plain),
    ("td", Plain),
    ("th", Plain),
    ("colgroup", Skip),
    ("col", Skip),
    ("fieldset", Plain),
    ("legend", Plain),
    ("figure", Plain),
    ("figcaption", Plain),
    ("picture", Plain),
    ("hr", Plain),
    ("br", Plain),
    ("wbr", Plain),
    ("pre", Plain),
    ("address", Plain),
    ("hgroup", Plain),
    ("search", Plain),
    ("output", Plain),
    ("math", Plain),
    ("b", Plain),
    ("strong", Plain),
    ("i", Plain),
    ("em", Plain),
    ("u", Plain),
    ("s", Plain),
    ("del", Plain),
    ("ins", Plain),
    ("small", Plain),
    ("sub", Plain),
    ("sup", Plain),
    ("mark", Plain),
    ("code", Plain),
    ("kbd", Plain),
    ("samp", Plain),
    ("var", Plain),
    ("time", Plain),
    ("abbr", Plain),
    ("cite", Plain),
    ("q", Plain),
    ("dfn", Plain),
    ("data", Plain),
    ("bdi", Plain),
    ("bdo", Plain),
    ("ruby", Plain),
    ("rt", Plain),
    ("rp", Plain),
    ("font", Plain),
    ("center", Plain),
    ("tt", Plain),
    ("g", Plain),
    ("text", Plain),
    ("tspan", Plain),
    ("title", Plain),
    ("desc", Skip),
    ("defs", Skip),
    ("symbol", Skip),
    ("path", Skip),
    ("circle", Skip),
    ("rect", Skip),
    ("line", Skip),
    ("polyline", Skip),
    ("polygon", Skip),
    ("ellipse", Skip),
    ("use", Skip),
    ("script", Skip),
    ("style", Skip),
    ("noscript", Skip),
    ("template", Skip),
    ("head", Skip),
    ("meta", Skip),
    ("link", Skip),
    ("base", Skip),
    ("source", Skip),
    ("track", Skip),
    ("param", Skip),
    ("datalist", Skip),
    ("option", Plain),
    ("optgroup", Plain),
];

thread_local! {
    static BY_NAME: NumberMap = by_name();
}

fn by_name() -> NumberMap {
    let map = NumberMap::new();
    for (at, (name, _)) in (0u32..).zip(TABLE) {
        map.set(&JsValue::from_str(name), f64::from(at));
    }
    map
}

/// The tag of a known name; none for custom elements and for what is not a name at all.
pub fn known(name: &JsValue) -> Option<(&'static str, Kind)> {
    let at = BY_NAME.with(|map| map.get(name))?;
    // The map holds positions of the table only.
    TABLE.get(at as usize).copied()
}
