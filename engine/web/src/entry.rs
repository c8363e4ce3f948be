//! What `worker.js` calls.

use crate::chrome::runtime::{self, Port};
use crate::chrome::{storage, text};
use crate::clients::WebClients;
use crate::notify::{ALARM, NOTIFICATION_PREFIX};
use crate::world::WebWorld;
use crate::{death, log};
use panelot_engine::Engine;
use panelot_engine::ports::ConnectionKey;
use panelot_protocol::PORT_NAME;
use panelot_protocol::ids::TabId;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::AbortSignal;

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct Running {
    engine: Rc<Engine<WebWorld>>,
    clients: WebClients,
}

/// Starts the engine. A second call does nothing. `life` is aborted when another instance of the module takes over;
/// `death` is what is known of the end of the instance before this one.
#[wasm_bindgen]
pub fn start(life: AbortSignal, death: Option<String>) {
    death::watch(life);
    if running().is_some() {
        return;
    }
    wasm_bindgen_futures::spawn_local(async {
        if let Err(error) = storage::keep_from_content_scripts().await {
            log::warn("the settings could not be closed to content scripts", &error);
        }
    });
    let clients = WebClients::default();
    let engine = Engine::start(WebWorld::new(clients.clone()));
    if let Some(death) = death {
        engine.replaces(&death);
    }
    RUNNING.with(|cell| *cell.borrow_mut() = Some(Running { engine, clients }));
}

fn running() -> Option<Running> {
    RUNNING.with(|cell| cell.borrow().clone())
}

/// A page connected. Anybody else is sent away.
#[wasm_bindgen]
pub fn port_opened(key: u32, port: Port) {
    let Some(running) = running() else { return };
    if !is_own_page(&port) {
        log::error("a connection that is not one of our pages was refused");
        port.disconnect();
        return;
    }
    let key = ConnectionKey(key);
    running.clients.add(key, port);
    running.engine.connect(key);
}

/// Whether the other side is a page of this extension: not a content script, which has our id too, but another address.
fn is_own_page(port: &Port) -> bool {
    let sender = port.sender();
    port.name() == PORT_NAME
        && text(&sender, "id").is_some_and(|id| id == runtime::id())
        && text(&sender, "url").is_some_and(|url| url.starts_with(&runtime::url("")))
}

/// A page sent a message.
#[wasm_bindgen]
pub fn port_message(key: u32, text: &str) {
    if let Some(running) = running() {
        running.engine.message(ConnectionKey(key), text);
    }
}

/// A page went away.
#[wasm_bindgen]
pub fn port_closed(key: u32) {
    if let Some(running) = running() {
        running.clients.remove(ConnectionKey(key));
        running.engine.disconnected(ConnectionKey(key));
    }
}

/// A newer version of the extension waits.
#[wasm_bindgen]
pub fn update_available() {
    if let Some(running) = running() {
        running.engine.update_available();
    }
}

/// An alarm rang.
#[wasm_bindgen]
pub fn alarm(name: &str) {
    if name == ALARM
        && let Some(running) = running()
    {
        running.engine.alarm();
    }
}

/// A tab was opened, moved, loaded or chosen.
#[wasm_bindgen]
pub fn tabs_changed() {
    if let Some(running) = running() {
        running.engine.tabs_changed();
    }
}

/// A tab was closed.
#[wasm_bindgen]
pub fn tab_removed(tab_id: i32) {
    if let Some(running) = running() {
        running.engine.tab_removed(TabId(tab_id));
    }
}

/// The page that a click on a notification opens.
#[wasm_bindgen]
pub fn notification_page(id: &str) -> Option<String> {
    id.strip_prefix(NOTIFICATION_PREFIX).map(|thread| format!("chat.html?thread={thread}"))
}
