//! Small values, secrets and what the user sees outside pages.

use crate::sched::Scheduler;
use panelot_engine::ports::{Activity, KeyValueArea, KeyValueError, Notifier, Sealed, Vault, VaultError};
use panelot_protocol::ids::ThreadId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

/// Values in memory. Clones are handles to the same.
#[derive(Clone)]
pub struct MemoryArea {
    values: Rc<RefCell<BTreeMap<String, String>>>,
    scheduler: Scheduler,
}

impl MemoryArea {
    /// An empty area.
    pub fn new(scheduler: Scheduler) -> Self {
        Self { values: Rc::default(), scheduler }
    }

    /// All values as one text, to look for what must not be there.
    pub fn dump(&self) -> String {
        format!("{:?}", self.values.borrow())
    }
}

impl KeyValueArea for MemoryArea {
    fn get(&self, name: &str) -> impl Future<Output = Result<Option<String>, KeyValueError>> + 'static {
        let (this, name) = (self.clone(), name.to_owned());
        async move {
            this.scheduler.pause().await;
            let value = this.values.borrow().get(&name).cloned();
            Ok(value)
        }
    }

    fn names(&self, prefix: &str) -> impl Future<Output = Result<Vec<String>, KeyValueError>> + 'static {
        let (this, prefix) = (self.clone(), prefix.to_owned());
        async move {
            this.scheduler.pause().await;
            let values = this.values.borrow();
            Ok(values.keys().filter(|name| name.starts_with(&prefix)).cloned().collect())
        }
    }

    fn set(
        &self,
        name: &str,
        value: Option<String>,
    ) -> impl Future<Output = Result<(), KeyValueError>> + 'static {
        let (this, name) = (self.clone(), name.to_owned());
        async move {
            this.scheduler.pause().await;
            match value {
                Some(value) => _ = this.values.borrow_mut().insert(name, value),
                None => _ = this.values.borrow_mut().remove(&name),
            }
            Ok(())
        }
    }
}

/// A vault that hides secrets from a search for them, and no more.
#[derive(Clone)]
pub struct PlainVault {
    readable: Rc<Cell<bool>>,
}

impl Default for PlainVault {
    fn default() -> Self {
        Self { readable: Rc::new(Cell::new(true)) }
    }
}

impl PlainVault {
    /// Makes all envelopes unreadable, as after a lost key.
    pub fn lose_key(&self) {
        self.readable.set(false);
    }
}

impl Vault for PlainVault {
    fn seal(&self, secret: &str) -> impl Future<Output = Result<Sealed, VaultError>> + 'static {
        let hex: String = secret.bytes().map(|byte| format!("{:02x}", byte ^ 0x5a)).collect();
        std::future::ready(Ok(Sealed(hex)))
    }

    fn open(&self, sealed: &Sealed) -> impl Future<Output = Result<String, VaultError>> + 'static {
        let readable = self.readable.get();
        let bytes: Option<Vec<u8>> = (0..sealed.0.len() / 2)
            .map(|at| u8::from_str_radix(sealed.0.get(2 * at..2 * at + 2)?, 16).ok().map(|byte| byte ^ 0x5a))
            .collect();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|_| readable);
        std::future::ready(text.ok_or(VaultError::Unreadable))
    }
}

/// Remembers what the user was shown outside pages.
#[derive(Clone, Default)]
pub struct RecordingNotifier {
    state: Rc<RefCell<Shown>>,
}

/// What the user sees outside pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The badge.
    pub activity: Activity,
    /// Whether the alarm is set.
    pub alarm: bool,
    /// Threads with a notification that was not taken back.
    pub waiting: Vec<ThreadId>,
    /// How often the worker was kept awake.
    pub touches: u64,
    /// How often a newer version was put in its place.
    pub updates: u64,
}

impl RecordingNotifier {
    /// What is shown now.
    pub fn shown(&self) -> Shown {
        self.state.borrow().clone()
    }
}

impl Notifier for RecordingNotifier {
    fn activity(&self, activity: Activity) {
        self.state.borrow_mut().activity = activity;
    }

    fn waiting_for_user(&self, thread_id: &ThreadId) {
        self.state.borrow_mut().waiting.push(thread_id.clone());
    }

    fn settled(&self, thread_id: &ThreadId) {
        self.state.borrow_mut().waiting.retain(|waiting| waiting != thread_id);
    }

    fn set_alarm(&self, on: bool) -> impl Future<Output = ()> + 'static {
        let state = Rc::clone(&self.state);
        async move { state.borrow_mut().alarm = on }
    }

    fn touch(&self) -> impl Future<Output = ()> + 'static {
        let state = Rc::clone(&self.state);
        async move { state.borrow_mut().touches += 1 }
    }

    fn update(&self) {
        self.state.borrow_mut().updates += 1;
    }
}
