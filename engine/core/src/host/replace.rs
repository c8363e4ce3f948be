//! What takes an engine's place: a new instance after a fault, a newer version when it is there.

use super::Engine;
use crate::ports::{Clock, KeyValueArea, Notifier, World};
use crate::thread::Handle;
use panelot_protocol::ENGINE_SCHEMA_HASH;
use panelot_protocol::limits;
use panelot_protocol::notice::EngineNotice;

/// How often it is looked whether a newer version may take the engine's place.
pub const UPDATE_LOOK_MS: u64 = 5_000;
/// For how long pages that come later are told of a restart.
pub const RESTART_TOLD_MS: u64 = 600_000;
/// What pages keep for the browser's session and an update would lose: Ops without an answer, and drafts.
const KEPT_BY_PAGES: [&str; 2] = ["outbox:", "draft:"];

/// Why a newer version has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// A run works, waits for a time or for the user, or it is not known yet what runs there are.
    Running,
    /// The engine has not answered an Op.
    Unanswered,
    /// A page keeps something that it would lose.
    Kept,
}

/// What decides about an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Whether no run needs the engine.
    pub quiet: bool,
    /// Whether every Op that came is answered.
    pub answered: bool,
    /// Whether no page keeps anything; `None` when that cannot be told.
    pub nothing_kept: Option<bool>,
}

impl Moment {
    /// What an update waits for; `None` when it loses nothing.
    #[must_use]
    pub fn hold(self) -> Option<Hold> {
        match self {
            Self { quiet: false, .. } => Some(Hold::Running),
            Self { answered: false, .. } => Some(Hold::Unanswered),
            Self { nothing_kept: Some(true), .. } => None,
            Self { nothing_kept: Some(false) | None, .. } => Some(Hold::Kept),
        }
    }
}

impl<W: World> Engine<W> {
    /// This engine takes the place of one that died. Pages are told, with a report of it.
    pub fn replaces(&self, death: &str) {
        let notice =
            EngineNotice::Restarted { at_ms: self.core.now_ms(), report: report(self.core.now_ms(), death) };
        self.core.publisher.notice(notice);
        let core = std::rc::Rc::clone(&self.core);
        let wait = core.world.clock().sleep(RESTART_TOLD_MS);
        self.spawn(async move {
            wait.await;
            core.publisher.forget_restart();
        });
    }

    /// A newer version of the extension waits. Pages are told, and it takes this one's place once nothing would be lost.
    pub fn update_available(&self) {
        let Some(engine) = self.me.upgrade() else { return };
        if self.update_waits.replace(true) {
            return;
        }
        self.core.publisher.notice(EngineNotice::UpdateReady {});
        self.spawn(async move {
            while engine.moment().await.hold().is_some() {
                engine.core.world.clock().sleep(UPDATE_LOOK_MS).await;
            }
            engine.core.world.notifier().update();
        });
    }

    async fn moment(&self) -> Moment {
        let session = self.core.world.session();
        let mut nothing_kept = Some(true);
        for prefix in KEPT_BY_PAGES {
            match session.names(prefix).await {
                Ok(names) if names.is_empty() => {}
                Ok(_) => nothing_kept = Some(false),
                Err(_) => nothing_kept = None,
            }
        }
        // Looked at last, so that nothing comes between the look and the decision.
        let answered = self.desk.is_quiet() && self.actors.borrow().values().all(Handle::is_quiet);
        Moment { quiet: self.core.presence.is_quiet(), answered, nothing_kept }
    }
}

/// What a developer needs of a death: which build, when, and the death's own words, cut to what a notice may carry.
fn report(at_ms: u64, death: &str) -> String {
    let head = format!(
        "Panelot {} (protocol {})\nThe engine was restarted at {at_ms} ms since 1970.\n",
        env!("CARGO_PKG_VERSION"),
        ENGINE_SCHEMA_HASH.get(..12).unwrap_or(ENGINE_SCHEMA_HASH),
    );
    let max = usize::try_from(limits::REPORT_CHARS_MAX).unwrap_or(usize::MAX);
    let room = max.saturating_sub(head.chars().count());
    head.chars().chain(death.chars().take(room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_waits_for_runs_then_answers_then_what_pages_keep() {
        let moment = |quiet, answered, nothing_kept| Moment { quiet, answered, nothing_kept }.hold();
        assert_eq!(
            [
                moment(false, true, Some(true)),
                moment(true, false, Some(true)),
                moment(true, true, Some(false)),
                moment(true, true, None),
                moment(true, true, Some(true)),
            ],
            [Some(Hold::Running), Some(Hold::Unanswered), Some(Hold::Kept), Some(Hold::Kept), None]
        );
    }

    #[test]
    fn a_report_is_cut_to_what_a_notice_carries() {
        let long = report(5, &"é".repeat(20_000));
        assert_eq!(long.chars().count() as u64, limits::REPORT_CHARS_MAX);
        assert!(report(5, "unreachable").ends_with("restarted at 5 ms since 1970.\nunreachable"));
    }
}
