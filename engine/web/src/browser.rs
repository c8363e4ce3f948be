//! Tabs, and the content scripts in them: brought in on demand, asked once.

use crate::chrome::scripting::Executed;
use crate::chrome::{js_message, permissions, scripting, tabs};
use gloo_timers::future::TimeoutFuture;
use panelot_engine::ports::{Browser, BrowserError, ContentError, TabState};
use panelot_protocol::content::{ContentOp, ContentResult};
use panelot_protocol::ids::TabId;
use panelot_protocol::snapshot::TabInfo;
use std::future::Future;

/// Tells whether the page lets WebAssembly be compiled, and whether the script is there; see the file.
const PROBE: &str = "probe.js";
/// What the content script's files answer when they are up.
const READY: &str = "ready";
/// How often a loading tab is looked at.
const LOADING_POLL_MS: u32 = 100;

/// The user's browser.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebBrowser;

impl Browser for WebBrowser {
    fn tabs(&self) -> impl Future<Output = Result<Vec<TabInfo>, BrowserError>> + 'static {
        async {
            let all = tabs::all().await.map_err(|error| BrowserError::Refused(js_message(&error)))?;
            Ok(all.into_iter().map(|tab| tab.info).collect())
        }
    }

    fn tab(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        async move { tabs::one(tab_id).await.ok_or(BrowserError::NoTab(tab_id)) }
    }

    fn open(
        &self,
        url: &str,
        opener: Option<TabId>,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        let url = url.to_owned();
        async move {
            let opened = tabs::open(&url, opener).await;
            opened
                .map_err(|error| BrowserError::Refused(js_message(&error)))?
                .ok_or_else(|| BrowserError::Refused("the new tab has no number".to_owned()))
        }
    }

    fn navigate(
        &self,
        tab_id: TabId,
        url: &str,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        let url = url.to_owned();
        async move {
            match tabs::navigate(tab_id, &url).await {
                Ok(Some(tab)) => Ok(tab),
                Ok(None) => Err(BrowserError::NoTab(tab_id)),
                Err(error) => match tabs::one(tab_id).await {
                    Some(_) => Err(BrowserError::Refused(js_message(&error))),
                    None => Err(BrowserError::NoTab(tab_id)),
                },
            }
        }
    }

    fn loaded(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        async move {
            loop {
                let tab = tabs::one(tab_id).await.ok_or(BrowserError::NoTab(tab_id))?;
                if tab.complete {
                    return Ok(tab);
                }
                TimeoutFuture::new(LOADING_POLL_MS).await;
            }
        }
    }

    fn may_access(&self, url: &str) -> impl Future<Output = bool> + 'static {
        let url = url.to_owned();
        async move { permissions::contains_origin(&url).await }
    }

    fn content(
        &self,
        tab_id: TabId,
        op: ContentOp,
    ) -> impl Future<Output = Result<ContentResult, ContentError>> + 'static {
        async move {
            let text = serde_json::to_string(&op)
                .map_err(|error| ContentError::Injection(format!("the message has no JSON form: {error}")))?;
            let document_id = ensure_script(tab_id).await?;
            // From here on the message may have arrived, whatever the browser says.
            let answer = tabs::ask(tab_id, &document_id, &text).await;
            let answer = answer.map_err(|_| ContentError::DocumentGone)?;
            let answer = answer
                .as_string()
                .ok_or_else(|| ContentError::BadAnswer("the answer is not a text".to_owned()))?;
            panelot_protocol::decode::decode_content_result(&answer)
                .map_err(|error| ContentError::BadAnswer(error.to_string()))
        }
    }
}

/// Makes sure that a content script of this build runs in the tab's top document; gives the document's id.
async fn ensure_script(tab_id: TabId) -> Result<String, ContentError> {
    let probed = run(tab_id, None, PROBE).await?;
    let file = probed.result.as_string().unwrap_or_default();
    if file == READY {
        return Ok(probed.document_id);
    }
    let injected = run(tab_id, Some(&probed.document_id), &file).await?;
    match injected.result.as_string() {
        Some(word) if word == READY => Ok(injected.document_id),
        Some(reason) => Err(ContentError::Injection(reason)),
        None => Err(ContentError::Injection(format!("{file} gave no answer"))),
    }
}

async fn run(tab_id: TabId, document_id: Option<&str>, file: &str) -> Result<Executed, ContentError> {
    match scripting::run_file(tab_id, document_id, file).await {
        Ok(Some(executed)) => Ok(executed),
        Ok(None) => Err(ContentError::Injection("the tab has no document".to_owned())),
        Err(error) => Err(refusal(tab_id, &js_message(&error)).await),
    }
}

/// Why the browser let no script into a tab: found by looking at the tab, since Chrome says it in words only.
async fn refusal(tab_id: TabId, message: &str) -> ContentError {
    let Some(tab) = tabs::one(tab_id).await else { return ContentError::NoTab(tab_id) };
    let url = tab.info.url;
    let ordinary = ["http://", "https://", "file://"].iter().any(|scheme| url.starts_with(scheme));
    if !ordinary {
        return ContentError::Unreachable(url);
    }
    if permissions::contains_origin(&url).await {
        ContentError::Injection(message.to_owned())
    } else {
        ContentError::NoAccess(origin_of(&url))
    }
}

/// The scheme and host of an address, for a sentence.
fn origin_of(url: &str) -> String {
    let end = url.match_indices('/').nth(2).map_or(url.len(), |(place, _)| place);
    url.get(..end).unwrap_or(url).to_owned()
}
