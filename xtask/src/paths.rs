//! Where things are: the checkout, the cache outside it, and the build directories inside it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The directories that all commands share.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The checkout, absolute.
    pub root: PathBuf,
    /// What setup downloads or compiles once per machine: `$PANELOT_CACHE`, else the user's cache directory.
    pub cache: PathBuf,
    /// Cargo's target directory of native builds.
    pub target: PathBuf,
}

impl Paths {
    /// Finds them from the environment that cargo and the user set.
    ///
    /// # Errors
    /// When neither `PANELOT_CACHE`, `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().context("xtask must lie inside the checkout")?.to_path_buf();
        let cache = cache_dir(&|name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from))
            .context("no place for the cache: set PANELOT_CACHE to a directory that may hold about 1 GB")?;
        ensure!(
            !cache.exists() || cache.is_dir(),
            "the cache {} is a file: set PANELOT_CACHE to a directory",
            cache.display()
        );
        let target =
            env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Self { cache: root.join(cache), root, target })
    }

    /// The unpacked bundle of one browser.
    pub fn dist(&self, browser: &str) -> PathBuf {
        self.root.join("dist").join(browser)
    }
}

fn cache_dir(var: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    var("PANELOT_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|dir| dir.join("panelot")))
        .or_else(|| var("HOME").map(|dir| dir.join(".cache/panelot")))
}

/// The first of `names` that is an executable file in a directory of `PATH`.
pub fn which(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    names
        .iter()
        .find_map(|name| env::split_paths(&path).map(|dir| dir.join(name)).find(|file| is_executable(file)))
}

/// Whether a file can be run.
pub fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_chosen_by_the_most_specific_variable() {
        let pick = |set: &[(&str, &str)]| {
            let set: Vec<(String, PathBuf)> =
                set.iter().map(|(name, value)| ((*name).to_owned(), PathBuf::from(value))).collect();
            cache_dir(&move |name| set.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()))
        };
        assert_eq!(
            pick(&[("PANELOT_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]),
            Some("/a".into())
        );
        assert_eq!(pick(&[("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]), Some("/b/panelot".into()));
        assert_eq!(pick(&[("HOME", "/c")]), Some("/c/.cache/panelot".into()));
        assert_eq!(pick(&[]), None);
    }
}
