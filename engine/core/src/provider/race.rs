//! A future against the clock.

use crate::ports::Clock;
use futures::future::{Either, select};
use std::future::Future;
use std::pin::pin;

/// The time was over first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late;

/// What the future gives, unless `at_ms` comes first; then the future is dropped.
///
/// # Errors
/// [`Late`] when the time is over.
pub async fn within<C: Clock, T>(clock: &C, at_ms: u64, work: impl Future<Output = T>) -> Result<T, Late> {
    let (work, timer) = (pin!(work), pin!(clock.sleep_until(at_ms)));
    match select(work, timer).await {
        Either::Left((value, _)) => Ok(value),
        Either::Right(((), _)) => Err(Late),
    }
}
