//! Answers of the user to questions and waits.

use super::commands::{After, Rejection, Verdict};
use super::{Actor, Broken, Change};
use crate::mutants::mutant;
use crate::permission::{Grant, Origin, rules::rule_from_acceptance};
use crate::ports::{Key, World};
use crate::store::records::{
    AskedTarget, NodePayload, RunState, StoredApproval, StoredInteraction, StoredRun,
};
use crate::store::repo;
use crate::store::tree::NewNode;
use crate::tools::waits::check_response;
use crate::turn::step;
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ApprovalId, InteractionId, NodeId, RuleId, SubmissionId};
use panelot_protocol::interaction::{InteractionEnd, InteractionResponse};
use panelot_protocol::settings::SettingsPatch;

/// What the model is told when nobody answered.
const TIMED_OUT_NOTE: &str = "nobody answered in time";

impl<W: World> Actor<W> {
    /// `approval.response`.
    pub(super) async fn answer_approval(
        &mut self,
        submission_id: &SubmissionId,
        id: &ApprovalId,
        decision: &ApprovalDecision,
    ) -> Result<Result<Verdict, Rejection>, Broken> {
        let store = self.core.world.store();
        let Some(approval) = repo::get::<_, StoredApproval>(store, Key::text(id.as_str())).await? else {
            return Ok(Err(Rejection::invalid("approvalId: no such question")));
        };
        if let Some(earlier) = &approval.decision {
            return Ok(if earlier == decision {
                Ok(self.acked(self.change(), submission_id, Some(approval.run_id.clone())))
            } else {
                Err(Rejection::invalid("approvalId: this question was decided before, with another answer"))
            });
        }
        let waits = self.current().filter(
            |run| matches!(&run.state, RunState::WaitingApproval { approval_id, .. } if approval_id == id),
        );
        let Some(run) = waits.cloned() else {
            return Ok(Err(Rejection {
                code: ErrorCode::InvalidCommand,
                message: "approvalId: nobody waits for this answer any more".to_owned(),
            }));
        };
        let mut change = self.change();
        change.builder.strict();
        let accept = ApprovalDecision::Accept {};
        let declined = matches!(decision, ApprovalDecision::Decline { .. });
        let decision = if declined && mutant!(DeclineIgnored) { &accept } else { decision };
        let after = match decision {
            ApprovalDecision::Cancel {} => {
                self.put_decision(&mut change, &approval, decision, false);
                self.put_interrupt(&mut change, &run)?;
                After::DropEffect
            }
            ApprovalDecision::Accept {}
            | ApprovalDecision::AcceptForSession {}
            | ApprovalDecision::AcceptForSite {}
            | ApprovalDecision::Decline { .. } => {
                self.put_decided(&mut change, &run, &approval, decision, false)?;
                After::GoOn
            }
        };
        // What the answer means beyond this call is kept before the call runs. Losing it asks once more.
        self.remember_answer(&approval, decision).await;
        let ack = self.ack(&change, submission_id, Some(run.id));
        Ok(Ok(Verdict::Change(Box::new(change), Box::new(ack), after)))
    }

