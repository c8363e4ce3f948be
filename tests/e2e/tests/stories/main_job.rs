//! The main job: a person types a task, the agent reads a real page, asks before it writes, and does it.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::{CHAT_PAGE, Chat, by_test_id};
use panelot_driver::provider::{DEMO_MODEL, FormFiller};
use panelot_e2e::{KEY, World};
use serde_json::{Value, json};

const TASK: &str = "Sign me up for the Systems track with the conference dinner. Full name: Ada Lovelace.";

fn sign_ups(world: &World) -> Vec<Value> {
    world.site.submissions("react").into_iter().map(|submission| submission.values).collect()
}

/// What the form must have received, once.
fn expected() -> Value {
    json!({ "name": "Ada Lovelace", "track": "systems", "dinner": true })
}

async fn wasm_is_refused(page: &Page) -> Result<bool> {
    let compiles =
        "WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => false, () => true)";
    page.evaluate(compiles).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_react_on_a_strict_page_is_filled_and_sent_once_with_approval_by_keyboard() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (page, chat) = world.chat_beside("react").await?;
    assert!(wasm_is_refused(&page).await?);
    chat.submit(TASK).await?;
    let approvals = chat.approve_until_idle().await?;
    assert_eq!((approvals, sign_ups(&world)), (4, vec![expected()]), "{}", chat.shown().await);
    let answer = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(answer.contains("Welcome, Ada Lovelace. You are number 1."), "{answer}");
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_side_panel_does_the_same_for_the_tab_in_front() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let opener = world.connected_chat().await?;
    let panel = Chat::open_side_panel(&world.browser, &opener.page).await?;
    opener.page.close().await?;
    let page = world.browser.open(&world.site.other_url("react")).await?;
    page.appears("form").await?;
    panel.submit(TASK).await?;
    let approvals = panel.approve_until_idle().await?;
    assert_eq!((approvals, sign_ups(&world)), (4, vec![expected()]), "{}", panel.shown().await);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_not_made_and_the_model_hears_of_it() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (page, chat) = world.chat_beside("react").await?;
    chat.submit(TASK).await?;
    let approval = chat.approval().await?;
    chat.decide(&approval, "n").await?;
    chat.idle().await?;
    let answer = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(answer.contains("You said no, so I stopped here."), "{answer}");
    let typed: String = page.evaluate("document.querySelector('input').value").await?;
    assert_eq!((typed.as_str(), sign_ups(&world)), ("", vec![]));
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_run_form_connects_by_keyboard_alone() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let page = world.browser.open_extension(CHAT_PAGE).await?;
    let chat = Chat::on(page).await?;
    chat.page.appears(&by_test_id("firstrun")).await?;
    let base_url = world.provider.base_url();
    for (field, text) in [
        ("conn-name", "My own"),
        ("conn-url", base_url.as_str()),
        ("conn-key", KEY),
        ("conn-model", DEMO_MODEL),
    ] {
        fill_by_keyboard(&chat.page, field, text).await?;
    }
    chat.page.press("Enter").await?;
    chat.page.disappears(&by_test_id("firstrun")).await?;
    chat.submit("Hello there").await?;
    chat.idle().await?;
    assert_eq!(
        world.provider.requests().first().and_then(|one| one.request.key.clone()).as_deref(),
        Some(KEY)
    );
    world.end()
}

/// Moves to a field with the Tab key and replaces what is in it.
async fn fill_by_keyboard(page: &Page, field: &str, text: &str) -> Result<()> {
    const PRESSES_MAX: usize = 60;
    let reached = format!("document.activeElement?.dataset.testid === '{field}'");
    for _ in 0..PRESSES_MAX {
        if page.evaluate(&reached).await? {
            page.press("Control+a").await?;
            page.evaluate::<bool>("document.activeElement.select?.(), true").await?;
            return page.insert(text).await;
        }
        page.press("Tab").await?;
    }
    anyhow::bail!("{field} cannot be reached by the Tab key")
}
