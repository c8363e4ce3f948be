//! The line to the engine: one listener that obeys the extension alone and answers every request exactly once.

use crate::dom;
use crate::wait::{self, Wanted};
use crate::{act, page};
use js_sys::Function;
use panelot_content::action::{Code, Failure};
use panelot_protocol::budget::{CONTENT, SEND_BYTES_MAX};
use panelot_protocol::content::{ContentAction, ContentOp, ContentOutcome, ContentResult};
use panelot_protocol::decode::decode_closed;
use panelot_protocol::ids::RequestId;
use panelot_protocol::validate::{Mode, validate};
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH, Shape, limits};
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, ms: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// What the browser calls with a message, its sender, and the function that takes the answer.
type Listener = dyn FnMut(JsValue, JsValue, Function) -> bool;

/// A request that was not answered yet.
struct Pending {
    reply: Function,
    wanted: Wanted,
    writes: bool,
    timer: JsValue,
    _on_deadline: Closure<dyn FnMut()>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        clear_timeout(&self.timer);
    }
}

thread_local! {
    static PENDING: RefCell<BTreeMap<String, Pending>> = const { RefCell::new(BTreeMap::new()) };
    static LISTENER: RefCell<Option<Closure<Listener>>> = const { RefCell::new(None) };
}

/// Begins to listen, once; where there is no extension to listen to, nothing happens.
pub fn start() {
    let Some(on_message) = on_message() else { return };
    let listening = LISTENER.with_borrow(Option::is_some);
    if listening {
        return;
    }
    let listener = Closure::<Listener>::new(receive);
    let added = dom::get(&on_message, "addListener")
        .dyn_into::<Function>()
        .and_then(|add| add.call1(&on_message, listener.as_ref()));
    if added.is_ok() {
        LISTENER.set(Some(listener));
    }
}

/// Stops listening and makes room for a script of another build.
pub(crate) fn retire() {
    if let Some(on_message) = on_message()
        && let Some(listener) = LISTENER.take()
    {
        if let Ok(remove) = dom::get(&on_message, "removeListener").dyn_into::<Function>() {
            // A listener that is gone already is as good as removed.
            let _ = remove.call1(&on_message, listener.as_ref());
        }
        // The call that is being answered came through this listener: it must outlive it.
        listener.forget();
    }
    let _ = js_sys::Reflect::delete_property(&js_sys::global(), &JsValue::from_str("__panelot"));
}

fn runtime() -> JsValue {
    dom::get(&dom::get(&js_sys::global(), "chrome"), "runtime")
}

fn on_message() -> Option<JsValue> {
    Some(dom::get(&runtime(), "onMessage")).filter(JsValue::is_object)
}

/// Whether a message is the engine's: of our own extension, and not of a page's script.
///
/// A script whose extension was reloaded has no id any more and obeys nobody.
pub(crate) fn is_engine(sender: &JsValue) -> bool {
    let own = dom::get(&runtime(), "id").as_string();
    own.is_some() && dom::get(sender, "id").as_string() == own && dom::get(sender, "tab").is_undefined()
}

/// True when an answer will follow.
fn receive(message: JsValue, sender: JsValue, reply: Function) -> bool {
    if !is_engine(&sender) {
        return false;
    }
    let Some(text) = message.as_string() else { return false };
    handle(&text, reply)
}

/// Answers one message; true when the answer will follow or has been given.
pub(crate) fn handle(text: &str, reply: Function) -> bool {
    // Whoever waits looks again at each message: hidden pages have no other beat.
    wait::wake_all();
    match decode_closed::<ContentOp>(text, &CONTENT) {
        Ok(ContentOp::Ping { schema_hash, request_id }) => {
            if schema_hash == CONTENT_SCRIPT_SCHEMA_HASH {
                answer(&reply, request_id, ContentOutcome::Pong {});
            } else {
                other_build(&reply, request_id);
            }
        }
        Ok(ContentOp::Cancel { request_id }) => {
            cancel(&request_id);
            answer(&reply, request_id, ContentOutcome::Pong {});
        }
        Ok(ContentOp::Execute { protocol, schema_hash, request_id, deadline_ms, action }) => {
            if protocol != CONTENT_PROTOCOL || schema_hash != CONTENT_SCRIPT_SCHEMA_HASH {
                other_build(&reply, request_id);
            } else {
                // Milliseconds since 1970 fit a float exactly.
                execute(reply, request_id, deadline_ms as f64, action);
            }
        }
        Err(error) => {
            let Some((request_id, hash)) = address(text) else { return false };
            if hash.is_some_and(|hash| hash != CONTENT_SCRIPT_SCHEMA_HASH) {
                other_build(&reply, request_id);
            } else {
                answer(
                    &reply,
                    request_id,
                    failed(Failure::new(
                        Code::Unknown,
                        format!("The request was refused: {error}. Nothing was done."),
                    )),
                );
            }
        }
    }
    true
}

/// The request and the build that an unreadable message speaks of.
fn address(text: &str) -> Option<(RequestId, Option<String>)> {
    CONTENT.measure(text).ok()?;
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let id: String = value.get("requestId")?.as_str()?.chars().take(64).collect();
    let hash = value.get("schemaHash").and_then(serde_json::Value::as_str).map(str::to_owned);
    Some((RequestId::new(id), hash))
}

