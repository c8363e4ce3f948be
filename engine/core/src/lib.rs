//! The agent engine, pure: no Chrome, no IndexedDB, no fetch, no clock of its own.
//!
//! [`Engine`] is what a worker's shell starts and calls; everything that it needs of the world is a port.

pub mod attachments;
pub mod host;
pub mod mutants;
pub mod permission;
pub mod ports;
pub mod prompt;
pub mod provider;
pub mod settings;
pub mod store;
pub mod thread;
pub mod tools;
pub mod transfer;
pub mod turn;

pub use host::Engine;
