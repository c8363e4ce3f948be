//! Reads of one answer side by side.
//!
//! The stored state is that of a single read: the first call of the row executes and may run again. A worker that dies
//! meanwhile leaves all calls of the row open, and the next one looks at them anew. Their results are one commit, in the
//! order of the calls, so no model ever sees a part of the row.

use super::machine::step;
use super::toolbox::{self, Invocation};
use super::tools::{self, Prepared, ToolEnd};
use super::{Effect, EffectEnd};
use crate::permission::{Decision, Permitted, ToolCall};
use crate::ports::World;
use crate::store::records::{NodePayload, RecoveryClass, RunState, StoredFacts, StoredNode, StoredRun};
use crate::thread::{Actor, Broken};
use futures::future::{FutureExt, join_all};
use panelot_protocol::ids::{NodeId, TabId};
use std::collections::{BTreeMap, BTreeSet};

/// Reads that run at once.
const READS_COUNT_MAX: usize = 8;

/// A read that may run.
struct Ready {
    node: StoredNode,
    facts: StoredFacts,
    permitted: Permitted<Invocation>,
}

impl<W: World> Actor<W> {
    /// Looks at the targets of the reads that come next, when there are several in a row. Answers whether there are.
    pub(crate) fn look_at_reads(&mut self, run: &StoredRun) -> bool {
        let reads: Vec<(NodeId, Invocation)> =
            run.open_calls.iter().map_while(|call| self.read_of(run, call)).take(READS_COUNT_MAX).collect();
        if reads.len() < 2 || run.is_out_of_tries() {
            return false;
        }
        let captured = run.environment.as_ref().and_then(|environment| environment.captured_tab);
        let world = self.core.world.clone();
        self.effect = Some(Effect::new(move |_| {
            let look = |(call, invocation)| tools::prepare(world.clone(), call, invocation, captured);
            join_all(reads.into_iter().map(look)).map(EffectEnd::PreparedReads)
        }));
        true
    }

    /// An open call, when it is a read that may run beside others.
    fn read_of(&self, run: &StoredRun, call: &NodeId) -> Option<(NodeId, Invocation)> {
        let NodePayload::ToolCall { tool_name, arguments, argument_problem: None, .. } =
            &self.call_node(call)?.payload
        else {
            return None;
        };
        let invocation = toolbox::parse(tool_name, arguments).ok()?;
        (invocation.is_independent() && super::call::offered(run, &invocation))
            .then(|| (call.clone(), invocation))
    }

    /// The targets of several reads are known: those that need no question run at once, up to the first that needs
    /// one. A row that begins with one that does goes the way of a single call.
    ///
    /// # Errors
    /// [`Broken`] when a commit did not hold.
    pub(crate) async fn prepared_reads(&mut self, prepared: Vec<Prepared>) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let bench = self.bench(&run).await;
        let mut ready = Vec::with_capacity(prepared.len());
        for one in &prepared {
            let (Some(node), Ok(facts)) = (self.call_node(&one.call).cloned(), &one.facts) else { break };
            let call = ToolCall::new(one.invocation.clone(), one.invocation.question(facts));
            let Decision::Permitted(permitted) = call.decide(|question| bench.judge(question)) else { break };
            ready.push(Ready { node, facts: facts.clone(), permitted });
        }
        match prepared.into_iter().next() {
            Some(first) if ready.len() < 2 => self.prepared(first).await,
            Some(_) => self.execute_reads(&run, ready).await,
            None => Ok(()),
        }
    }

    /// Stores that the reads are about to happen, then lets them happen.
    async fn execute_reads(&mut self, run: &StoredRun, ready: Vec<Ready>) -> Result<(), Broken> {
        let Some(first) = ready.first().map(|one| one.node.id.clone()) else { return Ok(()) };
        let state = RunState::ExecutingTool { call_node_id: first, recovery: RecoveryClass::RetrySafe };
        let next = step(run, state)?;
        let mut change = self.change();
        let mut nodes = Vec::with_capacity(ready.len());
        for one in &ready {
            nodes.push(self.put_target(&mut change, one.node.clone(), one.permitted.call(), &one.facts));
        }
        change.put_run(Some(run), next);
        self.commit(change).await?;
        nodes.into_iter().for_each(|node| self.keep_call(node));
        let (world, of_thread) = (self.core.world.clone(), self.state.thread.tabs.iter().copied().collect());
        self.effect = Some(Effect::new(move |_| run_all(world, ready, of_thread).map(EffectEnd::Reads)));
        Ok(())
    }

    /// Reads ended: all results and the next state are one commit.
    ///
    /// # Errors
    /// [`Broken`] when the commit did not hold.
    pub(crate) async fn reads_ended(&mut self, ends: Vec<ToolEnd>) -> Result<(), Broken> {
        let Some(run) = self.current().cloned() else { return Ok(()) };
        let mut next = step(&run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        let mut change = self.change();
        for end in &ends {
            let Some(node) = self.call_node(&end.call) else { continue };
            next.leaf_id =
                self.put_result(&mut change, &run, node, end.ok, &end.text, &end.summary, end.outcome);
            next.tool_failures = if end.ok { 0 } else { next.tool_failures.saturating_add(1) };
            next.open_calls.retain(|open| open != &end.call);
        }
        change.put_run(Some(&run), next);
        self.commit(change).await?;
        for (origin, text) in ends.iter().filter_map(|end| end.read.as_ref()) {
            self.taints.record(origin, text);
        }
        Ok(())
    }
}

/// Runs reads of different tabs side by side and those of one tab one after the other: a page does one thing at a time.
/// The ends come in the order of the calls.
async fn run_all<W: World>(world: W, ready: Vec<Ready>, of_thread: BTreeSet<TabId>) -> Vec<ToolEnd> {
    let mut by_tab: BTreeMap<Option<TabId>, Vec<(usize, Ready)>> = BTreeMap::new();
    for (place, one) in ready.into_iter().enumerate() {
        by_tab.entry(one.facts.tab_id).or_default().push((place, one));
    }
    let in_turn = |row: Vec<(usize, Ready)>| async {
        let mut ends = Vec::with_capacity(row.len());
        for (place, one) in row {
            let of_thread = of_thread.clone();
            let end = tools::execute(world.clone(), one.node.id, one.permitted, one.facts, of_thread).await;
            ends.push((place, end));
        }
        ends
    };
    let mut ends: Vec<(usize, ToolEnd)> =
        join_all(by_tab.into_values().map(in_turn)).await.into_iter().flatten().collect();
    ends.sort_by_key(|(place, _)| *place);
    ends.into_iter().map(|(_, end)| end).collect()
}
