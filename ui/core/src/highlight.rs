//! Colours for code: one small lexer, told by each language what its comments, strings and words look like.

/// What a run of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Names, operators, space.
    Plain,
    /// Words of the language.
    Keyword,
    /// Text in quotes.
    Text,
    /// Numbers.
    Number,
    /// Comments.
    Comment,
}

/// Longest code that is coloured; longer code stays plain.
pub const CODE_BYTES_MAX: usize = 65_536;

struct Grammar {
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    quotes: &'static [char],
    keywords: &'static [&'static str],
    /// Whether a keyword may be written in any case.
    any_case: bool,
}

const C_LIKE: Grammar = Grammar {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    keywords: &[
        "abstract",
        "auto",
        "bool",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "chan",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "defer",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "extern",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "implements",
        "import",
        "include",
        "int",
        "interface",
        "long",
        "map",
        "namespace",
        "new",
        "nil",
        "null",
        "nullptr",
        "package",
        "private",
        "protected",
        "public",
        "range",
        "return",
        "select",
        "short",
        "signed",
        "sizeof",
        "static",
        "string",
        "struct",
        "super",
        "switch",
        "template",
        "this",
        "throw",
        "throws",
        "true",
        "try",
        "type",
        "typedef",
        "union",
        "unsigned",
        "using",
        "var",
        "virtual",
        "void",
        "volatile",
        "while",
    ],
    any_case: false,
};

const RUST: Grammar = Grammar {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    // A single quote begins a lifetime as often as a character, so it is not a quote here.
    quotes: &['"'],
    keywords: &[
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
        "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
        "return", "self", "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use",
        "where", "while",
    ],
    any_case: false,
};

const SCRIPT: Grammar = Grammar {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\'', '`'],
    keywords: &[
        "as",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "from",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "of",
        "private",
        "public",
        "readonly",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "type",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "yield",
    ],
    any_case: false,
};

const PYTHON: Grammar = Grammar {
    line_comments: &["#"],
    block_comment: None,
    quotes: &['"', '\''],
    keywords: &[
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
        "except", "False", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match",
        "None", "nonlocal", "not", "or", "pass", "raise", "return", "self", "True", "try", "while", "with",
        "yield",
    ],
    any_case: false,
};

const SHELL: Grammar = Grammar {
    line_comments: &["#"],
    block_comment: None,
    quotes: &['"', '\''],
    keywords: &[
        "case", "cd", "do", "done", "echo", "elif", "else", "esac", "export", "fi", "for", "function", "if",
        "in", "local", "return", "set", "sudo", "then", "while",
    ],
    any_case: false,
};

const DATA: Grammar = Grammar {
    line_comments: &["#", "//"],
    block_comment: None,
    quotes: &['"', '\''],
    keywords: &["false", "no", "null", "true", "yes"],
    any_case: false,
};

const QUERY: Grammar = Grammar {
    line_comments: &["--"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    keywords: &[
        "ALTER", "AND", "AS", "ASC", "BY", "CASE", "CREATE", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE",
        "END", "FROM", "GROUP", "HAVING", "IN", "INDEX", "INNER", "INSERT", "INTO", "IS", "JOIN", "LEFT",
        "LIKE", "LIMIT", "NOT", "NULL", "ON", "OR", "ORDER", "PRIMARY", "SELECT", "SET", "TABLE", "THEN",
        "UNION", "UPDATE", "VALUES", "WHEN", "WHERE", "WITH",
    ],
    any_case: true,
};

const STYLE: Grammar = Grammar {
    line_comments: &[],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    keywords: &[],
    any_case: false,
};

const MARKUP: Grammar = Grammar {
    line_comments: &[],
    block_comment: Some(("<!--", "-->")),
    quotes: &['"'],
    keywords: &[],
    any_case: false,
};

fn grammar(language: &str) -> Option<&'static Grammar> {
    Some(match language {
        "rust" | "rs" => &RUST,
        "js" | "javascript" | "jsx" | "ts" | "typescript" | "tsx" | "mjs" => &SCRIPT,
        "py" | "python" => &PYTHON,
        "sh" | "bash" | "shell" | "zsh" | "console" => &SHELL,
        "json" | "jsonc" | "yaml" | "yml" | "toml" | "ini" => &DATA,
        "sql" => &QUERY,
        "css" | "scss" => &STYLE,
        "html" | "xml" | "svg" => &MARKUP,
        "c" | "cpp" | "c++" | "cs" | "csharp" | "go" | "java" | "kotlin" | "swift" | "php" => &C_LIKE,
        _ => return None,
    })
}

