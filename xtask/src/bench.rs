//! `cargo xtask bench`: what a person waits for, start, snapshots, streaming, long threads, sizes and memory.

use anyhow::Result;
use clap::Parser;

use crate::build::{Browser, Profile};
use crate::lint::native_cargo;
use crate::setup::{self, Setup};
use crate::{proc, progress, test};

/// Arguments of `cargo xtask bench`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", about = "Measures the release bundle in Chromium.")]
struct BenchArgs {
    /// Measure the bundle that is in dist/chrome, as it is.
    #[arg(long)]
    no_build: bool,
    /// Measure only these: sizes, start, latency, page, stream, threads, memory. Without any, all but memory, which
    /// takes minutes.
    parts: Vec<String>,
}

/// Measures the release bundle.
///
/// # Errors
/// When a part of the set-up, the build or a measurement fails, or a limit is not kept.
pub fn bench(setup: &Setup, args: &[String]) -> Result<()> {
    let words = std::iter::once("cargo xtask bench".to_owned()).chain(args.iter().cloned());
    let args = match BenchArgs::try_parse_from(words) {
        Ok(args) => args,
        // Help and wrong arguments have their own exit codes.
        Err(answer) => answer.exit(),
    };
    let mut bench = native_cargo(setup);
    bench.args(["run", "--quiet", "--locked", "--package", "panelot-e2e", "--bin", "bench", "--"]);
    bench.args(&args.parts);
    if args.no_build {
        bench.env("PANELOT_DIST", setup.paths.dist(Browser::Chrome.name()));
        bench.env("PANELOT_CHROMIUM", setup::browser(setup)?.chromium);
        setup::node(setup)?;
    } else {
        bench.envs(test::environment(setup, Profile::Release)?);
    }
    progress::step("measuring");
    proc::run(&mut bench)
}
