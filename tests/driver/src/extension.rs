//! What can be known about an unpacked extension from its manifest: its id and its origin.

use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How many bytes of the key's hash make the id; each becomes two letters.
const ID_BYTES: usize = 16;

/// Computes the id that Chromium gives to the unpacked extension in `dist`.
///
/// # Errors
/// When the manifest cannot be read, or has no `key`: without one the id depends on the path.
pub fn extension_id(dist: &Path) -> Result<String> {
    let path = dist.join("manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let key = manifest["key"]
        .as_str()
        .with_context(|| format!("{}: `key` is missing, so the id is not fixed", path.display()))?;
    let der = base64::engine::general_purpose::STANDARD
        .decode(key)
        .with_context(|| format!("{}: `key` is not base64", path.display()))?;
    Ok(id_of_key(&der))
}

/// The first 16 bytes of the SHA-256 of the DER key, each half byte as a letter from `a` to `p`.
fn id_of_key(der: &[u8]) -> String {
    Sha256::digest(der)
        .iter()
        .take(ID_BYTES)
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| char::from(b'a' + half))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_hash_of_the_key_in_letters() {
        // SHA-256 of nothing begins with e3b0c44298fc1c149afbf4c8996fb924.
        assert_eq!(id_of_key(&[]), "odlameecjipmbmbejkplpemijjgpljce");
    }

    #[test]
    fn a_manifest_without_a_key_is_refused_with_the_name_of_the_field() {
        let dist = tempfile::tempdir().unwrap();
        std::fs::write(dist.path().join("manifest.json"), "{}").unwrap();
        let failure = extension_id(dist.path()).unwrap_err().to_string();
        assert!(failure.ends_with("`key` is missing, so the id is not fixed"), "{failure}");
    }
}
