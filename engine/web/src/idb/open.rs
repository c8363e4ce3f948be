//! Opening the database: its stores and indexes, upgrades, and what ends a connection.

use super::failure;
use super::schema::Schema;
use futures::channel::oneshot;
use futures::future::{Either, select};
use idb::{Database, Factory};
use panelot_engine::ports::StoreError;
use std::cell::Cell;
use std::future::IntoFuture;
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast;
use wasm_bindgen_futures::spawn_local;

/// An open connection.
pub struct Connection {
    database: Database,
    raw: web_sys::IdbDatabase,
    open: Rc<Cell<bool>>,
}

impl Connection {
    /// Opens the database, making or upgrading it. `is_blocked` is set while an upgrade waits for another context.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Blocked`], [`StoreError::Corrupt`] and what the browser refuses else.
    pub async fn open(name: &str, schema: Schema, is_blocked: &Rc<Cell<bool>>) -> Result<Self, StoreError> {
        let factory = Factory::new().map_err(failure)?;
        let mut request = factory.open(name, Some(schema.version())).map_err(failure)?;
        let problem: Rc<Cell<Option<StoreError>>> = Rc::default();
        let upgrade_problem = problem.clone();
        request.on_upgrade_needed(move |event| {
            if let Err(error) = schema.upgrade(&event) {
                upgrade_problem.set(Some(error));
            }
        });
        let (blocked, told) = oneshot::channel::<()>();
        request.on_blocked(move |_| {
            // The receiver is gone only when nobody waits any more.
            let _told = blocked.send(());
        });
        let opened = match select(request.into_future(), told).await {
            Either::Left((opened, _)) => opened,
            // A dropped sender says nothing; only a message says that another context holds the database.
            Either::Right((Ok(()), request)) => {
                // The request stays with the browser. When it is granted after all, nobody waits for it any more, and
                // a connection that is kept open would block others in its turn.
                let is_blocked = is_blocked.clone();
                is_blocked.set(true);
                spawn_local(async move {
                    if let Ok(database) = request.await {
                        database.close();
                    }
                    is_blocked.set(false);
                });
                return Err(StoreError::Blocked);
            }
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
