//! The worker's memory over a thousand turns.

use anyhow::Result;
use panelot_e2e::World;
use panelot_e2e::memory::after_turns;

use super::Measured;

/// After how many turns the memory is looked at.
const TURNS: [usize; 3] = [100, 500, 1_000];
/// In how many turns each thread of the second run ends.
const TURNS_PER_THREAD: usize = 10;
/// How much more memory short threads may have taken in the end than in the beginning.
const GROWTH_MAX: f64 = 1.25;

pub(super) async fn measure(world: &World) -> Result<Vec<Measured>> {
    let mut lines = Vec::new();
    for (what, per_thread) in [("short threads", TURNS_PER_THREAD), ("one thread", usize::MAX)] {
        // Each run begins with a worker of its own.
        world.browser.stop_worker().await?;
        let sizes = after_turns(world, per_thread, &TURNS).await?;
        let first = sizes.first().map_or(f64::NAN, |size| mebibytes(size.wasm));
        for (turns, size) in TURNS.iter().zip(&sizes) {
            let wasm = mebibytes(size.wasm);
            let beside = format!("JavaScript heap {:.2} MiB", mebibytes(size.heap));
            let line = Measured::new(
                format!("memory after {turns} turns in {what}"),
                format!("{wasm:.2} MiB"),
                beside,
            );
            // A thread that is open grows with its length; threads that are not must leave nothing behind.
            let kept = per_thread == usize::MAX || wasm <= first * GROWTH_MAX;
            lines.push(line.must(kept, &format!("at most {GROWTH_MAX} times the first")));
        }
    }
    Ok(lines)
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
