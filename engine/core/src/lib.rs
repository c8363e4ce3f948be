//! The agent engine, pure: no Chrome, no IndexedDB, no fetch, no clock of its own.

pub mod permission;
pub mod ports;
pub mod store;
