//! The content script: injection to first answer, and snapshots beside a plain JavaScript walk.

use anyhow::{Context, Result};
use panelot_driver::browser::Page;
use panelot_driver::cdp::Session;
use panelot_driver::product::fresh_id;
use panelot_e2e::World;
use panelot_protocol::content::{ContentAction, ContentOp};
use panelot_protocol::ids::RequestId;
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH, limits};
use serde_json::{Value, json};

use super::{Measured, median, milliseconds};

/// How often each is measured.
const ROUNDS: usize = 9;
/// How often a snapshot is taken before it is measured: a browser compiles what is warm again.
const WARM_UP_ROUNDS: usize = 5;
/// The pages' sizes in elements.
const SIZES: [u32; 2] = [1_000, 10_000];
/// The budget of an ordinary reading.
const TOKENS_DEFAULT: u64 = 3_000;
/// The two artefacts of the same script.
const SCRIPTS: [&str; 2] = ["content.js", "content-strict.js"];
/// The plain walk.
const WALK: &str = include_str!("walk.js");
/// A requests' deadline, far away, in milliseconds since 1970.
const DEADLINE_MS: u64 = 4_000_000_000_000;

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    let worker = world.browser.attach_worker().await?;
    let mut lines = Vec::new();
    for script in SCRIPTS {
        lines.push(injection(world, &worker, script).await?);
        for elements in SIZES {
            lines.extend(snapshots(world, &worker, script, elements).await?);
        }
    }
    worker.detach().await?;
    Ok(lines)
}

/// Opens a page of a size and gives it with its tab's number.
async fn open(world: &World, worker: &Session, elements: u32) -> Result<(Page, u64)> {
    let url = world.site.url(&format!("large?elements={elements}&{}", fresh_id()));
    let page = world.browser.open(&url).await?;
    let find = format!("chrome.tabs.query({{ url: {} }}).then((tabs) => tabs[0].id)", json!(url));
    let tab = worker.evaluate(&find).await?.as_u64().context("the tab has no number")?;
    Ok((page, tab))
}

async fn injection(world: &World, worker: &Session, script: &str) -> Result<Measured> {
    let ping = ContentOp::Ping {
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.into(),
        request_id: RequestId::new(fresh_id()),
    };
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let (page, tab) = open(world, worker, 1_000).await?;
        times.push(inject(worker, tab, script, &serde_json::to_string(&ping)?).await?);
        page.close().await?;
    }
    let what = format!("injection of {script} to first answer");
    Ok(Measured::new(what, milliseconds(median(times)), format!("median of {ROUNDS}, new page each time")))
}

/// Injects the script, sends a message, and gives the milliseconds until its answer.
async fn inject(worker: &Session, tab: u64, script: &str, message: &str) -> Result<f64> {
    let expression = format!(
        "(async () => {{
            const start = performance.now();
            await chrome.scripting.executeScript({{ target: {{ tabId: {tab} }}, files: [{}], injectImmediately: true }});
            await chrome.tabs.sendMessage({tab}, {}, {{ frameId: 0 }});
            return performance.now() - start;
        }})()",
        json!(script),
        json!(message)
    );
    worker.evaluate(&expression).await?.as_f64().context("the time is no number")
}

async fn snapshots(world: &World, worker: &Session, script: &str, elements: u32) -> Result<Vec<Measured>> {
    let (page, tab) = open(world, worker, elements).await?;
    let ping = ContentOp::Ping {
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.into(),
        request_id: RequestId::new(fresh_id()),
    };
    inject(worker, tab, script, &serde_json::to_string(&ping)?).await?;
    let mut walks = Vec::new();
    for _ in 0..ROUNDS {
        let (ms, lines): (f64, u64) = page.evaluate(&format!("({WALK})()")).await?;
        anyhow::ensure!(lines > u64::from(elements) / 4, "the plain walk found only {lines} lines");
        walks.push(ms);
    }
    let walk = median(walks);
    let mut measured = Vec::new();
    for (budget, tokens) in [("default budget", TOKENS_DEFAULT), ("whole page", limits::SNAPSHOT_TOKENS_MAX)]
    {
        let (mut times, mut refs) = (Vec::new(), 0);
        let tokens = u32::try_from(tokens)?;
        for _ in 0..WARM_UP_ROUNDS + ROUNDS {
            let (time, found) = snapshot(worker, tab, tokens).await?;
            times.push(time);
            refs = found;
        }
        let time = median(times.split_off(WARM_UP_ROUNDS));
        let what = format!("snapshot of {elements} elements, {budget}, {script}");
        let beside = format!("{refs} refs, plain walk {} ({:.1} times)", milliseconds(walk), time / walk);
        measured.push(Measured::new(what, milliseconds(time), beside));
    }
    page.close().await?;
    Ok(measured)
}

/// Asks for a snapshot, and gives the milliseconds from the worker and back and the number of its refs.
async fn snapshot(worker: &Session, tab: u64, max_tokens: u32) -> Result<(f64, u64)> {
    let message = ContentOp::Execute {
        protocol: CONTENT_PROTOCOL.into(),
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.into(),
        request_id: RequestId::new(fresh_id()),
        deadline_ms: DEADLINE_MS,
        action: ContentAction::Snapshot { max_tokens, scope_ref: None },
    };
    let expression = format!(
        "(async () => {{
            const start = performance.now();
            const answer = await chrome.tabs.sendMessage({tab}, {}, {{ frameId: 0 }});
            return [performance.now() - start, typeof answer === 'string' ? JSON.parse(answer) : answer];
        }})()",
        json!(serde_json::to_string(&message)?)
    );
    let answer: Value = worker.evaluate(&expression).await?;
    let (time, result) = (&answer[0], &answer[1]);
    anyhow::ensure!(result["outcome"]["type"] == "snapshot", "no snapshot: {result}");
    let refs = result["outcome"]["snapshot"]["refCount"].as_u64().context("refCount is no number")?;
    Ok((time.as_f64().context("the time is no number")?, refs))
}
