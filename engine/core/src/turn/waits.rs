//! Durable waits: a run that waits for the user, a page or a time, from the call that asks for it to its result.
//!
//! A wait begins with one commit and ends with one: its row, a node for the record, the call's result and the run's next
//! state are stored together or not at all, so it ends once. Its end is an absolute time that is fixed when it begins.
//! Nothing runs while it lasts but, where a page is watched, single looks at that page: when the wait begins, with every
//! alarm or other cause that wakes the worker, and a little more often while somebody has a page of the extension open,
//! which keeps the worker alive anyway.

use super::machine::step;
use super::toolbox::{self, Invocation};
use super::tools::{self, Looked, Seen};
use super::{Effect, EffectEnd};
use crate::mutants::mutant;
use crate::permission::{Origin, Permitted, Verdict};
use crate::ports::World;
use crate::store::records::{NodePayload, RunState, StoredFacts, StoredInteraction, StoredNode, StoredRun};
use crate::store::snapshot::pending_item;
use crate::store::tree::NewNode;
use crate::thread::{Actor, Broken, Change, item_events};
use crate::tools::ToolInvocation;
use crate::tools::results::provenance;
use crate::tools::waits::{PageSeen, render_end, summary};
use futures::future::FutureExt;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{InteractionId, ItemId, NodeId, TurnId};
use panelot_protocol::interaction::{
    InteractionEnd, InteractionRequestPayload, InteractionResponse, WatchLoss,
};

/// Shortest time between two looks at a page that is watched.
pub(crate) const LOOK_INTERVAL_MS: u64 = 10_000;

