//! The spellings of names that `rename_all` knows.

/// A spelling of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// `lowercase`
    Lower,
    /// `UPPERCASE`
    Upper,
    /// `PascalCase`
    Pascal,
    /// `camelCase`
    Camel,
    /// `snake_case`
    Snake,
    /// `SCREAMING_SNAKE_CASE`
    ScreamingSnake,
    /// `kebab-case`
    Kebab,
    /// `SCREAMING-KEBAB-CASE`
    ScreamingKebab,
}

const ALL: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// The spelling of that name.
    pub fn parse(name: &str) -> Option<Self> {
        ALL.iter().find(|(known, _)| *known == name).map(|(_, case)| *case)
    }

    /// Spells a variant, which Rust writes in PascalCase.
    pub fn of_variant(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_lowercase(),
            Self::Upper => name.to_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(name),
            Self::ScreamingSnake => snake(name).to_uppercase(),
            Self::Kebab => snake(name).replace('_', "-"),
            Self::ScreamingKebab => snake(name).to_uppercase().replace('_', "-"),
        }
    }

    /// Spells a field, which Rust writes in snake_case.
    pub fn of_field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_uppercase(),
            Self::Pascal => pascal(name),
            Self::Camel => lower_first(&pascal(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_uppercase().replace('_', "-"),
        }
    }
}

fn snake(name: &str) -> String {
    let mut spelled = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_uppercase() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_lowercase());
    }
    spelled
}

fn pascal(name: &str) -> String {
    let mut spelled = String::new();
    let mut at_start = true;
    for letter in name.chars() {
        if letter == '_' {
            at_start = true;
        } else if at_start {
            spelled.push(letter.to_ascii_uppercase());
            at_start = false;
        } else {
            spelled.push(letter);
        }
    }
    spelled
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + letters.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_spells_a_variant_and_a_field() {
        let spelled: Vec<(&str, String, String)> = ALL
            .iter()
            .map(|(name, case)| (*name, case.of_variant("ToolCall2"), case.of_field("tool_call_2")))
            .collect();
        let expected = [
            ("lowercase", "toolcall2", "tool_call_2"),
            ("UPPERCASE", "TOOLCALL2", "TOOL_CALL_2"),
            ("PascalCase", "ToolCall2", "ToolCall2"),
            ("camelCase", "toolCall2", "toolCall2"),
            ("snake_case", "tool_call2", "tool_call_2"),
            ("SCREAMING_SNAKE_CASE", "TOOL_CALL2", "TOOL_CALL_2"),
            ("kebab-case", "tool-call2", "tool-call-2"),
            ("SCREAMING-KEBAB-CASE", "TOOL-CALL2", "TOOL-CALL-2"),
        ];
        assert_eq!(
            spelled,
            expected.map(|(name, variant, field)| (name, variant.to_owned(), field.to_owned()))
        );
    }
}
