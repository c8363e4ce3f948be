//! What a turn and a thread may use before the user is asked: tokens of a turn, cost of a thread.
//!
//! Both are looked at before each model call and nowhere else, so what is under way is never cut for money. A run that is
//! over a limit is stored as paused; letting it go on gives the same allowance once more, counted from there.

use super::machine::step;
use crate::mutants::mutant;
use crate::ports::World;
use crate::store::records::{RunState, StoredRun, StoredThread};
use crate::thread::{Actor, Broken, Change};
use panelot_protocol::item::NoticeKind;
use panelot_protocol::settings::Budgets;
use panelot_protocol::snapshot::RecoveryReason;
use panelot_protocol::turn::StopReason;

/// Limits that a run can reach.
const LIMITS_COUNT: usize = 2;

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spent {
    /// The turn's tokens.
    Tokens { used: u64, of: u64 },
    /// The thread's cost in US dollars.
    Cost { used: f64, of: f64 },
}

impl Spent {
    fn text(self) -> String {
        match self {
            Self::Tokens { used, of } => {
                format!("This turn has used {used} tokens of the {of} that it may use before you are asked.")
            }
            Self::Cost { used, of } => {
                format!(
                    "This conversation has cost ${used:.4} of the ${of:.4} that it may cost before you are asked."
                )
            }
        }
    }
}

impl StoredRun {
    /// Tokens of all model calls of the run.
    fn tokens(&self) -> u64 {
        self.usage.input.saturating_add(self.usage.output)
    }
}

impl<W: World> Actor<W> {
    /// Stores a run as paused, when a limit of its turn or its thread is reached. Answers whether it did.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn pause_if_spent(&mut self, run: &StoredRun) -> Result<bool, Broken> {
        let budgets = self.budgets().await;
        let Some(spent) = spent(run, &self.state.thread, budgets) else { return Ok(false) };
        let mut change = self.change();
        change.builder.strict();
        self.put_steers(&mut change, run);
        let leaf_id = self.put_notice(&mut change, run, NoticeKind::BudgetPaused, &spent.text());
        let after = StoredRun {
            leaf_id,
            steers: Vec::new(),
            recovery: Some(RecoveryReason::BudgetPaused),
            ..step(run, RunState::PausedBudget {})?
        };
        let recovery = self.recovery_event(&after);
        change.put_run(Some(run), after);
        self.hold_queue(&mut change);
        self.say_end(&mut change, run, StopReason::BudgetPause);
        recovery.into_iter().for_each(|event| change.say(event));
        self.commit(change).await?;
        self.wait_for(None);
        Ok(true)
    }

    /// Gives a run that goes on a whole allowance of each limit that it has reached, from here.
    pub(crate) async fn allow_more(&self, change: &mut Change, run: &mut StoredRun) {
        let budgets = self.budgets().await;
        for _ in 0..LIMITS_COUNT {
            match spent(run, &change.next.thread, budgets) {
                None => break,
                Some(Spent::Tokens { .. }) if mutant!(BudgetForgotten) => run.tokens_allowed_from = u64::MAX,
                Some(Spent::Tokens { .. }) => run.tokens_allowed_from = run.tokens(),
                Some(Spent::Cost { .. }) => {
                    let thread = change.thread();
                    thread.cost_allowed_from_usd = thread.stats.cost_usd.unwrap_or_default();
                }
            }
        }
    }

    /// The limits of now. Those that cannot be read are those that nobody set: the run itself will say that the settings
    /// are unreadable.
    async fn budgets(&self) -> Budgets {
        self.core.settings.current().await.map(|settings| settings.budgets).unwrap_or_default()
    }
}

/// The first limit that is reached. A cost that is not known reaches none.
fn spent(run: &StoredRun, thread: &StoredThread, budgets: Budgets) -> Option<Spent> {
    let own = run.overrides.as_ref().and_then(|overrides| overrides.token_budget);
    let used = run.tokens().saturating_sub(run.tokens_allowed_from);
    if let Some(of) = own.or(budgets.turn_tokens).filter(|of| used >= *of) {
        return Some(Spent::Tokens { used, of });
    }
    // A ceiling of zero is the thread's way to say that it has none, whatever the settings say.
    let ceiling = thread.cost_ceiling_usd.or(budgets.thread_cost_usd).filter(|of| *of > 0.0);
    let used = thread.stats.cost_usd? - thread.cost_allowed_from_usd;
    ceiling.filter(|of| used >= *of).map(|of| Spent::Cost { used, of })
}
