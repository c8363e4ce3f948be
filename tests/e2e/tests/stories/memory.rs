//! A worker that has done much holds no more than one that has done little.

use anyhow::Result;
use panelot_driver::provider::{ParsedRequest, Reply};
use panelot_e2e::World;
use panelot_e2e::memory::after_turns;

/// After how many turns the memory is compared.
const TURNS: [usize; 2] = [100, 200];
/// In how many turns each thread ends.
const TURNS_PER_THREAD: usize = 10;
/// WebAssembly's memory grows by pages of 64 KiB; a few of them may come late.
const GROWTH_BYTES_MAX: u64 = 4 * 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn after_200_turns_the_worker_needs_the_memory_that_it_needed_after_100() -> Result<()> {
    let world = World::start(|_: &ParsedRequest| Reply::text("not yet")).await?;
    let sizes = after_turns(&world, TURNS_PER_THREAD, &TURNS).await?;
    let [first, second] = sizes.as_slice() else { anyhow::bail!("{sizes:?}") };
    assert!(second.wasm <= first.wasm + GROWTH_BYTES_MAX, "{sizes:?}");
    world.end()
}
