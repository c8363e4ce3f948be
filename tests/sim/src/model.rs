//! The scripted model: it reacts to the history that it is sent, and checks that history on the way.

use panelot_testkit::Seeded;
use panelot_testkit::http::{Reply, Step, end_steps, text_step};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The title that the model finds.
pub const FOUND_TITLE: &str = "A task";
/// Steps of the longest task.
const STEPS_COUNT_MAX: usize = 4;

/// The model. Clones are handles to the same.
#[derive(Clone)]
pub struct Model {
    random: Seeded,
    faulty: Rc<Cell<bool>>,
    violations: Rc<RefCell<Vec<String>>>,
}

impl Model {
    /// A model whose whims a seed determines.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Seeded::new(seed ^ 0x1111_2222),
            faulty: Rc::new(Cell::new(true)),
            violations: Rc::default(),
        }
    }

    /// From now on it answers without a fault.
    pub fn calm(&self) {
        self.faulty.set(false);
    }

    /// What was wrong with the requests so far.
    pub fn violations(&self) -> Vec<String> {
        self.violations.borrow().clone()
    }

    /// The answer to a request.
    pub fn reply(&self, body: &Value) -> Reply {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        self.check(&messages);
        let reply = self.act(&messages);
        if self.faulty.get() { self.spoil(reply) } else { reply }
    }

    /// The answer to a request for a title.
    pub fn title(&self) -> Reply {
        let reply = Reply::text(&[FOUND_TITLE]);
        if self.faulty.get() { self.spoil(reply) } else { reply }
    }

    /// The task is the last message of a user; how far it is, the results after it say.
    fn act(&self, messages: &[Value]) -> Reply {
        let is_task = |message: &Value| message["role"] == "user" && task_of(message).is_some();
        let Some(place) = messages.iter().rposition(is_task) else { return Reply::text(&["Nothing to do."]) };
        let task = task_of(&messages[place]).expect("looked for above");
        if task.stubborn {
            // It learns nothing and never ends by itself, also when no calls are asked for.
            return Reply::calls("", &[("click", json!({ "ref": "nowhere" }))]);
        }
        let results = messages[place..].iter().filter(|message| message["role"] == "tool").count();
        // Three looks at once are one step.
        let done = if task.wide { results.saturating_sub(2) } else { results };
        if done >= task.steps.min(STEPS_COUNT_MAX) {
            return Reply::text(&["Done with ", &task.name, "."]);
        }
        if results == 0 && task.wide {
            let read = || ("read_page", json!({}));
            return Reply::calls("Looking around.", &[read(), ("tabs_list", json!({})), read()]);
        }
        if done == 0 && task.reads {
            return Reply::calls("Looking.", &[("read_page", json!({}))]);
        }
        let text = format!("{}#{done}", task.name);
        let write = json!({ "ref": "e1", "text": text });
        if task.bad_calls && done == 1 {
            return Reply::calls("", &[("type", json!({ "ref": 7 })), ("no_such_tool", json!({}))]);
        }
        Reply::calls("Typing.", &[("type", write)])
    }

    fn spoil(&self, mut reply: Reply) -> Reply {
        match self.random.below(12) {
            0 => {
                let at = self.random.below(reply.body.len());
                reply.body.truncate(at);
                reply.body.push(Step::Break);
            }
            1 => {
                // The closing mark is missing.
                reply.body.pop();
            }
            2 => return Reply::refusal(503, &json!({ "error": { "message": "overloaded" } })),
            3 => {
                return Reply::refusal(429, &json!({ "error": { "message": "slow down" } }))
                    .with_header("retry-after", "3");
            }
            4 => reply.head_ms = 3_000,
            5 => reply.body.insert(0, Step::Wait(25_000)),
            6 => reply.body.insert(self.random.below(reply.body.len()), Step::Hang),
            7 => {
                let mut body = vec![text_step("half an ans")];
                body.extend(end_steps("length"));
                reply.body = body;
            }
            _ => {}
        }
        reply
    }

    /// Each call has exactly one result, right after its answer; no id stands for two calls.
    fn check(&self, messages: &[Value]) {
        let mut open: Vec<String> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default().to_owned();
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
                let id = call["id"].as_str().unwrap_or_default().to_owned();
                if id.is_empty() || seen.contains(&id) {
                    self.violated(format!("the call id {id:?} is empty or not its own"));
                }
                seen.push(id.clone());
                open.push(id);
            }
        }
        if !open.is_empty() {
            self.violated(format!("calls without a result at the end: {open:?}"));
        }
    }

    fn violated(&self, what: String) {
        self.violations.borrow_mut().push(what);
    }
}

/// A task as a user words it: `task NAME steps N [reads] [wide] [bad] [stubborn]`.
struct Task {
    name: String,
    steps: usize,
    reads: bool,
    wide: bool,
    bad_calls: bool,
    stubborn: bool,
}

fn task_of(message: &Value) -> Option<Task> {
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => return None,
    };
    let words: Vec<&str> = text.split_whitespace().skip_while(|word| *word != "task").collect();
    let (name, steps) = match words.as_slice() {
        ["task", name, "steps", steps, ..] => (*name, *steps),
        _ => return None,
    };
    Some(Task {
        name: name.to_owned(),
        steps: steps.parse().ok()?,
        reads: words.contains(&"reads"),
        wide: words.contains(&"wide"),
        bad_calls: words.contains(&"bad"),
        stubborn: words.contains(&"stubborn"),
    })
}
