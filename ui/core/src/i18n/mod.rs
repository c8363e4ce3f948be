//! What the interface says, in every language, and how names are put into sentences.

mod catalogue;

pub use catalogue::Key;
pub use panelot_protocol::settings::Language;

/// A run of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The characters.
    pub text: String,
    /// Whether it is a name that the reader must not miss.
    pub strong: bool,
}

/// The language for a browser's preference, given as BCP 47 tags in their order.
///
/// The first tag that names a language of the catalogue decides; English when none does.
pub fn language_of<'a>(tags: impl IntoIterator<Item = &'a str>) -> Language {
    for tag in tags {
        match tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "zh" => return Language::Chinese,
            "en" => return Language::English,
            _ => {}
        }
    }
    Language::English
}

/// The tag for the document's `lang` attribute.
#[must_use]
pub const fn tag(language: Language) -> &'static str {
    match language {
        Language::English => "en",
        Language::Chinese => "zh-CN",
    }
}

/// A sentence with its names put in, as one text.
#[must_use]
pub fn fill(language: Language, key: Key, names: &[(&str, &str)]) -> String {
    pieces(language, key, names).into_iter().map(|piece| piece.text).collect()
}

/// A sentence with its names put in, names marked `{*name}` strong.
///
/// A placeholder without a value stays as it is written: visible, so that it is found.
#[must_use]
pub fn pieces(language: Language, key: Key, names: &[(&str, &str)]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut plain = String::new();
    let mut rest = key.text(language);
    while let Some((before, behind)) = rest.split_once('{') {
        plain.push_str(before);
        let Some((placeholder, after)) = behind.split_once('}') else {
            plain.push('{');
            rest = behind;
            continue;
        };
        let (name, strong) = match placeholder.strip_prefix('*') {
            Some(name) => (name, true),
            None => (placeholder, false),
        };
        match names.iter().find(|(known, _)| *known == name) {
            Some((_, value)) if strong => {
                if !plain.is_empty() {
                    pieces.push(Piece { text: std::mem::take(&mut plain), strong: false });
                }
                pieces.push(Piece { text: (*value).to_owned(), strong: true });
            }
            Some((_, value)) => plain.push_str(value),
            None => {
                plain.push('{');
                plain.push_str(placeholder);
                plain.push('}');
            }
        }
        rest = after;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece { text: plain, strong: false });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
    }

    #[test]
    fn both_languages_name_the_same_things() {
        for key in Key::ALL {
            assert_eq!(
                placeholders(key.text(Language::English)),
                placeholders(key.text(Language::Chinese)),
                "{key:?}"
            );
        }
    }

    #[test]
    fn no_text_is_empty_or_shouts() {
        for key in Key::ALL {
            for language in [Language::English, Language::Chinese] {
                let text = key.text(language);
                assert!(!text.trim().is_empty(), "{key:?} is empty");
                assert!(!text.contains(['!', '\u{ff01}']), "{key:?} shouts");
            }
        }
    }

    #[test]
    fn no_english_is_left_in_the_chinese_sentences() {
        for key in Key::ALL {
            let text = key.text(Language::Chinese);
            let letters = text.chars().filter(char::is_ascii_alphabetic).count();
            let chinese = text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
            let named =
                ["URL", "API", "OpenAI", "Anthropic", "Panelot", "Markdown", "English", "{", "Enter", "Esc"];
            assert!(
                chinese > 0 || letters == 0 || named.iter().any(|name| text.contains(name)),
                "{key:?}: {text}"
            );
        }
    }

    #[test]
    fn names_marked_with_a_star_are_strong() {
        assert_eq!(
            pieces(Language::English, Key::AskClick, &[("target", "Place order"), ("site", "shop.example")]),
            [
                Piece { text: "Click ".into(), strong: false },
                Piece { text: "Place order".into(), strong: true },
                Piece { text: " on ".into(), strong: false },
                Piece { text: "shop.example".into(), strong: true },
            ]
        );
    }

    #[test]
    fn a_name_that_looks_like_a_placeholder_is_not_filled_again() {
        assert_eq!(
            fill(Language::English, Key::AskClick, &[("target", "{site}"), ("site", "a.example")]),
            "Click {site} on a.example"
        );
    }

    #[test]
    fn the_browsers_first_known_language_decides() {
        let cases: [(&[&str], Language); 5] = [
            (&["zh-CN", "en"], Language::Chinese),
            (&["zh-Hant-TW"], Language::Chinese),
            (&["fr", "en-GB", "zh"], Language::English),
            (&["fr"], Language::English),
            (&[], Language::English),
        ];
        for (tags, expected) in cases {
            assert_eq!(language_of(tags.iter().copied()), expected, "{tags:?}");
        }
    }
}
