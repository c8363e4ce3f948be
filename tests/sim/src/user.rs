//! A user with a page: sends Ops, sends them again until they are answered, and keeps what it shows.

use panelot_engine::Engine;
use panelot_engine::ports::{ConnectionKey, Entropy};
use panelot_protocol::decode::decode_event;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{ClientId, ItemId, SubmissionId, ThreadId};
use panelot_protocol::op::{Op, SubscribeParams};
use panelot_protocol::view::{Folded, ResubscribeReason, ThreadView};
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use panelot_testkit::SimWorld;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How the engine refuses another message under an old number.
const MISUSE_WORDS: &str = "was used before for another";

/// What became of an Op.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// The Op.
    pub op: Op,
    /// How often it reached an engine.
    pub delivered: usize,
    /// Every answer that came, as it was written on the wire.
    pub answers: Vec<String>,
    /// The first answer.
    pub event: Option<AgentEvent>,
}

/// What happens to a message on its way to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpFault {
    /// It does not arrive.
    Lost,
    /// It arrives twice.
    Twice,
    /// It arrives behind the next one.
    Late,
}

/// What happens to events on their way to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFault {
    /// One does not arrive.
    Lost,
    /// One arrives twice.
    Twice,
    /// Two arrive in the other order.
    Swapped,
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
    /// Whether a revision of its thread came that nobody had told it of.
    pub untold: bool,
    /// Whether this connection lost or mixed up messages: only a new one makes the page sure again.
    pub disturbed: bool,
    /// The fault of the next message to the engine.
    pub op_fault: Cell<Option<OpFault>>,
    /// The fault of the next events.
    pub event_fault: Option<EventFault>,
    /// What did not hold on the way.
    pub observed: Vec<String>,
    places: BTreeMap<SubmissionId, usize>,
    /// Submissions under which something else was sent, and how often that was refused.
    misuses: BTreeMap<SubmissionId, u32>,
    /// Questions of this connection with the number of their answers.
    asked_count: BTreeMap<SubmissionId, (String, u32)>,
    /// The newest answers to questions.
    pub heard: BTreeMap<SubmissionId, AgentEvent>,
    /// The newest revision that was seen of each thread.
    revisions: BTreeMap<ThreadId, u64>,
    /// When each question to the user and each wait runs out.
    deadlines: BTreeMap<ItemId, u64>,
    /// The last question for a thread, while it is not answered.
    asked: Option<SubmissionId>,
    connection: Option<ConnectionKey>,
    /// A message that comes late.
    held: RefCell<Option<Op>>,
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
            untold: false,
            disturbed: false,
            op_fault: Cell::new(None),
            event_fault: None,
            observed: Vec::new(),
            places: BTreeMap::new(),
            misuses: BTreeMap::new(),
            asked_count: BTreeMap::new(),
            heard: BTreeMap::new(),
            revisions: BTreeMap::new(),
            deadlines: BTreeMap::new(),
            asked: None,
            connection: None,
            held: RefCell::default(),
        }
    }

    /// Connects, shakes hands and sends again what was not answered.
    pub fn connect(&mut self, world: &SimWorld, engine: &Rc<Engine<SimWorld>>, key: ConnectionKey) {
        self.connection = Some(key);
        self.disturbed = false;
        engine.connect(key);
        let hello = Op::Initialize {
            submission_id: SubmissionId::new(world.entropy.uuid()),
            protocol: ENGINE_PROTOCOL.to_owned(),
            schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
            client_id: self.client.clone(),
            subscribe: self.thread.clone().map(|thread_id| SubscribeParams { thread_id }),
        };
        self.deliver(engine, &hello);
        let unanswered: Vec<Op> =
            self.submitted.iter().filter(|sent| sent.event.is_none()).map(|sent| sent.op.clone()).collect();
        for op in &unanswered {
            self.deliver(engine, op);
        }
    }

    /// The page goes away without a word.
    pub fn disconnect(&mut self, engine: &Engine<SimWorld>) {
        if let Some(key) = self.connection {
            engine.disconnected(key);
        }
        self.cut();
    }

    /// The worker is gone, and the connection with it.
    pub fn cut(&mut self) {
        self.asked = None;
        self.connection = None;
        self.held.borrow_mut().take();
        self.asked_count.clear();
        self.op_fault.set(None);
        self.event_fault = None;
    }

    /// Whether it is connected.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether a thread was asked for and did not come yet.
    pub fn is_waiting(&self) -> bool {
        self.lost || self.asked.is_some()
    }

    /// Whether something that it sent has no answer.
    pub fn has_unanswered(&self) -> bool {
        self.submitted.iter().any(|sent| sent.event.is_none())
    }

    /// Questions of a sound connection that were not answered once.
    pub fn badly_answered(&self) -> Vec<String> {
        let bad = self.asked_count.values().filter(|(_, count)| *count != 1);
        bad.filter(|_| !self.disturbed)
            .map(|(what, count)| format!("{what} was answered {count} times"))
            .collect()
    }

    /// Sends an Op and remembers it until it is answered.
    pub fn submit(&mut self, engine: &Engine<SimWorld>, op: Op) {
        self.places.insert(op.submission_id().clone(), self.submitted.len());
        self.submitted.push(Submitted { op: op.clone(), delivered: 0, answers: Vec::new(), event: None });
        self.post(engine, &op);
    }

    /// Asks a question, which has one answer on this connection.
    pub fn ask(&mut self, engine: &Engine<SimWorld>, op: &Op) {
        if self.connection.is_some() {
            let what = format!("{} {}", op.command_type(), op.submission_id());
            self.asked_count.insert(op.submission_id().clone(), (what, 0));
        }
        self.post(engine, op);
    }

    /// Sends an Op that nobody remembers, with what happens to it on its way.
    pub fn post(&mut self, engine: &Engine<SimWorld>, op: &Op) {
        match self.op_fault.take() {
            None => self.deliver(engine, op),
            Some(OpFault::Twice) => {
                self.deliver(engine, op);
                self.deliver(engine, op);
                self.disturbed = true;
            }
            Some(OpFault::Lost) => self.disturbed = true,
            Some(OpFault::Late) => {
                self.disturbed = true;
                *self.held.borrow_mut() = Some(op.clone());
                return;
            }
        }
        let held = self.held.borrow_mut().take();
        if let Some(held) = held {
            self.deliver(engine, &held);
        }
    }

    /// Sends something else under an old submission.
    pub fn misuse(&mut self, engine: &Engine<SimWorld>, op: &Op) {
        let Some(key) = self.connection else { return };
        *self.misuses.entry(op.submission_id().clone()).or_default() += 1;
        engine.message(key, &serde_json::to_string(op).expect("an Op has a JSON form"));
    }

    fn deliver(&mut self, engine: &Engine<SimWorld>, op: &Op) {
        let Some(key) = self.connection else { return };
        if let Some(place) = self.places.get(op.submission_id())
            && let Some(sent) = self.submitted.get_mut(*place)
        {
            sent.delivered += 1;
        }
        engine.message(key, &serde_json::to_string(op).expect("an Op has a JSON form"));
    }

    /// Shows a thread.
    pub fn show(&mut self, world: &SimWorld, engine: &Engine<SimWorld>, thread_id: &ThreadId) {
        self.thread = Some(thread_id.clone());
        self.lost = false;
        let submission_id = SubmissionId::new(world.entropy.uuid());
        self.asked = Some(submission_id.clone());
        self.ask(engine, &Op::ThreadSubscribe { submission_id, thread_id: thread_id.clone() });
    }

    /// Takes what came.
    pub fn read(&mut self, world: &SimWorld) {
        let Some(key) = self.connection else { return };
        let mut texts: Vec<(String, bool)> =
            world.clients.take_texts(key).into_iter().map(|text| (text, false)).collect();
        self.mix_up(&mut texts);
        for (text, echo) in texts {
            let frame = match decode_event(&text) {
                Ok(Some(frame)) => frame,
                Ok(None) => panic!("the engine sent an event that pages do not know: {text}"),
                Err(error) => panic!("the engine sent what no page can read: {error}: {text}"),
            };
            if !echo {
                self.note_answer(&frame.event, &text);
            }
            self.note_refusal(&frame.event);
            self.fold(&frame);
            self.note_view();
        }
    }

    /// Lets the planned fault happen to what came.
    fn mix_up(&mut self, texts: &mut Vec<(String, bool)>) {
        let middle = texts.len() / 2;
        match self.event_fault {
            Some(EventFault::Lost) if !texts.is_empty() => _ = texts.remove(middle),
            Some(EventFault::Twice) if !texts.is_empty() => {
                texts.insert(middle + 1, (texts[middle].0.clone(), true));
            }
            // A snapshot stays where it is: the Port keeps the order of what the page asked for.
            Some(EventFault::Swapped) => {
                let is_event = |place: &usize| {
                    [place - 1, *place].iter().all(|at| !texts[*at].0.contains("\"snapshot\""))
                };
                let Some(place) = (1..texts.len()).find(is_event) else { return };
                texts.swap(place - 1, place);
            }
            Some(EventFault::Lost | EventFault::Twice) | None => return,
        }
        self.event_fault = None;
        self.disturbed = true;
    }

    fn note_answer(&mut self, event: &AgentEvent, text: &str) {
        let Some(submission) = event.submission_id() else { return };
        if let Some(misuses) = self.misuses.get_mut(submission)
            && *misuses > 0
            && matches!(event, AgentEvent::CommandRejected { message, .. } if message.contains(MISUSE_WORDS))
        {
            *misuses -= 1;
            return;
        }
        if let Some((_, count)) = self.asked_count.get_mut(submission) {
            *count += 1;
            self.heard.insert(submission.clone(), event.clone());
        }
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

    /// What a page shows of a thread never becomes older, and a question's deadline stays.
    fn note_view(&mut self) {
        let Some(view) = &self.view else { return };
        let revision = view.snapshot.thread.revision;
        let newest = match self.revisions.get_mut(view.thread_id()) {
            Some(newest) => newest,
            None => self.revisions.entry(view.thread_id().clone()).or_default(),
        };
        if revision < *newest {
            self.observed.push(format!("revision {revision} of {} came after {newest}", view.thread_id()));
        }
        *newest = revision.max(*newest);
        let approvals = view.snapshot.approvals.iter();
        let questions =
            approvals.map(|approval| (ItemId::from(&approval.approval_id), approval.request.deadline_ms));
        let waits = view
            .snapshot
            .interactions
            .iter()
            .filter_map(|wait| Some((ItemId::from(&wait.interaction_id), wait.request.deadline_ms()?)));
        for (id, deadline_ms) in questions.chain(waits) {
            let first = *self.deadlines.entry(id.clone()).or_insert(deadline_ms);
            if first != deadline_ms {
                self.observed.push(format!("the deadline of {id} was {first} and is {deadline_ms}"));
                self.deadlines.insert(id, deadline_ms);
            }
        }
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
                Some(Folded::Resubscribe(reason)) => self.miss(reason),
                Some(Folded::Deleted) => {
                    self.view = None;
                    self.thread = None;
                }
                Some(Folded::Current | Folded::Ignored) | None => {}
            },
        }
    }

    /// A view that does not go on by events is asked for anew; nothing may be missing on a sound connection.
    fn miss(&mut self, reason: ResubscribeReason) {
        match reason {
            ResubscribeReason::Gap | ResubscribeReason::UnknownItem
                if !self.disturbed && !self.is_waiting() =>
            {
                self.observed.push(format!("an event is missing although none was lost: {reason:?}"));
            }
            ResubscribeReason::UntoldRevision => self.untold = true,
            ResubscribeReason::Gap
            | ResubscribeReason::UnknownItem
            | ResubscribeReason::NewEpoch
            | ResubscribeReason::PathReplaced => {}
        }
        self.lost = true;
    }
}
