//! Tasks in the worker.

use crate::death;
use futures::future::LocalBoxFuture;
use panelot_engine::ports::Spawner;
use std::future::poll_fn;
use std::task::Poll;

/// The browser's microtask queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebSpawner;

impl Spawner for WebSpawner {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let mut task = task;
        // After a panic no task goes on, until another instance has taken over.
        wasm_bindgen_futures::spawn_local(poll_fn(move |context| {
            if death::is_dead() { Poll::Pending } else { task.as_mut().poll(context) }
        }));
    }
}
