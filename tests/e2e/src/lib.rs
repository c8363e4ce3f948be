//! End-to-end tests: the built bundle in a real Chromium, one file per user story.
//!
//! `cargo xtask test` builds the bundle and sets the variables; a test run by hand takes `dist/chrome`.

#![expect(clippy::indexing_slicing, reason = "an index into a JSON value that lacks it gives null")]

pub mod memory;
pub mod scripts;
pub mod seed;
pub mod stored;
pub mod talk;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use panelot_driver::cdp::Session;
use panelot_driver::product::{Chat, EnginePort, connect_provider};
use panelot_driver::provider::Script;
use panelot_driver::{Browser, LaunchOptions, Provider, Site, SiteOptions, until};
use panelot_protocol::op::Op;
use panelot_protocol::settings::SettingsPatch;
use panelot_protocol::turn::PermissionPolicy;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The variable that names the unpacked bundle to test.
pub const DIST_VARIABLE: &str = "PANELOT_DIST";
/// How long anything may take that a test waits for; generous, for a machine that is busy.
pub const WITHIN: Duration = Duration::from_secs(120);
/// The key of the demo connection. It must never leave for anywhere but its endpoint.
pub const KEY: &str = "sk-planted-key-7f3a";
/// The name of the engine's database.
pub const DATABASE: &str = "panelot";
/// How many browsers work at once; those that rest are not counted.
const BROWSERS_MAX: usize = 2;

static BROWSERS: Semaphore = Semaphore::const_new(BROWSERS_MAX);

/// The workspace's directory.
///
/// # Errors
/// When this crate is not in its place.
pub fn workspace() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    Ok(root.context("the crate is not in tests/e2e")?.to_owned())
}

/// The unpacked bundle.
///
/// # Errors
/// When it is not there.
pub fn dist() -> Result<PathBuf> {
    let dist = match std::env::var_os(DIST_VARIABLE) {
        Some(dist) => PathBuf::from(dist),
        None => workspace()?.join("dist/chrome"),
    };
    ensure!(
        dist.join("manifest.json").is_file(),
        "{}: no bundle; run `cargo xtask build`, or the tests by `cargo xtask test`",
        dist.display()
    );
    Ok(dist)
}

/// A browser with the extension, a provider and a site.
pub struct World {
    /// The browser.
    pub browser: Browser,
    /// The provider that the extension is connected to.
    pub provider: Provider,
    /// The pages to work on.
    pub site: Site,
    /// The session that collects what the worker complains about, while it is watched.
    watched: Mutex<Option<Session>>,
    /// The right to work; `None` while it rests.
    turn: Mutex<Option<SemaphorePermit<'static>>>,
}

impl World {
    /// Starts everything with the usual options; nothing is connected yet.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn start(script: impl Script) -> Result<Self> {
        Self::start_with(script, &LaunchOptions::new(dist()?)).await
    }

    /// [`World::start`] with other options for the browser.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn start_with(script: impl Script, options: &LaunchOptions) -> Result<Self> {
        let turn = BROWSERS.acquire().await?;
        let provider = Provider::start_with(script).await?;
        let fixtures = Some(workspace()?.join("tests/e2e/fixtures"));
        let site = Site::start(SiteOptions { fixtures, ..SiteOptions::from_environment() }).await?;
        let browser = Browser::launch(options).await?;
        let world = Self { browser, provider, site, watched: Mutex::new(None), turn: Mutex::new(Some(turn)) };
        world.watch().await?;
        Ok(world)
    }

    /// Collects what the worker complains about, from now on.
    ///
    /// # Errors
    /// When no worker comes up.
    async fn watch(&self) -> Result<()> {
        let session = self.browser.attach_worker().await?;
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
        Ok(())
    }

    /// Lets go of the worker: a watched one is never ended by Chrome, and cannot be killed.
    ///
    /// # Errors
    /// When the worker is gone already.
    pub async fn unwatch(&self) -> Result<()> {
        let session = self.watched.lock().unwrap_or_else(PoisonError::into_inner).take();
        match session {
            Some(session) => session.detach().await,
            None => Ok(()),
        }
    }

    /// Waits for something that takes the machine nothing but time, and lets another browser work meanwhile.
    ///
    /// # Errors
    /// What the wait ended with.
    pub async fn resting<T>(&self, wait: impl Future<Output = Result<T>>) -> Result<T> {
        drop(self.turn.lock().unwrap_or_else(PoisonError::into_inner).take());
        let waited = wait.await;
        let turn = BROWSERS.acquire().await?;
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
        waited
    }

    /// Opens a page of the site and the chat page beside it, connected to the provider.
    ///
    /// # Errors
    /// When a page does not open or the engine refuses the connection.
    pub async fn chat_beside(&self, path: &str) -> Result<(panelot_driver::browser::Page, Chat)> {
        let page = self.browser.open(&self.site.url(path)).await?;
        let chat = self.connected_chat().await?;
        Ok((page, chat))
    }

    /// Opens the chat page, connected to the provider.
    ///
    /// # Errors
    /// As [`World::chat_beside`].
    pub async fn connected_chat(&self) -> Result<Chat> {
        let chat = Chat::open(&self.browser).await?;
        connect_provider(&chat.page, &self.provider.base_url(), &[KEY]).await?;
        chat.page.disappears("[data-testid=firstrun]").await?;
        Ok(chat)
    }

    /// Chooses the policy of new threads.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn set_policy(&self, chat: &Chat, policy: PermissionPolicy) -> Result<()> {
        let port = EnginePort::open(&chat.page).await?;
        port.initialize().await?;
        let patch = SettingsPatch::Policy { policy };
        port.ask(|submission_id| Op::SettingsUpdate { submission_id, patch }).await?;
        port.close().await
    }

    /// Kills the worker and waits until the page that is open has started the next one.
    ///
    /// # Errors
    /// When it does not die, or no other comes up.
    pub async fn kill_worker(&self) -> Result<()> {
        self.unwatch().await?;
        let before = self.browser.worker_target().await?;
        self.browser.stop_worker().await?;
        until("the next worker", WITHIN, || async {
            Ok(self.browser.running_worker().await?.filter(|worker| worker.id != before.id).map(|_| ()))
        })
        .await?;
        self.watch().await
    }

    /// Ends the world, and fails when a request broke the rules of the wire or a page or worker complained.
    ///
    /// # Errors
    /// What was wrong.
    pub fn end(self) -> Result<()> {
        let violations = self.provider.violations();
        ensure!(violations.is_empty(), "requests broke the rules of the wire: {violations:#?}");
        let defects = self.browser.defects();
        ensure!(defects.is_empty(), "pages or the worker complained: {defects:#?}");
        Ok(())
    }
}
