//! `cargo xtask doctor`: a table of what is there and of what is missing.

use anyhow::{Result, bail};

use crate::progress;
use crate::setup::{Part, Setup};

/// Prints the table.
///
/// # Errors
/// When something is missing, after the table.
pub fn doctor(setup: &Setup) -> Result<()> {
    let width = Part::ALL.iter().map(|part| part.name().len()).max().unwrap_or(0);
    let mut missing = 0;
    for part in Part::ALL {
        let name = part.name();
        match part.look(setup) {
            Ok(found) => progress::answer!("ok       {name:width$}  {found}"),
            Err(gap) => {
                missing += 1;
                progress::answer!(
                    "missing  {name:width$}  {}\n{:9}{:width$}  get it: {}",
                    gap.what,
                    "",
                    "",
                    gap.how
                );
            }
        }
    }
    progress::answer!("cache    {:width$}  {}", "", setup.paths.cache.display());
    if missing > 0 {
        bail!("{missing} parts are missing; `cargo xtask setup` provides them all");
    }
    Ok(())
}
