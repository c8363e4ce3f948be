//! Messages made from shapes, for tests: valid ones, and ones with exactly one fault.

mod fault;
mod valid;

pub use fault::{Fault, faults};
pub use valid::{valid, variants};
