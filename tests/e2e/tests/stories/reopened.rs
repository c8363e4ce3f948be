//! A page that is closed in the middle of an answer and opened again shows the same answer, alive or cut.

use std::time::Duration;

use anyhow::Result;
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{ParsedRequest, Piece, Reply};
use panelot_driver::until;
use panelot_e2e::stored::{ShownLine, shown};
use panelot_e2e::{WITHIN, World};

/// Longer than the engine takes to write down what has been streamed.
const CHECKPOINT_MS: u64 = 2_500;

fn storyteller(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("A story");
    }
    let gate = if request.task().contains("another") { "second" } else { "first" };
    Reply::text("Once upon a time ")
        .with(Piece::Pause(Duration::from_millis(CHECKPOINT_MS)))
        .say("there was a fox ")
        .then_wait_at(gate)
        .say("that nobody ever saw.")
}

/// Opens the newest thread in a page of its own.
async fn open_newest(world: &World) -> Result<Chat> {
    let chat = Chat::open(&world.browser).await?;
    chat.page.click(&by_test_id("thread-open")).await?;
    chat.page.appears(&by_test_id("message-user")).await?;
    Ok(chat)
}

/// Waits until both pages show the same conversation, and that it is what is wanted.
async fn both_show(first: &Chat, second: &Chat, last: &str, status: &str) -> Result<()> {
    let is_wanted = |line: &ShownLine| {
        line.kind == "message-assistant" && line.text.contains(last) && line.status == status
    };
    let waited = until("the same in both windows", WITHIN, || async {
        let (one, other) = (shown(&first.page).await?, shown(&second.page).await?);
        Ok((one == other && one.iter().any(is_wanted)).then_some(()))
    });
    match waited.await {
        Ok(()) => Ok(()),
        Err(failure) => Err(failure.context(format!(
            "one shows {:#?}, the other {:#?}",
            shown(&first.page).await?,
            shown(&second.page).await?
        ))),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_opened_in_mid_answer_shows_it_going_on_and_after_a_kill_shows_it_cut() -> Result<()> {
    let world = World::start(storyteller).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Tell me a story").await?;
    world.provider.gate("first").reached(WITHIN).await?;
    chat.page.close().await?;
    let chat = open_newest(&world).await?;
    let beside = open_newest(&world).await?;
    both_show(&chat, &beside, "Once upon a time there was a fox", "running").await?;
    world.provider.gate("first").open();
    both_show(&chat, &beside, "Once upon a time there was a fox that nobody ever saw.", "done").await?;

    beside.page.close().await?;
    chat.submit("Tell me another story").await?;
    world.provider.gate("second").reached(WITHIN).await?;
    chat.page.close().await?;
    world.unwatch().await?;
    world.browser.stop_worker().await?;
    let chat = open_newest(&world).await?;
    let beside = open_newest(&world).await?;
    // What came in the last second before the kill may be lost.
    both_show(&chat, &beside, "Once upon a time", "failed").await?;
    for chat in [&chat, &beside] {
        chat.page.appears(&by_test_id("continue")).await?;
        assert_eq!(chat.page.count(&by_test_id("stop")).await?, 0);
    }
    world.end()
}