fn other_build(reply: &Function, request_id: RequestId) {
    let message = "The page runs a content script of another build of the extension; it has now stepped aside. Nothing was done. Inject the script again and repeat the request.";
    answer(reply, request_id, failed(Failure::new(Code::Unknown, message)));
    retire();
}

fn execute(reply: Function, request_id: RequestId, deadline: f64, action: ContentAction) {
    let left = deadline - js_sys::Date::now();
    if left <= 0.0 {
        let late = Failure::new(Code::Timeout, "The request arrived after its deadline. Nothing was done.");
        return answer(&reply, request_id, failed(late));
    }
    let key = request_id.as_str().to_owned();
    if PENDING.with_borrow(|pending| pending.contains_key(&key)) {
        let twice = Failure::new(
            Code::Unknown,
            "A request with this id is under way already. Nothing was done a second time.",
        );
        return answer(&reply, request_id, failed(twice));
    }
    let wanted = Wanted::default();
    let at_deadline = request_id.clone();
    let on_deadline = Closure::<dyn FnMut()>::new(move || {
        give_up(&at_deadline, Code::Timeout, "The time for the request is over");
    });
    let timer = set_timeout(on_deadline.as_ref().unchecked_ref(), left);
    let writes = action.is_write();
    let pending = Pending { reply, wanted: wanted.clone(), writes, timer, _on_deadline: on_deadline };
    PENDING.with_borrow_mut(|all| all.insert(key, pending));
    wasm_bindgen_futures::spawn_local(async move {
        let outcome = act::perform(action, wanted).await.unwrap_or_else(failed);
        finish(&request_id, outcome);
    });
}

/// Answers a pending request, if nobody did before.
fn finish(request_id: &RequestId, outcome: ContentOutcome) {
    let pending = PENDING.with_borrow_mut(|all| all.remove(request_id.as_str()));
    if let Some(pending) = pending {
        answer(&pending.reply, request_id.clone(), outcome);
    }
}

fn cancel(request_id: &RequestId) {
    give_up(request_id, Code::Aborted, "The request was cancelled");
}

fn give_up(request_id: &RequestId, code: Code, what: &str) {
    let Ok(pending) = PENDING.with(|all| all.try_borrow_mut().map(|mut all| all.remove(request_id.as_str())))
    else {
        return;
    };
    let Some(mut pending) = pending else { return };
    pending.wanted.give_up();
    let next = if pending.writes {
        "It may have had an effect: read the page to find out, and do not simply repeat it."
    } else {
        "Nothing was changed."
    };
    answer(&pending.reply, request_id.clone(), failed(Failure::new(code, format!("{what}. {next}"))));
    // This may run inside of the very closure that the deadline called: it is let go once that is over.
    let timer = std::mem::replace(&mut pending.timer, JsValue::UNDEFINED);
    clear_timeout(&timer);
    wasm_bindgen_futures::spawn_local(async move { drop(pending) });
}

/// Answers all that is pending when the script itself breaks; what was under way cannot be told any more.
pub(crate) fn answer_all_after_panic(what: &str) {
    let Ok(all) = PENDING.with(|all| all.try_borrow_mut().map(|mut all| std::mem::take(&mut *all))) else {
        return;
    };
    for (id, pending) in all {
        let effect = if pending.writes {
            "The action may have had an effect: read the page to find out."
        } else {
            "Nothing was changed."
        };
        let failure = Failure::new(Code::Unknown, format!("The content script failed ({what}). {effect}"));
        answer(&pending.reply, RequestId::new(id), failed(failure));
        // Dropping runs more of the script that has just failed.
        std::mem::forget(pending);
    }
}

/// Has the stack restored once no frame of ours is live, which plain JavaScript does not do by itself.
pub(crate) fn restore_later() {
    let script = dom::get(&js_sys::global(), "__panelot");
    if let Ok(restore) = dom::get(&script, "restore").dyn_into::<Function>() {
        set_timeout(&restore, 0.0);
    }
}

fn failed(failure: Failure) -> ContentOutcome {
    ContentOutcome::Failure {
        code: failure.code,
        message: page::shortened(&failure.message, limits::MESSAGE_CHARS_MAX),
    }
}

fn answer(reply: &Function, request_id: RequestId, outcome: ContentOutcome) {
    let text = encode(request_id.clone(), outcome).unwrap_or_else(|reason| {
        let failure = Failure::new(Code::Unknown, format!("The answer was not sent: {reason}."));
        encode(request_id, failed(failure)).unwrap_or_default()
    });
    // Nobody may be listening any more; then the answer has no reader.
    let _ = reply.call1(&JsValue::UNDEFINED, &JsValue::from_str(&text));
}

/// The answer as text, checked as the other side will check it.
fn encode(request_id: RequestId, outcome: ContentOutcome) -> Result<String, String> {
    let result = ContentResult {
        protocol: CONTENT_PROTOCOL.to_owned(),
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.to_owned(),
        request_id,
        document: page::nonce(),
        outcome,
    };
    let text = serde_json::to_string(&result).map_err(|error| error.to_string())?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > SEND_BYTES_MAX {
        return Err(format!("it has {} bytes and may have {SEND_BYTES_MAX}", text.len()));
    }
    // The shape alone is checked: reading it back into the type would double the script's code for nothing.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    validate(&value, ContentResult::SHAPE, Mode::Closed).map_err(|fault| fault.to_string())?;
    Ok(text)
}
