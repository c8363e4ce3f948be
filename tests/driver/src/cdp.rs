//! A small DevTools-protocol client: one websocket, flat sessions, commands with a time limit, events.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// How long a command may take before it counts as lost.
pub const COMMAND_S_MAX: u64 = 60;
/// How many events a slow subscriber may lag behind before its stream fails.
const EVENTS_BUFFERED_MAX: usize = 16_384;
/// How many problems are kept; the first ones tell the story.
const PROBLEMS_MAX: usize = 1_000;

/// An event as the browser sent it.
#[derive(Debug, Clone)]
pub struct CdpEvent {
    /// The session it came from; `None` for the browser itself.
    pub session: Option<String>,
    /// Its name, for example `Target.targetCreated`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

/// Something that a page or worker complained about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it was seen: the URL or name that [`Cdp::name_session`] gave, else the session id.
    pub place: String,
    /// What kind of complaint it is.
    pub kind: ProblemKind,
    /// Its text, with the stack when there is one.
    pub text: String,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// An exception or a rejected promise that nobody caught.
    Uncaught,
    /// `console.error` or a failed `console.assert`.
    Console,
    /// What the browser logs by itself, such as a violated content security policy.
    Browser,
    /// A request that failed; often meant by the test.
    Network,
    /// The target crashed.
    Crash,
}

/// A connection to the browser. Cheap to clone; all clones share the websocket.
#[derive(Clone)]
pub struct Cdp {
    shared: Arc<Shared>,
}

struct Shared {
    outgoing: mpsc::UnboundedSender<String>,
    pending: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    events: broadcast::Sender<CdpEvent>,
    names: Mutex<HashMap<String, String>>,
    problems: Mutex<Vec<Problem>>,
    last_id: AtomicU64,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl Cdp {
    /// Connects to the browser's websocket.
    ///
    /// # Errors
    /// When the address does not answer.
    pub async fn connect(url: &str) -> Result<Self> {
        // A screenshot or a large evaluation result is one message, and the browser is trusted here.
        let limits = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = tokio_tungstenite::connect_async_with_config(url, Some(limits), true)
            .await
            .with_context(|| format!("cannot connect to {url}"))?;
        let (outgoing, queue) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENTS_BUFFERED_MAX);
        let shared = Arc::new(Shared {
            outgoing,
            pending: Mutex::default(),
            events,
            names: Mutex::default(),
            problems: Mutex::default(),
            last_id: AtomicU64::new(0),
        });
        tokio::spawn(pump(socket, queue, Arc::clone(&shared)));
        Ok(Self { shared })
    }

