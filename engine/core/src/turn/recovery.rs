//! After a worker's death: each stored state has one way to go on. The actor does it before it takes anything else,
//! with the same commits as everything: two workers cannot both win.

use super::drive::stopped;
use super::machine::step;
use crate::mutants::mutant;
use crate::ports::{Key, Table, World};
use crate::store::records::{NodePayload, RecoveryClass, RunState, StoredDraft, StoredNode, StoredRun};
use crate::store::repo;
use crate::store::tree::NewNode;
use crate::thread::{Actor, Broken, turn_start};
use panelot_protocol::ids::{ItemId, NodeId};
use panelot_protocol::interaction::InteractionRequestPayload;
use panelot_protocol::item::NoticeKind;
use panelot_protocol::limits;
use panelot_protocol::snapshot::{PendingTool, RecoveryReason};
use panelot_protocol::turn::{StopReason, TokenUsage};

/// What a user reads at the end of an answer that a worker took with it.
const RESTARTED_TEXT: &str = "The browser ended the extension's worker in the middle of this answer.";
/// What a user reads when a write may have happened.
const UNCERTAIN_TEXT: &str =
    "The browser ended the extension's worker during this action. It may or may not have happened.";

impl<W: World> Actor<W> {
    /// Goes on with what was begun in another life of the worker, or asks the user.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn recover(&mut self) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        match &run.state {
            RunState::StreamingModel { node_id } => self.recover_answer(&run, node_id).await,
            RunState::ExecutingTool { call_node_id, recovery } => match recovery {
                RecoveryClass::RetrySafe => self.run_again(&run).await,
                RecoveryClass::InspectFirst | RecoveryClass::NeverRetry if mutant!(WriteRetried) => {
                    self.run_again(&run).await
                }
                RecoveryClass::InspectFirst | RecoveryClass::NeverRetry => {
                    self.ask_about_write(&run, call_node_id).await
                }
            },
            RunState::Preparing { .. } => self.run_again(&run).await,
            // The same question is shown again, a decision that waited is kept, and nothing else runs.
            RunState::WaitingApproval { .. } => {
                if mutant!(DeadlineRenewed) {
                    let now_ms = self.core.now_ms();
                    for approval in &mut self.state.approvals {
                        approval.request.deadline_ms = now_ms.saturating_add(limits::APPROVAL_TIMEOUT_MS);
                    }
                }
                self.expire_questions().await
            }
            RunState::WaitingInteraction { .. } => {
                if mutant!(WaitRenewed) {
                    let now_ms = self.core.now_ms();
                    self.state.interactions.iter_mut().for_each(|wait| renew(&mut wait.request, now_ms));
                }
                self.end_overdue_wait().await?;
                self.look_again().await
            }
            RunState::Queued {}
            | RunState::PausedBudget {}
            | RunState::PausedUncertain { .. }
            | RunState::Interrupted { .. }
            | RunState::Failed { .. }
            | RunState::Completed { .. } => Ok(()),
        }
    }

    /// Claims a run that goes on by itself: raising its revision shuts every other worker out.
    async fn run_again(&mut self, run: &StoredRun) -> Result<(), Broken> {
        let state = match &run.state {
            RunState::Preparing { .. } => run.state.clone(),
            RunState::Queued {}
            | RunState::StreamingModel { .. }
            | RunState::WaitingApproval { .. }
            | RunState::WaitingInteraction { .. }
            | RunState::ExecutingTool { .. }
            | RunState::PausedBudget {}
            | RunState::PausedUncertain { .. }
            | RunState::Interrupted { .. }
            | RunState::Failed { .. }
            | RunState::Completed { .. } => RunState::Preparing { not_before_ms: None, attempts: 0 },
        };
        let mut change = self.change();
        change.put_run(Some(run), step(run, state)?);
        change.say(turn_start(run));
        self.commit(change).await
    }

    /// An answer that was cut: its draft becomes a partial node, and the user may let it go on.
    async fn recover_answer(&mut self, run: &StoredRun, node_id: &NodeId) -> Result<(), Broken> {
        let draft = repo::draft(self.core.world.store(), &run.id).await?;
        let now_ms = self.core.now_ms();
        let mut change = self.change();
        if let Some(draft) = draft.filter(|draft| &draft.node_id == node_id && has_text(draft)) {
            let payload = NodePayload::AssistantMessage {
                text: draft.text,
                reasoning: Some(draft.reasoning).filter(|text| !text.is_empty()),
                provider_state: None,
                partial: !mutant!(PartialAsWhole),
                call_count: 0,
                model: super::finish::model_of(run),
                usage: TokenUsage::default(),
                cost_usd: None,
            };
            change.add(&run.id, now_ms, vec![NewNode { id: node_id.clone(), payload }]);
        }
        change.builder.delete(Table::Drafts, Key::text(run.id.as_str()));
        self.put_steers(&mut change, run);
        let leaf_id = self.put_notice(&mut change, run, NoticeKind::WorkerRestarted, RESTARTED_TEXT);
        let after = StoredRun { leaf_id, steers: Vec::new(), ..stopped(run, RecoveryReason::Interrupted)? };
        let recovery = self.recovery_event(&after);
        change.put_run(Some(run), after);
        self.say_end(&mut change, run, StopReason::Interrupted);
        recovery.into_iter().for_each(|event| change.say(event));
        self.commit(change).await
    }

    /// A write that may have happened: only the user can tell.
    async fn ask_about_write(&mut self, run: &StoredRun, call: &NodeId) -> Result<(), Broken> {
        let mut next = step(run, RunState::PausedUncertain { call_node_id: call.clone() })?;
        next.recovery = Some(RecoveryReason::UncertainWrite);
        next.pending_tool = self.call_node(call).and_then(pending_tool);
        let mut change = self.change();
        next.leaf_id = self.put_notice(&mut change, run, NoticeKind::UncertainWrite, UNCERTAIN_TEXT);
        let recovery = self.recovery_event(&next);
        change.put_run(Some(run), next);
        recovery.into_iter().for_each(|event| change.say(event));
        self.commit(change).await
    }
}

/// Counts a wait's time anew, as one of the [`crate::mutants`] does.
fn renew(request: &mut InteractionRequestPayload, now_ms: u64) {
    const RENEWED_MS: u64 = 3_600_000;
    match request {
        InteractionRequestPayload::AskUser { deadline_ms, .. }
        | InteractionRequestPayload::UserAction { deadline_ms, .. } => {
            *deadline_ms = Some(now_ms.saturating_add(RENEWED_MS));
        }
        InteractionRequestPayload::WatchPage { deadline_ms, .. } => {
            *deadline_ms = now_ms.saturating_add(RENEWED_MS);
        }
        InteractionRequestPayload::ScheduleResume { at_ms, .. } => {
            *at_ms = now_ms.saturating_add(RENEWED_MS);
        }
        InteractionRequestPayload::Takeover { .. } | InteractionRequestPayload::Elicitation { .. } => {}
    }
}

fn has_text(draft: &StoredDraft) -> bool {
    !(draft.text.is_empty() && draft.reasoning.is_empty())
}

/// A call that may have happened, for people.
fn pending_tool(node: &StoredNode) -> Option<PendingTool> {
    let NodePayload::ToolCall { tool_name, label, .. } = &node.payload else { return None };
    Some(PendingTool { item_id: ItemId::from(&node.id), tool_name: tool_name.clone(), label: label.clone() })
}
