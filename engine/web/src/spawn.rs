//! Tasks in the worker.

use futures::future::LocalBoxFuture;
use panelot_engine::ports::Spawner;

/// The browser's microtask queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebSpawner;

impl Spawner for WebSpawner {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        wasm_bindgen_futures::spawn_local(task);
    }
}
