//! Drives Chromium over CDP and serves the demo provider and the fixture sites.
//!
//! Everything here is for tests, `cargo xtask run` and `cargo xtask bench`; nothing of it is in the bundle.
//! Waiting is always for a condition, through [`until`], never for a length of time.
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON is indexed by name here: a missing field reads as null, and only objects made here are written"
)]

pub mod browser;
pub mod cdp;
pub mod extension;
pub mod product;
pub mod provider;
pub mod sites;
mod until;

pub use browser::{Browser, LaunchOptions, Profile};
pub use provider::Provider;
pub use sites::{Site, SiteOptions};
pub use until::{UNTIL_POLL_MS, until};
