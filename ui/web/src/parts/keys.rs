//! Keys as the product knows them.

use dioxus::prelude::*;
use dioxus::web::WebEventExt;

/// The key code of a key that an input method has taken.
const KEY_CODE_COMPOSING: u32 = 229;

/// A key that means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// A character, in lower case, with no Ctrl, Alt or Meta held.
    Letter(char),
    /// Any other.
    Other,
}

/// The key of an event.
#[must_use]
pub fn pressed(event: &Event<KeyboardData>) -> Pressed {
    let held = event.modifiers();
    // The browser's own name: turning the framework's key back into text would bring all names of all keys along.
    let name = event.data().try_as_web_event().map(|event| event.key()).unwrap_or_default();
    let mut letters = name.chars();
    match (name.as_str(), letters.next(), letters.next()) {
        ("Enter", ..) => Pressed::Enter,
        ("Escape", ..) => Pressed::Escape,
        (_, Some(letter), None) if !(held.ctrl() || held.alt() || held.meta()) => {
            Pressed::Letter(letter.to_ascii_lowercase())
        }
        _ => Pressed::Other,
    }
}

/// Whether an input method is at work on this key. Some report it as a flag, some only as a key code, one of them
/// after the composition has ended.
#[must_use]
pub fn is_composing(event: &Event<KeyboardData>) -> bool {
    event.is_composing()
        || event
            .data()
            .try_as_web_event()
            .is_some_and(|event| event.is_composing() || event.key_code() == KEY_CODE_COMPOSING)
}
