//! Rules about the sources that no other linter has.

use std::path::Path;

use anyhow::{Context, Result, bail};
use walkdir::{DirEntry, WalkDir};

/// A module that is longer is two modules.
const MODULE_LINES_MAX: usize = 800;

/// Directories that are not sources.
const SKIPPED: [&str; 5] = ["target", "dist", "node_modules", ".git", "fuzz"];

/// Words that mark something unfinished. They are put together here so that this file does not find itself.
const UNFINISHED: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!("), concat!("unimplemented", "!(")];

/// A lint is expected with a reason, never allowed.
const ALLOW: [&str; 2] = [concat!("#[", "allow("), concat!("#![", "allow(")];

/// Looks at every source file of the workspace.
///
/// # Errors
/// When a rule is broken; each place is printed before.
pub fn tidy(root: &Path) -> Result<()> {
    let mut problems = Vec::new();
    for found in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_source) {
        let found = found.with_context(|| format!("read {}", root.display()))?;
        let kind = found.path().extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        if !found.file_type().is_file()
            || !matches!(kind, "rs" | "js" | "css" | "html" | "toml" | "md" | "yml")
        {
            continue;
        }
        let text = fs_err::read_to_string(found.path())?;
        let path = found.path().strip_prefix(root)?.to_string_lossy().into_owned();
        problems.extend(file_problems(&path, kind, &text));
    }
    for problem in &problems {
        eprintln!("  {problem}");
    }
    if problems.is_empty() { Ok(()) } else { bail!("{} places are untidy, see above", problems.len()) }
}

fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    !(entry.file_type().is_dir() && SKIPPED.contains(&name.as_ref()))
}

fn file_problems(path: &str, kind: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.ends_with([' ', '\t', '\r']) {
            problems.push(format!("{path}:{number}: white space at the end of the line"));
        }
        if matches!(kind, "rs" | "js")
            && let Some(word) = UNFINISHED.iter().find(|word| line.contains(**word))
        {
            problems
                .push(format!("{path}:{number}: {word} marks something unfinished: finish it or remove it"));
        }
        if kind == "rs" && ALLOW.iter().any(|allow| line.trim_start().starts_with(allow)) {
            problems.push(format!(
                "{path}:{number}: use #[expect(.., reason = \"..\")], which tells when it is no longer needed"
            ));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        problems.push(format!("{path}: the last line does not end"));
    }
    if kind == "rs" {
        problems.extend(module_problems(path, text));
    }
    problems
}

fn module_problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // Inputs of the macro tests show one mistake each and are no modules of ours.
    let is_input = path.contains("/tests/ui/");
    if !is_input && !text.starts_with("//! ") {
        problems.push(format!("{path}:1: a module begins with `//!` and one line that says what it is for"));
    }
    let lines = own_lines(text);
    if lines > MODULE_LINES_MAX {
        problems.push(format!(
            "{path}: {lines} lines without tests, but {MODULE_LINES_MAX} are the most: split the module"
        ));
    }
    problems
}

/// Lines up to the module's own tests, which stand at its end.
fn own_lines(text: &str) -> usize {
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let kind = path.rsplit('.').next().unwrap();
        assert_eq!(file_problems(path, kind, text), expected);
    }

    #[test]
    fn a_tidy_module_has_no_problems() {
        check("a.rs", "//! Purpose.\n\nfn f() {}\n", &[]);
    }

    #[test]
    fn a_module_without_a_purpose_is_named() {
        check(
            "a.rs",
            "fn f() {}\n",
            &["a.rs:1: a module begins with `//!` and one line that says what it is for"],
        );
    }

    #[test]
    fn a_long_module_is_named_but_its_tests_do_not_count() {
        let long = format!("//! Purpose.\n{}", "\n".repeat(800));
        check("a.rs", &long, &["a.rs: 801 lines without tests, but 800 are the most: split the module"]);
        let tested = format!("//! Purpose.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(900));
        check("a.rs", &tested, &[]);
    }

    #[test]
    fn silenced_lints_and_unfinished_places_are_named() {
        let text =
            format!("//! Purpose.\n{}dead_code)]\nfn f() {{}} // {}: later\n", ALLOW[0], UNFINISHED[0]);
        check(
            "a.rs",
            &text,
            &[
                "a.rs:2: use #[expect(.., reason = \"..\")], which tells when it is no longer needed",
                &format!("a.rs:3: {} marks something unfinished: finish it or remove it", UNFINISHED[0]),
            ],
        );
    }

    #[test]
    fn white_space_at_the_end_and_an_open_last_line_are_named() {
        check(
            "a.css",
            "a {} \nb {}",
            &["a.css:1: white space at the end of the line", "a.css: the last line does not end"],
        );
    }
}
