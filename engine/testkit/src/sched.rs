//! The scheduler: tasks of one thread in an order that a seed chooses, and a clock that moves when nothing can run.

use crate::random::Seeded;
use futures::future::LocalBoxFuture;
use futures::task::{ArcWake, waker};
use panelot_engine::ports::{Clock, Spawner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// The time at which every simulation begins.
const BEGIN_MS: u64 = 1_800_000_000_000;
/// Polls after which a simulation that never comes to rest is given up.
const POLLS_COUNT_MAX: u64 = 10_000_000;

/// Tasks and time. Clones are handles to the same.
#[derive(Clone)]
pub struct Scheduler {
    inner: Rc<Inner>,
    /// Whose tasks this handle starts.
    worker: u32,
}

struct Inner {
    random: Seeded,
    now_ms: Cell<u64>,
    /// Sleepers by their time and their number.
    sleepers: RefCell<BTreeMap<(u64, u64), Waker>>,
    next_sleeper: Cell<u64>,
    tasks: RefCell<Vec<Task>>,
    /// Tasks that were spawned while one runs.
    spawned: RefCell<Vec<Task>>,
    polls: Cell<u64>,
    /// After so many polls everything is dropped.
    kill_at_poll: Cell<Option<u64>>,
    /// After so many polls a worker's tasks are dropped.
    ends: RefCell<Vec<(u64, u32)>>,
}

struct Task {
    worker: u32,
    future: LocalBoxFuture<'static, ()>,
    flag: Arc<Flag>,
}

struct Flag(AtomicBool);

impl ArcWake for Flag {
    fn wake_by_ref(this: &Arc<Self>) {
        this.0.store(true, Ordering::Relaxed);
    }
}

impl Scheduler {
    /// A scheduler whose order a seed chooses.
    pub fn new(seed: u64) -> Self {
        Self {
            inner: Rc::new(Inner {
                random: Seeded::new(seed ^ 0x5eed),
                now_ms: Cell::new(BEGIN_MS),
                sleepers: RefCell::default(),
                next_sleeper: Cell::new(0),
                tasks: RefCell::default(),
                spawned: RefCell::default(),
                polls: Cell::new(0),
                kill_at_poll: Cell::new(None),
                ends: RefCell::default(),
            }),
            worker: 0,
        }
    }

    /// A handle whose tasks belong to another worker.
    pub fn of_worker(&self, worker: u32) -> Self {
        Self { inner: Rc::clone(&self.inner), worker }
    }

    /// Ends one worker after so many more polls, whatever others do meanwhile.
    pub fn end_worker_after(&self, worker: u32, polls: u64) {
        self.inner.ends.borrow_mut().push((self.inner.polls.get() + polls, worker));
    }

    fn end_workers(&self) {
        let polls = self.inner.polls.get();
        let due: Vec<u32> = {
            let mut ends = self.inner.ends.borrow_mut();
            ends.extract_if(.., |(at, _)| *at <= polls).map(|(_, worker)| worker).collect()
        };
        if due.is_empty() {
            return;
        }
        let is_due = |task: &mut Task| due.contains(&task.worker);
        let mut ended: Vec<Task> = self.inner.tasks.borrow_mut().extract_if(.., is_due).collect();
        ended.extend(self.inner.spawned.borrow_mut().extract_if(.., is_due));
        // Dropping a task may reach back to the scheduler.
        drop(ended);
    }

    /// Runs what can run now, without letting time pass. Answers whether the tasks were killed on the way.
    pub fn settle(&self) -> bool {
        loop {
            self.inner.tasks.borrow_mut().append(&mut self.inner.spawned.borrow_mut());
            let ready: Vec<usize> = {
                let tasks = self.inner.tasks.borrow();
                let is_ready = |at: &usize| tasks[*at].flag.0.load(Ordering::Relaxed);
                (0..tasks.len()).filter(is_ready).collect()
            };
            if ready.is_empty() {
                return false;
            }
            let chosen = ready[self.inner.random.below(ready.len())];
            let mut task = self.inner.tasks.borrow_mut().swap_remove(chosen);
            task.flag.0.store(false, Ordering::Relaxed);
            let waker = waker(Arc::clone(&task.flag));
            let done = task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            if !done {
                self.inner.tasks.borrow_mut().push(task);
            }
            self.inner.polls.set(self.inner.polls.get() + 1);
            assert!(self.inner.polls.get() < POLLS_COUNT_MAX, "the simulation does not come to rest");
            self.end_workers();
            if self.inner.kill_at_poll.get().is_some_and(|at| self.inner.polls.get() >= at) {
                self.inner.kill_at_poll.set(None);
                self.kill();
                return true;
            }
        }
    }

    /// Lets time pass, and runs what becomes due on the way. Answers whether the tasks were killed on the way.
    pub fn advance(&self, ms: u64) -> bool {
        let until_ms = self.inner.now_ms.get() + ms;
        loop {
            if self.settle() {
                return true;
            }
            let next = self.inner.sleepers.borrow().keys().next().copied();
            match next {
                Some(key) if key.0 <= until_ms => {
                    self.inner.now_ms.set(key.0.max(self.inner.now_ms.get()));
                    if let Some(waker) = self.inner.sleepers.borrow_mut().remove(&key) {
                        waker.wake();
                    }
                }
                Some(_) | None => {
                    self.inner.now_ms.set(until_ms);
                    return self.settle();
                }
            }
        }
    }

    /// Ends the worker: every task is dropped where it stands.
    pub fn kill(&self) {
        // Dropping a task may reach back to the scheduler.
        let tasks = std::mem::take(&mut *self.inner.tasks.borrow_mut());
        let spawned = std::mem::take(&mut *self.inner.spawned.borrow_mut());
        drop((tasks, spawned));
        self.inner.sleepers.borrow_mut().clear();
        self.inner.ends.borrow_mut().clear();
    }

    /// Sets the clock to another time, as a user or a sleeping machine does. Nothing runs meanwhile.
    pub fn set_clock(&self, now_ms: u64) {
        self.inner.now_ms.set(now_ms);
    }

    /// Ends the worker after so many more polls.
    pub fn kill_after(&self, polls: u64) {
        self.inner.kill_at_poll.set(Some(self.inner.polls.get() + polls));
    }

    /// Takes a planned end back.
    pub fn kill_never(&self) {
        self.inner.kill_at_poll.set(None);
    }

    /// Polls so far.
    pub fn polls(&self) -> u64 {
        self.inner.polls.get()
    }

    /// A future that gives way once, so that another task may run, or a kill may strike.
    pub fn pause(&self) -> impl Future<Output = ()> + 'static {
        let mut paused = false;
        std::future::poll_fn(move |cx| {
            if std::mem::replace(&mut paused, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }
}

impl Clock for Scheduler {
    fn now_ms(&self) -> u64 {
        self.inner.now_ms.get()
    }

    fn sleep_until(&self, at_ms: u64) -> impl Future<Output = ()> + 'static {
        let number = self.inner.next_sleeper.get();
        self.inner.next_sleeper.set(number + 1);
        Sleep { inner: Rc::clone(&self.inner), key: (at_ms, number) }
    }
}

struct Sleep {
    inner: Rc<Inner>,
    key: (u64, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.inner.now_ms.get() >= self.key.0 {
            return Poll::Ready(());
        }
        self.inner.sleepers.borrow_mut().insert(self.key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Ok(mut sleepers) = self.inner.sleepers.try_borrow_mut() {
            sleepers.remove(&self.key);
        }
    }
}

impl Spawner for Scheduler {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        self.inner.spawned.borrow_mut().push(Task { worker: self.worker, future: task, flag });
    }
}