impl<W: World> Actor<W> {
    /// Lets the run wait for what a permitted call asks for.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(super) async fn begin_wait(
        &mut self,
        run: &StoredRun,
        node: StoredNode,
        facts: StoredFacts,
        permitted: Permitted<Invocation>,
    ) -> Result<(), Broken> {
        let invocation = permitted.executed(()).call;
        let request = if let ToolInvocation::Wait(wait) = &invocation.call {
            wait.request(ItemId::from(&node.id), facts.tab_id, self.core.now_ms())
        } else {
            None
        };
        let Some(request) = request else {
            return self.failed_call(run, &node, "Nothing that can be waited for is meant.").await;
        };
        let mut change = self.change();
        change.builder.strict();
        let node = self.put_target(&mut change, node, &invocation, &facts);
        let wait = StoredInteraction {
            id: wait_id(&node.id),
            thread_id: self.id.clone(),
            run_id: run.id.clone(),
            call_node_id: Some(node.id.clone()),
            request,
            facts,
            end: None,
            revision: 0,
        };
        change.events.extend(item_events(&self.id, &pending_item(&wait)));
        change.say(AgentEvent::InteractionRequest {
            thread_id: self.id.clone(),
            turn_id: TurnId::from(&run.id),
            interaction_id: wait.id.clone(),
            request: Box::new(wait.request.clone()),
        });
        let state = RunState::WaitingInteraction {
            interaction_id: wait.id.clone(),
            call_node_id: Some(node.id.clone()),
        };
        change.put_interaction(None, wait);
        change.put_run(Some(run), StoredRun { consented_call: None, ..step(run, state)? });
        self.commit(change).await?;
        self.keep_call(node);
        self.looked_at_ms = None;
        self.look_at_page().await
    }

    /// The wait of the current run, with the run.
    pub(crate) fn open_wait(&self) -> Option<(&StoredRun, &StoredInteraction)> {
        let run = self.current()?;
        let RunState::WaitingInteraction { interaction_id, .. } = &run.state else { return None };
        let wait = self.state.interactions.iter().find(|wait| &wait.id == interaction_id)?;
        Some((run, wait))
    }

    /// When the open wait must be looked at while the worker lives: at its end, and before that where a page is watched
    /// and somebody is there.
    pub(crate) fn wait_due_ms(&self) -> Option<u64> {
        let (_, wait) = self.open_wait()?;
        let watches = matches!(wait.request, InteractionRequestPayload::WatchPage { .. });
        let looks = watches && self.effect.is_none() && self.core.publisher.anybody();
        let look = self.looked_at_ms.filter(|_| looks).map(|at_ms| at_ms.saturating_add(LOOK_INTERVAL_MS));
        wait.request.deadline_ms().into_iter().chain(look).min()
    }

    /// Ends a wait whose time has come.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn end_overdue_wait(&mut self) -> Result<(), Broken> {
        let now_ms = self.core.now_ms();
        let overdue = self
            .open_wait()
            .filter(|(_, wait)| wait.request.deadline_ms().is_some_and(|at_ms| at_ms <= now_ms));
        let Some((run, wait)) = overdue.map(|(run, wait)| (run.clone(), wait.clone())) else {
            return Ok(());
        };
        let end = match wait.request {
            InteractionRequestPayload::ScheduleResume { .. } => InteractionEnd::Due {},
            InteractionRequestPayload::AskUser { .. }
            | InteractionRequestPayload::UserAction { .. }
            | InteractionRequestPayload::Takeover { .. }
            | InteractionRequestPayload::WatchPage { .. }
            | InteractionRequestPayload::Elicitation { .. } => InteractionEnd::Expired {},
        };
        self.end_wait(&run, &wait, &end, None).await
    }

    /// Looks at the page that is watched, after something woke the worker.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn look_again(&mut self) -> Result<(), Broken> {
        if mutant!(WatchedOnce) {
            self.looked_at_ms = Some(self.core.now_ms());
            return Ok(());
        }
        self.look_at_page().await
    }

    /// Looks once at the page that is watched, unless it was looked at just now.
    async fn look_at_page(&mut self) -> Result<(), Broken> {
        let now_ms = self.core.now_ms();
        // A clock that was set back must not keep the page from being looked at.
        let just_now = self
            .looked_at_ms
            .is_some_and(|at_ms| at_ms <= now_ms && now_ms < at_ms.saturating_add(LOOK_INTERVAL_MS));
        if self.effect.is_some() || just_now {
            return Ok(());
        }
        let Some((run, wait)) = self.open_wait().map(|(run, wait)| (run.clone(), wait.clone())) else {
            return Ok(());
        };
        let InteractionRequestPayload::WatchPage { tab_id, .. } = wait.request else { return Ok(()) };
        // Also when nothing comes of it: what cannot be looked at now is not tried again at once.
        self.looked_at_ms = Some(now_ms);
        let Some(invocation) = self.invocation_of(&wait) else { return Ok(()) };
        let Some(action) = invocation.call.content_action() else { return Ok(()) };
        let question = invocation.question(&wait.facts);
        if let Verdict::Deny { .. } = self.bench(&run).await.judge(&question) {
            let end = InteractionEnd::Lost { why: WatchLoss::Forbidden };
            return self.end_wait(&run, &wait, &end, None).await;
        }
        let (world, site) = (self.core.world.clone(), question.acted_on());
        self.effect = Some(Effect::new(move |_| {
            tools::look(world, wait.id, tab_id, site, action)
                .map(|looked| EffectEnd::Looked(Box::new(looked)))
        }));
        Ok(())
    }

    /// A look at the watched page ended.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn looked(&mut self, looked: Looked) -> Result<(), Broken> {
        let of_look = self.open_wait().filter(|(_, wait)| wait.id == looked.wait);
        let Some((run, wait)) = of_look.map(|(run, wait)| (run.clone(), wait.clone())) else {
            return Ok(());
        };
        let (end, page) = match looked.seen {
            Seen::Nothing => return Ok(()),
            Seen::Met(page) => (InteractionEnd::Met {}, Some(page)),
            Seen::Closed => (InteractionEnd::Lost { why: WatchLoss::Closed }, None),
            Seen::Elsewhere(page) => (InteractionEnd::Lost { why: WatchLoss::Navigated }, Some(page)),
        };
        self.end_wait(&run, &wait, &end, page.as_ref()).await
    }

    /// Ends a wait for another reason than an answer.
    async fn end_wait(
        &mut self,
        run: &StoredRun,
        wait: &StoredInteraction,
        end: &InteractionEnd,
        page: Option<&PageSeen>,
    ) -> Result<(), Broken> {
        let mut change = self.change();
        change.builder.strict();
        self.put_wait_end(&mut change, run, wait, end, page)?;
        self.commit(change).await?;
        self.drop_effect();
        if let Some((page, origin)) = page.and_then(|page| Some((page, Origin::parse(&page.url).ok()?))) {
            self.taints.record(&origin, &format!("{}\n{}", page.url, page.title));
        }
        Ok(())
    }

    /// The end of a wait with the run's next step: the call has its result, and the turn goes on.
    ///
    /// # Errors
    /// When the run does not wait.
    pub(crate) fn put_wait_end(
        &self,
        change: &mut Change,
        run: &StoredRun,
        wait: &StoredInteraction,
        end: &InteractionEnd,
        page: Option<&PageSeen>,
    ) -> Result<(), Broken> {
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        next.leaf_id = self.put_interaction_end(change, wait, end);
        let call = wait.call_node_id.as_ref().and_then(|id| self.call_node(id));
        if let Some(call) = call.filter(|_| !mutant!(AnswerWithoutResult)) {
            let place = page.and_then(|page| Origin::parse(&page.url).ok()).map(|origin| origin.to_string());
            let tool = tool_of(call);
            let result = render_end(&wait.request, end, page, self.core.now_ms());
            let text = result.for_model(provenance(&call.id, tool, place.as_deref()));
            next.leaf_id = self.put_result(change, run, call, result.ok, &text, &summary(end), None);
        }
        next.open_calls.retain(|open| Some(open) != wait.call_node_id.as_ref());
        next.tool_failures = match end {
            InteractionEnd::Answered { response } => match response {
                InteractionResponse::Submit { .. } | InteractionResponse::Done {} => 0,
                // A refusal is no failure.
                InteractionResponse::Decline { .. } | InteractionResponse::Cancel {} => run.tool_failures,
            },
            InteractionEnd::Met {} | InteractionEnd::Due {} => 0,
            InteractionEnd::Lost { why: WatchLoss::Forbidden } | InteractionEnd::Withdrawn {} => {
                run.tool_failures
            }
            // That nothing came is no failure of the model's way either.
            InteractionEnd::Expired {} => run.tool_failures,
            InteractionEnd::Lost { why: WatchLoss::Closed | WatchLoss::Navigated } => {
                run.tool_failures.saturating_add(1)
            }
        };
        change.put_run(Some(run), next);
        Ok(())
    }

    /// The end of a wait as it is stored: its row, and a node for the record.
    pub(crate) fn put_interaction_end(
        &self,
        change: &mut Change,
        wait: &StoredInteraction,
        end: &InteractionEnd,
    ) -> Option<NodeId> {
        let ended = StoredInteraction { end: Some(end.clone()), revision: 1, ..wait.clone() };
        change.put_interaction(Some(wait), ended);
        let payload = NodePayload::InteractionResponse {
            interaction_id: wait.id.clone(),
            request: wait.request.clone(),
            end: end.clone(),
        };
        let new = vec![NewNode { id: NodeId::new(self.core.id()), payload }];
        change.add(&wait.run_id, self.core.now_ms(), new).last().map(|node| node.id.clone())
    }

    /// The call that waits, read again.
    fn invocation_of(&self, wait: &StoredInteraction) -> Option<Invocation> {
        let node = self.call_node(wait.call_node_id.as_ref()?)?;
        let NodePayload::ToolCall { tool_name, arguments, .. } = &node.payload else { return None };
        toolbox::parse(tool_name, arguments).ok()
    }
}

/// The wait of a call: one per call.
pub(crate) fn wait_id(call: &NodeId) -> InteractionId {
    InteractionId::new(format!("wait-{call}"))
}

fn tool_of(call: &StoredNode) -> &str {
    if let NodePayload::ToolCall { tool_name, .. } = &call.payload { tool_name } else { "" }
}
