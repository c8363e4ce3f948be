//! A page that stands still in a dialog of its own ends a call, not the patience of the user.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::World;
use serde_json::json;

/// A read may take so long before it says that the page does not answer.
const READ_S_MAX: u64 = 45;

/// Reads the page once and tells what came of it.
fn reader(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("A look");
    }
    match request.last_result() {
        None => Reply::call("read_page", json!({})),
        Some(result) => Reply::text(format!("It ended so: {}", result.text)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_of_a_page_with_an_open_dialog_ends_in_time_and_says_what_may_be_the_cause() -> Result<()> {
    let world = World::start(reader).await?;
    let (page, chat) = world.chat_beside("fixtures/press.html").await?;
    let mut listener = world.browser.cdp().listen();
    page.evaluate::<u32>("setTimeout(() => alert('Look here'), 0)").await?;
    let opened = |event: &panelot_driver::cdp::CdpEvent| {
        (event.method == "Page.javascriptDialogOpening").then_some(())
    };
    listener.wait("the dialog", Duration::from_secs(READ_S_MAX), opened).await?;
    let started = Instant::now();
    chat.submit("What is on this page?").await?;
    chat.page.shows("It ended so:").await?;
    let took = started.elapsed();
    let answer = chat.last("message-assistant").await?.context("no answer")?.text;
    page.session().call("Page.handleJavaScriptDialog", json!({ "accept": true })).await?;
    assert!(took < Duration::from_secs(READ_S_MAX), "the read took {took:?}");
    assert!(answer.contains("dialog"), "{answer}");
    chat.idle().await?;
    world.end()
}
