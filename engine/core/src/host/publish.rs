//! Sends events to pages: who sees which thread, where a thread's stream stands, and the merging of small pieces.

use crate::mutants::mutant;
use crate::ports::{Clients, Clock, ConnectionKey, Spawner, World};
use futures::future::FutureExt;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{Epoch, ItemId, SubmissionId, ThreadId};
use panelot_protocol::item::ItemDelta;
use panelot_protocol::limits;
use panelot_protocol::notice::EngineNotice;
use panelot_protocol::snapshot::{StreamCursor, ThreadSnapshot};
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most characters of a delta that waits to be sent; a longer one goes out at once.
const DELTA_CHARS_MAX: usize = 16_384;
/// What a page that says nothing may leave unread, in bytes.
const UNREAD_BYTES_MAX: usize = 8 * 1024 * 1024;
/// After how long a page counts as one that says nothing: it misses three signs of life.
const SILENCE_MS_MAX: u64 = 3 * limits::PING_INTERVAL_MS;

/// The streams of all threads in one life of the worker.
pub struct Publisher<W: World> {
    world: W,
    epoch: Epoch,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// Connections whose greeting was accepted, with what they have not confirmed to have read.
    open: BTreeMap<ConnectionKey, Unread>,
    /// Those of them that were greeted: they get what goes to every page.
    pages: BTreeSet<ConnectionKey>,
    viewers: BTreeMap<ThreadId, BTreeSet<ConnectionKey>>,
    /// The thread that each page asked for last: two threads may answer in another order than they were asked.
    wanted: BTreeMap<ConnectionKey, ThreadId>,
    streams: BTreeMap<ThreadId, Stream>,
    /// What the next page is told behind its greeting, because no page was there.
    untold: Vec<AgentEvent>,
    /// What every page is told about the engine, also one that comes later.
    notices: Vec<EngineNotice>,
}

/// What was sent to a page since it last said something. A Port tells nobody whether its other end reads: the browser
/// can freeze a page and keep for it whatever comes.
#[derive(Default)]
struct Unread {
    bytes: usize,
    heard_ms: u64,
}

#[derive(Default)]
struct Stream {
    /// The number of the last event that was sent.
    sequence: u64,
    /// Pieces that wait, in their order; neighbours are of different items.
    waiting: Vec<(ItemId, ItemDelta)>,
    /// Whether a task will send them.
    timed: bool,
}

impl<W: World> Publisher<W> {
    /// A publisher of a new epoch.
    pub fn new(world: W, epoch: Epoch) -> Self {
        Self { world, epoch, state: RefCell::default() }
    }

    /// A page's greeting was accepted.
    pub fn admit(&self, connection: ConnectionKey) {
        let heard_ms = self.world.clock().now_ms();
        self.state.borrow_mut().open.insert(connection, Unread { bytes: 0, heard_ms });
    }

    /// A page said something: it has read what was sent before.
    pub fn heard(&self, connection: ConnectionKey) {
        let heard_ms = self.world.clock().now_ms();
        if let Some(unread) = self.state.borrow_mut().open.get_mut(&connection) {
            *unread = Unread { bytes: 0, heard_ms };
        }
    }

    /// Whether a page's greeting was accepted and it was not given up since.
    pub fn is_open(&self, connection: ConnectionKey) -> bool {
        self.state.borrow().open.contains_key(&connection)
    }

    /// Whether a page's greeting was answered, or the page is gone.
    pub fn is_greeted(&self, connection: ConnectionKey) -> bool {
        let state = self.state.borrow();
        state.pages.contains(&connection) || !state.open.contains_key(&connection)
    }

    /// Answers a page's greeting. Only the first answer is the greeting's; a snapshot that comes later is sent as the
    /// answer to a subscription.
    pub fn greet(
        &self,
        connection: ConnectionKey,
        submission_id: SubmissionId,
        snapshot: Option<Box<ThreadSnapshot>>,
    ) {
        let first = {
            let mut state = self.state.borrow_mut();
            if !state.open.contains_key(&connection) {
                return;
            }
            state.pages.insert(connection)
        };
        if first {
            self.answer(
                connection,
                AgentEvent::Initialized {
                    submission_id,
                    protocol: ENGINE_PROTOCOL.to_owned(),
                    schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
                    snapshot,
                },
            );
            let untold = std::mem::take(&mut self.state.borrow_mut().untold);
            for event in untold {
                self.answer(connection, event);
            }
            let notices = self.state.borrow().notices.clone();
            for notice in notices {
                self.answer(connection, AgentEvent::EngineNotice { notice });
            }
        } else if let Some(snapshot) = snapshot {
            self.answer(connection, AgentEvent::ThreadSubscribed { submission_id, snapshot });
        }
    }

