//! The wasm toolchain: rustup's target where it is or may be fetched, else Debian's rustc behind a private sysroot.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Missing, Setup, entry, fill, key_of, system};
use crate::paths::which;
use crate::versions::{DEBIAN_WASM_PACKAGES, WASM_TARGET};
use crate::{proc, progress};

/// Options of rustc for the standard library of `content-strict.js`, and for the crate that is linked to it.
///
/// No sign extension, saturating conversion, bulk memory, reference types or multi-value: wasm2js lowers none of them.
pub const TWIN_FLAGS: [&str; 2] = ["-Ctarget-cpu=mvp", "-Ctarget-feature=+mutable-globals"];

/// A rustc with the wasm32 target, and a second one whose standard library keeps to the first version of wasm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WasmToolchain {
    base: Base,
    /// The sysroot of the twin, with a `bin/rustc` that uses it.
    twin: PathBuf,
}

/// A rustc that has, or gets, the wasm32 target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Base {
    /// First line of `rustc --version`.
    version: String,
    sysroot: PathBuf,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The toolchain that builds natively has the target too.
    Native,
    /// Wrappers around Debian's tools in the sysroot's `bin`.
    Debian,
}

impl WasmToolchain {
    /// Cargo of this toolchain, without what an outer `cargo run` and the user's shell add to the environment.
    pub fn cargo(&self) -> Command {
        self.base.cargo()
    }

    /// The same for the twin.
    pub fn twin_cargo(&self) -> Command {
        let mut cargo = self.base.cargo();
        cargo.env("RUSTC", self.twin.join("bin/rustc"));
        cargo
    }

    /// The directory to put in front of `PATH` so that other tools find this rustc.
    pub fn bin_dir(&self) -> Option<PathBuf> {
        match self.base.source {
            Source::Native => None,
            Source::Debian => Some(self.base.sysroot.join("bin")),
        }
    }

    /// First line of `rustc --version`.
    pub fn version(&self) -> &str {
        &self.base.version
    }

    /// One line for tables.
    pub fn describe(&self) -> String {
        format!("{} in {}", self.base.version, self.base.sysroot.display())
    }
}

impl Base {
    fn cargo(&self) -> Command {
        let mut cargo = match self.source {
            Source::Native => Command::new(native_cargo()),
            Source::Debian => {
                let bin = self.sysroot.join("bin");
                let mut cargo = Command::new(bin.join("cargo"));
                cargo.env("PATH", path_with([bin.clone()]));
                cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
                cargo
            }
        };
        // `cargo run` points the loader at the native toolchain, and flags of the shell would change the bundle's bytes.
        cargo.env_remove("LD_LIBRARY_PATH").env_remove("RUSTFLAGS").env_remove("RUSTC_WRAPPER");
        cargo.env_remove("CARGO_MANIFEST_DIR");
        cargo
    }

    /// The compiler itself, which takes any sysroot.
    fn rustc(&self) -> PathBuf {
        match self.source {
            Source::Native => self.sysroot.join("bin/rustc"),
            Source::Debian => PathBuf::from(DEBIAN_RUSTC),
        }
    }
}

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// `PATH` with more directories in front.
pub fn path_with(dirs: impl IntoIterator<Item = PathBuf>) -> std::ffi::OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = dirs.into_iter().chain(env::split_paths(&path)).collect();
    // A directory whose name holds the separator cannot be in PATH; nothing is gained by it.
    env::join_paths(all).unwrap_or(path)
}

/// Finds both without changing anything.
pub fn look(setup: &Setup) -> Result<WasmToolchain, Missing> {
    let base = look_base(setup)?;
    let twin = twin_dir(setup, &base);
    if twin.join("bin/rustc").exists() {
        return Ok(WasmToolchain { base, twin });
    }
    Err(Missing::new("the standard library for content-strict.js", "cargo xtask setup wasm"))
}

