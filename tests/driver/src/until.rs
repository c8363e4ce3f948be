//! The one way to wait: poll a condition until it holds or its time is up, and say what was waited for.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How long [`until`] rests between two looks at its condition.
pub const UNTIL_POLL_MS: u64 = 20;

/// Asks `probe` again and again until it gives a value, and returns that value.
///
/// A probe that fails is asked again: a page in the middle of a navigation cannot be evaluated in, and that
/// is not the end of the wait. The last failure is part of the error when the time is up. A single look that
/// takes longer than what is left of `within` is cut off.
///
/// # Errors
/// When `within` has passed; the message names `what`, the time, and the last failure of the probe.
pub async fn until<T, F, Fut>(what: &str, within: Duration, mut probe: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<Option<T>>>,
{
    let started = Instant::now();
    let mut last_failure = None;
    loop {
        let left = within.saturating_sub(started.elapsed());
        match tokio::time::timeout(left, probe()).await {
            Ok(Ok(Some(value))) => return Ok(value),
            Ok(Ok(None)) => last_failure = None,
            Ok(Err(failure)) => last_failure = Some(format!("{failure:#}")),
            Err(_) if last_failure.is_none() => last_failure = Some("the last look did not end".into()),
            Err(_) => {}
        }
        if started.elapsed() >= within {
            match last_failure {
                Some(failure) => bail!("waited {within:?} for {what}, in vain; last failure: {failure}"),
                None => bail!("waited {within:?} for {what}, in vain"),
            }
        }
        tokio::time::sleep(Duration::from_millis(UNTIL_POLL_MS)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_condition_that_comes_true_gives_its_value() {
        let looks = Cell::new(0);
        let value = until("the third look", Duration::from_secs(5), || async {
            looks.set(looks.get() + 1);
            match looks.get() {
                1 => Ok(None),
                2 => bail!("not yet"),
                look => Ok(Some(look)),
            }
        });
        assert_eq!(value.await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_condition_that_never_comes_true_says_what_was_waited_for() {
        let failed = until::<(), _, _>("a miracle", Duration::from_millis(30), || async { bail!("no luck") });
        assert_eq!(
            failed.await.unwrap_err().to_string(),
            "waited 30ms for a miracle, in vain; last failure: no luck"
        );
    }

    #[tokio::test]
    async fn a_look_that_hangs_is_cut_off() {
        let failed = until::<(), _, _>("an answer", Duration::from_millis(30), std::future::pending);
        assert_eq!(
            failed.await.unwrap_err().to_string(),
            "waited 30ms for an answer, in vain; last failure: the last look did not end"
        );
    }
}
