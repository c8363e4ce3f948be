//! Ops that change a thread: each is one commit with its receipt, then its answer, then its events.

use super::change::{changed_nothing, must_reload};
use super::legality::{OpKind, Ruling, Situation, ruling};
use super::{Actor, Broken, Change, Mail, Recall, recall, refuse};
use crate::ports::{Table, World};
use crate::store::records::{Record, RunState, StoredNode, StoredThread};
use crate::store::snapshot::thread_meta;
use crate::turn::TITLE_TRIES_COUNT_MAX;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, RunId, SubmissionId, ThreadId};
use panelot_protocol::op::{Op, ThreadPatch};

/// Why an Op is refused. Nothing changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rejection {
    /// The code.
    pub code: ErrorCode,
    /// What is wrong, naming the field where one is.
    pub message: String,
}

impl Rejection {
    /// An Op that is wrong, or not legal now.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidCommand, message: message.into() }
    }
}

/// What an Op leads to.
pub(crate) enum Verdict {
    /// A change with its answer.
    Change(Box<Change>, Box<AgentEvent>, After),
    /// Nothing but the refusal.
    Reject(Rejection),
}

/// What follows once a change holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing.
    GoOn,
    /// What runs outside is given up.
    DropEffect,
    /// The thread is gone.
    Gone,
}

/// Times that an Op is decided anew because the data changed meanwhile.
const ATTEMPTS_COUNT_MAX: u32 = 2;

