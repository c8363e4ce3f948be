//! Settings: one value in the browser's local area, written by the engine alone, its secrets sealed.

mod apply;
mod connection;
mod grants;
mod stored;

pub use apply::Refusal;
pub use connection::{NotReady, ReadyConnection};
pub use grants::GrantBook;
pub use stored::StoredSettings;

use crate::ports::{KeyValueArea, KeyValueError, World};
use panelot_protocol::from_json::from_text;
use panelot_protocol::ids::ConnectionId;
use panelot_protocol::settings::{Settings, SettingsPatch};
use panelot_protocol::turn::ModelRef;
use panelot_providers::Adjustment;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The name of the value.
const NAME: &str = "settings";
/// Where a value that cannot be read is kept, so that a later version may read it.
const DAMAGED_NAME: &str = "settings.damaged";

/// The settings of one life of the worker. Reads come from memory: nobody else writes them.
pub struct SettingsBook<W: World> {
    world: W,
    current: RefCell<Option<Rc<StoredSettings>>>,
    /// The key of each connection that worked last: endpoints cache prompts by key.
    working_keys: RefCell<BTreeMap<ConnectionId, usize>>,
}

impl<W: World> SettingsBook<W> {
    /// A book that reads the stored value when it is first asked.
    pub fn new(world: W) -> Self {
        Self { world, current: RefCell::new(None), working_keys: RefCell::default() }
    }

    /// The settings as they are.
    ///
    /// # Errors
    /// When the area cannot be read.
    pub async fn current(&self) -> Result<Rc<StoredSettings>, KeyValueError> {
        if let Some(current) = self.current.borrow().as_ref() {
            return Ok(Rc::clone(current));
        }
        let stored = match self.world.local().get(NAME).await? {
            None => StoredSettings::first(),
            Some(text) => match from_text(&text) {
                Ok(stored) => stored,
                Err(_) => {
                    self.world.local().set(DAMAGED_NAME, Some(text)).await?;
                    StoredSettings::first()
                }
            },
        };
        // Somebody else may have read it meanwhile, and even have changed it.
        Ok(Rc::clone(self.current.borrow_mut().get_or_insert_with(|| Rc::new(stored))))
    }

    /// The settings as a page may see them.
    ///
    /// # Errors
    /// When the area cannot be read.
    pub async fn view(&self) -> Result<Settings, KeyValueError> {
        Ok(self.current().await?.view())
    }

    /// Makes one change; durable when it returns. The caller runs one change at a time.
    ///
    /// # Errors
    /// See [`Refusal`]; then nothing changed.
    pub async fn change(&self, patch: SettingsPatch) -> Result<Settings, Refusal> {
        let before = self.current().await?;
        let after = apply::apply(self.world.vault(), &before, patch).await?;
        self.keep(after).await?;
        Ok(self.view().await?)
    }

    /// Remembers that a model's endpoint wants its requests changed.
    ///
    /// # Errors
    /// When the area cannot be written: then it will be found out again.
    pub async fn learn(&self, model: &ModelRef, adjustment: Adjustment) -> Result<(), KeyValueError> {
        let mut after = (*self.current().await?).clone();
        let known = after.learned.iter().position(|(of, _)| of == model);
        match known.and_then(|at| after.learned.get_mut(at)) {
            Some((_, adjustments)) if adjustments.contains(&adjustment) => return Ok(()),
            Some((_, adjustments)) => adjustments.push(adjustment),
            None => after.learned.push((model.clone(), vec![adjustment])),
        }
        self.keep(after).await
    }

    /// The key to begin with, as its place among the connection's keys.
    pub fn working_key(&self, id: &ConnectionId) -> usize {
        self.working_keys.borrow().get(id).copied().unwrap_or(0)
    }

    /// Remembers a key that worked.
    pub fn remember_key(&self, id: &ConnectionId, key: usize) {
        self.working_keys.borrow_mut().insert(id.clone(), key);
    }

    async fn keep(&self, after: StoredSettings) -> Result<(), KeyValueError> {
        let text = serde_json::to_string(&after).map_err(|error| KeyValueError::Failed(error.to_string()))?;
        self.world.local().set(NAME, Some(text)).await?;
        *self.current.borrow_mut() = Some(Rc::new(after));
        Ok(())
    }
}