    /// A page is gone.
    pub fn forget(&self, connection: ConnectionKey) {
        let mut state = self.state.borrow_mut();
        state.open.remove(&connection);
        state.pages.remove(&connection);
        state.wanted.remove(&connection);
        state.viewers.retain(|_, viewers| {
            viewers.remove(&connection);
            !viewers.is_empty()
        });
    }

    /// Whether any page is open.
    pub fn anybody(&self) -> bool {
        !self.state.borrow().pages.is_empty()
    }

    /// A page asked to see a thread.
    pub fn wants(&self, connection: ConnectionKey, thread_id: &ThreadId) {
        self.state.borrow_mut().wanted.insert(connection, thread_id.clone());
    }

    /// Makes a page see a thread and no other, unless it has asked for another one since. Answers where the thread's stream stands; what was waiting is sent
    /// to the earlier viewers first, so that a snapshot made now holds it.
    pub fn subscribe(&self, connection: ConnectionKey, thread_id: &ThreadId) -> StreamCursor {
        self.flush(thread_id);
        let mut state = self.state.borrow_mut();
        let wanted = state.wanted.get(&connection).is_none_or(|wanted| wanted == thread_id);
        if wanted && state.open.contains_key(&connection) {
            state.viewers.retain(|_, viewers| {
                viewers.remove(&connection);
                !viewers.is_empty()
            });
            state.viewers.entry(thread_id.clone()).or_default().insert(connection);
        }
        let mut sequence = state.streams.get(thread_id).map_or(0, |stream| stream.sequence);
        if mutant!(SnapshotTooOld) {
            sequence = sequence.saturating_add(1);
        }
        StreamCursor { thread_id: thread_id.clone(), epoch: self.epoch.clone(), sequence }
    }

    /// Answers one page.
    pub fn answer(&self, connection: ConnectionKey, event: AgentEvent) {
        if let Ok(text) = EventFrame::outside(event).encode() {
            self.post(connection, &text);
        }
    }

    /// Answers one page with a text that was encoded before.
    pub fn answer_text(&self, connection: ConnectionKey, text: &str) {
        self.post(connection, text);
    }

    /// Posts a text, unless the page has left too much unread for too long: then its connection ends, and it connects
    /// again when it lives again.
    fn post(&self, page: ConnectionKey, text: &str) {
        let now_ms = self.world.clock().now_ms();
        let is_frozen = self.state.borrow_mut().open.get_mut(&page).is_some_and(|unread| {
            unread.bytes = unread.bytes.saturating_add(text.len());
            unread.bytes > UNREAD_BYTES_MAX && now_ms.saturating_sub(unread.heard_ms) > SILENCE_MS_MAX
        });
        if is_frozen {
            self.forget(page);
            self.world.clients().disconnect(page);
        } else {
            self.world.clients().post(page, text);
        }
    }

    /// Tells every page something that is not of one thread's stream.
    pub fn broadcast(&self, event: AgentEvent) {
        let Ok(text) = EventFrame::outside(event).encode() else { return };
        let pages: Vec<ConnectionKey> = self.state.borrow().pages.iter().copied().collect();
        for page in pages {
            self.post(page, &text);
        }
    }

    /// Tells every page something; when there is none, the next one is told.
    pub fn tell(&self, event: AgentEvent) {
        if self.anybody() {
            self.broadcast(event);
        } else {
            self.state.borrow_mut().untold.push(event);
        }
    }

    /// Tells every page something about the engine, and those that come later when they are greeted.
    pub fn notice(&self, notice: EngineNotice) {
        self.state.borrow_mut().notices.push(notice.clone());
        self.broadcast(AgentEvent::EngineNotice { notice });
    }

