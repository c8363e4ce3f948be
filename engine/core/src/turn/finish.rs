//! The end of a model call, and the ends of turns.

use super::drive::stopped;
use super::machine::step;
use super::{Live, RunPhase};
use crate::mutants::mutant;
use crate::ports::{Key, Table, World};
use crate::provider::{CallEnd, cost_usd, token_usage};
use crate::store::records::{NodePayload, RunError, RunState, StoredNode, StoredRun};
use crate::store::snapshot::{item_of, reasoning_of};
use crate::store::tree::NewNode;
use crate::thread::{Actor, Broken, Change};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, TurnId};
use panelot_protocol::interaction::InteractionEnd;
use panelot_protocol::item::{ItemView, NoticeKind};
use panelot_protocol::snapshot::{RecoveryReason, Waiting};
use panelot_protocol::turn::{ModelRef, StopReason, TokenUsage};
use panelot_providers::{Answer, Final, FinishedCall, Stop};
use serde_json::Value;

/// An answer that becomes a node.
struct Finished<'a> {
    answer: &'a Answer,
    partial: bool,
    calls: &'a [FinishedCall],
}

impl<W: World> Actor<W> {
    /// A model call ended.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn model_ended(&mut self, end: CallEnd) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let live = self.live.take();
        self.wait_for(None);
        match end {
            CallEnd::Whole(whole) => self.answered(&run, live, &whole).await,
            CallEnd::Broken { answer, shown, error, resumable } => {
                self.call_failed(&run, live, &answer, shown, error, resumable).await
            }
            CallEnd::Wait { until_ms, attempts, reason } => {
                let mut change = self.change();
                let attempts = if mutant!(TriesForgotten) { 0 } else { attempts };
                let next = step(&run, RunState::Preparing { not_before_ms: Some(until_ms), attempts })?;
                change.put_run(Some(&run), next);
                self.commit(change).await?;
                self.wait_for(Some(Waiting { reason, until_ms: Some(until_ms) }));
                Ok(())
            }
        }
    }

    /// A whole answer: stored with its calls, its use and the next state in one commit.
    async fn answered(&mut self, run: &StoredRun, live: Option<Live>, whole: &Final) -> Result<(), Broken> {
        let mut change = self.change();
        // Calls were shut off for a last answer; a model that makes some all the same has said what it had to say.
        let calls: &[FinishedCall] = if run.is_out_of_tries() { &[] } else { &whole.calls };
        let finished = Finished { answer: &whole.answer, partial: false, calls };
        let (mut run_after, nodes) = self.put_answer(&mut change, run, live.as_ref(), &finished);
        let open: Vec<NodeId> = nodes
            .iter()
            .filter(|node| matches!(node.payload, NodePayload::ToolCall { .. }))
            .map(|node| node.id.clone())
            .collect();
        let goes_on = !open.is_empty() || !run.steers.is_empty();
        let reason = match whole.stop {
            Stop::End | Stop::ToolUse => StopReason::End,
            Stop::MaxTokens => StopReason::MaxTokens,
            Stop::ContentFilter => StopReason::ContentFilter,
        };
        let state = match goes_on {
            true => RunState::Preparing { not_before_ms: None, attempts: 0 },
            false => RunState::Completed { stop_reason: reason },
        };
        run_after.open_calls = open;
        if calls.len() < whole.calls.len() && whole.answer.text.trim().is_empty() {
            let text = super::breakers::NO_LAST_ANSWER_TEXT;
            run_after.leaf_id = self.put_notice(&mut change, run, NoticeKind::ToolFailures, text);
        }
        run_after = StoredRun { state: step(run, state)?.state, ..run_after };
        change.put_run(Some(run), run_after);
        if !goes_on {
            self.say_end(&mut change, run, reason);
        }
        self.commit(change).await?;
        self.calls = nodes.into_iter().skip(1).collect();
        Ok(())
    }

    async fn call_failed(
        &mut self,
        run: &StoredRun,
        live: Option<Live>,
        answer: &Answer,
        shown: bool,
        error: RunError,
        resumable: bool,
    ) -> Result<(), Broken> {
        let mut change = self.change();
        let has_text = !answer.text.is_empty() || answer.reasoning.as_ref().is_some_and(|t| !t.is_empty());
        let mut run_after = run.clone();
        if shown && has_text {
            let finished = Finished { answer, partial: true, calls: &[] };
            run_after = self.put_answer(&mut change, run, live.as_ref(), &finished).0;
        }
        let notice = match shown {
            true => NoticeKind::IncompleteAnswer,
            false => NoticeKind::ProviderFailed,
        };
        self.put_steers(&mut change, run);
        run_after.steers = Vec::new();
        run_after.leaf_id = self.put_notice(&mut change, run, notice, &error.message);
        let after = match resumable {
            true => stopped(run, RecoveryReason::Interrupted)?,
            false => step(run, RunState::Failed { error: error.clone() })?,
        };
        let (revision, state, recovery) = (after.revision, after.state, after.recovery);
        let revision = if mutant!(RevisionKept) { run_after.revision } else { revision };
        let run_after = StoredRun { revision, state, recovery, ..run_after };
        let recovery = self.recovery_event(&run_after);
        change.put_run(Some(run), run_after);
        self.hold_queue(&mut change);
        change.say(self.error_event(run, &error));
        self.say_end(&mut change, run, StopReason::Error);
        recovery.into_iter().for_each(|event| change.say(event));
        self.commit(change).await
    }

    /// A run that cannot go on for a reason of its own environment.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn cannot_run(
        &mut self,
        run: &StoredRun,
        problem: super::environment::Problem,
    ) -> Result<(), Broken> {
        let (error, recovery) = problem.into_parts();
        let mut change = self.change();
        let after = match recovery {
            Some(reason) => stopped(run, reason)?,
            None => step(run, RunState::Failed { error: error.clone() })?,
        };
        self.put_steers(&mut change, run);
        let leaf_id = self.put_notice(&mut change, run, NoticeKind::ProviderFailed, &error.message);
        let after = StoredRun { leaf_id, steers: Vec::new(), ..after };
        let recovery = self.recovery_event(&after);
        change.put_run(Some(run), after);
        self.hold_queue(&mut change);
        change.say(self.error_event(run, &error));
        self.say_end(&mut change, run, StopReason::Error);
        recovery.into_iter().for_each(|event| change.say(event));
        self.commit(change).await
    }

    /// Writes an answer and its calls as nodes and settles what pages show of it. The run comes back with its use,
    /// its leaf and the raised revision; its state is the caller's.
    fn put_answer(
        &self,
        change: &mut Change,
        run: &StoredRun,
        live: Option<&Live>,
        finished: &Finished<'_>,
    ) -> (StoredRun, Vec<StoredNode>) {
        let now_ms = self.core.now_ms();
        let usage = finished.answer.usage.unwrap_or_default();
        let environment = run.environment.as_ref();
        let cost = cost_usd(&usage, environment.and_then(|environment| environment.pricing.as_ref()));
        let node_id = match (live, &run.state) {
            (Some(live), _) => live.node_id.clone(),
            (None, RunState::StreamingModel { node_id }) => node_id.clone(),
            (None, _) => NodeId::new(self.core.id()),
        };
        let message = NodePayload::AssistantMessage {
            text: finished.answer.text.clone(),
            reasoning: finished.answer.reasoning.clone().filter(|text| !text.is_empty()),
            provider_state: finished.answer.provider_state.clone(),
            partial: finished.partial,
            call_count: u32::try_from(finished.calls.len()).unwrap_or(u32::MAX),
            model: model_of(run),
            usage: token_usage(&usage),
            cost_usd: cost,
        };
        let mut new = vec![NewNode { id: node_id.clone(), payload: message }];
        for call in finished.calls {
            let id = NodeId::new(self.core.id());
            new.push(NewNode { payload: self.call_payload(run, &node_id, &id, call), id });
        }
        let leaf = change.next.leaf();
        let mut nodes = change.append(leaf.as_ref(), &run.id, now_ms, new);
        let mut stored = Vec::new();
        if let Some(message) = nodes.first_mut() {
            message.at_ms = live.map_or(now_ms, |live| live.began_ms);
            stored = items_of_answer(message);
        }
        change.builder.put_all(&nodes);
        let thread_id = change.thread_id();
        let fresh;
        let live = match live {
            Some(live) => live,
            None => {
                fresh = Live::new(node_id, run.id.clone(), now_ms);
                &fresh
            }
        };
        change.path_replaced |= live.shows_other_than(&stored);
        change.events.extend(live.settle(&thread_id, &stored));
        for call in nodes.iter().skip(1) {
            change.say_node(call);
        }
        self.put_usage(change, &TurnId::from(&run.id), token_usage(&usage), cost);
        if !mutant!(DraftKept) {
            change.builder.delete(Table::Drafts, Key::text(run.id.as_str()));
        }
        let mut after = run.clone();
        after.revision = run.revision.saturating_add(1);
        after.model_calls = run.model_calls.saturating_add(1);
        after.usage = run.usage.plus(token_usage(&usage));
        after.cost_usd = sum(run.cost_usd, cost);
        after.leaf_id = nodes.last().map(|node| node.id.clone());
        (after, nodes)
    }

    /// Counts what a turn used, and says so.
    pub(crate) fn put_usage(
        &self,
        change: &mut Change,
        turn_id: &TurnId,
        usage: TokenUsage,
        cost: Option<f64>,
    ) {
        let stats = &mut change.thread().stats;
        stats.usage = stats.usage.plus(usage);
        stats.cost_usd = match stats.usage == usage {
            // The first call of a thread: nothing was spent before it.
            true => cost,
            false => sum(stats.cost_usd, cost),
        };
        if usage != TokenUsage::default() {
            let thread_id = change.thread_id();
            let turn_id = turn_id.clone();
            change.say(AgentEvent::TokenUsage { thread_id, turn_id, usage, cost_usd: cost });
        }
    }

    /// Adds a word of the engine for people; answers its node.
    pub(crate) fn put_notice(
        &self,
        change: &mut Change,
        run: &StoredRun,
        notice: NoticeKind,
        text: &str,
    ) -> Option<NodeId> {
        let payload = NodePayload::SystemNotice { notice, text: text.to_owned(), for_model: false };
        let new = vec![NewNode { id: NodeId::new(self.core.id()), payload }];
        change.add(&run.id, self.core.now_ms(), new).last().map(|node| node.id.clone())
    }

    /// Puts what the user added meanwhile into the tree of a run that asks the model no more, or not now: an
    /// acknowledged message is never lost. The run keeps none of them.
    pub(crate) fn put_steers(&self, change: &mut Change, run: &StoredRun) {
        let mut new = Vec::with_capacity(run.steers.len());
        for input in run.steers.iter().filter(|_| !mutant!(SteerDropped)) {
            super::begin::add_tabs(&mut change.thread().tabs, input);
            let payload = NodePayload::UserMessage { input: input.clone(), steered: true };
            new.push(NewNode { id: NodeId::new(self.core.id()), payload });
        }
        if !new.is_empty() {
            change.add(&run.id, self.core.now_ms(), new);
        }
    }

    /// Stops the run that is current: what it does outside is dropped at once, what it wrote so far is kept.
    ///
    /// # Errors
    /// When its state has no way to end.
    pub(crate) fn put_interrupt(
        &self,
        change: &mut Change,
        run: &StoredRun,
    ) -> Result<(), super::IllegalStep> {
        let next = step(run, RunState::Interrupted { resumable: false })?;
        let mut after = next.clone();
        if let Some(live) = &self.live
            && !(live.text.is_empty() && live.reasoning.is_empty())
        {
            let answer = Answer {
                text: live.text.clone(),
                reasoning: Some(live.reasoning.clone()),
                ..Answer::default()
            };
            let finished = Finished { answer: &answer, partial: true, calls: &[] };
            after = self.put_answer(change, run, Some(live), &finished).0;
        }
        for approval in change.next.approvals.clone() {
            self.put_withdrawn(change, &approval);
        }
        for wait in change.next.interactions.clone().iter().filter(|_| !mutant!(WaitLeftOpen)) {
            self.put_interaction_end(change, wait, &InteractionEnd::Withdrawn {});
        }
        for call in run.open_calls.iter().filter(|_| !mutant!(OrphanedCall)) {
            self.put_interrupted_call(change, run, call);
        }
        self.put_steers(change, run);
        after.leaf_id = self.put_notice(change, run, NoticeKind::Interrupted, "Stopped by the user.");
        let after = StoredRun {
            steers: Vec::new(),
            state: next.state,
            recovery: None,
            pending_tool: None,
            open_calls: Vec::new(),
            ..after
        };
        change.put_run(Some(run), after);
        self.hold_queue(change);
        self.say_end(change, run, StopReason::Interrupted);
        Ok(())
    }

    /// Gives up what runs outside. Called after the commit that says so.
    pub(crate) fn drop_effect(&mut self) {
        self.effect = None;
        self.live = None;
        self.waiting = None;
    }

    /// A queue with runs in it stands still until the user lets it go on.
    pub(crate) fn hold_queue(&self, change: &mut Change) {
        let waits = change.next.runs.iter().any(|run| RunPhase::of(&run.state) == RunPhase::Queued);
        if waits && !change.next.thread.queue_held && !mutant!(QueueNotHeld) {
            change.thread().queue_held = true;
            change.say_queue();
        }
    }

    /// Adds the end of a turn.
    pub(crate) fn say_end(&self, change: &mut Change, run: &StoredRun, stop_reason: StopReason) {
        let (thread_id, turn_id) = (change.thread_id(), TurnId::from(&run.id));
        change.say(AgentEvent::TurnComplete { thread_id, turn_id, stop_reason });
    }

    /// What went wrong with a run, for pages.
    pub(crate) fn error_event(&self, run: &StoredRun, error: &RunError) -> AgentEvent {
        AgentEvent::Error {
            submission_id: None,
            thread_id: Some(self.id.clone()),
            turn_id: Some(TurnId::from(&run.id)),
            code: error.code,
            message: error.message.clone(),
            retryable: error.retryable,
            error_kind: error.kind,
            provider_details: error.details.clone(),
        }
    }
}

/// The items that pages show of an answer's node.
pub(crate) fn items_of_answer(node: &StoredNode) -> Vec<ItemView> {
    [reasoning_of(node), item_of(node)].into_iter().flatten().collect()
}

/// The model of a run, also of one whose environment was never fixed.
pub(crate) fn model_of(run: &StoredRun) -> ModelRef {
    let fixed = run.environment.as_ref().map(|environment| environment.model.clone());
    let wanted = || run.overrides.as_ref().and_then(|overrides| overrides.model.clone());
    fixed.or_else(wanted).unwrap_or_else(|| ModelRef {
        connection_id: panelot_protocol::ids::ConnectionId::from("unknown"),
        model_id: "unknown".to_owned(),
    })
}

/// The sum of two costs; unknown when one is.
pub(crate) fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| one + other)
}

/// An error of the engine's own making.
pub(crate) fn own_error(code: ErrorCode, message: String) -> RunError {
    RunError { code, message, retryable: false, kind: None, details: None }
}

/// Arguments as they are stored: always an object.
pub(crate) fn stored_arguments(call: &FinishedCall) -> (Value, Option<String>) {
    let problem = call.arguments.as_ref().err().map(ToString::to_string);
    (Value::Object(call.replay_arguments()), problem)
}