    /// Sends a command to the browser itself.
    ///
    /// # Errors
    /// When the browser refuses it, is gone, or does not answer in [`COMMAND_S_MAX`].
    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.send(None, method, params).await
    }

    /// Sends a command to a session, or to the browser when there is none.
    ///
    /// # Errors
    /// As [`Cdp::call`].
    async fn send(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value> {
        let id = self.shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let (answer, answered) = oneshot::channel();
        lock(&self.shared.pending).insert(id, answer);
        self.shared
            .outgoing
            .send(message.to_string())
            .map_err(|_| anyhow!("{method}: the browser is gone"))?;
        let waited = tokio::time::timeout(Duration::from_secs(COMMAND_S_MAX), answered).await;
        lock(&self.shared.pending).remove(&id);
        let reply = waited
            .map_err(|_| anyhow!("{method}: no answer within {COMMAND_S_MAX} s"))?
            .map_err(|_| anyhow!("{method}: the browser is gone"))?;
        match reply.get("error") {
            None => Ok(reply["result"].clone()),
            Some(error) => bail!("{method}: {}", error["message"].as_str().unwrap_or("refused")),
        }
    }

    /// All targets, workers and extension pages included.
    ///
    /// # Errors
    /// As [`Cdp::call`].
    pub async fn targets(&self) -> Result<Vec<Target>> {
        let reply = self.call("Target.getTargets", json!({ "filter": [{}] })).await?;
        let infos = reply["targetInfos"].as_array().context("Target.getTargets: `targetInfos` is missing")?;
        Ok(infos.iter().map(Target::from_info).collect())
    }

    /// Attaches to a target and gives its session.
    ///
    /// # Errors
    /// As [`Cdp::call`].
    pub async fn attach(&self, target: &str) -> Result<Session> {
        let params = json!({ "targetId": target, "flatten": true });
        let reply = self.call("Target.attachToTarget", params).await?;
        let id = reply["sessionId"].as_str().context("Target.attachToTarget: `sessionId` is missing")?;
        Ok(Session { cdp: self.clone(), id: id.to_owned() })
    }

    /// Begins to listen; events from now on are kept for the listener. Listen first, then act.
    #[must_use]
    pub fn listen(&self) -> Listener {
        Listener { events: self.shared.events.subscribe() }
    }

    /// Gives a session a name that its problems are reported under.
    pub fn name_session(&self, session: &Session, name: &str) {
        lock(&self.shared.names).insert(session.id.clone(), name.to_owned());
    }

    /// What pages and workers with an attached session complained about so far.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        lock(&self.shared.problems).clone()
    }

    /// Takes the problems out, so that the next look shows only newer ones.
    #[must_use]
    pub fn take_problems(&self) -> Vec<Problem> {
        std::mem::take(&mut *lock(&self.shared.problems))
    }
}

/// What the browser says of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The target's id.
    pub id: String,
    /// `page`, `service_worker`, `iframe`, `tab`, ...
    pub kind: String,
    /// Its URL; empty while it opens.
    pub url: String,
}

impl Target {
    /// Reads the protocol's `TargetInfo`; a missing field is empty.
    #[must_use]
    pub fn from_info(info: &Value) -> Self {
        let field = |name: &str| info[name].as_str().unwrap_or_default().to_owned();
        Self { id: field("targetId"), kind: field("type"), url: field("url") }
    }
}

/// An attached target.
#[derive(Clone)]
pub struct Session {
    cdp: Cdp,
    id: String,
}

impl Session {
    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The connection that it belongs to.
    #[must_use]
    pub fn cdp(&self) -> &Cdp {
        &self.cdp
    }

    /// Sends a command to the target.
    ///
    /// # Errors
    /// As [`Cdp::call`].
    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.cdp.send(Some(&self.id), method, params).await
    }

    /// Evaluates an expression, waits for its promise, and returns its value as JSON. Counts as a user gesture.
    ///
    /// # Errors
    /// When the expression throws or its value is no JSON; as [`Cdp::call`] otherwise.
    pub async fn evaluate(&self, expression: &str) -> Result<Value> {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let reply = self.call("Runtime.evaluate", params).await?;
        match reply.get("exceptionDetails") {
            None => Ok(reply["result"]["value"].clone()),
            Some(details) => bail!("{}\nin: {expression}", exception_text(details)),
        }
    }

    /// Lets go of the target.
    ///
    /// # Errors
    /// When the session is gone already; as [`Cdp::call`] otherwise.
    pub async fn detach(&self) -> Result<()> {
        self.cdp.call("Target.detachFromTarget", json!({ "sessionId": self.id })).await?;
        Ok(())
    }
}

/// Receives events from the moment it was made.
pub struct Listener {
    events: broadcast::Receiver<CdpEvent>,
}

impl Listener {
    /// Waits for the first event for which `wanted` gives a value.
    ///
    /// # Errors
    /// When `within` passes, the browser goes away, or so many events came that some were lost.
    pub async fn wait<T>(
        &mut self,
        what: &str,
        within: Duration,
        mut wanted: impl FnMut(&CdpEvent) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + within;
        loop {
            let next = tokio::time::timeout_at(deadline.into(), self.events.recv()).await;
            match next {
                Err(_) => bail!("waited {within:?} for {what}, in vain"),
                Ok(Err(broadcast::error::RecvError::Closed)) => {
                    bail!("the browser went away while {what} was waited for")
                }
                Ok(Err(broadcast::error::RecvError::Lagged(count))) => {
                    bail!("{count} events were lost while {what} was waited for")
                }
                Ok(Ok(event)) => {
                    if let Some(value) = wanted(&event) {
                        return Ok(value);
                    }
                }
            }
        }
    }
}

