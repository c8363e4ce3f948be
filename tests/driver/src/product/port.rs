//! A Port of its own to the engine, opened in one of the extension's pages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use panelot_protocol::ids::{ClientId, SubmissionId};
use panelot_protocol::op::Op;
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH, PORT_NAME};
use serde_json::{Value, json};

use crate::browser::Page;
use crate::until;

/// How long the engine may take to answer; generous, for a machine that is busy.
pub const ANSWER_S_MAX: u64 = 90;

/// An id in the form of a UUID that this process has not used before.
#[must_use]
pub fn fresh_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    format!("{:08x}-0000-4000-8000-{number:012x}", std::process::id())
}

/// An open Port. It keeps everything that the engine says.
#[derive(Clone)]
pub struct EnginePort {
    page: Page,
    index: u64,
}

impl EnginePort {
    /// Opens a Port from a page of the extension.
    ///
    /// # Errors
    /// When the page is no page of the extension.
    pub async fn open(page: &Page) -> Result<Self> {
        let open = "(name) => {
            const port = chrome.runtime.connect({ name });
            const kept = { port, messages: [], times: [], closed: false };
            port.onMessage.addListener((message) => {
                kept.times.push(performance.timeOrigin + performance.now());
                kept.messages.push(message);
            });
            port.onDisconnect.addListener(() => { kept.closed = true; });
            globalThis.__testPorts ??= [];
            return globalThis.__testPorts.push(kept) - 1;
        }";
        let index = page.call(open, &[json!(PORT_NAME)]).await.context("cannot open a Port to the engine")?;
        Ok(Self { page: page.clone(), index })
    }

    /// Shakes hands as a page of this build.
    ///
    /// # Errors
    /// When the engine refuses or does not answer.
    pub async fn initialize(&self) -> Result<Value> {
        let op = |submission_id| Op::Initialize {
            submission_id,
            protocol: ENGINE_PROTOCOL.into(),
            schema_hash: ENGINE_SCHEMA_HASH.into(),
            client_id: ClientId::new(fresh_id()),
            subscribe: None,
        };
        self.ask(op).await
    }

    /// Sends an Op and gives its answer.
    ///
    /// # Errors
    /// When the engine rejects it or does not answer.
    pub async fn ask(&self, op: impl FnOnce(SubmissionId) -> Op) -> Result<Value> {
        let submission = fresh_id();
        let op = op(SubmissionId::new(submission.clone()));
        self.send(&serde_json::to_string(&op)?).await?;
        let what = format!("the answer to {op:?}");
        let answer = self.message(&what, |event| event["submissionId"] == submission.as_str()).await?;
        match answer["type"].as_str() {
            Some("command.rejected" | "error" | "fatal.reload_required") => bail!("{op:?} got {answer}"),
            _ => Ok(answer),
        }
    }

    /// Sends an Op without waiting for its answer, and gives the time of sending in milliseconds since 1970.
    ///
    /// # Errors
    /// When the Port is closed.
    pub async fn say(&self, op: impl FnOnce(SubmissionId) -> Op) -> Result<f64> {
        self.send(&serde_json::to_string(&op(SubmissionId::new(fresh_id())))?).await
    }

    /// Sends a text as it is, and gives the time of sending in milliseconds since 1970.
    ///
    /// # Errors
    /// When the Port is closed.
    pub async fn send(&self, text: &str) -> Result<f64> {
        let send = "(index, text) => {
            const now = performance.timeOrigin + performance.now();
            globalThis.__testPorts[index].port.postMessage(text);
            return now;
        }";
        self.page.call(send, &[json!(self.index), json!(text)]).await
    }

    /// Waits for a message and gives the first that is wanted, also an earlier one.
    ///
    /// # Errors
    /// When none comes within [`ANSWER_S_MAX`].
    pub async fn message(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        until(what, Duration::from_secs(ANSWER_S_MAX), || async {
            Ok(self.messages().await?.into_iter().find(|message| wanted(message)))
        })
        .await
    }

    /// Waits for a message behind the first `skip` ones, and gives the first that is wanted with the time at which the
    /// page got it, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`EnginePort::message`].
    pub async fn heard(
        &self,
        what: &str,
        skip: usize,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<(Value, f64)> {
        let read = "(index, skip) => {
            const kept = globalThis.__testPorts[index];
            return kept.messages.slice(skip).map((message, at) => [message, kept.times[skip + at]]);
        }";
        until(what, Duration::from_secs(ANSWER_S_MAX), || async {
            let heard: Vec<(String, f64)> = self.page.call(read, &[json!(self.index), json!(skip)]).await?;
            for (text, time) in heard {
                let message = serde_json::from_str(&text).context("a message that is no JSON")?;
                if wanted(&message) {
                    return Ok(Some((message, time)));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Everything that the engine has said so far.
    ///
    /// # Errors
    /// When the page is gone, or a message was no JSON text.
    pub async fn messages(&self) -> Result<Vec<Value>> {
        let texts: Vec<String> =
            self.page.call("(index) => globalThis.__testPorts[index].messages", &[json!(self.index)]).await?;
        texts.iter().map(|text| serde_json::from_str(text).context("a message that is no JSON")).collect()
    }

    /// How many messages the engine has sent so far.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn count(&self) -> Result<usize> {
        self.page.call("(index) => globalThis.__testPorts[index].messages.length", &[json!(self.index)]).await
    }

    /// Whether the engine has closed the Port.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn is_closed(&self) -> Result<bool> {
        self.page.call("(index) => globalThis.__testPorts[index].closed", &[json!(self.index)]).await
    }

    /// Closes the Port.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn close(self) -> Result<()> {
        let close = "(index) => { globalThis.__testPorts[index].port.disconnect(); return true; }";
        self.page.call::<bool>(close, &[json!(self.index)]).await?;
        Ok(())
    }
}
