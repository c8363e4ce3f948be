//! Thousands of seeds, each a life of one profile with its faults.

use panelot_sim::{Outcome, run_seed};

/// Seeds of the test command.
const SEEDS_COUNT: u64 = 400;

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

#[test]
fn every_seed_holds_its_properties() {
    let seeds = match number("PANELOT_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PANELOT_SIM_SEEDS").unwrap_or(SEEDS_COUNT),
    };
    let begun = std::time::Instant::now();
    let (mut kills, mut writes, mut count) = (0, 0, 0);
    let mut failed = Vec::new();
    for seed in seeds {
        let outcome = run_seed(seed);
        kills += outcome.kills;
        writes += outcome.writes;
        count += 1;
        if !outcome.problems.is_empty() {
            failed.push(outcome);
        }
    }
    if let Some(shortest) = failed.iter().min_by_key(|outcome| outcome.trace.len()) {
        let lines: Vec<String> = failed.iter().map(line).collect();
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
