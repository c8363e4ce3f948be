//! Builds, checks, runs and tests the extension.
fn main() {}