/// Splits code into runs. The runs joined are the code; neighbours differ.
///
/// Code in an unknown language, or longer than [`CODE_BYTES_MAX`], is one plain run.
#[must_use]
pub fn highlight<'a>(language: &str, code: &'a str) -> Vec<(Token, &'a str)> {
    let Some(grammar) = grammar(language).filter(|_| code.len() <= CODE_BYTES_MAX) else {
        return if code.is_empty() { Vec::new() } else { vec![(Token::Plain, code)] };
    };
    let mut runs = Runs { code, runs: Vec::new(), start: 0, token: Token::Plain };
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let (token, length) = next(grammar, rest);
        runs.add(token, at);
        at += length;
    }
    runs.close(at);
    runs.runs
}

struct Runs<'a> {
    code: &'a str,
    runs: Vec<(Token, &'a str)>,
    start: usize,
    token: Token,
}

impl Runs<'_> {
    /// A token begins at `at`; what came before ends there unless it is of the same kind.
    fn add(&mut self, token: Token, at: usize) {
        if token != self.token {
            self.close(at);
            self.token = token;
        }
    }

    fn close(&mut self, at: usize) {
        if let Some(run) = self.code.get(self.start..at).filter(|run| !run.is_empty()) {
            self.runs.push((self.token, run));
        }
        self.start = at;
    }
}

/// The first token of a text that is not empty, and its length in bytes, at least one character.
fn next(grammar: &Grammar, rest: &str) -> (Token, usize) {
    if grammar.line_comments.iter().any(|mark| rest.starts_with(mark)) {
        return (Token::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some((open, close)) = grammar.block_comment
        && let Some(behind) = rest.strip_prefix(open)
    {
        let inner = behind.find(close).map_or(behind.len(), |end| end + close.len());
        return (Token::Comment, open.len() + inner);
    }
    let Some(first) = rest.chars().next() else { return (Token::Plain, rest.len()) };
    if grammar.quotes.contains(&first) {
        return (Token::Text, quoted(rest, first));
    }
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
        return (Token::Number, length.unwrap_or(rest.len()));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or(rest);
        let known = if grammar.any_case {
            grammar.keywords.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
        } else {
            grammar.keywords.contains(&word)
        };
        return (if known { Token::Keyword } else { Token::Plain }, length);
    }
    (Token::Plain, first.len_utf8())
}

/// Length of a quoted text with its quotes. One that does not close ends with its line, but a back-quoted one may
/// span lines.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        } else if c == '\n' && quote != '`' {
            return at;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rust_is_told_apart() {
        assert_eq!(
            highlight("rust", "let x = 1; // one\n\"a\\\"b\""),
            [
                (Token::Keyword, "let"),
                (Token::Plain, " x = "),
                (Token::Number, "1"),
                (Token::Plain, "; "),
                (Token::Comment, "// one"),
                (Token::Plain, "\n"),
                (Token::Text, "\"a\\\"b\""),
            ]
        );
    }

    #[test]
    fn queries_know_their_words_in_any_case() {
        assert_eq!(highlight("sql", "select a"), [(Token::Keyword, "select"), (Token::Plain, " a")]);
    }

    #[test]
    fn an_unknown_language_is_one_run() {
        assert_eq!(highlight("brainfuck", "+++"), [(Token::Plain, "+++")]);
    }

    proptest! {
        #[test]
        fn the_runs_joined_are_the_code(
            language in prop::sample::select(vec!["rust", "js", "py", "sh", "json", "sql", "css", "html", "c", ""]),
            code in "(?s)[a-z0-9\"'`/*#\\\\\n<!>-]{0,80}|.{0,40}",
        ) {
            let runs = highlight(language, &code);
            prop_assert_eq!(&runs.iter().map(|(_, run)| *run).collect::<String>(), &code);
            for pair in runs.windows(2) {
                prop_assert_ne!(pair[0].0, pair[1].0);
            }
        }
    }
}
