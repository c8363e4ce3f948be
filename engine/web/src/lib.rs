//! The engine in the service worker: entry, listeners, IndexedDB, fetch, Chrome bindings.
//!
//! `assets/worker.js` adds every listener in the worker's first turn and calls the functions below once the module is
//! up, in the order in which things happened.

#![expect(
    clippy::manual_async_fn,
    reason = "the ports' futures borrow nothing; an async fn would borrow self"
)]

pub mod browser;
pub mod chrome;
pub mod clients;
pub mod clock;
pub mod death;
pub mod entropy;
pub mod http;
pub mod idb;
pub mod log;
pub mod notify;
pub mod spawn;
pub mod storage;
pub mod vault;
pub mod world;

#[cfg(target_arch = "wasm32")]
mod entry;
