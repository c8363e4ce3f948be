//! `cargo xtask lint`: format, clippy for both kinds of target, dependencies, tidiness.

use std::env;
use std::process::Command;

use anyhow::{Context, Result};

use crate::build::CRATES;
use crate::setup::{self, Setup};
use crate::versions::WASM_TARGET;
use crate::{proc, progress, tidy};

/// Runs every linter; the quick ones come first.
///
/// # Errors
/// The first linter that found something; its findings are above.
pub fn lint(setup: &Setup) -> Result<()> {
    progress::step("tidy");
    tidy::tidy(&setup.paths.root)?;

    progress::step("cargo fmt --check");
    proc::run(native_cargo(setup).args(["fmt", "--all", "--check"])).context("`cargo fmt` mends this")?;

    progress::step("cargo deny: bans, licences, sources");
    let deny = setup::deny(setup)?;
    let mut command = Command::new(deny);
    // cargo-deny asks cargo for the graph; `--locked` keeps it from changing the lock file.
    command.current_dir(&setup.paths.root).args(["--locked", "--log-level", "error", "check"]);
    proc::run(command.args(["bans", "licenses", "sources"]))?;

    progress::step("clippy on the native halves and the tools");
    let mut clippy = native_cargo(setup);
    clippy.args(["clippy", "--quiet", "--locked", "--workspace", "--all-targets"]);
    for name in CRATES {
        // The web halves are linted for the target that they are for.
        clippy.args(["--exclude", name]);
    }
    proc::run(clippy.args(["--", "-D", "warnings"]))?;

    progress::step("clippy on the web halves, for wasm32");
    let mut clippy = setup::wasm(setup)?.cargo();
    clippy.current_dir(&setup.paths.root).env("CARGO_TARGET_DIR", setup.paths.target.join("wasm"));
    clippy.args(["clippy", "--quiet", "--locked", "--target", WASM_TARGET]);
    for name in CRATES {
        clippy.args(["--package", name]);
    }
    proc::run(clippy.args(["--all-targets", "--", "-D", "warnings"]))
}

/// The cargo that runs us, in the checkout.
pub fn native_cargo(setup: &Setup) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&setup.paths.root).env_remove("CARGO_MANIFEST_DIR");
    cargo
}
