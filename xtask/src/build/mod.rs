//! Builds the three wasm targets and assembles the unpacked bundle.

mod bindgen;
mod bundle;
mod content;
mod optimize;
mod twin;
mod twin_pack;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

pub use bundle::Bundle;
pub use content::embedded_wasm;

use crate::progress::{self, minutes};
use crate::setup::{Node, Setup, Tool, WasmToolchain};
use crate::versions::WASM_TARGET;
use crate::{proc, setup};

/// Which browser's store the bundle is for; the files are the same today, the directories are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Browser {
    /// Chrome and Chromium.
    Chrome,
    /// Microsoft Edge.
    Edge,
}

impl Browser {
    /// The name of its directory in `dist/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chrome => "chrome",
            Self::Edge => "edge",
        }
    }
}

/// How much work goes into small files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Fast to build, with names for stack traces.
    Dev,
    /// Small, without names.
    Release,
}

impl Profile {
    /// The value of `profile` in `build.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    fn cargo_dir(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

/// The three cdylibs.
pub const CRATES: [&str; 3] = ["panelot-engine-web", "panelot-content-web", "panelot-ui-web"];

/// Everything that one build works with.
struct Builder<'a> {
    setup: &'a Setup,
    wasm: WasmToolchain,
    node: Node,
    profile: Profile,
    /// Holds the cargo target directories of the wasm builds.
    target: PathBuf,
}

/// Builds the bundle into `dist/<browser>/` and returns that directory.
///
/// # Errors
/// The first step that failed, with its output above.
pub fn build(setup: &Setup, browser: Browser, profile: Profile) -> Result<PathBuf> {
    build_into(setup, browser, profile, setup.paths.dist(browser.name()))
}

/// Builds the bundle into a directory of the caller's and returns it.
///
/// # Errors
/// The first step that failed, with its output above.
pub fn build_into(setup: &Setup, browser: Browser, profile: Profile, dist: PathBuf) -> Result<PathBuf> {
    let start = Instant::now();
    let bundle = assemble(setup, browser, profile, &setup.paths.target)?;
    bundle.write(&dist)?;
    progress::note(&format!(
        "{} ({} files, {} KiB) in {}",
        dist.display(),
        bundle.len(),
        bundle.bytes() / 1024,
        minutes(start.elapsed()).trim()
    ));
    Ok(dist)
}

/// Builds the bundle in memory, compiling in `target`.
///
/// # Errors
/// The first step that failed, with its output above.
pub fn assemble(setup: &Setup, browser: Browser, profile: Profile, target: &Path) -> Result<Bundle> {
    let wasm = setup::wasm(setup)?;
    let node = setup::node(setup)?;
    let builder = Builder { setup, wasm, node, profile, target: target.to_path_buf() };
    progress::step(&format!("building the {} bundle for {}", profile.name(), browser.name()));

    // The twin has its own standard library and so its own target directory: both can be compiled at once.
    let (twin, modules) = thread::scope(|scope| {
        let twin = scope.spawn(|| twin::build(&builder));
        let modules = builder.compile();
        (
            twin.join().unwrap_or_else(|_| Err(anyhow!("the thread that builds content-strict.js panicked"))),
            modules,
        )
    });
    let modules = modules?;
    let twin = twin?;

    let mut bundle = Bundle::default();
    let engine = bindgen::worker(&builder.module(&modules, "panelot-engine-web"), "engine", profile)?;
    let ui = bindgen::web(&builder.module(&modules, "panelot-ui-web"), "ui", profile)?;
    for (out, generated) in [("engine", engine), ("ui", ui)] {
        bundle.put(&format!("{out}.js"), generated.js.into_bytes())?;
        bundle.put(&format!("{out}_bg.wasm"), optimize::wasm(&builder, generated.wasm)?)?;
        for (path, text) in generated.snippets {
            bundle.put_same(&path, text.into_bytes())?;
        }
    }
    let generated = bindgen::no_modules(&builder.module(&modules, "panelot-content-web"), profile)?;
    let wasm = optimize::wasm(&builder, generated.wasm)?;
    bundle.put("content.js", content::pack(&generated.js, &wasm)?.into_bytes())?;
    bundle.put("content-strict.js", twin.into_bytes())?;

    let root = &setup.paths.root;
    for assets in ["engine/web/assets", "content/web/assets", "ui/web/assets"] {
        bundle.put_dir(&root.join(assets))?;
    }
    bundle.put("manifest.json", fs_err::read(root.join("manifest.json"))?)?;
    bundle.stamp(browser, profile, builder.wasm.version())?;
    Ok(bundle)
}

