//! Node and the npm packages: binaryen and esbuild for the bundle, React and axe for tests. Nothing of them is shipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Missing, Setup, entry, fill, key_of, system};
use crate::paths::which;
use crate::versions::DEBIAN_NODE_PACKAGES;
use crate::{proc, progress};

/// Node and the installed packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    node: PathBuf,
    /// The `node_modules` directory.
    pub modules: PathBuf,
}

impl Node {
    /// A tool of the packages, ready for its arguments.
    pub fn tool(&self, tool: Tool) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(self.modules.join(tool.package()).join("bin").join(tool.name()));
        command
    }

    /// What the output of a tool depends on besides its input.
    ///
    /// # Errors
    /// When the package's own description is missing.
    pub fn version(&self, tool: Tool) -> Result<String> {
        let file = self.modules.join(tool.package()).join("package.json");
        let text = fs_err::read_to_string(&file)?;
        let package: serde_json::Value =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let version = package.get("version").and_then(serde_json::Value::as_str);
        Ok(version.with_context(|| format!("{} has no version", file.display()))?.to_owned())
    }

    /// One line for tables.
    pub fn describe(&self) -> String {
        format!("{} with {}", self.node.display(), self.modules.display())
    }
}

/// A JavaScript tool of the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Shrinks wasm.
    WasmOpt,
    /// Turns wasm into JavaScript.
    Wasm2js,
    /// Shrinks JavaScript.
    Esbuild,
}

impl Tool {
    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::WasmOpt => "wasm-opt",
            Self::Wasm2js => "wasm2js",
            Self::Esbuild => "esbuild",
        }
    }

    /// What stands in front of the path of the output.
    pub fn output_flag(self) -> &'static str {
        match self {
            Self::WasmOpt | Self::Wasm2js => "--output=",
            Self::Esbuild => "--outfile=",
        }
    }

    /// The extension of the input: esbuild chooses its parser by it.
    pub fn input_kind(self) -> &'static str {
        match self {
            Self::WasmOpt | Self::Wasm2js => "wasm",
            Self::Esbuild => "js",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::WasmOpt | Self::Wasm2js => "binaryen",
            Self::Esbuild => "esbuild",
        }
    }
}

/// Finds both without changing anything.
pub fn look(setup: &Setup) -> Result<Node, Missing> {
    let Some(node) = which(&["node", "nodejs"]) else {
        return Err(Missing::new("node", system::by_hand(&DEBIAN_NODE_PACKAGES)));
    };
    let modules = packages_entry(setup)
        .map_err(|error| Missing::new(error.to_string(), "restore tests/npm from version control"))?
        .join("node_modules");
    if modules.join("binaryen/bin/wasm-opt").exists() {
        Ok(Node { node, modules })
    } else {
        Err(Missing::new("the npm packages of tests/npm", "cargo xtask setup"))
    }
}

/// Installs what is missing.
pub fn provide(setup: &Setup) -> Result<Node> {
    if which(&["node", "nodejs"]).is_none() || which(&["npm"]).is_none() {
        system::install(setup, "node with npm", &DEBIAN_NODE_PACKAGES)?;
    }
    let packages = packages_entry(setup)?;
    fill(setup, &packages, |part| {
        progress::step("npm: installing binaryen, esbuild, React and axe as locked in tests/npm");
        for file in ["package.json", "package-lock.json"] {
            fs_err::copy(setup.paths.root.join("tests/npm").join(file), part.join(file))?;
        }
        install(part)
    })?;
    look(setup).map_err(|missing| anyhow::anyhow!("{} missing after the set-up", missing.what))
}

/// Retries once: a registry that hiccups is the usual cause of failure here.
fn install(dir: &Path) -> Result<()> {
    let npm = || {
        let mut npm = Command::new("npm");
        npm.current_dir(dir).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm
    };
    if proc::run(&mut npm()).is_ok() {
        return Ok(());
    }
    progress::note("npm failed; trying once more");
    if let Err(error) = proc::run(&mut npm()) {
        bail!("{error}: is the npm registry reachable? (`npm ping`)");
    }
    Ok(())
}

fn packages_entry(setup: &Setup) -> Result<PathBuf> {
    let dir = setup.paths.root.join("tests/npm");
    let manifest = fs_err::read(dir.join("package.json"))?;
    let lock = fs_err::read(dir.join("package-lock.json"))?;
    Ok(entry(setup, &format!("npm-{}", key_of(&[&manifest, &lock]))))
}
