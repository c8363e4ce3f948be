//! `cargo xtask run`: the extension in a throw-away Chromium beside a demo provider and a demo site.

use anyhow::{Result, bail};

use crate::setup::Setup;

/// Builds the bundle and plays the demo.
///
/// # Errors
/// Always, until the demo provider is part of the workspace.
pub fn run(_setup: &Setup, _args: &[String]) -> Result<()> {
    bail!("the demo is not built yet: use `cargo xtask build` and load dist/chrome unpacked")
}
