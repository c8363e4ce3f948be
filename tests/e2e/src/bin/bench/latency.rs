//! How long a person waits: for the message that they sent, for the provider's turn, for an end, for Stop.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::provider::{Fault, ParsedRequest, RecordedRequest, Reply};
use panelot_e2e::talk::{Talk, tab_of};
use panelot_e2e::{WITHIN, World};
use serde_json::{Value, json};

use super::{Measured, median, milliseconds};

/// How often each is measured.
const ROUNDS: usize = 20;
/// From Stop to the end of the turn, in milliseconds.
const STOP_MS_MAX: f64 = 200.0;
/// From the key that sends to the message on the screen, in milliseconds.
const VISIBLE_MS_MAX: f64 = 100.0;
/// From the submission to the provider's first sight of the request, in milliseconds.
const REQUEST_MS_MAX: f64 = 25.0;
/// From the answer's last byte to the end of the turn, in milliseconds.
const END_MS_MAX: f64 = 10.0;
/// Where Stop is pressed, by the user's words.
const STOPPED_IN: [&str; 4] = ["stream", "tool", "approval", "retry wait"];

fn script(request: &ParsedRequest) -> Reply {
    // The engine adds to the user's words what it knows of the tab.
    let place = STOPPED_IN.into_iter().find(|place| request.task().contains(&words(place)));
    match place.unwrap_or_default() {
        "stream" => Reply::text("This goes on and on. ").then_wait_at("never"),
        "tool" => Reply::call("wait_for", json!({ "text": "never on this page", "timeMs": 30_000 })),
        "approval" => Reply::call("tab_open", json!({ "url": "http://127.0.0.1/approval" })),
        "retry wait" => Reply::new().fail(Fault::rate_limit(Duration::from_secs(15))),
        _ => Reply::text("Here you are."),
    }
}

/// What the user says to be stopped there.
fn words(place: &str) -> String {
    format!("Work until I stop you: {place}.")
}

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    world.provider.set_script(script);
    let chat = world.connected_chat().await?;
    let mut lines = vec![visible(&chat).await?];
    let page = world.browser.open(&world.site.url("large?elements=100")).await?;
    chat.page.bring_to_front().await?;
    let talk = Talk::begin(&chat.page, Some(tab_of(&chat.page, &page).await?)).await?;
    lines.extend(turns(world, &talk).await?);
    for place in STOPPED_IN {
        lines.push(stop(&talk, place).await?);
    }
    talk.port.close().await?;
    page.close().await?;
    chat.page.close().await?;
    Ok(lines)
}

fn limited(what: &str, times: Vec<f64>, limit_ms: f64) -> Measured {
    let beside = format!("median of {}, limit {limit_ms} ms, slowest {}", times.len(), slowest(&times));
    let time = median(times);
    Measured::new(what, milliseconds(time), beside).must(time <= limit_ms, &format!("at most {limit_ms} ms"))
}

fn slowest(times: &[f64]) -> String {
    milliseconds(times.iter().copied().fold(0.0, f64::max))
}

/// From the key press to the first picture with the message in it.
async fn visible(chat: &Chat) -> Result<Measured> {
    let watch = "(text) => { globalThis.__visible = new Promise((resolve) => {
        document.addEventListener('keydown', () => {
            const start = performance.now();
            const look = () => {
                const all = document.querySelectorAll('[data-testid=outgoing], [data-testid=message-user]');
                const there = [...all].some((message) => message.innerText.includes(text));
                requestAnimationFrame(() => there ? resolve(performance.now() - start) : look());
            };
            look();
        }, { capture: true, once: true });
    }); return true; }";
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let text = format!("Message number {round}.");
        chat.page.focus(&by_test_id("composer")).await?;
        chat.page.insert(&text).await?;
        chat.page
            .wait_for("the send button", "!document.querySelector('[data-testid=send]').disabled")
            .await?;
        chat.page.call::<bool>(watch, &[json!(text)]).await?;
        chat.page.press("Enter").await?;
        times.push(chat.page.evaluate("globalThis.__visible").await?);
        chat.page.appears(&by_test_id("message-assistant")).await?;
        chat.idle().await?;
    }
    Ok(limited("submit to the message on the screen", times, VISIBLE_MS_MAX))
}

/// Whole turns: the way to the provider, and the way back from its last byte.
async fn turns(world: &World, talk: &Talk) -> Result<Vec<Measured>> {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let skip = talk.heard_so_far().await?;
        let before = world.provider.requests().len();
        let submitted = talk.submit("Hello").await?;
        let ended = talk.ended(skip).await?;
        let over = |one: &RecordedRequest| one.request.number >= before && one.ended_at.is_some();
        let request = world.provider.wait_for_request("the request", WITHIN, over).await?;
        there.push(since_1970_ms(request.came_at)? - submitted);
        back.push(ended - since_1970_ms(request.ended_at.context("the request runs")?)?);
    }
    Ok(vec![
        limited("submit to the provider's sight of the request", there, REQUEST_MS_MAX),
        limited("last byte to the end of the turn", back, END_MS_MAX),
    ])
}

/// Stop, pressed in one kind of work.
async fn stop(talk: &Talk, place: &str) -> Result<Measured> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let skip = talk.heard_so_far().await?;
        talk.submit(&words(place)).await?;
        talk.port.heard(place, skip, |said| has_come_to(place, said)).await?;
        let stopped = talk.stop().await?;
        times.push(talk.ended(skip).await? - stopped);
    }
    Ok(limited(&format!("stop in {place} to the end of the turn"), times, STOP_MS_MAX))
}

/// Whether a message says that the work is where Stop is to be pressed.
fn has_come_to(place: &str, said: &Value) -> bool {
    match place {
        "stream" => said["type"] == "item.delta",
        "tool" => said["type"] == "item.start" && said["kind"] == "tool_call",
        "approval" => said["type"] == "approval.request",
        _ => said["type"] == "run.waiting" && said["waiting"]["reason"] == "rate_limit",
    }
}

fn since_1970_ms(time: SystemTime) -> Result<f64> {
    Ok(time.duration_since(UNIX_EPOCH)?.as_secs_f64() * 1_000.0)
}
