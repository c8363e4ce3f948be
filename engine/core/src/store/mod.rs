//! What is stored, how it becomes rows, and how commits are made of it.

pub mod records;
