//! The Ports of the connected pages.

use crate::chrome::runtime::Port;
use panelot_engine::ports::{Clients, ConnectionKey};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::prelude::JsValue;

/// Ports by connection.
#[derive(Clone, Default)]
pub struct WebClients {
    ports: Rc<RefCell<BTreeMap<ConnectionKey, Port>>>,
}

impl WebClients {
    /// Remembers the Port of a connection.
    pub fn add(&self, key: ConnectionKey, port: Port) {
        self.ports.borrow_mut().insert(key, port);
    }

    /// Forgets a connection that ended.
    pub fn remove(&self, key: ConnectionKey) {
        self.ports.borrow_mut().remove(&key);
    }

    /// How many pages are connected.
    pub fn count(&self) -> usize {
        self.ports.borrow().len()
    }
}

impl Clients for WebClients {
    fn post(&self, to: ConnectionKey, text: &str) {
        let port = self.ports.borrow().get(&to).cloned();
        if let Some(port) = port
            && port.post_message(&JsValue::from_str(text)).is_err()
        {
            // The page went away; its `onDisconnect` may still be on its way.
            self.remove(to);
        }
    }

    fn disconnect(&self, connection: ConnectionKey) {
        let port = self.ports.borrow_mut().remove(&connection);
        if let Some(port) = port {
            port.disconnect();
        }
    }
}
