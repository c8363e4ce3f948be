//! Two pages show one conversation: both show the same at every moment that matters, and what the store holds.

use anyhow::{Context, Result};
use panelot_driver::browser::Page;
use panelot_driver::product::{CHAT_PAGE, Chat, Line, by_test_id};
use panelot_driver::provider::{FormFiller, ParsedRequest, Reply};
use panelot_driver::until;
use panelot_e2e::{WITHIN, World};
use serde_json::json;

const SIGN_UP: &str = "Sign me up for the Systems track. Full name: Ada Lovelace.";

/// Everything of a page that two pages of one thread must show alike.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    lines: Vec<Line>,
    waiting: Vec<String>,
    queue: Vec<String>,
    asked: Vec<String>,
}

async fn shown(page: &Chat) -> Result<Shown> {
    let attribute =
        "() => [...document.querySelectorAll('[data-testid=approval]')].map((e) => e.dataset.approval)";
    Ok(Shown {
        lines: page.transcript().await?,
        waiting: page.page.texts("[data-testid=outgoing]").await?,
        queue: page.page.texts("[data-testid=queue-row]").await?,
        asked: page.page.call(attribute, &[]).await?,
    })
}

/// Waits until both pages show the same and it is what is wanted.
async fn alike(what: &str, one: &Chat, other: &Chat, wanted: impl Fn(&Shown) -> bool) -> Result<Shown> {
    let same = || async {
        let (a, b) = (shown(one).await?, shown(other).await?);
        anyhow::ensure!(a == b, "one shows {a:#?}, the other {b:#?}");
        Ok(wanted(&a).then_some(a))
    };
    until(what, WITHIN, same).await
}

/// The side panel, beside a chat page, on the same conversation.
async fn panel_beside(world: &World, chat: &Chat) -> Result<Chat> {
    let opener: &Page = &chat.page;
    let panel = Chat::open_side_panel(&world.browser, opener).await?;
    panel.page.click(&by_test_id("open-list")).await?;
    panel.page.click(&by_test_id("thread-open")).await?;
    panel.page.appears(&by_test_id("message-user")).await?;
    Ok(panel)
}

#[tokio::test(flavor = "multi_thread")]
async fn panel_and_chat_stay_equal_through_approvals_and_a_killed_worker_and_equal_the_store() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (_page, chat) = world.chat_beside("react").await?;
    chat.submit(SIGN_UP).await?;
    let first = chat.approval().await?;
    let panel = panel_beside(&world, &chat).await?;
    alike("the first question in both", &chat, &panel, |shown| shown.asked == [first.clone()]).await?;
    panel.approval().await?;
    panel.decide(&first, "y").await?;
    let second = chat.approval().await?;
    assert_ne!(first, second);
    // The tab that the task works on is not the one in front while the next worker takes over.
    world.browser.open(&world.site.url("react?other")).await?;
    world.kill_worker().await?;
    alike("the second question in both", &chat, &panel, |shown| shown.asked == [second.clone()]).await?;
    chat.page.bring_to_front().await?;
    chat.approve_until_idle().await?;
    let end = alike("the end in both", &chat, &panel, |shown| {
        shown.asked.is_empty() && shown.lines.iter().all(|line| line.status != "running")
    })
    .await?;
    let sent: Vec<_> = world.site.submissions("react").into_iter().map(|one| one.values).collect();
    assert_eq!(sent, [json!({ "name": "Ada Lovelace", "track": "systems", "dinner": false })]);

    // A page that never saw an event shows what is stored.
    let thread: String = chat.page.evaluate("location.search").await?;
    let stored = Chat::on(world.browser.open_extension(&format!("{CHAT_PAGE}{thread}")).await?).await?;
    alike("what is stored", &chat, &stored, |shown| *shown == end).await?;
    world.end()
}

/// Answers at a gate; what comes meanwhile waits.
fn slow(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Slow");
    }
    let steered = request.messages.iter().any(|message| message.text.contains("And the second"));
    if steered {
        Reply::text("All of it.")
    } else {
        Reply::text("Thinking ").then_wait_at("slow").say("done.")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_running_turn_and_behind_it_is_shown_by_every_page() -> Result<()> {
    let world = World::start(slow).await?;
    let chat = world.connected_chat().await?;
    chat.submit("The first").await?;
    world.provider.gate("slow").reached(WITHIN).await?;
    let panel = panel_beside(&world, &chat).await?;
    chat.submit("And the second").await?;
    panel.page.focus(&by_test_id("composer")).await?;
    panel.page.insert("Later").await?;
    panel.page.press("Alt+Shift+Enter").await?;
    let both = alike("the waiting messages in both", &chat, &panel, |shown| {
        shown.waiting.len() == 1 && shown.queue.len() == 1
    })
    .await?;
    assert!(both.waiting.first().context("nothing waits")?.contains("And the second"), "{both:#?}");
    panel.page.reload().await?;
    let panel = Chat::on(panel.page).await?;
    alike("the same after a reload", &chat, &panel, |shown| *shown == both).await?;
    world.provider.gate("slow").open();
    alike("the end in both", &chat, &panel, |shown| {
        shown.waiting.is_empty() && shown.queue.is_empty() && shown.lines.len() == 6
    })
    .await?;
    world.end()
}
