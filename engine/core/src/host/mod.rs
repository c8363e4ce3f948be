//! The host: what the worker's shell calls. It shakes hands with pages, admits Ops and brings each to its thread. It
//! knows nothing of turns; everything here is synchronous and cheap, and the work is done by tasks.

mod admission;
mod core;
mod desk;
mod listing;
mod presence;
mod publish;
mod replace;
mod sweep;

pub use self::core::Core;
pub use presence::{Doing, Presence, TOUCH_INTERVAL_MS};
pub use publish::Publisher;
pub use replace::{Hold, Moment, RESTART_TOLD_MS, UPDATE_LOOK_MS};

use crate::ports::{Browser, Clients, Clock, ConnectionKey, Spawner, World};
use crate::provider::within;
use crate::store::repo;
use crate::thread::{Handle, Mail, Urgent, mailbox, run};
use futures::future::FutureExt;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ClientId, TabId, ThreadId};
use panelot_protocol::limits;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

/// How long the database has to name the runs that did not end.
const RECOVERY_READ_MS_MAX: u64 = 10_000;
/// In what time changes of tabs are told as one.
const TABS_MERGE_MS: u64 = 50;

/// The agent engine of one worker.
pub struct Engine<W: World> {
    core: Rc<Core<W>>,
    connections: RefCell<BTreeMap<ConnectionKey, Connection>>,
    actors: RefCell<BTreeMap<ThreadId, Handle>>,
    desk: desk::Desk<W>,
    tabs_told_soon: Cell<bool>,
    /// Whether this worker has looked for an import that another one left.
    import_looked_for: Cell<bool>,
    update_waits: Cell<bool>,
    me: Weak<Self>,
}

/// How far a page's handshake is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Connection {
    /// It has said nothing that counts.
    New,
    /// Its greeting was accepted.
    Open(ClientId),
}

impl<W: World> Engine<W> {
    /// Starts an engine. Recovery begins behind it and keeps nobody out.
    pub fn start(world: W) -> Rc<Self> {
        let core = Rc::new(Core::new(world));
        let engine = Rc::new_cyclic(|me: &Weak<Self>| Self {
            desk: desk::Desk::new(Rc::clone(&core)),
            core,
            connections: RefCell::default(),
            actors: RefCell::default(),
            tabs_told_soon: Cell::new(false),
            import_looked_for: Cell::new(false),
            update_waits: Cell::new(false),
            me: me.clone(),
        });
        engine.wake_unfinished();
        engine
    }

    /// A page connected. The shell has checked that it is one of the extension's own.
    pub fn connect(&self, connection: ConnectionKey) {
        let mut connections = self.connections.borrow_mut();
        let is_given_up = |key: ConnectionKey, state: &Connection| {
            matches!(state, Connection::Open(_)) && !self.core.publisher.is_open(key)
        };
        connections.retain(|key, state| !is_given_up(*key, state));
        connections.insert(connection, Connection::New);
    }

    /// A page is gone.
    pub fn disconnected(&self, connection: ConnectionKey) {
        self.connections.borrow_mut().remove(&connection);
        self.core.publisher.forget(connection);
    }

    /// The 30 s alarm: looks after everything that waits for a time or did not end.
    pub fn alarm(&self) {
        for handle in self.actors.borrow().values() {
            handle.urgent(Urgent::Wake);
        }
        self.wake_unfinished();
    }

    /// Tabs were opened, closed or changed.
    pub fn tabs_changed(&self) {
        if self.tabs_told_soon.replace(true) {
            return;
        }
        let Some(engine) = self.me.upgrade() else { return };
        let wait = self.core.world.clock().sleep(TABS_MERGE_MS);
        self.spawn(async move {
            wait.await;
            engine.tabs_told_soon.set(false);
            let Ok(mut tabs) = engine.core.world.browser().tabs().await else { return };
            tabs.truncate(usize::try_from(limits::TABS_COUNT_MAX).unwrap_or(usize::MAX));
            engine.core.publisher.broadcast(AgentEvent::TabsUpdated { tabs });
        });
    }

    /// A tab was closed.
    /// A tool that runs in it learns of it from the browser.
    pub fn tab_removed(&self, _tab_id: TabId) {
        self.tabs_changed();
    }

    /// Wakes every thread with a run that did not end. Its actor does the rest.
    fn wake_unfinished(&self) {
        let Some(engine) = self.me.upgrade() else { return };
        self.spawn(async move {
            let clock = engine.core.world.clock();
            let until_ms = clock.now_ms().saturating_add(RECOVERY_READ_MS_MAX);
            let read = within(clock, until_ms, repo::unfinished_runs(engine.core.world.store())).await;
            // A database that does not answer now is asked again at the next alarm.
            let Ok(Ok(runs)) = read else { return };
            engine.core.presence.know_unfinished(runs.iter().map(|run| &run.thread_id));
            for run in runs {
                engine.actor(&run.thread_id).urgent(Urgent::Wake);
            }
            // What is not swept now is swept by a later worker.
            let _ = sweep::sweep(&engine.core).await;
            let _ = crate::attachments::sweep_orphans(&engine.core).await;
        });
    }

    /// When the first page of this worker comes: says that an import was cut off, if one was.
    fn look_for_import(&self) {
        if self.import_looked_for.replace(true) {
            return;
        }
        let core = Rc::clone(&self.core);
        self.spawn(async move {
            // What is not found now is found by the next worker.
            if let Ok(true) = sweep::take_import_mark(&core).await {
                core.publisher.tell(AgentEvent::Error {
                    submission_id: None,
                    thread_id: None,
                    turn_id: None,
                    code: ErrorCode::ImportInterrupted,
                    message: "an import was cut off before its end; nothing was changed".to_owned(),
                    retryable: false,
                    error_kind: None,
                    provider_details: None,
                });
            }
        });
    }

    /// The mailbox of a thread's actor, which is started when none runs.
    fn actor(&self, thread_id: &ThreadId) -> Handle {
        if let Some(handle) = self.actors.borrow().get(thread_id) {
            return handle.clone();
        }
        let (handle, inbox) = mailbox();
        self.actors.borrow_mut().insert(thread_id.clone(), handle.clone());
        let (me, core, id) = (self.me.clone(), Rc::clone(&self.core), thread_id.clone());
        let leaving = id.clone();
        let leave = move || me.upgrade().is_none_or(|engine| engine.leave(&leaving));
        self.spawn(run(core, id, inbox, leave));
        handle
    }

    /// Takes an actor out of the table, unless something came in for it.
    fn leave(&self, thread_id: &ThreadId) -> bool {
        let mut actors = self.actors.borrow_mut();
        let quiet = actors.get(thread_id).is_none_or(Handle::is_quiet);
        if quiet {
            actors.remove(thread_id);
        }
        quiet
    }

    fn to_thread(&self, thread_id: &ThreadId, mail: Mail) -> Result<(), crate::thread::Full> {
        self.actor(thread_id).op(mail)
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.core.world.spawner().spawn(task.boxed_local());
    }

    fn disconnect(&self, connection: ConnectionKey) {
        self.disconnected(connection);
        self.core.world.clients().disconnect(connection);
    }
}
