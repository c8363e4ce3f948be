//! What the engine says about itself to every page.

use crate::{FromJson, Shape, limits};
use serde::Serialize;

/// Something about the engine that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EngineNotice {
    /// The engine died of a fault of its own and was started again. What it had stored goes on.
    Restarted {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// What a developer needs to find the fault, as text: place and kind, never anything that a person or a page
        /// wrote.
        #[shape(len_max = limits::REPORT_CHARS_MAX)]
        report: String,
    },
    /// A newer version of the extension is there. It takes the place of this one as soon as nothing would be lost.
    UpdateReady {},
}
