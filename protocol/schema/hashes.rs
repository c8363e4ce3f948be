//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = "5efa606656b86f57492570c456ed73ee50f9ac95c11f2fac953cf1603c3e72f2";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    "22f16f1f14d25ffde5fc2e322619248227a288a96ea8e50e4cbe1f77195f56b7";
