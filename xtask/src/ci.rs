//! `cargo xtask ci`: everything that a change must pass, with the minutes of each stage.

use anyhow::Result;

use crate::build::{self, Browser, Profile};
use crate::check;
use crate::progress::Stages;
use crate::setup::{Part, Setup};

/// Runs all stages in order.
///
/// # Errors
/// The first stage that failed.
pub fn ci(setup: &Setup) -> Result<()> {
    let mut stages = Stages::default();
    stages.run("setup", || Part::ALL.into_iter().try_for_each(|part| part.provide(setup)))?;
    stages.run("build", || build::build(setup, Browser::Chrome, Profile::Release))?;
    stages.run("check", || check::check(setup, Browser::Chrome))?;
    eprint!("{}", stages.table());
    Ok(())
}
