//! What must hold of each commit, looked at the moment before it is applied.

use panelot_engine::ports::{Commit, Durability, Index, Key, Query, Row, Table};
use panelot_engine::store::MemoryStore;
use panelot_engine::store::records::{
    NodePayload, Record, RecoveryClass, RunState, StoredApproval, StoredInteraction, StoredNode,
    StoredReceipt, StoredRun, StoredThread,
};
use panelot_engine::store::repo::under;
use panelot_engine::turn::RunPhase;
use panelot_protocol::ids::{NodeId, ThreadId};
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::limits;
use panelot_testkit::SimStore;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Looks at every commit of a life.
#[derive(Clone, Default)]
pub struct Watch {
    found: Rc<RefCell<Vec<String>>>,
}

impl Watch {
    /// Watches a database from now on.
    pub fn of(store: &SimStore) -> Self {
        let watch = Self::default();
        let found = Rc::clone(&watch.found);
        store.set_watch(move |commit, before| look(commit, before, &mut found.borrow_mut()));
        watch
    }

    /// Takes what did not hold.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.found.borrow_mut())
    }
}

/// A commit with what it writes over.
struct Look<'a> {
    commit: &'a Commit,
    before: &'a MemoryStore,
    /// The rows as they will be: the last of each key.
    rows: Vec<&'a Row>,
    /// The runs among them. Runs are long: each is read once.
    runs: Vec<StoredRun>,
    found: &'a mut Vec<String>,
}

fn look(commit: &Commit, before: &MemoryStore, found: &mut Vec<String>) {
    let mut last: BTreeMap<(Table, &Key), &Row> = BTreeMap::new();
    for row in &commit.put {
        last.insert((row.table, &row.key), row);
    }
    let rows = last.into_values().collect();
    let mut look = Look { commit, before, rows, runs: Vec::new(), found };
    look.runs = look.written();
    let nodes: Vec<StoredNode> = look.written();
    look.threads();
    look.runs(&nodes);
    look.nodes(&nodes);
    look.receipts();
    look.approvals();
    look.interactions(&nodes);
}

