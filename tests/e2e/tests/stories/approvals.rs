//! Questions about tool calls: what counts as an answer.

use anyhow::Result;
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::World;
use serde_json::json;

/// Reads the page, then asks in one answer for two changes of one field.
fn two_changes(request: &ParsedRequest) -> Reply {
    match (request.find("textbox", "Your name"), request.results().len()) {
        (Some(field), 1) => Reply::new()
            .and_call("type", json!({ "ref": field.reference, "text": "first" }))
            .and_call("type", json!({ "ref": field.reference, "text": "second" })),
        (Some(_), _) => Reply::text("That is all."),
        (None, _) => Reply::call("read_page", json!({})),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_click_that_follows_the_first_does_not_answer_the_next_question() -> Result<()> {
    let world = World::start(two_changes).await?;
    let (page, chat) = world.chat_beside("order").await?;
    chat.submit("Write the name.").await?;
    let first = chat.approval().await?;
    // Clicks the button of the next question in the moment in which it appears, as the second half of a double click does.
    let clicked: String = chat
        .page
        .call(
            "(first) => new Promise((resolve) => {
                const watch = new MutationObserver(() => {
                    const card = document.querySelector('[data-testid=approval]');
                    if (!card || card.dataset.approval === first) return;
                    watch.disconnect();
                    card.querySelector('[data-testid=approve]').click();
                    card.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', code: 'KeyY', bubbles: true }));
                    resolve(card.dataset.approval);
                });
                watch.observe(document.body, { subtree: true, childList: true, attributes: true });
                document.querySelector('[data-testid=approve]').click();
            })",
            &[json!(first)],
        )
        .await?;
    let asked = chat.approval().await?;
    let typed: String =
        page.evaluate("document.querySelector('input[type=text], input:not([type])').value").await?;
    assert_eq!((asked.as_str(), typed.as_str()), (clicked.as_str(), "first"));
    chat.decide(&clicked, "n").await?;
    chat.idle().await?;
    world.end()
}
