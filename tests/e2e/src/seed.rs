//! Puts rows straight into the extension's database.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_engine::ports::{Index, Key, KeyPart, Row};
use serde_json::{Map, Value, json};

use crate::DATABASE;

/// How many rows go into one message to the page.
const ROWS_PER_MESSAGE: usize = 2_000;

/// Writes rows into the database, which the engine must have made; `page` is any page of the extension.
///
/// # Errors
/// When the browser refuses.
pub async fn put_rows(page: &Page, rows: &[Row]) -> Result<()> {
    let put = "(database, rows) => new Promise((resolve, reject) => {
        const opening = indexedDB.open(database);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
            const tables = [...new Set(rows.map((row) => row.table))];
            const transaction = opening.result.transaction(tables, 'readwrite');
            for (const { table, row } of rows) transaction.objectStore(table).put(row);
            transaction.oncomplete = () => { opening.result.close(); resolve(true); };
            transaction.onabort = () => reject(transaction.error);
        };
    })";
    for part in rows.chunks(ROWS_PER_MESSAGE) {
        let part: Vec<Value> = part.iter().map(row_to_json).collect();
        page.call::<bool>(put, &[json!(DATABASE), json!(part)]).await?;
    }
    Ok(())
}

/// A row as its object in the database: `k`, `r`, `b`, and a property per index.
fn row_to_json(row: &Row) -> Value {
    let mut object = Map::new();
    object.insert("k".into(), key_to_json(&row.key));
    object.insert("r".into(), json!(row.revision));
    object.insert("b".into(), json!(row.body));
    for (index, key) in &row.index_keys {
        object.insert(Index::name(*index).into(), key_to_json(key));
    }
    json!({ "table": row.table.name(), "row": object })
}

fn key_to_json(key: &Key) -> Value {
    let part = |part: &KeyPart| match part {
        KeyPart::Number(number) => json!(number),
        KeyPart::Text(text) => json!(text),
    };
    key.0.iter().map(part).collect()
}
