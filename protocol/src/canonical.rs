//! The fingerprint of a message's payload: SHA-256 over its canonical JSON (RFC 8785).

use crate::manifest::hex;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The SHA-256 of the payload's canonical JSON, in lower hex. The same payload has the same fingerprint whatever the
/// order of its keys and the spelling of its numbers were.
///
/// # Errors
/// A payload that has no JSON form; types of this crate always have one.
pub fn fingerprint<T: Serialize>(payload: &T) -> Result<String, serde_json::Error> {
    let canonical = serde_json_canonicalizer::to_vec(payload)?;
    Ok(hex(&Sha256::digest(canonical)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_order_of_keys_and_the_spelling_of_numbers_do_not_matter() {
        let one: Value = serde_json::from_str(r#"{"b":[1.0,"é"],"a":{"y":1e2,"x":null}}"#).unwrap();
        let other: Value =
            serde_json::from_str(r#"{ "a": {"x": null, "y": 100}, "b": [1, "\u00e9"] }"#).unwrap();
        assert_eq!(fingerprint(&one).unwrap(), fingerprint(&other).unwrap());
    }

    #[test]
    fn a_fingerprint_is_the_sha_256_of_the_canonical_text() {
        // printf '{"a":1}' | sha256sum
        assert_eq!(
            fingerprint(&json!({ "a": 1 })).unwrap(),
            "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
        );
    }

    #[test]
    fn another_payload_has_another_fingerprint() {
        assert_ne!(fingerprint(&json!(["a", 1])).unwrap(), fingerprint(&json!(["a", "1"])).unwrap());
    }
}
