//! The machine that keeps a page connected: handshake, sign of life, back-off, and an outbox that outlives the Port.
//!
//! It does no input or output of its own. The page feeds it what happened and runs the effects that it answers with.

use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ClientId, SubmissionId, ThreadId};
use panelot_protocol::limits;
use panelot_protocol::op::{Op, SubscribeParams};

use crate::outgoing::{FirstMessage, Outgoing, Place};
use crate::wire;

/// How long the engine may take to answer `initialize`: a cold start with a large database fits well within it.
pub const INITIALIZE_TIMEOUT_MS: u64 = 10_000;
/// How long a `pong` may take before the Port counts as dead.
pub const PONG_TIMEOUT_MS: u64 = 10_000;
/// Most Ops that wait for an answer; more are refused to the page at once.
pub const OUTBOX_COUNT_MAX: usize = 256;
/// Most bytes that the Ops of one page without an answer may have: the browser gives all pages 10 MiB together.
pub const OUTBOX_BYTES_MAX: usize = 2 * 1_048_576;

/// What the machine needs from outside: time, chance and names.
pub trait Surroundings {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// A number from 0 to 1,000, evenly spread.
    fn chance_permille(&mut self) -> u64;
    /// A fresh UUID.
    fn submission_id(&mut self) -> SubmissionId;
}

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The page is there.
    Start,
    /// The Port was lost, or could not be opened.
    Lost,
    /// The engine said something. Its fold is the page's affair; the machine reads what concerns itself.
    Heard(Box<AgentEvent>),
    /// The time of the last [`Effect::Wake`] has come.
    Woke,
    /// The page wants to say something.
    Say(Box<Op>),
    /// The page wants a thread made and this sent into it.
    Begin(Box<Op>, Box<FirstMessage>),
    /// The extension that the page belongs to is no more: nothing answers any more.
    Gone,
    /// The page shows this thread from now on; after a reconnection it is subscribed to again.
    Show(Option<ThreadId>),
}

/// What the page is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Open a Port.
    Open,
    /// Close the Port.
    Close,
    /// Send this text over the Port.
    Post(String),
    /// Feed [`Input::Woke`] at this time; an earlier wish is void.
    Wake {
        /// Milliseconds since 1970.
        at_ms: u64,
    },
    /// Store this text for [`Connection::new`] of the page's next life; empty when there is nothing to keep.
    Store(String),
    /// The state that the page shows has changed.
    State(Link),
    /// The Op cannot be taken: too many wait for an answer.
    Refuse(Box<Op>),
}

/// The connection as a person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The first connection is being made.
    Connecting,
    /// Connected.
    Ready,
    /// Lost, and being made again.
    Reconnecting {
        /// How often it was tried since it was lost.
        attempts: u32,
    },
    /// The engine is of another build. Nothing more is tried.
    ReloadRequired,
    /// The extension was removed or replaced while the page was open. Nothing more is tried.
    Gone,
}

impl Link {
    /// Whether nothing more is tried.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::ReloadRequired | Self::Gone => true,
            Self::Connecting | Self::Ready | Self::Reconnecting { .. } => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Idle,
    /// The Port is open and `initialize` is out.
    Greeting {
        submission_id: SubmissionId,
        until_ms: u64,
    },
    /// The engine has answered.
    Ready {
        ping_at_ms: u64,
        pong_until_ms: Option<u64>,
    },
    /// No Port; the next one is opened at this time.
    Waiting {
        until_ms: u64,
    },
    /// The engine is of another build, or the extension is no more.
    Stopped(Stop),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    OtherBuild,
    Gone,
}

/// An Op that was said, kept as the text that goes over the Port: it is sent again byte for byte, and never has to
/// be read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    submission_id: SubmissionId,
    text: String,
    durable: bool,
    /// What is said once the thread is made that this Op asks for: an Op that lacks the thread's id.
    then: Option<String>,
}

impl Said {
    fn bytes(&self) -> usize {
        self.text.len().saturating_add(self.then.as_ref().map_or(0, String::len))
    }