/// Moves messages both ways until either side ends; then every pending command learns that the browser is gone.
async fn pump(socket: Socket, mut queue: mpsc::UnboundedReceiver<String>, shared: Arc<Shared>) {
    let (mut write, mut read) = socket.split();
    loop {
        tokio::select! {
            outgoing = queue.recv() => match outgoing {
                Some(text) => if write.send(Message::text(text)).await.is_err() { break },
                None => break,
            },
            incoming = read.next() => match incoming {
                Some(Ok(message)) => shared.receive(&message),
                Some(Err(_)) | None => break,
            },
        }
    }
    queue.close();
    lock(&shared.pending).clear();
}

impl Shared {
    fn receive(&self, message: &Message) {
        let Ok(text) = message.to_text() else { return };
        let Ok(mut value) = serde_json::from_str::<Value>(text) else { return };
        if let Some(id) = value["id"].as_u64() {
            if let Some(answer) = lock(&self.pending).remove(&id) {
                // A caller that stopped waiting has no use for the answer.
                let _ = answer.send(value);
            }
            return;
        }
        let event = CdpEvent {
            session: value["sessionId"].as_str().map(str::to_owned),
            method: value["method"].as_str().unwrap_or_default().to_owned(),
            params: value["params"].take(),
        };
        if let Some((kind, text)) = problem_in(&event) {
            let session = event.session.clone().unwrap_or_default();
            let place = lock(&self.names).get(&session).cloned().unwrap_or(session);
            let mut problems = lock(&self.problems);
            if problems.len() < PROBLEMS_MAX {
                problems.push(Problem { place, kind, text });
            }
        }
        // Nobody has to listen.
        let _ = self.events.send(event);
    }
}

/// Reads the complaint out of an event that is one.
fn problem_in(event: &CdpEvent) -> Option<(ProblemKind, String)> {
    let params = &event.params;
    match event.method.as_str() {
        "Runtime.exceptionThrown" => {
            Some((ProblemKind::Uncaught, exception_text(&params["exceptionDetails"])))
        }
        "Runtime.consoleAPICalled" => {
            let kind = params["type"].as_str()?;
            matches!(kind, "error" | "assert").then(|| (ProblemKind::Console, console_text(&params["args"])))
        }
        "Log.entryAdded" => {
            let entry = &params["entry"];
            let network = entry["source"] == "network";
            let kind = if network { ProblemKind::Network } else { ProblemKind::Browser };
            let text = entry["text"].as_str().unwrap_or_default();
            let url = entry["url"].as_str().unwrap_or_default();
            (entry["level"] == "error").then(|| (kind, format!("{text} ({url})")))
        }
        "Inspector.targetCrashed" => Some((ProblemKind::Crash, "the target crashed".into())),
        _ => None,
    }
}

/// The most telling text of the protocol's `ExceptionDetails`.
fn exception_text(details: &Value) -> String {
    let exception = &details["exception"];
    exception["description"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| exception.get("value").map(Value::to_string))
        .or_else(|| details["text"].as_str().map(str::to_owned))
        .unwrap_or_else(|| details.to_string())
}

/// The arguments of a console call as one line.
fn console_text(args: &Value) -> String {
    let one = |arg: &Value| match arg["value"].as_str() {
        Some(text) => text.to_owned(),
        None => arg["description"].as_str().map_or_else(|| arg["value"].to_string(), str::to_owned),
    };
    args.as_array().map(|args| args.iter().map(one).collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

/// Locks, also after another holder panicked: what is kept here is never half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
