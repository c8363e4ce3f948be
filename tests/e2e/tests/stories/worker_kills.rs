//! Chrome kills the worker at the worst moments: nothing is lost, nothing is done twice, and the user is told.

use std::time::Duration;

use anyhow::Result;
use panelot_driver::product::by_test_id;
use panelot_driver::provider::{Fault, FormFiller, ParsedRequest, Reply};
use panelot_e2e::scripts::storyteller;
use panelot_e2e::{WITHIN, World};
use serde_json::{Value, json};

const SIGN_UP: &str = "Sign me up for the Systems track. Full name: Ada Lovelace.";

fn sign_ups(world: &World) -> Vec<Value> {
    world.site.submissions("react").into_iter().map(|submission| submission.values).collect()
}

fn expected() -> Value {
    json!({ "name": "Ada Lovelace", "track": "systems", "dinner": false })
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_model_streams_the_text_so_far_is_partial_and_continue_is_offered() -> Result<()> {
    let world = World::start(storyteller).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Tell me a story").await?;
    world.provider.gate("middle").reached(WITHIN).await?;
    chat.page.shows("there was a fox").await?;
    world.kill_worker().await?;
    chat.page.appears(&by_test_id("continue")).await?;
    let partial = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(partial.contains("Once upon a time"), "{partial}");
    assert_eq!(chat.page.count("[data-testid=message-assistant] .partial").await?, 1);

    chat.page.focus(&by_test_id("continue")).await?;
    chat.page.press("Enter").await?;
    chat.page.shows("and they lived happily ever after.").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("recovery")).await?, 0);
    assert_eq!(chat.page.count(&by_test_id("message-user")).await?, 1);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_an_approval_waits_the_same_question_is_shown_again_and_works() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (_page, chat) = world.chat_beside("react").await?;
    chat.submit(SIGN_UP).await?;
    let asked = chat.approval().await?;
    world.kill_worker().await?;
    chat.page.reload().await?;
    assert_eq!(chat.approval().await?, asked);
    let approvals = chat.approve_until_idle().await?;
    assert_eq!((approvals, sign_ups(&world)), (3, vec![expected()]), "{}", chat.shown().await);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_a_write_and_its_result_the_user_decides_and_nothing_is_sent_twice() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (page, chat) = world.chat_beside("react?send=blocking").await?;
    let gate = world.site.hold("react");
    chat.submit(SIGN_UP).await?;
    for _ in 0..2 {
        let approval = chat.approval().await?;
        chat.decide(&approval, "y").await?;
    }
    let send = chat.approval().await?;
    chat.decide(&send, "y").await?;
    // The page stands still inside its own click handler: the write is under way and has no result.
    gate.reached(WITHIN).await?;
    world.kill_worker().await?;
    gate.open();
    page.shows("You are number 1.").await?;
    chat.page.appears("[data-testid=recovery][data-reason=uncertain]").await?;
    assert_eq!(sign_ups(&world), [expected()]);

    chat.page.focus(&by_test_id("mark-done")).await?;
    chat.page.press("Enter").await?;
    chat.page.disappears(&by_test_id("recovery")).await?;
    let more = chat.approve_until_idle().await?;
    assert_eq!((more, sign_ups(&world)), (0, vec![expected()]), "{}", chat.shown().await);
    let answer = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(answer.contains("Welcome, Ada Lovelace. You are number 1."), "{answer}");
    world.end()
}

/// Waits for a word on the page, and tells it.
fn waiter(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("A wait");
    }
    match request.last_result() {
        None => Reply::call("wait_for", json!({ "text": "the word", "timeMs": 60_000 })),
        Some(_) => Reply::text("The word has come."),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_read_the_read_goes_on_by_itself_and_nobody_is_asked() -> Result<()> {
    let world = World::start(waiter).await?;
    let (page, chat) = world.chat_beside("fixtures/press.html").await?;
    chat.submit("Wait for the word").await?;
    chat.page.appears("[data-testid=tool-row][data-status=running]").await?;
    world.kill_worker().await?;
    let add =
        "document.body.append(Object.assign(document.createElement('p'), { textContent: 'the word' })), true";
    page.evaluate::<bool>(add).await?;
    chat.page.shows("The word has come.").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("recovery")).await?, 0);
    assert_eq!(chat.page.count("[data-testid=tool-row][data-status=done]").await?, 1);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_retry_wait_nothing_is_sent_until_the_user_lets_it_go_on() -> Result<()> {
    let world = World::start(waiter).await?;
    let (page, chat) = world.chat_beside("fixtures/press.html").await?;
    let add =
        "document.body.append(Object.assign(document.createElement('p'), { textContent: 'the word' })), true";
    page.evaluate::<bool>(add).await?;
    chat.submit("Wait for the word").await?;
    chat.page.shows("The word has come.").await?;
    chat.idle().await?;
    world.provider.fail_next(Fault::rate_limit(Duration::from_secs(10)));
    chat.submit("Wait for the word again").await?;
    chat.page.appears(&by_test_id("countdown")).await?;
    world.kill_worker().await?;
    chat.page.appears(&by_test_id("continue")).await?;
    let before = world.provider.requests().len();
    chat.page.focus(&by_test_id("continue")).await?;
    assert_eq!(world.provider.requests().len(), before);
    chat.page.press("Enter").await?;
    chat.page.disappears(&by_test_id("recovery")).await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("message-user")).await?, 2);
    world.end()
}
