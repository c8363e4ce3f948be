//! One change of a thread: what will be, what is written for it, and what is said once it holds.

use super::actor::{Actor, Broken};
use super::{Mail, receipt_of};
use crate::mutants::mutant;
use crate::ports::{Commit, Query, Row, Store, StoreError, Table, World};
use crate::store::attachments::StoredAttachment;
use crate::store::records::{
    NodePayload, Record, RunState, StoredApproval, StoredInteraction, StoredNode, StoredReceipt, StoredRun,
    StoredThread,
};
use crate::store::repo::ThreadState;
use crate::store::snapshot::{item_of, queue_view, reasoning_of, result_details};
use crate::store::tree::{NewNode, Position};
use crate::store::{CommitBuilder, RepoError};
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ItemId, RunId, ThreadId, TurnId};
use panelot_protocol::item::{ItemDelta, ItemDetails, ItemResult, ItemStatus, ItemView};
use panelot_protocol::snapshot::ThreadMetaPatch;
use panelot_protocol::turn::UserInput;

/// A change in the making. Nothing of it exists until [`Actor::commit`].
pub(crate) struct Change {
    /// The thread as it will be.
    pub next: ThreadState,
    /// What is written.
    pub builder: CommitBuilder,
    /// What is said afterwards, in this order.
    pub events: Vec<AgentEvent>,
    /// Whether what pages show of the path is no longer a part of it.
    pub path_replaced: bool,
    /// Whether the thread itself is rewritten.
    touched: bool,
}

impl Change {
    /// A change of nothing.
    pub fn of(state: &ThreadState) -> Self {
        Self {
            next: state.clone(),
            builder: CommitBuilder::new(),
            events: Vec::new(),
            path_replaced: false,
            touched: false,
        }
    }

    /// The thread, to be changed.
    pub fn thread(&mut self) -> &mut StoredThread {
        self.touched = true;
        &mut self.next.thread
    }

    /// The thread's id.
    pub fn thread_id(&self) -> ThreadId {
        self.next.thread.id.clone()
    }

    /// Appends nodes below a parent. Their events are not added.
    pub fn append(
        &mut self,
        parent: Option<&Position>,
        run_id: &RunId,
        at_ms: u64,
        new: Vec<NewNode>,
    ) -> Vec<StoredNode> {
        self.touched = true;
        // The first item of a branch tells which one it is. When only the branch's context was there before, no page
        // has been told.
        self.path_replaced |= parent.is_some_and(|parent| self.next.tree.begins_branch(parent));
        let appended = self.next.tree.append(&mut self.next.thread, parent, run_id, at_ms, new);
        self.builder.put_all(&appended.chains);
        appended.nodes
    }

    /// Appends nodes at the thread's leaf and says so.
    pub fn add(&mut self, run_id: &RunId, at_ms: u64, new: Vec<NewNode>) -> Vec<StoredNode> {
        let leaf = self.next.leaf();
        let nodes = self.append(leaf.as_ref(), run_id, at_ms, new);
        self.builder.put_all(&nodes);
        for node in &nodes {
            self.say_node(node);
        }
        nodes
    }

    /// Adds the events of a node that no page has seen anything of.
    pub fn say_node(&mut self, node: &StoredNode) {
        let thread_id = self.thread_id();
        for item in [reasoning_of(node), item_of(node)].into_iter().flatten() {
            self.events.extend(item_events(&thread_id, &item));
        }
        match &node.payload {
            NodePayload::ToolResult { call_node_id, ok, summary, outcome, .. } => {
                let result = ItemResult { ok: *ok, details: Some(result_details(summary, *outcome)) };
                self.events.push(AgentEvent::ItemComplete {
                    thread_id,
                    item_id: ItemId::from(call_node_id),
                    result: Some(result),
                });
            }
            NodePayload::ApprovalDecision { approval_id, decision, .. } => {
                let details = ItemDetails { decision: Some(decision.clone()), ..ItemDetails::default() };
                self.events.push(AgentEvent::ItemComplete {
                    thread_id,
                    item_id: ItemId::from(approval_id),
                    result: Some(ItemResult { ok: decision.accepts(), details: Some(details) }),
                });
            }
            NodePayload::InteractionResponse { interaction_id, end, .. } => {
                let details = ItemDetails { end: Some(end.clone()), ..ItemDetails::default() };
                self.events.push(AgentEvent::ItemComplete {
                    thread_id,
                    item_id: ItemId::from(interaction_id),
                    result: Some(ItemResult { ok: end.is_good(), details: Some(details) }),
                });
            }
            NodePayload::UserMessage { .. }
            | NodePayload::AssistantMessage { .. }
            | NodePayload::ToolCall { .. }
            | NodePayload::TurnContext { .. }
            | NodePayload::SystemNotice { .. } => {}
        }
    }

