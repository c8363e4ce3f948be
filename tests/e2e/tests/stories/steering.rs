//! A message into a running turn is delivered once: before the next model call, or as the next turn.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::by_test_id;
use panelot_driver::provider::{ParsedRequest, Reply, Role};
use panelot_driver::until;
use panelot_e2e::{WITHIN, World};
use serde_json::json;

/// How often the message is sent as the turn ends.
const RACES: usize = 6;

/// Waits on the page first; the answers to `race` stop at a gate before their end.
fn obedient(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Steering");
    }
    let texts = user_texts(request);
    let said = |part: &str| texts.iter().any(|text| text.contains(part));
    let newest = texts.last().copied().unwrap_or_default();
    match newest.split_once("race ") {
        Some((_, number)) => {
            let number: String = number.chars().take_while(char::is_ascii_digit).collect();
            Reply::text("Almost over").then_wait_at(&format!("race {number}")).say(".")
        }
        None if newest.contains("too late") => Reply::text("Understood."),
        None if request.all_results().is_empty() => {
            Reply::call("wait_for", json!({ "text": "the word", "timeMs": 60_000 }))
        }
        None => Reply::text(if said("be brief") { "Done. Brief." } else { "Done." }),
    }
}

fn user_texts(request: &ParsedRequest) -> Vec<&str> {
    let users = request.messages.iter().filter(|message| message.role == Role::User);
    users.map(|message| message.text.as_str()).collect()
}

async fn say_the_word(page: &Page) -> Result<()> {
    let add =
        "document.body.append(Object.assign(document.createElement('p'), { textContent: 'the word' })), true";
    page.evaluate::<bool>(add).await.map(|_| ())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_during_a_call_or_as_the_turn_ends_is_delivered_once() -> Result<()> {
    let world = World::start(obedient).await?;
    let (page, chat) = world.chat_beside("fixtures/press.html").await?;
    chat.submit("Wait for the word").await?;
    chat.page.appears("[data-testid=tool-row][data-status=running]").await?;
    chat.submit("Please be brief").await?;
    chat.page.disappears("[data-testid=outgoing]:not([data-waiting=true])").await?;
    say_the_word(&page).await?;
    chat.page.shows("Done. Brief.").await?;
    chat.idle().await?;
    let times = |text: &str| {
        let requests = world.provider.requests();
        let newest = requests.iter().rfind(|one| one.request.offers("read_page"));
        newest.map(|one| user_texts(&one.request).iter().filter(|said| said.contains(text)).count())
    };
    assert_eq!(times("be brief"), Some(1));

    for number in 0..RACES {
        let (task, late) = (format!("Run race {number} now"), format!("One thing, too late {number}"));
        chat.submit(&task).await?;
        let gate = world.provider.gate(&format!("race {number}"));
        gate.reached(WITHIN).await?;
        chat.page.focus(&by_test_id("composer")).await?;
        chat.page.insert(&late).await?;
        chat.page.wait_for("the text", "document.querySelector('[data-testid=composer]').value").await?;
        // The key and the end of the answer are on their way at the same time, now one and now the other first.
        if number % 2 == 0 {
            gate.open();
            chat.page.press("Enter").await?;
        } else {
            chat.page.press("Enter").await?;
            gate.open();
        }
        let delivered = || async { Ok((times(&late) == Some(1)).then_some(())) };
        until("the message at the model", WITHIN, delivered).await?;
        chat.idle().await?;
        assert_eq!(times(&late), Some(1), "{}", chat.shown().await);
        let shown = chat.page.texts(&by_test_id("message-user")).await?;
        assert_eq!(shown.iter().filter(|text| text.contains(&late)).count(), 1, "{shown:?}");
    }
    world.end()
}