    /// Those that come later are no longer told of a restart.
    pub fn forget_restart(&self) {
        let kept = |notice: &EngineNotice| !matches!(notice, EngineNotice::Restarted { .. });
        self.state.borrow_mut().notices.retain(kept);
    }

    /// Sends an event of a thread's stream. Changes of metadata and the end of a thread go to every page, since lists
    /// show them; everything else to those who see the thread.
    pub fn publish(&self, thread_id: &ThreadId, event: AgentEvent) {
        self.flush(thread_id);
        self.send(thread_id, event);
    }

    /// Adds a piece to an item. Pieces of one item that come close together are sent as one.
    pub fn delta(self: &Rc<Self>, thread_id: &ThreadId, item_id: &ItemId, delta: ItemDelta) {
        let (at_once, timed) = {
            let mut state = self.state.borrow_mut();
            let stream = state.streams.entry(thread_id.clone()).or_default();
            let at_once = stream.merge(item_id, delta);
            (at_once, std::mem::replace(&mut stream.timed, true))
        };
        if at_once {
            self.flush(thread_id);
        }
        if !timed {
            let (this, thread_id) = (Rc::clone(self), thread_id.clone());
            let wait = self.world.clock().sleep(limits::DELTA_MERGE_MS);
            let task = async move {
                wait.await;
                if let Some(stream) = this.state.borrow_mut().streams.get_mut(&thread_id) {
                    stream.timed = false;
                }
                this.flush(&thread_id);
            };
            self.world.spawner().spawn(task.boxed_local());
        }
    }

    /// Sends what waits.
    pub fn flush(&self, thread_id: &ThreadId) {
        let waiting = match self.state.borrow_mut().streams.get_mut(thread_id) {
            Some(stream) => std::mem::take(&mut stream.waiting),
            None => return,
        };
        if mutant!(DeltasLost) {
            return;
        }
        for (item_id, delta) in waiting {
            self.send(thread_id, AgentEvent::ItemDelta { thread_id: thread_id.clone(), item_id, delta });
        }
    }

    fn send(&self, thread_id: &ThreadId, event: AgentEvent) {
        let for_all = matches!(event, AgentEvent::ThreadUpdated { .. } | AgentEvent::ThreadDeleted { .. });
        let (cursor, receivers) = {
            let mut state = self.state.borrow_mut();
            let stream = state.streams.entry(thread_id.clone()).or_default();
            stream.sequence = stream.sequence.saturating_add(1);
            if mutant!(CursorSkips) && stream.sequence.is_multiple_of(16) {
                stream.sequence = stream.sequence.saturating_add(1);
            }
            let sequence = stream.sequence;
            let receivers: Vec<ConnectionKey> = if for_all {
                state.pages.iter().copied().collect()
            } else {
                state.viewers.get(thread_id).into_iter().flatten().copied().collect()
            };
            (StreamCursor { thread_id: thread_id.clone(), epoch: self.epoch.clone(), sequence }, receivers)
        };
        if receivers.is_empty() {
            return;
        }
        let Ok(text) = (EventFrame { event, cursor: Some(cursor) }).encode() else { return };
        for page in receivers {
            self.post(page, &text);
        }
    }
}

impl Stream {
    /// Puts a piece behind those that wait. Whether they should go out now.
    fn merge(&mut self, item_id: &ItemId, delta: ItemDelta) -> bool {
        match self.waiting.last_mut() {
            Some((last, pending)) if last == item_id => {
                append(&mut pending.text, delta.text);
                append(&mut pending.reasoning, delta.reasoning);
                if delta.tool_progress.is_some() {
                    pending.tool_progress = delta.tool_progress;
                }
            }
            Some(_) | None => self.waiting.push((item_id.clone(), delta)),
        }
        let chars: usize = self
            .waiting
            .iter()
            .map(|(_, delta)| {
                delta.text.as_ref().map_or(0, String::len) + delta.reasoning.as_ref().map_or(0, String::len)
            })
            .sum();
        chars > DELTA_CHARS_MAX
    }
}

fn append(to: &mut Option<String>, more: Option<String>) {
    match (to.as_mut(), more) {
        (Some(text), Some(more)) => text.push_str(&more),
        (None, Some(more)) => *to = Some(more),
        (_, None) => {}
    }
}
