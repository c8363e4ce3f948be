//! `cargo xtask check`: is the bundle what it must be?

mod code;
mod files;
mod hashes;
mod layers;
mod manifest;
mod sizes;
#[cfg(test)]
mod tests;

use anyhow::{Result, bail};

use crate::build::{Browser, Bundle};
use crate::progress;
use crate::setup::Setup;

/// What a rule found wrong, one sentence each.
pub type Problems = Vec<String>;

/// Checks the bundle of one browser.
///
/// # Errors
/// When a rule is broken; every problem is printed before.
pub fn check(setup: &Setup, browser: Browser) -> Result<()> {
    let dist = setup.paths.dist(browser.name());
    progress::step(&format!("checking {}", dist.display()));
    let bundle = Bundle::read(&dist)?;
    for size in sizes::measure(&bundle) {
        progress::note(&format!(
            "{:<26} {:>5} of {:>5} KiB",
            size.what,
            size.bytes.div_ceil(1024),
            size.kib_max
        ));
    }
    let mut problems = bundle_problems(&bundle);
    problems.extend(hashes::problems(&bundle, &hashes::Hashes::read(&setup.paths.root)?));
    problems.extend(layers::problems(&setup.paths.root)?);
    problems.sort();
    report(&problems)
}

/// Every rule that looks at the bundle alone.
fn bundle_problems(bundle: &Bundle) -> Problems {
    [manifest::problems(bundle), files::problems(bundle), code::problems(bundle), sizes::problems(bundle)]
        .concat()
}

fn report(problems: &[String]) -> Result<()> {
    for problem in problems {
        eprintln!("  {problem}");
    }
    if problems.is_empty() { Ok(()) } else { bail!("{} problems found, see above", problems.len()) }
}
