//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = "5d45c5061c90b3c78de7d18f314ccde452b5cf94082d79ba8cd1a6d741626e7a";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    "f7bfd8fd49b556fa7dee7895a79228031c32ff560dda6018eed7ba7632729e88";