    /// Declines what nobody answered in time.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn expire_questions(&mut self) -> Result<(), Broken> {
        let now_ms = self.core.now_ms();
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let RunState::WaitingApproval { approval_id, .. } = &run.state else { return Ok(()) };
        let overdue = self
            .state
            .approvals
            .iter()
            .find(|approval| &approval.id == approval_id && approval.request.deadline_ms <= now_ms);
        let Some(approval) = overdue.cloned() else { return Ok(()) };
        let mut change = self.change();
        let decision = ApprovalDecision::Decline { note: Some(TIMED_OUT_NOTE.to_owned()) };
        self.put_decided(&mut change, &run, &approval, &decision, true)?;
        self.commit(change).await
    }

    /// A decision with the run's next step: an accepted call is looked at once more and runs, a declined one has
    /// its result.
    fn put_decided(
        &self,
        change: &mut Change,
        run: &StoredRun,
        approval: &StoredApproval,
        decision: &ApprovalDecision,
        timed_out: bool,
    ) -> Result<(), Broken> {
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        next.leaf_id = self.put_decision(change, approval, decision, timed_out);
        if let ApprovalDecision::Decline { note } = decision
            && let Some(call) = self.call_node(&approval.call_node_id)
        {
            let text = crate::permission::Refusal::Declined(note.clone()).to_string();
            let summary = if timed_out { "declined: nobody answered in time" } else { "declined" };
            next.leaf_id = self.put_result(change, run, call, false, &text, summary, None);
            next.open_calls.retain(|open| open != &approval.call_node_id);
        }
        change.put_run(Some(run), next);
        Ok(())
    }

    /// A decision as it is stored: the question, and a node for the record.
    fn put_decision(
        &self,
        change: &mut Change,
        approval: &StoredApproval,
        decision: &ApprovalDecision,
        timed_out: bool,
    ) -> Option<NodeId> {
        let decided = StoredApproval { decision: Some(decision.clone()), revision: 1, ..approval.clone() };
        change.put_approval(Some(approval), decided);
        let payload = NodePayload::ApprovalDecision {
            approval_id: approval.id.clone(),
            call_node_id: approval.call_node_id.clone(),
            decision: decision.clone(),
            timed_out,
            asked: Some(AskedTarget {
                label: approval.request.label.clone(),
                tab_id: approval.request.tab_id,
                origin: approval.request.origin.clone(),
            }),
        };
        let new = vec![NewNode { id: NodeId::new(self.core.id()), payload }];
        change.add(&approval.run_id, self.core.now_ms(), new).last().map(|node| node.id.clone())
    }

    /// Takes an open question back, since its turn ends.
    pub(crate) fn put_withdrawn(&self, change: &mut Change, approval: &StoredApproval) {
        self.put_decision(change, approval, &ApprovalDecision::Cancel {}, false);
    }

    async fn remember_answer(&self, approval: &StoredApproval, decision: &ApprovalDecision) {
        let origin = approval.request.origin.as_deref().and_then(|text| Origin::parse(text).ok());
        let tool = approval.request.tool_name.as_str();
        match decision {
            ApprovalDecision::AcceptForSession {} => {
                let grant = Grant { tool: tool.to_owned(), origin };
                let _ = self.core.grants.add(&self.id, grant).await;
            }
            ApprovalDecision::AcceptForSite {} => {
                let rule_id = RuleId::new(self.core.id());
                if let Some(rule) = rule_from_acceptance(rule_id, tool, origin.as_ref())
                    && let Ok(settings) = self.core.settings.change(SettingsPatch::PutRule { rule }).await
                {
                    let settings = Box::new(settings);
                    self.core
                        .publisher
                        .broadcast(AgentEvent::SettingsUpdated { submission_id: None, settings });
                }
            }
            ApprovalDecision::Accept {} | ApprovalDecision::Decline { .. } | ApprovalDecision::Cancel {} => {}
        }
    }

    /// `interaction.response`.
    pub(super) async fn answer_interaction(
        &self,
        submission_id: &SubmissionId,
        id: &InteractionId,
        response: &InteractionResponse,
    ) -> Result<Result<Verdict, Rejection>, Broken> {
        let store = self.core.world.store();
        let Some(wait) = repo::get::<_, StoredInteraction>(store, Key::text(id.as_str())).await? else {
            return Ok(Err(Rejection::invalid("interactionId: no such wait")));
        };
        let end = InteractionEnd::Answered { response: response.clone() };
        if let Some(earlier) = &wait.end {
            if mutant!(WaitAnsweredTwice) && earlier != &end {
                let mut change = self.change();
                change.put_interaction(Some(&wait), StoredInteraction { end: Some(end), ..wait.clone() });
                return Ok(Ok(self.acked(change, submission_id, Some(wait.run_id.clone()))));
            }
            return Ok(match earlier {
                InteractionEnd::Answered { .. } if earlier == &end => {
                    Ok(self.acked(self.change(), submission_id, Some(wait.run_id.clone())))
                }
                InteractionEnd::Answered { .. } => Err(Rejection::invalid(
                    "interactionId: this wait was answered before, with another answer",
                )),
                InteractionEnd::Expired {}
                | InteractionEnd::Met {}
                | InteractionEnd::Lost { .. }
                | InteractionEnd::Due {}
                | InteractionEnd::Withdrawn {} => {
                    Err(Rejection::invalid("interactionId: this wait ended before it was answered"))
                }
            });
        }
        let Some((run, _)) = self.open_wait().filter(|(_, open)| &open.id == id) else {
            return Ok(Err(Rejection::invalid("interactionId: nobody waits for this answer any more")));
        };
        if let Err(problem) = check_response(&wait.request, response) {
            return Ok(Err(Rejection::invalid(problem)));
        }
        let mut change = self.change();
        change.builder.strict();
        match response {
            InteractionResponse::Cancel {} => {
                self.put_interaction_end(&mut change, &wait, &end);
                self.put_interrupt(&mut change, run)?;
            }
            InteractionResponse::Submit { .. }
            | InteractionResponse::Done {}
            | InteractionResponse::Decline { .. } => {
                self.put_wait_end(&mut change, run, &wait, &end, None)?;
            }
        }
        let ack = self.ack(&change, submission_id, Some(run.id.clone()));
        Ok(Ok(Verdict::Change(Box::new(change), Box::new(ack), After::DropEffect)))
    }
}
