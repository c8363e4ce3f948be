//! The pages of a simulation, as mailboxes.

use panelot_engine::ports::{Clients, ConnectionKey};
use panelot_protocol::decode::decode_event;
use panelot_protocol::frame::EventFrame;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a connection received.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Texts that were not taken yet.
    pub texts: Vec<String>,
    /// Whether the engine ended the connection.
    pub ended: bool,
}

/// All connections. Clones are handles to the same.
#[derive(Debug, Clone, Default)]
pub struct SimClients {
    received: Rc<RefCell<BTreeMap<ConnectionKey, Received>>>,
    /// Everything that was ever posted, to look for what must not be there.
    all: Rc<RefCell<String>>,
}

impl SimClients {
    /// Takes what a connection received.
    pub fn take_texts(&self, connection: ConnectionKey) -> Vec<String> {
        std::mem::take(&mut self.received.borrow_mut().entry(connection).or_default().texts)
    }

    /// Takes what a connection received, read as a page reads it.
    pub fn take(&self, connection: ConnectionKey) -> Vec<EventFrame> {
        let texts = self.take_texts(connection);
        let read = |text: &String| decode_event(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        texts.iter().filter_map(read).collect()
    }

    /// Whether the engine ended a connection.
    pub fn ended(&self, connection: ConnectionKey) -> bool {
        self.received.borrow().get(&connection).is_some_and(|received| received.ended)
    }

    /// Everything that was ever posted.
    pub fn dump(&self) -> String {
        self.all.borrow().clone()
    }
}

impl Clients for SimClients {
    fn post(&self, to: ConnectionKey, text: &str) {
        self.received.borrow_mut().entry(to).or_default().texts.push(text.to_owned());
        self.all.borrow_mut().push_str(text);
    }

    fn disconnect(&self, connection: ConnectionKey) {
        self.received.borrow_mut().entry(connection).or_default().ended = true;
    }
}
