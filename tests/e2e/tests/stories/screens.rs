//! Pictures of the pages for people to look at, and what an accessibility checker says of each.

use std::path::PathBuf;

use anyhow::{Context, Result};
use panelot_driver::browser::{ColorScheme, Page};
use panelot_driver::product::{Chat, OPTIONS_PAGE, by_test_id};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_driver::sites::NPM_VARIABLE;
use panelot_e2e::{World, workspace};
use serde::Deserialize;
use serde_json::json;

/// Narrow as the side panel.
const PANEL: (u32, u32) = (360, 800);
/// A usual window.
const WINDOW: (u32, u32) = (1280, 860);

const ANSWER: &str = "\
The café has **three** drinks with oat milk:

| Drink | Size | Price |
| --- | --- | ---: |
| Flat white | 180 ml | 3.80 |
| Cappuccino | 220 ml | 3.60 |
| Cocoa | 250 ml | 3.20 |

1. The *flat white* is the strongest.
2. The cocoa has no coffee at all.

```rust
fn price(size: Size) -> Cents {
    match size { Size::Small => 320, Size::Large => 380 }
}
```

Shall I order one?";

/// Answers with a rich text, asks the user when it is told to book, or asks to type into the page when it is told to
/// order.
fn host(request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("Drinks with oat milk");
    }
    if request.task().contains("Book") {
        let question = "Two tables are free at eight. Which one shall I take?";
        let options = ["By the window", "In the garden"];
        return Reply::text("I looked at the plan.")
            .and_call("ask_user", json!({ "question": question, "options": options }));
    }
    if !request.task().contains("Order") {
        return Reply::text(ANSWER);
    }
    match request.seen_nodes().into_iter().find(|node| node.role == "textbox") {
        None => Reply::text("I will look at the page first.").and_call("read_page", json!({})),
        Some(node) => Reply::text("I enter your name.")
            .and_call("type", json!({ "ref": node.reference, "text": "Mei Chen" })),
    }
}

/// A violation as the checker reports it.
#[derive(Debug, Deserialize)]
struct Violation {
    id: String,
    help: String,
    nodes: Vec<String>,
}

struct Camera {
    directory: PathBuf,
    checker: String,
    findings: Vec<String>,
}

impl Camera {
    fn new() -> Result<Self> {
        let npm = panelot_driver::SiteOptions::from_environment().npm;
        let npm =
            npm.with_context(|| format!("{NPM_VARIABLE} is not set; run this through `cargo xtask test`"))?;
        let checker =
            std::fs::read_to_string(npm.join("axe-core/axe.min.js")).context("axe-core is not there")?;
        Ok(Self { directory: workspace()?.join("target/screens"), checker, findings: Vec::new() })
    }

    /// Takes a state in both schemes, and lets the checker look at both.
    async fn take(&mut self, page: &Page, name: &str, (width, height): (u32, u32)) -> Result<()> {
        page.set_viewport(width, height).await?;
        for scheme in [ColorScheme::Light, ColorScheme::Dark] {
            page.set_color_scheme(scheme).await?;
            let name = format!("{name}-{}", scheme.name());
            page.screenshot(&self.directory.join(format!("{name}.png"))).await?;
            let wide: bool = page
                .evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
                .await?;
            if wide {
                self.findings.push(format!("{name}: scrolls sideways at {width} px"));
            }
            self.check(page, &name).await?;
        }
        // The first pictures of a side panel are of its own size, not of the one that was set.
        page.set_color_scheme(ColorScheme::Light).await?;
        page.screenshot(&self.directory.join(format!("{name}-{}.png", ColorScheme::Light.name()))).await
    }

    async fn check(&mut self, page: &Page, name: &str) -> Result<()> {
        page.session().evaluate(&format!("{}\n;undefined", self.checker)).await?;
        let run = "axe.run(document, { resultTypes: ['violations'] }).then((found) => [found.passes.length,
            found.violations.map((one) => ({
                id: one.id, help: one.help, nodes: one.nodes.map((node) => node.html.slice(0, 160)) }))])";
        let (passes, violations): (usize, Vec<Violation>) = page.evaluate(run).await?;
        anyhow::ensure!(passes > 0, "{name}: the checker looked at nothing");
        for Violation { id, help, nodes } in violations {
            self.findings.push(format!("{name}: {id} ({help}):\n    {}", nodes.join("\n    ")));
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_worth_showing_and_the_accessibility_checker_finds_nothing() -> Result<()> {
    let mut camera = Camera::new()?;
    let world = World::start(host).await?;
    let page = world.browser.open(&world.site.url("order")).await?;

    let fresh = Chat::open(&world.browser).await?;
    fresh.page.appears(&by_test_id("firstrun")).await?;
    camera.take(&fresh.page, "first-run", PANEL).await?;
    fresh.page.close().await?;

    let chat = world.connected_chat().await?;
    camera.take(&chat.page, "chat-empty", WINDOW).await?;
    let panel = Chat::open_side_panel(&world.browser, &chat.page).await?;
    camera.take(&panel.page, "panel-empty", PANEL).await?;

    chat.submit("Which drinks have oat milk?").await?;
    chat.idle().await?;
    camera.take(&chat.page, "chat-answer", WINDOW).await?;

    page.bring_to_front().await?;
    panel.submit("Order a flat white for Mei Chen.").await?;
    let approval = panel.approval().await?;
    camera.take(&panel.page, "panel-approval", PANEL).await?;
    panel.decide(&approval, "Escape").await?;
    panel.idle().await?;
    camera.take(&panel.page, "panel-interrupted", PANEL).await?;

    panel.submit("Book a table for two.").await?;
    panel.page.appears("[data-testid=interaction][data-awake=true]").await?;
    camera.take(&panel.page, "panel-question", PANEL).await?;

    let options = world.browser.open_extension(OPTIONS_PAGE).await?;
    options.wait_for("the settings", "document.documentElement.dataset.ready === '1'").await?;
    for section in ["models", "permissions", "general", "data", "about"] {
        options.click(&by_test_id(&format!("nav-{section}"))).await?;
        camera.take(&options, &format!("options-{section}"), WINDOW).await?;
    }
    assert!(camera.findings.is_empty(), "{}", camera.findings.join("\n"));
    world.end()
}
