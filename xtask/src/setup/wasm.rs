//! The wasm toolchain: rustup's target where it is or may be fetched, else Debian's rustc behind a private sysroot.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Missing, Setup, entry, fill, system};
use crate::paths::which;
use crate::versions::{DEBIAN_WASM_PACKAGES, WASM_TARGET};
use crate::{proc, progress};

/// A rustc with the wasm32 target and with the standard library's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WasmToolchain {
    /// First line of `rustc --version`.
    version: String,
    source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// The toolchain that builds natively has the target too.
    Native,
    /// Wrappers around Debian's tools in this directory's `bin`.
    Private(PathBuf),
}

impl WasmToolchain {
    /// Cargo of this toolchain, without what an outer `cargo run` and the user's shell add to the environment.
    pub fn cargo(&self) -> Command {
        let mut cargo = match &self.source {
            Source::Native => Command::new(native_cargo()),
            Source::Private(dir) => {
                let mut cargo = Command::new(dir.join("bin/cargo"));
                cargo.env("PATH", path_with(&dir.join("bin")));
                cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
                cargo
            }
        };
        // `cargo run` points the loader at the native toolchain, and flags of the shell would change the bundle's bytes.
        cargo.env_remove("LD_LIBRARY_PATH").env_remove("RUSTFLAGS").env_remove("RUSTC_WRAPPER");
        cargo.env_remove("CARGO_MANIFEST_DIR");
        cargo
    }

    /// The directory to put in front of `PATH` so that other tools find this rustc.
    pub fn bin_dir(&self) -> Option<PathBuf> {
        match &self.source {
            Source::Native => None,
            Source::Private(dir) => Some(dir.join("bin")),
        }
    }

    /// First line of `rustc --version`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// One line for tables.
    pub fn describe(&self) -> String {
        match &self.source {
            Source::Native => format!("{} with {WASM_TARGET}", self.version),
            Source::Private(dir) => format!("{} in {}", self.version, dir.display()),
        }
    }
}

/// `PATH` with one more directory in front.
pub fn path_with(dir: &Path) -> std::ffi::OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(dir.to_path_buf()).chain(env::split_paths(&path))).unwrap_or(path)
}

/// Finds a toolchain without changing anything.
pub fn look(setup: &Setup) -> Result<WasmToolchain, Missing> {
    if let Some(found) = look_native() {
        return Ok(found);
    }
    if rustup_may_fetch() {
        return Err(Missing::new(
            format!("target {WASM_TARGET} and rust-src"),
            format!("rustup target add {WASM_TARGET} && rustup component add rust-src"),
        ));
    }
    look_private(setup)
}

/// Installs the target the way that this machine permits.
pub fn provide(setup: &Setup) -> Result<WasmToolchain> {
    if rustup_may_fetch() {
        progress::step(&format!("rustup: adding {WASM_TARGET} and rust-src"));
        proc::run(Command::new("rustup").args(["target", "add", WASM_TARGET]))?;
        proc::run(Command::new("rustup").args(["component", "add", "rust-src"]))?;
        return look_native().context(
            "rustup reports success, but the active toolchain still lacks the target: check `rustup show`",
        );
    }
    let missing: Vec<&str> =
        DEBIAN_WASM_PACKAGES.into_iter().filter(|package| system::installed(package).is_none()).collect();
    if !missing.is_empty() {
        system::install(setup, "a Rust toolchain for wasm32", &missing)?;
    }
    let version =
        system::installed("rustc-web").context("rustc-web was installed, but dpkg does not know it")?;
    let dir = private_dir(setup, &version);
    fill(setup, &dir, |part| {
        progress::step("building the wasm32 standard library once (under two minutes)");
        build_std(part)?;
        lay_out(part, &dir)
    })?;
    look_private(setup).map_err(|missing| anyhow::anyhow!("{} is missing after the set-up", missing.what))
}

/// `RUSTUP_AUTO_INSTALL=0` says that rustup is not to fetch anything; that wish is respected always.
fn rustup_may_fetch() -> bool {
    env::var("RUSTUP_AUTO_INSTALL").as_deref() != Ok("0") && which(&["rustup"]).is_some()
}

