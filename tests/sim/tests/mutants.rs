//! Deliberately broken engines: each must be found. A fault that no seed finds is a gap in the workload or in the
//! properties.

use panelot_engine::mutants::{Mutant, set};
use panelot_sim::Plan;
use panelot_sim::run::{hush_panics, run_plan};
use std::sync::Mutex;

/// Seeds after which a fault counts as not found.
const SEEDS_COUNT_MAX: u64 = 6_000;

/// The first seed that shows a fault, and what it shows.
fn found_by(mutant: Mutant) -> Option<(u64, String)> {
    set(Some(mutant));
    let found = (0..SEEDS_COUNT_MAX).find_map(|seed| {
        let problem = run_plan(&Plan::of(seed)).problems.into_iter().next();
        problem.map(|problem| (seed + 1, problem))
    });
    set(None);
    found
}

#[test]
fn every_broken_engine_is_found() {
    hush_panics();
    let queue = Mutex::new(Mutant::ALL.into_iter());
    let missed = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let Some(mutant) = queue.lock().unwrap().next() else { return };
                    match found_by(mutant) {
                        Some((seeds, problem)) => {
                            let problem: String = problem.chars().take(110).collect();
                            println!("{:<20} {seeds:>5} seeds: {problem}", format!("{mutant:?}"));
                        }
                        None => missed.lock().unwrap().push(mutant),
                    }
                }
            });
        }
    });
    assert_eq!(missed.into_inner().unwrap(), [], "not found in {SEEDS_COUNT_MAX} seeds");
}