impl Builder<'_> {
    /// Compiles the three crates in one go and returns the directory with the modules.
    fn compile(&self) -> Result<PathBuf> {
        let target = self.target.join("wasm");
        let mut cargo = self.wasm.cargo();
        cargo.current_dir(&self.setup.paths.root).args([
            "build",
            "--locked",
            "--quiet",
            "--target",
            WASM_TARGET,
        ]);
        for name in CRATES {
            cargo.args(["--package", name]);
        }
        if self.profile == Profile::Release {
            cargo.arg("--release");
        }
        cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_ENCODED_RUSTFLAGS", self.rust_flags(&target, &[]));
        proc::run(&mut cargo).context("compile the engine, content and UI for wasm32")?;
        Ok(target.join(WASM_TARGET).join(self.profile.cargo_dir()))
    }

    fn module(&self, dir: &Path, crate_name: &str) -> PathBuf {
        dir.join(format!("{}.wasm", crate_name.replace('-', "_")))
    }

    /// Flags of rustc as `CARGO_ENCODED_RUSTFLAGS` wants them. A release names no path of this machine, so that the
    /// same sources give the same bytes anywhere; the dev profile keeps real paths for its stack traces.
    fn rust_flags(&self, target: &Path, more: &[&str]) -> String {
        let mut flags: Vec<String> = more.iter().map(|flag| (*flag).to_owned()).collect();
        if self.profile == Profile::Release {
            let mut remap =
                |from: &Path, to: &str| flags.push(format!("--remap-path-prefix={}={to}", from.display()));
            // The last match wins: the target directory usually lies inside the checkout.
            remap(&self.setup.paths.root, "/panelot");
            remap(target, "/target");
            if let Some(home) = setup::cargo_home() {
                remap(&home, "/cargo");
            }
        }
        flags.join("\u{1f}")
    }
}

/// Runs a JavaScript tool of `tests/npm` on bytes, or takes the result of an earlier run with the same input, flags and
/// version. The flags are followed by the paths of the input and the output.
fn tool_cached(builder: &Builder<'_>, tool: Tool, flags: &[&str], input: &[u8]) -> Result<Vec<u8>> {
    let version = builder.node.version(tool)?;
    let key =
        bundle::sha256(&[tool.name().as_bytes(), version.as_bytes(), flags.join(" ").as_bytes(), input]);
    let dir = builder.target.join("tools");
    let done = dir.join(&key);
    if done.exists() {
        return Ok(fs_err::read(done)?);
    }
    fs_err::create_dir_all(&dir)?;
    let from = dir.join(format!("{key}.in.{}", tool.input_kind()));
    let to = dir.join(format!("{key}.out"));
    fs_err::write(&from, input)?;
    let mut command = builder.node.tool(tool);
    let output = OsString::from_iter([OsStr::new(tool.output_flag()), to.as_os_str()]);
    command.args(flags).arg(&from).arg(output);
    proc::run(&mut command)?;
    if !to.exists() {
        bail!("{} reports success but wrote nothing to {}", tool.name(), to.display());
    }
    fs_err::remove_file(from)?;
    fs_err::rename(to, &done)?;
    Ok(fs_err::read(done)?)
}
