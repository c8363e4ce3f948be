//! A page and an engine of different builds recognise each other and stop cleanly.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use panelot_driver::product::{CHAT_PAGE, EnginePort, OPTIONS_PAGE, by_test_id, fresh_id};
use panelot_driver::provider::FormFiller;
use panelot_driver::{LaunchOptions, until};
use panelot_e2e::{WITHIN, World, dist};
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use serde_json::{Value, json};

fn initialize(submission: &str, protocol: &str, hash: &str) -> Value {
    json!({
        "type": "initialize", "submissionId": submission, "protocol": protocol, "schemaHash": hash,
        "clientId": fresh_id(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn another_hash_or_protocol_gets_reload_required_and_the_port_is_closed() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let page = world.browser.open_extension(OPTIONS_PAGE).await?;
    let other_hash = "0".repeat(ENGINE_SCHEMA_HASH.len());
    for (protocol, hash) in
        [(ENGINE_PROTOCOL, other_hash.as_str()), ("panelot/engine-v0", ENGINE_SCHEMA_HASH)]
    {
        let port = EnginePort::open(&page).await?;
        let submission = fresh_id();
        port.send(&initialize(&submission, protocol, hash).to_string()).await?;
        let answer =
            port.message("the refusal", |message| message["type"] == "fatal.reload_required").await?;
        let expected = (json!(submission), json!(protocol), json!(ENGINE_SCHEMA_HASH));
        assert_eq!(
            (answer["submissionId"].clone(), answer["protocol"].clone(), answer["schemaHash"].clone()),
            expected
        );
        until("the end of the Port", WITHIN, || async { Ok(port.is_closed().await?.then_some(())) }).await?;
    }
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_op_before_the_handshake_is_rejected() -> Result<()> {
    let world = World::start(FormFiller).await?;
    let page = world.browser.open_extension(OPTIONS_PAGE).await?;
    let port = EnginePort::open(&page).await?;
    let submission = fresh_id();
    port.send(&json!({ "type": "settings.get", "submissionId": submission }).to_string()).await?;
    let answer =
        port.message("the rejection", |message| message["submissionId"] == submission.as_str()).await?;
    assert_eq!((&answer["type"], &answer["code"]), (&json!("command.rejected"), &json!("invalid_command")));
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_build_says_reload_and_stops_connecting() -> Result<()> {
    let copy = tempfile::tempdir()?;
    copy_dir(&dist()?, copy.path())?;
    let ui = copy.path().join("ui_bg.wasm");
    let bytes = std::fs::read(&ui)?;
    std::fs::write(&ui, with_another_hash(&bytes)?)?;
    let world = World::start_with(FormFiller, &LaunchOptions::new(copy.path())).await?;
    let page = world.browser.open_extension(CHAT_PAGE).await?;
    page.appears(&by_test_id("reload-required")).await?;
    page.evaluate::<bool>(
        "(() => { const connect = chrome.runtime.connect; globalThis.__connects = 0;
            chrome.runtime.connect = (...all) => { globalThis.__connects++; return connect.apply(chrome.runtime, all); };
            return true; })()",
    )
    .await?;
    // A page that would go on trying does so every 8 s at the latest.
    let span = Duration::from_secs(10);
    let again = page.wait_within("another try", span, "globalThis.__connects > 0").await;
    assert!(again.is_err(), "the page went on connecting");
    assert_eq!(page.count(&by_test_id("reload-required")).await?, 1);
    world.end()
}

/// Changes the last digit of the engine's hash wherever it stands.
fn with_another_hash(bytes: &[u8]) -> Result<Vec<u8>> {
    let (head, last) = ENGINE_SCHEMA_HASH.split_at(ENGINE_SCHEMA_HASH.len() - 1);
    let other = format!("{head}{}", if last == "0" { "1" } else { "0" });
    let mut changed = bytes.to_vec();
    let places: Vec<usize> = bytes
        .windows(ENGINE_SCHEMA_HASH.len())
        .enumerate()
        .filter(|(_, window)| *window == ENGINE_SCHEMA_HASH.as_bytes())
        .map(|(at, _)| at)
        .collect();
    anyhow::ensure!(!places.is_empty(), "the hash is not in the page's wasm");
    for at in places {
        let place = changed.get_mut(at..at + other.len()).context("a place outside the file")?;
        place.copy_from_slice(other.as_bytes());
    }
    Ok(changed)
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
