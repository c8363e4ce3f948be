//! What the user sees while no page is open, and what wakes the worker.

use panelot_protocol::ids::ThreadId;
use std::future::Future;

/// What the toolbar's badge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// Something runs.
    Running,
    /// Something waits for the user.
    Waiting,
}

/// Badge, notifications, alarm and staying awake. Failures are logged by the implementer: none of this is state.
pub trait Notifier: 'static {
    /// Shows what goes on.
    fn activity(&self, activity: Activity);

    /// Says, without content, that a thread waits for the user.
    fn waiting_for_user(&self, thread_id: &ThreadId);

    /// Takes such a notification back.
    fn settled(&self, thread_id: &ThreadId);

    /// Whether the worker is to be woken every 30 s: while any run is unfinished.
    fn set_alarm(&self, on: bool) -> impl Future<Output = ()> + 'static;

    /// Calls something cheap, so that Chrome does not end the worker.
    fn touch(&self) -> impl Future<Output = ()> + 'static;

    /// Puts the version of the extension that waits in the place of this one, which ends this worker.
    fn update(&self);
}
