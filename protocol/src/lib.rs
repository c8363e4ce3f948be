//! What crosses a context: the messages between UI, engine and content script.
//!
//! The types here are the one source of the protocol: their validators, their manifest and their hash are derived from
//! them, and nothing else in the project copies a wire type.

extern crate self as panelot_protocol;

pub mod approval;
pub mod budget;
pub mod canonical;
pub mod content;
pub mod decode;
pub mod diagnostic;
pub mod event;
pub mod format;
pub mod frame;
pub mod from_json;
#[path = "../schema/hashes.rs"]
mod hashes;
pub mod ids;
pub mod interaction;
pub mod item;
pub mod limits;
pub mod manifest;
pub mod notice;
pub mod op;
#[cfg(feature = "sample")]
pub mod sample;
pub mod schema;
pub mod settings;
pub mod snapshot;
pub mod turn;
pub mod validate;
pub mod view;

pub use from_json::FromJson;
pub use hashes::{CONTENT_SCRIPT_SCHEMA_HASH, ENGINE_SCHEMA_HASH};
pub use panelot_protocol_macros::{FromJson, Shape, boundary};
pub use schema::Shape;

/// Name of the protocol between pages and engine.
pub const ENGINE_PROTOCOL: &str = "panelot/engine-v1";
/// Name of the protocol between engine and content script.
pub const CONTENT_PROTOCOL: &str = "panelot/content-v1";
/// Name of the Port between pages and engine.
pub const PORT_NAME: &str = "panelot-engine";
