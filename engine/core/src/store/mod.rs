//! What is stored, how it becomes rows, and how commits are made of it.

pub mod attachments;
pub mod commit;
pub mod context;
pub mod marks;
pub mod memory;
pub mod records;
pub mod repo;
pub mod snapshot;
pub mod tree;
#[cfg(test)]
mod tree_tests;

pub use commit::{CommitBuilder, RepoError};
pub use memory::MemoryStore;
