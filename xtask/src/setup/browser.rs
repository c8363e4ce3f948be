//! Chromium and its driver.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::{Missing, Setup, system};
use crate::paths::{is_executable, which};
use crate::versions::DEBIAN_CHROMIUM_PACKAGES;

/// Branded Chrome is no candidate: it ignores `--load-extension` since version 137.
const CHROMIUM_NAMES: [&str; 2] = ["chromium", "chromium-browser"];

/// A Chromium and the driver of the same version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    /// The browser's executable; `PANELOT_CHROMIUM` overrides the search.
    pub chromium: PathBuf,
    /// The driver's executable; `PANELOT_CHROMEDRIVER` overrides the search.
    pub driver: PathBuf,
}

impl Browser {
    /// One line for tables.
    pub fn describe(&self) -> String {
        format!("{}, {}", self.chromium.display(), self.driver.display())
    }
}

/// Finds both without changing anything.
pub fn look() -> Result<Browser, Missing> {
    let chromium = named("PANELOT_CHROMIUM")?.or_else(|| which(&CHROMIUM_NAMES));
    let driver = named("PANELOT_CHROMEDRIVER")?.or_else(|| which(&["chromedriver"]));
    match (chromium, driver) {
        (Some(chromium), Some(driver)) => Ok(Browser { chromium, driver }),
        (None, Some(_) | None) => Err(Missing::new("Chromium", system::by_hand(&DEBIAN_CHROMIUM_PACKAGES))),
        (Some(_), None) => Err(Missing::new("chromedriver", system::by_hand(&DEBIAN_CHROMIUM_PACKAGES))),
    }
}

/// Installs both from the distribution.
pub fn provide(setup: &Setup) -> Result<Browser> {
    for variable in ["PANELOT_CHROMIUM", "PANELOT_CHROMEDRIVER"] {
        if let Err(missing) = named(variable) {
            bail!("{}: {}", missing.what, missing.how);
        }
    }
    system::install(setup, "Chromium with its driver", &DEBIAN_CHROMIUM_PACKAGES)?;
    look().map_err(|missing| {
        anyhow::anyhow!(
            "{} is missing after the set-up: set PANELOT_CHROMIUM and PANELOT_CHROMEDRIVER to the executables",
            missing.what
        )
    })
}

/// The executable that a variable names, if it is set.
fn named(variable: &str) -> Result<Option<PathBuf>, Missing> {
    let Some(file) = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) else {
        return Ok(None);
    };
    if is_executable(&file) {
        return Ok(Some(file));
    }
    let what = format!("{variable} is {}, which is no executable file", file.display());
    Err(Missing::new(what, format!("set {variable} to an executable, or unset it")))
}
