//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = "1564d30db3dcb45c1b4ed56d49b2d7cffc5d58c9369481c6e09dd4c6f1c6843a";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    "22f16f1f14d25ffde5fc2e322619248227a288a96ea8e50e4cbe1f77195f56b7";
