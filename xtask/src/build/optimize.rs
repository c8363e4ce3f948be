//! wasm-opt on the release modules.

use anyhow::Result;

use super::{Builder, Profile, tool_cached};
use crate::setup::Tool;

/// Features are detected from the module: `--all-features` would emit encodings that Chromium refuses.
const FLAGS: [&str; 4] = ["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"];

/// Shrinks a module for a release; the dev profile keeps it as it is, to build fast.
///
/// # Errors
/// When wasm-opt refuses the module.
pub fn wasm(builder: &Builder<'_>, module: Vec<u8>) -> Result<Vec<u8>> {
    match builder.profile {
        Profile::Dev => Ok(module),
        Profile::Release => tool_cached(builder, Tool::WasmOpt, &FLAGS, &module),
    }
}
