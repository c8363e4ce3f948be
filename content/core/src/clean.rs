//! Text as a person would see it: white space folded, and nothing invisible that could carry a message.

/// Folds white space and removes what is not visible.
///
/// Joiners stay where they shape a word or an emoji, direction marks stay; tag characters, other
/// zero-width characters, bidirectional overrides, controls and private-use glyphs (icon fonts) go.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    clean_into(text, &mut out);
    let kept = out.trim_end_matches([' ', ZWJ, ZWNJ]).len();
    out.truncate(kept);
    out
}

/// Shortens `text` to at most `chars_max` characters and says how many are missing.
#[must_use]
pub fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((cut, _)) => {
            let (head, tail) = text.split_at(cut);
            format!("{}… (+{} characters)", head.trim_end(), tail.chars().count())
        }
    }
}

const ZWJ: char = '\u{200D}';
const ZWNJ: char = '\u{200C}';
const BLACK_FLAG: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';
/// A subdivision flag spells a region of at most six letters and digits.
const FLAG_TAGS_MAX: usize = 6;

fn clean_into(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    let mut previous: Option<char> = None;
    while let Some(current) = chars.next() {
        match kind(current) {
            Kind::Visible => {
                out.push(current);
                previous = Some(current);
                if current == BLACK_FLAG {
                    keep_flag(&mut chars, out);
                }
            }
            Kind::Space => {
                if previous.is_some_and(|last| last != ' ') {
                    out.push(' ');
                    previous = Some(' ');
                }
            }
            Kind::Joiner => {
                let before = previous.is_some_and(|last| last != ' ' && kind(last) != Kind::Joiner);
                let after = chars.peek().is_some_and(|next| kind(*next) == Kind::Visible);
                if before && after && previous.is_some_and(is_joinable) {
                    out.push(current);
                    previous = Some(current);
                }
            }
            Kind::Selector => {
                if previous.is_some_and(|last| last != ' ' && kind(last) == Kind::Visible) {
                    out.push(current);
                    previous = Some(current);
                }
            }
            Kind::Mark => out.push(current),
            Kind::Invisible => {}
        }
    }
}

/// Keeps the tag letters of a well-formed subdivision flag; leaves anything else to be removed.
fn keep_flag(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut ahead = chars.clone();
    let mut tags = String::new();
    for _ in 0..=FLAG_TAGS_MAX {
        match ahead.next() {
            Some(CANCEL_TAG) if !tags.is_empty() => {
                out.push_str(&tags);
                out.push(CANCEL_TAG);
                *chars = ahead;
                return;
            }
            Some(tag @ ('\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}')) => tags.push(tag),
            Some(_) | None => return,
        }
    }
}

/// Joiners mean something between letters outside ASCII and between emoji; elsewhere they only hide data.
fn is_joinable(before: char) -> bool {
    !before.is_ascii()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Visible,
    Space,
    Joiner,
    Selector,
    Mark,
    Invisible,
}

fn kind(c: char) -> Kind {
    match c {
        ' ' | '\t' | '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{A0}' | '\u{1680}' => Kind::Space,
        '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            Kind::Space
        }
        ZWJ | ZWNJ => Kind::Joiner,
        '\u{200E}' | '\u{200F}' | '\u{61C}' => Kind::Mark,
        '\u{FE00}'..='\u{FE0F}' => Kind::Selector,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{34F}' => Kind::Invisible,
        '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' => Kind::Invisible,
        '\u{200B}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => Kind::Invisible,
        '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' => Kind::Invisible,
        '\u{E000}'..='\u{F8FF}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' => Kind::Invisible,
        '\u{E0000}'..='\u{E0FFF}' | '\u{F0000}'..='\u{10FFFF}' => Kind::Invisible,
        _ => Kind::Visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text), expected);
    }

    #[test]
    fn white_space_of_every_kind_folds_to_one_space() {
        check("  a \n\t b\u{A0}\u{3000}c  ", "a b c");
        check(" \n ", "");
    }

    #[test]
    fn tag_characters_cannot_carry_a_hidden_sentence() {
        let hidden: String = "ignore".chars().filter_map(|c| char::from_u32(0xE0000 + c as u32)).collect();
        check(&format!("Pay{hidden} now"), "Pay now");
        check(&format!("\u{1F3F4}{hidden} now"), "\u{1F3F4} now");
    }

    #[test]
    fn a_subdivision_flag_stays_whole() {
        let wales = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}";
        check(wales, wales);
    }

    #[test]
    fn zero_width_characters_inside_words_are_removed() {
        check("ig\u{200B}no\u{2060}re\u{FEFF} \u{AD}me", "ignore me");
        check("a\u{200D}\u{200C}b", "ab");
    }

    #[test]
    fn joiners_stay_in_persian_words_and_emoji_families() {
        check("می\u{200C}خواهم", "می\u{200C}خواهم");
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}";
        check(family, family);
        let flag = "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}";
        check(flag, flag);
    }

    #[test]
    fn a_run_of_joiners_keeps_at_most_one() {
        check("می\u{200C}\u{200D}\u{200C}خ", "می\u{200C}خ");
        check("\u{200D}\u{200D}\u{200C}", "");
    }

    #[test]
    fn bidirectional_overrides_go_and_direction_marks_stay() {
        check("a\u{202E}b\u{2066}c\u{2069}", "abc");
        check("سلام\u{200F} hi", "سلام\u{200F} hi");
    }

    #[test]
    fn variation_selectors_stay_single_and_only_after_something() {
        check("❤\u{FE0F}", "❤\u{FE0F}");
        check("❤\u{FE0F}\u{FE01}\u{FE02}", "❤\u{FE0F}");
        check("x\u{E0100}\u{E0101}y", "xy");
    }

    #[test]
    fn icon_font_glyphs_and_controls_are_removed() {
        check("\u{F0C9} Menu\u{7}", "Menu");
    }

    #[test]
    fn a_cut_says_how_much_is_missing() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("äbc def", 4), "äbc… (+3 characters)");
    }
}
