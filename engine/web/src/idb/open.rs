//! Opening the database: its stores and indexes, upgrades, and what ends a connection.

use super::failure;
use futures::channel::oneshot;
use futures::future::{Either, select};
use idb::{Database, Factory, IndexParams, KeyPath, ObjectStoreParams};
use panelot_engine::ports::{Index, StoreError, Table};
use std::cell::Cell;
use std::future::IntoFuture;
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast;

/// The version of stores and indexes. Each step of an upgrade is a function of its own.
pub const SCHEMA_VERSION: u32 = 1;

/// An open connection.
pub struct Connection {
    database: Database,
    raw: web_sys::IdbDatabase,
    open: Rc<Cell<bool>>,
}

impl Connection {
    /// Opens the database, making or upgrading it.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Blocked`], [`StoreError::Corrupt`] and what the browser refuses else.
    pub async fn open(name: &str) -> Result<Self, StoreError> {
        let factory = Factory::new().map_err(failure)?;
        let mut request = factory.open(name, Some(SCHEMA_VERSION)).map_err(failure)?;
        let problem: Rc<Cell<Option<StoreError>>> = Rc::default();
        let upgrade_problem = problem.clone();
        request.on_upgrade_needed(move |event| {
            if let Err(error) = upgrade(&event) {
                upgrade_problem.set(Some(error));
            }
        });
        let (blocked, is_blocked) = oneshot::channel::<()>();
        request.on_blocked(move |_| {
            // The receiver is gone only when nobody waits any more.
            let _told = blocked.send(());
        });
        let opened = match select(request.into_future(), is_blocked).await {
            Either::Left((opened, _)) => opened,
            // A dropped sender says nothing; only a message says that another context holds the database.
            Either::Right((Ok(()), _)) => return Err(StoreError::Blocked),
            Either::Right((Err(_), request)) => request.await,
        };
        if let Some(error) = problem.take() {
            return Err(error);
        }
        let raw: web_sys::IdbDatabase = opened.map_err(failure)?.into();
        let mut database = Database::from(raw.clone());
        let open = Rc::new(Cell::new(true));
        let closed = open.clone();
        database.on_close(move |_| closed.set(false));
        let closed = open.clone();
        database.on_version_change(move |event| {
            closed.set(false);
            let target = event.target().and_then(|target| target.dyn_into::<web_sys::IdbDatabase>().ok());
            if let Some(database) = target {
                database.close();
            }
        });
        Ok(Self { database, raw, open })
    }

    /// Whether the browser has left it open.
    pub fn is_open(&self) -> bool {
        self.open.get()
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The browser's own object of it.
    pub fn raw(&self) -> &web_sys::IdbDatabase {
        &self.raw
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.database.close();
    }
}

fn upgrade(event: &idb::event::VersionChangeEvent) -> Result<(), StoreError> {
    use idb::event::DatabaseEvent as _;
    let database = event.database().map_err(failure)?;
    let from = event.old_version().map_err(failure)?;
    if from < 1 {
        version_1(&database)?;
    }
    Ok(())
}

fn version_1(database: &Database) -> Result<(), StoreError> {
    for table in Table::ALL {
        let mut params = ObjectStoreParams::new();
        params.key_path(Some(KeyPath::new_single("k")));
        let store = database.create_object_store(table.name(), params).map_err(failure)?;
        for index in Index::ALL.into_iter().filter(|index| index.table() == table) {
            let path = KeyPath::new_single(index.name());
            store.create_index(index.name(), path, Some(IndexParams::new())).map_err(failure)?;
        }
    }
    Ok(())
}
