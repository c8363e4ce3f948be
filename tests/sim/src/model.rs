//! The scripted model: it reacts to the history that it is sent, and checks that history on the way.

use crate::plan::Spoil;
use panelot_testkit::http::{Reply, Step, end_steps, text_step};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The title that the model finds.
pub const FOUND_TITLE: &str = "A task";
/// Looks of a task that looks around at once.
const LOOKS_COUNT: usize = 3;
/// Calls of an answer that waits.
const WAIT_CALLS_COUNT: usize = 2;
/// Calls of the longest task.
const CALLS_COUNT_MAX: usize = 4;
/// The text that a watched page shows once what was awaited is there.
pub const AWAITED_TEXT: &str = "Shipped";
/// What it says when it reaches its limit.
const CUT_TEXT: &str = "half an ans";

/// The model. Clones are handles to the same.
#[derive(Clone)]
pub struct Model {
    inner: Rc<Inner>,
}

struct Inner {
    spoils: Vec<Option<Spoil>>,
    calls: Cell<usize>,
    titles: Cell<usize>,
    calm: Cell<bool>,
    violations: RefCell<Vec<String>>,
    /// The texts of all answers, whole.
    said: RefCell<BTreeSet<String>>,
}

impl Model {
    /// A model with what will be wrong with its answers.
    pub fn new(spoils: Vec<Option<Spoil>>) -> Self {
        let inner = Inner {
            spoils,
            calls: Cell::new(0),
            titles: Cell::new(0),
            calm: Cell::new(false),
            violations: RefCell::default(),
            said: RefCell::default(),
        };
        Self { inner: Rc::new(inner) }
    }

    /// From now on it answers without a fault.
    pub fn calm(&self) {
        self.inner.calm.set(true);
    }

    /// What was wrong with the requests so far.
    pub fn violations(&self) -> Vec<String> {
        self.inner.violations.borrow().clone()
    }

    /// Whether a text is all that it said in some answer.
    pub fn said(&self, text: &str) -> bool {
        self.inner.said.borrow().contains(text)
    }

    /// Whether a text is the begin of all that it said in some answer.
    pub fn began(&self, text: &str) -> bool {
        let said = self.inner.said.borrow();
        said.range(text.to_owned()..).next().is_some_and(|whole| whole.starts_with(text))
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.inner.calls.get()
    }

    /// The answer to a request.
    pub fn reply(&self, body: &Value) -> Reply {
        let none = Vec::new();
        let messages = body["messages"].as_array().unwrap_or(&none);
        self.check(messages);
        let reply = self.act(messages);
        let number = self.inner.calls.replace(self.inner.calls.get() + 1);
        match self.inner.spoils.get(number).copied().flatten() {
            Some(spoil) if !self.inner.calm.get() => self.spoil(reply, spoil),
            Some(_) | None => reply,
        }
    }

    /// The answer to a request for a title.
    pub fn title(&self) -> Reply {
        let number = self.inner.titles.replace(self.inner.titles.get() + 1);
        match self.inner.spoils.get(number).copied().flatten() {
            Some(spoil) if !self.inner.calm.get() => self.spoil(Reply::text(&[FOUND_TITLE]), spoil),
            Some(_) | None => Reply::text(&[FOUND_TITLE]),
        }
    }

    fn say(&self, pieces: &[&str]) -> Reply {
        self.inner.said.borrow_mut().insert(pieces.concat());
        Reply::text(pieces)
    }

    fn call(&self, text: &str, calls: &[(&str, Value)]) -> Reply {
        self.inner.said.borrow_mut().insert(text.to_owned());
        Reply::calls(text, calls)
    }

