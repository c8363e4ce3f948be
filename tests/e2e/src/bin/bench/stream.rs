//! Many small deltas from the provider through the engine and the Port into the page.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use panelot_driver::browser::Page;
use panelot_driver::provider::{ParsedRequest, Piece, Reply};
use panelot_e2e::World;
use serde_json::json;

use super::{Measured, milliseconds};

/// How many deltas the two streams have; the cost of one delta must not grow with their number.
const DELTAS: [usize; 2] = [5_000, 20_000];
/// How long the longer stream may take.
const STREAM_S_MAX: u64 = 120;
/// How much dearer a delta of the longer stream may be.
const GROWTH_MAX: f64 = 2.0;

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    let mut lines = Vec::new();
    let mut costs = Vec::new();
    for deltas in DELTAS {
        world.provider.set_script(move |request: &ParsedRequest| {
            if !request.offers("read_page") {
                return Reply::text("Many words");
            }
            let words = (0..deltas)
                .map(|number| if number % 40 == 39 { "word.\n\n".to_owned() } else { "word ".to_owned() });
            words.fold(Reply::new(), |reply, word| reply.with(Piece::Frame(word))).say("The end.")
        });
        let chat = world.connected_chat().await?;
        chat.page.session().call("Performance.enable", json!({})).await?;
        let busy = main_thread_s(&chat.page).await?;
        let start = Instant::now();
        chat.submit("Say many words").await?;
        let done = "document.querySelector('[data-testid=message-assistant][data-status=done]')?.innerText.includes('The end.')";
        chat.page.wait_within("the whole text", Duration::from_secs(STREAM_S_MAX), done).await?;
        let took = start.elapsed().as_secs_f64() * 1000.0;
        let busy = (main_thread_s(&chat.page).await? - busy) * 1000.0;
        chat.page.close().await?;
        costs.push(took / as_number(deltas));
        let beside = format!("main thread of the page {}", milliseconds(busy));
        lines.push(Measured::new(
            format!("{deltas} deltas from provider to page"),
            milliseconds(took),
            beside,
        ));
    }
    let [short, long] = costs.as_slice() else { anyhow::bail!("two streams were to be measured") };
    let growth = long / short;
    let rule = format!("at most {GROWTH_MAX} times");
    let beside = "a delta of the long stream against one of the short";
    lines.push(
        Measured::new("growth of the cost of a delta", format!("{growth:.2} times"), beside)
            .must(growth <= GROWTH_MAX, &rule),
    );
    Ok(lines)
}

fn as_number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from)
}

/// Seconds that the page's main thread has worked.
async fn main_thread_s(page: &Page) -> Result<f64> {
    let reply = page.session().call("Performance.getMetrics", json!({})).await?;
    let metrics = reply["metrics"].as_array().context("Performance.getMetrics: `metrics` is missing")?;
    let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
    task.and_then(|metric| metric["value"].as_f64()).context("TaskDuration is missing")
}
