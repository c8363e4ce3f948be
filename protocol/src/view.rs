//! The one fold: a view of a thread and an event give the next view. Pages show it, and tests hold it against the
//! engine's own snapshot.

use crate::event::AgentEvent;
use crate::frame::EventFrame;
use crate::ids::{ItemId, RunId, ThreadId};
use crate::item::{ItemDelta, ItemResult, ItemStatus, ItemView};
use crate::snapshot::{
    ActiveTurn, QueueView, RecoveryReason, StreamCursor, ThreadMeta, ThreadMetaPatch, ThreadSnapshot, TurnEnd,
};
use crate::turn::{TokenUsage, TurnKind};

/// What a page knows of the thread that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadView {
    /// The snapshot with all later events folded in.
    pub snapshot: ThreadSnapshot,
    /// How the last turn ended, since the snapshot.
    pub last_end: Option<TurnEnd>,
    /// Tokens of the user's running or last turn, since the snapshot.
    pub turn_usage: TokenUsage,
}

/// What a page does after an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folded {
    /// The view is the engine's state.
    Current,
    /// The event was there before, or is not of this thread; the view is as it was.
    Ignored,
    /// Something is missing, or the path is another one: subscribe again.
    Resubscribe(ResubscribeReason),
    /// The thread is gone: back to an empty draft.
    Deleted,
}

/// Why a view cannot go on by events alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResubscribeReason {
    /// An event is missing.
    Gap,
    /// The worker began a new life.
    NewEpoch,
    /// Another branch is shown.
    PathReplaced,
    /// An event is about an item that the view does not have.
    UnknownItem,
    /// A worker changed the thread in its last moments, when this page was another one's already.
    UntoldRevision,
}

impl ThreadView {
    /// The view of a snapshot.
    pub fn new(snapshot: ThreadSnapshot) -> Self {
        Self { snapshot, last_end: None, turn_usage: TokenUsage::default() }
    }

    /// The thread that is shown.
    pub fn thread_id(&self) -> &ThreadId {
        &self.snapshot.thread.thread_id
    }

    /// Folds one message of the engine into the view. The view is unchanged unless the answer is
    /// [`Folded::Current`], a [`ResubscribeReason::PathReplaced`] or a [`ResubscribeReason::UntoldRevision`].
    pub fn fold(&mut self, frame: &EventFrame) -> Folded {
        if let AgentEvent::ThreadSubscribed { snapshot, .. } = &frame.event {
            if &snapshot.thread.thread_id != self.thread_id() {
                return Folded::Ignored;
            }
            *self = Self::new((**snapshot).clone());
            return Folded::Current;
        }
        if frame.event.stream_thread() != Some(self.thread_id()) {
            return Folded::Ignored;
        }
        let Some(cursor) = &frame.cursor else { return Folded::Ignored };
        let mine = &self.snapshot.cursor;
        if cursor.epoch != mine.epoch {
            return Folded::Resubscribe(ResubscribeReason::NewEpoch);
        }
        if cursor.sequence <= mine.sequence {
            return Folded::Ignored;
        }
        if cursor.sequence != mine.sequence.saturating_add(1) {
            return Folded::Resubscribe(ResubscribeReason::Gap);
        }
        let folded = self.apply(&frame.event);
        if folded == Folded::Current {
            self.snapshot.cursor.sequence = cursor.sequence;
        }
        folded
    }

