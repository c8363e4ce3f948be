//! A run that waits outlives its worker: for an answer of the user, and for a time with nobody there.

use anyhow::{Context, Result};
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{ParsedRequest, RecordedRequest, Reply};
use panelot_e2e::{WITHIN, World};
use serde_json::json;

/// How long the run waits for its time, in seconds: longer than it takes to close the page and to kill the worker.
const LATER_S: u64 = 20;

fn asks(request: &ParsedRequest) -> Reply {
    if !request.offers("ask_user") {
        return Reply::text("A question");
    }
    match request.last_result() {
        Some(result) => Reply::text(format!("Noted. {}", result.text)),
        None => Reply::call("ask_user", json!({ "question": "Which colour?", "options": ["Red", "Blue"] })),
    }
}

fn goes_on_later(request: &ParsedRequest) -> Reply {
    if !request.offers("schedule_resume") {
        return Reply::text("Later");
    }
    match request.last_result() {
        Some(_) => Reply::text("Back again."),
        None => Reply::call("schedule_resume", json!({ "inSeconds": LATER_S, "reason": "Look again." })),
    }
}

/// The card of a wait that takes an answer.
async fn awaited(chat: &Chat) -> Result<String> {
    chat.page.appears("[data-testid=interaction][data-awake=true]").await?;
    chat.page.evaluate("document.querySelector('[data-testid=interaction]').dataset.interaction").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_outlived_its_worker_is_answered_in_the_panel_by_keyboard() -> Result<()> {
    let world = World::start(asks).await?;
    let opener = world.connected_chat().await?;
    let chat = Chat::open_side_panel(&world.browser, &opener.page).await?;
    chat.submit("Paint it").await?;
    let before = awaited(&chat).await?;
    chat.page.focus(&by_test_id("interaction-input")).await?;
    chat.page.type_keys("Gree").await?;
    world.kill_worker().await?;
    // The same question stands there, and what was written is not lost.
    assert_eq!(awaited(&chat).await?, before);
    let written = "document.querySelector('[data-testid=interaction-input]').value === 'Gree'";
    chat.page.wait_within("what was written", WITHIN, written).await?;
    chat.page.focus(&by_test_id("interaction-input")).await?;
    chat.page.press("End").await?;
    chat.page.type_keys("n").await?;
    chat.page.press("Enter").await?;
    chat.page.shows("Noted. The user answered: Green").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("interaction")).await?, 0);
    let ended = chat.page.text(&by_test_id("wait-end")).await?.unwrap_or_default();
    assert_eq!(ended.trim(), "Which colour? You answered: Green");
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_at_its_time_after_its_worker_died_and_with_no_page_open() -> Result<()> {
    let world = World::start(goes_on_later).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Look again later").await?;
    awaited(&chat).await?;
    chat.page.close().await?;
    world.unwatch().await?;
    let before = world.browser.running_worker().await?.context("the worker is gone at once")?;
    world.browser.stop_worker().await?;

    let is_second = |one: &RecordedRequest| one.request.results().len() == 1;
    let second = world.provider.wait_for_request("the run going on", WITHIN, is_second).await?;
    let told = second.request.last_result().map(|result| result.text).unwrap_or_default();
    assert!(told.starts_with("The time has come"), "{told}");
    let after = world.browser.running_worker().await?.context("no worker came back")?;
    assert_ne!(after.id, before.id);

    let chat = Chat::open(&world.browser).await?;
    chat.page.click("[data-testid=thread-open]").await?;
    chat.page.shows("Back again.").await?;
    world.end()
}
