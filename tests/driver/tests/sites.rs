//! The sites in a browser: they work for a person's keys, and count what was sent.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::sites::NPM_VARIABLE;
use panelot_driver::{Browser, LaunchOptions, Site, SiteOptions};
use serde_json::{Value, json};

const WITHIN: Duration = Duration::from_secs(30);

async fn browser() -> Result<Browser> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extension");
    Browser::launch(&LaunchOptions { grant_hosts: false, ..LaunchOptions::new(dist) }).await
}

fn values(site: &Site, form: &str) -> Vec<Value> {
    site.submissions(form).into_iter().map(|submission| submission.values).collect()
}

/// Chooses by keyboard in the select that has the focus.
async fn choose(page: &Page, selector: &str, text: &str) -> Result<()> {
    page.focus(selector).await?;
    page.type_keys(text).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_work_for_a_person_and_each_submission_counts_once() -> Result<()> {
    let options = SiteOptions::from_environment();
    anyhow::ensure!(options.npm.is_some(), "{NPM_VARIABLE} is not set; run this through `cargo xtask test`");
    let site = Site::start(options).await?;
    let browser = browser().await?;

    let order = browser.open(&site.url("order")).await?;
    order.focus("[name=name]").await?;
    order.insert("Mei Chen").await?;
    choose(&order, "[name=drink]", "Fl").await?;
    order.click("[name=oat]").await?;
    order.click("button").await?;
    order.shows("Thank you, Mei Chen. Order 1: a flat white, ready in ten minutes.").await?;
    let sent = json!({ "name": "Mei Chen", "drink": "flat-white", "size": "m", "oat": true, "note": "" });
    assert_eq!(values(&site, "order"), [sent]);

    let react = browser.open(&site.other_url("react?send=blocking")).await?;
    react.appears("form").await?;
    assert!(react.evaluate::<bool>("document.querySelector('button').disabled").await?);
    let gate = site.hold("react");
    react.focus("input").await?;
    react.insert("Ada Lovelace").await?;
    choose(&react, "select", "Sys").await?;
    react.click("[type=checkbox]").await?;
    let (clicked, opened) = tokio::join!(react.click("button"), async {
        gate.reached(WITHIN).await?;
        assert_eq!(
            values(&site, "react"),
            [json!({ "name": "Ada Lovelace", "track": "systems", "dinner": true })]
        );
        gate.open();
        anyhow::Ok(())
    });
    clicked.and(opened)?;
    react.shows("Welcome, Ada Lovelace. You are number 1.").await?;
    let compiles =
        "WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => true, () => false)";
    assert!(!react.evaluate::<bool>(compiles).await?);
    Ok(())
}
