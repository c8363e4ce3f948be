//! The calls of an answer, one by one: looked at, judged, asked about, executed, and stored with their results.

use super::finish::stored_arguments;
use super::machine::step;
use super::toolbox::{self, Invocation};
use super::tools::{self, Prepared, ToolEnd};
use super::{Effect, EffectEnd};
use crate::mutants::mutant;
use crate::permission::{
    Decision, Held, Permitted, Question, Refusal, SensitiveOrigins, ThreadScope, ToolCall, Verdict, verdict,
};
use crate::ports::{Key, World};
use crate::store::records::{
    NodePayload, RecoveryClass, RunState, StoredApproval, StoredFacts, StoredNode, StoredRun,
};
use crate::store::repo;
use crate::store::snapshot::{approval_item, item_of};
use crate::store::tree::NewNode;
use crate::thread::{Actor, Broken, Change, item_events};
use futures::future::FutureExt;
use panelot_protocol::approval::{ApprovalDecision, ApprovalPreview, ApprovalRequestPayload};
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ApprovalId, ItemId, NodeId, TurnId};
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::limits;
use panelot_protocol::settings::PermissionRule;
use panelot_protocol::turn::PermissionPolicy;
use panelot_providers::FinishedCall;

/// What a call is judged by, read before the judgement.
pub(super) struct Bench {
    rules: Vec<PermissionRule>,
    grants: Vec<crate::permission::Grant>,
    policy: PermissionPolicy,
    scope: ThreadScope,
}

impl Bench {
    pub(super) fn judge(&self, question: &Question) -> Verdict {
        let sensitive = SensitiveOrigins::default();
        verdict(question, &self.rules, &self.grants, self.policy, &sensitive, &self.scope)
    }
}

impl<W: World> Actor<W> {
    /// A call of a whole answer as it is stored.
    pub(crate) fn call_payload(
        &self,
        run: &StoredRun,
        assistant_id: &NodeId,
        node_id: &NodeId,
        call: &FinishedCall,
    ) -> NodePayload {
        let (arguments, argument_problem) = stored_arguments(call);
        let invocation = toolbox::parse(&call.name, &arguments).ok();
        let captured = run.environment.as_ref().and_then(|environment| environment.captured_tab);
        NodePayload::ToolCall {
            assistant_id: assistant_id.clone(),
            // Endpoints send empty and repeated ids: the node's own is unique.
            call_id: format!("call_{node_id}"),
            tool_name: crate::provider::cut(&call.name, limits::NAME_CHARS_MAX),
            category: toolbox::category(&call.name),
            label: invocation.as_ref().map(|invocation| invocation.label(None)).unwrap_or_default(),
            tab_id: invocation.as_ref().and_then(|invocation| invocation.tab(captured)),
            origin: None,
            arguments,
            argument_problem,
        }
    }

    /// A call of the current run that has no result yet.
    pub(crate) fn call_node(&self, id: &NodeId) -> Option<&StoredNode> {
        self.calls.iter().find(|node| &node.id == id)
    }

