//! The in-memory database does what every database must do.

use futures::executor::block_on;
use panelot_engine::store::MemoryStore;
use panelot_testkit::store_contract::{CASES, run};

#[test]
fn the_in_memory_database_keeps_the_contract() {
    let verdicts: Vec<(&str, Result<(), String>)> =
        CASES.iter().map(|case| (*case, block_on(run(case, &MemoryStore::default())))).collect();
    let expected: Vec<(&str, Result<(), String>)> = CASES.iter().map(|case| (*case, Ok(()))).collect();
    assert_eq!(verdicts, expected);
}
