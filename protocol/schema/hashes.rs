//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = "75c7b0cbb4186d0a1e259e9d096c29c8937468a78629f7f46985bb3029ed2bef";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    "22f16f1f14d25ffde5fc2e322619248227a288a96ea8e50e4cbe1f77195f56b7";
