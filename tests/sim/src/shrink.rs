//! Makes the plan of a failed life shorter while it still fails.

use crate::plan::{Plan, Step};
use crate::run::{Outcome, run_plan};

/// Runs that shortening one plan may take.
const RUNS_COUNT_MAX: usize = 600;

/// A plan that fails, with as little in it as was found, and how it ends.
pub fn shrink(plan: Plan) -> (Plan, Outcome) {
    let outcome = run_plan(&plan);
    let mut search = Search { plan, outcome, runs: 0 };
    if search.outcome.problems.is_empty() {
        return (search.plan, search.outcome);
    }
    loop {
        let runs = search.plan.clone();
        search.drop_steps();
        search.drop_parts();
        search.drop_spoils();
        if search.plan == runs || search.runs >= RUNS_COUNT_MAX {
            return (search.plan, search.outcome);
        }
    }
}

struct Search {
    plan: Plan,
    outcome: Outcome,
    runs: usize,
}

impl Search {
    /// Takes a shorter plan if it fails, too.
    fn attempt(&mut self, plan: Plan) -> bool {
        if plan == self.plan || self.runs >= RUNS_COUNT_MAX {
            return false;
        }
        self.runs += 1;
        let outcome = run_plan(&plan);
        let fails = !outcome.problems.is_empty();
        if fails {
            self.plan = plan;
            self.outcome = outcome;
        }
        fails
    }

    /// Leaves out stretches of steps, long ones first.
    fn drop_steps(&mut self) {
        let mut size = self.plan.steps.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < self.plan.steps.len() {
                let mut shorter = self.plan.clone();
                shorter.steps.drain(at..(at + size).min(shorter.steps.len()));
                if !self.attempt(shorter) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Leaves out what steps have beside what is needed.
    fn drop_parts(&mut self) {
        let parts: [fn(&mut Step); 6] = [
            |step| step.fault = None,
            |step| step.act = None,
            |step| step.kill_again_after_polls = None,
            |step| step.kill_after_polls = None,
            |step| step.alarm = false,
            |step| step.wait_ms = 0,
        ];
        for at in 0..self.plan.steps.len() {
            for part in parts {
                let mut shorter = self.plan.clone();
                shorter.steps.get_mut(at).into_iter().for_each(part);
                self.attempt(shorter);
            }
        }
        let together = Plan { alone: false, ..self.plan.clone() };
        self.attempt(together);
        let without_waits = Plan { waits: false, ..self.plan.clone() };
        self.attempt(without_waits);
    }

    /// Lets the model answer without a fault where that is possible.
    fn drop_spoils(&mut self) {
        self.attempt(Plan { spoils: Vec::new(), ..self.plan.clone() });
        for at in (0..self.plan.spoils.len()).rev() {
            let mut shorter = self.plan.clone();
            match shorter.spoils.get_mut(at) {
                Some(spoil) => *spoil = None,
                None => continue,
            }
            while matches!(shorter.spoils.last(), Some(None)) {
                shorter.spoils.pop();
            }
            self.attempt(shorter);
        }
    }
}
