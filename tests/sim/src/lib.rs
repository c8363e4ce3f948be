//! Deterministic simulation of the whole engine: workload, model, properties, seeds.
//!
//! A seed determines everything: what two users of two pages do, in which order tasks run, what the scripted model
//! asks for, and which faults strike. All of it is a [`plan::Plan`] first, which can be stored and shortened. The fault
//! model:
//!
//! - the worker is killed at any await, any number of times, also while it recovers, and a new one may begin while the
//!   old one has a little to live;
//! - a commit is refused (full disk, aborted transaction), or applied without the engine learning of it;
//! - the provider's stream is cut at any byte, comes in shreds, is slow, hangs, or the endpoint refuses for a while;
//! - a tab is closed, navigates, or loses its elements, also between a question and its answer, and a page is silent;
//! - a page disconnects and comes back, and its unanswered Ops are sent again; messages on a Port are lost, come twice
//!   or in another order;
//! - the clock jumps ahead or back, and the alarm is late.
//!
//! Then the faults stop. In some lives every page closes first, and the alarm alone keeps the engine going. At last the
//! users answer what is asked, resume what stands and decide what is uncertain, and everything must come to an end.
//! [`properties`] says what must hold then, [`watch`] what must hold of each commit.
//!
//! A life that fails is a fault of the engine, or of a property. [`shrink`] makes its plan short, and the plan is kept
//! in `regressions/`.

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

/// A life is mostly small values that come and go: with the system's allocator it takes a quarter more time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod acts;
pub mod campaign;
mod faults;
pub mod model;
pub mod plan;
pub mod properties;
pub mod report;
pub mod run;
pub mod shrink;
pub mod user;
pub mod watch;

pub use plan::Plan;
pub use run::{Outcome, run_plan, run_seed};
pub use shrink::shrink;
