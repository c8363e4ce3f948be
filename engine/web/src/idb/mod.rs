//! The database port over IndexedDB.
//!
//! A row is one object: `k` its key, `r` its revision, `b` its body, and one property per index that it is in. All
//! requests of a read or a commit are made before the first is awaited, so that a transaction never ends in between.

mod keys;

pub use keys::whole;
mod open;
pub mod schema;

pub use open::Connection;
pub use schema::Schema;

use futures::future::{FutureExt, LocalBoxFuture, Shared, join_all};
use idb::{CursorDirection, Database, ObjectStore, Transaction};
use js_sys::{Array, Object, Reflect};
use keys::{key_from_js, key_to_js, range};
use panelot_engine::ports::{Commit, Durability, Expect, Index, Query, Row, Store, StoreError, Table};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// `IDBDatabase`, with the options of a transaction that the bindings lack.
    type DurableDatabase;

    #[wasm_bindgen(method, catch, js_name = transaction)]
    fn transaction_with(
        this: &DurableDatabase,
        names: &Array,
        mode: &str,
        options: &Object,
    ) -> Result<web_sys::IdbTransaction, JsValue>;
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Connection>, StoreError>>>;

/// The database of one profile. It is opened at the first use, and again after the browser closed it.
#[derive(Clone)]
pub struct IdbStore {
    name: Rc<str>,
    schema: Schema,
    opening: Rc<RefCell<Option<Opening>>>,
    /// Whether an upgrade waits for another context. A second request would wait behind it without a word.
    is_blocked: Rc<Cell<bool>>,
}

impl IdbStore {
    /// A handle to the database of a name.
    pub fn new(name: &str) -> Self {
        Self::with_schema(name, schema::TODAY)
    }

    /// A handle to the database of a name, at another version than today's.
    pub fn with_schema(name: &str, schema: Schema) -> Self {
        Self { name: name.into(), schema, opening: Rc::default(), is_blocked: Rc::default() }
    }

    async fn connection(&self) -> Result<Rc<Connection>, StoreError> {
        if self.is_blocked.get() {
            return Err(StoreError::Blocked);
        }
        let known = self.opening.borrow().clone();
        if let Some(opening) = known {
            match opening.await {
                Ok(connection) if connection.is_open() => return Ok(connection),
                Ok(_) | Err(_) => {}
            }
        }
        let (name, schema, is_blocked) = (self.name.clone(), self.schema, self.is_blocked.clone());
        let opening = async move { Connection::open(&name, schema, &is_blocked).await.map(Rc::new) }
            .boxed_local()
            .shared();
        *self.opening.borrow_mut() = Some(opening.clone());
        opening.await
    }
}

impl Store for IdbStore {
    fn read(&self, queries: Vec<Query>) -> impl Future<Output = Result<Vec<Vec<Row>>, StoreError>> + 'static {
        let store = self.clone();
        async move {
            let connection = store.connection().await?;
            read(connection.database(), &queries).await
        }
    }

    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), StoreError>> + 'static {
        let store = self.clone();
        async move {
            let connection = store.connection().await?;
            write(&connection, &commit).await
        }
    }
}

/// The engine's error for one of the crate's, decided by the name of the exception that it carries.
#[expect(clippy::wildcard_enum_match_arm, reason = "the crate's enum; what carries no exception is one case")]
fn failure(error: idb::Error) -> StoreError {
    let text = error.to_string();
    let value: JsValue = match error {
        idb::Error::DomException(exception) => exception.into(),
        idb::Error::IndexedDbOpenFailed(value)
        | idb::Error::TransactionOpenFailed(value)
        | idb::Error::TransactionAbortError(value)
        | idb::Error::TransactionCommitError(value)
        | idb::Error::UpdateFailed(value)
        | idb::Error::AddFailed(value)
        | idb::Error::GetFailed(value)
        | idb::Error::GetAllFailed(value)
        | idb::Error::ObjectStoreNotFound(value)
        | idb::Error::IndexNotFound(value) => value,
        _ => return StoreError::Aborted(text),
    };
    from_exception(&value, &text)
}

/// The engine's error for an exception of the browser.
fn from_exception(value: &JsValue, otherwise: &str) -> StoreError {
    let property =
        |name: &str| Reflect::get(value, &JsValue::from_str(name)).ok().and_then(|value| value.as_string());
    let message = property("message").unwrap_or_else(|| otherwise.to_owned());
    match property("name").as_deref() {
        Some("QuotaExceededError") => StoreError::Full,
        Some("VersionError") => StoreError::Newer,
        Some("UnknownError" | "DataError" | "NotFoundError" | "DataCloneError") => {
            StoreError::Corrupt(message)
        }
        Some(_) | None => StoreError::Aborted(message),
    }
}

