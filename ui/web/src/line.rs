//! A line to the engine: the connection machine with its Port, its timer and its outbox.

use std::cell::Cell;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::unbounded;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::ClientId;
use panelot_protocol::op::Op;
use panelot_ui::connection::{Connection, Effect, Input, Link};
use panelot_ui::outgoing::{Outgoing, Place};
use panelot_ui::session::instead;
use panelot_ui::wire::{self, Heard};
use wasm_bindgen_futures::spawn_local;

use crate::chrome::clock::{self, Page};
use crate::chrome::{locks, runtime, session_storage};
use crate::{page, shell};

/// Where the Ops of a client that have no answer are kept; its id follows.
const OUTBOX_PREFIX: &str = "outbox:";

/// What comes over a line. The numbers tell what belongs to a Port or a timer that is no more.
pub enum Incoming {
    /// A text of the Port of this number.
    Text(u32, String),
    /// The Port of this number was lost.
    Lost(u32),
    /// The timer of this number has run out.
    Woke(u32),
}

/// What came over a line, as far as it still counts.
pub enum Read {
    /// An event.
    Frame(Box<EventFrame>),
    /// A text that is no event; the sentence says why.
    Unreadable(String),
    /// Something for the machine alone.
    Input(Input),
}

/// What a line tells its owner.
pub enum Said {
    /// The state that a person sees.
    Link(Link),
    /// An Op that cannot be taken.
    Refused(Box<Op>),
}

/// A line.
pub struct Line {
    connection: Connection,
    port: Option<runtime::Port>,
    port_number: u32,
    timer_number: Rc<Cell<u32>>,
    sink: Rc<dyn Fn(Incoming)>,
    outbox_key: String,
}

impl Line {
    /// The line of a client, with what it left unanswered.
    pub async fn new(client_id: &str, sink: impl Fn(Incoming) + 'static) -> Self {
        let outbox_key = format!("{OUTBOX_PREFIX}{client_id}");
        let left_over = session_storage::get(&outbox_key).await.unwrap_or_default();
        let hash = panelot_protocol::ENGINE_SCHEMA_HASH.to_owned();
        Self {
            connection: Connection::new(ClientId::new(client_id), hash, &left_over),
            port: None,
            port_number: 0,
            timer_number: Rc::default(),
            sink: Rc::new(sink),
            outbox_key,
        }
    }

    /// The messages that have no answer.
    pub fn messages(&self) -> Vec<Outgoing> {
        self.connection.messages()
    }

    /// What came, unless its Port or timer is no more.
    pub fn read(&mut self, incoming: Incoming) -> Option<Read> {
        match incoming {
            Incoming::Text(number, text) if number == self.port_number => match wire::read(&text) {
                Heard::Frame(event) => Some(Read::Frame(event)),
                Heard::Unknown => None,
                Heard::Unreadable(what) => Some(Read::Unreadable(what)),
            },
            Incoming::Lost(number) if number == self.port_number => {
                self.port = None;
                Some(Read::Input(Input::Lost))
            }
            Incoming::Woke(number) if number == self.timer_number.get() => Some(Read::Input(Input::Woke)),
            Incoming::Text(..) | Incoming::Lost(_) | Incoming::Woke(_) => None,
        }
    }

    /// Feeds the machine and runs its effects.
    pub fn feed(&mut self, input: Input) -> Vec<Said> {
        let mut said = Vec::new();
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            for effect in self.connection.step(input, &mut Page) {
                if !self.run(effect, &mut said) {
                    inputs.push(if runtime::is_alive() { Input::Lost } else { Input::Gone });
                }
            }
        }
        said
    }

    /// Runs an effect. `false` when the Port could not be opened or is gone.
    fn run(&mut self, effect: Effect, said: &mut Vec<Said>) -> bool {
        match effect {
            Effect::Open => return self.open(),
            Effect::Close => {
                self.port = None;
                self.port_number = self.port_number.wrapping_add(1);
            }
            Effect::Post(text) => return self.port.as_ref().is_none_or(|port| port.post(&text)),
            Effect::Wake { at_ms } => self.wake(at_ms),
            Effect::Store(text) => session_storage::put(&self.outbox_key, &text),
            Effect::State(link) => said.push(Said::Link(link)),
            Effect::Refuse(op) => said.push(Said::Refused(op)),
        }
        true
    }

    fn open(&mut self) -> bool {
        self.port_number = self.port_number.wrapping_add(1);
        let number = self.port_number;
        let (heard, lost) = (Rc::clone(&self.sink), Rc::clone(&self.sink));
        self.port = runtime::Port::open(
            panelot_protocol::PORT_NAME,
            move |text| heard(Incoming::Text(number, text)),
            move || lost(Incoming::Lost(number)),
        );
        self.port.is_some()
    }

    fn wake(&self, at_ms: u64) {
        let number = self.timer_number.get().wrapping_add(1);
        self.timer_number.set(number);
        let sink = Rc::clone(&self.sink);
        let wait_ms = at_ms.saturating_sub(clock::now_ms());
        spawn_local(async move {
            clock::sleep_ms(wait_ms).await;
            sink(Incoming::Woke(number));
        });
    }
}

/// Sends what pages left unanswered that are no more, each under its own name, until it is answered.
pub async fn adopt_orphans(own_client_id: String) {
    for client_id in session_storage::keys_behind(OUTBOX_PREFIX).await {
        if client_id != own_client_id && locks::hold(&page::client_lock(&client_id)).await {
            spawn_local(adopt(client_id));
        }
    }
}

async fn adopt(client_id: String) {
    let (sender, mut receiver) = unbounded();
    let mut line = Line::new(&client_id, move |incoming| {
        let _ = sender.unbounded_send(incoming);
    })
    .await;
    if !line.connection.is_settled() {
        line.feed(Input::Start);
    }
    while !line.connection.is_settled() && !line.connection.link().is_over() {
        let Some(incoming) = receiver.next().await else { return };
        match line.read(incoming) {
            Some(Read::Frame(event)) => {
                let refused = refused(&line, &event.event);
                line.feed(Input::Heard(Box::new(event.event)));
                if let Some((mut sent, code)) = refused {
                    match instead(&mut sent, code, &mut Page) {
                        Some(op) => _ = line.feed(Input::Say(Box::new(op))),
                        None => shell::give_back(&sent),
                    }
                }
            }
            Some(Read::Input(input)) => {
                line.feed(input);
            }
            Some(Read::Unreadable(_)) | None => {}
        }
    }
}

/// The message that an event refuses, if it does.
fn refused(line: &Line, event: &AgentEvent) -> Option<(Outgoing, ErrorCode)> {
    let AgentEvent::CommandRejected { submission_id, code, .. } = event else { return None };
    let is_it = |sent: &Outgoing| {
        sent.submission_id == *submission_id || sent.place == Place::New(submission_id.clone())
    };
    line.messages().into_iter().find(is_it).map(|sent| (sent, *code))
}
