//! What the script answers to the messages of the engine.

use super::{Fixture, until};
use crate::port;
use js_sys::{Array, Function};
use panelot_protocol::content::{
    ActionFailureCode, ContentAction, ContentOp, ContentOutcome, ContentResult, WaitCondition,
};
use panelot_protocol::ids::RequestId;
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

/// Collects the answers to one message.
struct Answers {
    list: Array,
    reply: Function,
}

impl Answers {
    fn new() -> Answers {
        let list = Array::new();
        let reply = Function::new_with_args("list", "return (text) => { list.push(text); }")
            .call1(&JsValue::NULL, &list);
        Answers { list, reply: reply.unwrap().unchecked_into() }
    }

    fn outcomes(&self) -> Vec<ContentOutcome> {
        let read = |text: JsValue| {
            serde_json::from_str::<ContentResult>(&text.as_string().unwrap()).unwrap().outcome
        };
        self.list.iter().map(read).collect()
    }

    /// Waits for the first answer.
    async fn first(&self) -> ContentOutcome {
        js_sys::Reflect::set(&js_sys::global(), &"answers".into(), &self.list).unwrap();
        until("window.answers.length > 0").await;
        self.outcomes().remove(0)
    }
}

fn execute(id: &str, in_ms: f64, action: ContentAction) -> String {
    serde_json::to_string(&ContentOp::Execute {
        protocol: CONTENT_PROTOCOL.to_owned(),
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.to_owned(),
        request_id: RequestId::new(id),
        deadline_ms: (js_sys::Date::now() + in_ms) as u64,
        action,
    })
    .unwrap()
}

fn endless() -> ContentAction {
    ContentAction::WaitFor {
        condition: WaitCondition::Text { text: "never ever".to_owned() },
        timeout_ms: 60_000,
    }
}

#[track_caller]
fn failure(outcome: &ContentOutcome) -> (ActionFailureCode, &str) {
    match outcome {
        ContentOutcome::Failure { code, message } => (*code, message),
        other => panic!("not a failure: {other:?}"),
    }
}

#[wasm_bindgen_test]
fn a_ping_of_this_build_is_answered_at_once() {
    let answers = Answers::new();
    let ping = ContentOp::Ping {
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.to_owned(),
        request_id: RequestId::new("request-1"),
    };
    assert!(port::handle(&serde_json::to_string(&ping).unwrap(), answers.reply.clone()));
    assert_eq!(answers.outcomes(), [ContentOutcome::Pong {}]);
}

#[wasm_bindgen_test]
fn an_unknown_tool_never_reaches_the_page() {
    let answers = Answers::new();
    let text = execute("request-2", 1_000.0, endless()).replace("wait_for", "run_javascript");
    assert!(port::handle(&text, answers.reply.clone()));
    let outcomes = answers.outcomes();
    let (code, message) = failure(&outcomes[0]);
    assert_eq!(code, ActionFailureCode::Unknown);
    assert!(message.starts_with("The request was refused: "), "{message}");
}

#[wasm_bindgen_test]
fn what_is_no_message_of_the_protocol_is_left_to_others() {
    for text in ["", "null", "{}", "[1", "{\"type\":\"execute\"}"] {
        let answers = Answers::new();
        assert!(!port::handle(text, answers.reply.clone()), "{text}");
        assert_eq!(answers.outcomes(), [], "{text}");
    }
}

#[wasm_bindgen_test]
fn a_request_after_its_deadline_is_not_begun() {
    let answers = Answers::new();
    port::handle(&execute("request-3", -1.0, endless()), answers.reply.clone());
    assert_eq!(failure(&answers.outcomes()[0]).0, ActionFailureCode::Timeout);
}

#[wasm_bindgen_test]
async fn a_request_that_hangs_is_answered_at_its_deadline_and_only_once() {
    let answers = Answers::new();
    port::handle(&execute("request-4", 40.0, endless()), answers.reply.clone());
    let first = answers.first().await;
    assert_eq!(failure(&first).0, ActionFailureCode::Timeout);
    crate::wait::next_task().await;
    crate::wait::wake_all();
    crate::wait::next_task().await;
    assert_eq!(answers.outcomes().len(), 1);
}