    /// Writes a run. `before` is what is stored of it.
    pub fn put_run(&mut self, before: Option<&StoredRun>, run: StoredRun) {
        match before {
            Some(before) => self.builder.unchanged(before),
            None => self.builder.absent(Table::Runs, run.key()),
        };
        self.builder.put(&run);
        // A draft lives as long as its answer streams, whichever way that ends.
        if before.is_some_and(|before| matches!(before.state, RunState::StreamingModel { .. }))
            && !matches!(run.state, RunState::StreamingModel { .. })
            && !mutant!(DraftKept)
        {
            self.builder.delete(Table::Drafts, run.key());
        }
        self.next.runs.retain(|have| have.id != run.id);
        if !run.state.is_finished() {
            self.next.runs.push(run);
            self.next.runs.sort_by(|a, b| (a.created_at_ms, &a.id).cmp(&(b.created_at_ms, &b.id)));
        }
    }

    /// Makes attachments those of a run's message.
    pub fn refer(&mut self, attachments: &[StoredAttachment], run_id: &RunId) {
        for before in attachments {
            self.builder.unchanged(before);
            let mut after = before.clone();
            after.revision = before.revision.saturating_add(1);
            after.thread_id = Some(self.thread_id());
            if !after.references.contains(run_id) {
                after.references.push(run_id.clone());
            }
            self.builder.put(&after);
        }
    }

    /// Removes a queued run.
    pub fn delete_run(&mut self, run: &StoredRun) {
        self.builder.unchanged(run);
        self.builder.delete(Table::Runs, run.key());
        self.next.runs.retain(|have| have.id != run.id);
    }

    /// Writes a question, open or decided.
    pub fn put_approval(&mut self, before: Option<&StoredApproval>, approval: StoredApproval) {
        match before {
            Some(before) => self.builder.unchanged(before),
            None => self.builder.absent(Table::Approvals, approval.key()),
        };
        self.builder.put(&approval);
        self.next.approvals.retain(|have| have.id != approval.id);
        if approval.decision.is_none() {
            self.next.approvals.push(approval);
        }
    }

    /// Writes a wait, open or ended.
    pub fn put_interaction(&mut self, before: Option<&StoredInteraction>, interaction: StoredInteraction) {
        match before {
            Some(before) => self.builder.unchanged(before),
            None => self.builder.absent(Table::Interactions, interaction.key()),
        };
        self.builder.put(&interaction);
        self.next.interactions.retain(|have| have.id != interaction.id);
        if interaction.end.is_none() {
            self.next.interactions.push(interaction);
        }
    }

    /// Adds an event.
    pub fn say(&mut self, event: AgentEvent) {
        self.events.push(event);
    }

    /// Adds what the queue is now.
    pub fn say_queue(&mut self) {
        let queue = queue_view(&self.next);
        let event = AgentEvent::QueueUpdated {
            thread_id: self.thread_id(),
            pending: u32::try_from(queue.runs.len()).unwrap_or(u32::MAX),
            runs: queue.runs,
            held: queue.held,
        };
        self.events.push(event);
    }
}

/// The events of an item that no page has seen anything of.
pub(crate) fn item_events(thread_id: &ThreadId, item: &ItemView) -> Vec<AgentEvent> {
    let mut events = vec![AgentEvent::ItemStart {
        thread_id: thread_id.clone(),
        turn_id: item.turn_id.clone(),
        item_id: item.item_id.clone(),
        kind: item.kind,
        meta: item.meta.clone(),
    }];
    if !item.text.is_empty() {
        events.push(AgentEvent::ItemDelta {
            thread_id: thread_id.clone(),
            item_id: item.item_id.clone(),
            delta: ItemDelta { text: Some(item.text.clone()), ..ItemDelta::default() },
        });
    }
    events.extend(item_end(thread_id, item));
    events
}

