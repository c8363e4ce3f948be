//! What a page knows and does: the shown thread, the list, the settings, and how each gesture becomes Ops.
//!
//! The engine's events are folded by `panelot_protocol::view`; this adds what only a page has: messages that were
//! sent but are not confirmed, a thread that is being made for a first message, and the way back into the composer
//! when something is refused.

use panelot_protocol::event::AgentEvent;
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{ItemId, SubmissionId, ThreadId};
use panelot_protocol::item::{ItemDelta, ItemKind, ItemResult, ItemView};
use panelot_protocol::limits;
use panelot_protocol::notice::EngineNotice;
use panelot_protocol::op::Op;
use panelot_protocol::settings::Settings;
use panelot_protocol::snapshot::{ThreadListEntry, ThreadSnapshot};
use panelot_protocol::turn::{ModelRef, PermissionPolicy, StopReason, TurnKind, TurnOverrides, UserInput};
use panelot_protocol::view::{Folded, ThreadView, patch_meta};

use crate::connection::Surroundings;
use crate::intents::Intent;
use crate::outgoing::{FirstMessage, Outgoing};
use crate::transfer::{Heard, Transfers};
use crate::trouble::Trouble;

mod sending;

pub use sending::instead;

/// What changed, in the order in which it did. A page repaints what is named and nothing else.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Send this.
    Say(Box<Op>),
    /// Have this thread made and send this into it.
    Begin(Box<Op>, Box<FirstMessage>),
    /// Another thread is shown, or none; its content follows with [`Change::Replaced`].
    Showing(Option<ThreadId>),
    /// The whole view is another one.
    Replaced,
    /// An item began, or began anew.
    Started(ItemId),
    /// An item grew.
    Grown(ItemId, ItemDelta),
    /// An item ended.
    Ended(ItemId, Option<ItemResult>),
    /// Older items came before the others.
    Earlier,
    /// Turn, waits, questions, recovery, queue, metadata or use changed.
    Around,
    /// The messages that are not confirmed changed.
    Outgoing,
    /// The list of threads changed.
    Threads,
    /// The settings changed.
    Settings,
    /// This goes back into the composer.
    Restore(UserInput),
    /// This goes into the draft of a thread that is not shown, or of a new one.
    Keep(Option<ThreadId>, UserInput),
    /// What is known of the engine itself changed.
    Notices,
    /// Something failed.
    Trouble(Trouble),
    /// A change of settings that this page asked for was taken, or refused when `false`.
    Saved(SubmissionId, bool),
    /// An export or import is further, or has ended.
    Transfer,
    /// A turn ended, for this reason.
    TurnEnded(StopReason),
}

/// How a message is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As a new turn, or into the running one.
    Now,
    /// Behind the running turn.
    Queue,
}

/// Everything that a page knows.
#[derive(Debug, Default)]
pub struct Session {
    view: Option<ThreadView>,
    /// The thread that was asked for and has not come yet.
    opening: Option<(SubmissionId, ThreadId)>,
    /// The message for which a thread is being made.
    creating: Option<SubmissionId>,
    /// The page of older items that was asked for.
    paging: Option<SubmissionId>,
    outgoing: Vec<Outgoing>,
    stopping: bool,
    threads: Vec<ThreadListEntry>,
    list_cursor: Option<String>,
    list_query: String,
    listing: Option<(SubmissionId, bool)>,
    settings: Option<Settings>,
    saving: Vec<SubmissionId>,
    transfers: Transfers,
    model: Option<ModelRef>,
    policy: Option<PermissionPolicy>,
    notices: Notices,
}

/// What the engine has said about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notices {
    /// It died and was started again.
    pub restarted: Option<Restarted>,
    /// A newer version of the extension waits until nothing would be lost.
    pub update_ready: bool,
}

/// A death of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restarted {
    /// When it was started again, in milliseconds since 1970.
    pub at_ms: u64,
    /// What a developer needs to know, without content.
    pub report: String,
}

