//! The engine dies inside its worker, or a newer version waits: the worker stays, nothing is lost, the user is told.

use anyhow::{Result, ensure};
use panelot_driver::product::{Chat, by_test_id};
use panelot_driver::until;
use panelot_e2e::scripts::storyteller;
use panelot_e2e::{WITHIN, World};
use serde_json::json;

/// How often the worker's entry starts the engine again within a minute.
const RESTARTS_COUNT_MAX: usize = 3;

/// Makes the running engine trap, outside any call of the worker's entry, as a fault in a task of its own would.
async fn trap(world: &World) -> Result<()> {
    let worker = world.browser.attach_worker().await?;
    let prototype = json!({ "expression": "WebAssembly.Instance.prototype" });
    let prototype = worker.call("Runtime.evaluate", prototype).await?;
    let prototype = prototype.pointer("/result/objectId");
    let found = worker.call("Runtime.queryObjects", json!({ "prototypeObjectId": prototype })).await?;
    let crash = "function () {
        return new Promise((done) => {
            setTimeout(() => { setTimeout(done, 0, this.length); this[0].exports.alarm(0xfffffff0, 64); });
        });
    }";
    let call = json!({
        "objectId": found.pointer("/objects/objectId"), "functionDeclaration": crash, "awaitPromise": true, "returnByValue": true,
    });
    let called = worker.call("Runtime.callFunctionOn", call).await?;
    let instances = called.pointer("/result/value");
    ensure!(instances == Some(&json!(1)), "the worker holds {instances:?} instances of the module");
    worker.detach().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_in_the_engine_is_survived_in_the_same_worker_and_the_cut_answer_can_go_on() -> Result<()> {
    let world = World::start(storyteller).await?;
    let chat = world.connected_chat().await?;
    chat.submit("Tell me a story").await?;
    world.provider.gate("middle").reached(WITHIN).await?;
    chat.page.shows("there was a fox").await?;
    let before = world.browser.worker_target().await?;

    trap(&world).await?;
    chat.page.appears(&by_test_id("continue")).await?;
    chat.page.appears(&by_test_id("restarted")).await?;
    assert_eq!(world.browser.worker_target().await?.id, before.id);
    let partial = chat.last("message-assistant").await?.map(|line| line.text).unwrap_or_default();
    assert!(partial.contains("Once upon a time"), "{partial}");

    // A page that comes later is told too, and what was put away stays away.
    let other = Chat::open(&world.browser).await?;
    other.page.appears(&by_test_id("restarted")).await?;
    other.page.click(&by_test_id("restarted-dismiss")).await?;
    other.page.reload().await?;
    let other = Chat::on(other.page).await?;
    other.page.appears(&by_test_id("thread-open")).await?;
    assert_eq!(other.page.count(&by_test_id("restarted")).await?, 0);
    other.page.close().await?;

    chat.page.focus(&by_test_id("continue")).await?;
    chat.page.press("Enter").await?;
    chat.page.shows("and they lived happily ever after.").await?;
    chat.idle().await?;
    assert_eq!(chat.page.count(&by_test_id("message-user")).await?, 1);
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_reported_without_content_and_the_trap_that_follows_it_is_no_second_death() -> Result<()> {
    let world = World::start(storyteller).await?;
    let chat = world.connected_chat().await?;
    let worker = world.browser.attach_worker().await?;
    // What the panic hook and the trap behind it do to the worker, in a task that nobody awaits.
    let panic = "for (let i = 0; i < 5; i += 1) {
        Promise.resolve().then(() => {
            self.panelotPanicked('the engine panicked at somewhere.rs:1:1: for this test');
            throw new WebAssembly.RuntimeError('unreachable');
        });
    }
    0";
    worker.evaluate(panic).await?;
    worker.detach().await?;
    chat.page.appears(&by_test_id("restarted")).await?;
    let stub = "navigator.clipboard.writeText = async (text) => { globalThis.__copied = text; }";
    chat.page.session().evaluate(stub).await?;
    chat.page.click(&by_test_id("restarted-copy")).await?;
    chat.page.wait_for("the copied report", "globalThis.__copied").await?;
    let report: String = chat.page.evaluate("globalThis.__copied").await?;
    assert!(report.contains("the engine panicked at somewhere.rs:1:1: for this test"), "{report}");
    chat.submit("Tell me a story").await?;
    world.provider.gate("middle").reached(WITHIN).await?;
    world.provider.gate("middle").open();
    chat.idle().await?;
    world.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_dies_again_and_again_is_given_up_with_a_clear_word() -> Result<()> {
    let world = World::start(storyteller).await?;
    let chat = world.connected_chat().await?;
    let worker = world.browser.attach_worker().await?;
    for _ in 0..=RESTARTS_COUNT_MAX {
        worker.evaluate("setTimeout(() => { throw new WebAssembly.RuntimeError('out of bounds'); })").await?;
    }
    worker.detach().await?;
    chat.page.appears(&by_test_id("reload-required")).await?;
    let defects = world.browser.defects();
    assert!(defects.iter().all(|defect| defect.text.contains("the engine is not running")), "{defects:#?}");
    assert!(!defects.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_waits_for_the_run_says_so_and_is_put_in_place_when_it_has_ended() -> Result<()> {
    let world = World::start(storyteller).await?;
    let (_tab_that_keeps_the_window, chat) = world.chat_beside("react").await?;
    chat.submit("Tell me a story").await?;
    world.provider.gate("middle").reached(WITHIN).await?;
    let before = world.browser.worker_target().await?;
    let worker = world.browser.attach_worker().await?;
    worker.evaluate("chrome.runtime.onUpdateAvailable.dispatch({ version: '9.9.9' })").await?;
    worker.detach().await?;
    chat.page.appears(&by_test_id("update-ready")).await?;
    assert_eq!(world.browser.worker_target().await?.id, before.id);

    world.unwatch().await?;
    world.provider.gate("middle").open();
    until("the extension to be loaded anew", WITHIN, || async {
        Ok(world.browser.running_worker().await?.filter(|worker| worker.id != before.id).map(|_| ()))
    })
    .await?;
    let chat = Chat::open(&world.browser).await?;
    chat.page.click(&by_test_id("thread-open")).await?;
    chat.page.shows("that nobody ever saw.").await?;
    world.end()
}