/// The event that ends an item as it is; `None` while it runs.
pub(crate) fn item_end(thread_id: &ThreadId, item: &ItemView) -> Option<AgentEvent> {
    let result = match (item.status, &item.details) {
        (ItemStatus::Running, _) => return None,
        (ItemStatus::Done, None) => None,
        (ItemStatus::Done, Some(details)) => Some(ItemResult { ok: true, details: Some(details.clone()) }),
        (ItemStatus::Failed, details) => Some(ItemResult { ok: false, details: details.clone() }),
    };
    Some(AgentEvent::ItemComplete { thread_id: thread_id.clone(), item_id: item.item_id.clone(), result })
}

/// What changed between two states of a thread's metadata.
fn patch_between(before: &StoredThread, after: &StoredThread, path_replaced: bool) -> ThreadMetaPatch {
    fn changed<T: Clone + PartialEq>(before: &T, after: &T) -> Option<T> {
        (before != after).then(|| after.clone())
    }
    fn changed_some<T: Clone + PartialEq>(before: &Option<T>, after: &Option<T>) -> Option<T> {
        if before == after { None } else { after.clone() }
    }
    ThreadMetaPatch {
        title: changed(&before.title, &after.title),
        updated_at_ms: changed(&before.updated_at_ms, &after.updated_at_ms),
        leaf_id: changed_some(&before.leaf_id, &after.leaf_id),
        path_replaced,
        pinned: changed(&before.pinned, &after.pinned),
        archived: changed(&before.archived, &after.archived),
        preset: changed(&before.preset, &after.preset),
        folder_id: changed(&before.folder_id, &after.folder_id),
        tags: changed(&before.tags, &after.tags),
        param_overrides: changed_some(&before.param_overrides, &after.param_overrides),
        cost_ceiling_usd: changed_some(&before.cost_ceiling_usd, &after.cost_ceiling_usd),
        stats: changed(&before.stats, &after.stats),
    }
}

impl<W: World> Actor<W> {
    /// A change of the thread as it is.
    pub fn change(&self) -> Change {
        Change::of(&self.state)
    }

    /// The revision that a change leads to.
    pub fn revision_after(&self, change: &Change) -> u64 {
        let revision = self.state.thread.revision;
        if change.touched { revision.saturating_add(1) } else { revision }
    }

    /// Stores a change and says it. After an error nothing was said.
    ///
    /// # Errors
    /// [`Broken`] when it does not hold, or nobody knows: the actor's view of the thread counts no more.
    pub async fn commit(&mut self, change: Change) -> Result<(), Broken> {
        self.store(change, None).await.map(|_| ())
    }

    /// Stores a change together with the answer to the Op that asked for it, then answers and says it.
    ///
    /// # Errors
    /// As [`Actor::commit`]; then there was no answer.
    pub async fn commit_answered(
        &mut self,
        change: Change,
        mail: &Mail,
        answer: AgentEvent,
    ) -> Result<(), Broken> {
        let Some((op, fingerprint)) = mail.op() else { return self.commit(change).await };
        let (receipt, text) = receipt_of(&mail.client, op, fingerprint, answer, self.core.now_ms())?;
        self.store(change, Some((receipt, text, mail))).await
    }

