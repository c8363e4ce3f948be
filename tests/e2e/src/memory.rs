//! What the worker's memory is.

use anyhow::{Context, Result};
use panelot_driver::cdp::Session;
use panelot_driver::provider::{ParsedRequest, Reply};
use serde_json::json;

use crate::World;
use crate::talk::Talk;

/// The worker's memory at one moment, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerMemory {
    /// The memory of its WebAssembly module. It never shrinks: this is the most that was ever in use at once.
    pub wasm: u64,
    /// What is in use of JavaScript's heap after a collection.
    pub heap: u64,
}

impl WorkerMemory {
    /// Measures; `worker` is a session of the worker.
    ///
    /// # Errors
    /// When the worker is gone, or has no WebAssembly.
    pub async fn of(worker: &Session) -> Result<Self> {
        worker.call("HeapProfiler.collectGarbage", json!({})).await?;
        let heap = worker.call("Runtime.getHeapUsage", json!({})).await?;
        let heap = heap["usedSize"].as_f64().context("Runtime.getHeapUsage: `usedSize` is missing")?;
        let prototype = json!({ "expression": "WebAssembly.Memory.prototype" });
        let prototype = worker.call("Runtime.evaluate", prototype).await?;
        let found = json!({ "prototypeObjectId": prototype["result"]["objectId"] });
        let found = worker.call("Runtime.queryObjects", found).await?;
        let sum = json!({
            "objectId": found["objects"]["objectId"], "returnByValue": true,
            "functionDeclaration": "function() { return this.reduce((sum, memory) => sum + memory.buffer.byteLength, 0); }",
        });
        let sum = worker.call("Runtime.callFunctionOn", sum).await?;
        let wasm = sum["result"]["value"].as_u64().filter(|bytes| *bytes > 0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in whole bytes")]
        Ok(Self { wasm: wasm.context("the worker has no WebAssembly memory")?, heap: heap as u64 })
    }
}

/// Runs short turns, `per_thread` in each thread, and gives the memory after each number of turns in `measured`.
///
/// # Errors
/// When a turn does not end.
pub async fn after_turns(world: &World, per_thread: usize, measured: &[usize]) -> Result<Vec<WorkerMemory>> {
    world.provider.set_script(|_: &ParsedRequest| Reply::text("Here you are."));
    let chat = world.connected_chat().await?;
    world.unwatch().await?;
    let mut talk = Talk::begin(&chat.page, None).await?;
    let mut sizes = Vec::new();
    for turn in 1..=measured.iter().copied().max().unwrap_or_default() {
        let skip = talk.heard_so_far().await?;
        talk.submit("Hello").await?;
        talk.ended(skip).await?;
        if measured.contains(&turn) {
            // A debugger keeps things alive for itself, so that it is there only for the measurement.
            let worker = world.browser.attach_worker().await?;
            sizes.push(WorkerMemory::of(&worker).await?);
            worker.detach().await?;
        }
        if turn.is_multiple_of(per_thread) {
            let next = Talk::begin(&chat.page, None).await?;
            std::mem::replace(&mut talk, next).port.close().await?;
        }
    }
    talk.port.close().await?;
    chat.page.close().await?;
    Ok(sizes)
}
