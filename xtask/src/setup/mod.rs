//! Provides what the other commands need. Each part looks first and installs only what is missing.

mod browser;
mod node;
mod system;
mod tools;
mod wasm;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::paths::Paths;

pub use browser::Browser;
pub use node::{Node, Tool};
pub use tools::{deny, miniwob, wasm_tests};
pub use wasm::{TWIN_FLAGS, WasmToolchain, cargo_home, path_with};

/// May setup use the system's package manager without asking?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// `--yes` was given: through sudo when not root.
    Given,
    /// Only when this process is root already; otherwise the command is printed.
    OnlyAsRoot,
}

/// What every part of the set-up works with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where to put things.
    pub paths: Paths,
    /// Whether system packages may be installed.
    pub consent: Consent,
}

/// The parts; a command asks for those that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The wasm32 target and the standard library's source.
    Wasm,
    /// Node with binaryen, esbuild and the JavaScript that tests use.
    Node,
    /// Chromium and its driver.
    Chromium,
    /// wasm-pack and the wasm-bindgen test runner.
    WasmTests,
    /// The MiniWoB task pages.
    Miniwob,
    /// cargo-deny.
    Deny,
}

impl Part {
    /// Every part, cheap ones first.
    pub const ALL: [Self; 6] =
        [Self::Wasm, Self::Node, Self::Chromium, Self::Miniwob, Self::WasmTests, Self::Deny];

    /// The name that tables show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasm => "wasm32 toolchain",
            Self::Node => "node and npm packages",
            Self::Chromium => "Chromium and driver",
            Self::WasmTests => "wasm-pack, test runner",
            Self::Miniwob => "MiniWoB pages",
            Self::Deny => "cargo-deny",
        }
    }

    /// What is there, as one line, or what is missing and how to get it. Changes nothing.
    pub fn look(self, setup: &Setup) -> Result<String, Missing> {
        match self {
            Self::Wasm => wasm::look(setup).map(|found| found.describe()),
            Self::Node => node::look(setup).map(|found| found.describe()),
            Self::Chromium => browser::look().map(|found| found.describe()),
            Self::WasmTests => tools::look_wasm_tests(setup).map(|dir| dir.display().to_string()),
            Self::Miniwob => tools::look_miniwob(setup).map(|dir| dir.display().to_string()),
            Self::Deny => tools::look_deny(setup).map(|file| file.display().to_string()),
        }
    }

    /// Installs it unless it is there.
    ///
    /// # Errors
    /// What could not be installed, and what to do by hand.
    pub fn provide(self, setup: &Setup) -> Result<()> {
        match self {
            Self::Wasm => wasm(setup).map(drop),
            Self::Node => node(setup).map(drop),
            Self::Chromium => browser(setup).map(drop),
            Self::WasmTests => wasm_tests(setup).map(drop),
            Self::Miniwob => miniwob(setup).map(drop),
            Self::Deny => deny(setup).map(drop),
        }
    }
}

/// Something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What is missing.
    pub what: String,
    /// The command that provides it.
    pub how: String,
}

impl Missing {
    fn new(what: impl Into<String>, how: impl Into<String>) -> Self {
        Self { what: what.into(), how: how.into() }
    }
}

/// The wasm toolchain, installed if need be.
///
/// # Errors
/// What could not be installed, and what to do by hand.
pub fn wasm(setup: &Setup) -> Result<WasmToolchain> {
    wasm::look(setup).or_else(|_| wasm::provide(setup))
}

/// Node with the pinned npm packages, installed if need be.
///
/// # Errors
/// What could not be installed, and what to do by hand.
pub fn node(setup: &Setup) -> Result<Node> {
    node::look(setup).or_else(|_| node::provide(setup))
}

/// Chromium and its driver, installed if need be.
///
/// # Errors
/// What could not be installed, and what to do by hand.
pub fn browser(setup: &Setup) -> Result<Browser> {
    browser::look().or_else(|_| browser::provide(setup))
}

/// Fills a cache entry once: under a lock, in a temporary directory that is renamed when complete, so that neither an
/// interrupted nor a concurrent run leaves half an entry.
fn fill(setup: &Setup, entry: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    fs_err::create_dir_all(&setup.paths.cache)?;
    let name = entry.file_name().context("a cache entry has a name")?.to_string_lossy().into_owned();
    let lock = fs_err::File::create(setup.paths.cache.join(format!("{name}.lock")))?;
    lock.file().lock().with_context(|| format!("lock {}", lock.path().display()))?;
    if entry.exists() {
        return Ok(());
    }
    let part = setup.paths.cache.join(format!("{name}.part"));
    if part.exists() {
        fs_err::remove_dir_all(&part)?;
    }
    fs_err::create_dir_all(&part)?;
    make(&part)?;
    fs_err::rename(&part, entry)?;
    Ok(())
}

/// A short key for cache entries: changes whenever one of the inputs does.
fn key_of(inputs: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for input in inputs {
        hash.update(u64::try_from(input.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(input);
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// A cache entry's path, whether it exists or not.
fn entry(setup: &Setup, name: &str) -> PathBuf {
    setup.paths.cache.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup_in(dir: &Path) -> Setup {
        let paths = Paths { root: dir.into(), cache: dir.join("cache"), target: dir.join("target") };
        Setup { paths, consent: Consent::OnlyAsRoot }
    }

    #[test]
    fn a_cache_entry_is_made_once_and_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let setup = setup_in(dir.path());
        let entry = entry(&setup, "thing-1");
        let failed = fill(&setup, &entry, |part| {
            fs_err::write(part.join("half"), "")?;
            anyhow::bail!("the network went away")
        });
        assert_eq!(failed.unwrap_err().to_string(), "the network went away");
        assert!(!entry.exists());

        fill(&setup, &entry, |part| Ok(fs_err::write(part.join("whole"), "1")?)).unwrap();
        fill(&setup, &entry, |_| anyhow::bail!("made twice")).unwrap();
        let names: Vec<_> = fs_err::read_dir(&entry)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["whole"]);
    }

    #[test]
    fn a_key_tells_apart_inputs_that_join_to_the_same_bytes() {
        assert_ne!(key_of(&[b"ab", b"c"]), key_of(&[b"a", b"bc"]));
        assert_eq!(key_of(&[b"ab"]), key_of(&[b"ab"]));
    }
}
