//! The extension is loaded anew while a tab is open that it worked in.

use anyhow::Result;
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::FormFiller;
use panelot_driver::until;
use panelot_e2e::{WITHIN, World};
use serde_json::json;

const SIGN_UP: &str = "Sign me up for the Systems track. Full name: Ada Lovelace.";

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_with_a_script_of_the_extension_before_is_worked_in_once_by_the_new_one() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let (page, chat) = world.chat_beside("react").await?;
    chat.submit(SIGN_UP).await?;
    chat.approve_until_idle().await?;
    let before = world.browser.worker_target().await?;
    world.unwatch().await?;
    // The page ends with the extension, so its answer may be lost.
    let _ = chat.page.session().evaluate("setTimeout(() => chrome.runtime.reload()), true").await;
    until("the extension to be loaded anew", WITHIN, || async {
        Ok(world.browser.running_worker().await?.filter(|worker| worker.id != before.id).map(|_| ()))
    })
    .await?;
    // The document is the same one: the old script is still in it, and must stay silent.
    page.bring_to_front().await?;
    let chat = Chat::open(&world.browser).await?;
    // The page asks the browser which tab is meant.
    chat.page.appears(&by_test_id("context-chip")).await?;
    chat.submit(SIGN_UP).await?;
    chat.approve_until_idle().await?;
    let sent: Vec<_> = world.site.submissions("react").into_iter().map(|one| one.values).collect();
    let expected = json!({ "name": "Ada Lovelace", "track": "systems", "dinner": false });
    assert_eq!(sent, [expected.clone(), expected], "{}", chat.shown().await);
    world.end()
}