impl Session {
    /// The shown thread, when its content is there.
    #[must_use]
    pub fn thread(&self) -> Option<&ThreadSnapshot> {
        self.view.as_ref().map(|view| &view.snapshot)
    }

    /// The view of the shown thread.
    #[must_use]
    pub fn view(&self) -> Option<&ThreadView> {
        self.view.as_ref()
    }

    /// The thread that the page shows or is about to.
    #[must_use]
    pub fn thread_id(&self) -> Option<&ThreadId> {
        match &self.opening {
            Some((_, thread_id)) => Some(thread_id),
            None => self.view.as_ref().map(ThreadView::thread_id),
        }
    }

    /// Whether a thread was asked for whose content is not there.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        self.view.is_none() && self.opening.is_some()
    }

    /// What the engine has said about itself.
    #[must_use]
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Whether the user has asked the running turn to stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Whether a turn of the user runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.user_turn().is_some()
    }

    /// The list of threads, newest first.
    #[must_use]
    pub fn threads(&self) -> &[ThreadListEntry] {
        &self.threads
    }

    /// Whether the list has more.
    #[must_use]
    pub fn has_more_threads(&self) -> bool {
        self.list_cursor.is_some()
    }

    /// The export or import that goes on, or has ended.
    #[must_use]
    pub fn transfer(&self) -> &Transfers {
        &self.transfers
    }

    /// The settings, once they came.
    #[must_use]
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// The model that the next message uses.
    #[must_use]
    pub fn model(&self) -> Option<&ModelRef> {
        self.model
            .as_ref()
            .or_else(|| self.settings.as_ref().and_then(|settings| settings.default_model.as_ref()))
    }

    /// The policy that the next message carries.
    #[must_use]
    pub fn policy(&self) -> PermissionPolicy {
        self.policy
            .or_else(|| self.settings.as_ref().map(|settings| settings.permission_policy))
            .unwrap_or_default()
    }

    fn user_turn(&self) -> Option<&panelot_protocol::snapshot::ActiveTurn> {
        self.thread()
            .and_then(|thread| thread.active_turn.as_ref())
            .filter(|turn| turn.turn_kind == TurnKind::User)
    }

    /// Does what the user asked for.
    pub fn intend(&mut self, intent: Intent, around: &mut dyn Surroundings) -> Vec<Change> {
        match intent {
            Intent::Send { input, delivery } => self.send(input, delivery, around),
            Intent::OpenThread(thread_id) => self.open(thread_id, around),
            Intent::NewThread => self.leave(),
            Intent::ChooseModel(model) => {
                self.model = Some(model);
                vec![Change::Settings]
            }
            Intent::ChoosePolicy(policy) => {
                self.policy = Some(policy);
                vec![Change::Settings]
            }
            Intent::Search(query) => {
                self.list_query = query;
                self.list(None, around)
            }
            Intent::MoreThreads => match self.list_cursor.clone() {
                Some(cursor) => self.list(Some(cursor), around),
                None => Vec::new(),
            },
            Intent::Refresh => {
                let mut changes = vec![say(Op::SettingsGet { submission_id: around.submission_id() })];
                changes.extend(self.list(None, around));
                changes
            }
            Intent::Earlier => self.earlier(around),
            Intent::Settings(patch) => {
                let submission_id = around.submission_id();
                self.saving.push(submission_id.clone());
                vec![say(Op::SettingsUpdate { submission_id, patch: *patch })]
            }
            Intent::Export { with_attachments } => began(self.transfers.export(with_attachments, around)),
            Intent::Import { text, mode } => began(self.transfers.import(&text, mode, around)),
            Intent::ForgetTransfer => {
                self.transfers.forget();
                vec![Change::Transfer]
            }
            Intent::Stop => {
                let Some(thread_id) = self.thread_id().cloned() else { return Vec::new() };
                self.stopping = self.is_running();
                vec![
                    say(Op::TurnInterrupt { submission_id: around.submission_id(), thread_id }),
                    Change::Around,
                ]
            }
            Intent::InThread(act) => {
                let Some(thread_id) = self.thread_id().cloned() else { return Vec::new() };
                let overrides = Some(self.overrides());
                vec![say(act.op(around.submission_id(), thread_id, overrides))]
            }
            Intent::OnThread(thread_id, act) => vec![say(act.op(around.submission_id(), thread_id, None))],
            Intent::Decide { approval_id, decision } => {
                vec![say(Op::ApprovalResponse {
                    submission_id: around.submission_id(),
                    approval_id,
                    decision,
                })]
            }
            Intent::Respond { interaction_id, response } => vec![say(Op::InteractionResponse {
                submission_id: around.submission_id(),
                interaction_id,
                response,
            })],
        }
    }

    fn overrides(&self) -> TurnOverrides {
        TurnOverrides {
            model: self.model.clone(),
            permission_policy: Some(self.policy()),
            enabled_tool_levels: None,
            token_budget: None,
        }
    }

    fn open(&mut self, thread_id: ThreadId, around: &mut dyn Surroundings) -> Vec<Change> {
        if self.thread_id() == Some(&thread_id) {
            return Vec::new();
        }
        let mut changes = self.leave();
        let submission_id = around.submission_id();
        self.opening = Some((submission_id.clone(), thread_id.clone()));
        changes.push(Change::Showing(Some(thread_id.clone())));
        changes.push(say(Op::ThreadSubscribe { submission_id, thread_id }));
        changes
    }

    /// Back to an empty draft. Messages on their way stay with their thread; the engine has them or the outbox does.
    fn leave(&mut self) -> Vec<Change> {
        self.view = None;
        self.opening = None;
        self.creating = None;
        self.paging = None;
        self.stopping = false;
        vec![Change::Showing(None), Change::Replaced, Change::Outgoing]
    }

    fn list(&mut self, cursor: Option<String>, around: &mut dyn Surroundings) -> Vec<Change> {
        let submission_id = around.submission_id();
        self.listing = Some((submission_id.clone(), cursor.is_some()));
        let query = Some(self.list_query.clone()).filter(|query| !query.is_empty());
        vec![say(Op::ThreadList { submission_id, cursor, query, archived: None })]
    }

    fn earlier(&mut self, around: &mut dyn Surroundings) -> Vec<Change> {
        let Some(thread) = self.thread() else { return Vec::new() };
        let (Some(_), None) = (&thread.older_than, &self.paging) else { return Vec::new() };
        let before_node_id = thread.items.first().map(|item| (&item.item_id).into());
        let thread_id = thread.thread.thread_id.clone();
        let submission_id = around.submission_id();
        self.paging = Some(submission_id.clone());
        let limit = u32::try_from(limits::SNAPSHOT_ITEMS_COUNT_MAX).unwrap_or(u32::MAX);
        vec![say(Op::ThreadItems { submission_id, thread_id, before_node_id, limit })]
    }

    /// Takes one message of the engine.
    pub fn hear(&mut self, frame: &EventFrame, around: &mut dyn Surroundings) -> Vec<Change> {
        let mut changes = self.hear_transfer(&frame.event, around);
        changes.extend(self.hear_answer(&frame.event, around));
        changes.extend(self.hear_list(&frame.event, around));
        changes.extend(self.fold(frame, around));
        changes
    }

    fn hear_transfer(&mut self, event: &AgentEvent, around: &mut dyn Surroundings) -> Vec<Change> {
        match self.transfers.hear(event, around) {
            Heard::Nothing => Vec::new(),
            Heard::Say(op) => vec![Change::Say(op), Change::Transfer],
            // What was imported stands in the list.
            Heard::Changed if matches!(event, AgentEvent::DataImported { .. }) => {
                let mut changes = self.list(None, around);
                changes.push(Change::Transfer);
                changes
            }
            Heard::Changed => vec![Change::Transfer],
        }
    }

    fn hear_answer(&mut self, event: &AgentEvent, around: &mut dyn Surroundings) -> Vec<Change> {
        match event {
            AgentEvent::Initialized { snapshot, .. } => self.greeted(snapshot.as_deref(), around),
            AgentEvent::ThreadSubscribed { submission_id, snapshot } => {
                if self.opening.as_ref().is_none_or(|(asked, _)| asked != submission_id) {
                    return Vec::new();
                }
                self.replace((**snapshot).clone())
            }
            AgentEvent::ThreadCreated { submission_id, thread } => {
                self.created(submission_id, thread.thread_id.clone(), around)
            }
            AgentEvent::ThreadItemsPage { submission_id, thread_id, items, older_than } => {
                if self.paging.as_ref() != Some(submission_id) {
                    return Vec::new();
                }
                self.paging = None;
                let Some(view) = self.view.as_mut().filter(|view| view.thread_id() == thread_id) else {
                    return Vec::new();
                };
                let known = std::mem::take(&mut view.snapshot.items);
                view.snapshot.items.extend(items.iter().filter(|item| !holds(&known, item)).cloned());
                view.snapshot.items.extend(known);
                view.snapshot.older_than.clone_from(older_than);
                vec![Change::Earlier]
            }
            AgentEvent::CommandAck { submission_id, run_id, .. } => {
                self.acked(submission_id, run_id.as_ref())
            }
            AgentEvent::CommandRejected { submission_id, code, message, .. } => {
                self.refused(submission_id, *code, message, around)
            }
            AgentEvent::Error {
                submission_id,
                thread_id,
                code,
                message,
                error_kind,
                provider_details,
                ..
            } => self.failed(
                submission_id.as_ref(),
                thread_id.as_ref(),
                Trouble::of(*code, message, *error_kind, provider_details.as_ref()),
            ),
            AgentEvent::SettingsUpdated { submission_id, settings } => {
                if self.settings.as_ref().is_none_or(|known| known.revision <= settings.revision) {
                    self.settings = Some((**settings).clone());
                }
                let mut changes = vec![Change::Settings];
                changes.extend(submission_id.as_ref().and_then(|id| self.saved(id, true)));
                changes
            }
            AgentEvent::FatalReloadRequired { .. }
            | AgentEvent::Pong { .. }
            | AgentEvent::ThreadForked { .. }
            | AgentEvent::ThreadListed { .. }
            | AgentEvent::ModelsListed { .. }
            | AgentEvent::DataExported { .. }
            | AgentEvent::DataImported { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TurnComplete { .. }
            | AgentEvent::TokenUsage { .. }
            | AgentEvent::ItemStart { .. }
            | AgentEvent::ItemDelta { .. }
            | AgentEvent::ItemComplete { .. }
            | AgentEvent::ApprovalRequest { .. }
            | AgentEvent::InteractionRequest { .. }
            | AgentEvent::ThreadDeleted { .. }
            | AgentEvent::ThreadUpdated { .. }
            | AgentEvent::QueueUpdated { .. }
            | AgentEvent::RunRecoveryRequired { .. }
            | AgentEvent::RunWaiting { .. }
            | AgentEvent::TurnSteers { .. }
            | AgentEvent::TabsUpdated { .. }
            | AgentEvent::ActivityUpdated { .. } => Vec::new(),
            AgentEvent::EngineNotice { notice } => {
                match notice {
                    EngineNotice::Restarted { at_ms, report } => {
                        self.notices.restarted = Some(Restarted { at_ms: *at_ms, report: report.clone() });
                    }
                    EngineNotice::UpdateReady {} => self.notices.update_ready = true,
                }
                vec![Change::Notices]
            }
        }
    }

    /// The connection stands. Without a snapshot the thread is gone, or it takes longer than a greeting may: only
    /// its own answer tells, so it is asked for by itself.
    fn greeted(&mut self, snapshot: Option<&ThreadSnapshot>, around: &mut dyn Surroundings) -> Vec<Change> {
        let mut changes = match (snapshot, self.thread_id().cloned()) {
            (Some(snapshot), _) => self.replace(snapshot.clone()),
            (None, Some(thread_id)) if self.opening.is_none() => {
                let submission_id = around.submission_id();
                self.opening = Some((submission_id.clone(), thread_id.clone()));
                vec![say(Op::ThreadSubscribe { submission_id, thread_id })]
            }
            (None, Some(_) | None) => Vec::new(),
        };
        // An engine that still waits to be replaced says so after the greeting.
        self.notices.update_ready = false;
        changes.push(Change::Notices);
        changes.extend(self.intend(Intent::Refresh, around));
        changes
    }

    fn replace(&mut self, snapshot: ThreadSnapshot) -> Vec<Change> {
        self.opening = None;
        self.paging = None;
        self.view = Some(ThreadView::new(snapshot));
        self.stopping = false;
        self.forget_delivered();
        vec![Change::Replaced, Change::Outgoing]
    }

    fn saved(&mut self, submission_id: &SubmissionId, well: bool) -> Option<Change> {
        let at = self.saving.iter().position(|saving| saving == submission_id)?;
        Some(Change::Saved(self.saving.remove(at), well))
    }

    fn hear_list(&mut self, event: &AgentEvent, around: &mut dyn Surroundings) -> Vec<Change> {
        match event {
            AgentEvent::ThreadListed { submission_id, threads, cursor } => {
                let Some((_, more)) = self.listing.take_if(|(asked, _)| asked == submission_id) else {
                    return Vec::new();
                };
                if !more {
                    self.threads.clear();
                }
                for entry in threads {
                    let id = &entry.thread.thread_id;
                    if !self.threads.iter().any(|known| known.thread.thread_id == *id) {
                        self.threads.push(entry.clone());
                    }
                }
                self.list_cursor.clone_from(cursor);
            }
            AgentEvent::ThreadDeleted { thread_id } => {
                self.threads.retain(|entry| entry.thread.thread_id != *thread_id);
            }
            AgentEvent::ThreadUpdated { thread_id, revision, patch } => {
                let Some(entry) = self.threads.iter_mut().find(|e| e.thread.thread_id == *thread_id) else {
                    return Vec::new();
                };
                patch_meta(&mut entry.thread, *revision, patch);
            }
            AgentEvent::ActivityUpdated { threads } => {
                let mut unknown = false;
                for change in threads {
                    match self.threads.iter_mut().find(|e| e.thread.thread_id == change.thread_id) {
                        Some(entry) => entry.activity = change.activity,
                        None => unknown = true,
                    }
                }
                // Another page began a thread: its place and title are the engine's to say.
                if unknown && self.listing.is_none() {
                    let mut changes = self.list(None, around);
                    changes.push(Change::Threads);
                    return changes;
                }
            }
            AgentEvent::Initialized { .. }
            | AgentEvent::FatalReloadRequired { .. }
            | AgentEvent::CommandAck { .. }
            | AgentEvent::CommandRejected { .. }
            | AgentEvent::Pong { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::ThreadCreated { .. }
            | AgentEvent::ThreadForked { .. }
            | AgentEvent::ThreadSubscribed { .. }
            | AgentEvent::ThreadItemsPage { .. }
            | AgentEvent::SettingsUpdated { .. }
            | AgentEvent::ModelsListed { .. }
            | AgentEvent::DataExported { .. }
            | AgentEvent::DataImported { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TurnComplete { .. }
            | AgentEvent::TokenUsage { .. }
            | AgentEvent::ItemStart { .. }
            | AgentEvent::ItemDelta { .. }
            | AgentEvent::ItemComplete { .. }
            | AgentEvent::ApprovalRequest { .. }
            | AgentEvent::InteractionRequest { .. }
            | AgentEvent::QueueUpdated { .. }
            | AgentEvent::RunRecoveryRequired { .. }
            | AgentEvent::RunWaiting { .. }
            | AgentEvent::TurnSteers { .. }
            | AgentEvent::EngineNotice { .. }
            | AgentEvent::TabsUpdated { .. } => return Vec::new(),
        }
        vec![Change::Threads]
    }

    fn fold(&mut self, frame: &EventFrame, around: &mut dyn Surroundings) -> Vec<Change> {
        if matches!(frame.event, AgentEvent::ThreadSubscribed { .. }) {
            return Vec::new();
        }
        // While a fresh snapshot is on its way, what comes before it is in it.
        let Some(view) = self.view.as_mut().filter(|_| self.opening.is_none()) else { return Vec::new() };
        let gone =
            matches!(&frame.event, AgentEvent::ThreadDeleted { thread_id } if thread_id == view.thread_id());
        match view.fold(frame) {
            // A thread that is gone is gone, whether or not its stream says so.
            Folded::Ignored if gone => self.leave(),
            Folded::Ignored => Vec::new(),
            Folded::Deleted => self.leave(),
            Folded::Current => self.folded(&frame.event),
            Folded::Resubscribe(_) => {
                let thread_id = view.thread_id().clone();
                let submission_id = around.submission_id();
                self.opening = Some((submission_id.clone(), thread_id.clone()));
                vec![say(Op::ThreadSubscribe { submission_id, thread_id })]
            }
        }
    }

    fn folded(&mut self, event: &AgentEvent) -> Vec<Change> {
        match event {
            AgentEvent::ItemStart { item_id, kind, .. } => {
                let mut changes = vec![Change::Started(item_id.clone())];
                if *kind == ItemKind::UserMessage && !self.outgoing.is_empty() {
                    self.forget_delivered();
                    changes.push(Change::Outgoing);
                }
                changes.push(Change::Around);
                changes
            }
            AgentEvent::ItemDelta { item_id, delta, .. } => {
                vec![Change::Grown(item_id.clone(), delta.clone())]
            }
            AgentEvent::ItemComplete { item_id, result, .. } => {
                vec![Change::Ended(item_id.clone(), result.clone()), Change::Around]
            }
            // The turn that finds a title ends beside the user's.
            AgentEvent::TurnComplete { .. } if self.user_turn().is_some() => Vec::new(),
            AgentEvent::TurnComplete { stop_reason, .. } => {
                self.stopping = false;
                self.outgoing.retain(|sent| !(sent.steer && sent.run_id.is_some()));
                vec![Change::Around, Change::Outgoing, Change::TurnEnded(*stop_reason)]
            }
            AgentEvent::QueueUpdated { .. } | AgentEvent::TurnSteers { .. } => {
                self.forget_delivered();
                vec![Change::Around, Change::Outgoing]
            }
            AgentEvent::ThreadSubscribed { .. } => vec![Change::Replaced],
            AgentEvent::Initialized { .. }
            | AgentEvent::FatalReloadRequired { .. }
            | AgentEvent::CommandAck { .. }
            | AgentEvent::CommandRejected { .. }
            | AgentEvent::Pong { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::ThreadCreated { .. }
            | AgentEvent::ThreadForked { .. }
            | AgentEvent::ThreadListed { .. }
            | AgentEvent::ThreadItemsPage { .. }
            | AgentEvent::SettingsUpdated { .. }
            | AgentEvent::ModelsListed { .. }
            | AgentEvent::DataExported { .. }
            | AgentEvent::DataImported { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TokenUsage { .. }
            | AgentEvent::ApprovalRequest { .. }
            | AgentEvent::InteractionRequest { .. }
            | AgentEvent::ThreadDeleted { .. }
            | AgentEvent::ThreadUpdated { .. }
            | AgentEvent::RunRecoveryRequired { .. }
            | AgentEvent::RunWaiting { .. }
            | AgentEvent::EngineNotice { .. }
            | AgentEvent::TabsUpdated { .. }
            | AgentEvent::ActivityUpdated { .. } => vec![Change::Around],
        }
    }
}

fn began(op: Option<Op>) -> Vec<Change> {
    op.map(|op| vec![say(op), Change::Transfer]).unwrap_or_default()
}

fn say(op: Op) -> Change {
    Change::Say(Box::new(op))
}

fn holds(items: &[ItemView], item: &ItemView) -> bool {
    items.iter().any(|known| known.item_id == item.item_id)
}
