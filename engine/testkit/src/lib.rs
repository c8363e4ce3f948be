//! Simulated ports, scripted provider and browser, fault plan, seeded scheduler.
//!
//! [`SimWorld`] is a whole world in memory: one thread, time that moves only when a test lets it, randomness from a
//! seed. Killing a worker is dropping its tasks; what is stored stays for the next one.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "only tests use this crate: a fault of a script is best seen at once"
)]

pub mod areas;
pub mod browser;
pub mod clients;
pub mod fixtures;
pub mod http;
pub mod long_thread;
pub mod random;
pub mod sched;
pub mod stage;
pub mod store;
pub mod store_contract;
pub mod world;

pub use areas::{MemoryArea, PlainVault, RecordingNotifier};
pub use browser::{Interlude, Page, SimBrowser};
pub use clients::{Received, SimClients};
pub use http::{Reply, ScriptedHttp, Step};
pub use long_thread::LongThread;
pub use random::Seeded;
pub use sched::Scheduler;
pub use stage::{Stage, TAB};
pub use store::SimStore;
pub use world::{SimPage, SimWorld, connection_of};
