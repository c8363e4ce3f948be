//! Cold start of the worker up to `initialized`, beside an empty worker.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::fresh_id;
use panelot_e2e::World;
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH, PORT_NAME};
use serde_json::json;

use super::{Measured, empty_extension, median, milliseconds};

/// How often each worker is started.
const ROUNDS: usize = 15;
/// How much longer than an empty worker ours may take, in milliseconds.
const ABOVE_EMPTY_MS_MAX: f64 = 50.0;

/// From `connect` to the first answer.
const FIRST_ANSWER: &str = "(name, text) => new Promise((resolve, reject) => {
    const start = performance.now();
    const port = chrome.runtime.connect({ name });
    port.onDisconnect.addListener(() => reject(new Error('the Port was closed')));
    port.onMessage.addListener(() => { const ms = performance.now() - start; port.disconnect(); resolve(ms); });
    port.postMessage(text);
})";

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    let browser = &world.browser;
    let empty = panelot_driver::extension::extension_id(&empty_extension()?)?;
    // Neither page talks to a worker by itself: only the measured call starts one.
    let ours = browser.open(&browser.extension_url("manifest.json")).await?;
    let theirs = browser.open(&format!("chrome-extension://{empty}/blank.html")).await?;
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        browser.stop_worker().await?;
        our_times.push(first_answer(&ours).await?);
        browser.stop_worker_of(&empty).await?;
        their_times.push(first_answer(&theirs).await?);
    }
    ours.close().await?;
    theirs.close().await?;
    let (ours, theirs) = (median(our_times), median(their_times));
    let beside = format!("empty worker {}, median of {ROUNDS}", milliseconds(theirs));
    let kept = ours - theirs <= ABOVE_EMPTY_MS_MAX;
    let rule = format!("at most {ABOVE_EMPTY_MS_MAX} ms above an empty worker");
    Ok(vec![Measured::new("worker cold start to initialized", milliseconds(ours), beside).must(kept, &rule)])
}

async fn first_answer(page: &Page) -> Result<f64> {
    let initialize = json!({
        "type": "initialize", "submissionId": fresh_id(), "protocol": ENGINE_PROTOCOL,
        "schemaHash": ENGINE_SCHEMA_HASH, "clientId": fresh_id(),
    });
    page.call(FIRST_ANSWER, &[json!(PORT_NAME), json!(initialize.to_string())]).await
}
