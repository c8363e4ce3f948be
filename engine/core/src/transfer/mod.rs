//! Data out and in: all threads as one JSON document with a versioned schema.
//!
//! A document holds conversations and, for reading, the settings without their secrets. An import brings in threads,
//! nodes and attachments and nothing else: what could widen what may be done or where data goes (connections, presets,
//! rules, ceilings of cost, tabs, grants, the endpoint's own state, words for the model alone) is not in a document, or
//! is listed as left out. A document is checked whole before the first write, and written in one commit.

mod check;
mod document;
mod export;
mod import;
mod incoming;
mod payload;
mod plan;

pub use check::{Checked, ThreadParts, check};
pub use document::{AttachmentDoc, FORMAT, ForkDoc, NodeDoc, ThreadDoc, VERSION};
pub(crate) use export::{ExportProblem, export};
pub(crate) use import::{Imported, Outcome, import};
pub(crate) use incoming::{Incoming, Taken};
pub use payload::PayloadDoc;
