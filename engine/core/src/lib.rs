//! The agent engine, pure: no Chrome, no IndexedDB, no fetch, no clock of its own.
