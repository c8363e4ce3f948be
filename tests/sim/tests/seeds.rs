//! Thousands of seeds, each a life of one profile with its faults; before them the lives that failed once.

use panelot_sim::campaign::{self, Progress};
use panelot_sim::{Plan, report, run_plan, run_seed, shrink};
use std::path::PathBuf;

/// Seeds of the test command.
const SEEDS_COUNT: u64 = 10_000;

#[test]
fn every_life_that_failed_once_holds_its_properties() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for file in files {
        let plan: Plan = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let outcome = run_plan(&plan);
        assert!(outcome.problems.is_empty(), "{}\n{}", file.display(), report::story(&outcome));
    }
}

#[test]
fn every_seed_holds_its_properties() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let count = number("PANELOT_SIM_SEEDS").unwrap_or(SEEDS_COUNT);
    let begun = std::time::Instant::now();
    let progress = campaign::run(Progress::new(0..count), |_, _| {});
    let lines: Vec<String> = progress.failed.iter().map(|(seed, why)| report::line(*seed, why)).collect();
    if let Some((seed, _)) = progress.failed.first() {
        let (plan, outcome) = shrink(Plan::of(*seed));
        panic!(
            "{} of {count} seeds failed:\n{}\nthe first, made short:\n{}\n{}",
            lines.len(),
            lines.join("\n"),
            report::text_of(&plan),
            report::story(&outcome)
        );
    }
    let (kills, writes) = (progress.kills, progress.writes);
    println!("{count} seeds, {kills} kills, {writes} writes in {:.1} s", begun.elapsed().as_secs_f32());
}

#[test]
fn the_same_seed_gives_the_same_life() {
    assert_eq!(run_seed(7), run_seed(7));
}

#[test]
fn a_plan_survives_being_written_down() {
    let plan = Plan::of(11);
    assert_eq!(serde_json::from_str::<Plan>(&report::text_of(&plan)).unwrap(), plan);
}
