//! What goes wrong with IndexedDB in a real browser: each has its own error, leaves nothing half-written, and passes.

#![cfg(target_arch = "wasm32")]
#![expect(clippy::unwrap_used, reason = "a test may fail by a panic")]
#![expect(
    clippy::disallowed_methods,
    reason = "the page of a test lets text be code; nothing of it is in the extension"
)]

use idb::{Database, Factory, ObjectStoreParams, TransactionMode};
use panelot_engine::ports::{Commit, Durability, Entropy, Index, Key, Query, Row, Store, StoreError, Table};
use panelot_engine_web::entropy::WebEntropy;
use panelot_engine_web::idb::schema::{STORES_1, version_1};
use panelot_engine_web::idb::{IdbStore, Schema};
use panelot_testkit::fixtures;
use std::collections::BTreeMap;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn fresh(name: &str) -> String {
    format!("{name}-{}", WebEntropy.uuid())
}

fn row(id: &str, body: &str) -> Row {
    Row { table: Table::Meta, key: Key::text(id), index_keys: Vec::new(), revision: 1, body: body.to_owned() }
}

fn get(id: &str) -> Vec<Query> {
    vec![Query::Get { table: Table::Meta, key: Key::text(id) }]
}

fn put(rows: Vec<Row>) -> Commit {
    Commit { put: rows, durability: Durability::Strict, ..Commit::default() }
}

async fn raw(name: &str) -> Database {
    Factory::new().unwrap().open(name, None).unwrap().await.unwrap()
}

/// Every row of every table.
async fn everything(store: &IdbStore) -> Vec<Row> {
    let (from, to) = (Key(Vec::new()), Key::text("\u{ffff}"));
    let scan = |table| Query::Scan { table, from: from.clone(), to: to.clone(), limit: u32::MAX };
    let mut rows: Vec<Row> =
        store.read(Table::ALL.into_iter().map(scan).collect()).await.unwrap().into_iter().flatten().collect();
    for row in &mut rows {
        row.index_keys.sort();
    }
    rows
}

/// Replaces a method of the browser while a function runs, and puts it back.
async fn with_patch<T>(target: &str, body: &str, run: impl Future<Output = T>) -> T {
    let eval = |code: &str| js_sys::Function::new_no_args(code).call0(&JsValue::NULL).unwrap();
    eval(&format!("self.original = {target}; {target} = function (...args) {{ {body} }};"));
    let outcome = run.await;
    eval(&format!("{target} = self.original;"));
    outcome
}

#[wasm_bindgen_test]
async fn a_full_quota_is_told_as_such_and_nothing_of_the_commit_stays() {
    let store = IdbStore::new(&fresh("full"));
    store.commit(put(vec![row("a", "1")])).await.unwrap();
    let body = "if (args[0].k[0] === 'c') throw new DOMException('no room', 'QuotaExceededError'); \
                return self.original.apply(this, args);";
    let commit = store.commit(put(vec![row("a", "2"), row("b", "2"), row("c", "2")]));
    let refused = with_patch("IDBObjectStore.prototype.put", body, commit).await;
    assert_eq!(refused, Err(StoreError::Full));
    assert_eq!(everything(&store).await, [row("a", "1")]);
    store.commit(put(vec![row("c", "3")])).await.unwrap();
    assert_eq!(everything(&store).await, [row("a", "1"), row("c", "3")]);
}

#[wasm_bindgen_test]
async fn a_quota_that_ends_when_the_transaction_commits_is_told_as_such() {
    let store = IdbStore::new(&fresh("full-late"));
    store.commit(put(vec![row("a", "1")])).await.unwrap();
    // The transaction says itself why it ended, as it does when the disk fills up behind it.
    let body = "Object.defineProperty(this, 'error', { value: new DOMException('full', 'QuotaExceededError') }); \
                this.abort();";
    let refused =
        with_patch("IDBTransaction.prototype.commit", body, store.commit(put(vec![row("a", "2")]))).await;
    assert_eq!(refused, Err(StoreError::Full));
    assert_eq!(everything(&store).await, [row("a", "1")]);
}