    /// Looks at the next call's target.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn look_at(&mut self, run: &StoredRun, call: &NodeId) -> Result<(), Broken> {
        let Some(node) = self.call_node(call).cloned() else {
            // A call that is not there cannot be answered: the codec says so to the model.
            let mut next = run.clone();
            next.revision = run.revision.saturating_add(1);
            next.open_calls.retain(|open| open != call);
            let mut change = self.change();
            change.put_run(Some(run), next);
            return self.commit(change).await;
        };
        let NodePayload::ToolCall { tool_name, arguments, argument_problem, .. } = &node.payload else {
            return Ok(());
        };
        if run.is_out_of_tries() {
            // The last answer comes next; what was asked for together with the failures is not begun any more.
            return self.refused(run, &node, super::breakers::NOT_RUN_TEXT).await;
        }
        let parsed = match argument_problem {
            Some(problem) => Err(format!("The arguments could not be read: {problem}")),
            None => toolbox::parse(tool_name, arguments).map_err(|problem| problem.to_string()),
        };
        let invocation = match parsed {
            Ok(invocation) if offered(run, &invocation) => invocation,
            Ok(_) => {
                return self.failed_call(run, &node, &format!("{tool_name} is not on offer here.")).await;
            }
            Err(problem) => return self.failed_call(run, &node, &problem).await,
        };
        let captured = run.environment.as_ref().and_then(|environment| environment.captured_tab);
        let world = self.core.world.clone();
        let call = call.clone();
        self.effect = Some(Effect::new(move |_| {
            tools::prepare(world, call, invocation, captured).map(|end| EffectEnd::Prepared(Box::new(end)))
        }));
        Ok(())
    }

    pub(super) async fn failed_call(
        &mut self,
        run: &StoredRun,
        node: &StoredNode,
        text: &str,
    ) -> Result<(), Broken> {
        self.tool_ended_as(run, node, ToolEnd::failed(node.id.clone(), text)).await
    }

    /// A call's target is known: it is judged.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn prepared(&mut self, prepared: Prepared) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let Some(node) = self.call_node(&prepared.call).cloned() else { return Ok(()) };
        let facts = match prepared.facts {
            Ok(facts) => facts,
            Err(text) => return self.failed_call(&run, &node, &text).await,
        };
        let invocation = prepared.invocation;
        let question = invocation.question(&facts);
        let bench = self.bench(&run).await;
        let approval = repo::get::<_, StoredApproval>(
            self.core.world.store(),
            Key::text(approval_id(&node.id).as_str()),
        )
        .await?
        .filter(|approval| approval.decision.as_ref().is_some_and(ApprovalDecision::accepts));
        let asked = match &approval {
            Some(approval) if !mutant!(AnswerForAnyPage) => invocation.question(&approval.facts),
            Some(_) | None => question.clone(),
        };
        let consent = approval.as_ref().and_then(|approval| approval.decision.clone()).or_else(|| {
            (run.consented_call.as_ref() == Some(&node.id)).then_some(ApprovalDecision::Accept {})
        });
        let call = ToolCall::new(invocation, asked);
        let decided = match (call.decide(|question| bench.judge(question)), consent) {
            (Decision::Held(held), Some(answer)) => {
                match held.answered(&answer, question.clone(), |question| bench.judge(question)) {
                    Ok(permitted) => Decision::Permitted(permitted),
                    Err(refusal) => return self.refused(&run, &node, &refusal.to_string()).await,
                }
            }
            (Decision::Permitted(permitted), _) if permitted.question() != &question => {
                // What was accepted has changed, and by now it passes without a question: judged as it is now.
                ToolCall::new(permitted.executed(()).call, question).decide(|question| bench.judge(question))
            }
            (decided, _) => decided,
        };
        match decided {
            Decision::Permitted(permitted) => self.execute(&run, node, facts, permitted).await,
            Decision::Held(_) if approval.is_some() => {
                // One question per call: what was accepted is another thing by now, so the model decides anew.
                let text = Refusal::Changed(crate::permission::Change::Place).to_string();
                self.refused(&run, &node, &text).await
            }
            Decision::Held(held) => self.ask(&run, node, facts, held).await,
            Decision::Denied(because) => self.refused(&run, &node, &because.to_string()).await,
        }
    }

    /// What the calls of a run are judged by now.
    pub(super) async fn bench(&self, run: &StoredRun) -> Bench {
        let rules = match self.core.settings.current().await {
            Ok(settings) => settings.rules.clone(),
            // Without its rules nothing passes unasked: the strictest policy asks about everything.
            Err(_) => vec![],
        };
        let readable = self.core.settings.current().await.is_ok();
        Bench {
            rules,
            grants: if readable { self.core.grants.of(&self.id).await } else { Vec::new() },
            policy: if readable { run.policy } else { PermissionPolicy::Always },
            scope: ThreadScope {
                tabs: self.state.thread.tabs.iter().copied().collect(),
                taints: self.taints.clone(),
                ..ThreadScope::default()
            },
        }
    }

    /// A refusal by the user or a rule: the model is told, and it is no failure.
    async fn refused(&mut self, run: &StoredRun, node: &StoredNode, text: &str) -> Result<(), Broken> {
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        let mut change = self.change();
        next.leaf_id = self.put_result(&mut change, run, node, false, text, text, None);
        next.open_calls.retain(|open| open != &node.id);
        next.consented_call = None;
        change.put_run(Some(run), next);
        self.commit(change).await
    }

    /// Asks the user, in one commit with the wait.
    async fn ask(
        &mut self,
        run: &StoredRun,
        node: StoredNode,
        facts: StoredFacts,
        held: Held<Invocation>,
    ) -> Result<(), Broken> {
        let id = approval_id(&node.id);
        let mut change = self.change();
        change.builder.strict();
        let node = self.put_target(&mut change, node, held.call(), &facts);
        let NodePayload::ToolCall { tool_name, category, label, arguments, tab_id, origin, .. } =
            node.payload.clone()
        else {
            return Ok(());
        };
        let request = ApprovalRequestPayload {
            item_id: ItemId::from(&node.id),
            tool_name,
            category,
            label,
            params: arguments,
            origin,
            tab_id,
            flags: held.flags.clone(),
            preview: facts.element.as_ref().map(|element| ApprovalPreview {
                snapshot_line: Some(element.line.clone()),
                screenshot_id: None,
            }),
            deadline_ms: self.core.now_ms().saturating_add(limits::APPROVAL_TIMEOUT_MS),
        };
        let approval = StoredApproval {
            id: id.clone(),
            thread_id: self.id.clone(),
            run_id: run.id.clone(),
            call_node_id: node.id.clone(),
            request,
            facts,
            decision: None,
            revision: 0,
        };
        change.events.extend(item_events(&self.id, &approval_item(&approval)));
        change.say(AgentEvent::ApprovalRequest {
            thread_id: self.id.clone(),
            turn_id: TurnId::from(&run.id),
            approval_id: id.clone(),
            request: Box::new(approval.request.clone()),
        });
        change.put_approval(None, approval);
        let state = RunState::WaitingApproval { approval_id: id, call_node_id: node.id.clone() };
        change.put_run(Some(run), step(run, state)?);
        self.commit(change).await?;
        self.keep_call(node);
        Ok(())
    }

    /// Stores that the call is about to happen, then lets it happen.
    async fn execute(
        &mut self,
        run: &StoredRun,
        node: StoredNode,
        facts: StoredFacts,
        permitted: Permitted<Invocation>,
    ) -> Result<(), Broken> {
        if permitted.call().waits() {
            return self.begin_wait(run, node, facts, permitted).await;
        }
        let recovery = permitted.call().recovery();
        let mut next = step(run, RunState::ExecutingTool { call_node_id: node.id.clone(), recovery })?;
        next.consented_call = None;
        let mut change = self.change();
        if recovery != RecoveryClass::RetrySafe && !mutant!(WriteNotStrict) {
            change.builder.strict();
        }
        let node = self.put_target(&mut change, node, permitted.call(), &facts);
        change.put_run(Some(run), next);
        if !mutant!(EffectBeforeCommit) {
            self.commit(change).await?;
        }
        let (world, call) = (self.core.world.clone(), node.id.clone());
        let of_thread = self.state.thread.tabs.iter().copied().collect();
        self.keep_call(node);
        self.effect = Some(Effect::new(move |_| {
            tools::execute(world, call, permitted, facts, of_thread).map(|end| EffectEnd::Tool(Box::new(end)))
        }));
        Ok(())
    }

    /// Writes what is known of a call's target into its node, and shows it.
    pub(super) fn put_target(
        &self,
        change: &mut Change,
        mut node: StoredNode,
        invocation: &Invocation,
        facts: &StoredFacts,
    ) -> StoredNode {
        let before = node.clone();
        if let NodePayload::ToolCall { label, tab_id, origin, .. } = &mut node.payload {
            *label =
                crate::provider::cut(&invocation.label(facts.element.as_ref()), limits::MESSAGE_CHARS_MAX);
            *tab_id = facts.tab_id;
            *origin = invocation.question(facts).acted_on().map(|origin| origin.to_string());
        }
        if node != before {
            change.builder.put(&node);
            if let Some(item) = item_of(&node) {
                change.events.extend(item_events(&self.id, &item));
            }
        }
        node
    }

    /// Remembers what was written of an open call.
    pub(super) fn keep_call(&mut self, node: StoredNode) {
        if let Some(have) = self.calls.iter_mut().find(|have| have.id == node.id) {
            *have = node;
        }
    }

    /// A tool ended: its result and the next state are one commit.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn tool_ended(&mut self, end: ToolEnd) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let Some(node) = self.call_node(&end.call).cloned() else { return Ok(()) };
        self.tool_ended_as(&run, &node, end).await
    }

    async fn tool_ended_as(
        &mut self,
        run: &StoredRun,
        node: &StoredNode,
        end: ToolEnd,
    ) -> Result<(), Broken> {
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        let mut change = self.change();
        if end.outcome.is_some() {
            change.builder.strict();
        }
        if let Some(tab) = end.opened_tab
            && !change.next.thread.tabs.contains(&tab)
        {
            change.thread().tabs.push(tab);
        }
        next.leaf_id = self.put_result(&mut change, run, node, end.ok, &end.text, &end.summary, end.outcome);
        next.open_calls.retain(|open| open != &node.id);
        next.tool_failures = if end.ok { 0 } else { run.tool_failures.saturating_add(1) };
        next.consented_call = None;
        change.put_run(Some(run), next);
        self.commit(change).await?;
        if let Some((origin, text)) = &end.read {
            self.taints.record(origin, text);
        }
        Ok(())
    }

    /// Adds a call's result; answers its node.
    #[expect(clippy::too_many_arguments, reason = "the fields of the node, each of another kind")]
    pub(crate) fn put_result(
        &self,
        change: &mut Change,
        run: &StoredRun,
        call: &StoredNode,
        ok: bool,
        text: &str,
        summary: &str,
        outcome: Option<ActionOutcome>,
    ) -> Option<NodeId> {
        let NodePayload::ToolCall { call_id, tool_name, .. } = &call.payload else { return None };
        let payload = NodePayload::ToolResult {
            call_node_id: call.id.clone(),
            call_id: call_id.clone(),
            tool_name: tool_name.clone(),
            ok,
            text: text.to_owned(),
            summary: crate::provider::cut(summary, limits::MESSAGE_CHARS_MAX),
            outcome,
        };
        let new = vec![NewNode { id: NodeId::new(self.core.id()), payload }];
        change.add(&run.id, self.core.now_ms(), new).last().map(|node| node.id.clone())
    }

    /// Ends a call that the user stopped.
    pub(crate) fn put_interrupted_call(&self, change: &mut Change, run: &StoredRun, call: &NodeId) {
        let Some(node) = self.call_node(call) else { return };
        if let RunState::WaitingInteraction { call_node_id: Some(waits), .. } = &run.state
            && waits == call
        {
            let text = "The user stopped the turn during this wait.";
            self.put_result(change, run, node, false, text, "stopped", None);
            return;
        }
        let began = match &run.state {
            RunState::ExecutingTool { call_node_id, recovery } if call_node_id == call => Some(*recovery),
            RunState::PausedUncertain { call_node_id }
                if call_node_id == call && !mutant!(StoppedWriteDenied) =>
            {
                Some(RecoveryClass::NeverRetry)
            }
            RunState::Queued {}
            | RunState::Preparing { .. }
            | RunState::StreamingModel { .. }
            | RunState::WaitingApproval { .. }
            | RunState::WaitingInteraction { .. }
            | RunState::ExecutingTool { .. }
            | RunState::PausedBudget {}
            | RunState::PausedUncertain { .. }
            | RunState::Interrupted { .. }
            | RunState::Failed { .. }
            | RunState::Completed { .. } => None,
        };
        let (text, outcome) = match began {
            Some(RecoveryClass::InspectFirst | RecoveryClass::NeverRetry) => (
                "The user stopped the turn while this ran: it may have happened. Look at the page before going on.",
                Some(ActionOutcome::Uncertain),
            ),
            Some(RecoveryClass::RetrySafe) => ("The user stopped the turn while this ran.", None),
            None => ("Not run: the user stopped the turn.", None),
        };
        self.put_result(change, run, node, false, text, "stopped", outcome);
    }

    /// Remembers, once in an actor's life, what the pages of this path have shown.
    pub(crate) fn remember_reads(&mut self, path: &[StoredNode]) {
        if std::mem::replace(&mut self.taints_known, true) {
            return;
        }
        let mut origins = std::collections::BTreeMap::new();
        for node in path.iter().filter(|node| !node.tombstone) {
            match &node.payload {
                NodePayload::UserMessage { input, .. } => self.taints.record_own(&input.text),
                NodePayload::ToolCall { origin: Some(origin), .. } => {
                    if let Ok(origin) = crate::permission::Origin::parse(origin) {
                        origins.insert(&node.id, origin);
                    }
                }
                NodePayload::ToolResult { call_node_id, text, .. } => {
                    if let Some(origin) = origins.get(call_node_id) {
                        self.taints.record(origin, text);
                    }
                }
                NodePayload::ToolCall { origin: None, .. }
                | NodePayload::AssistantMessage { .. }
                | NodePayload::ApprovalDecision { .. }
                | NodePayload::InteractionResponse { .. }
                | NodePayload::TurnContext { .. }
                | NodePayload::SystemNotice { .. } => {}
            }
        }
    }

    /// Reads the calls of the current run that have no result.
    ///
    /// # Errors
    /// [`Broken`] when the database fails.
    pub(crate) async fn load_calls(&mut self) -> Result<(), Broken> {
        let open = self.current().map(|run| run.open_calls.clone()).unwrap_or_default();
        let mut calls = Vec::with_capacity(open.len());
        for id in &open {
            calls.extend(self.node(id).await?);
        }
        self.calls = calls;
        Ok(())
    }
}

/// The question about a call: one per call, so that its answer is found again after a restart.
pub(crate) fn approval_id(call: &NodeId) -> ApprovalId {
    ApprovalId::new(format!("ask-{call}"))
}

/// Whether a call's tool is on offer in its run.
pub(super) fn offered(run: &StoredRun, invocation: &Invocation) -> bool {
    run.environment
        .as_ref()
        .is_none_or(|environment| environment.tools.iter().any(|tool| tool == invocation.spec.name))
}
