//! What a turn and a chat may use is set in the options, and a turn that has used it up says so.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::{OPTIONS_PAGE, by_test_id};
use panelot_driver::provider::FormFiller;
use panelot_e2e::World;

async fn write(options: &Page, field: &str, text: &str) -> Result<()> {
    options.focus(&by_test_id(field)).await?;
    options.session().evaluate("document.activeElement.select()").await?;
    options.insert(text).await?;
    options.press("Tab").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_over_its_tokens_pauses_in_words_of_its_own_and_a_limit_without_a_price_says_so() -> Result<()>
{
    let world = World::start(FormFiller).await?;
    let (_page, chat) = world.chat_beside("react").await?;
    let options = world.browser.open_extension(OPTIONS_PAGE).await?;
    options.click(&by_test_id("nav-general")).await?;
    write(&options, "limit-tokens", "many").await?;
    options.appears("#limit-tokens[aria-invalid=true]").await?;
    write(&options, "limit-cost", "2").await?;
    options.shows("this limit has no effect there").await?;
    write(&options, "limit-tokens", "1").await?;
    options.reload().await?;
    options.click(&by_test_id("nav-general")).await?;
    options.wait_for("the stored limit", "document.querySelector('#limit-tokens').value === '1'").await?;
    options.close().await?;

    chat.page.bring_to_front().await?;
    chat.submit("Sign me up for the Systems track. Full name: Ada Lovelace.").await?;
    chat.page.appears("[data-testid=recovery][data-reason=budget]").await?;
    let line = chat.page.text(&by_test_id("status-line")).await?.unwrap_or_default();
    assert!(line.starts_with("Paused: the budget is used up"), "{line}");
    world.end()
}
