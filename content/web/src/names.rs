//! Attribute names and selectors as values that cross without being copied.

use panelot_content::facts::Attr;
use wasm_bindgen::JsValue;

/// Values that are made once.
pub struct Names {
    attrs: Vec<JsValue>,
    nothing: JsValue,
    /// Elements with an attribute that says something beyond class, style and data.
    pub telling: JsValue,
    /// `aria-labelledby`.
    pub labelledby: JsValue,
    /// `tabindex`.
    pub tabindex: JsValue,
    /// `onclick`.
    pub onclick: JsValue,
    /// `inert`.
    pub inert: JsValue,
    /// `popover`.
    pub popover: JsValue,
    /// The empty text.
    pub empty: JsValue,
    /// The value `pointer`.
    pub pointer: JsValue,
    /// `:user-invalid`.
    pub user_invalid: JsValue,
    /// `:modal`.
    pub modal: JsValue,
    /// `:popover-open`.
    pub popover_open: JsValue,
    /// `:disabled`.
    pub disabled: JsValue,
}

impl Names {
    /// The name of an attribute.
    pub fn attr(&self, attr: Attr) -> &JsValue {
        self.attrs.get(attr as usize).unwrap_or(&self.nothing)
    }
}

thread_local! {
    static NAMES: Names = Names {
        attrs: Attr::ALL.iter().map(|attr| JsValue::from_str(attr.name())).collect(),
        nothing: JsValue::UNDEFINED,
        telling: JsValue::from_str(&telling()),
        labelledby: JsValue::from_str("aria-labelledby"),
        tabindex: JsValue::from_str("tabindex"),
        onclick: JsValue::from_str("onclick"),
        inert: JsValue::from_str("inert"),
        popover: JsValue::from_str("popover"),
        empty: JsValue::from_str(""),
        pointer: JsValue::from_str("pointer"),
        user_invalid: JsValue::from_str(":user-invalid"),
        modal: JsValue::from_str(":modal"),
        popover_open: JsValue::from_str(":popover-open"),
        disabled: JsValue::from_str(":disabled"),
    };
}

/// Runs `with` with the values.
pub fn with_names<T>(with: impl FnOnce(&Names) -> T) -> T {
    NAMES.with(with)
}

/// Attributes that any element may have and that say something. The rest of [`Attr`] belongs to certain tags.
pub const COMMON: &[Attr] = &[
    Attr::Role,
    Attr::AriaLabel,
    Attr::AriaHidden,
    Attr::AriaChecked,
    Attr::AriaSelected,
    Attr::AriaExpanded,
    Attr::AriaDisabled,
    Attr::AriaRequired,
    Attr::AriaInvalid,
    Attr::AriaPressed,
    Attr::AriaCurrent,
    Attr::AriaLevel,
    Attr::AriaModal,
    Attr::AriaValueText,
    Attr::AriaValueNow,
    Attr::AriaReadonly,
    Attr::AriaMultiselectable,
    Attr::AriaPlaceholder,
    Attr::AriaBusy,
    Attr::Title,
    Attr::ContentEditable,
];

fn telling() -> String {
    let mut selector: String = COMMON.iter().map(|attr| format!("[{}],", attr.name())).collect();
    selector.push_str("[aria-labelledby],[tabindex],[onclick],[inert],[popover]");
    selector
}
