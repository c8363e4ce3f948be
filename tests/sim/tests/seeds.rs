//! Thousands of seeds, each a life of one profile with its faults.

#![expect(clippy::expect_used, reason = "a helper of tests fails at once")]

use panelot_sim::{Outcome, run_seed};

/// Seeds of the test command.
const SEEDS_COUNT: u64 = 2_000;

fn report(outcome: &Outcome) -> String {
    format!(
        "seed {} failed; run it again with PANELOT_SIM_SEED={} cargo test -p panelot-sim --test seeds\n{}\n{}",
        outcome.seed,
        outcome.seed,
        outcome.trace.join("\n"),
        outcome.problems.join("\n")
    )
}

/// A seed and its first problem in a line.
fn line(outcome: &Outcome) -> String {
    let problem: String = outcome.problems.iter().flat_map(|problem| problem.chars()).take(200).collect();
    format!("{:>6} {problem}", outcome.seed)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs seeds on every core; each is a world of its own. The outcomes come in the order of the seeds.
fn run_all(seeds: std::ops::Range<u64>) -> Vec<Outcome> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let run = &|first: usize| seeds.clone().skip(first).step_by(cores).map(run_seed).collect::<Vec<_>>();
    let mut outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|first| scope.spawn(move || run(first))).collect();
        shares.into_iter().flat_map(|share| share.join().expect("a seed does not panic")).collect()
    });
    outcomes.sort_by_key(|outcome| outcome.seed);
    outcomes
}

#[test]
fn every_seed_holds_its_properties() {
    let seeds = match number("PANELOT_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PANELOT_SIM_SEEDS").unwrap_or(SEEDS_COUNT),
    };
    let begun = std::time::Instant::now();
    let outcomes = run_all(seeds);
    let count = outcomes.len();
    let kills: u32 = outcomes.iter().map(|outcome| outcome.kills).sum();
    let writes: usize = outcomes.iter().map(|outcome| outcome.writes).sum();
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.problems.is_empty()).collect();
    if let Some(shortest) = failed.iter().min_by_key(|outcome| outcome.trace.len()) {
        let lines: Vec<String> = failed.iter().map(|outcome| line(outcome)).collect();
        panic!(
            "{} of {count} seeds failed:\n{}\nthe shortest:\n{}",
            failed.len(),
            lines.join("\n"),
            report(shortest)
        );
    }
    println!("{count} seeds, {kills} kills, {writes} writes in {:.1} s", begun.elapsed().as_secs_f32());
}

#[test]
fn the_same_seed_gives_the_same_life() {
    assert_eq!(run_seed(7), run_seed(7));
}