impl Look<'_> {
    fn written<R: Record>(&self) -> Vec<R> {
        let of_kind = self.rows.iter().filter(|row| row.table == R::TABLE);
        of_kind.map(|row| R::from_row(row).expect("what is written can be read")).collect()
    }

    fn stored<R: Record>(&self, record: &R) -> Option<R> {
        let query = Query::Get { table: R::TABLE, key: record.key() };
        let rows = self.before.read_now(&[query]);
        rows.iter().flatten().next().map(|row| R::from_row(row).expect("what is stored can be read"))
    }

    fn threads(&mut self) {
        for thread in self.written::<StoredThread>() {
            let Some(old) = self.stored(&thread) else { continue };
            if thread.revision != old.revision + 1 {
                let (from, to) = (old.revision, thread.revision);
                self.found.push(format!("{} goes from revision {from} to {to}", thread.id));
            }
            if thread.next_seq < old.next_seq {
                self.found.push(format!("{} takes numbers back", thread.id));
            }
        }
    }

    fn runs(&mut self, nodes: &[StoredNode]) {
        for run in self.runs.clone() {
            let Some(old) = self.stored(&run) else { continue };
            let (from, to) = (RunPhase::of(&old.state), RunPhase::of(&run.state));
            if run.revision <= old.revision {
                self.found.push(format!("{} is written without a new revision", run.id));
            }
            let stays = from == to && !old.state.is_finished();
            if !stays && !from.next().contains(&to) {
                self.found.push(format!("{} goes from {from:?} to {to:?}", run.id));
            }
            // What was acknowledged is in the run or in the tree, at every moment.
            for steer in old.steers.iter().filter(|steer| !run.steers.contains(steer)) {
                let spoken = nodes.iter().any(
                    |node| matches!(&node.payload, NodePayload::UserMessage { input, .. } if input == steer),
                );
                if !spoken {
                    self.found.push(format!("{} drops {:?}", run.id, steer.text));
                }
            }
            let stopped = from.is_busy() && matches!(to, RunPhase::Interrupted);
            if stopped {
                self.queue_is_held(&run);
            }
            if let RunState::Preparing { not_before_ms: Some(_), attempts: 0 } = &run.state
                && from == RunPhase::StreamingModel
            {
                self.found.push(format!("{} waits for another attempt and counts none", run.id));
            }
            match &run.state {
                RunState::ExecutingTool { call_node_id, recovery } if from == RunPhase::Preparing => {
                    self.write_is_kept(call_node_id, *recovery);
                    self.target_is_the_accepted(call_node_id, nodes);
                }
                RunState::Preparing { .. } if matches!(from, RunPhase::Stopped | RunPhase::PausedBudget) => {
                    self.goes_on_where_it_stopped(&old, nodes);
                }
                RunState::Interrupted { resumable: false } => self.write_is_told(&old, nodes),
                _ => {}
            }
        }
        self.one_at_a_time();
    }

    /// That a write is about to happen is on the disk before it happens: else a loss of power lets it happen twice.
    fn write_is_kept(&mut self, call: &NodeId, recovery: RecoveryClass) {
        if recovery != RecoveryClass::RetrySafe && self.commit.durability != Durability::Strict {
            self.found.push(format!("the write {call} begins before it is on the disk"));
        }
    }

    /// A call that the user accepted goes where the question said.
    fn target_is_the_accepted(&mut self, call: &NodeId, nodes: &[StoredNode]) {
        let approvals = Query::Get { table: Table::Approvals, key: Key::text(format!("ask-{call}")) };
        let call_row = Query::Get { table: Table::Nodes, key: Key::text(call.as_str()) };
        let rows = self.before.read_now(&[approvals, call_row]);
        let mut rows = rows.iter().map(|rows| rows.first());
        let asked = rows.next().flatten().and_then(|row| StoredApproval::from_row(row).ok());
        let stored = rows.next().flatten().and_then(|row| StoredNode::from_row(row).ok());
        let node = nodes.iter().find(|node| &node.id == call).cloned().or(stored);
        let (Some(asked), Some(node)) = (asked, node) else { return };
        let NodePayload::ToolCall { tab_id, origin, .. } = &node.payload else { return };
        if (tab_id, origin) != (&asked.request.tab_id, &asked.request.origin) {
            let accepted = &asked.request.origin;
            self.found.push(format!("{call} was accepted for {accepted:?} and goes to {origin:?}"));
        }
    }

    /// A run that goes on does so below its own last node, whichever branch is shown meanwhile.
    fn goes_on_where_it_stopped(&mut self, old: &StoredRun, nodes: &[StoredNode]) {
        let added = nodes.iter().filter(|node| node.run_id == old.id).min_by_key(|node| node.seq);
        let place = match added {
            Some(added) => added.parent_id.clone(),
            None => self.thread_of(old).and_then(|thread| thread.leaf_id),
        };
        if old.leaf_id.is_some() && place != old.leaf_id {
            self.found.push(format!("{} stopped at {:?} and goes on at {place:?}", old.id, old.leaf_id));
        }
    }

    /// A run's thread as it will be.
    fn thread_of(&self, run: &StoredRun) -> Option<StoredThread> {
        let written = self.written::<StoredThread>().into_iter().find(|thread| thread.id == run.thread_id);
        let stored = || {
            let query = Query::Get { table: Table::Threads, key: Key::text(run.thread_id.as_str()) };
            let rows = self.before.read_now(&[query]);
            rows.iter().flatten().next().and_then(|row| StoredThread::from_row(row).ok())
        };
        written.or_else(stored)
    }

    /// A write that was stopped while it may have happened says so, and not that it did not run.
    fn write_is_told(&mut self, old: &StoredRun, nodes: &[StoredNode]) {
        let begun = match &old.state {
            RunState::PausedUncertain { call_node_id } => call_node_id,
            RunState::ExecutingTool { call_node_id, recovery } if *recovery != RecoveryClass::RetrySafe => {
                call_node_id
            }
            _ => return,
        };
        let told = nodes.iter().any(|node| {
            matches!(&node.payload, NodePayload::ToolResult { call_node_id, outcome: Some(ActionOutcome::Uncertain), .. } if call_node_id == begun)
        });
        if !told {
            self.found.push(format!("the write {begun} may have happened and its result does not say so"));
        }
    }

    /// The runs of a thread that will not be finished.
    fn unfinished(&self, thread_id: &ThreadId) -> Vec<StoredRun> {
        let (from, to) = under(thread_id.as_str());
        let limit = u32::MAX;
        let query = Query::Range { index: Index::RunsUnfinished, from, to, reverse: false, limit };
        let written = &self.runs;
        let is_deleted = |run: &StoredRun| self.commit.delete.contains(&(Table::Runs, run.key()));
        let mut runs: Vec<StoredRun> = self
            .before
            .read_now(&[query])
            .iter()
            .flatten()
            .map(|row| StoredRun::from_row(row).expect("what is stored can be read"))
            .filter(|run| !written.iter().any(|other| other.id == run.id) && !is_deleted(run))
            .collect();
        let own = |run: &StoredRun| &run.thread_id == thread_id && !run.state.is_finished();
        runs.extend(written.iter().filter(|run| own(run)).cloned());
        runs
    }

    /// A thread has one turn at a time and a queue of a few.
    fn one_at_a_time(&mut self) {
        let threads: BTreeSet<ThreadId> = self.runs.iter().map(|run| run.thread_id.clone()).collect();
        for thread_id in threads {
            let runs = self.unfinished(&thread_id);
            let queued = runs.iter().filter(|run| run.state.is_queued()).count();
            if runs.len() - queued > 1 {
                self.found.push(format!("{thread_id} has {} turns at once", runs.len() - queued));
            }
            if u64::try_from(queued).unwrap() > limits::QUEUED_RUNS_COUNT_MAX {
                self.found.push(format!("{queued} messages wait in {thread_id}"));
            }
        }
    }

    /// What waits behind a turn that was stopped waits on until the user says so.
    fn queue_is_held(&mut self, run: &StoredRun) {
        let waits = self.unfinished(&run.thread_id).iter().any(|other| other.state.is_queued());
        let held = self.thread_of(run).is_some_and(|thread| thread.queue_held);
        if waits && !held {
            self.found.push(format!("{} was stopped and its queue goes on", run.id));
        }
    }

    fn nodes(&mut self, nodes: &[StoredNode]) {
        for node in nodes {
            if let Some(old) = self.stored(node) {
                let may_change = matches!(old.payload, NodePayload::ToolCall { .. });
                let same_place =
                    StoredNode { tombstone: old.tombstone, payload: old.payload.clone(), ..node.clone() };
                if same_place != old || (node.payload != old.payload && !may_change) {
                    self.found.push(format!("the node {} is rewritten", node.id));
                }
                continue;
            }
            let has_parent = node.parent_id.as_ref().is_none_or(|parent| {
                nodes.iter().any(|other| &other.id == parent)
                    || self.stored(&StoredNode { id: parent.clone(), ..node.clone() }).is_some()
            });
            if !has_parent {
                self.found.push(format!("the node {} has no parent yet", node.id));
            }
            let with_run = self.runs.iter().any(|run| run.id == node.run_id);
            let of_run = match &node.payload {
                NodePayload::ToolResult { .. }
                | NodePayload::AssistantMessage { .. }
                | NodePayload::ApprovalDecision { .. }
                | NodePayload::UserMessage { .. }
                | NodePayload::TurnContext { .. }
                | NodePayload::InteractionResponse { .. }
                | NodePayload::ToolCall { .. } => true,
                NodePayload::SystemNotice { .. } => false,
            };
            if of_run && !with_run {
                self.found.push(format!("the node {} comes without its run's next state", node.id));
            }
            if let NodePayload::AssistantMessage { call_count, .. } = &node.payload {
                let calls = nodes.iter().filter(|call| {
                    matches!(&call.payload, NodePayload::ToolCall { assistant_id, .. } if *assistant_id == node.id)
                });
                if calls.count() != *call_count as usize {
                    self.found.push(format!("the answer {} comes without all its calls", node.id));
                }
            }
        }
    }

    fn receipts(&mut self) {
        for receipt in self.written::<StoredReceipt>() {
            if self.stored(&receipt).is_some_and(|old| old.answer.is_some()) {
                self.found.push(format!("{} is answered a second time", receipt.submission_id));
            }
        }
        let forgets = self.commit.delete.iter().any(|(table, _)| *table == Table::Receipts);
        if forgets && !self.commit.put.is_empty() {
            self.found.push("receipts are forgotten by a commit of something else".to_owned());
        }
    }

    /// A wait stays what it was and ends once: with a node for the record and the result of its call.
    fn interactions(&mut self, nodes: &[StoredNode]) {
        for wait in self.written::<StoredInteraction>() {
            let Some(old) = self.stored(&wait) else { continue };
            if old.request != wait.request {
                self.found.push(format!("the wait {} is another one now", wait.id));
            }
            if old.end.is_some() {
                if old.end != wait.end {
                    self.found.push(format!("the wait {} ends a second time", wait.id));
                }
                continue;
            }
            let Some(end) = &wait.end else { continue };
            let recorded = nodes.iter().any(|node| {
                matches!(&node.payload, NodePayload::InteractionResponse { interaction_id, end: kept, .. } if *interaction_id == wait.id && kept == end)
            });
            let has_result = nodes.iter().any(|node| {
                matches!(&node.payload, NodePayload::ToolResult { call_node_id, .. } if Some(call_node_id) == wait.call_node_id.as_ref())
            });
            if !recorded || !has_result {
                self.found
                    .push(format!("the wait {} ends with record {recorded}, result {has_result}", wait.id));
            }
        }
    }

    fn approvals(&mut self) {
        for approval in self.written::<StoredApproval>() {
            let Some(old) = self.stored(&approval) else { continue };
            if old.request != approval.request {
                self.found.push(format!("the question {} is another one now", approval.id));
            }
            if old.decision.is_some() && old.decision != approval.decision {
                self.found.push(format!("the question {} is decided a second time", approval.id));
            }
        }
    }
}
