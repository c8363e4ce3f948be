//! The IndexedDB database does what every database must do, and names what is wrong with a damaged one.

#![cfg(target_arch = "wasm32")]
#![expect(clippy::unwrap_used, reason = "a test may fail by a panic")]

use idb::{Factory, TransactionMode};
use panelot_engine::ports::{Entropy, Key, Query, Store, StoreError, Table};
use panelot_engine_web::entropy::WebEntropy;
use panelot_engine_web::idb::IdbStore;
use panelot_testkit::store_contract::{CASES, run};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn fresh(name: &str) -> String {
    format!("{name}-{}", WebEntropy.uuid())
}

#[wasm_bindgen_test]
async fn the_indexed_database_keeps_the_contract() {
    let mut verdicts = Vec::new();
    for case in CASES {
        verdicts.push((case, run(case, &IdbStore::new(&fresh("contract"))).await));
    }
    let expected: Vec<(&str, Result<(), String>)> = CASES.iter().map(|case| (*case, Ok(()))).collect();
    assert_eq!(verdicts, expected);
}

#[wasm_bindgen_test]
async fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    let name = fresh("newer");
    let newer = Factory::new().unwrap().open(&name, Some(99)).unwrap().await.unwrap();
    newer.close();
    let query = Query::Get { table: Table::Meta, key: Key::text("a") };
    assert_eq!(IdbStore::new(&name).read(vec![query]).await, Err(StoreError::Newer));
    let again = Factory::new().unwrap().open(&name, None).unwrap().await.unwrap();
    assert_eq!(again.version(), Ok(99));
    again.close();
}

#[wasm_bindgen_test]
async fn a_row_without_a_body_is_named_as_damage() {
    let name = fresh("damaged");
    let store = IdbStore::new(&name);
    let query = || vec![Query::Get { table: Table::Meta, key: Key::text("a") }];
    assert_eq!(store.read(query()).await, Ok(vec![vec![]]));
    let database = Factory::new().unwrap().open(&name, None).unwrap().await.unwrap();
    let transaction = database.transaction(&["meta"], TransactionMode::ReadWrite).unwrap();
    let row: JsValue = js_sys::Object::from_entries(&js_sys::Array::of1(&js_sys::Array::of2(
        &"k".into(),
        &js_sys::Array::of1(&"a".into()),
    )))
    .unwrap()
    .into();
    transaction.object_store("meta").unwrap().put(&row, None).unwrap().await.unwrap();
    transaction.commit().unwrap().await.unwrap();
    database.close();
    let damaged = StoreError::Corrupt("a row of meta has no key or no body".to_owned());
    assert_eq!(store.read(query()).await, Err(damaged));
}

#[wasm_bindgen_test]
async fn a_database_that_the_browser_closed_is_opened_again() {
    let name = fresh("closed");
    let store = IdbStore::new(&name);
    let query = || vec![Query::Get { table: Table::Meta, key: Key::text("a") }];
    assert_eq!(store.read(query()).await, Ok(vec![vec![]]));
    // Deleting it asks every connection to close; ours does, and makes a new database at the next use.
    Factory::new().unwrap().delete(&name).unwrap().await.unwrap();
    assert_eq!(store.read(query()).await, Ok(vec![vec![]]));
}
