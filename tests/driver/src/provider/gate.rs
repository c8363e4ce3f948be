//! A point at which a reply stops until a test lets it go on.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;

/// A named gate. Closed when new; once open, it stays open.
#[derive(Debug, Clone)]
pub struct Gate {
    name: String,
    state: watch::Sender<GateState>,
}

#[derive(Debug, Clone, Copy, Default)]
struct GateState {
    arrived: usize,
    open: bool,
}

impl Gate {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), state: watch::Sender::new(GateState::default()) }
    }

    /// Waits until somebody has arrived at the gate.
    ///
    /// # Errors
    /// When nobody has within the time.
    pub async fn reached(&self, within: Duration) -> Result<()> {
        self.reached_times(1, within).await
    }

    /// Waits until the gate has been arrived at `times` times in all.
    ///
    /// # Errors
    /// When it has not within the time.
    pub async fn reached_times(&self, times: usize, within: Duration) -> Result<()> {
        let mut state = self.state.subscribe();
        let arrived = tokio::time::timeout(within, state.wait_for(|state| state.arrived >= times)).await;
        let what = || format!("waited {within:?} for arrival {times} at the gate `{}`, in vain", self.name);
        arrived.with_context(what)?.with_context(what)?;
        Ok(())
    }

    /// Opens the gate for all who wait and all who come.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Arrives at the gate and waits until it is open.
    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut state = self.state.subscribe();
        // The sender is held by `self`, so the wait cannot fail.
        let _ = state.wait_for(|state| state.open).await;
    }
}
