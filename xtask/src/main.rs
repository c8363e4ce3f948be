//! Builds, checks, runs and tests the extension: `cargo xtask help` lists the commands.

mod bench;
mod build;
mod check;
mod ci;
mod doctor;
mod lint;
mod package;
mod paths;
mod proc;
mod progress;
mod protocol;
mod run;
mod setup;
mod sim;
mod test;
mod tidy;
mod versions;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use build::{Browser, Profile};
use paths::Paths;
use setup::{Consent, Part, Setup};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Builds, checks, runs and tests the extension."
)]
struct Cli {
    /// Let the set-up install system packages through sudo (root needs no leave).
    #[arg(long, short, global = true)]
    yes: bool,
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Provide what the other commands need; they call it themselves.
    Setup {
        /// Only these parts.
        parts: Vec<Part>,
    },
    /// Show what is there, what is missing and how to get it.
    Doctor,
    /// Build the unpacked extension into dist/.
    Build {
        /// Small and without debug names, as it is shipped.
        #[arg(long)]
        release: bool,
        /// The browser to build for.
        #[arg(long, value_enum, default_value = "chrome")]
        target: Browser,
    },
    /// Check the release bundle in dist/ and the layers of the workspace.
    Check {
        /// The bundle to check.
        #[arg(long, value_enum, default_value = "chrome")]
        target: Browser,
    },
    /// Build the zip for the store, twice, and compare the bytes.
    Package {
        /// The store to package for.
        #[arg(long, value_enum, default_value = "chrome")]
        target: Browser,
    },
    /// Compare or write the committed manifests and hashes of the protocol.
    Protocol {
        #[command(subcommand)]
        action: protocol::Action,
    },
    /// Format, clippy for native and wasm32, dependencies, tidiness.
    Lint,
    /// Run the tests.
    Test {
        /// Only this kind.
        #[arg(long, value_enum)]
        only: Option<test::Kind>,
        /// End to end: the quick bundle in the place of the one that is shipped, for a story in the making.
        #[arg(long)]
        dev: bool,
        /// Only tests whose name holds this text.
        filter: Option<String>,
    },
    /// Run many lives of the simulation, or one with its trace: a long run can be stopped and goes on later.
    Sim(sim::Args),
    /// Everything that a change must pass; `.ci/run` calls it.
    Ci,
    /// Build, start the demo provider and site, and open Chromium with the extension.
    Run {
        /// Arguments of the demo.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Measure start, injection, snapshots, streaming and sizes.
    Bench {
        /// Arguments of the benchmark.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(cli: Cli) -> Result<()> {
    proc::end_children_on_signals()?;
    let consent = if cli.yes { Consent::Given } else { Consent::OnlyAsRoot };
    let setup = Setup { paths: Paths::find()?, consent };
    match cli.command {
        Task::Setup { parts } => {
            let parts = if parts.is_empty() { Part::ALL.to_vec() } else { parts };
            parts.into_iter().try_for_each(|part| part.provide(&setup))
        }
        Task::Doctor => doctor::doctor(&setup),
        Task::Build { release, target } => {
            let profile = if release { Profile::Release } else { Profile::Dev };
            build::build(&setup, target, profile).map(drop)
        }
        Task::Check { target } => check::check(&setup, target),
        Task::Package { target } => package::package(&setup, target).map(drop),
        Task::Protocol { action } => protocol::protocol(&setup, action),
        Task::Lint => lint::lint(&setup),
        Task::Test { only, dev, filter } => {
            let profile = if dev { Profile::Dev } else { Profile::Release };
            test::test(&setup, only, profile, filter.as_deref())
        }
        Task::Sim(args) => sim::sim(&setup, &args),
        Task::Ci => ci::ci(&setup),
        Task::Run { args } => run::run(&setup, &args),
        Task::Bench { args } => bench::bench(&setup, &args),
    }
}
