//! What every part of one engine shares.

use super::presence::Presence;
use super::publish::Publisher;
use crate::ports::{Clock, Entropy, World};
use crate::settings::{GrantBook, SettingsBook};
use panelot_protocol::ids::Epoch;
use std::rc::Rc;

/// The shared parts of one engine; one of it lives as long as the worker.
pub struct Core<W: World> {
    /// The world.
    pub world: W,
    /// The settings.
    pub settings: Rc<SettingsBook<W>>,
    /// What the user granted for this browser session.
    pub grants: Rc<GrantBook<W>>,
    /// The pages.
    pub publisher: Rc<Publisher<W>>,
    /// Badge, alarm, staying awake.
    pub presence: Rc<Presence<W>>,
    /// Refusals that the database did not take.
    pub(crate) unstored: crate::thread::Unstored,
    /// The import that is coming, if one is.
    pub(crate) incoming: crate::transfer::Incoming,
    /// Whether an export is being written: one at a time.
    pub(crate) exporting: std::cell::Cell<bool>,
}

impl<W: World> Core<W> {
    /// The parts of a new engine, with a new epoch.
    pub fn new(world: W) -> Self {
        let epoch = Epoch::new(world.entropy().uuid());
        let publisher = Rc::new(Publisher::new(world.clone(), epoch));
        Self {
            settings: Rc::new(SettingsBook::new(world.clone())),
            grants: Rc::new(GrantBook::new(world.clone())),
            presence: Rc::new(Presence::new(world.clone(), Rc::clone(&publisher))),
            publisher,
            world,
            unstored: crate::thread::Unstored::default(),
            incoming: crate::transfer::Incoming::default(),
            exporting: std::cell::Cell::new(false),
        }
    }

    /// The time.
    pub fn now_ms(&self) -> u64 {
        self.world.clock().now_ms()
    }

    /// A new id.
    pub fn id(&self) -> String {
        self.world.entropy().uuid()
    }
}
