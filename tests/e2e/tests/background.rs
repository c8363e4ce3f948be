//! Work goes on when nobody watches: no page of the extension open, no debugger attached.

use std::time::Duration;

use anyhow::{Context, Result};
use panelot_driver::product::Chat;
use panelot_driver::provider::{Outcome, ParsedRequest, Piece, Reply};
use panelot_e2e::{WITHIN, World};

/// Chrome ends an idle worker after 30 s; this is well beyond two such spans.
const STREAM_S: u64 = 75;
/// How long the stream and what follows may take.
const STREAM_S_MAX: u64 = STREAM_S + 45;

fn slow_counter(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Counting");
    }
    (1..=STREAM_S).fold(Reply::new(), |reply, second| {
        reply.with(Piece::Frame(format!("{second} "))).with(Piece::Pause(Duration::from_secs(1)))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_75_seconds_ends_well_with_no_page_open_and_no_debugger_attached() -> Result<()> {
    let world = World::start(slow_counter).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Count slowly").await?;
    chat.page.shows("1 2 3").await?;
    chat.page.close().await?;
    world.unwatch().await?;
    let before = world.browser.running_worker().await?.context("the worker is gone at once")?;

    let is_long = |one: &panelot_driver::provider::RecordedRequest| {
        one.request.offers("read_page") && one.outcome != Outcome::Running
    };
    let what = "the end of the long stream";
    let ended = world.provider.wait_for_request(what, Duration::from_secs(STREAM_S_MAX), is_long).await?;
    assert_eq!(ended.outcome, Outcome::Sent);
    let after = world.browser.running_worker().await?.context("the worker is gone")?;
    assert_eq!(after.id, before.id);

    let chat = Chat::open(&world.browser).await?;
    chat.page.click("[data-testid=thread-open]").await?;
    chat.page
        .wait_within("the last number", WITHIN, &format!("document.body.innerText.includes('{STREAM_S}')"))
        .await?;
    let answer = chat.last("message-assistant").await?.context("no answer")?;
    let numbers: Vec<u64> = answer.text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    assert_eq!((answer.status.as_str(), numbers), ("done", (1..=STREAM_S).collect()));
    world.end()
}