/// Installs what is missing, the way that this machine permits.
pub fn provide(setup: &Setup) -> Result<WasmToolchain> {
    let base = match look_base(setup) {
        Ok(base) => base,
        Err(_) if rustup_may_fetch() => provide_native()?,
        Err(_) => provide_debian(setup)?,
    };
    let twin = twin_dir(setup, &base);
    fill(setup, &twin, |part| {
        progress::step("building the standard library for content-strict.js once (one minute)");
        let mut cargo = base.cargo();
        cargo.env("RUSTC", base.rustc());
        build_std(part, cargo, TWIN_FLAGS.as_slice(), "\"z\"")?;
        let rustlib = Path::new("lib/rustlib");
        let host = host(&base.rustc())?;
        link(&base.sysroot.join(rustlib).join(&host), &part.join(rustlib).join(&host))?;
        fs_err::create_dir_all(part.join("bin"))?;
        write_wrapper(&part.join("bin/rustc"), &base.rustc(), &twin)
    })?;
    Ok(WasmToolchain { base, twin })
}

fn look_base(setup: &Setup) -> Result<Base, Missing> {
    if let Some(found) = look_native() {
        return Ok(found);
    }
    if rustup_may_fetch() {
        return Err(Missing::new(
            format!("target {WASM_TARGET} and rust-src"),
            format!("rustup target add {WASM_TARGET} && rustup component add rust-src"),
        ));
    }
    look_debian(setup)
}

fn provide_native() -> Result<Base> {
    progress::step(&format!("rustup: adding {WASM_TARGET} and rust-src"));
    proc::run(Command::new("rustup").args(["target", "add", WASM_TARGET]))?;
    proc::run(Command::new("rustup").args(["component", "add", "rust-src"]))?;
    look_native().context(
        "rustup reports success, but the active toolchain still lacks the target: check `rustup show`",
    )
}

