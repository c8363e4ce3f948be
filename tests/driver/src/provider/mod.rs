//! The demo provider: an OpenAI-compatible server on loopback that plays a scripted agent, with faults on demand.
//!
//! The script sees each request as the engine sent it and decides what to say next; nothing is played back.
//! Every request is checked against the rules of the wire, so that a test that asserts
//! [`Provider::violations`] to be empty proves them for all its requests.

mod check;
mod fault;
mod form;
mod gate;
mod http;
mod reply;
mod request;
mod snapshot;
mod stream;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::fault::Fault;
pub use self::form::FormFiller;
pub use self::gate::Gate;
pub use self::reply::{Finish, Piece, Reply};
pub use self::request::{Call, ChatMessage, ParsedRequest, Role, ToolResult, ToolSpec};
pub use self::snapshot::{SnapshotNode, snapshot_lines, snapshot_nodes};
use crate::until;

/// The model that the server offers first.
pub const DEMO_MODEL: &str = "panelot-demo";
/// How many requests are remembered.
const REQUESTS_KEPT_MAX: usize = 10_000;

/// Decides what the model says to a request.
pub trait Script: Send + Sync + 'static {
    /// The reply to one request.
    fn reply(&self, request: &ParsedRequest) -> Reply;
}

impl<F> Script for F
where
    F: Fn(&ParsedRequest) -> Reply + Send + Sync + 'static,
{
    fn reply(&self, request: &ParsedRequest) -> Reply {
        self(request)
    }
}

/// How a request ended, as the server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The reply is still under way.
    Running,
    /// The whole reply was sent.
    Sent,
    /// The client hung up before the end.
    HungUp,
    /// A fault that was asked for ended it.
    Faulted,
}

/// A request as it came, and what became of it.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// What was asked.
    pub request: ParsedRequest,
    /// How it ended.
    pub outcome: Outcome,
    /// When it came.
    pub came_at: SystemTime,
    /// When its last byte was handed over, or nobody wanted more; `None` while it runs.
    pub ended_at: Option<SystemTime>,
}

/// A running demo provider. Dropping it closes the server and everything that hangs on it.
pub struct Provider {
    address: SocketAddr,
    state: Arc<State>,
    server: JoinHandle<()>,
}

/// What the server and its owner share.
struct State {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    script: Option<Arc<dyn Script>>,
    requests: Vec<RecordedRequest>,
    violations: Vec<String>,
    faults: VecDeque<Fault>,
    gates: HashMap<String, Gate>,
    refused_keys: BTreeSet<String>,
    secrets: BTreeSet<String>,
}

impl Provider {
    /// Starts the server on a free port of 127.0.0.1 with the built-in [`FormFiller`].
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start() -> Result<Self> {
        Self::start_with(FormFiller).await
    }

    /// Starts the server with a script.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start_with(script: impl Script) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let inner = Inner { script: Some(Arc::new(script)), ..Inner::default() };
        let state = Arc::new(State { inner: Mutex::new(inner) });
        let router = http::router(Arc::clone(&state));
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the demo provider ended: {error}");
            }
        });
        Ok(Self { address, state, server })
    }

    /// The base URL of a connection, up to and with `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the script; requests that run keep their reply.
    pub fn set_script(&self, script: impl Script) {
        self.state.lock().script = Some(Arc::new(script));
    }

    /// Lets the next request that has no other fault waiting suffer this one.
    pub fn fail_next(&self, fault: Fault) {
        self.state.lock().faults.push_back(fault);
    }

    /// Answers 401 to this key from now on.
    pub fn refuse_key(&self, key: &str) {
        self.state.lock().refused_keys.insert(key.to_owned());
    }

    /// Counts it as a violation when this text appears in a request's body. Keys are watched by themselves.
    pub fn watch_for_secret(&self, secret: &str) {
        self.state.lock().secrets.insert(secret.to_owned());
    }

    /// The gate with this name, closed from the start; a reply stops at it with [`Piece::Gate`].
    #[must_use]
    pub fn gate(&self, name: &str) -> Gate {
        self.state.gate(name)
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.lock().requests.clone()
    }

    /// What was wrong with the requests so far: one sentence each, with the request's number.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.state.lock().violations.clone()
    }

    /// Waits until a recorded request has what is wanted, and gives the first such.
    ///
    /// # Errors
    /// When none has within the time.
    pub async fn wait_for_request(
        &self,
        what: &str,
        within: Duration,
        wanted: impl Fn(&RecordedRequest) -> bool,
    ) -> Result<RecordedRequest> {
        until(what, within, || async {
            Ok(self.state.lock().requests.iter().find(|one| wanted(one)).cloned())
        })
        .await
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.server.abort();
        // Replies that wait at a gate would keep their connections open.
        for gate in self.state.lock().gates.values() {
            gate.open();
        }
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self, name: &str) -> Gate {
        self.lock().gates.entry(name.to_owned()).or_insert_with(|| Gate::new(name)).clone()
    }

    /// Records a request and gives its index.
    fn record(&self, request: &ParsedRequest, violations: Vec<String>) -> usize {
        let mut inner = self.lock();
        let index = inner.requests.len();
        if index < REQUESTS_KEPT_MAX {
            let (request, outcome) = (request.clone(), Outcome::Running);
            let came_at = SystemTime::now();
            inner.requests.push(RecordedRequest { request, outcome, came_at, ended_at: None });
        }
        inner.violations.extend(violations);
        index
    }

    fn finish(&self, index: usize, outcome: Outcome) {
        if let Some(recorded) = self.lock().requests.get_mut(index) {
            recorded.outcome = outcome;
            recorded.ended_at = Some(SystemTime::now());
        }
    }
}
