//! Deterministic simulation of the whole engine: workload, model, properties, seeds.
//!
//! A seed determines everything: what two users of two pages do, in which order tasks run, what the scripted model
//! asks for, and which faults strike. The fault model:
//!
//! - the worker is killed at any await, any number of times, also while it recovers;
//! - a commit is refused (full disk, aborted transaction), or applied without the engine learning of it;
//! - the provider breaks off, ends without its closing mark, refuses for a while, is slow, or hangs;
//! - a tab is closed, navigates, or loses its elements, also between a question and its answer;
//! - a page disconnects and comes back; its unanswered Ops are sent again.
//!
//! Then the faults stop, the users answer what is asked, resume what stands and decide what is uncertain, and
//! everything must come to an end. [`properties`] says what must hold.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at few of the many Ops, events and nodes, and new ones do not concern what it checks"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test tool: a fault of the simulation itself is best seen at once"
)]

pub mod model;
pub mod properties;
pub mod run;
pub mod user;

pub use run::{Outcome, run_seed};