    /// The message that it carries or leads to.
    fn message(&self) -> Option<Outgoing> {
        let Some(then) = &self.then else { return Outgoing::of_text(&self.text) };
        let message = Outgoing::of_text(then)?;
        Some(Outgoing { place: Place::New(self.submission_id.clone()), ..message })
    }
}

/// The connection of one page.
#[derive(Debug)]
pub struct Connection {
    client_id: ClientId,
    schema_hash: String,
    state: State,
    thread: Option<ThreadId>,
    /// Ops without an answer, in the order in which they were said.
    unanswered: Vec<Said>,
    attempts: u32,
    greeted_once: bool,
}

impl Connection {
    /// A connection that has not begun, with the last [`Effect::Store`] of an earlier life of the page. What cannot
    /// be read of it is dropped: it was not written here.
    #[must_use]
    pub fn new(client_id: ClientId, schema_hash: String, left_over: &str) -> Self {
        type Kept = (String, String, Option<String>);
        let left_over = serde_json::from_str::<Vec<Kept>>(left_over).unwrap_or_default();
        let kept =
            |(id, text, then)| Said { submission_id: SubmissionId::new(id), text, durable: true, then };
        Self {
            client_id,
            schema_hash,
            state: State::Idle,
            thread: None,
            unanswered: left_over.into_iter().map(kept).collect(),
            attempts: 0,
            greeted_once: false,
        }
    }

    /// The state that a person sees.
    #[must_use]
    pub fn link(&self) -> Link {
        match self.state {
            State::Ready { .. } => Link::Ready,
            State::Stopped(Stop::OtherBuild) => Link::ReloadRequired,
            State::Stopped(Stop::Gone) => Link::Gone,
            State::Idle | State::Greeting { .. } | State::Waiting { .. } => {
                if self.greeted_once || self.attempts > 1 {
                    Link::Reconnecting { attempts: self.attempts }
                } else {
                    Link::Connecting
                }
            }
        }
    }

    /// Whether an Op waits for its answer.
    #[must_use]
    pub fn awaits(&self, submission_id: &SubmissionId) -> bool {
        self.unanswered.iter().any(|said| said.submission_id == *submission_id)
    }

    /// The messages among what waits for an answer, in the order in which they were said.
    #[must_use]
    pub fn messages(&self) -> Vec<Outgoing> {
        self.unanswered.iter().filter_map(Said::message).collect()
    }

    /// Whether nothing waits for an answer.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// Takes what happened and says what to do.
    pub fn step(&mut self, input: Input, around: &mut dyn Surroundings) -> Vec<Effect> {
        let before = self.link();
        let mut effects = match input {
            Input::Start => match self.state {
                State::Idle => self.open(around),
                State::Greeting { .. } | State::Ready { .. } | State::Waiting { .. } | State::Stopped(_) => {
                    Vec::new()
                }
            },
            Input::Lost => self.lost(around),
            Input::Heard(event) => self.heard(&event, around),
            Input::Woke => self.woke(around),
            Input::Say(op) => self.say(op, None),
            Input::Begin(create, first) => self.say(create, Some(&first)),
            Input::Gone => {
                self.state = State::Stopped(Stop::Gone);
                vec![Effect::Close]
            }
            Input::Show(thread) => {
                self.thread = thread;
                Vec::new()
            }
        };
        let after = self.link();
        if after != before {
            effects.push(Effect::State(after));
        }
        effects
    }

    fn open(&mut self, around: &mut dyn Surroundings) -> Vec<Effect> {
        let submission_id = around.submission_id();
        let until_ms = around.now_ms().saturating_add(INITIALIZE_TIMEOUT_MS);
        self.attempts = self.attempts.saturating_add(1);
        let hello = Op::Initialize {
            submission_id: submission_id.clone(),
            protocol: panelot_protocol::ENGINE_PROTOCOL.to_owned(),
            schema_hash: self.schema_hash.clone(),
            client_id: self.client_id.clone(),
            subscribe: self.thread.clone().map(|thread_id| SubscribeParams { thread_id }),
        };
        self.state = State::Greeting { submission_id, until_ms };
        let mut effects = vec![Effect::Open];
        effects.extend(post(&hello));
        effects.push(Effect::Wake { at_ms: until_ms });
        effects
    }

