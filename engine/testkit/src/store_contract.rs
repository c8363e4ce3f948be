//! What every database must do, as one suite that runs against each implementation.
//!
//! Each case gets an empty database. A case answers with what it found wrong, so that the suite can run where a panic
//! cannot be caught.

use panelot_engine::ports::{Commit, Durability, Expect, Index, Key, Query, Row, Store, StoreError, Table};

/// A case's verdict: the sentence says what differs.
pub type Verdict = Result<(), String>;

/// The names of all cases, in the order in which [`run`] knows them.
pub const CASES: [&str; 9] = [
    "a row is read as it was written",
    "a missing row is an empty answer",
    "an expectation that does not hold refuses the whole commit",
    "a revision that holds lets the commit through",
    "a scan is in the order of keys, numbers before texts, with both ends and a limit",
    "an index follows its rows when they change and go",
    "a range reads backwards and stops at its limit",
    "all queries of one read see one state",
    "a commit deletes before it writes and takes a strict durability",
];

/// Runs one case by its name.
///
/// # Errors
/// With what differs, or when there is no such case.
pub async fn run<S: Store>(case: &str, store: &S) -> Verdict {
    let place = CASES.iter().position(|name| *name == case);
    match place {
        Some(0) => round_trip(store).await,
        Some(1) => missing(store).await,
        Some(2) => refused_whole(store).await,
        Some(3) => revision_holds(store).await,
        Some(4) => scan_order(store).await,
        Some(5) => index_follows(store).await,
        Some(6) => reverse_range(store).await,
        Some(7) => one_state(store).await,
        Some(8) => delete_and_strict(store).await,
        Some(_) | None => Err(format!("no case is called {case:?}")),
    }
}

fn row(table: Table, key: Key, index_keys: Vec<(Index, Key)>, revision: u64, body: &str) -> Row {
    Row { table, key, index_keys, revision, body: body.to_owned() }
}

fn thread(id: &str, updated: u64, revision: u64) -> Row {
    let by_updated = Key::text("open").and_number(updated).and_text(id);
    let body = format!("{{\"id\":\"{id}\",\"text\":\"北京 🌍 \\u0000\"}}");
    row(Table::Threads, Key::text(id), vec![(Index::ThreadsByUpdated, by_updated)], revision, &body)
}

fn put(rows: Vec<Row>) -> Commit {
    Commit { put: rows, ..Commit::default() }
}

fn get(id: &str) -> Query {
    Query::Get { table: Table::Threads, key: Key::text(id) }
}

async fn must<T>(what: &str, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, String> {
    work.await.map_err(|error| format!("{what}: {error}"))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}")) }
}

async fn read<S: Store>(store: &S, query: Query) -> Result<Vec<Row>, String> {
    let mut answers = must("read", store.read(vec![query])).await?;
    answers.pop().ok_or_else(|| "no answer to a query".to_owned())
}

async fn round_trip<S: Store>(store: &S) -> Verdict {
    let written = thread("a", 7, 3);
    must("write", store.commit(put(vec![written.clone()]))).await?;
    same("the row", &read(store, get("a")).await?, &vec![written])
}

async fn missing<S: Store>(store: &S) -> Verdict {
    same("the answer", &read(store, get("nobody")).await?, &Vec::new())
}

async fn refused_whole<S: Store>(store: &S) -> Verdict {
    must("write", store.commit(put(vec![thread("a", 1, 1)]))).await?;
    let cases = [
        Expect::Absent { table: Table::Threads, key: Key::text("a") },
        Expect::Revision { table: Table::Threads, key: Key::text("a"), revision: 2 },
        Expect::Revision { table: Table::Threads, key: Key::text("b"), revision: 0 },
    ];
    for expect in cases {
        let commit = Commit {
            expect: vec![expect.clone()],
            put: vec![thread("b", 2, 1)],
            delete: vec![(Table::Threads, Key::text("a"))],
            durability: Durability::Relaxed,
        };
        match store.commit(commit).await {
            Err(StoreError::Conflict(_)) => {}
            other => return Err(format!("{expect:?} gave {other:?} instead of a conflict")),
        }
        same("a is untouched", &read(store, get("a")).await?, &vec![thread("a", 1, 1)])?;
        same("b was not written", &read(store, get("b")).await?, &Vec::new())?;
    }
    Ok(())
}

async fn revision_holds<S: Store>(store: &S) -> Verdict {
    must("write", store.commit(put(vec![thread("a", 1, 1)]))).await?;
    let commit = Commit {
        expect: vec![
            Expect::Revision { table: Table::Threads, key: Key::text("a"), revision: 1 },
            Expect::Absent { table: Table::Threads, key: Key::text("b") },
        ],
        put: vec![thread("a", 1, 2), thread("b", 1, 1)],
        ..Commit::default()
    };
    must("commit", store.commit(commit)).await?;
    same("a", &read(store, get("a")).await?, &vec![thread("a", 1, 2)])?;
    same("b", &read(store, get("b")).await?, &vec![thread("b", 1, 1)])
}

