//! The signals that components read. Each holds one thing, so that a change repaints what shows it and nothing else.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use dioxus::prelude::*;
use panelot_protocol::approval::PendingApproval;
use panelot_protocol::ids::{InteractionId, ItemId, SubmissionId, ThreadId};
use panelot_protocol::interaction::PendingInteraction;
use panelot_protocol::settings::{Language, Settings};
use panelot_protocol::snapshot::{
    ActiveTurn, QueueView, RunRecoveryState, ThreadListEntry, ThreadMeta, ThreadSnapshot, TurnEnd,
};
use panelot_protocol::turn::{CapturedTab, ModelRef, PermissionPolicy, UserInput};
use panelot_ui::connection::Link;
use panelot_ui::i18n::Key;
use panelot_ui::item::ItemState;
use panelot_ui::outgoing::Outgoing;
use panelot_ui::rows::{Row, rows};
use panelot_ui::session::{Notices, Session};
use panelot_ui::status::{Status, status};
use panelot_ui::transfer::Transfer;
use panelot_ui::trouble::Trouble;

/// What surrounds the items of the shown thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// Metadata.
    pub meta: ThreadMeta,
    /// The running turn.
    pub active_turn: Option<ActiveTurn>,
    /// Questions.
    pub approvals: Vec<PendingApproval>,
    /// Waits.
    pub interactions: Vec<PendingInteraction>,
    /// Runs that wait.
    pub queue: QueueView,
    /// Runs that need a decision.
    pub recoverable: Vec<RunRecoveryState>,
    /// Whether older items can be fetched.
    pub has_earlier: bool,
    /// How the last turn ended.
    pub last_end: Option<TurnEnd>,
}

impl Around {
    fn of(thread: &ThreadSnapshot, last_end: Option<&TurnEnd>) -> Self {
        Self {
            meta: thread.thread.clone(),
            active_turn: thread.active_turn.clone(),
            approvals: thread.approvals.clone(),
            interactions: thread.interactions.clone(),
            queue: thread.queue.clone(),
            recoverable: thread.recoverable.clone(),
            has_earlier: thread.older_than.is_some(),
            last_end: last_end.cloned(),
        }
    }
}

/// The signal of each item. Not itself shown: rows find theirs in it.
type Items = Rc<RefCell<HashMap<ItemId, Signal<ItemState>>>>;

/// Everything that is shown.
#[derive(Clone, Copy)]
pub struct Store {
    /// The rows of the conversation.
    pub rows: Signal<Vec<Row>>,
    /// What surrounds them; `None` for an empty draft.
    pub around: Signal<Option<Rc<Around>>>,
    /// The status line.
    pub status: Signal<Option<Status>>,
    /// Whether a turn of the user runs.
    pub running: Signal<bool>,
    /// Whether the running turn was asked to stop.
    pub stopping: Signal<bool>,
    /// The thread that is shown or about to be.
    pub thread_id: Signal<Option<ThreadId>>,
    /// Whether its content is still awaited.
    pub opening: Signal<bool>,
    /// Messages that are not confirmed.
    pub outgoing: Signal<Vec<Outgoing>>,
    /// The list of threads.
    pub threads: Signal<Vec<ThreadListEntry>>,
    /// Whether the list has more.
    pub more_threads: Signal<bool>,
    /// The settings, once they came.
    pub settings: Signal<Option<Rc<Settings>>>,
    /// The model that the next message uses.
    pub model: Signal<Option<ModelRef>>,
    /// The policy that the next message carries.
    pub policy: Signal<PermissionPolicy>,
    /// The connection.
    pub link: Signal<Link>,
    /// What the engine has said about itself.
    pub notices: Signal<Notices>,
    /// The last failure that was not dismissed.
    pub trouble: Signal<Option<Trouble>>,
    /// What goes back into the composer.
    pub restore: Signal<Option<UserInput>>,
    /// The export or import.
    pub transfer: Signal<Transfer>,
    /// Answers to changes of settings.
    pub saved: Signal<Vec<(SubmissionId, bool)>>,
    /// The language.
    pub language: Signal<Language>,
    /// The page in front of the user.
    pub tab: Signal<Option<CapturedTab>>,
    /// What was written in answer to a wait and not sent: it outlives a card that is drawn anew.
    pub answer: Signal<Option<(InteractionId, String)>>,
    /// What assistive technology is told.
    pub announcement: Signal<String>,
    /// Whether the conversation follows its end.
    pub following: Signal<bool>,
    /// Whether the list is open on a narrow page.
    pub list_open: Signal<bool>,
    items: Signal<Items>,
}

/// Answers that are kept for the form that waits for one.
const SAVED_COUNT_MAX: usize = 32;

impl Store {
    /// Tells assistive technology something. The same words again are another text for it: it tells changes only.
    pub fn announce(self, words: String) {
        let mut announcement = self.announcement;
        let again = *announcement.peek() == words;
        announcement.set(if again { format!("{words}\u{a0}") } else { words });
    }

