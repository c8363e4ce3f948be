//! A conversation over a Port of its own, without a page that shows it.

use anyhow::{Context, Result};
use panelot_driver::browser::Page;
use panelot_driver::product::EnginePort;
use panelot_protocol::ids::{TabId, ThreadId};
use panelot_protocol::op::{Op, ThreadPatch};
use panelot_protocol::turn::{CapturedTab, UserInput};
use serde_json::{Value, json};

/// A name that the engine leaves alone, so that no request for one comes between.
const TITLE: &str = "Talk";

/// A thread that a Port is subscribed to.
pub struct Talk {
    /// The Port.
    pub port: EnginePort,
    /// The thread.
    pub thread_id: ThreadId,
    tab: Option<CapturedTab>,
}

/// The tab of a page, as the composer would name it; `extension` is any page of the extension.
///
/// # Errors
/// When no tab shows the page's address.
pub async fn tab_of(extension: &Page, page: &Page) -> Result<CapturedTab> {
    let url: String = page.evaluate("location.href").await?;
    let find =
        "(url) => chrome.tabs.query({}).then((tabs) => tabs.find((tab) => tab.url === url)?.id ?? null)";
    let tab_id: Option<i32> = extension.call(find, &[json!(url)]).await?;
    let tab_id = TabId(tab_id.with_context(|| format!("no tab shows {url}"))?);
    Ok(CapturedTab { tab_id, title: None, url: Some(url) })
}

impl Talk {
    /// Makes a thread with a title; its messages capture `tab`.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn begin(extension: &Page, tab: Option<CapturedTab>) -> Result<Self> {
        let port = EnginePort::open(extension).await?;
        port.initialize().await?;
        let make = |submission_id| Op::ThreadCreate { submission_id, preset: None, folder_id: None };
        let made = port.ask(make).await?;
        let thread_id = made["thread"]["threadId"].as_str().context("`threadId` is missing")?;
        let thread_id = ThreadId::new(thread_id);
        let (id, patch) =
            (thread_id.clone(), ThreadPatch { title: Some(TITLE.into()), ..ThreadPatch::default() });
        port.ask(|submission_id| Op::ThreadUpdate { submission_id, thread_id: id, patch }).await?;
        Self::join(port, thread_id, tab).await
    }

    /// Subscribes a Port that has shaken hands to a thread.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn join(port: EnginePort, thread_id: ThreadId, tab: Option<CapturedTab>) -> Result<Self> {
        let id = thread_id.clone();
        port.ask(|submission_id| Op::ThreadSubscribe { submission_id, thread_id: id }).await?;
        Ok(Self { port, thread_id, tab })
    }

    /// Sends a message and gives the time in milliseconds since 1970.
    ///
    /// # Errors
    /// When the Port is closed.
    pub async fn submit(&self, text: &str) -> Result<f64> {
        let input = UserInput { captured_tab: self.tab.clone(), ..UserInput::text(text) };
        let thread_id = self.thread_id.clone();
        self.port
            .say(|submission_id| Op::TurnSubmit { submission_id, thread_id, input, overrides: None })
            .await
    }

    /// Presses Stop and gives the time in milliseconds since 1970.
    ///
    /// # Errors
    /// When the Port is closed.
    pub async fn stop(&self) -> Result<f64> {
        let thread_id = self.thread_id.clone();
        self.port.say(|submission_id| Op::TurnInterrupt { submission_id, thread_id }).await
    }

    /// How many messages the engine has sent: where to begin to listen for what comes next.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn heard_so_far(&self) -> Result<usize> {
        self.port.count().await
    }

    /// Waits for the end of a turn behind the first `skip` messages, and gives its time in milliseconds since 1970.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn ended(&self, skip: usize) -> Result<f64> {
        let is_end = |said: &Value| said["type"] == "turn.complete";
        Ok(self.port.heard("the end of the turn", skip, is_end).await?.1)
    }
}