    fn apply(&mut self, event: &AgentEvent) -> Folded {
        match event {
            // The turn that finds a title runs beside the user's.
            AgentEvent::TurnStart { turn_kind: TurnKind::Title, .. } => Folded::Current,
            AgentEvent::TurnStart { turn_id, turn_kind: turn_kind @ TurnKind::User, steerable, .. } => {
                self.forget_recovery(&RunId::from(turn_id));
                // Who begins something else leaves what could have gone on.
                self.snapshot.recoverable.retain(|run| run.reason == RecoveryReason::UncertainWrite);
                self.last_end = None;
                self.turn_usage = TokenUsage::default();
                self.snapshot.active_turn = Some(ActiveTurn {
                    turn_id: turn_id.clone(),
                    turn_kind: *turn_kind,
                    steerable: *steerable,
                    waiting: None,
                    steers: Vec::new(),
                });
                Folded::Current
            }
            AgentEvent::TurnComplete { turn_id, stop_reason, .. } => {
                let active = self.snapshot.active_turn.as_ref().is_some_and(|turn| &turn.turn_id == turn_id);
                if active {
                    self.snapshot.active_turn = None;
                }
                // A run that can go on all the same says so afterwards.
                if self.forget_recovery(&RunId::from(turn_id)) || active {
                    self.last_end = Some(TurnEnd { turn_id: turn_id.clone(), stop_reason: *stop_reason });
                }
                Folded::Current
            }
            AgentEvent::TokenUsage { turn_id, usage, .. } => {
                let active = self.snapshot.active_turn.as_ref().is_some_and(|turn| &turn.turn_id == turn_id);
                if active {
                    self.turn_usage = self.turn_usage.plus(*usage);
                }
                Folded::Current
            }
            AgentEvent::ItemStart { turn_id, item_id, kind, meta, .. } => {
                let item = ItemView {
                    item_id: item_id.clone(),
                    turn_id: turn_id.clone(),
                    kind: *kind,
                    meta: meta.clone(),
                    text: String::new(),
                    tool_progress: None,
                    status: ItemStatus::Running,
                    details: None,
                };
                replace_or_push(&mut self.snapshot.items, item, |i| i.item_id == *item_id);
                Folded::Current
            }
            AgentEvent::ItemDelta { item_id, delta, .. } => self.grow(item_id, delta),
            AgentEvent::ItemComplete { item_id, result, .. } => self.end(item_id, result.as_ref()),
            AgentEvent::ApprovalRequest { turn_id, approval_id, request, .. } => {
                let pending = crate::approval::PendingApproval {
                    approval_id: approval_id.clone(),
                    turn_id: turn_id.clone(),
                    request: (**request).clone(),
                };
                replace_or_push(&mut self.snapshot.approvals, pending, |a| a.approval_id == *approval_id);
                Folded::Current
            }
            AgentEvent::InteractionRequest { turn_id, interaction_id, request, .. } => {
                let pending = crate::interaction::PendingInteraction {
                    interaction_id: interaction_id.clone(),
                    turn_id: turn_id.clone(),
                    request: (**request).clone(),
                };
                replace_or_push(&mut self.snapshot.interactions, pending, |i| {
                    i.interaction_id == *interaction_id
                });
                Folded::Current
            }
            AgentEvent::ThreadUpdated { revision, patch, .. } => {
                let is_next = *revision <= self.snapshot.thread.revision.saturating_add(1);
                patch_meta(&mut self.snapshot.thread, *revision, patch);
                match (patch.path_replaced, is_next) {
                    (true, _) => return Folded::Resubscribe(ResubscribeReason::PathReplaced),
                    (false, false) => return Folded::Resubscribe(ResubscribeReason::UntoldRevision),
                    (false, true) => {}
                }
                Folded::Current
            }
            AgentEvent::QueueUpdated { runs, held, .. } => {
                self.snapshot.queue = QueueView { runs: runs.clone(), held: *held };
                Folded::Current
            }
            AgentEvent::RunRecoveryRequired { run, .. } => {
                replace_or_push(&mut self.snapshot.recoverable, run.clone(), |r| r.run_id == run.run_id);
                Folded::Current
            }
            AgentEvent::RunWaiting { turn_id, waiting, .. } => {
                if let Some(turn) = &mut self.snapshot.active_turn
                    && turn.turn_id == *turn_id
                {
                    turn.waiting.clone_from(waiting);
                }
                Folded::Current
            }
            AgentEvent::TurnSteers { turn_id, steers, .. } => {
                if let Some(turn) = &mut self.snapshot.active_turn
                    && turn.turn_id == *turn_id
                {
                    turn.steers.clone_from(steers);
                }
                Folded::Current
            }
            AgentEvent::Error { .. } => Folded::Current,
            AgentEvent::ThreadDeleted { .. } => Folded::Deleted,
            AgentEvent::Initialized { .. }
            | AgentEvent::FatalReloadRequired { .. }
            | AgentEvent::CommandAck { .. }
            | AgentEvent::CommandRejected { .. }
            | AgentEvent::Pong { .. }
            | AgentEvent::ThreadCreated { .. }
            | AgentEvent::ThreadForked { .. }
            | AgentEvent::ThreadSubscribed { .. }
            | AgentEvent::ThreadListed { .. }
            | AgentEvent::ThreadItemsPage { .. }
            | AgentEvent::SettingsUpdated { .. }
            | AgentEvent::ModelsListed { .. }
            | AgentEvent::DataExported { .. }
            | AgentEvent::DataImported { .. }
            | AgentEvent::EngineNotice { .. }
            | AgentEvent::TabsUpdated { .. }
            | AgentEvent::ActivityUpdated { .. } => Folded::Ignored,
        }
    }

