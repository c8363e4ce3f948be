//! What a computed `content` value of a pseudo-element says.

/// The text of a computed `content`; the alternative text after a slash where there is one.
///
/// Images, counters and quotes say nothing here.
#[must_use]
pub fn text(content: &str) -> Option<String> {
    if matches!(content, "" | "none" | "normal") {
        return None;
    }
    let (shown, alternative) = strings(content);
    Some(alternative.unwrap_or(shown)).filter(|text| !text.is_empty())
}

/// The quoted strings before and after the slash, joined.
fn strings(content: &str) -> (String, Option<String>) {
    let mut shown = String::new();
    let mut alternative: Option<String> = None;
    let mut chars = content.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                let into = alternative.as_mut().unwrap_or(&mut shown);
                quoted(&mut chars, c, into);
            }
            '/' => alternative = Some(String::new()),
            '(' => skip_arguments(&mut chars),
            _ => {}
        }
    }
    (shown, alternative)
}

fn quoted(chars: &mut std::str::Chars<'_>, quote: char, into: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '\\' => into.extend(chars.next()),
            _ if c == quote => return,
            _ => into.push(c),
        }
    }
}

/// What is in brackets (of `url()`, `counter()`) is not text.
fn skip_arguments(chars: &mut std::str::Chars<'_>) {
    let mut depth = 1u32;
    for c in chars.by_ref() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_joined_and_the_alternative_wins() {
        let table = [
            ("none", None),
            ("normal", None),
            ("\"\"", None),
            ("\"→ \"", Some("→ ")),
            ("\"a\" \"b\"", Some("ab")),
            ("\"\\\"q\\\"\"", Some("\"q\"")),
            ("\"★\" / \"favourite\"", Some("favourite")),
            ("\"★\" / \"\"", None),
            ("url(\"x/y.png\") / \"Logo\"", Some("Logo")),
            ("counter(n) \". \"", Some(". ")),
            ("url(\"x.png\"", None),
        ];
        for (content, expected) in table {
            assert_eq!(text(content).as_deref(), expected, "{content}");
        }
    }
}
