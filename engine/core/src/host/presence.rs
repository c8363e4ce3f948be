//! What shows that the engine works while no page is open: badge, notifications, the alarm, and staying awake.

use super::publish::Publisher;
use crate::mutants::mutant;
use crate::ports::{Activity, Clock, Notifier, Spawner, World};
use futures::future::FutureExt;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::ThreadId;
use panelot_protocol::snapshot::{ActivityEntry, ThreadActivity};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How often something cheap is called while the engine works. Chrome ends a worker after 30 s.
pub const TOUCH_INTERVAL_MS: u64 = 20_000;

/// What one thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doing {
    /// For lists and the badge.
    pub activity: ThreadActivity,
    /// Whether the worker must stay awake for it.
    pub working: bool,
    /// Whether something will have to be done later although nothing happens now: the alarm stays on.
    pub pending: bool,
}

impl Doing {
    /// Nothing.
    pub const NOTHING: Self = Self { activity: ThreadActivity::Idle, working: false, pending: false };
}

/// What all threads do.
pub struct Presence<W: World> {
    world: W,
    publisher: Rc<Publisher<W>>,
    threads: RefCell<BTreeMap<ThreadId, Doing>>,
    /// What the badge was last set to; unknown at first, since a badge outlives the worker.
    badge: Cell<Option<Activity>>,
    awake: Cell<bool>,
    alarm_wanted: Cell<bool>,
    /// What the alarm was last set to; unknown at first, since an alarm outlives the worker.
    alarm_set: Cell<Option<bool>>,
    alarm_setting: Cell<bool>,
    /// Whether it is known what did not end in an earlier life. Until then the alarm is not taken back: it may be all
    /// that brings the next worker.
    knows_unfinished: Cell<bool>,
}

impl<W: World> Presence<W> {
    /// Nothing goes on.
    pub fn new(world: W, publisher: Rc<Publisher<W>>) -> Self {
        Self {
            world,
            publisher,
            threads: RefCell::default(),
            badge: Cell::default(),
            awake: Cell::new(false),
            alarm_wanted: Cell::new(false),
            alarm_set: Cell::new(None),
            alarm_setting: Cell::new(false),
            knows_unfinished: Cell::new(false),
        }
    }

    /// These threads have something that did not end. Until the actor of one says what it does, the alarm stays on for
    /// it: an actor that cannot read or write now is woken again.
    pub fn know_unfinished<'a>(self: &Rc<Self>, threads: impl IntoIterator<Item = &'a ThreadId>) {
        let unsure = Doing { pending: true, ..Doing::NOTHING };
        for thread_id in threads.into_iter().filter(|_| !mutant!(AlarmForgotten)) {
            self.threads.borrow_mut().entry(thread_id.clone()).or_insert(unsure);
        }
        self.knows_unfinished.set(true);
        self.refresh();
    }

    /// What a thread does, as far as this life of the worker knows.
    pub fn activity(&self, thread_id: &ThreadId) -> ThreadActivity {
        self.threads.borrow().get(thread_id).map_or(ThreadActivity::Idle, |doing| doing.activity)
    }

    /// A thread does something else now.
    pub fn set(self: &Rc<Self>, thread_id: &ThreadId, doing: Doing) {
        let before = match doing {
            Doing::NOTHING => self.threads.borrow_mut().remove(thread_id),
            _ => self.threads.borrow_mut().insert(thread_id.clone(), doing),
        };
        let before = before.unwrap_or(Doing::NOTHING);
        if before == doing {
            return;
        }
        if before.activity != doing.activity {
            let entry = ActivityEntry { thread_id: thread_id.clone(), activity: doing.activity };
            self.publisher.broadcast(AgentEvent::ActivityUpdated { threads: vec![entry] });
            self.notify(thread_id, before.activity, doing.activity);
        }
        self.refresh();
    }

    /// Sets the alarm and the badge to what goes on.
    fn refresh(self: &Rc<Self>) {
        let (mut badge, mut working, mut pending) = (Activity::Idle, false, false);
        for doing in self.threads.borrow().values() {
            working |= doing.working;
            pending |= doing.pending;
            badge = match (doing.activity, badge) {
                (ThreadActivity::WaitingForUser, _) | (_, Activity::Waiting) => Activity::Waiting,
                (ThreadActivity::Running, _) | (_, Activity::Running) => Activity::Running,
                (ThreadActivity::Idle | ThreadActivity::NeedsRecovery, Activity::Idle) => Activity::Idle,
            };
        }
        if self.badge.replace(Some(badge)) != Some(badge) {
            self.world.notifier().activity(badge);
        }
        pending |= !self.knows_unfinished.get();
        self.alarm_wanted.set(pending && !mutant!(AlarmNotSet));
        self.set_alarm();
        if working && !self.awake.replace(true) {
            self.stay_awake();
        }
    }

    /// Whether no thread works and none waits for a time or the user, as far as this life of the worker knows: what
    /// an earlier one left is known first.
    pub fn is_quiet(&self) -> bool {
        self.knows_unfinished.get()
            && !self.threads.borrow().values().any(|doing| doing.working || doing.pending)
    }

    fn notify(&self, thread_id: &ThreadId, before: ThreadActivity, now: ThreadActivity) {
        if now == ThreadActivity::WaitingForUser && !self.publisher.anybody() {
            self.world.notifier().waiting_for_user(thread_id);
        }
        if before == ThreadActivity::WaitingForUser {
            self.world.notifier().settled(thread_id);
        }
    }

    /// Brings the alarm to what is wanted; changes that come meanwhile are taken up at the end.
    fn set_alarm(self: &Rc<Self>) {
        let wanted = self.alarm_wanted.get();
        if self.alarm_set.get() == Some(wanted) || self.alarm_setting.replace(true) {
            return;
        }
        let this = Rc::clone(self);
        let task = async move {
            loop {
                let wanted = this.alarm_wanted.get();
                this.world.notifier().set_alarm(wanted).await;
                this.alarm_set.set(Some(wanted));
                if this.alarm_wanted.get() == wanted {
                    break;
                }
            }
            this.alarm_setting.set(false);
        };
        self.world.spawner().spawn(task.boxed_local());
    }

    fn stay_awake(self: &Rc<Self>) {
        let this = Rc::clone(self);
        let task = async move {
            loop {
                this.world.notifier().touch().await;
                this.world.clock().sleep(TOUCH_INTERVAL_MS).await;
                if !this.threads.borrow().values().any(|doing| doing.working) {
                    break;
                }
            }
            this.awake.set(false);
        };
        self.world.spawner().spawn(task.boxed_local());
    }
}
