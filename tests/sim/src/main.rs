//! Long runs: `cargo xtask sim` builds this and passes its arguments on.

#![expect(clippy::expect_used, reason = "a test tool")]

use panelot_engine::mutants::{Mutant, set};
use panelot_sim::campaign::{self, Progress};
use panelot_sim::run::{hush_panics, run_plan};
use panelot_sim::{Outcome, Plan, report, shrink};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is asked for.
struct Asked {
    from: u64,
    count: u64,
    state: Option<PathBuf>,
    plan: Option<PathBuf>,
    mutant: Option<Mutant>,
}

fn asked(arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked { from: 0, count: 10_000, state: None, plan: None, mutant: None };
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--from" => asked.from = number()?,
            "--seeds" => asked.count = number()?,
            "--state" => asked.state = Some(value.into()),
            "--plan" => asked.plan = Some(value.into()),
            "--mutant" => {
                let named = Mutant::ALL.into_iter().find(|mutant| format!("{mutant:?}") == value);
                asked.mutant = Some(named.ok_or_else(|| format!("there is no mutant {value}"))?);
            }
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    hush_panics();
    let result = asked(std::env::args().skip(1)).and_then(|asked| match (&asked.plan, asked.count) {
        (None, _) if asked.mutant.is_some() => {
            set(asked.mutant);
            let mut seeds = asked.from..asked.from.saturating_add(asked.count);
            let fails = |seed: &u64| !run_plan(&Plan::of(*seed)).problems.is_empty();
            Ok(seeds.find(fails).is_none_or(|seed| one(&Plan::of(seed))))
        }
        (Some(file), _) => plan_of(file).map(|plan| one(&plan)),
        (None, 1) => Ok(one(&Plan::of(asked.from))),
        (None, _) => many(&asked),
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn plan_of(file: &Path) -> Result<Plan, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}

/// One life: its whole trace, and when it fails the shortest plan that does, too.
fn one(plan: &Plan) -> bool {
    let outcome = run_plan(plan);
    println!("{}", report::story(&outcome));
    if outcome.problems.is_empty() {
        println!("seed {}: {} kills, {} writes, all is well", outcome.seed, outcome.kills, outcome.writes);
        return true;
    }
    let (short, outcome): (Plan, Outcome) = shrink(plan.clone());
    println!(
        "\nthe shortest that fails, as a file of tests/sim/regressions:\n{}\n{}",
        report::text_of(&short),
        report::story(&outcome)
    );
    false
}

fn many(asked: &Asked) -> Result<bool, String> {
    let seeds = asked.from..asked.from.saturating_add(asked.count);
    let progress = match &asked.state {
        Some(file) => Progress::load(file, seeds).map_err(|error| error.to_string())?,
        None => Progress::new(seeds),
    };
    if progress.done_count() > 0 {
        println!("goes on after {} seeds", progress.done_count());
    }
    let mut told = progress.failed.len();
    for (seed, problem) in &progress.failed {
        println!("{}", report::line(*seed, problem));
    }
    let progress = campaign::run(progress, |progress, rate| {
        for (seed, problem) in progress.failed.iter().skip(told) {
            println!("{}", report::line(*seed, problem));
        }
        told = progress.failed.len();
        let (done, all) = (progress.done_count(), progress.until - progress.from);
        println!("{done} of {all} seeds, {rate:.0} per second, {told} failed");
        if let Some(file) = &asked.state {
            progress.store(file).expect("the state file can be written");
        }
    });
    let (kills, writes) = (progress.kills, progress.writes);
    println!("{kills} kills, {writes} writes, {} failed", progress.failed.len());
    Ok(progress.failed.is_empty())
}
