//! Randomness, so that a test can seed it.

/// Ids and jitter. An implementer guarantees that ids never repeat.
pub trait Entropy: 'static {
    /// A random version 4 UUID in lower case.
    fn uuid(&self) -> String;

    /// A number from 0 up to, not including, 1.
    fn unit(&self) -> f64;
}