async fn scan_order<S: Store>(store: &S) -> Verdict {
    let keys = [
        Key::text("t"),
        Key::text("t").and_number(2),
        Key::text("t").and_number(10),
        Key::text("t").and_text("a"),
        Key::text("t").and_text("b"),
        Key::text("u"),
    ];
    let rows: Vec<Row> = keys.iter().map(|key| row(Table::Chains, key.clone(), Vec::new(), 0, "1")).collect();
    must("write", store.commit(put(rows.iter().rev().cloned().collect()))).await?;
    let scan = |from: Key, to: Key, limit| Query::Scan { table: Table::Chains, from, to, limit };
    let under_t = read(store, scan(Key::text("t"), Key::text("t").and_text("\u{ffff}"), 100)).await?;
    same("all of t", &under_t, &rows.iter().take(5).cloned().collect())?;
    let two = read(store, scan(Key::text("t").and_number(2), Key::text("t").and_text("b"), 2)).await?;
    same("the first two", &two, &rows.iter().skip(1).take(2).cloned().collect())?;
    let nothing = read(store, scan(Key::text("z"), Key::text("a"), 10)).await?;
    same("an empty range", &nothing, &Vec::new())
}

async fn index_follows<S: Store>(store: &S) -> Verdict {
    let all = || Query::Range {
        index: Index::ThreadsByUpdated,
        from: Key::text("open"),
        to: Key::text("open").and_text("\u{ffff}"),
        reverse: false,
        limit: 100,
    };
    must("write", store.commit(put(vec![thread("a", 1, 1), thread("b", 2, 1)]))).await?;
    must("move a", store.commit(put(vec![thread("a", 3, 2)]))).await?;
    same("after a move", &read(store, all()).await?, &vec![thread("b", 2, 1), thread("a", 3, 2)])?;
    let unindexed = row(Table::Threads, Key::text("b"), Vec::new(), 2, "2");
    must("unindex b", store.commit(put(vec![unindexed]))).await?;
    same("without b", &read(store, all()).await?, &vec![thread("a", 3, 2)])?;
    let delete = Commit { delete: vec![(Table::Threads, Key::text("a"))], ..Commit::default() };
    must("delete a", store.commit(delete)).await?;
    same("without both", &read(store, all()).await?, &Vec::new())
}

async fn reverse_range<S: Store>(store: &S) -> Verdict {
    let rows: Vec<Row> = (1..=5).map(|number| thread(&format!("t{number}"), number, 1)).collect();
    must("write", store.commit(put(rows.clone()))).await?;
    let query = Query::Range {
        index: Index::ThreadsByUpdated,
        from: Key::text("open").and_number(2),
        to: Key::text("open").and_text("\u{ffff}"),
        reverse: true,
        limit: 3,
    };
    let expected: Vec<Row> = rows.into_iter().rev().take(3).collect();
    same("the newest three", &read(store, query).await?, &expected)
}

async fn one_state<S: Store>(store: &S) -> Verdict {
    must("write", store.commit(put(vec![thread("a", 1, 1), thread("b", 1, 1)]))).await?;
    let both = store.read(vec![get("a"), get("b"), get("c")]);
    let change = store.commit(put(vec![thread("a", 1, 2), thread("b", 1, 2)]));
    let (both, change) = futures::future::join(both, change).await;
    change.map_err(|error| format!("commit: {error}"))?;
    let both = both.map_err(|error| format!("read: {error}"))?;
    let revisions: Vec<Vec<u64>> =
        both.iter().map(|rows| rows.iter().map(|row| row.revision).collect()).collect();
    let whole = [vec![vec![1], vec![1], vec![]], vec![vec![2], vec![2], vec![]]];
    if whole.contains(&revisions) { Ok(()) } else { Err(format!("a read saw half a commit: {revisions:?}")) }
}

async fn delete_and_strict<S: Store>(store: &S) -> Verdict {
    must("write", store.commit(put(vec![thread("a", 1, 1)]))).await?;
    let commit = Commit {
        expect: Vec::new(),
        put: vec![thread("a", 9, 5)],
        delete: vec![(Table::Threads, Key::text("a")), (Table::Threads, Key::text("never"))],
        durability: Durability::Strict,
    };
    must("commit", store.commit(commit)).await?;
    same("the new row", &read(store, get("a")).await?, &vec![thread("a", 9, 5)])
}