#[wasm_bindgen_test]
async fn a_transaction_that_the_browser_aborts_writes_nothing_and_the_next_one_does() {
    let store = IdbStore::new(&fresh("aborted"));
    store.commit(put(vec![row("a", "1")])).await.unwrap();
    let body = "const request = self.original.apply(this, args); \
                if (args[0].k[0] === 'b') this.transaction.abort(); return request;";
    let commit = store.commit(put(vec![row("a", "2"), row("b", "2")]));
    let refused = with_patch("IDBObjectStore.prototype.put", body, commit).await;
    assert!(matches!(refused, Err(StoreError::Aborted(_))), "{refused:?}");
    assert_eq!(everything(&store).await, [row("a", "1")]);
    store.commit(put(vec![row("b", "3")])).await.unwrap();
    assert_eq!(everything(&store).await, [row("a", "1"), row("b", "3")]);
}

/// Version 1 alone.
const FIRST: Schema = Schema(&[version_1]);

/// A version that is not published: it adds a store, and marks each row of `meta`.
const NEXT: Schema = Schema(&[version_1, |database, transaction| {
    let failure = |error: idb::Error| StoreError::Aborted(error.to_string());
    database.create_object_store("later", ObjectStoreParams::new()).map_err(failure)?;
    transaction
        .object_store("meta")
        .map_err(failure)?
        .create_index("byLater", idb::KeyPath::new_single("later"), None)
        .map_err(failure)?;
    Ok(())
}]);

/// The same with a step that fails behind what it has made.
const BROKEN: Schema = Schema(&[version_1, |database, _| {
    database.create_object_store("later", ObjectStoreParams::new()).unwrap();
    Err(StoreError::Corrupt("the step fails".to_owned()))
}]);

/// Writes the fixture's rows in the form that version 1 has on disk, without this code's own writer.
async fn version_1_on_disk(name: &str) {
    let store = IdbStore::with_schema(name, FIRST);
    store.read(get("x")).await.unwrap();
    drop(store);
    let database = raw(name).await;
    let names: Vec<&str> = STORES_1.iter().map(|(name, _)| *name).collect();
    let transaction = database.transaction(&names, TransactionMode::ReadWrite).unwrap();
    for row in fixtures::version_1() {
        let line = fixtures::write(std::slice::from_ref(&row));
        let code = "const row = JSON.parse(arguments[0])[0]; \
                    return { k: row.key, r: row.revision, b: row.body, ...row.indexes };";
        let value =
            js_sys::Function::new_no_args(code).call1(&JsValue::NULL, &JsValue::from_str(&line)).unwrap();
        transaction.object_store(row.table.name()).unwrap().put(&value, None).unwrap().await.unwrap();
    }
    transaction.commit().unwrap().await.unwrap();
    database.close();
}

fn fixture() -> Vec<Row> {
    let mut rows = fixtures::version_1();
    for row in &mut rows {
        row.index_keys.sort();
    }
    rows.sort_by(|a, b| (a.table, &a.key).cmp(&(b.table, &b.key)));
    rows
}

#[wasm_bindgen_test]
async fn a_database_of_version_1_is_read_whole_by_todays_code() {
    let name = fresh("version-1");
    version_1_on_disk(&name).await;
    assert_eq!(everything(&IdbStore::new(&name)).await, fixture());
}

#[wasm_bindgen_test]
async fn the_stores_of_the_steps_are_those_that_todays_code_uses() {
    let name = fresh("stores");
    IdbStore::new(&name).read(get("x")).await.unwrap();
    let database = raw(&name).await;
    let names = database.store_names();
    let transaction = database.transaction(&names, TransactionMode::ReadOnly).unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in &names {
        let mut indexes = transaction.object_store(name).unwrap().index_names();
        indexes.sort();
        found.insert(name.clone(), indexes);
    }
    database.close();
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for table in Table::ALL {
        let of_table = Index::ALL.into_iter().filter(|index| index.table() == table);
        let mut indexes: Vec<String> = of_table.map(|index| index.name().to_owned()).collect();
        indexes.sort();
        wanted.insert(table.name().to_owned(), indexes);
    }
    assert_eq!(found, wanted);
}