    async fn store(
        &mut self,
        mut change: Change,
        answer: Option<(StoredReceipt, String, &Mail)>,
    ) -> Result<(), Broken> {
        change.builder.unchanged(&self.state.thread);
        if change.path_replaced {
            change.touched = true;
        }
        if change.touched {
            change.next.thread.revision = self.state.thread.revision.saturating_add(1);
            change.builder.put(&change.next.thread);
        }
        if let Some((receipt, _, _)) = &answer {
            change.builder.absent(Table::Receipts, receipt.key());
            if !mutant!(ReceiptMissing) {
                change.builder.put(receipt);
            }
            change.builder.strict();
        }
        if mutant!(AnsweredEarly)
            && let Some((_, text, mail)) = &answer
        {
            self.core.publisher.answer_text(mail.connection, text);
        }
        self.write(change.builder.build()?).await?;
        let steers_before = self.steers();
        let before = std::mem::replace(&mut self.state, change.next);
        if let Some((_, text, mail)) = &answer
            && !mutant!(AnsweredEarly)
        {
            self.core.publisher.answer_text(mail.connection, text);
            if mutant!(AnsweredTwice) {
                self.core.publisher.answer_text(mail.connection, text);
            }
        }
        if change.touched {
            let patch = patch_between(&before.thread, &self.state.thread, change.path_replaced);
            let revision = self.state.thread.revision;
            let thread_id = self.id.clone();
            self.publish(AgentEvent::ThreadUpdated { thread_id, revision, patch: Box::new(patch) });
        }
        let starts = change.events.iter().any(|event| matches!(event, AgentEvent::TurnStart { .. }));
        for event in change.events {
            self.publish(event);
        }
        self.say_steers(&steers_before, starts);
        self.show_presence();
        Ok(())
    }

    /// The messages that wait for the running turn.
    fn steers(&self) -> Vec<UserInput> {
        self.current().map(|run| run.steers.clone()).unwrap_or_default()
    }

    /// Says which messages wait for the running turn, when that is not what pages believe: a turn that starts has none
    /// in their eyes.
    fn say_steers(&self, before: &[UserInput], starts: bool) {
        let Some(run) = self.current() else { return };
        let believed = if starts { &[] } else { before };
        if run.steers != believed {
            self.publish(AgentEvent::TurnSteers {
                thread_id: self.id.clone(),
                turn_id: TurnId::from(&run.id),
                steers: run.steers.clone(),
            });
        }
    }

    /// Writes a commit. When nobody knows whether it holds, what is stored tells: this actor is the only writer of its
    /// thread, and every commit raises a revision or brings rows that were not there.
    async fn write(&self, commit: Commit) -> Result<(), RepoError> {
        // A row that is written twice in one commit is stored as it was written last.
        let mut rows: Vec<Row> = Vec::with_capacity(commit.put.len());
        for row in &commit.put {
            rows.retain(|have| (have.table, &have.key) != (row.table, &row.key));
            rows.push(row.clone());
        }
        let store = self.core.world.store();
        let problem = match store.commit(commit).await {
            Ok(()) => return Ok(()),
            Err(StoreError::Unknown(problem)) if !rows.is_empty() => problem,
            Err(error) => return Err(RepoError::Store(error)),
        };
        let get = |row: &Row| Query::Get { table: row.table, key: row.key.clone() };
        let found = store.read(rows.iter().map(get).collect()).await.map_err(RepoError::Store)?;
        let holds = found.iter().map(|rows| rows.first()).eq(rows.iter().map(Some));
        if holds { Ok(()) } else { Err(RepoError::Store(StoreError::Aborted(problem))) }
    }

    /// Sends an event of this thread.
    pub fn publish(&self, event: AgentEvent) {
        self.core.publisher.publish(&self.id, event);
    }
}

/// Whether an error leaves open, or contradicts, what the actor believes of its thread.
pub(crate) fn must_reload(error: &RepoError) -> bool {
    match error {
        RepoError::Store(StoreError::Conflict(_) | StoreError::Unknown(_)) => true,
        RepoError::Store(
            StoreError::Full
            | StoreError::Newer
            | StoreError::Blocked
            | StoreError::Corrupt(_)
            | StoreError::Aborted(_),
        )
        | RepoError::Damaged { .. }
        | RepoError::Unstorable { .. } => false,
    }
}

/// Whether an error tells for sure that nothing was written.
pub(crate) fn changed_nothing(error: &RepoError) -> bool {
    match error {
        RepoError::Store(StoreError::Full | StoreError::Aborted(_)) | RepoError::Unstorable { .. } => true,
        RepoError::Store(
            StoreError::Conflict(_)
            | StoreError::Unknown(_)
            | StoreError::Newer
            | StoreError::Blocked
            | StoreError::Corrupt(_),
        )
        | RepoError::Damaged { .. } => false,
    }
}
