//! Ports break at the worst moments: what was said is said again and done once, and the page goes on.

use anyhow::Result;
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_driver::until;
use panelot_e2e::{WITHIN, World};
use serde_json::json;

/// Breaks Ports of the page right after a message of a type has gone out, as often as `__drops` says.
const BREAK_PORTS: &str = "
    globalThis.__drops = {};
    const connect = chrome.runtime.connect.bind(chrome.runtime);
    chrome.runtime.connect = (...args) => {
        const port = connect(...args);
        const lost = [];
        port.onDisconnect.addListener(() => lost.forEach((listener) => listener()));
        return {
            onMessage: port.onMessage,
            onDisconnect: { addListener: (listener) => lost.push(listener) },
            disconnect: () => port.disconnect(),
            postMessage: (text) => {
                port.postMessage(text);
                const { type } = JSON.parse(text);
                if (!(globalThis.__drops[type] > 0)) return;
                globalThis.__drops[type] -= 1;
                port.disconnect();
                setTimeout(() => lost.forEach((listener) => listener()));
            },
        };
    };";

/// Greets at once; a long answer waits at a gate.
fn talker(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Talk");
    }
    let long = request.messages.iter().any(|message| message.text.contains("at length"));
    if long { Reply::text("Well, ").then_wait_at("long").say("that is all.") } else { Reply::text("Hello.") }
}

/// How often the user's words were brought to the model.
fn turns(world: &World) -> usize {
    world.provider.requests().iter().filter(|one| one.request.offers("read_page")).count()
}

async fn breaking_chat(world: &World) -> Result<Chat> {
    let chat = world.connected_chat().await?;
    let script = json!({ "source": BREAK_PORTS });
    chat.page.session().call("Page.addScriptToEvaluateOnNewDocument", script).await?;
    chat.page.reload().await?;
    let chat = Chat::on(chat.page).await?;
    chat.page.disappears(&by_test_id("firstrun")).await?;
    Ok(chat)
}

async fn break_after(chat: &Chat, kind: &str) -> Result<()> {
    chat.page.session().evaluate(&format!("globalThis.__drops[{}] = 2", json!(kind))).await?;
    Ok(())
}

async fn all_broken(chat: &Chat) -> Result<()> {
    chat.page.wait_for("every break", "Object.values(globalThis.__drops).every((left) => left === 0)").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_answer_is_lost_twice_is_one_turn() -> Result<()> {
    let world = World::start(talker).await?;
    let chat = breaking_chat(&world).await?;
    for kind in ["thread.create", "turn.submit"] {
        break_after(&chat, kind).await?;
    }
    chat.submit("Hi").await?;
    all_broken(&chat).await?;
    chat.page.shows("Hello.").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("message-user")).await?, 1);
    // The list comes by itself; a second thread would have come before its first answer.
    chat.page.appears(&by_test_id("thread-row")).await?;
    assert_eq!(chat.page.count(&by_test_id("thread-row")).await?, 1);
    assert_eq!(turns(&world), 1);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_whose_answer_is_lost_twice_stops() -> Result<()> {
    let world = World::start(talker).await?;
    let chat = breaking_chat(&world).await?;
    chat.submit("Tell me at length").await?;
    world.provider.gate("long").reached(WITHIN).await?;
    break_after(&chat, "turn.interrupt").await?;
    chat.page.focus(&by_test_id("composer")).await?;
    chat.page.press("Escape").await?;
    all_broken(&chat).await?;
    chat.idle().await?;
    world.provider.gate("long").open();
    assert_eq!(turns(&world), 1);
    let answer = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(answer.contains("Well,") && !answer.contains("that is all."), "{answer}");
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_message_of_a_page_that_was_closed_at_once_is_sent_by_the_next_page() -> Result<()> {
    let world = World::start(talker).await?;
    let chat = breaking_chat(&world).await?;
    // The page is gone before it has heard of the thread that it asked for.
    chat.page.session().evaluate("globalThis.__drops['thread.create'] = 1e6").await?;
    chat.submit("Hi").await?;
    let stored = "chrome.storage.session.get().then((all) => Object.keys(all).some((key) => key.startsWith('outbox:')))";
    chat.page.wait_for("the stored message", stored).await?;
    chat.page.close().await?;
    let next = Chat::open(&world.browser).await?;
    until("the message's turn", WITHIN, || async { Ok((turns(&world) == 1).then_some(())) }).await?;
    next.page.click(&by_test_id("thread-open")).await?;
    next.page.shows("Hello.").await?;
    next.idle().await?;
    assert_eq!(next.page.count(&by_test_id("message-user")).await?, 1);
    next.page.wait_for("an empty outbox", &format!("{stored}.then((any) => !any)")).await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_after_the_worker_was_stopped_works() -> Result<()> {
    let world = World::start(talker).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Hi").await?;
    chat.idle().await?;
    world.unwatch().await?;
    world.browser.stop_worker().await?;
    chat.page.click(&by_test_id("new-thread")).await?;
    chat.submit("Hi again").await?;
    chat.page.shows("Hello.").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("thread-row")).await?, 2);
    world.end()
}
