//! Opening a thread, showing another branch of it, and a turn at its end: a long one must be like a short one.

use anyhow::Result;
use panelot_driver::browser::Page;
use panelot_driver::product::{Chat, EnginePort, by_test_id};
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::talk::Talk;
use panelot_e2e::{World, seed};
use panelot_testkit::LongThread;
use serde_json::json;

use super::{Measured, median, milliseconds};

/// The lengths in nodes, each with its number of branch points.
const SIZES: [(u64, u64); 2] = [(100, 2), (10_000, 200)];
/// How often each is measured.
const ROUNDS: usize = 20;
/// How much longer the long thread may take to open, and to show another branch.
const RATIO_MAX: f64 = 1.5;

/// From a click to a text on the screen.
const CLICK: &str = "(selector, text) => new Promise((resolve) => {
    const start = performance.now();
    [...document.querySelectorAll(selector)].at(-1).click();
    const look = () => {
        const all = document.querySelectorAll('[data-testid=message-assistant]');
        const found = [...all].some((message) => message.innerText.includes(text));
        if (found) requestAnimationFrame(() => resolve(performance.now() - start)); else setTimeout(look, 1);
    };
    look();
})";

/// The times of one thread, in milliseconds.
#[derive(Default)]
struct Times {
    open: Vec<f64>,
    switch: Vec<f64>,
    stored: Vec<f64>,
    turn: Vec<f64>,
}

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    world.provider.set_script(|_: &ParsedRequest| Reply::text("Here you are."));
    let chat = world.connected_chat().await?;
    let threads = SIZES.map(|(nodes, branches)| LongThread::new(&format!("{nodes} nodes"), nodes, branches));
    for thread in &threads {
        seed::put_rows(&chat.page, &thread.rows()).await?;
    }
    world.kill_worker().await?;
    world.unwatch().await?;
    chat.page.reload().await?;
    let chat = Chat::on(chat.page).await?;
    let mut times = [Times::default(), Times::default()];
    for _ in 0..ROUNDS {
        for (thread, times) in threads.iter().zip(&mut times) {
            chat.page.click(&by_test_id("new-thread")).await?;
            chat.page.appears(&by_test_id("empty")).await?;
            let row = format!("[data-thread=\"{}\"] [data-testid=thread-open]", thread.id());
            times.open.push(click(&chat.page, &row, &thread.last_answer()).await?);
            for (way, text) in
                [("branch-next", thread.other_answer()), ("branch-previous", thread.last_answer())]
            {
                let button = format!("[data-testid={way}]:not([disabled])");
                chat.page.appears(&button).await?;
                times.switch.push(click(&chat.page, &button, &text).await?);
            }
        }
    }
    for (thread, times) in threads.iter().zip(&mut times) {
        turns(&chat.page, thread, times).await?;
    }
    chat.page.close().await?;
    let [short, long] = times;
    let mut lines = compared("opening a thread", short.open, long.open, Some(RATIO_MAX));
    lines.extend(compared("showing another branch", short.switch, long.switch, Some(RATIO_MAX)));
    // The model is sent the whole path, so that a turn may grow with it, but no faster; the next one may still wait for
    // the memory of the last to be given back.
    lines.extend(compared("submit to the acknowledgement", short.stored, long.stored, None));
    lines.extend(compared("a whole turn", short.turn, long.turn, None));
    Ok(lines)
}

async fn click(page: &Page, selector: &str, text: &str) -> Result<f64> {
    page.appears(selector).await?;
    page.call(CLICK, &[json!(selector), json!(text)]).await
}

/// Turns at the end of a thread.
async fn turns(page: &Page, thread: &LongThread, times: &mut Times) -> Result<()> {
    let port = EnginePort::open(page).await?;
    port.initialize().await?;
    let talk = Talk::join(port, thread.id(), None).await?;
    for _ in 0..ROUNDS {
        let skip = talk.heard_so_far().await?;
        let submitted = talk.submit("And now?").await?;
        let ended = talk.ended(skip).await?;
        let acknowledged = talk.port.heard("the answer", skip, |said| said["type"] == "command.ack").await?.1;
        times.stored.push(acknowledged - submitted);
        times.turn.push(ended - submitted);
    }
    talk.port.close().await
}

/// A line for the short thread, and one for the long thread beside it.
fn compared(what: &str, short: Vec<f64>, long: Vec<f64>, ratio_max: Option<f64>) -> Vec<Measured> {
    let rounds = short.len();
    let (short, long) = (median(short), median(long));
    let [(few, _), (many, _)] = SIZES;
    // No step may grow faster than the thread does.
    let ratio_max = ratio_max.unwrap_or(as_number(many) / as_number(few));
    let ratio = long / short;
    let beside = format!("{ratio:.2} times the short one, limit {ratio_max}");
    let line = Measured::new(format!("{what} of {many} nodes"), milliseconds(long), beside);
    vec![
        Measured::new(format!("{what} of {few} nodes"), milliseconds(short), format!("median of {rounds}")),
        line.must(ratio <= ratio_max, &format!("at most {ratio_max} times the short one")),
    ]
}

fn as_number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from)
}
