//! Tools and data that only lint and tests need: wasm-pack with its runner, cargo-deny, MiniWoB.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::{Missing, Setup, entry, fill, key_of, system};
use crate::paths::which;
use crate::versions::{CARGO_DENY, DEBIAN_PIP_PACKAGES, MINIWOB, MINIWOB_SHA256};
use crate::{proc, progress};

/// The programs of `xtask/tools`.
const WASM_TEST_TOOLS: [&str; 3] = ["wasm-bindgen", "wasm-bindgen-test-runner", "wasm-pack"];

/// The directory with wasm-pack, wasm-bindgen and its test runner, compiled if need be.
///
/// # Errors
/// When they do not compile, or crates.io cannot be reached.
pub fn wasm_tests(setup: &Setup) -> Result<PathBuf> {
    if let Ok(dir) = look_wasm_tests(setup) {
        return Ok(dir);
    }
    let bin = wasm_tests_entry(setup)?;
    fill(setup, &bin, |part| {
        progress::step("compiling wasm-pack and the wasm-bindgen test runner once (about three minutes)");
        let target = build_dir(setup, "wasm-tests");
        let mut cargo = native_cargo();
        cargo.args(["build", "--quiet", "--locked", "--manifest-path"]);
        cargo.arg(setup.paths.root.join("xtask/tools/Cargo.toml")).env("CARGO_TARGET_DIR", &target);
        proc::run(&mut cargo)?;
        for tool in WASM_TEST_TOOLS {
            fs_err::copy(target.join("debug").join(tool), part.join(tool))?;
        }
        Ok(fs_err::remove_dir_all(target)?)
    })?;
    Ok(bin)
}

/// Finds the compiled tools.
pub fn look_wasm_tests(setup: &Setup) -> Result<PathBuf, Missing> {
    let dir = wasm_tests_entry(setup)
        .map_err(|error| Missing::new(error.to_string(), "restore xtask/tools from version control"))?;
    if dir.exists() {
        Ok(dir)
    } else {
        Err(Missing::new("wasm-pack and the test runner", "cargo xtask setup wasm-tests"))
    }
}

fn wasm_tests_entry(setup: &Setup) -> Result<PathBuf> {
    let dir = setup.paths.root.join("xtask/tools");
    let lock = fs_err::read(dir.join("Cargo.lock"))?;
    let manifest = fs_err::read(dir.join("Cargo.toml"))?;
    Ok(entry(setup, &format!("wasm-tests-{}", key_of(&[&lock, &manifest]))))
}

/// cargo-deny's executable, compiled if need be.
///
/// # Errors
/// When it does not compile, or crates.io cannot be reached.
pub fn deny(setup: &Setup) -> Result<PathBuf> {
    if let Ok(found) = look_deny(setup) {
        return Ok(found);
    }
    let dir = deny_entry(setup);
    fill(setup, &dir, |part| {
        progress::step(&format!("compiling cargo-deny {CARGO_DENY} once (a few minutes)"));
        let target = build_dir(setup, "cargo-deny");
        let mut cargo = native_cargo();
        // The dev profile halves the time to compile; the tool runs for a second.
        cargo.args(["install", "--quiet", "--locked", "--debug", "--no-track", "cargo-deny"]);
        cargo.args(["--version", CARGO_DENY, "--root"]).arg(part).env("CARGO_TARGET_DIR", &target);
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "false");
        proc::run(&mut cargo)?;
        Ok(fs_err::remove_dir_all(target)?)
    })?;
    look_deny(setup).map_err(|missing| anyhow::anyhow!("{} missing after the set-up", missing.what))
}

/// Finds cargo-deny.
pub fn look_deny(setup: &Setup) -> Result<PathBuf, Missing> {
    let file = deny_entry(setup).join("bin/cargo-deny");
    if file.exists() { Ok(file) } else { Err(Missing::new("cargo-deny", "cargo xtask setup deny")) }
}

fn deny_entry(setup: &Setup) -> PathBuf {
    entry(setup, &format!("cargo-deny-{CARGO_DENY}"))
}

/// The unpacked `miniwob` package, downloaded if need be.
///
/// # Errors
/// When PyPI cannot be reached, or the wheel is not the pinned one.
pub fn miniwob(setup: &Setup) -> Result<PathBuf> {
    if let Ok(found) = look_miniwob(setup) {
        return Ok(found);
    }
    let python = python(setup)?;
    let dir = miniwob_entry(setup);
    fill(setup, &dir, |part| {
        progress::step(&format!("pip: downloading the MiniWoB {MINIWOB} task pages"));
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]);
        pip.arg(part).arg(format!("miniwob=={MINIWOB}"));
        proc::run(&mut pip).context("is PyPI reachable?")?;
        let wheel = part.join(format!("miniwob-{MINIWOB}-py3-none-any.whl"));
        unpack(&wheel, part)?;
        Ok(fs_err::remove_file(wheel)?)
    })?;
    look_miniwob(setup).map_err(|missing| anyhow::anyhow!("{} missing after the set-up", missing.what))
}

/// Finds the unpacked package.
pub fn look_miniwob(setup: &Setup) -> Result<PathBuf, Missing> {
    let dir = miniwob_entry(setup).join("miniwob");
    if dir.join("html/miniwob").exists() {
        Ok(dir)
    } else {
        Err(Missing::new("the MiniWoB pages", "cargo xtask setup miniwob"))
    }
}

fn miniwob_entry(setup: &Setup) -> PathBuf {
    entry(setup, &format!("miniwob-{MINIWOB}"))
}

fn python(setup: &Setup) -> Result<PathBuf> {
    let with_pip = || {
        which(&["python3"])
            .filter(|python| proc::output(Command::new(python).args(["-m", "pip", "--version"])).is_ok())
    };
    if let Some(python) = with_pip() {
        return Ok(python);
    }
    system::install(setup, "python3 with pip", &DEBIAN_PIP_PACKAGES)?;
    with_pip().context("python3 still has no pip: check `python3 -m pip --version`")
}

/// A wheel is a zip; its hash is checked before anything is taken from it.
fn unpack(wheel: &Path, to: &Path) -> Result<()> {
    let bytes = fs_err::read(wheel)?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != MINIWOB_SHA256 {
        bail!("{} has SHA-256 {found}, but {MINIWOB_SHA256} is pinned: not used", wheel.display());
    }
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes))?;
    archive.extract(to).with_context(|| format!("unpack {}", wheel.display()))
}

/// Where a tool is compiled: kept when that fails or is interrupted, so that the next try goes on from there.
fn build_dir(setup: &Setup, tool: &str) -> PathBuf {
    entry(setup, &format!("{tool}.target"))
}

/// The cargo that runs us.
fn native_cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("RUSTFLAGS");
    cargo
}