fn store_of(transaction: &Transaction, table: Table) -> Result<ObjectStore, StoreError> {
    transaction.object_store(table.name()).map_err(failure)
}

async fn read(database: &Database, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
    let tables: BTreeSet<Table> = queries
        .iter()
        .map(|query| match query {
            Query::Get { table, .. } | Query::Scan { table, .. } => *table,
            Query::Range { index, .. } => index.table(),
        })
        .collect();
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let transaction = database.transaction(&names, idb::TransactionMode::ReadOnly).map_err(failure)?;
    let mut answers = Vec::with_capacity(queries.len());
    for query in queries {
        answers.push(ask(&transaction, query)?);
    }
    join_all(answers).await.into_iter().collect()
}

type Answer = LocalBoxFuture<'static, Result<Vec<Row>, StoreError>>;

/// Makes the request of a query at once; the answer comes with the future.
fn ask(transaction: &Transaction, query: &Query) -> Result<Answer, StoreError> {
    match query {
        Query::Get { table, key } => {
            let table = *table;
            let request = store_of(transaction, table)?.get(key_to_js(key)).map_err(failure)?.into_future();
            Ok(async move {
                let found = request.await.map_err(failure)?;
                found.iter().map(|value| row_from_js(table, value)).collect()
            }
            .boxed_local())
        }
        Query::Scan { table, from, to, limit } => {
            let table = *table;
            let Some(range) = range(from, to)? else { return Ok(nothing()) };
            let store = store_of(transaction, table)?;
            let request = store.get_all(Some(range.into()), Some(*limit)).map_err(failure)?.into_future();
            Ok(rows(table, async move { request.await.map_err(failure) }))
        }
        Query::Range { index, from, to, reverse, limit } => {
            let table = index.table();
            let Some(range) = range(from, to)? else { return Ok(nothing()) };
            let by = store_of(transaction, table)?.index(index.name()).map_err(failure)?;
            if *reverse {
                let opened = by
                    .open_cursor(Some(range.into()), Some(CursorDirection::Prev))
                    .map_err(failure)?
                    .into_future();
                return Ok(backwards(table, opened, *limit));
            }
            let request = by.get_all(Some(range.into()), Some(*limit)).map_err(failure)?.into_future();
            Ok(rows(table, async move { request.await.map_err(failure) }))
        }
    }
}

fn nothing() -> Answer {
    std::future::ready(Ok(Vec::new())).boxed_local()
}

fn rows(table: Table, values: impl Future<Output = Result<Vec<JsValue>, StoreError>> + 'static) -> Answer {
    async move { values.await?.iter().map(|value| row_from_js(table, value)).collect() }.boxed_local()
}

fn backwards(
    table: Table,
    opened: idb::request::futures::OpenCursorStoreRequestFuture,
    limit: u32,
) -> Answer {
    async move {
        let mut found = Vec::new();
        let mut cursor = opened.await.map_err(failure)?.map(idb::Cursor::into_managed);
        while let Some(at) = &mut cursor {
            let Some(value) = at.value().map_err(failure)? else { break };
            found.push(row_from_js(table, &value)?);
            if found.len() >= limit as usize {
                break;
            }
            at.next(None).await.map_err(failure)?;
        }
        Ok(found)
    }
    .boxed_local()
}

async fn write(connection: &Connection, commit: &Commit) -> Result<(), StoreError> {
    let expected = commit.expect.iter().map(|expect| match expect {
        Expect::Absent { table, .. } | Expect::Revision { table, .. } => *table,
    });
    let written = commit.put.iter().map(|row| row.table);
    let deleted = commit.delete.iter().map(|(table, _)| *table);
    let tables: BTreeSet<Table> = expected.chain(written).chain(deleted).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let transaction = begin(connection.raw(), &tables, commit.durability)?;
    match fill(&transaction, commit).await {
        Ok(()) => finish(transaction).await,
        Err(error) => {
            // A transaction that is only dropped would commit what was put so far.
            if let Ok(aborted) = transaction.abort() {
                let _ended = aborted.await;
            }
            Err(error)
        }
    }
}

