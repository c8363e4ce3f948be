//! What the user granted to a thread for this browser session.

use crate::permission::Grant;
use crate::ports::{KeyValueArea, KeyValueError, World};
use panelot_protocol::from_json::from_text;
use panelot_protocol::ids::ThreadId;

/// Most grants of one thread; the oldest goes first.
const GRANTS_COUNT_MAX: usize = 200;

/// The grants of all threads, in the browser's session area: they survive the worker, not the browser.
pub struct GrantBook<W: World> {
    world: W,
}

impl<W: World> GrantBook<W> {
    /// The book of a world.
    pub fn new(world: W) -> Self {
        Self { world }
    }

    /// What a thread was granted. What cannot be read counts as nothing: then the user is asked again.
    pub async fn of(&self, thread_id: &ThreadId) -> Vec<Grant> {
        match self.world.session().get(&name(thread_id)).await {
            Ok(Some(text)) => from_text(&text).unwrap_or_default(),
            Ok(None) | Err(_) => Vec::new(),
        }
    }

    /// Adds a grant. The thread's actor is the only one who does.
    ///
    /// # Errors
    /// When the area cannot be written: then the user will be asked again.
    pub async fn add(&self, thread_id: &ThreadId, grant: Grant) -> Result<(), KeyValueError> {
        let mut grants = self.of(thread_id).await;
        if grants.contains(&grant) {
            return Ok(());
        }
        grants.push(grant);
        let over = grants.len().saturating_sub(GRANTS_COUNT_MAX);
        grants.drain(..over);
        let text =
            serde_json::to_string(&grants).map_err(|error| KeyValueError::Failed(error.to_string()))?;
        self.world.session().set(&name(thread_id), Some(text)).await
    }

    /// Forgets what a thread was granted.
    pub async fn forget(&self, thread_id: &ThreadId) {
        // A grant that stays is for a thread that is gone: nobody asks for it.
        let _ = self.world.session().set(&name(thread_id), None).await;
    }
}

fn name(thread_id: &ThreadId) -> String {
    format!("grants.{thread_id}")
}