    fn grow(&mut self, item_id: &ItemId, delta: &ItemDelta) -> Folded {
        let Some(item) = self.item_mut(item_id) else {
            return Folded::Resubscribe(ResubscribeReason::UnknownItem);
        };
        for text in [&delta.text, &delta.reasoning].into_iter().flatten() {
            item.text.push_str(text);
        }
        if delta.tool_progress.is_some() {
            item.tool_progress.clone_from(&delta.tool_progress);
        }
        Folded::Current
    }

    fn end(&mut self, item_id: &ItemId, result: Option<&ItemResult>) -> Folded {
        let Some(item) = self.item_mut(item_id) else {
            return Folded::Resubscribe(ResubscribeReason::UnknownItem);
        };
        let ok = result.is_none_or(|result| result.ok);
        item.status = if ok { ItemStatus::Done } else { ItemStatus::Failed };
        item.details = result.and_then(|result| result.details.clone());
        item.tool_progress = None;
        self.snapshot.approvals.retain(|a| ItemId::from(&a.approval_id) != *item_id);
        self.snapshot.interactions.retain(|i| ItemId::from(&i.interaction_id) != *item_id);
        Folded::Current
    }

    /// The item, searched from the end: events are about the newest ones.
    fn item_mut(&mut self, item_id: &ItemId) -> Option<&mut ItemView> {
        self.snapshot.items.iter_mut().rev().find(|item| &item.item_id == item_id)
    }

    /// Whether there was something to forget.
    fn forget_recovery(&mut self, run_id: &RunId) -> bool {
        let before = self.snapshot.recoverable.len();
        self.snapshot.recoverable.retain(|run| &run.run_id != run_id);
        self.snapshot.recoverable.len() < before
    }

    /// Where the view stands in the stream.
    pub fn cursor(&self) -> &StreamCursor {
        &self.snapshot.cursor
    }
}

fn replace_or_push<T>(list: &mut Vec<T>, value: T, same: impl Fn(&T) -> bool) {
    match list.iter_mut().rev().find(|entry| same(entry)) {
        Some(entry) => *entry = value,
        None => list.push(value),
    }
}

/// Writes a patch into metadata; an absent field stays.
pub fn patch_meta(meta: &mut ThreadMeta, revision: u64, patch: &ThreadMetaPatch) {
    fn set<T: Clone>(field: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    fn set_some<T: Clone>(field: &mut Option<T>, value: &Option<T>) {
        if value.is_some() {
            field.clone_from(value);
        }
    }
    meta.revision = revision;
    set(&mut meta.title, &patch.title);
    set(&mut meta.updated_at_ms, &patch.updated_at_ms);
    set(&mut meta.pinned, &patch.pinned);
    set(&mut meta.archived, &patch.archived);
    set(&mut meta.tags, &patch.tags);
    set(&mut meta.stats, &patch.stats);
    set_some(&mut meta.leaf_id, &patch.leaf_id);
    set(&mut meta.preset, &patch.preset);
    set(&mut meta.folder_id, &patch.folder_id);
    set_some(&mut meta.param_overrides, &patch.param_overrides);
    set_some(&mut meta.cost_ceiling_usd, &patch.cost_ceiling_usd);
}