    fn lost(&mut self, around: &mut dyn Surroundings) -> Vec<Effect> {
        match self.state {
            State::Stopped(_) | State::Idle | State::Waiting { .. } => return Vec::new(),
            State::Greeting { .. } | State::Ready { .. } => {}
        }
        let until_ms = around.now_ms().saturating_add(back_off_ms(self.attempts, around.chance_permille()));
        self.state = State::Waiting { until_ms };
        vec![Effect::Wake { at_ms: until_ms }]
    }

    fn woke(&mut self, around: &mut dyn Surroundings) -> Vec<Effect> {
        let now_ms = around.now_ms();
        match self.state.clone() {
            State::Idle | State::Stopped(_) => Vec::new(),
            State::Waiting { until_ms } if now_ms < until_ms => vec![Effect::Wake { at_ms: until_ms }],
            State::Waiting { .. } => self.open(around),
            State::Greeting { until_ms, .. } if now_ms < until_ms => vec![Effect::Wake { at_ms: until_ms }],
            State::Greeting { .. } => self.give_up(around),
            State::Ready { pong_until_ms: Some(until_ms), .. } if now_ms >= until_ms => self.give_up(around),
            State::Ready { ping_at_ms, pong_until_ms: None } if now_ms >= ping_at_ms => {
                let pong_until_ms = now_ms.saturating_add(PONG_TIMEOUT_MS);
                self.state = State::Ready {
                    ping_at_ms: now_ms.saturating_add(limits::PING_INTERVAL_MS),
                    pong_until_ms: Some(pong_until_ms),
                };
                let ping = Op::Ping { submission_id: around.submission_id() };
                let mut effects: Vec<Effect> = post(&ping).into_iter().collect();
                effects.push(Effect::Wake { at_ms: pong_until_ms });
                effects
            }
            State::Ready { ping_at_ms, pong_until_ms } => {
                vec![Effect::Wake { at_ms: pong_until_ms.unwrap_or(ping_at_ms) }]
            }
        }
    }

    /// The other side is silent: what is left of the Port is closed.
    fn give_up(&mut self, around: &mut dyn Surroundings) -> Vec<Effect> {
        let mut effects = vec![Effect::Close];
        effects.extend(self.lost(around));
        effects
    }

    fn heard(&mut self, event: &AgentEvent, around: &mut dyn Surroundings) -> Vec<Effect> {
        let now_ms = around.now_ms();
        match (event, &mut self.state) {
            (_, State::Stopped(_)) => return Vec::new(),
            (AgentEvent::FatalReloadRequired { .. }, _) => {
                self.state = State::Stopped(Stop::OtherBuild);
                return vec![Effect::Close];
            }
            (
                AgentEvent::Initialized { submission_id: answered, .. },
                State::Greeting { submission_id, .. },
            ) if answered == submission_id => {
                return self.greeted(now_ms);
            }
            (AgentEvent::Pong { .. }, State::Ready { pong_until_ms, ping_at_ms }) => {
                *pong_until_ms = None;
                return vec![Effect::Wake { at_ms: *ping_at_ms }];
            }
            _ => {}
        }
        let Some(answered) = ends_submission(event) else { return Vec::new() };
        let Some(at) = self.unanswered.iter().position(|said| said.submission_id == *answered) else {
            return Vec::new();
        };
        let said = self.unanswered.remove(at);
        let mut effects = Vec::new();
        if let AgentEvent::ThreadCreated { thread, .. } = event
            && let Some(text) = said.then.as_deref().and_then(|then| in_thread(then, &thread.thread_id))
            && let Some(next) = Outgoing::of_text(&text)
        {
            // In the place of the Op that it follows, so that one of both is stored at any time.
            let submission_id = next.submission_id;
            self.unanswered.insert(at, Said { submission_id, text: text.clone(), durable: true, then: None });
            effects.push(Effect::Post(text));
        }
        if said.durable {
            effects.insert(0, self.store());
        }
        effects
    }