    /// The task is the last message of a user; how far it is, the results after it say.
    fn act(&self, messages: &[Value]) -> Reply {
        let found = messages.iter().enumerate().rev().find_map(|(place, message)| {
            (message["role"] == "user").then(|| task_of(message).map(|task| (place, task)))?
        });
        let Some((place, task)) = found else { return self.say(&["Nothing to do."]) };
        if task.stubborn {
            // It learns nothing and never ends by itself, also when no calls are asked for.
            return self.call("", &[("click", json!({ "ref": "nowhere" }))]);
        }
        let results = messages[place..].iter().filter(|message| message["role"] == "tool").count();
        if let Some(wait) = &task.wait
            && results < WAIT_CALLS_COUNT
        {
            // A look in the same answer must keep its place behind the wait.
            return self.call("Waiting.", &[wait.call(), ("tabs_list", json!({}))]);
        }
        let results = if task.wait.is_some() { results - WAIT_CALLS_COUNT } else { results };
        if task.looks && results == 0 && task.steps > 0 {
            let read = || ("read_page", json!({}));
            return self.call("Looking around.", &[read(), ("tabs_list", json!({})), read()]);
        }
        // The looks at once are one step.
        let done = if task.looks { results.saturating_sub(LOOKS_COUNT - 1) } else { results };
        if done >= task.steps.min(CALLS_COUNT_MAX) {
            return self.say(&["Done with ", &task.name, ", all of it", "."]);
        }
        if done == 0 && task.reads {
            return self.call("Looking.", &[("read_page", json!({}))]);
        }
        let write = |number: usize| {
            let text = format!("{}#{number}", task.name);
            ("type", json!({ "ref": "e1", "text": text }))
        };
        if task.bad_calls && done == 1 {
            return self.call("", &[("type", json!({ "ref": 7 })), ("no_such_tool", json!({}))]);
        }
        if task.wide {
            return self.call("Typing twice.", &[write(done), write(done + 1)]);
        }
        self.call("Typing.", &[write(done)])
    }

    fn spoil(&self, mut reply: Reply, spoil: Spoil) -> Reply {
        match spoil {
            Spoil::Broken { at } => reply.body = cut(&reply, at).0.into_iter().chain([Step::Break]).collect(),
            Spoil::Ended { at } => reply.body = cut(&reply, at).0,
            Spoil::Unclosed => _ = reply.body.pop(),
            Spoil::Pause { at, ms } => {
                let (before, after) = cut(&reply, at);
                reply.body = before.into_iter().chain([Step::Wait(ms)]).chain(after).collect();
            }
            Spoil::Hang { at } => reply.body = cut(&reply, at).0.into_iter().chain([Step::Hang]).collect(),
            Spoil::Shredded { bytes } => {
                let whole = bytes_of(&reply);
                reply.body = whole.chunks(bytes.into()).map(|piece| Step::Bytes(piece.to_vec())).collect();
            }
            Spoil::SlowHead(ms) => reply.head_ms = ms,
            Spoil::Overloaded => {
                return Reply::refusal(503, &json!({ "error": { "message": "overloaded" } }));
            }
            Spoil::Later(seconds) => {
                return Reply::refusal(429, &json!({ "error": { "message": "slow down" } }))
                    .with_header("retry-after", &seconds.to_string());
            }
            Spoil::Unauthorized => {
                return Reply::refusal(401, &json!({ "error": { "message": "this key is not known" } }));
            }
            Spoil::TooLong => {
                self.inner.said.borrow_mut().insert(CUT_TEXT.to_owned());
                reply.body = vec![text_step(CUT_TEXT)];
                reply.body.extend(end_steps("length"));
            }
        }
        reply
    }

