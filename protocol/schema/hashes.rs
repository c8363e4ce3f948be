//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = "818fbcbb7646a7c1cdceb31385654f5d7348fd57c665ec59bcf5d635261a6bcd";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    "f7bfd8fd49b556fa7dee7895a79228031c32ff560dda6018eed7ba7632729e88";
