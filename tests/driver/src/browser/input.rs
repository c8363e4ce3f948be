//! Keys by their names, as the protocol's trusted input wants them.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A key press with its modifiers, parsed from text such as `Alt+Shift+Enter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chord {
    modifiers: u8,
    key: Key,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    key: String,
    code: String,
    virtual_code: u32,
    text: Option<String>,
}

const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Keys that type nothing, or another text than their name: name, code, virtual code, text.
const NAMED_KEYS: [(&str, &str, u32, Option<&str>); 15] = [
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Space", "Space", 32, Some(" ")),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("F6", "F6", 117, None),
];

impl Chord {
    /// Reads names joined by `+`; the last is the key, the others are modifiers.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut names: Vec<&str> = text.split('+').collect();
        let last = names.pop().filter(|name| !name.is_empty()).context("a key has no name")?;
        let mut modifiers = 0;
        for name in names {
            modifiers |= match name {
                "Alt" => ALT,
                "Control" => CONTROL,
                "Meta" => META,
                "Shift" => SHIFT,
                other => bail!("`{other}` in `{text}` is no modifier (Alt, Control, Meta, Shift)"),
            };
        }
        let mut key = Key::named(last).with_context(|| format!("`{last}` in `{text}` is no known key"))?;
        if modifiers & (ALT | CONTROL | META) != 0 {
            key.text = None;
        }
        Ok(Self { modifiers, key })
    }

    /// The two events of the press, down and up.
    pub(super) fn events(&self) -> [Value; 2] {
        let event = |kind: &str| {
            json!({
                "type": kind, "modifiers": self.modifiers, "key": self.key.key, "code": self.key.code,
                "windowsVirtualKeyCode": self.key.virtual_code,
            })
        };
        let mut down = event(if self.key.text.is_some() { "keyDown" } else { "rawKeyDown" });
        if let Some(text) = &self.key.text {
            down["text"] = text.as_str().into();
        }
        [down, event("keyUp")]
    }
}

impl Key {
    fn named(name: &str) -> Option<Self> {
        if let Some((name, code, virtual_code, text)) = NAMED_KEYS.iter().find(|key| key.0 == name) {
            let key = if *name == "Space" { " " } else { *name };
            return Some(Self {
                key: key.into(),
                code: (*code).into(),
                virtual_code: *virtual_code,
                text: text.map(str::to_owned),
            });
        }
        let mut characters = name.chars();
        let (character, None) = (characters.next()?, characters.next()) else { return None };
        let upper = character.to_ascii_uppercase();
        let code = match upper {
            'A'..='Z' => format!("Key{upper}"),
            '0'..='9' => format!("Digit{upper}"),
            _ => String::new(),
        };
        let virtual_code = if upper.is_ascii_alphanumeric() { u32::from(upper) } else { 0 };
        Some(Self { key: name.into(), code, virtual_code, text: Some(name.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chord_gives_the_events_that_a_keyboard_would() {
        let events = Chord::parse("Alt+Shift+Enter").unwrap().events();
        let common = json!({ "modifiers": 9, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13 });
        let with = |kind: &str| {
            let mut event = common.clone();
            event["type"] = kind.into();
            event
        };
        assert_eq!(events, [with("rawKeyDown"), with("keyUp")]);
    }

    #[test]
    fn a_letter_types_itself() {
        let [down, _] = Chord::parse("y").unwrap().events();
        let expected = json!({
            "type": "keyDown", "modifiers": 0, "key": "y", "code": "KeyY", "windowsVirtualKeyCode": 89, "text": "y",
        });
        assert_eq!(down, expected);
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        assert_eq!(
            Chord::parse("Hyper+a").unwrap_err().to_string(),
            "`Hyper` in `Hyper+a` is no modifier (Alt, Control, Meta, Shift)"
        );
        assert_eq!(Chord::parse("Entr").unwrap_err().to_string(), "`Entr` in `Entr` is no known key");
    }
}