    /// Each call has exactly one result, right after its answer; no id stands for two calls.
    fn check(&self, messages: &[Value]) {
        let mut open: Vec<&str> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for message in messages {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|call| *call == id) {
                    Some(0) => _ = open.remove(0),
                    Some(place) => {
                        open.remove(place);
                        self.violated(format!(
                            "the result of {id:?} comes before those of the calls before it"
                        ));
                    }
                    None => self.violated(format!("a result for {id:?}, which is not open")),
                }
                continue;
            }
            if !open.is_empty() {
                self.violated(format!("calls without a result before the next message: {open:?}"));
                open.clear();
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let id = call["id"].as_str().unwrap_or_default();
                if id.is_empty() || !seen.insert(id) {
                    self.violated(format!("the call id {id:?} is empty or not its own"));
                }
                open.push(id);
            }
        }
        if !open.is_empty() {
            self.violated(format!("calls without a result at the end: {open:?}"));
        }
    }

    fn violated(&self, what: String) {
        self.inner.violations.borrow_mut().push(what);
    }
}

fn bytes_of(reply: &Reply) -> Vec<u8> {
    let bytes = reply.body.iter().filter_map(|step| match step {
        Step::Bytes(bytes) => Some(bytes.as_slice()),
        Step::Wait(_) | Step::Break | Step::Hang => None,
    });
    bytes.collect::<Vec<_>>().concat()
}

/// A body in two at a place, in thousandths of its bytes. Steps that stay whole are left as they are.
fn cut(reply: &Reply, at: u16) -> (Vec<Step>, Vec<Step>) {
    let mut left = bytes_of(reply).len() * usize::from(at) / 1_000;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for step in &reply.body {
        match step {
            Step::Bytes(bytes) => {
                let (head, tail) = bytes.split_at(left.min(bytes.len()));
                left -= head.len();
                before.extend((!head.is_empty()).then(|| Step::Bytes(head.to_vec())));
                after.extend((!tail.is_empty()).then(|| Step::Bytes(tail.to_vec())));
            }
            Step::Wait(_) | Step::Break | Step::Hang => before.push(step.clone()),
        }
    }
    (before, after)
}

/// What a task begins with, when it waits: the tool, and for how long.
struct Wait {
    tool: String,
    seconds: u64,
}

impl Wait {
    fn call(&self) -> (&str, Value) {
        let seconds = self.seconds;
        let arguments = match self.tool.as_str() {
            "ask_user" => {
                json!({ "question": "Which?", "options": ["Red", "Blue"], "timeoutSeconds": seconds })
            }
            "request_user_action" => json!({ "instruction": "Log in.", "timeoutSeconds": seconds }),
            "watch_page" => json!({ "text": AWAITED_TEXT, "timeoutSeconds": seconds }),
            _ => json!({ "inSeconds": seconds, "reason": "Look again." }),
        };
        (&self.tool, arguments)
    }
}

/// A task as a user words it: `task NAME steps N [reads] [bad] [wide] [looks] [stubborn] [waits TOOL SECONDS]`.
struct Task {
    name: String,
    steps: usize,
    reads: bool,
    bad_calls: bool,
    wide: bool,
    looks: bool,
    stubborn: bool,
    wait: Option<Wait>,
}

fn task_of(message: &Value) -> Option<Task> {
    let joined;
    let text = match &message["content"] {
        Value::String(text) => text,
        Value::Array(parts) => {
            joined = parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>();
            &joined
        }
        _ => return None,
    };
    let words: Vec<&str> = text.split_whitespace().skip_while(|word| *word != "task").collect();
    let (name, steps) = match words.as_slice() {
        ["task", name, "steps", steps, ..] => (*name, *steps),
        _ => return None,
    };
    let wait = words.iter().position(|word| *word == "waits").and_then(|at| {
        let (tool, seconds) = (words.get(at + 1)?, words.get(at + 2)?);
        Some(Wait { tool: (*tool).to_owned(), seconds: seconds.parse().ok()? })
    });
    Some(Task {
        wait,
        name: name.to_owned(),
        steps: steps.parse().ok()?,
        reads: words.contains(&"reads"),
        bad_calls: words.contains(&"bad"),
        wide: words.contains(&"wide"),
        looks: words.contains(&"looks"),
        stubborn: words.contains(&"stubborn"),
    })
}
