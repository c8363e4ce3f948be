//! Tabs, and the content scripts in them.

use panelot_protocol::content::{ContentOp, ContentResult};
use panelot_protocol::ids::TabId;
use panelot_protocol::snapshot::TabInfo;
use std::future::Future;
use thiserror::Error;

/// The user's browser. Nothing here changes what the user sees, except where it says so.
pub trait Browser: 'static {
    /// All tabs, also those that the extension cannot act in.
    ///
    /// # Errors
    /// When the browser refuses.
    fn tabs(&self) -> impl Future<Output = Result<Vec<TabInfo>, BrowserError>> + 'static;

    /// One tab.
    ///
    /// # Errors
    /// [`BrowserError::NoTab`] when it is gone.
    fn tab(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static;

    /// Opens a tab in the background, beside `opener` when it is given.
    ///
    /// # Errors
    /// When the browser refuses the address.
    fn open(
        &self,
        url: &str,
        opener: Option<TabId>,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static;

    /// Sends a tab to an address. It does not wait for the page.
    ///
    /// # Errors
    /// [`BrowserError::NoTab`], or when the browser refuses the address.
    fn navigate(
        &self,
        tab_id: TabId,
        url: &str,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static;

    /// Waits until the tab's document is loaded; the caller bounds the wait by dropping it.
    ///
    /// # Errors
    /// [`BrowserError::NoTab`] when it is closed meanwhile.
    fn loaded(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static;

    /// Whether the extension may run in pages of this address.
    fn may_access(&self, url: &str) -> impl Future<Output = bool> + 'static;

    /// Sends one message to the tab's top document and waits for its answer. Injects the script when it is not there
    /// and the message is one that was not delivered; never sends a message twice that may have been delivered.
    ///
    /// # Errors
    /// See [`ContentError`]; each says whether the message may have had an effect.
    fn content(
        &self,
        tab_id: TabId,
        op: ContentOp,
    ) -> impl Future<Output = Result<ContentResult, ContentError>> + 'static;
}

/// A tab as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabState {
    /// What everybody may know of it.
    pub info: TabInfo,
    /// Whether its document is loaded.
    pub complete: bool,
    /// Whether Chrome has put it to sleep.
    pub discarded: bool,
}

/// Why the browser did not do it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BrowserError {
    /// The tab is gone.
    #[error("tab {0} does not exist any more")]
    NoTab(TabId),
    /// Chrome refused, in its own words.
    #[error("the browser refused: {0}")]
    Refused(String),
}

/// Why a content script gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContentError {
    /// The tab is gone. Nothing was delivered.
    #[error("tab {0} does not exist any more")]
    NoTab(TabId),
    /// The extension may not run in this page. Nothing was delivered.
    #[error("Panelot has no access to {0}")]
    NoAccess(String),
    /// Nothing of the browser's own, a store's or another extension's can be read. Nothing was delivered.
    #[error("{0} is a page that no extension can read")]
    Unreachable(String),
    /// The script could not be brought in. Nothing was delivered.
    #[error("the page did not take the content script: {0}")]
    Injection(String),
    /// The message was delivered, or may have been, and the document is gone.
    #[error("the document went away before it answered")]
    DocumentGone,
    /// The message was delivered and the answer is not of the protocol.
    #[error("the content script's answer is not valid: {0}")]
    BadAnswer(String),
}

impl ContentError {
    /// Whether the message may have had an effect.
    pub fn may_have_acted(&self) -> bool {
        match self {
            Self::NoTab(_) | Self::NoAccess(_) | Self::Unreachable(_) | Self::Injection(_) => false,
            Self::DocumentGone | Self::BadAnswer(_) => true,
        }
    }
}