    /// The signals of one page, in its root scope.
    pub fn new(language: Language) -> Self {
        fn root<T: 'static>(value: T) -> Signal<T> {
            Signal::new_in_scope(value, ScopeId::ROOT)
        }
        Self {
            rows: root(Vec::new()),
            around: root(None),
            status: root(None),
            running: root(false),
            stopping: root(false),
            thread_id: root(None),
            opening: root(false),
            outgoing: root(Vec::new()),
            threads: root(Vec::new()),
            more_threads: root(false),
            settings: root(None),
            model: root(None),
            policy: root(PermissionPolicy::default()),
            link: root(Link::Connecting),
            notices: root(Notices::default()),
            trouble: root(None),
            restore: root(None),
            transfer: root(Transfer::None),
            saved: root(Vec::new()),
            language: root(language),
            tab: root(None),
            answer: root(None),
            announcement: root(String::new()),
            following: root(true),
            list_open: root(false),
            items: root(Rc::default()),
        }
    }

    /// A text in the page's language.
    pub fn t(&self, key: Key) -> &'static str {
        key.text(*self.language.read())
    }

    /// The signal of an item.
    pub fn item(&self, item_id: &ItemId) -> Option<Signal<ItemState>> {
        self.items.peek().borrow().get(item_id).copied()
    }

    /// Takes over the whole view of a thread.
    pub fn replace(&mut self, session: &Session) {
        {
            let items = self.items.peek();
            let mut items = items.borrow_mut();
            let shown = session.thread().map(|thread| thread.items.as_slice()).unwrap_or_default();
            let mut kept = HashMap::with_capacity(shown.len());
            for item in shown {
                // A row that stays keeps its signal, so that it is repainted in place.
                let signal = match items.remove(&item.item_id) {
                    Some(mut signal) => {
                        signal.set(ItemState::of(item));
                        signal
                    }
                    None => Signal::new_in_scope(ItemState::of(item), ScopeId::ROOT),
                };
                kept.insert(item.item_id.clone(), signal);
            }
            // The rest may still be read by rows that are about to go; their values are small once emptied.
            for signal in items.values_mut() {
                signal.with_mut(|item| item.text = String::new());
            }
            *items = kept;
        }
        self.sync_rows(session);
        self.sync_around(session);
    }

    /// An item began.
    pub fn started(&mut self, session: &Session, item_id: &ItemId) {
        let Some(thread) = session.thread() else { return };
        let Some(item) = thread.items.iter().rev().find(|item| item.item_id == *item_id) else { return };
        let state = ItemState::of(item);
        let known = self.item(item_id);
        match known {
            Some(mut signal) => signal.set(state),
            None => {
                let signal = Signal::new_in_scope(state, ScopeId::ROOT);
                self.items.peek().borrow_mut().insert(item_id.clone(), signal);
            }
        }
    }

    /// Recomputes which rows there are.
    pub fn sync_rows(&mut self, session: &Session) {
        let fresh = session.thread().map(|thread| rows(&thread.items)).unwrap_or_default();
        for item in session.thread().map(|thread| thread.items.as_slice()).unwrap_or_default() {
            if self.item(&item.item_id).is_none() {
                let signal = Signal::new_in_scope(ItemState::of(item), ScopeId::ROOT);
                self.items.peek().borrow_mut().insert(item.item_id.clone(), signal);
            }
        }
        put(&mut self.rows, fresh);
    }

    /// Recomputes what surrounds the items.
    pub fn sync_around(&mut self, session: &Session) {
        let thread = session.thread();
        let last_end = session.view().and_then(|view| view.last_end.as_ref());
        put(&mut self.around, thread.map(|thread| Rc::new(Around::of(thread, last_end))));
        let language = *self.language.peek();
        let line = thread.and_then(|t| status(language, t, session.is_stopping()));
        put(&mut self.status, line);
        put(&mut self.running, session.is_running());
        put(&mut self.stopping, session.is_stopping());
        put(&mut self.thread_id, session.thread_id().cloned());
        put(&mut self.opening, session.is_opening());
    }

    /// Takes over the list of threads.
    pub fn sync_threads(&mut self, session: &Session) {
        put(&mut self.threads, session.threads().to_vec());
        put(&mut self.more_threads, session.has_more_threads());
    }

    /// Takes over settings and choices.
    pub fn sync_settings(&mut self, session: &Session) {
        put(&mut self.settings, session.settings().cloned().map(Rc::new));
        put(&mut self.model, session.model().cloned());
        put(&mut self.policy, session.policy());
    }

    /// Keeps an answer for the form that waits for it.
    pub fn note_saved(&mut self, submission_id: SubmissionId, well: bool) {
        self.saved.with_mut(|saved| {
            if saved.len() >= SAVED_COUNT_MAX {
                saved.remove(0);
            }
            saved.push((submission_id, well));
        });
    }
}

/// Writes a signal only when the value is another one.
pub fn put<T: PartialEq + 'static>(signal: &mut Signal<T>, value: T) {
    if *signal.peek() != value {
        signal.set(value);
    }
}
