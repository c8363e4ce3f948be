//! From facts about a page to what the model reads, pure.

pub mod action;
pub mod clean;
pub mod diff;
pub mod facts;
#[cfg(test)]
mod markup;
pub mod names;
pub mod privacy;
pub mod pseudo;
pub mod refs;
pub mod render;
pub mod roles;
pub mod select;
pub mod tokens;
pub mod tree;