fn provide_debian(setup: &Setup) -> Result<Base> {
    let missing: Vec<&str> =
        DEBIAN_WASM_PACKAGES.into_iter().filter(|package| system::installed(package).is_none()).collect();
    if !missing.is_empty() {
        system::install(setup, "a Rust toolchain for wasm32", &missing)?;
    }
    let version =
        system::installed("rustc-web").context("rustc-web was installed, but dpkg does not know it")?;
    let dir = debian_dir(setup, &version);
    fill(setup, &dir, |part| {
        progress::step("building the wasm32 standard library once (one minute)");
        let mut cargo = Command::new("/usr/bin/cargo");
        cargo.env("RUSTC", DEBIAN_RUSTC).env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
        build_std(part, cargo, &[], "3")?;
        lay_out(part, &dir)
    })?;
    look_debian(setup).map_err(|missing| anyhow::anyhow!("{} is missing after the set-up", missing.what))
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

fn look_native() -> Option<Base> {
    let rustc = native_rustc();
    let sysroot = PathBuf::from(proc::output(Command::new(&rustc).args(["--print", "sysroot"])).ok()?.trim());
    let rustlib = sysroot.join("lib/rustlib");
    let std_source = rustlib.join("src/rust/library/std/Cargo.toml");
    if !has_std(&rustlib) || !std_source.exists() {
        return None;
    }
    let version = first_line(&proc::output(Command::new(&rustc).arg("--version")).ok()?);
    Some(Base { version, sysroot, source: Source::Native })
}

fn look_debian(setup: &Setup) -> Result<Base, Missing> {
    let Some(version) = system::installed("rustc-web") else {
        return Err(Missing::new(
            "a Rust toolchain for wasm32 (RUSTUP_AUTO_INSTALL=0 forbids rustup to fetch one)",
            system::by_hand(&DEBIAN_WASM_PACKAGES),
        ));
    };
    let sysroot = debian_dir(setup, &version);
    let rustc = sysroot.join("bin/rustc");
    if !rustc.exists() {
        return Err(Missing::new("the wasm32 standard library", "cargo xtask setup wasm"));
    }
    match proc::output(Command::new(&rustc).arg("--version")) {
        Ok(text) => Ok(Base { version: first_line(&text), sysroot, source: Source::Debian }),
        Err(error) => Err(Missing::new(
            format!("a working {}: {error}", rustc.display()),
            format!("remove {} and run `cargo xtask setup wasm`", sysroot.display()),
        )),
    }
}

fn debian_dir(setup: &Setup, debian_version: &str) -> PathBuf {
    let name: String =
        debian_version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    entry(setup, &format!("wasm-{name}"))
}

fn twin_dir(setup: &Setup, base: &Base) -> PathBuf {
    let flags = TWIN_FLAGS.join(" ");
    let sysroot = base.sysroot.to_string_lossy();
    let key = key_of(&[base.version.as_bytes(), sysroot.as_bytes(), flags.as_bytes()]);
    entry(setup, &format!("wasm-twin-{key}"))
}

fn has_std(rustlib: &Path) -> bool {
    fs_err::read_dir(rustlib.join(WASM_TARGET).join("lib")).is_ok_and(|files| {
        files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Compiles std for wasm32 with `cargo` into `dir/lib/rustlib`.
fn build_std(dir: &Path, mut cargo: Command, flags: &[&str], opt_level: &str) -> Result<()> {
    let work = dir.join("std-build");
    fs_err::create_dir_all(work.join("src"))?;
    fs_err::write(work.join("src/lib.rs"), "")?;
    fs_err::write(
        work.join("Cargo.toml"),
        format!(
            "[package]\nname = \"mkstd\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [profile.release]\nopt-level = {opt_level}\ndebug = 0\ncodegen-units = 1\n"
        ),
    )?;
    // Object code and bitcode in each rlib: users may then link with any kind of LTO, or none.
    let mut flags = [flags, &["-Cembed-bitcode=yes"]].concat();
    let remap = cargo_home().map(|home| format!("--remap-path-prefix={}=/cargo", home.display()));
    flags.extend(remap.as_deref());
    cargo.current_dir(&work).env("CARGO_TARGET_DIR", work.join("target"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    // Only the standard library itself is built with unstable options; the product is not.
    cargo.env("RUSTC_BOOTSTRAP", "1");
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

/// Where cargo keeps the sources of crates.
pub fn cargo_home() -> Option<PathBuf> {
    let home = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    home("CARGO_HOME").or_else(|| home("HOME").map(|home| home.join(".cargo")))
}

/// Puts Debian's tools and our std together. `home` is where `dir` will be when it is complete.
fn lay_out(dir: &Path, home: &Path) -> Result<()> {
    let bin = dir.join("bin");
    fs_err::create_dir_all(&bin)?;
    for tool in ["rustc", "rustdoc"] {
        write_wrapper(&bin.join(tool), &Path::new("/usr/bin").join(tool), home)?;
    }
    for tool in ["cargo-clippy", "clippy-driver"] {
        let home = home.display();
        let script = format!("#!/bin/sh\nexport SYSROOT=\"{home}\"\nexec /usr/bin/{tool} \"$@\"\n");
        write_executable(&bin.join(tool), &script)?;
    }
    for tool in ["cargo", "cargo-fmt", "rustfmt"] {
        link(&Path::new("/usr/bin").join(tool), &bin.join(tool))?;
    }
    let host = host(Path::new(DEBIAN_RUSTC))?;
    let rustlib = dir.join("lib/rustlib");
    let system = Path::new("/usr/lib/rustlib");
    fs_err::create_dir_all(rustlib.join(&host).join("bin"))?;
    link(&system.join(&host).join("lib"), &rustlib.join(&host).join("lib"))?;
    link(&newest_lld()?, &rustlib.join(&host).join("bin/rust-lld"))?;
    link(&system.join("src"), &rustlib.join("src"))?;
    link(&system.join("etc"), &rustlib.join("etc"))
}

fn host(rustc: &Path) -> Result<String> {
    let text = proc::output(Command::new(rustc).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// rustc finds its sysroot from its own library, so a link is not enough: a wrapper names it.
fn write_wrapper(file: &Path, tool: &Path, sysroot: &Path) -> Result<()> {
    let (tool, sysroot) = (tool.display(), sysroot.display());
    write_executable(file, &format!("#!/bin/sh\nexec \"{tool}\" --sysroot \"{sysroot}\" \"$@\"\n"))
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