fn begin(
    database: &web_sys::IdbDatabase,
    tables: &BTreeSet<Table>,
    durability: Durability,
) -> Result<Transaction, StoreError> {
    let names: Array = tables.iter().map(|table| JsValue::from_str(table.name())).collect();
    let options = Object::new();
    let word = match durability {
        Durability::Strict => "strict",
        Durability::Relaxed => "relaxed",
    };
    set(&options, "durability", &JsValue::from_str(word));
    database
        .unchecked_ref::<DurableDatabase>()
        .transaction_with(&names, "readwrite", &options)
        .map(Transaction::from)
        .map_err(|error| from_exception(&error, "the transaction could not begin"))
}

async fn fill(transaction: &Transaction, commit: &Commit) -> Result<(), StoreError> {
    let mut checks = Vec::with_capacity(commit.expect.len());
    for expect in &commit.expect {
        let (table, key) = match expect {
            Expect::Absent { table, key } | Expect::Revision { table, key, .. } => (*table, key),
        };
        checks.push(store_of(transaction, table)?.get(key_to_js(key)).map_err(failure)?.into_future());
    }
    for (expect, found) in commit.expect.iter().zip(join_all(checks).await) {
        hold(expect, found.map_err(failure)?.as_ref())?;
    }
    let mut deletes = Vec::with_capacity(commit.delete.len());
    for (table, key) in &commit.delete {
        let request = store_of(transaction, *table)?.delete(key_to_js(key)).map_err(failure)?;
        deletes.push(request.into_future());
    }
    let mut puts = Vec::with_capacity(commit.put.len());
    for row in &commit.put {
        let request = store_of(transaction, row.table)?.put(&row_to_js(row), None).map_err(failure)?;
        puts.push(request.into_future());
    }
    for deleted in join_all(deletes).await {
        deleted.map_err(failure)?;
    }
    for put in join_all(puts).await {
        put.map_err(failure)?;
    }
    Ok(())
}

async fn finish(transaction: Transaction) -> Result<(), StoreError> {
    let raw: web_sys::IdbTransaction = transaction.into();
    let committing = Transaction::from(raw.clone()).commit().map_err(failure)?;
    let ended = committing.await;
    // The transaction's own error says whether it was the disk or the quota.
    if let Some(error) = raw.error() {
        return Err(from_exception(&error.into(), "the transaction was aborted"));
    }
    match ended {
        Ok(result) if result.is_committed() => Ok(()),
        Ok(_) => Err(StoreError::Aborted("the transaction was aborted".to_owned())),
        Err(error) => Err(failure(error)),
    }
}

fn hold(expect: &Expect, found: Option<&JsValue>) -> Result<(), StoreError> {
    match expect {
        Expect::Absent { table, key } => match found {
            Some(_) => Err(StoreError::Conflict(format!("{} {key:?} is there already", table.name()))),
            None => Ok(()),
        },
        Expect::Revision { table, key, revision } => match found.map(revision_of) {
            Some(at) if at == *revision => Ok(()),
            Some(at) => Err(StoreError::Conflict(format!(
                "{} {key:?} is at revision {at}, not {revision}",
                table.name()
            ))),
            None => Err(StoreError::Conflict(format!("{} {key:?} is not there", table.name()))),
        },
    }
}

fn set(object: &Object, name: &str, value: &JsValue) {
    // Setting a property of a plain object of our own cannot fail.
    let _set = Reflect::set(object, &JsValue::from_str(name), value);
}

fn row_to_js(row: &Row) -> JsValue {
    let object = Object::new();
    set(&object, "k", &key_to_js(&row.key));
    #[expect(clippy::cast_precision_loss, reason = "revisions stay below 2^53")]
    set(&object, "r", &JsValue::from_f64(row.revision as f64));
    set(&object, "b", &JsValue::from_str(&row.body));
    for (index, key) in &row.index_keys {
        set(&object, index.name(), &key_to_js(key));
    }
    object.into()
}

fn revision_of(value: &JsValue) -> u64 {
    let number = Reflect::get(value, &JsValue::from_str("r")).ok().and_then(|value| value.as_f64());
    keys::whole(number.unwrap_or(0.0))
}

fn row_from_js(table: Table, value: &JsValue) -> Result<Row, StoreError> {
    let property = |name: &str| Reflect::get(value, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
    let damaged = || StoreError::Corrupt(format!("a row of {} has no key or no body", table.name()));
    let mut index_keys = Vec::new();
    for index in Index::ALL.into_iter().filter(|index| index.table() == table) {
        let key = property(index.name());
        if !key.is_undefined() {
            index_keys.push((index, key_from_js(&key).ok_or_else(damaged)?));
        }
    }
    Ok(Row {
        table,
        key: key_from_js(&property("k")).ok_or_else(damaged)?,
        index_keys,
        revision: revision_of(value),
        body: property("b").as_string().ok_or_else(damaged)?,
    })
}
