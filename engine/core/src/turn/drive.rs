//! The loop: what a thread does next when nothing runs.

use super::machine::{RunPhase, step};
use super::{Effect, EffectEnd, Live, Say, Start};
use crate::mutants::mutant;
use crate::ports::{Store, World};
use crate::provider::{Progress, call};
use crate::store::records::{NodePayload, RunState, StoredNode, StoredRun};
use crate::store::tree::NewNode;
use crate::store::{CommitBuilder, RepoError, repo};
use crate::thread::{Actor, Broken};
use futures::future::FutureExt;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{NodeId, TurnId};
use panelot_protocol::snapshot::{ActiveTurn, RecoveryReason, Waiting, WaitingReason};
use std::rc::Rc;

impl<W: World> Actor<W> {
    /// Does what is to be done next, until something runs outside or nothing is left.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn advance(&mut self) -> Result<(), Broken> {
        while self.effect.is_none() && !self.gone {
            let Some(run) = self.current().cloned() else {
                if !self.start_queued().await? {
                    break;
                }
                continue;
            };
            match &run.state {
                RunState::Preparing { not_before_ms: Some(at_ms), .. } if *at_ms > self.core.now_ms() => {
                    self.wait_for(Some(Waiting { reason: WaitingReason::RateLimit, until_ms: Some(*at_ms) }));
                    break;
                }
                RunState::Preparing { .. } => match run.open_calls.first().cloned() {
                    Some(_) if self.look_at_reads(&run) => {}
                    Some(call) => self.look_at(&run, &call).await?,
                    None => self.ask_model(run).await?,
                },
                RunState::Interrupted { resumable: true } | RunState::PausedBudget {} => {
                    if !self.start_queued().await? {
                        break;
                    }
                }
                RunState::Queued {}
                | RunState::StreamingModel { .. }
                | RunState::WaitingApproval { .. }
                | RunState::WaitingInteraction { .. }
                | RunState::ExecutingTool { .. }
                | RunState::PausedUncertain { .. }
                | RunState::Interrupted { resumable: false }
                | RunState::Failed { .. }
                | RunState::Completed { .. } => break,
            }
        }
        Ok(())
    }

    /// Starts the next run of the queue, if there is one and the queue is not held.
    async fn start_queued(&mut self) -> Result<bool, Broken> {
        let mut queued = self.state.runs.iter().filter(|run| run.state.is_queued());
        let next = if mutant!(QueueFromTheEnd) { queued.next_back() } else { queued.next() }.cloned();
        let Some(run) = next.filter(|_| !self.state.thread.queue_held && !self.state.thread.deleting) else {
            return Ok(false);
        };
        let mut change = self.change();
        let core = Rc::clone(&self.core);
        change.begin(&run, true, &Start::AtLeaf, core.now_ms(), || NodeId::new(core.id()))?;
        change.say_queue();
        self.commit(change).await?;
        Ok(true)
    }

    /// Begins a model call: what the user added meanwhile goes in, the environment is fixed, and the run streams.
    async fn ask_model(&mut self, run: StoredRun) -> Result<(), Broken> {
        if self.pause_if_spent(&run).await? {
            return Ok(());
        }
        let nodes = self.path().await?;
        let environment = match self.environment_of(&run).await {
            Ok(environment) => environment,
            Err(problem) => return self.cannot_run(&run, problem).await,
        };
        self.remember_reads(&nodes);
        let now_ms = self.core.now_ms();
        let mut change = self.change();
        let mut added = Vec::new();
        let due = super::breakers::due(&run, &nodes);
        for notice in due.notices {
            added.push(NewNode { id: NodeId::new(self.core.id()), payload: notice });
        }
        for input in &run.steers {
            super::begin::add_tabs(&mut change.thread().tabs, input);
            let payload = NodePayload::UserMessage { input: input.clone(), steered: true };
            added.push(NewNode { id: NodeId::new(self.core.id()), payload });
        }
        let added = change.add(&run.id, now_ms, added);
        let node_id = NodeId::new(self.core.id());
        let attempts = if let RunState::Preparing { attempts, .. } = &run.state { *attempts } else { 0 };
        let mut next = step(&run, RunState::StreamingModel { node_id: node_id.clone() })?;
        next.environment = Some(environment.clone());
        next.steers = Vec::new();
        next.tool_failures = due.tool_failures;
        if let Some(last) = added.last() {
            next.leaf_id = Some(last.id.clone());
        }
        change.put_run(Some(&run), next.clone());
        let title = self.plan_title(&mut change, &run, &environment, &nodes).await;
        let path: Vec<StoredNode> = nodes.into_iter().chain(added).collect();
        let attachments = crate::attachments::parts_of(self.core.world.store(), &self.id, &path).await?;
        self.commit(change).await?;
        self.wait_for(None);
        if let Some(title) = title {
            self.begin_title(title);
        }
        let plan = super::history::plan(&next, &environment, &path, &attachments, attempts);
        self.live = Some(Live::new(node_id, run.id.clone(), now_ms));
        let (world, settings) = (self.core.world.clone(), Rc::clone(&self.core.settings));
        self.effect =
            Some(Effect::new(|progress| call(world, settings, plan, progress).map(EffectEnd::Model)));
        Ok(())
    }

    /// All nodes of the shown path.
    async fn path(&self) -> Result<Vec<StoredNode>, RepoError> {
        match self.state.leaf() {
            None => Ok(Vec::new()),
            Some(leaf) => {
                let (store, tree) = (self.core.world.store(), &self.state.tree);
                Ok(repo::path_page(store, tree, &leaf, u64::MAX, u64::MAX).await?.nodes)
            }
        }
    }

    /// Takes what a running effect says.
    ///
    /// # Errors
    /// Never for what is shown; a draft that cannot be stored is tried again with the next one.
    pub(crate) async fn progress(&mut self, progress: Progress) -> Result<(), Broken> {
        match progress {
            Progress::Waiting(waiting) => self.wait_for(waiting),
            Progress::Stream(event) => {
                let now_ms = self.core.now_ms();
                let Some(live) = &mut self.live else { return Ok(()) };
                for say in live.take(&self.id, event, now_ms) {
                    match say {
                        Say::Event(event) => self.core.publisher.publish(&self.id, *event),
                        Say::Delta(item_id, delta) => self.core.publisher.delta(&self.id, &item_id, delta),
                    }
                }
                self.store_draft().await;
            }
        }
        Ok(())
    }

    /// Stores the text so far, when it is time.
    pub(crate) async fn store_draft(&mut self) {
        let now_ms = self.core.now_ms();
        let Some(draft) = self.live.as_mut().and_then(|live| live.draft(now_ms)) else { return };
        let Some(run) = self.current() else { return };
        let mut builder = CommitBuilder::new();
        // A worker that lost its run to another one leaves nothing behind.
        builder.unchanged(run).put(&draft);
        if let Ok(commit) = builder.build() {
            // A draft is not state: losing one costs a second of text, and the next one holds all of it.
            let _ = self.core.world.store().commit(commit).await;
        }
    }

    /// Looks whether a time has come.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn due(&mut self) -> Result<(), Broken> {
        self.store_draft().await;
        self.expire_questions().await?;
        self.end_overdue_wait().await?;
        self.look_again().await
    }

    /// An effect ended.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn effect_ended(&mut self, end: EffectEnd) -> Result<(), Broken> {
        match end {
            EffectEnd::Model(end) => self.model_ended(end).await,
            EffectEnd::Prepared(prepared) => self.prepared(*prepared).await,
            EffectEnd::PreparedReads(prepared) => self.prepared_reads(prepared).await,
            EffectEnd::Tool(end) => self.tool_ended(*end).await,
            EffectEnd::Reads(ends) => self.reads_ended(ends).await,
            EffectEnd::Looked(looked) => self.looked(*looked).await,
        }
    }

    /// Tells pages what the turn waits for, or that it goes on.
    pub(crate) fn wait_for(&mut self, waiting: Option<Waiting>) {
        if self.waiting == waiting {
            return;
        }
        self.waiting.clone_from(&waiting);
        if let Some(run) = self.current() {
            let (thread_id, turn_id) = (self.id.clone(), TurnId::from(&run.id));
            self.publish(AgentEvent::RunWaiting { thread_id, turn_id, waiting });
        }
    }

    /// The turn that runs, as pages see it.
    pub(crate) fn active_turn(&self) -> Option<ActiveTurn> {
        let run = self.current().filter(|run| RunPhase::of(&run.state).is_busy())?;
        Some(ActiveTurn {
            turn_id: TurnId::from(&run.id),
            turn_kind: run.kind,
            steerable: true,
            waiting: self.waiting.clone(),
            steers: run.steers.clone(),
        })
    }

    /// Why a run stopped that the user can let go on, as pages are told after its turn ended.
    pub(crate) fn recovery_event(&self, run: &StoredRun) -> Option<AgentEvent> {
        let run = crate::store::snapshot::recovery_of(run)?;
        Some(AgentEvent::RunRecoveryRequired { thread_id: self.id.clone(), run })
    }
}

/// The state of a run whose answer was cut, and why.
pub(crate) fn stopped(run: &StoredRun, reason: RecoveryReason) -> Result<StoredRun, super::IllegalStep> {
    let mut next = step(run, RunState::Interrupted { resumable: true })?;
    next.recovery = Some(reason);
    Ok(next)
}
