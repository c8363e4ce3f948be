//! Stop stops: wherever the work stands, the page is left alone from then on, and what waits goes on only when it may.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use panelot_driver::product::{Chat, EnginePort, by_test_id};
use panelot_driver::provider::{Fault, Outcome, ParsedRequest, Piece, RecordedRequest, Reply};
use panelot_driver::until;
use panelot_e2e::{WITHIN, World};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::ids::ApprovalId;
use panelot_protocol::op::Op;
use panelot_protocol::turn::PermissionPolicy;
use serde_json::json;

/// After this time nothing may happen any more that was stopped.
const QUIET_MS: u64 = 1_000;
/// How often the eager model presses the button.
const EVERY_MS: u64 = 300;

/// Presses a button again and again; where it is told so, it says much before it.
fn eager(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Presses");
    }
    let task = request.task();
    if task.contains("message") {
        return Reply::text("I have read it.");
    }
    let Some(button) = request.find("button", "Press") else {
        return Reply::call("read_page", json!({}));
    };
    let press = json!({ "ref": button.reference });
    if task.contains("in the stream") {
        return Reply::text("Once upon a time ").then_wait_at("stream").and_call("click", press);
    }
    Reply::new().with(Piece::Pause(Duration::from_millis(EVERY_MS))).and_call("click", press)
}

fn presses(world: &World) -> usize {
    world.site.submissions("presses").len()
}

/// Stops, and looks for a second whether anything happens to the page or at the provider.
async fn stop_and_look(world: &World, chat: &Chat) -> Result<()> {
    let notices = chat.page.texts(&by_test_id("notice")).await?.len();
    chat.page.click(&by_test_id("stop")).await?;
    chat.page.disappears(&by_test_id("stop")).await?;
    let before = (presses(world), world.provider.requests().len());
    let quiet = Duration::from_millis(QUIET_MS);
    let more = until("more work", quiet, || async {
        Ok((before != (presses(world), world.provider.requests().len())).then_some(()))
    });
    ensure!(more.await.is_err(), "the work went on after Stop: {}", chat.shown().await);
    let said = chat.page.texts(&by_test_id("notice")).await?;
    ensure!(said.len() > notices, "nothing says that the work was stopped: {}", chat.shown().await);
    Ok(())
}

async fn new_thread(chat: &Chat) -> Result<()> {
    chat.page.click(&by_test_id("new-thread")).await?;
    chat.page.appears(&by_test_id("empty")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn after_stop_nothing_happens_to_the_page_and_a_late_answer_counts_for_nothing() -> Result<()> {
    let world = World::start(eager).await?;
    let (_page, chat) = world.chat_beside("fixtures/press.html").await?;

    chat.submit("Stop me in the stream").await?;
    world.provider.gate("stream").reached(WITHIN).await?;
    chat.page.shows("Once upon a time").await?;
    stop_and_look(&world, &chat).await?;
    world.provider.gate("stream").open();
    assert_eq!(presses(&world), 0);

    new_thread(&chat).await?;
    chat.submit("Stop me at the question").await?;
    let asked = chat.approval().await?;
    stop_and_look(&world, &chat).await?;
    let port = EnginePort::open(&chat.page).await?;
    port.initialize().await?;
    let (approval_id, decision) = (ApprovalId::new(asked), ApprovalDecision::Accept {});
    let late = port.ask(|submission_id| Op::ApprovalResponse { submission_id, approval_id, decision }).await;
    assert!(late.is_err(), "the late answer was taken: {late:?}");
    port.close().await?;
    assert_eq!(presses(&world), 0);

    world.set_policy(&chat, PermissionPolicy::Auto).await?;
    new_thread(&chat).await?;
    chat.submit("Stop me among the presses").await?;
    until("three presses", WITHIN, || async { Ok((presses(&world) >= 3).then_some(())) }).await?;
    stop_and_look(&world, &chat).await?;

    new_thread(&chat).await?;
    chat.submit("Stop me in the wait").await?;
    let before = presses(&world);
    until("a press", WITHIN, || async { Ok((presses(&world) > before).then_some(())) }).await?;
    world.provider.fail_next(Fault::rate_limit(Duration::from_secs(2)));
    chat.page.appears(&by_test_id("countdown")).await?;
    stop_and_look(&world, &chat).await?;
    let last = world.provider.requests().pop().context("no request")?;
    assert_eq!(last.outcome, Outcome::Faulted);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_holds_the_queue_and_what_waits_is_sent_only_when_the_user_says_so() -> Result<()> {
    let world = World::start(eager).await?;
    let (_page, chat) = world.chat_beside("fixtures/press.html").await?;
    chat.submit("Stop me in the stream").await?;
    world.provider.gate("stream").reached(WITHIN).await?;
    for text in ["First message", "Second message"] {
        chat.page.focus(&by_test_id("composer")).await?;
        chat.page.insert(text).await?;
        chat.page.press("Alt+Shift+Enter").await?;
        chat.page.wait_for(text, &format!("[...document.querySelectorAll('[data-testid=queue-row]')].some((row) => row.innerText.includes('{text}'))")).await?;
    }
    stop_and_look(&world, &chat).await?;
    assert_eq!(
        chat.page.texts("[data-testid=queue-row] span[dir=auto]").await?,
        ["First message", "Second message"]
    );
    assert_eq!(chat.page.count("[data-testid=queue][data-held=true]").await?, 1);
    chat.page.click(&by_test_id("queue-release")).await?;
    chat.page.disappears(&by_test_id("queue")).await?;
    chat.idle().await?;
    let answered =
        |one: &&RecordedRequest| one.request.offers("read_page") && one.request.task().contains("message");
    let requests = world.provider.requests();
    let answered: Vec<bool> =
        requests.iter().filter(answered).map(|one| one.request.task().contains("First")).collect();
    assert_eq!(answered, [true, false]);
    world.end()
}