fn native_cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The rustc that belongs to the cargo that runs us: `$RUSTC`, as cargo itself would choose it.
fn native_rustc() -> PathBuf {
    env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

fn look_native() -> Option<WasmToolchain> {
    let sysroot = proc::output(Command::new(native_rustc()).args(["--print", "sysroot"])).ok()?;
    let rustlib = Path::new(sysroot.trim()).join("lib/rustlib");
    let std_source = rustlib.join("src/rust/library/std/Cargo.toml");
    if !has_std(&rustlib) || !std_source.exists() {
        return None;
    }
    let version = first_line(&proc::output(Command::new(native_rustc()).arg("--version")).ok()?);
    Some(WasmToolchain { version, source: Source::Native })
}

fn look_private(setup: &Setup) -> Result<WasmToolchain, Missing> {
    let version = system::installed("rustc-web");
    let dir = version.as_deref().map(|version| private_dir(setup, version));
    match dir {
        Some(dir) if dir.join("bin/rustc").exists() => {
            let rustc =
                proc::output(Command::new(dir.join("bin/rustc")).arg("--version")).map_err(|error| {
                    Missing::new(format!("a working {}: {error}", dir.display()), "cargo xtask setup")
                })?;
            Ok(WasmToolchain { version: first_line(&rustc), source: Source::Private(dir) })
        }
        Some(_) => Err(Missing::new("the wasm32 standard library", "cargo xtask setup")),
        None => Err(Missing::new(
            "a Rust toolchain for wasm32 (RUSTUP_AUTO_INSTALL=0 forbids rustup to fetch one)",
            system::by_hand(&DEBIAN_WASM_PACKAGES),
        )),
    }
}

fn private_dir(setup: &Setup, debian_version: &str) -> PathBuf {
    let name: String =
        debian_version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    entry(setup, &format!("wasm-{name}"))
}

fn has_std(rustlib: &Path) -> bool {
    fs_err::read_dir(rustlib.join(WASM_TARGET).join("lib")).is_ok_and(|files| {
        files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Compiles std for wasm32 from Debian's source package into `dir/lib/rustlib`.
fn build_std(dir: &Path) -> Result<()> {
    let work = dir.join("std-build");
    fs_err::create_dir_all(work.join("src"))?;
    fs_err::write(work.join("src/lib.rs"), "")?;
    fs_err::write(
        work.join("Cargo.toml"),
        "[package]\nname = \"mkstd\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.release]\nopt-level = 3\ndebug = 0\ncodegen-units = 1\n",
    )?;
    let mut cargo = Command::new("/usr/bin/cargo");
    cargo.current_dir(&work).env("RUSTC", "/usr/bin/rustc").env("CARGO_TARGET_DIR", work.join("target"));
    // std is built with unstable flags only; nothing unstable reaches the product.
    cargo.env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
    // Object code and bitcode in each rlib: users may then link with any kind of LTO, or none.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "-Cembed-bitcode=yes");
    cargo.args(["build", "--quiet", "--release", "--target", WASM_TARGET]);
    cargo.arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test");
    proc::run(&mut cargo)?;

    let lib = dir.join("lib/rustlib").join(WASM_TARGET).join("lib");
    fs_err::create_dir_all(&lib)?;
    for file in fs_err::read_dir(work.join("target").join(WASM_TARGET).join("release/deps"))? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with("lib") && name.ends_with(".rlib") && !name.starts_with("libmkstd") {
            fs_err::copy(file.path(), lib.join(name))?;
        }
    }
    fs_err::remove_dir_all(work)?;
    Ok(())
}

/// Puts Debian's tools and our std together. `home` is where `dir` will be when it is complete.
fn lay_out(dir: &Path, home: &Path) -> Result<()> {
    let bin = dir.join("bin");
    fs_err::create_dir_all(&bin)?;
    let home_text = home.display();
    // rustc finds its sysroot from its own library, so links are not enough: wrappers name it.
    for tool in ["rustc", "rustdoc"] {
        let script = format!("#!/bin/sh\nexec /usr/bin/{tool} --sysroot \"{home_text}\" \"$@\"\n");
        write_executable(&bin.join(tool), &script)?;
    }
    for tool in ["cargo-clippy", "clippy-driver"] {
        let script = format!("#!/bin/sh\nexport SYSROOT=\"{home_text}\"\nexec /usr/bin/{tool} \"$@\"\n");
        write_executable(&bin.join(tool), &script)?;
    }
    for tool in ["cargo", "cargo-fmt", "rustfmt"] {
        link(&Path::new("/usr/bin").join(tool), &bin.join(tool))?;
    }
    let host = host()?;
    let rustlib = dir.join("lib/rustlib");
    let system = Path::new("/usr/lib/rustlib");
    fs_err::create_dir_all(rustlib.join(&host).join("bin"))?;
    link(&system.join(&host).join("lib"), &rustlib.join(&host).join("lib"))?;
    link(&newest_lld()?, &rustlib.join(&host).join("bin/rust-lld"))?;
    link(&system.join("src"), &rustlib.join("src"))?;
    link(&system.join("etc"), &rustlib.join("etc"))
}

fn host() -> Result<String> {
    let text = proc::output(Command::new("/usr/bin/rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// The linker of the newest LLVM that is installed.
fn newest_lld() -> Result<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for dir in fs_err::read_dir("/usr/lib")? {
        let dir = dir?;
        let name = dir.file_name().to_string_lossy().into_owned();
        let lld = dir.path().join("bin/lld");
        if let Some(version) = name.strip_prefix("llvm-").and_then(|version| version.parse().ok())
            && lld.exists()
        {
            found.push((version, lld));
        }
    }
    let newest = found.into_iter().max().map(|(_, lld)| lld);
    newest.context("no linker: package lld-22 should have put one into /usr/lib/llvm-22/bin/lld")
}

fn write_executable(file: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs_err::write(file, text)?;
    fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn link(original: &Path, link: &Path) -> Result<()> {
    fs_err::os::unix::fs::symlink(original, link)?;
    Ok(())
}