#[wasm_bindgen_test]
async fn a_cancelled_request_is_answered_and_a_repeated_id_is_refused() {
    let (answers, again, cancelled) = (Answers::new(), Answers::new(), Answers::new());
    let text = execute("request-5", 30_000.0, endless());
    port::handle(&text, answers.reply.clone());
    port::handle(&text, again.reply.clone());
    assert_eq!(failure(&again.outcomes()[0]).0, ActionFailureCode::Unknown);
    let cancel = ContentOp::Cancel { request_id: RequestId::new("request-5") };
    port::handle(&serde_json::to_string(&cancel).unwrap(), cancelled.reply.clone());
    assert_eq!(cancelled.outcomes(), [ContentOutcome::Pong {}]);
    assert_eq!(failure(&answers.first().await).0, ActionFailureCode::Aborted);
}

#[wasm_bindgen_test]
async fn a_snapshot_travels_as_a_valid_answer() {
    let _fixture = Fixture::new("<button>Travels</button>");
    let answers = Answers::new();
    let action = ContentAction::Snapshot { max_tokens: 3_000, scope_ref: None };
    port::handle(&execute("request-6", 5_000.0, action), answers.reply.clone());
    match answers.first().await {
        ContentOutcome::Snapshot { snapshot } => {
            assert!(snapshot.text.contains("button \"Travels\""), "{}", snapshot.text)
        }
        other => panic!("not a snapshot: {other:?}"),
    }
}

#[wasm_bindgen_test]
fn a_script_of_another_build_steps_aside() {
    let answers = Answers::new();
    let text = execute("request-7", 5_000.0, endless()).replace(CONTENT_SCRIPT_SCHEMA_HASH, "another");
    assert!(port::handle(&text, answers.reply.clone()));
    assert!(failure(&answers.outcomes()[0]).1.contains("another build"));
}

#[wasm_bindgen_test]
fn only_our_own_extension_is_obeyed_and_an_orphan_obeys_nobody() {
    let sender = |script: &str| Function::new_no_args(script).call0(&JsValue::NULL).unwrap();
    Function::new_no_args("window.chrome ??= {}; window.chrome.runtime = { id: 'own' };")
        .call0(&JsValue::NULL)
        .unwrap();
    let table = [
        ("return { id: 'own' }", true),
        ("return { id: 'own', tab: { id: 1 } }", false),
        ("return { id: 'other' }", false),
        ("return {}", false),
        ("return null", false),
    ];
    for (script, obeyed) in table {
        assert_eq!(port::is_engine(&sender(script)), obeyed, "{script}");
    }
    Function::new_no_args("delete window.chrome.runtime.id").call0(&JsValue::NULL).unwrap();
    assert!(!port::is_engine(&sender("return { id: 'own' }")));
    assert!(!port::is_engine(&sender("return {}")));
    Function::new_no_args("delete window.chrome.runtime").call0(&JsValue::NULL).unwrap();
}

#[wasm_bindgen_test]
fn starting_twice_listens_once() {
    let run = |script: &str| Function::new_no_args(script).call0(&JsValue::NULL).unwrap();
    run("window.chrome ??= {}; window.chrome.runtime = { id: 'own', onMessage: { n: 0, \
         addListener() { this.n++; }, removeListener() { this.n--; } } };");
    port::start();
    port::start();
    assert_eq!(run("return window.chrome.runtime.onMessage.n").as_f64(), Some(1.0));
    port::retire();
    assert_eq!(run("return window.chrome.runtime.onMessage.n").as_f64(), Some(0.0));
    run("delete window.chrome.runtime");
}

#[wasm_bindgen_test]
fn when_the_script_breaks_whoever_waits_is_told() {
    let answers = Answers::new();
    port::handle(&execute("request-8", 30_000.0, endless()), answers.reply.clone());
    port::answer_all_after_panic("somewhere.rs:1");
    let (code, message) = (failure(&answers.outcomes()[0]).0, failure(&answers.outcomes()[0]).1.to_owned());
    assert_eq!(code, ActionFailureCode::Unknown);
    assert_eq!(message, "The content script failed (somewhere.rs:1). Nothing was changed.");
}
