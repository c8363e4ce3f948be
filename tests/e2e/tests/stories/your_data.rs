//! A user takes all chats to another profile as one file, and a file that is not what it says changes nothing.

use anyhow::{Context, Result, ensure};
use panelot_driver::browser::Page;
use panelot_driver::product::{Chat, OPTIONS_PAGE, by_test_id};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::{KEY, World};
use serde_json::{Value, json};

fn host(request: &ParsedRequest) -> Reply {
    Reply::text(format!("Answer to: {}. 北京 🌍", request.task()))
}

/// Opens the section by keyboard.
async fn open_data(world: &World) -> Result<Page> {
    let page = world.browser.open_extension(OPTIONS_PAGE).await?;
    enter(&page, "nav-data").await?;
    page.appears(&by_test_id("export-start")).await?;
    Ok(page)
}

/// Puts the focus on a control and presses Enter.
async fn enter(page: &Page, test_id: &str) -> Result<()> {
    page.focus(&by_test_id(test_id)).await?;
    page.press("Enter").await
}

async fn has_focus(page: &Page, selector: &str) -> Result<()> {
    let expression = format!("document.activeElement?.matches('{selector}')");
    page.wait_for(&format!("the focus on {selector}"), &expression).await
}

/// Hands a file to the section, as a user's choice does.
async fn choose(page: &Page, name: &str, text: &str) -> Result<()> {
    let function = "(name, text) => {
        const files = new DataTransfer();
        files.items.add(new File([text], name, { type: 'application/json' }));
        const input = document.querySelector('[data-testid=import-file]');
        input.files = files.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
        return input.files.length;
    }";
    let count: usize = page.call(function, &[json!(name), json!(text)]).await?;
    ensure!(count == 1, "the file was not taken");
    page.appears(&by_test_id("import-start")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn all_chats_go_to_a_fresh_profile_as_one_file() -> Result<()> {
    let first = World::start(host).await?;
    let chat = first.connected_chat().await?;
    for task in ["What is first?", "What is second?"] {
        chat.page.click(&by_test_id("new-thread")).await?;
        chat.submit(task).await?;
        chat.idle().await?;
    }
    let shown = chat.transcript().await?;
    let page = open_data(&first).await?;
    enter(&page, "export-start").await?;
    has_focus(&page, "[data-testid=export-save]").await?;
    let name = page.evaluate::<String>("document.activeElement.download").await?;
    ensure!(name.starts_with("panelot-") && name.ends_with(".json"), "{name}");
    let text: String =
        page.evaluate("fetch(document.activeElement.href).then((file) => file.text())").await?;
    ensure!(!text.contains(KEY), "the export holds the key");
    first.end()?;

    let second = World::start(host).await?;
    let page = open_data(&second).await?;
    choose(&page, &name, &text).await?;
    enter(&page, "import-start").await?;
    has_focus(&page, "[data-testid=import-done]").await?;
    page.shows("2 chats were imported.").await?;
    page.shows("Connection").await?;
    let chat = Chat::open(&second.browser).await?;
    let rows = "document.querySelectorAll('[data-testid=thread-row]').length === 2";
    chat.page.wait_for("both threads in the list", rows).await?;
    chat.page.click(&by_test_id("thread-open")).await?;
    chat.page.shows("Answer to: What is second?").await?;
    assert_eq!(chat.transcript().await?, shown);
    second.end()
}

/// A document of one thread whose second node is its own parent, when asked so.
fn document(circle: bool) -> Value {
    json!({
        "format": "panelot-export", "version": 1, "exportedAtMs": 1,
        "settings": {
            "revision": 1, "theme": "system", "connections": [], "permissionPolicy": "auto", "siteAccess": "all_sites",
            "rules": [{"ruleId": "evil", "subject": "*", "origin": "*", "effect": "allow", "source": "user"}],
            "presets": [], "budgets": {},
        },
        "threads": [{
            "thread": {"id": "t1", "title": "From a stranger", "createdAtMs": 1, "updatedAtMs": 2,
                "stats": {"turns": 1, "usage": {"input": 1, "output": 1}}},
            "nodes": [
                {"id": "n1", "atMs": 1, "runId": "r1",
                 "payload": {"type": "user_message", "input": {"text": "<img src=x onerror=alert(1)>"}}},
                {"id": "n2", "parentId": if circle { "n2" } else { "n1" }, "atMs": 2, "runId": "r1",
                 "payload": {"type": "assistant_message", "text": "Hi", "callCount": 0,
                    "model": {"connectionId": "c1", "modelId": "m1"}, "usage": {"input": 1, "output": 1}}},
            ],
        }],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_file_is_refused_with_its_problems_and_never_brings_a_rule_in() -> Result<()> {
    let world = World::start(host).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Keep this").await?;
    chat.idle().await?;
    let page = open_data(&world).await?;
    page.click(&format!("{}[value=replace]", by_test_id("import-mode"))).await?;
    choose(&page, "evil.json", &document(true).to_string()).await?;
    page.shows("Delete all chats and import evil.json").await?;
    enter(&page, "import-start").await?;
    page.shows("Really delete all chats?").await?;
    enter(&page, "import-start").await?;
    has_focus(&page, "[data-testid=import-refused]").await?;
    let problems = page.texts(&by_test_id("import-problem")).await?;
    assert_eq!(
        problems,
        ["threads[0].nodes[1].parentId: no node before this one in this thread has this id"]
    );

    page.click(&format!("{}[value=merge]", by_test_id("import-mode"))).await?;
    choose(&page, "evil.json", &document(false).to_string()).await?;
    enter(&page, "import-start").await?;
    has_focus(&page, "[data-testid=import-done]").await?;
    let left_out = page.texts(&by_test_id("import-left-out")).await?;
    assert_eq!(left_out, ["Permission rule allow * *", "All other settings"]);
    page.click(&by_test_id("nav-permissions")).await?;
    page.appears(&by_test_id("policy-choice")).await?;
    let rules = page.texts(&by_test_id("rule-row")).await?;
    let rule = rules.first().context("the first rule of every profile")?;
    ensure!(rules.len() == 1 && !rule.contains("Allow every tool"), "{rules:?}");
    let rows = "document.querySelectorAll('[data-testid=thread-row]').length === 2";
    chat.page.wait_for("both threads in the list", rows).await?;
    world.end()
}
