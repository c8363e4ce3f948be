//! The bundle as a map from path to bytes: put together in memory, then written so that the directory holds nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::{Browser, Profile};

/// The file that says what was built from what.
pub const STAMP: &str = "build.json";

/// The files of an unpacked extension, by their path with `/`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Bundle {
    files: BTreeMap<String, Vec<u8>>,
}

impl Bundle {
    /// Reads an unpacked bundle.
    ///
    /// # Errors
    /// When the directory or a file cannot be read.
    pub fn read(dir: &Path) -> Result<Self> {
        if !dir.is_dir() {
            bail!("{} does not exist: run `cargo xtask build --release` first", dir.display());
        }
        let mut bundle = Self::default();
        bundle.put_dir(dir)?;
        Ok(bundle)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When there is one at this path already: two sources of one file are a mistake.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) -> Result<()> {
        if self.files.insert(path.to_owned(), bytes).is_some() {
            bail!("two sources give the bundle a file {path}: rename one");
        }
        Ok(())
    }

    /// Adds a file that several modules may bring, as long as they agree on it.
    ///
    /// # Errors
    /// When there is another one at this path.
    pub fn put_same(&mut self, path: &str, bytes: Vec<u8>) -> Result<()> {
        if self.files.get(path) == Some(&bytes) {
            return Ok(());
        }
        self.put(path, bytes)
    }

    /// Adds every file below a directory, by its path inside it.
    ///
    /// # Errors
    /// When a file cannot be read or is there already.
    pub fn put_dir(&mut self, dir: &Path) -> Result<()> {
        for found in WalkDir::new(dir).sort_by_file_name() {
            let found = found.with_context(|| format!("read {}", dir.display()))?;
            if found.file_type().is_file() {
                let path = relative(dir, found.path())?;
                self.put(&path, fs_err::read(found.path())?)?;
            }
        }
        Ok(())
    }

    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Paths and bytes in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The sum of the sizes, in bytes.
    pub fn bytes(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Adds `build.json`: version, profile, compiler, and a hash over every other file. No time, no machine, no
    /// revision: the same sources give the same stamp.
    ///
    /// # Errors
    /// When the stamp is there already.
    pub fn stamp(&mut self, browser: Browser, profile: Profile, rustc: &str) -> Result<()> {
        let parts: Vec<&[u8]> =
            self.files.iter().flat_map(|(path, bytes)| [path.as_bytes(), bytes]).collect();
        let stamp = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "browser": browser.name(),
            "profile": profile.name(),
            "rustc": rustc,
            "sha256": sha256(&parts),
        });
        self.put(STAMP, format!("{stamp:#}\n").into_bytes())
    }

    /// Makes `dir` hold exactly these files. Files that are the same already stay untouched.
    ///
    /// # Errors
    /// When a file cannot be written or removed.
    pub fn write(&self, dir: &Path) -> Result<()> {
        fs_err::create_dir_all(dir)?;
        for found in WalkDir::new(dir).min_depth(1).contents_first(true) {
            let found = found.with_context(|| format!("read {}", dir.display()))?;
            if found.file_type().is_dir() {
                if fs_err::read_dir(found.path())?.next().is_none() {
                    fs_err::remove_dir(found.path())?;
                }
            } else if !self.files.contains_key(&relative(dir, found.path())?) {
                fs_err::remove_file(found.path())?;
            }
        }
        for (path, bytes) in &self.files {
            let file: PathBuf = dir.join(path);
            if std::fs::read(&file).is_ok_and(|old| old == *bytes) {
                continue;
            }
            if let Some(parent) = file.parent() {
                fs_err::create_dir_all(parent)?;
            }
            fs_err::write(&file, bytes)?;
        }
        Ok(())
    }
}

/// SHA-256 over parts, each preceded by its length, in lower-case hex.
pub fn sha256(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn relative(dir: &Path, file: &Path) -> Result<String> {
    let inside = file.strip_prefix(dir)?;
    let text = inside.to_str().with_context(|| format!("{} is not UTF-8", inside.display()))?;
    Ok(text.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Bundle {
        let mut bundle = Bundle::default();
        for (path, text) in files {
            bundle.put(path, text.as_bytes().to_vec()).unwrap();
        }
        bundle
    }

    #[test]
    fn writing_removes_what_an_earlier_build_left() {
        let dir = tempfile::tempdir().unwrap();
        bundle(&[("old/gone.js", "1"), ("kept.js", "1")]).write(dir.path()).unwrap();
        let new = bundle(&[("kept.js", "2"), ("new/here.js", "3")]);
        new.write(dir.path()).unwrap();
        assert_eq!(Bundle::read(dir.path()).unwrap(), new);
        // The emptied directory goes with the next build at the latest.
        new.write(dir.path()).unwrap();
        assert!(!dir.path().join("old").exists());
    }

    #[test]
    fn two_sources_of_one_file_are_refused() {
        let mut bundle = bundle(&[("page.js", "1")]);
        let error = bundle.put("page.js", b"2".to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "two sources give the bundle a file page.js: rename one");
        bundle.put_same("page.js", b"2".to_vec()).unwrap();
    }

    #[test]
    fn the_stamp_depends_on_every_byte_and_on_nothing_else() {
        let stamp = |text: &str| {
            let mut bundle = bundle(&[("page.js", text)]);
            bundle.stamp(Browser::Chrome, Profile::Release, "rustc 1").unwrap();
            String::from_utf8(bundle.get(STAMP).unwrap().to_vec()).unwrap()
        };
        assert_eq!(stamp("1"), stamp("1"));
        assert_ne!(stamp("1"), stamp("2"));
    }
}