#[wasm_bindgen_test]
async fn an_upgrade_keeps_every_row_and_an_older_version_then_refuses_and_changes_nothing() {
    let name = fresh("upgrade");
    version_1_on_disk(&name).await;
    let next = IdbStore::with_schema(&name, NEXT);
    assert_eq!(everything(&next).await, fixture());
    drop(next);
    let database = raw(&name).await;
    assert_eq!(database.version(), Ok(2));
    assert!(database.store_names().contains(&"later".to_owned()));
    database.close();
    assert_eq!(IdbStore::new(&name).read(get("x")).await, Err(StoreError::Newer));
    assert_eq!(everything(&IdbStore::with_schema(&name, NEXT)).await, fixture());
}

#[wasm_bindgen_test]
async fn an_upgrade_that_fails_leaves_the_database_as_it_was() {
    let name = fresh("broken-upgrade");
    version_1_on_disk(&name).await;
    let broken = IdbStore::with_schema(&name, BROKEN).read(get("x")).await;
    assert_eq!(broken, Err(StoreError::Corrupt("the step fails".to_owned())));
    assert_eq!(everything(&IdbStore::new(&name)).await, fixture());
}

#[wasm_bindgen_test]
async fn a_window_of_an_older_version_blocks_the_upgrade_until_it_is_closed() {
    let name = fresh("blocked");
    version_1_on_disk(&name).await;
    // A connection that does not listen to the wish for another version, as a window that hangs does not.
    let hanging = raw(&name).await;
    let next = IdbStore::with_schema(&name, NEXT);
    assert_eq!(next.read(get("x")).await, Err(StoreError::Blocked));
    assert_eq!(next.read(get("x")).await, Err(StoreError::Blocked));
    hanging.close();
    // A request that comes later is answered after the one that waits.
    raw(&name).await.close();
    assert_eq!(everything(&next).await, fixture());
}

#[wasm_bindgen_test]
async fn a_version_change_from_another_context_is_let_through_and_told_afterwards() {
    let name = fresh("version-change");
    version_1_on_disk(&name).await;
    let old = IdbStore::new(&name);
    assert_eq!(everything(&old).await, fixture());
    // The other context is not kept waiting.
    assert_eq!(everything(&IdbStore::with_schema(&name, NEXT)).await, fixture());
    assert_eq!(old.read(get("x")).await, Err(StoreError::Newer));
    assert_eq!(old.commit(put(vec![row("x", "1")])).await, Err(StoreError::Newer));
}

#[wasm_bindgen_test]
async fn a_row_whose_key_is_no_key_is_named_as_damage_and_the_others_are_read() {
    let name = fresh("damaged-index");
    version_1_on_disk(&name).await;
    let database = raw(&name).await;
    let transaction = database.transaction(&["threads"], TransactionMode::ReadWrite).unwrap();
    let value = js_sys::Function::new_no_args("return { k: ['broken'], r: 1, b: '{}', byUpdated: 'odd' };")
        .call0(&JsValue::NULL)
        .unwrap();
    transaction.object_store("threads").unwrap().put(&value, None).unwrap().await.unwrap();
    transaction.commit().unwrap().await.unwrap();
    database.close();
    let store = IdbStore::new(&name);
    let thread = |id: &str| vec![Query::Get { table: Table::Threads, key: Key::text(id) }];
    let damaged = StoreError::Corrupt("a row of threads has no key or no body".to_owned());
    assert_eq!(store.read(thread("broken")).await, Err(damaged));
    let sound = fixture().into_iter().find(|row| row.table == Table::Threads).unwrap();
    let id = match sound.key.0.first() {
        Some(panelot_engine::ports::KeyPart::Text(id)) => id.clone(),
        Some(panelot_engine::ports::KeyPart::Number(_)) | None => String::new(),
    };
    assert_eq!(store.read(thread(&id)).await, Ok(vec![vec![sound]]));
}
