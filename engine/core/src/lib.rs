//! The agent engine, pure: no Chrome, no IndexedDB, no fetch, no clock of its own.

pub mod ports;
pub mod store;
