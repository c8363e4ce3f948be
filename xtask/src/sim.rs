//! `cargo xtask sim`: long runs of the simulation, beside the seeds of `cargo xtask test`.

use std::path::PathBuf;

use anyhow::Result;

use crate::lint::native_cargo;
use crate::proc;
use crate::setup::Setup;
use crate::test::SIM;

/// What to run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many seeds. One alone is shown with its trace, and made short when it fails.
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Where progress is kept: the same call goes on from there after it was stopped.
    #[arg(long)]
    state: Option<PathBuf>,
    /// Run the plan of a file, such as one of tests/sim/regressions, and nothing else.
    #[arg(long, conflicts_with_all = ["seeds", "from", "state"])]
    plan: Option<PathBuf>,
}

/// Builds the simulation and runs it; its exit tells whether a seed failed.
///
/// # Errors
/// When it cannot be built, or a seed failed.
pub fn sim(setup: &Setup, args: &Args) -> Result<()> {
    let mut cargo = native_cargo(setup);
    cargo.args(["run", "--quiet", "--locked", "--profile", "sim", "--package", SIM, "--"]);
    // The simulation runs in the checkout's root; files are named from where this was called.
    let here = std::env::current_dir()?;
    if let Some(plan) = &args.plan {
        cargo.arg("--plan").arg(here.join(plan));
        return proc::run(&mut cargo);
    }
    cargo.args(["--seeds", &args.seeds.to_string(), "--from", &args.from.to_string()]);
    if let Some(state) = &args.state {
        cargo.arg("--state").arg(here.join(state));
    }
    proc::run(&mut cargo)
}
