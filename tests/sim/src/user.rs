//! A user with a page: sends Ops, sends them again until they are answered, and keeps what it shows.

use panelot_engine::Engine;
use panelot_engine::ports::{ConnectionKey, Entropy};
use panelot_protocol::decode::decode_event;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{ClientId, SubmissionId, ThreadId};
use panelot_protocol::op::{Op, SubscribeParams};
use panelot_protocol::view::{Folded, ThreadView};
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use panelot_testkit::SimWorld;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What became of an Op.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// The Op.
    pub op: Op,
    /// Every answer that came, as it was written on the wire.
    pub answers: Vec<String>,
    /// The first answer.
    pub event: Option<AgentEvent>,
}

/// One page over all its connections.
pub struct User {
    /// Its identity, the same over reconnections.
    pub client: ClientId,
    /// Every Op that is not a query, in the order of sending.
    pub submitted: Vec<Submitted>,
    /// The thread that it shows.
    pub thread: Option<ThreadId>,
    /// What it shows of it.
    pub view: Option<ThreadView>,
    /// Whether its view must be asked for again.
    pub lost: bool,
    places: BTreeMap<SubmissionId, usize>,
    /// What did not hold on the way.
    pub observed: Vec<String>,
    /// The newest revision that was seen of each thread.
    revisions: BTreeMap<ThreadId, u64>,
    /// The last question for a thread, while it is not answered.
    asked: Option<SubmissionId>,
    connection: Option<ConnectionKey>,
}

impl User {
    /// A user with a number.
    pub fn new(number: u32) -> Self {
        Self {
            client: ClientId::new(format!("00000000-0000-4000-8000-{number:012}")),
            submitted: Vec::new(),
            thread: None,
            view: None,
            lost: false,
            places: BTreeMap::new(),
            observed: Vec::new(),
            revisions: BTreeMap::new(),
            asked: None,
            connection: None,
        }
    }

    /// Connects, shakes hands and sends again what was not answered.
    pub fn connect(&mut self, world: &SimWorld, engine: &Rc<Engine<SimWorld>>, key: ConnectionKey) {
        self.connection = Some(key);
        engine.connect(key);
        let hello = Op::Initialize {
            submission_id: SubmissionId::new(world.entropy.uuid()),
            protocol: ENGINE_PROTOCOL.to_owned(),
            schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
            client_id: self.client.clone(),
            subscribe: self.thread.clone().map(|thread_id| SubscribeParams { thread_id }),
        };
        self.post(engine, &hello);
        let unanswered: Vec<Op> =
            self.submitted.iter().filter(|sent| sent.event.is_none()).map(|sent| sent.op.clone()).collect();
        for op in &unanswered {
            self.post(engine, op);
        }
    }

    /// The page goes away without a word.
    pub fn disconnect(&mut self, engine: &Engine<SimWorld>) {
        self.asked = None;
        if let Some(key) = self.connection.take() {
            engine.disconnected(key);
        }
    }

    /// The worker is gone, and the connection with it.
    pub fn cut(&mut self) {
        self.asked = None;
        self.connection = None;
    }

    /// Whether it is connected.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether a thread was asked for and did not come yet.
    pub fn is_waiting(&self) -> bool {
        self.lost || self.asked.is_some()
    }

    /// Sends an Op and remembers it until it is answered.
    pub fn submit(&mut self, engine: &Engine<SimWorld>, op: Op) {
        self.post(engine, &op);
        self.places.insert(op.submission_id().clone(), self.submitted.len());
        self.submitted.push(Submitted { op, answers: Vec::new(), event: None });
    }

    /// Sends an Op that nobody remembers: a query, or one sent twice.
    pub fn post(&self, engine: &Engine<SimWorld>, op: &Op) {
        if let Some(key) = self.connection {
            engine.message(key, &serde_json::to_string(op).expect("an Op has a JSON form"));
        }
    }

    /// Shows a thread.
    pub fn show(&mut self, world: &SimWorld, engine: &Engine<SimWorld>, thread_id: &ThreadId) {
        self.thread = Some(thread_id.clone());
        self.lost = false;
        let submission_id = SubmissionId::new(world.entropy.uuid());
        self.asked = Some(submission_id.clone());
        self.post(engine, &Op::ThreadSubscribe { submission_id, thread_id: thread_id.clone() });
    }

    /// Takes what came.
    pub fn read(&mut self, world: &SimWorld) {
        let Some(key) = self.connection else { return };
        for text in world.clients.take_texts(key) {
            let frame = match decode_event(&text) {
                Ok(Some(frame)) => frame,
                Ok(None) => panic!("the engine sent an event that pages do not know: {text}"),
                Err(error) => panic!("the engine sent what no page can read: {error}: {text}"),
            };
            self.note_answer(&frame.event, &text);
            self.note_refusal(&frame.event);
            self.fold(&frame);
            self.note_revision();
        }
    }

    fn note_answer(&mut self, event: &AgentEvent, text: &str) {
        let submission = match event {
            AgentEvent::CommandAck { submission_id, .. }
            | AgentEvent::CommandRejected { submission_id, .. }
            | AgentEvent::ThreadCreated { submission_id, .. }
            | AgentEvent::ThreadForked { submission_id, .. } => submission_id,
            AgentEvent::SettingsUpdated { submission_id: Some(submission_id), .. } => submission_id,
            _ => return,
        };
        if let Some(place) = self.places.get(submission) {
            let sent = &mut self.submitted[*place];
            sent.answers.push(text.to_owned());
            if sent.event.is_none() {
                sent.event = Some(event.clone());
            }
        }
    }

    /// A thread that cannot be shown: a deleted one leads to an empty draft, another one is asked for again.
    fn note_refusal(&mut self, event: &AgentEvent) {
        let AgentEvent::CommandRejected { submission_id, code, .. } = event else { return };
        if self.asked.as_ref() != Some(submission_id) {
            return;
        }
        self.asked = None;
        if *code == ErrorCode::ThreadNotFound {
            self.view = None;
            self.thread = None;
        } else {
            self.lost = true;
        }
    }

    /// What a page shows of a thread never becomes older.
    fn note_revision(&mut self) {
        let Some(view) = &self.view else { return };
        let revision = view.snapshot.thread.revision;
        let newest = self.revisions.entry(view.thread_id().clone()).or_default();
        if revision < *newest {
            self.observed.push(format!("revision {revision} of {} came after {newest}", view.thread_id()));
        }
        *newest = revision.max(*newest);
    }

    fn fold(&mut self, frame: &EventFrame) {
        match &frame.event {
            AgentEvent::Initialized { snapshot: Some(snapshot), .. }
            | AgentEvent::ThreadSubscribed { snapshot, .. } => {
                if Some(&snapshot.thread.thread_id) == self.thread.as_ref() {
                    self.asked = None;
                    self.view = Some(ThreadView::new((**snapshot).clone()));
                    self.lost = false;
                }
            }
            AgentEvent::Initialized { snapshot: None, .. } => self.lost = self.thread.is_some(),
            _ => match self.view.as_mut().map(|view| view.fold(frame)) {
                Some(Folded::Resubscribe(_)) => self.lost = true,
                Some(Folded::Deleted) => {
                    self.view = None;
                    self.thread = None;
                }
                Some(Folded::Current | Folded::Ignored) | None => {}
            },
        }
    }
}
