//! Bad input from outside: each gets its clear error, and nothing is lost.

use anyhow::{Context, Result};
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{Fault, ParsedRequest, Reply};
use panelot_e2e::{KEY, WITHIN, World};
use serde_json::json;

/// Answers as the task says: with HTML, with a cut, or well.
fn moody(request: &ParsedRequest) -> Reply {
    let task = request.task();
    if !request.offers("read_page") {
        Reply::text("A title")
    } else if task.contains("as a portal") {
        Reply::text("never seen").fail(Fault::Html)
    } else if task.contains("and break off") {
        Reply::text("The first half of an answer. ".repeat(20)).fail(Fault::NoDone)
    } else {
        Reply::text("All is well.")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_answers_html_is_named_and_the_message_can_be_sent_again() -> Result<()> {
    let world = World::start(moody).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Answer as a portal").await?;
    chat.page.appears("[data-testid=trouble], [data-testid=notice]").await?;
    chat.idle().await?;
    let shown = chat.shown().await;
    assert!(shown.contains("a web page came instead of an answer"), "{shown}");
    assert!(!shown.contains("Please log in to this network"), "the portal's page is shown: {shown}");
    assert_eq!(chat.page.texts(&by_test_id("message-user")).await?.len(), 1);
    chat.submit("Answer well").await?;
    chat.page.shows("All is well.").await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_its_end_keeps_its_text_and_says_that_it_is_partial() -> Result<()> {
    let world = World::start(moody).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Answer and break off").await?;
    chat.page.appears("[data-testid=message-assistant] .partial").await?;
    chat.idle().await?;
    let answer = chat.last("message-assistant").await?.context("no answer")?;
    assert!(answer.text.contains("The first half of an answer."), "{}", answer.text);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_named_without_being_shown() -> Result<()> {
    let world = World::start(moody).await?;
    let chat = world.connected_chat().await?;
    world.provider.refuse_key(KEY);
    chat.submit("Answer well").await?;
    chat.page.appears("[data-testid=trouble], [data-testid=notice]").await?;
    chat.idle().await?;
    let shown = chat.shown().await;
    assert!(shown.contains("401") && !shown.contains(KEY), "{shown}");
    world.end()
}

/// Looks at the page, waits at a gate, and then types into what it has seen.
fn late_typist(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("A title");
    }
    let results = request.results();
    match results.last().map(|result| result.name.as_str()) {
        None => Reply::call("read_page", json!({})),
        Some("read_page") => match request.seen_nodes().into_iter().find(|node| node.role == "textbox") {
            Some(node) => Reply::text("I have seen the page. ")
                .then_wait_at("seen")
                .and_call("type", json!({ "ref": node.reference, "text": "too late" })),
            None => Reply::text("There is no field."),
        },
        Some(_) => Reply::text(format!("It ended so: {}", results.last().map_or("", |result| &result.text))),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_vanishes_in_the_middle_ends_the_call_and_not_the_turn() -> Result<()> {
    let world = World::start(late_typist).await?;
    let (page, chat) = world.chat_beside("order").await?;
    chat.submit("Type something").await?;
    let gate = world.provider.gate("seen");
    gate.reached(WITHIN).await?;
    page.close().await?;
    gate.open();
    chat.approve_until_idle().await?;
    let answer = chat.last("message-assistant").await?.context("no answer")?;
    assert!(answer.text.contains("It ended so:"), "{}", chat.shown().await);
    assert_eq!(chat.page.count("[data-testid=tool-row][data-tool=type][data-status=failed]").await?, 1);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_costs_the_damaged_thread_and_nothing_else() -> Result<()> {
    let world = World::start(moody).await?;
    let chat = world.connected_chat().await?;
    for task in ["First question", "Second question"] {
        chat.submit(task).await?;
        chat.page.shows("All is well.").await?;
        chat.idle().await?;
        chat.page.click(&by_test_id("new-thread")).await?;
        chat.page.appears(&by_test_id("empty")).await?;
    }
    let damaged: u64 = chat.page.evaluate(DAMAGE_OLDEST_THREAD).await?;
    assert!(damaged > 0, "nothing was damaged");
    world.kill_worker().await?;
    chat.page.reload().await?;
    let chat = Chat::on(chat.page).await?;
    chat.page
        .wait_for("both threads", "document.querySelectorAll('[data-testid=thread-open]').length >= 2")
        .await?;
    let open =
        |place: usize| format!("[data-testid=thread-row]:nth-of-type({place}) [data-testid=thread-open]");
    chat.page.click(&open(1)).await?;
    chat.page.shows("Second question").await?;
    chat.page.shows("All is well.").await?;
    chat.page.click(&open(2)).await?;
    chat.page.appears("[data-testid=trouble], [data-testid=notice]").await?;
    chat.page.click(&by_test_id("new-thread")).await?;
    chat.submit("Third question").await?;
    chat.page.shows("All is well.").await?;
    world.end()
}

/// Overwrites the bodies of all nodes of the oldest thread, and gives their number.
const DAMAGE_OLDEST_THREAD: &str = "new Promise((resolve, reject) => {
    const opening = indexedDB.open('panelot');
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
        const database = opening.result;
        const transaction = database.transaction('nodes', 'readwrite');
        const walk = transaction.objectStore('nodes').openCursor();
        const rows = [];
        let damaged = 0;
        walk.onsuccess = () => {
            const cursor = walk.result;
            if (cursor) { rows.push(cursor.value); cursor.continue(); return; }
            const thread = (row) => JSON.parse(row.b).threadId ?? JSON.parse(row.b).thread_id;
            const first = rows.find((row) => row.b.includes('First question'));
            for (const row of rows.filter((row) => thread(row) === thread(first))) {
                transaction.objectStore('nodes').put({ ...row, b: '{broken' });
                damaged += 1;
            }
        };
        transaction.oncomplete = () => { database.close(); resolve(damaged); };
        transaction.onerror = () => reject(transaction.error);
    };
})";
