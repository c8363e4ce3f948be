//! Tasks beside the one that runs.

use futures::future::LocalBoxFuture;

/// Runs tasks to their end on the one thread that there is.
pub trait Spawner: 'static {
    /// Starts a task. It is not polled before the caller yields.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);
}
