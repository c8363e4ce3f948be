//! Ops about turns: begin, queue, steer, stop, go on.

use super::commands::{After, Rejection, Verdict};
use super::legality::{OpKind, Ruling};
use super::{Actor, Broken};
use crate::mutants::mutant;
use crate::ports::World;
use crate::store::attachments::{StoredAttachment, attachment};
use crate::store::records::{NodePayload, RunState, StoredNode, StoredRun};
use crate::store::tree::{NewNode, Position};
use crate::turn::{RunPhase, Start, new_run, step};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, RunId, SubmissionId, TurnId};
use panelot_protocol::item::{ActionOutcome, NoticeKind};
use panelot_protocol::limits;
use panelot_protocol::op::UncertainResolution;
use panelot_protocol::snapshot::RecoveryReason;
use panelot_protocol::turn::{PermissionPolicy, StopReason, TurnOverrides, UserInput};

/// What the model is told when it goes on after a cut.
const CONTINUE_NOTICE: &str =
    "Your last answer was cut off. Go on from where it stopped; do not repeat what is there.";

type Decided = Result<Verdict, Rejection>;

impl<W: World> Actor<W> {
    /// `turn.submit` and `turn.enqueue`.
    pub(super) async fn submit(
        &self,
        submission_id: &SubmissionId,
        input: &UserInput,
        overrides: Option<&TurnOverrides>,
        op: OpKind,
    ) -> Result<Decided, Broken> {
        let ruling = match (check_input(input), self.ruled(op)) {
            (Err(rejection), _) | (_, Err(rejection)) => return Ok(Err(rejection)),
            (Ok(()), Ok(ruling)) => ruling,
        };
        let attached = match self.attached(input).await? {
            Ok(attached) => attached,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let run = self.fresh_run(input, overrides).await?;
        let run_id = run.id.clone();
        let mut change = self.change();
        change.builder.strict();
        change.refer(&attached, &run_id);
        if ruling == Ruling::Start {
            if change.next.thread.queue_held {
                change.thread().queue_held = false;
                change.say_queue();
            }
            change.begin(&run, false, &Start::AtLeaf, self.core.now_ms(), || self.node_id())?;
        } else {
            let waiting = change.next.runs.iter().filter(|run| run.state.is_queued()).count();
            if u64::try_from(waiting).is_ok_and(|count| count >= limits::QUEUED_RUNS_COUNT_MAX) {
                return Ok(Err(Rejection {
                    code: ErrorCode::QueueFull,
                    message: format!("{waiting} messages wait in this thread already"),
                }));
            }
            change.put_run(None, run);
            change.say_queue();
        }
        Ok(Ok(self.acked(change, submission_id, Some(run_id))))
    }

    async fn fresh_run(
        &self,
        input: &UserInput,
        overrides: Option<&TurnOverrides>,
    ) -> Result<StoredRun, Broken> {
        let policy = self.policy(overrides).await;
        let now_ms = self.core.now_ms();
        // Runs are ordered by their time; two of one millisecond keep the order in which they came.
        let after_ms = self.state.runs.last().map_or(0, |last| last.created_at_ms.saturating_add(1));
        Ok(new_run(
            RunId::new(self.core.id()),
            self.id.clone(),
            now_ms.max(after_ms),
            input.clone(),
            overrides.cloned(),
            policy,
        ))
    }

    /// The policy of a message: what the composer showed, else the preset's, else the user's. Without readable
    /// settings the default holds, which asks before every write.
    async fn policy(&self, overrides: Option<&TurnOverrides>) -> PermissionPolicy {
        if let Some(policy) = overrides.and_then(|overrides| overrides.permission_policy) {
            return policy;
        }
        let Ok(settings) = self.core.settings.current().await else { return PermissionPolicy::default() };
        let preset = self.state.thread.preset.as_ref().and_then(|id| settings.preset(id));
        preset.and_then(|preset| preset.default_permission_policy).unwrap_or(settings.permission_policy)
    }

    /// `turn.fork`.
    pub(super) async fn fork_turn(
        &self,
        submission_id: &SubmissionId,
        sibling: &NodeId,
        input: &UserInput,
        overrides: Option<&TurnOverrides>,
    ) -> Result<Decided, Broken> {
        if let Err(rejection) = check_input(input).and_then(|()| self.ruled(OpKind::ForkTurn).map(|_| ())) {
            return Ok(Err(rejection));
        }
        let Some(node) = self.node(sibling).await? else {
            return Ok(Err(Rejection::invalid("siblingOfNodeId: no such node in this thread")));
        };
        let parent = self.parent_of(&node).await?;
        let start = match &node.payload {
            NodePayload::UserMessage { .. } => {
                // A message stands below the context of its turn: its sibling is that context's.
                let before = match &parent {
                    Some(parent) if matches!(parent.payload, NodePayload::TurnContext { .. }) => {
                        self.parent_of(parent).await?
                    }
                    Some(_) | None => parent,
                };
                Start::After(before.as_ref().map(Position::from))
            }
            NodePayload::AssistantMessage { .. } => match &parent {
                Some(parent) => Start::AnswerAgain(Position::from(parent)),
                None => {
                    return Ok(Err(Rejection::invalid("siblingOfNodeId: this answer answers nothing")));
                }
            },
            NodePayload::ToolCall { .. }
            | NodePayload::ToolResult { .. }
            | NodePayload::ApprovalDecision { .. }
            | NodePayload::InteractionResponse { .. }
            | NodePayload::TurnContext { .. }
            | NodePayload::SystemNotice { .. } => {
                return Ok(Err(Rejection::invalid(
                    "siblingOfNodeId: only a message of the user or an answer can be forked",
                )));
            }
        };
        let attached = match self.attached(input).await? {
            Ok(attached) => attached,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let run = self.fresh_run(input, overrides).await?;
        let mut change = self.change();
        change.refer(&attached, &run.id);
        change.begin(&run, false, &start, self.core.now_ms(), || self.node_id())?;
        Ok(Ok(self.acked(change, submission_id, Some(run.id))))
    }

    async fn parent_of(&self, node: &StoredNode) -> Result<Option<StoredNode>, Broken> {
        match &node.parent_id {
            Some(parent) => self.node(parent).await,
            None => Ok(None),
        }
    }

    /// `turn.steer`.
    pub(super) async fn steer(
        &self,
        submission_id: &SubmissionId,
        expected: &TurnId,
        input: &UserInput,
    ) -> Result<Decided, Broken> {
        let attached = match check_input(input) {
            Ok(()) => self.attached(input).await?,
            Err(rejection) => Err(rejection),
        };
        Ok(attached.and_then(|attached| self.steered(submission_id, expected, input, &attached)))
    }

    fn steered(
        &self,
        submission_id: &SubmissionId,
        expected: &TurnId,
        input: &UserInput,
        attached: &[StoredAttachment],
    ) -> Decided {
        if self.is_title_turn(expected) {
            return Err(Rejection {
                code: ErrorCode::TurnNotSteerable,
                message: "expectedTurnId: this turn finds a title and takes no messages".to_owned(),
            });
        }
        self.ruled(OpKind::Steer)?;
        let Some(run) = self.current() else {
            return Err(Rejection::invalid("expectedTurnId: no turn runs"));
        };
        if &TurnId::from(&run.id) != expected && !mutant!(SteerToAnyTurn) {
            return Err(Rejection {
                code: ErrorCode::TurnMismatch,
                message: "expectedTurnId: another turn is running now".to_owned(),
            });
        }
        if run.steers.len() as u64 >= limits::STEERS_COUNT_MAX {
            return Err(Rejection {
                code: ErrorCode::QueueFull,
                message: format!("{} messages wait for this turn already", limits::STEERS_COUNT_MAX),
            });
        }
        let mut next = run.clone();
        next.revision = run.revision.saturating_add(1);
        next.steers.push(input.clone());
        let mut change = self.change();
        change.builder.strict();
        change.refer(attached, &run.id);
        change.put_run(Some(run), next);
        Ok(self.acked(change, submission_id, Some(run.id.clone())))
    }

    /// `turn.interrupt`.
    pub(super) fn interrupt(&self, submission_id: &SubmissionId) -> Result<Decided, Broken> {
        if let Err(rejection) = self.ruled(OpKind::Interrupt) {
            return Ok(Err(rejection));
        }
        let Some(run) = self.current() else { return Ok(Err(Rejection::invalid("no turn runs"))) };
        let mut change = self.change();
        change.builder.strict();
        self.put_interrupt(&mut change, run)?;
        let ack = self.ack(&change, submission_id, Some(run.id.clone()));
        Ok(Ok(Verdict::Change(Box::new(change), Box::new(ack), After::DropEffect)))
    }

    /// `queue.update`.
    pub(super) async fn update_queued(
        &self,
        submission_id: &SubmissionId,
        run_id: &RunId,
        input: &UserInput,
        overrides: Option<&TurnOverrides>,
    ) -> Result<Decided, Broken> {
        if let Err(rejection) = check_input(input) {
            return Ok(Err(rejection));
        }
        let attached = match self.attached(input).await? {
            Ok(attached) => attached,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let Some(run) = self.queued(run_id) else { return Ok(Err(not_queued())) };
        let mut next = step(run, RunState::Queued {})?;
        next.input = input.clone();
        if let Some(overrides) = overrides {
            next.policy = overrides.permission_policy.unwrap_or(next.policy);
            next.overrides = Some(overrides.clone());
        }
        let mut change = self.change();
        change.builder.strict();
        change.refer(&attached, run_id);
        change.put_run(Some(run), next);
        change.say_queue();
        Ok(Ok(self.acked(change, submission_id, Some(run_id.clone()))))
    }

    /// `queue.remove`.
    pub(super) fn remove_queued(&self, submission_id: &SubmissionId, run_id: &RunId) -> Decided {
        let run = self.queued(run_id).ok_or_else(not_queued)?;
        let mut change = self.change();
        change.delete_run(run);
        change.say_queue();
        Ok(self.acked(change, submission_id, Some(run_id.clone())))
    }

    /// `queue.release`.
    pub(super) fn release_queue(&self, submission_id: &SubmissionId) -> Verdict {
        let mut change = self.change();
        if change.next.thread.queue_held {
            change.thread().queue_held = false;
            change.say_queue();
        }
        self.acked(change, submission_id, None)
    }

    fn queued(&self, run_id: &RunId) -> Option<&StoredRun> {
        self.state.runs.iter().find(|run| &run.id == run_id && run.state.is_queued())
    }

    /// `run.resume`.
    pub(super) async fn resume(
        &self,
        submission_id: &SubmissionId,
        run_id: &RunId,
    ) -> Result<Decided, Broken> {
        if let Err(rejection) = self.ruled(OpKind::Resume) {
            return Ok(Err(rejection));
        }
        let Some(run) = self.current().filter(|run| &run.id == run_id) else {
            return Ok(Err(Rejection::invalid("runId: this run has nothing to go on with")));
        };
        if let Some(environment) = &run.environment
            && let Err(problem) = self.check_environment(environment).await
        {
            return Ok(Err(Rejection::invalid(format!("runId: {problem}"))));
        }
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        next.recovery = None;
        let mut change = self.change();
        change.builder.strict();
        let is_elsewhere = run.leaf_id.is_some() && change.next.thread.leaf_id != run.leaf_id;
        if is_elsewhere && !mutant!(ResumedElsewhere) {
            // Another branch was looked at meanwhile: the run goes on where it stopped.
            change.thread().leaf_id.clone_from(&run.leaf_id);
            change.path_replaced = true;
        }
        change.say(turn_start(run));
        if run.recovery == Some(RecoveryReason::Interrupted) && run.open_calls.is_empty() {
            let payload = NodePayload::SystemNotice {
                notice: NoticeKind::Continued,
                text: CONTINUE_NOTICE.to_owned(),
                for_model: true,
            };
            let new = vec![NewNode { id: self.node_id(), payload }];
            let added = change.add(&run.id, self.core.now_ms(), new);
            next.leaf_id = added.last().map(|node| node.id.clone());
        }
        match run.recovery {
            Some(RecoveryReason::BudgetPaused) => self.allow_more(&mut change, &mut next).await,
            Some(
                RecoveryReason::Interrupted
                | RecoveryReason::UncertainWrite
                | RecoveryReason::EnvironmentChanged,
            )
            | None => {}
        }
        change.put_run(Some(run), next);
        Ok(Ok(self.acked(change, submission_id, Some(run_id.clone()))))
    }

    /// `run.resolveUncertain`.
    pub(super) fn resolve(
        &self,
        submission_id: &SubmissionId,
        run_id: &RunId,
        resolution: UncertainResolution,
    ) -> Result<Decided, Broken> {
        if let Err(rejection) = self.ruled(OpKind::Resolve) {
            return Ok(Err(rejection));
        }
        let Some(run) = self.current().filter(|run| &run.id == run_id) else {
            return Ok(Err(Rejection::invalid("runId: nothing about this run is uncertain")));
        };
        let RunState::PausedUncertain { call_node_id } = &run.state else {
            return Ok(Err(Rejection::invalid("runId: nothing about this run is uncertain")));
        };
        let mut change = self.change();
        change.builder.strict();
        let mut next = match resolution {
            UncertainResolution::Retry => {
                // The user looked and wants it done: the answer stands for the question about this call.
                change.say(turn_start(run));
                let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
                next.consented_call = Some(call_node_id.clone());
                next
            }
            UncertainResolution::MarkDone => {
                change.say(turn_start(run));
                let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
                let text = "The user looked at the page and says that this was done.";
                let outcome = Some(ActionOutcome::Verified);
                if let Some(call) = self.call_node(call_node_id) {
                    next.leaf_id = self.put_result(&mut change, run, call, true, text, text, outcome);
                }
                next.open_calls.retain(|open| open != call_node_id);
                next.tool_failures = 0;
                next
            }
            UncertainResolution::Fail => {
                let mut next = step(run, RunState::Interrupted { resumable: false })?;
                for open in &run.open_calls {
                    self.put_interrupted_call(&mut change, run, open);
                }
                next.open_calls = Vec::new();
                self.put_steers(&mut change, run);
                next.steers = Vec::new();
                next.leaf_id = self.put_notice(
                    &mut change,
                    run,
                    NoticeKind::Interrupted,
                    "Stopped by the user: it is not known whether the last action happened.",
                );
                if !mutant!(QueueAfterFailure) {
                    self.hold_queue(&mut change);
                }
                self.say_end(&mut change, run, StopReason::Interrupted);
                next
            }
        };
        next.recovery = None;
        next.pending_tool = None;
        change.put_run(Some(run), next);
        Ok(Ok(self.acked(change, submission_id, Some(run_id.clone()))))
    }

    /// The attachments that a message names, as they are stored; refused when one is not whole, or not this thread's.
    async fn attached(&self, input: &UserInput) -> Result<Result<Vec<StoredAttachment>, Rejection>, Broken> {
        let mut found: Vec<StoredAttachment> = Vec::with_capacity(input.attachments.len());
        for (at, id) in input.attachments.iter().enumerate() {
            let problem = match attachment(self.core.world.store(), id).await? {
                None => "no such attachment",
                Some(known) if known.thread_id.as_ref().is_some_and(|thread| *thread != self.id) => {
                    "no such attachment in this thread"
                }
                Some(known) if known.evicted => "its content was removed to make room: attach it again",
                Some(known) if !known.is_whole() => "not all of its pieces came",
                Some(_) if found.iter().any(|have| have.id == *id) => continue,
                Some(known) => {
                    found.push(known);
                    continue;
                }
            };
            return Ok(Err(Rejection::invalid(format!("input.attachments[{at}]: {problem}"))));
        }
        Ok(Ok(found))
    }

    fn node_id(&self) -> NodeId {
        NodeId::new(self.core.id())
    }
}

/// A turn that goes on.
pub(crate) fn turn_start(run: &StoredRun) -> AgentEvent {
    AgentEvent::TurnStart {
        thread_id: run.thread_id.clone(),
        turn_id: TurnId::from(&run.id),
        turn_kind: run.kind,
        steerable: RunPhase::of(&run.state) != RunPhase::Queued,
    }
}

fn not_queued() -> Rejection {
    Rejection::invalid("runId: no such message waits in this thread")
}

fn check_input(input: &UserInput) -> Result<(), Rejection> {
    if input.text.trim().is_empty() && input.attachments.is_empty() && input.attached_context.is_empty() {
        return Err(Rejection::invalid("input.text: must not be empty when nothing is attached"));
    }
    Ok(())
}