    fn greeted(&mut self, now_ms: u64) -> Vec<Effect> {
        let ping_at_ms = now_ms.saturating_add(limits::PING_INTERVAL_MS);
        self.state = State::Ready { ping_at_ms, pong_until_ms: None };
        self.attempts = 0;
        self.greeted_once = true;
        let mut effects: Vec<Effect> =
            self.unanswered.iter().map(|said| Effect::Post(said.text.clone())).collect();
        effects.push(Effect::Wake { at_ms: ping_at_ms });
        effects
    }

    fn say(&mut self, op: Box<Op>, first: Option<&FirstMessage>) -> Vec<Effect> {
        if matches!(self.state, State::Stopped(_)) || self.unanswered.len() >= OUTBOX_COUNT_MAX {
            return vec![Effect::Refuse(op)];
        }
        // An Op that has no text, such as one with a number that is not finite, can only be refused.
        let Ok(text) = wire::write(&op) else { return vec![Effect::Refuse(op)] };
        let Ok(then) = first.map(submit_into_new).transpose() else { return vec![Effect::Refuse(op)] };
        let durable = !op.is_query();
        let mut effects = Vec::new();
        let said = Said { submission_id: op.submission_id().clone(), text: text.clone(), durable, then };
        let bytes = self.unanswered.iter().map(Said::bytes).fold(said.bytes(), usize::saturating_add);
        if durable && bytes > OUTBOX_BYTES_MAX {
            return vec![Effect::Refuse(op)];
        }
        self.unanswered.push(said);
        if durable {
            effects.push(self.store());
        }
        match self.state {
            State::Ready { .. } => effects.push(Effect::Post(text)),
            State::Idle | State::Greeting { .. } | State::Waiting { .. } | State::Stopped(_) => {}
        }
        effects
    }

    fn store(&self) -> Effect {
        let kept: Vec<(&str, &str, Option<&str>)> = self
            .unanswered
            .iter()
            .filter(|said| said.durable)
            .map(|said| (said.submission_id.as_str(), said.text.as_str(), said.then.as_deref()))
            .collect();
        if kept.is_empty() {
            return Effect::Store(String::new());
        }
        // Texts always have a JSON form.
        Effect::Store(serde_json::to_string(&kept).unwrap_or_default())
    }
}

/// The effect that sends an Op without keeping it.
fn post(op: &Op) -> Option<Effect> {
    wire::write(op).ok().map(Effect::Post)
}

/// The Op that sends a first message, with the thread's id left empty.
fn submit_into_new(first: &FirstMessage) -> Result<String, serde_json::Error> {
    wire::write(&Op::TurnSubmit {
        submission_id: first.submission_id.clone(),
        thread_id: ThreadId::new(""),
        input: first.input.clone(),
        overrides: first.overrides.clone(),
    })
}

/// The text of an Op with the thread's id filled in; `None` when it is no JSON object.
fn in_thread(text: &str, thread_id: &ThreadId) -> Option<String> {
    let mut op: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    op.insert("threadId".to_owned(), thread_id.as_str().into());
    serde_json::to_string(&op).ok()
}

/// The pause before a connection is tried again: doubling from 250 ms to 8 s, and of that between a half and all.
fn back_off_ms(attempts: u32, chance_permille: u64) -> u64 {
    let doubled = limits::RECONNECT_MS_MIN.checked_shl(attempts.min(16)).unwrap_or(u64::MAX);
    let whole = doubled.clamp(limits::RECONNECT_MS_MIN, limits::RECONNECT_MS_MAX);
    let half = (whole / 2).max(limits::RECONNECT_MS_MIN);
    half + (whole - half) * chance_permille.min(1_000) / 1_000
}

/// The submission that an event answers for good. A chunk of an export answers with the last one.
#[must_use]
pub fn ends_submission(event: &AgentEvent) -> Option<&SubmissionId> {
    let has_more = matches!(event, AgentEvent::DataExported { total: None, .. });
    if has_more { None } else { event.submission_id() }
}
