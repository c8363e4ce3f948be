//! `cargo xtask test`: native tests, the simulation, wasm tests in a browser, and the built extension end to end.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result};

use crate::build::{self, Browser, CRATES, Profile};
use crate::lint::native_cargo;
use crate::proc;
use crate::progress::{self, Stages};
use crate::setup::{self, Setup};

/// A kind of test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Everything that runs without a browser, in milliseconds each.
    Native,
    /// The engine under a seeded scheduler with faults.
    Sim,
    /// The web halves in a headless browser, by wasm-pack.
    Wasm,
    /// The built bundle in Chromium.
    E2e,
}

impl Kind {
    /// All kinds, quick ones first.
    const ALL: [Self; 4] = [Self::Native, Self::Sim, Self::Wasm, Self::E2e];

    fn name(self) -> &'static str {
        match self {
            Self::Native => "test native",
            Self::Sim => "test sim",
            Self::Wasm => "test wasm",
            Self::E2e => "test e2e",
        }
    }
}

/// Packages whose tests are a kind of their own.
pub const SIM: &str = "panelot-sim";
const E2E: [&str; 2] = ["panelot-driver", "panelot-e2e"];

/// Where the crates of the web halves are; wasm-pack takes directories.
const WEB_DIRS: [&str; 3] = ["engine/web", "content/web", "ui/web"];

/// Runs one kind of test, or all, and prints the time of each.
///
/// # Errors
/// The first kind with a test that failed.
pub fn test(setup: &Setup, only: Option<Kind>, profile: Profile, filter: Option<&str>) -> Result<()> {
    let mut stages = Stages::default();
    run(setup, &mut stages, only, profile, filter)?;
    eprint!("{}", stages.table());
    Ok(())
}

/// The same as part of a longer run.
///
/// # Errors
/// The first kind with a test that failed.
pub fn run(
    setup: &Setup,
    stages: &mut Stages,
    only: Option<Kind>,
    profile: Profile,
    filter: Option<&str>,
) -> Result<()> {
    for kind in Kind::ALL.into_iter().filter(|kind| only.is_none_or(|only| only == *kind)) {
        stages.run(kind.name(), || match kind {
            Kind::Native => native(setup, filter),
            Kind::Sim => sim(setup, filter),
            Kind::Wasm => wasm(setup, filter),
            Kind::E2e => end_to_end(setup, profile, filter),
        })?;
    }
    Ok(())
}

fn native(setup: &Setup, filter: Option<&str>) -> Result<()> {
    let mut cargo = native_cargo(setup);
    cargo.args(["test", "--quiet", "--locked", "--workspace"]);
    for name in CRATES.iter().chain(&[SIM]).chain(&E2E) {
        cargo.args(["--exclude", name]);
    }
    proc::run(cargo.args(filter))
}

fn sim(setup: &Setup, filter: Option<&str>) -> Result<()> {
    let mut cargo = native_cargo(setup);
    cargo.args(["test", "--quiet", "--locked", "--profile", "sim", "--package", SIM]);
    proc::run(cargo.args(filter).args(["--", "--nocapture"]))
}

fn wasm(setup: &Setup, filter: Option<&str>) -> Result<()> {
    let toolchain = setup::wasm(setup)?;
    let tools = setup::wasm_tests(setup)?;
    let browser = setup::browser(setup)?;
    // The tools first, so that the pinned wasm-bindgen is taken; then the rustc that has the target.
    let dirs = [Some(tools.clone()), toolchain.bin_dir()];
    let path = setup::path_with(dirs.into_iter().flatten());
    for dir in WEB_DIRS {
        let manifest = fs_err::read_to_string(setup.paths.root.join(dir).join("Cargo.toml"))?;
        if !manifest.contains("wasm-bindgen-test") {
            progress::note(&format!(
                "{dir} has no tests in a browser of its own; the end-to-end tests cover it"
            ));
            continue;
        }
        progress::step(&format!("wasm-pack test {dir}"));
        let mut pack = Command::new(tools.join("wasm-pack"));
        pack.current_dir(&setup.paths.root).env("PATH", &path);
        if toolchain.bin_dir().is_some() {
            pack.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
        }
        pack.env_remove("LD_LIBRARY_PATH").env_remove("RUSTFLAGS").env_remove("CARGO_MANIFEST_DIR");
        pack.env("CARGO_TARGET_DIR", setup.paths.target.join("wasm"));
        pack.args(["test", "--headless", "--chrome", "--mode", "no-install", "--chromedriver"]);
        // What follows the directory goes to cargo as it is; a `--` would send it to the tests, and so does --quiet.
        pack.arg(&browser.driver).args([dir, "--locked"]);
        proc::run(pack.args(filter)).with_context(|| format!("wasm tests of {dir}"))?;
    }
    Ok(())
}

/// The tests in the browser get all paths by environment variables, so that they can be run by `cargo test` too.
fn end_to_end(setup: &Setup, profile: Profile, filter: Option<&str>) -> Result<()> {
    let mut cargo = native_cargo(setup);
    cargo.args(["test", "--quiet", "--locked"]).args(E2E.iter().flat_map(|name| ["--package", name]));
    // Stories that wait for a clock give their browser's place to others, which need a thread for that.
    cargo.args(filter).args(["--", "--test-threads", "4"]);
    cargo.envs(environment(setup, profile)?);
    proc::run(&mut cargo)
}

/// Builds the bundle and names everything that drives it.
///
/// # Errors
/// What could not be built or installed.
pub fn environment(setup: &Setup, profile: Profile) -> Result<Vec<(&'static str, OsString)>> {
    let dist = build::build(setup, Browser::Chrome, profile)?;
    let browser = setup::browser(setup)?;
    let node = setup::node(setup)?;
    let miniwob = setup::miniwob(setup)?;
    Ok(vec![
        ("PANELOT_DIST", dist.into()),
        ("PANELOT_CHROMIUM", browser.chromium.into()),
        ("PANELOT_NPM", node.modules.into()),
        ("PANELOT_MINIWOB", miniwob.into()),
    ])
}
