//! `cargo xtask protocol`: the committed manifests and hashes against the types as they are now.
//!
//! The types are linked into this program, and cargo rebuilds it whenever they change: what is compared is always the
//! present source.

use std::path::Path;

use anyhow::{Result, bail};
use panelot_protocol::manifest::committed_files;
use similar::TextDiff;

use crate::progress;
use crate::setup::Setup;

/// What to do with the committed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Subcommand)]
pub enum Action {
    /// Fail, and show the difference, when the types and the committed files disagree.
    Check,
    /// Write the files anew; the difference is then reviewed like any other change.
    Write,
}

/// Checks or writes `protocol/schema/`.
///
/// # Errors
/// When they differ, or a file cannot be written.
pub fn protocol(setup: &Setup, action: Action) -> Result<()> {
    let dir = setup.paths.root.join("protocol");
    let files = committed_files();
    match action {
        Action::Write => files.iter().try_for_each(|(path, text)| write(&dir, path, text)),
        Action::Check => {
            let differences: Vec<String> =
                files.iter().filter_map(|(path, text)| difference(&dir, path, text)).collect();
            if differences.is_empty() {
                progress::note("the committed manifests are those of the types");
                return Ok(());
            }
            for difference in &differences {
                progress::answer!("{difference}");
            }
            bail!(
                "the protocol's types changed, but protocol/schema/ did not: if that is meant, run \
                 `cargo xtask protocol write` and commit the result"
            )
        }
    }
}

fn write(dir: &Path, path: &str, text: &str) -> Result<()> {
    let file = dir.join(path);
    if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    progress::note(&format!("writing protocol/{path}"));
    if let Some(parent) = file.parent() {
        fs_err::create_dir_all(parent)?;
    }
    Ok(fs_err::write(file, text)?)
}

/// A unified diff from the committed file to what the types give, or `None` when they agree.
fn difference(dir: &Path, path: &str, text: &str) -> Option<String> {
    let old = std::fs::read_to_string(dir.join(path)).unwrap_or_default();
    if old == text {
        return None;
    }
    let diff = TextDiff::from_lines(old.as_str(), text);
    let (from, to) = (format!("committed {path}"), format!("types {path}"));
    Some(diff.unified_diff().context_radius(0).header(&from, &to).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_as_a_difference() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "schema/a.txt", "one\ntwo\n").unwrap();
        assert_eq!(difference(dir.path(), "schema/a.txt", "one\ntwo\n"), None);
        assert_eq!(
            difference(dir.path(), "schema/a.txt", "one\nthree\n").unwrap(),
            "--- committed schema/a.txt\n+++ types schema/a.txt\n@@ -2 +2 @@\n-two\n+three\n"
        );
    }
}
