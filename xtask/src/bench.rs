//! `cargo xtask bench`: start, injection, snapshots, streaming and sizes, side by side.

use anyhow::{Result, bail};

use crate::setup::Setup;

/// Measures the release bundle.
///
/// # Errors
/// Always, until the browser driver is part of the workspace.
pub fn bench(_setup: &Setup, _args: &[String]) -> Result<()> {
    bail!("the benchmark is not built yet")
}
