//! Opening a thread: a long one must open like a short one.

use std::time::Duration;

use anyhow::Result;
use panelot_driver::product::{Chat, by_test_id};
use panelot_e2e::{WITHIN, World, seed};

use super::{Measured, median, milliseconds};

/// The lengths in nodes.
const NODES: [u64; 2] = [100, 10_000];
/// How often each is opened.
const ROUNDS: usize = 7;
/// How much longer the long thread may take.
const RATIO_MAX: f64 = 1.5;

/// From the click on a thread to its last message on the screen.
const OPEN: &str = "(thread, text) => new Promise((resolve) => {
    const start = performance.now();
    document.querySelector(`[data-thread=\"${thread}\"] [data-testid=thread-open]`).click();
    const look = () => {
        const found = [...document.querySelectorAll('[data-testid=message-assistant]')].some((e) => e.innerText.includes(text));
        if (found) requestAnimationFrame(() => resolve(performance.now() - start)); else setTimeout(look, 1);
    };
    look();
})";

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    let chat = world.connected_chat().await?;
    for nodes in NODES {
        seed::put_rows(&chat.page, &seed::thread_rows(&format!("{nodes} nodes"), nodes)?).await?;
    }
    world.kill_worker().await?;
    world.unwatch().await?;
    chat.page.reload().await?;
    let chat = Chat::on(chat.page).await?;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (nodes, times) in NODES.into_iter().zip(&mut times) {
            chat.page.click(&by_test_id("new-thread")).await?;
            chat.page.appears(&by_test_id("empty")).await?;
            let thread = seed::thread_id(nodes);
            let row = format!("[data-thread=\"{thread}\"] [data-testid=thread-open]");
            chat.page
                .wait_within(
                    "the thread in the list",
                    WITHIN.max(Duration::from_secs(1)),
                    &format!("document.querySelector('{row}')"),
                )
                .await?;
            let last = format!("Answer {}:", nodes - 1);
            times.push(chat.page.call(OPEN, &[thread.into(), last.into()]).await?);
        }
    }
    chat.page.close().await?;
    let [short, long] = times.map(median);
    let ratio = long / short;
    let rule = format!("at most {RATIO_MAX} times the short one");
    Ok(vec![
        Measured::new("opening a thread of 100 nodes", milliseconds(short), format!("median of {ROUNDS}")),
        Measured::new(
            "opening a thread of 10,000 nodes",
            milliseconds(long),
            format!("{ratio:.2} times the short one"),
        )
        .must(ratio <= RATIO_MAX, &rule),
    ])
}
