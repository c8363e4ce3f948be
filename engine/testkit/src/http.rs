//! A provider that plays a script.

use crate::sched::Scheduler;
use panelot_engine::ports::{Clock, Http, HttpBody, HttpError, HttpResponse};
use panelot_providers::HttpRequest;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;

/// One step of a body.
#[derive(Debug, Clone)]
pub enum Step {
    /// Bytes come.
    Bytes(Vec<u8>),
    /// Nothing comes for a while, in milliseconds.
    Wait(u64),
    /// The connection breaks.
    Break,
    /// Nothing comes any more.
    Hang,
}

/// One scripted answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// How long the head takes, in milliseconds.
    pub head_ms: u64,
    /// The status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<Step>,
}

impl Reply {
    /// A stream of steps.
    pub fn stream(body: Vec<Step>) -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { head_ms: 0, status: 200, headers, body }
    }

    /// A refusal.
    pub fn refusal(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { head_ms: 0, status, headers, body: vec![Step::Bytes(body.to_string().into_bytes())] }
    }

    /// The same with one more header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A whole answer of text, one chunk per piece, in OpenAI's wire.
    pub fn text(pieces: &[&str]) -> Self {
        let mut body: Vec<Step> = pieces.iter().map(|piece| text_step(piece)).collect();
        body.extend(end_steps("stop"));
        Self::stream(body)
    }

    /// A whole answer that calls tools: names and arguments.
    pub fn calls(text: &str, calls: &[(&str, Value)]) -> Self {
        let mut body = Vec::new();
        if !text.is_empty() {
            body.push(text_step(text));
        }
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call =
                json!({"index": index, "id": format!("c{index}"), "type": "function", "function": function});
            body.push(chunk_step(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})));
        }
        body.extend(end_steps("tool_calls"));
        Self::stream(body)
    }
}

/// A piece of text in OpenAI's wire.
pub fn text_step(text: &str) -> Step {
    chunk_step(&json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// A frame in OpenAI's wire.
pub fn chunk_step(value: &Value) -> Step {
    Step::Bytes(format!("data: {value}\n\n").into_bytes())
}

/// What ends an answer in OpenAI's wire.
pub fn end_steps(finish: &str) -> Vec<Step> {
    vec![
        chunk_step(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})),
        chunk_step(&json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}})),
        Step::Bytes(b"data: [DONE]\n\n".to_vec()),
    ]
}

/// A request as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The URL.
    pub url: String,
    /// The value of `authorization`, if there was one.
    pub authorization: Option<String>,
    /// The body.
    pub body: Value,
}

/// Whether a request is one of a title turn.
pub fn asks_for_title(body: &Value) -> bool {
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    system.starts_with(panelot_engine::turn::TITLE_PROMPT)
}

/// What a provider answers to a request's body.
pub type Script = Box<dyn Fn(&Value) -> Reply>;

/// The network of a simulation. Clones are handles to the same.
#[derive(Clone)]
pub struct ScriptedHttp {
    scheduler: Scheduler,
    replies: Rc<RefCell<VecDeque<Reply>>>,
    /// Answers when no reply is left.
    script: Rc<RefCell<Option<Script>>>,
    sent: Rc<RefCell<Vec<Sent>>>,
    titles: Rc<RefCell<VecDeque<Reply>>>,
    title_script: Rc<RefCell<Option<Script>>>,
    titles_sent: Rc<RefCell<Vec<Sent>>>,
    reachable: Rc<Cell<bool>>,
}

impl ScriptedHttp {
    /// A network in which nobody answers.
    pub fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            replies: Rc::default(),
            script: Rc::default(),
            sent: Rc::default(),
            titles: Rc::default(),
            title_script: Rc::default(),
            titles_sent: Rc::default(),
            reachable: Rc::new(Cell::new(true)),
        }
    }

    /// Adds the answer to a later request.
    pub fn push(&self, reply: Reply) {
        self.replies.borrow_mut().push_back(reply);
    }

    /// Lets a function answer all requests for which no reply was pushed.
    pub fn set_script(&self, script: impl Fn(&Value) -> Reply + 'static) {
        *self.script.borrow_mut() = Some(Box::new(script));
    }

    /// Lets a function answer all requests for titles for which no reply was pushed.
    pub fn set_title_script(&self, script: impl Fn(&Value) -> Reply + 'static) {
        *self.title_script.borrow_mut() = Some(Box::new(script));
    }

    /// Adds the answer to a later request for a title. Without any the title is "A title".
    pub fn push_title(&self, reply: Reply) {
        self.titles.borrow_mut().push_back(reply);
    }

    /// Lets nobody answer any more.
    pub fn forget_script(&self) {
        *self.script.borrow_mut() = None;
        *self.title_script.borrow_mut() = None;
    }

    /// Whether the extension has permission for hosts.
    pub fn set_reachable(&self, reachable: bool) {
        self.reachable.set(reachable);
    }

    /// All requests for titles so far.
    pub fn titles_sent(&self) -> Vec<Sent> {
        self.titles_sent.borrow().clone()
    }

    /// All requests so far, except those for titles.
    pub fn sent(&self) -> Vec<Sent> {
        self.sent.borrow().clone()
    }

    /// Answers that no request has taken.
    pub fn left(&self) -> usize {
        self.replies.borrow().len()
    }
}

impl Http for ScriptedHttp {
    type Body = ScriptedBody;

    fn send(
        &self,
        request: HttpRequest,
    ) -> impl Future<Output = Result<HttpResponse<ScriptedBody>, HttpError>> + 'static {
        let this = self.clone();
        async move {
            let authorization = request.headers.iter().find(|(name, _)| name == "authorization");
            let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
            let is_title = asks_for_title(&body);
            let sent = if is_title { &this.titles_sent } else { &this.sent };
            sent.borrow_mut().push(Sent {
                url: request.url.clone(),
                authorization: authorization.map(|(_, value)| value.clone()),
                body: body.clone(),
            });
            this.scheduler.pause().await;
            let (replies, script) = match is_title {
                true => (&this.titles, &this.title_script),
                false => (&this.replies, &this.script),
            };
            let scripted = || script.borrow().as_ref().map(|script| script(&body));
            let reply = replies.borrow_mut().pop_front().or_else(scripted);
            let reply = reply.or_else(|| is_title.then(|| Reply::text(&["A title"])));
            let Some(reply) = reply else {
                return Err(HttpError::Network("nobody listens at this address".to_owned()));
            };
            this.scheduler.sleep(reply.head_ms).await;
            let body = ScriptedBody { scheduler: this.scheduler.clone(), steps: reply.body.into() };
            Ok(HttpResponse { status: reply.status, headers: reply.headers, body })
        }
    }

    fn may_reach(&self, _url: &str) -> impl Future<Output = bool> + 'static {
        std::future::ready(self.reachable.get())
    }
}

/// A body that follows its script.
pub struct ScriptedBody {
    scheduler: Scheduler,
    steps: VecDeque<Step>,
}

impl HttpBody for ScriptedBody {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        loop {
            self.scheduler.pause().await;
            // A step is taken once it is over: a read that is dropped loses nothing.
            match self.steps.front().cloned() {
                None => return Ok(None),
                Some(Step::Wait(ms)) => self.scheduler.sleep(ms).await,
                Some(Step::Bytes(bytes)) => {
                    self.steps.pop_front();
                    return Ok(Some(bytes));
                }
                Some(Step::Break) => return Err(HttpError::Network("the connection was reset".to_owned())),
                Some(Step::Hang) => std::future::pending::<()>().await,
            }
            self.steps.pop_front();
        }
    }
}
