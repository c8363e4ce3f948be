//! By keyboard alone: what is opened takes the focus, what is closed gives it back, and nothing lets it fall to the page.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::{OPTIONS_PAGE, by_test_id};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::{WITHIN, World};
use serde_json::{Value, json};

/// Where a story's answer stops.
const MIDDLE: &str = "middle";
/// As narrow as a panel of 400 px at 200 %.
const NARROW: (u32, u32) = (200, 600);
/// The narrowest width at which pages must not scroll sideways.
const SMALL: (u32, u32) = (320, 640);

fn host(request: &ParsedRequest) -> Reply {
    if request.task().contains("story") {
        return Reply::text("Once upon a time").then_wait_at(MIDDLE);
    }
    Reply::text("See [the menu](https://example.com/menu).")
}

/// Waits until the focus is on the control of this test name.
async fn has_focus(page: &Page, test_id: &str) -> Result<()> {
    let focused = format!("document.activeElement?.dataset.testid === '{test_id}'");
    let at = page.evaluate::<String>("document.activeElement.outerHTML.slice(0, 200)");
    match page.wait_for(&format!("the focus on {test_id}"), &focused).await {
        Ok(()) => Ok(()),
        Err(failure) => Err(failure.context(format!("the focus is on {}", at.await?))),
    }
}

/// Puts the focus on a control and presses Enter.
async fn enter(page: &Page, test_id: &str) -> Result<()> {
    page.focus(&by_test_id(test_id)).await?;
    page.press("Enter").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_the_list_takes_the_focus_and_gives_it_back() -> Result<()> {
    let world = World::start(host).await?;
    let chat = world.connected_chat().await?;
    let page = &chat.page;
    for task in ["First", "Second"] {
        page.click(&by_test_id("new-thread")).await?;
        chat.submit(task).await?;
        chat.idle().await?;
    }
    page.wait_for("two rows", "document.querySelectorAll('[data-testid=thread-row]').length === 2").await?;

    enter(page, "thread-rename").await?;
    has_focus(page, "rename-input").await?;
    page.press("Escape").await?;
    has_focus(page, "thread-rename").await?;
    page.press("Enter").await?;
    has_focus(page, "rename-input").await?;
    page.insert(" renamed").await?;
    page.press("Enter").await?;
    has_focus(page, "thread-rename").await?;
    page.shows("renamed").await?;
    has_focus(page, "thread-rename").await?;

    enter(page, "thread-pin").await?;
    page.appears("[data-testid=thread-pin][aria-pressed=true]").await?;
    has_focus(page, "thread-pin").await?;

    enter(page, "thread-delete").await?;
    has_focus(page, "delete-keep").await?;
    page.press("Enter").await?;
    has_focus(page, "thread-delete").await?;
    page.press("Enter").await?;
    has_focus(page, "delete-keep").await?;
    enter(page, "delete-confirm").await?;
    has_focus(page, "thread-open").await?;
    page.wait_for("one row", "document.querySelectorAll('[data-testid=thread-row]').length === 1").await?;
    has_focus(page, "thread-open").await?;

    page.set_viewport(SMALL.0, SMALL.1).await?;
    enter(page, "open-list").await?;
    has_focus(page, "list-search").await?;
    page.press("Escape").await?;
    has_focus(page, "open-list").await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_take_the_focus_and_give_it_back() -> Result<()> {
    let world = World::start(host).await?;
    let chat = world.connected_chat().await?;
    let page = &chat.page;
    chat.submit("Tell a story").await?;
    world.provider.gate(MIDDLE).reached(WITHIN).await?;
    chat.submit("Make it short").await?;
    page.appears("[data-testid=outgoing][data-waiting=true]").await?;
    enter(page, "stop").await?;
    has_focus(page, "composer").await?;
    world.provider.gate(MIDDLE).open();
    chat.idle().await?;

    page.click(&by_test_id("new-thread")).await?;
    has_focus(page, "composer").await?;
    chat.submit("What is there?").await?;
    chat.idle().await?;
    enter(page, "edit").await?;
    has_focus(page, "edit-input").await?;
    page.press("Escape").await?;
    has_focus(page, "edit").await?;
    page.press("Enter").await?;
    has_focus(page, "edit-input").await?;
    page.insert("Now: ").await?;
    page.press("Enter").await?;
    has_focus(page, "composer").await?;
    page.appears(&by_test_id("branch-previous")).await?;
    chat.idle().await?;

    enter(page, "branch-previous").await?;
    has_focus(page, "branch-next").await?;
    page.press("Enter").await?;
    has_focus(page, "branch-previous").await?;

    let links = "document.querySelectorAll('[data-testid=message-assistant] a').length";
    assert_eq!(page.evaluate::<usize>(links).await?, 0, "nothing leads away before it was looked at");
    enter(page, "link").await?;
    has_focus(page, "link-open").await?;
    let link: Value = page
        .evaluate(
            "(({ href, target, rel, title }) => ({ href, target, rel, title }))(document.activeElement)",
        )
        .await?;
    let address = "https://example.com/menu";
    let expected =
        json!({ "href": address, "target": "_blank", "rel": "noopener noreferrer", "title": address });
    assert_eq!(link, expected);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_options_take_the_focus_and_give_it_back() -> Result<()> {
    let world = World::start(host).await?;
    let chat = world.connected_chat().await?;
    let page = world.browser.open_extension(OPTIONS_PAGE).await?;
    page.appears(&by_test_id("conn-add")).await?;

    enter(&page, "conn-add").await?;
    has_focus(&page, "conn-template").await?;
    enter(&page, "conn-save").await?;
    let wrong = "document.activeElement === document.querySelector('[aria-invalid=true]')";
    page.wait_for("the focus on the first wrong field", wrong).await?;
    page.focus("main section > .link").await?;
    page.press("Enter").await?;
    has_focus(&page, "conn-add").await?;

    enter(&page, "conn-edit").await?;
    has_focus(&page, "conn-template").await?;
    enter(&page, "conn-save").await?;
    has_focus(&page, "conn-edit").await?;

    enter(&page, "conn-delete").await?;
    has_focus(&page, "conn-keep").await?;
    page.press("Enter").await?;
    has_focus(&page, "conn-delete").await?;

    page.set_viewport(SMALL.0, SMALL.1).await?;
    let cut = "[...document.querySelectorAll('nav button')].filter((button) => {
        const box = button.getBoundingClientRect();
        return box.left < 0 || box.right > innerWidth;
    }).length";
    assert_eq!(page.evaluate::<usize>(cut).await?, 0, "sections that are cut at {} px", SMALL.0);

    chat.page.bring_to_front().await?;
    chat.page.set_viewport(NARROW.0, NARROW.1).await?;
    let readable = "['model', 'policy'].map((name) => {
        const box = document.querySelector(`[data-testid=${name}]`).getBoundingClientRect();
        return box.width >= 64 && box.left >= 0 && box.right <= innerWidth;
    })";
    assert_eq!(chat.page.evaluate::<[bool; 2]>(readable).await?, [true, true], "model and policy at 200 px");
    world.end()
}