impl<W: World> Actor<W> {
    /// Takes an Op that changes the thread.
    ///
    /// # Errors
    /// [`Broken`] when the thread must be loaded again; the Op is answered all the same.
    pub(super) async fn command(&mut self, mail: &Mail) -> Result<(), Broken> {
        let Some((op, fingerprint)) = mail.op() else { return Ok(()) };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let outcome = match recall(&self.core, &mail.client, op, fingerprint).await {
                Ok(Recall::Answered(text)) => {
                    self.core.publisher.answer_text(mail.connection, &text);
                    return Ok(());
                }
                Ok(Recall::Conflict(event)) => {
                    self.core.publisher.answer(mail.connection, *event);
                    return Ok(());
                }
                Ok(Recall::New) => self.decide_and_store(mail, op).await,
                Err(problem) => Err(Broken::Repo(problem)),
            };
            let Err(problem) = outcome else { return Ok(()) };
            let again = matches!(&problem, Broken::Repo(error) if must_reload(error));
            if again && attempt < ATTEMPTS_COUNT_MAX && self.reload().await.is_ok() {
                continue;
            }
            refuse(&self.core, mail, problem.code(), problem.to_string()).await;
            if matches!(&problem, Broken::Repo(error) if changed_nothing(error)) {
                // The thread is as this actor believes: what runs goes on.
                return Ok(());
            }
            return Err(problem);
        }
    }

    /// Reads the thread again, when nothing of it runs: what runs was begun on another state.
    async fn reload(&mut self) -> Result<(), Broken> {
        if self.open_wait().is_some() {
            // Nothing but a look at a page runs during a wait, and another one follows.
            self.drop_effect();
        }
        if self.effect.is_some() {
            return Err(Broken::Silent);
        }
        let state = crate::store::repo::load_thread(self.core.world.store(), &self.id).await?;
        match state {
            Some(state) => {
                self.state = state;
                let runs_elsewhere = self.current().is_some_and(|run| {
                    matches!(run.state, RunState::StreamingModel { .. } | RunState::ExecutingTool { .. })
                });
                if runs_elsewhere {
                    // What another worker began ends with it: only an actor that begins anew takes it over.
                    return Err(Broken::Silent);
                }
                self.load_calls().await?;
                self.say_look_anew();
                Ok(())
            }
            None => Err(Broken::Silent),
        }
    }

    async fn decide_and_store(&mut self, mail: &Mail, op: &Op) -> Result<(), Broken> {
        match self.decide(op).await? {
            Verdict::Change(change, answer, after) => {
                self.commit_answered(*change, mail, *answer).await?;
                match after {
                    After::GoOn => {}
                    After::DropEffect => self.drop_effect(),
                    After::Gone => self.end_thread().await,
                }
                Ok(())
            }
            Verdict::Reject(rejection) => {
                let answer = AgentEvent::CommandRejected {
                    submission_id: op.submission_id().clone(),
                    code: rejection.code,
                    message: rejection.message,
                    thread_id: Some(self.id.clone()),
                    retryable: rejection.code == ErrorCode::QueueFull,
                };
                self.commit_answered(self.change(), mail, answer).await
            }
        }
    }

    /// The table's word on an Op, as a refusal when it is one.
    pub(super) fn ruled(&self, op: OpKind) -> Result<Ruling, Rejection> {
        match ruling(op, Situation::of(&self.state)) {
            Ruling::Refuse(code, message) => Err(Rejection { code, message: message.to_owned() }),
            ruling @ (Ruling::Do | Ruling::Start | Ruling::Queue) => Ok(ruling),
        }
    }

    async fn decide(&mut self, op: &Op) -> Result<Verdict, Broken> {
        let decided = match op {
            Op::ThreadUpdate { submission_id, patch, .. } => Ok(self.update(submission_id, patch)),
            Op::ThreadDelete { submission_id, .. } => Ok(self.delete(submission_id).await?),
            Op::ThreadFork { submission_id, at_node_id, .. } => {
                self.fork_thread(submission_id, at_node_id).await?
            }
            Op::ThreadSelectBranch { submission_id, node_id, .. } => {
                self.select_branch(submission_id, node_id).await?
            }
            Op::NodeDelete { submission_id, node_id, .. } => self.delete_node(submission_id, node_id).await?,
            Op::TurnSubmit { submission_id, input, overrides, .. } => {
                self.submit(submission_id, input, overrides.as_ref(), OpKind::Submit).await?
            }
            Op::TurnEnqueue { submission_id, input, overrides, .. } => {
                self.submit(submission_id, input, overrides.as_ref(), OpKind::Enqueue).await?
            }
            Op::TurnFork { submission_id, sibling_of_node_id, input, overrides, .. } => {
                self.fork_turn(submission_id, sibling_of_node_id, input, overrides.as_ref()).await?
            }
            Op::TurnSteer { submission_id, expected_turn_id, input, .. } => {
                self.steer(submission_id, expected_turn_id, input).await?
            }
            Op::TurnInterrupt { submission_id, .. } => self.interrupt(submission_id)?,
            Op::QueueUpdate { submission_id, run_id, input, overrides, .. } => {
                self.update_queued(submission_id, run_id, input, overrides.as_ref()).await?
            }
            Op::QueueRemove { submission_id, run_id, .. } => self.remove_queued(submission_id, run_id),
            Op::QueueRelease { submission_id, .. } => Ok(self.release_queue(submission_id)),
            Op::RunResume { submission_id, run_id, .. } => self.resume(submission_id, run_id).await?,
            Op::RunResolveUncertain { submission_id, run_id, resolution, .. } => {
                self.resolve(submission_id, run_id, *resolution)?
            }
            Op::ApprovalResponse { submission_id, approval_id, decision } => {
                self.answer_approval(submission_id, approval_id, decision).await?
            }
            Op::InteractionResponse { submission_id, interaction_id, response } => {
                self.answer_interaction(submission_id, interaction_id, response).await?
            }
            Op::Initialize { .. }
            | Op::ThreadCreate { .. }
            | Op::ThreadSubscribe { .. }
            | Op::ThreadList { .. }
            | Op::ThreadItems { .. }
            | Op::AttachmentPut { .. }
            | Op::SettingsGet { .. }
            | Op::SettingsUpdate { .. }
            | Op::ModelsList { .. }
            | Op::DataExport { .. }
            | Op::DataImport { .. }
            | Op::Ping { .. } => Err(Rejection::invalid("this Op is not for a thread")),
        };
        Ok(decided.unwrap_or_else(Verdict::Reject))
    }

    /// The acknowledgement of a change.
    pub(super) fn ack(
        &self,
        change: &Change,
        submission_id: &SubmissionId,
        run_id: Option<RunId>,
    ) -> AgentEvent {
        AgentEvent::CommandAck {
            submission_id: submission_id.clone(),
            thread_id: Some(self.id.clone()),
            run_id,
            revision: Some(self.revision_after(change)),
        }
    }

    /// A change with a plain acknowledgement.
    pub(super) fn acked(
        &self,
        change: Change,
        submission_id: &SubmissionId,
        run_id: Option<RunId>,
    ) -> Verdict {
        let ack = self.ack(&change, submission_id, run_id);
        Verdict::Change(Box::new(change), Box::new(ack), After::GoOn)
    }

    fn update(&self, submission_id: &SubmissionId, patch: &ThreadPatch) -> Verdict {
        let mut change = self.change();
        let thread = change.thread();
        if let Some(title) = &patch.title {
            thread.title.clone_from(title);
            thread.title_by_user = !title.is_empty();
        }
        if let Some(pinned) = patch.pinned {
            thread.pinned = pinned;
        }
        if let Some(archived) = patch.archived {
            thread.archived = archived;
        }
        if let Some(tags) = &patch.tags {
            thread.tags.clone_from(tags);
        }
        if let Some(preset) = &patch.preset {
            thread.preset.clone_from(preset);
        }
        if let Some(folder_id) = &patch.folder_id {
            thread.folder_id.clone_from(folder_id);
        }
        if patch.param_overrides.is_some() {
            thread.param_overrides.clone_from(&patch.param_overrides);
        }
        if patch.cost_ceiling_usd.is_some() {
            thread.cost_ceiling_usd = patch.cost_ceiling_usd;
        }
        self.acked(change, submission_id, None)
    }

    async fn delete(&self, submission_id: &SubmissionId) -> Result<Verdict, Broken> {
        let mut change = self.change();
        let rows = super::deletion::rows_of_thread(self.core.world.store(), &self.id).await?;
        for (table, key) in rows {
            change.builder.delete(table, key);
        }
        change.say(AgentEvent::ThreadDeleted { thread_id: self.id.clone() });
        let ack = AgentEvent::CommandAck {
            submission_id: submission_id.clone(),
            thread_id: Some(self.id.clone()),
            run_id: None,
            revision: None,
        };
        Ok(Verdict::Change(Box::new(change), Box::new(ack), After::Gone))
    }

    /// What is left to do when the thread's rows are gone.
    async fn end_thread(&mut self) {
        self.drop_effect();
        self.title = None;
        self.gone = true;
        self.core.presence.set(&self.id, crate::host::Doing::NOTHING);
        self.core.grants.forget(&self.id).await;
    }

    async fn fork_thread(
        &self,
        submission_id: &SubmissionId,
        at_node_id: &NodeId,
    ) -> Result<Result<Verdict, Rejection>, Broken> {
        if self.node(at_node_id).await?.is_none() {
            return Ok(Err(Rejection::invalid("atNodeId: no such node in this thread")));
        }
        let here = &self.state.thread;
        let thread = StoredThread {
            preset: here.preset.clone(),
            folder_id: here.folder_id.clone(),
            param_overrides: here.param_overrides.clone(),
            cost_ceiling_usd: here.cost_ceiling_usd,
            forked_from: Some((self.id.clone(), at_node_id.clone())),
            ..new_thread(ThreadId::new(self.core.id()), self.core.now_ms())
        };
        let mut change = self.change();
        change.builder.absent(Table::Threads, thread.key());
        change.builder.put(&thread);
        let answer = AgentEvent::ThreadForked {
            submission_id: submission_id.clone(),
            thread: thread_meta(&thread),
            at_node_id: at_node_id.clone(),
        };
        Ok(Ok(Verdict::Change(Box::new(change), Box::new(answer), After::GoOn)))
    }

    async fn select_branch(
        &self,
        submission_id: &SubmissionId,
        node_id: &NodeId,
    ) -> Result<Result<Verdict, Rejection>, Broken> {
        if let Err(rejection) = self.ruled(OpKind::EditTree) {
            return Ok(Err(rejection));
        }
        let Some(position) = self.position(node_id).await? else {
            return Ok(Err(Rejection::invalid("nodeId: no such node in this thread")));
        };
        let leaf = self.state.tree.newest_descendant(&position).unwrap_or(position);
        let mut change = self.change();
        let moved = change.next.thread.leaf_id.as_ref() != Some(&leaf.node_id);
        change.thread().leaf_id = Some(leaf.node_id);
        change.path_replaced = moved;
        Ok(Ok(self.acked(change, submission_id, None)))
    }

    async fn delete_node(
        &self,
        submission_id: &SubmissionId,
        node_id: &NodeId,
    ) -> Result<Result<Verdict, Rejection>, Broken> {
        if let Err(rejection) = self.ruled(OpKind::EditTree) {
            return Ok(Err(rejection));
        }
        let Some(node) = self.node(node_id).await? else {
            return Ok(Err(Rejection::invalid("nodeId: no such node in this thread")));
        };
        let mut change = self.change();
        change.builder.put(&StoredNode { tombstone: true, ..node });
        change.path_replaced = true;
        Ok(Ok(self.acked(change, submission_id, None)))
    }
}

/// A thread of nothing.
pub(crate) fn new_thread(id: ThreadId, now_ms: u64) -> StoredThread {
    StoredThread { title_tries: TITLE_TRIES_COUNT_MAX, ..StoredThread::new(id, now_ms) }
}
