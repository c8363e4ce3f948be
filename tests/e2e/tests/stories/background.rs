//! Work goes on when nobody watches: no page of the extension open, no debugger attached.

use std::time::Duration;

use anyhow::{Context, Result};
use panelot_driver::product::Chat;
use panelot_driver::provider::{Fault, Outcome, ParsedRequest, Piece, RecordedRequest, Reply};
use panelot_e2e::World;
use serde_json::json;

/// Chrome ends an idle worker after 30 s; this is well beyond two such spans.
const STREAM_S: u64 = 75;
/// How long the provider then asks to be left alone; longer than a worker lives that has nothing to do.
const RETRY_S: u64 = 40;
/// How much later than its time each part may end: an alarm is at most half a minute late.
const LATE_S_MAX: u64 = 45;
const END: &str = "That was all.";

/// Counts slowly, has a look at the tabs, and ends.
fn slow_counter(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Counting");
    }
    if request.last_result().is_some() {
        return Reply::text(END);
    }
    let counted = (1..=STREAM_S).fold(Reply::new(), |reply, second| {
        reply.with(Piece::Frame(format!("{second} "))).with(Piece::Pause(Duration::from_secs(1)))
    });
    counted.and_call("tabs_list", json!({}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_75_s_and_a_retry_after_40_s_end_well_with_no_page_open_and_no_debugger() -> Result<()> {
    let world = World::start(slow_counter).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Count slowly").await?;
    chat.page.shows("1 2 3").await?;
    chat.page.close().await?;
    world.unwatch().await?;
    let before = world.browser.running_worker().await?.context("the worker is gone at once")?;
    world.provider.fail_next(Fault::rate_limit(Duration::from_secs(RETRY_S)));

    let is_chat = |one: &RecordedRequest| one.request.offers("read_page");
    let refused = |one: &RecordedRequest| is_chat(one) && one.outcome == Outcome::Faulted;
    let within = Duration::from_secs(STREAM_S + LATE_S_MAX);
    let provider = &world.provider;
    let refused = world.resting(provider.wait_for_request("the refusal", within, refused)).await?;
    let after = world.browser.running_worker().await?.context("the worker is gone")?;
    assert_eq!(after.id, before.id, "the worker died while it streamed");

    let number = refused.request.number;
    let again =
        |one: &RecordedRequest| is_chat(one) && one.request.number > number && one.outcome == Outcome::Sent;
    let within = Duration::from_secs(RETRY_S + LATE_S_MAX);
    let again = world.resting(provider.wait_for_request("the second try", within, again)).await?;
    let waited = again.came_at.duration_since(refused.came_at)?;
    assert!(waited >= Duration::from_secs(RETRY_S), "tried again after {waited:?}");

    let chat = Chat::open(&world.browser).await?;
    chat.page.click("[data-testid=thread-open]").await?;
    chat.page.shows(END).await?;
    chat.idle().await?;
    let lines = chat.transcript().await?;
    let answers = lines.iter().filter(|line| line.kind == "message-assistant");
    let [counted, last] = answers.collect::<Vec<_>>()[..] else { anyhow::bail!("{lines:#?}") };
    let numbers: Vec<u64> = counted.text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    assert_eq!((counted.status.as_str(), numbers), ("done", (1..=STREAM_S).collect()));
    assert_eq!((last.status.as_str(), last.text.lines().next()), ("done", Some(END)));
    world.end()
}
