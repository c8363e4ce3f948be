//! `cargo xtask ci`: everything that a change must pass, with the minutes of each stage.

use anyhow::Result;

use crate::build::{self, Browser, Profile};
use crate::progress::Stages;
use crate::protocol::{self, Action};
use crate::setup::{Part, Setup};
use crate::{check, lint, package, test};

/// Runs all stages in order.
///
/// # Errors
/// The first stage that failed.
pub fn ci(setup: &Setup) -> Result<()> {
    let mut stages = Stages::default();
    stages.run("setup", || Part::ALL.into_iter().try_for_each(|part| part.provide(setup)))?;
    stages.run("lint", || lint::lint(setup))?;
    stages.run("protocol check", || protocol::protocol(setup, Action::Check))?;
    stages.run("build --release", || build::build(setup, Browser::Chrome, Profile::Release))?;
    stages.run("check", || check::check(setup, Browser::Chrome))?;
    stages.run("package", || package::package(setup, Browser::Chrome))?;
    test::run(setup, &mut stages, None, Profile::Release, None)?;
    eprint!("{}", stages.table());
    Ok(())
}
