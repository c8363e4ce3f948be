//! What a person reads about a life that failed.

use crate::plan::Plan;
use crate::run::Outcome;

/// The command that runs a seed again.
pub fn command(seed: u64) -> String {
    format!("cargo xtask sim --from {seed} --seeds 1")
}

/// A seed and its first problem in a line.
pub fn line(seed: u64, problem: &str) -> String {
    let problem: String = problem.chars().take(200).collect();
    format!("{}   {problem}", command(seed))
}

/// What happened in a life and what did not hold.
pub fn story(outcome: &Outcome) -> String {
    format!("{}\n{}", outcome.trace.join("\n"), outcome.problems.join("\n"))
}

/// A plan as the text of a regression.
pub fn text_of(plan: &Plan) -> String {
    let mut text = serde_json::to_string_pretty(plan).expect("a plan has a JSON form");
    text.push('\n');
    text
}
