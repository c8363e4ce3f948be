//! A throw-away Chromium profile, and the preferences that grant an unpacked extension its hosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often the removal of a profile is tried: a dying browser still writes into it for a moment.
const REMOVE_TRIES_MAX: u32 = 20;
/// The pause between two tries to remove a profile.
const REMOVE_PAUSE_MS: u64 = 50;

/// A profile directory that vanishes with its owner, also when a test panics.
pub struct Profile {
    dir: Option<TempDir>,
}

impl Profile {
    /// Makes an empty profile in the system's place for temporary files.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn new() -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("panelot-profile-")
            .tempdir()
            .context("cannot make a directory for the browser's profile")?;
        Ok(Self { dir: Some(dir) })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// The file in which the browser leaves its DevTools port.
    pub(super) fn port_file(&self) -> PathBuf {
        self.path().join("DevToolsActivePort")
    }

    /// The file that takes the browser's own log.
    pub(super) fn log_file(&self) -> PathBuf {
        self.path().join("browser.log")
    }

    /// Grants the extension every host and its own API permissions, as if the user had said yes, and lets it be loaded
    /// anew.
    ///
    /// Works only while no browser runs on the profile, and only when one has run with the extension before:
    /// that run leaves the record which is changed here.
    pub(super) fn grant_hosts(&self, extension_id: &str) -> Result<()> {
        let path = self.path().join("Default").join("Preferences");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut preferences: Value =
            serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
        let record = preferences
            .pointer_mut(&format!("/extensions/settings/{extension_id}"))
            .with_context(|| format!("{}: no record of the extension {extension_id}", path.display()))?;
        add_hosts(record);
        // Without it the browser turns an unpacked extension off that is loaded anew.
        preferences["extensions"]["ui"]["developer_mode"] = json!(true);
        fs::write(&path, preferences.to_string()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Adds all hosts to the three permission sets of an extension's record.
fn add_hosts(record: &mut Value) {
    let api = record["active_permissions"]["api"].clone();
    let granted = json!({
        "api": if api.is_array() { api } else { json!([]) },
        "explicit_host": ["<all_urls>"],
        "manifest_permissions": [],
        "scriptable_host": [],
    });
    record["active_permissions"] = granted.clone();
    record["granted_permissions"] = granted;
    record["runtime_granted_permissions"] = json!({
        "api": [], "explicit_host": ["<all_urls>"], "manifest_permissions": [], "scriptable_host": [],
    });
}

impl Drop for Profile {
    fn drop(&mut self) {
        let Some(dir) = self.dir.take() else { return };
        let path = dir.keep();
        for _ in 0..REMOVE_TRIES_MAX {
            if fs::remove_dir_all(&path).is_ok() || !path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(REMOVE_PAUSE_MS));
        }
        eprintln!("cannot remove the profile {}", path.display());
    }
}
