//! A page with a conversation: the side panel or the chat page, used by keyboard.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::{CHAT_PAGE, PANEL_PAGE};
use crate::browser::{Browser, Page};
use crate::until;

/// How long a step of a turn may take.
const STEP_S_MAX: u64 = 120;
/// More presses than any page has stops for the Tab key.
const TAB_PRESSES_MAX: usize = 80;
/// How long a decision may take to be taken: the keys of a card sleep at first.
const DECISION_S_MAX: u64 = 60;

/// The selector of a test name.
#[must_use]
pub fn by_test_id(name: &str) -> String {
    format!("[data-testid={name}]")
}

/// One line of a conversation as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Line {
    /// The element's test name, for example `message-user`.
    pub kind: String,
    /// The tool's name on a tool row, else empty.
    pub tool: String,
    /// `running`, `done`, `failed`, ..., or empty where there is none.
    pub status: String,
    /// The visible text.
    pub text: String,
}

/// A page with a composer.
#[derive(Clone)]
pub struct Chat {
    /// The page.
    pub page: Page,
}

/// What a turn is waiting for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stand {
    /// The user has to decide on this approval.
    Asks(String),
    /// Nothing runs.
    Idle,
}

impl Chat {
    /// Opens the chat page and waits until it can be used.
    ///
    /// # Errors
    /// When it does not become usable.
    pub async fn open(browser: &Browser) -> Result<Self> {
        Self::on(browser.open_extension(CHAT_PAGE).await?).await
    }

    /// Opens the side panel of the window of `opener`, a page of the extension.
    ///
    /// # Errors
    /// When it does not open or become usable.
    pub async fn open_side_panel(browser: &Browser, opener: &Page) -> Result<Self> {
        Self::on(browser.open_side_panel(opener, PANEL_PAGE).await?).await
    }

    /// Takes a page that is open and waits until it can be used.
    ///
    /// # Errors
    /// When it does not become usable.
    pub async fn on(page: Page) -> Result<Self> {
        page.wait_for("the page to be usable", "document.documentElement.dataset.ready === '1'").await?;
        Ok(Self { page })
    }

    /// Types a message and sends it by Enter.
    ///
    /// # Errors
    /// When there is no composer.
    pub async fn submit(&self, text: &str) -> Result<()> {
        let composer = by_test_id("composer");
        self.page.focus(&composer).await?;
        self.page.insert(text).await?;
        let typed = format!("document.querySelector('{composer}').value.includes({})", json!(text));
        self.page.wait_for("the text in the composer", &typed).await?;
        self.page.press("Enter").await?;
        let sent = format!("!document.querySelector('{composer}').value.includes({})", json!(text));
        self.page.wait_for("the composer to be empty again", &sent).await
    }

    /// Waits for an approval that takes an answer and gives its id.
    ///
    /// # Errors
    /// When none appears in time.
    pub async fn approval(&self) -> Result<String> {
        let selector = format!("{}[data-awake=true]", by_test_id("approval"));
        until("an approval", Duration::from_secs(STEP_S_MAX), || async {
            let id: Option<String> = self
                .page
                .call("(s) => document.querySelector(s)?.dataset.approval ?? null", &[json!(selector)])
                .await?;
            Ok(id)
        })
        .await
        .context(self.shown().await)
    }

    /// Answers an approval by its key (`y`, `s`, `a`, `n`, `Escape`), reaching the card with the Tab key alone.
    ///
    /// # Errors
    /// When the card cannot be reached by keyboard, or stays.
    pub async fn decide(&self, approval: &str, key: &str) -> Result<()> {
        let card = format!("[data-approval={}]", json!(approval));
        let focused =
            format!("(document.querySelector({})?.contains(document.activeElement) ?? false)", json!(card));
        let gone = format!("!document.querySelector({})", json!(card));
        for _ in 0..TAB_PRESSES_MAX {
            if self.page.evaluate(&format!("{focused} || {gone}")).await? {
                break;
            }
            self.page.press("Shift+Tab").await?;
        }
        until("the decision", Duration::from_secs(DECISION_S_MAX), || async {
            if self.page.evaluate::<bool>(&focused).await? {
                self.page.press(key).await?;
            }
            Ok(self.page.evaluate::<bool>(&gone).await?.then_some(()))
        })
        .await
        .context(self.shown().await)
    }

    /// Says yes by keyboard to every approval until the turn has ended, and gives the number of them.
    ///
    /// # Errors
    /// When a step takes too long.
    pub async fn approve_until_idle(&self) -> Result<usize> {
        let mut approvals = 0;
        loop {
            match self.stand().await? {
                Stand::Idle => return Ok(approvals),
                Stand::Asks(approval) => {
                    self.decide(&approval, "y").await?;
                    approvals += 1;
                }
            }
        }
    }

    /// Waits until nothing runs and nothing is asked.
    ///
    /// # Errors
    /// When it takes too long, or an approval is asked for.
    pub async fn idle(&self) -> Result<()> {
        match self.stand().await? {
            Stand::Idle => Ok(()),
            Stand::Asks(approval) => anyhow::bail!("the approval {approval} is asked for"),
        }
    }

    async fn stand(&self) -> Result<Stand> {
        let look = "() => {
            const one = (name) => document.querySelector(`[data-testid=${name}]`);
            const asked = one('approval')?.dataset.approval;
            if (asked) return asked;
            const busy = one('stop') || one('outgoing') || document.querySelector('[data-status=running]');
            return busy || !one('message-user') ? null : '';
        }";
        let waited = until("the end of the turn or an approval", Duration::from_secs(STEP_S_MAX), || {
            self.page.call::<Option<String>>(look, &[])
        });
        let stand = waited.await.context(self.shown().await)?;
        Ok(if stand.is_empty() { Stand::Idle } else { Stand::Asks(stand) })
    }

    /// The conversation as it is shown.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn transcript(&self) -> Result<Vec<Line>> {
        let read = "() => [...document.querySelectorAll(
            ['message-user', 'message-assistant', 'tool-row', 'notice'].map((n) => `[data-testid=${n}]`).join())]
            .map((e) => ({
                kind: e.dataset.testid, tool: e.dataset.tool ?? '', status: e.dataset.status ?? '', text: e.innerText.trim(),
            }))";
        self.page.call(read, &[]).await
    }

    /// The last line of the conversation with this test name, if there is one.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn last(&self, kind: &str) -> Result<Option<Line>> {
        Ok(self.transcript().await?.into_iter().rev().find(|line| line.kind == kind))
    }

    /// What the page shows, for messages about failures.
    pub async fn shown(&self) -> String {
        let text = self.page.evaluate::<String>("document.body.innerText").await;
        format!("the page shows: {}", text.unwrap_or_else(|failure| format!("{failure:#}")))
    }
}
