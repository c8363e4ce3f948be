//! A Chromium with the extension: launch, grants, pages, the worker, the side panel, and a sure end.

mod input;
mod page;
mod process;
mod profile;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

pub use self::page::{ColorScheme, Page};
use self::process::BrowserProcess;
pub use self::process::{CHROMIUM_VARIABLE, find_chromium};
pub use self::profile::Profile;
use crate::cdp::{Cdp, Problem, ProblemKind, Session, Target};
use crate::extension::extension_id;
use crate::until;

/// How long the extension's worker may take to come up; generous, for a machine that is busy.
pub const WORKER_S_MAX: u64 = 90;
/// How long a page or the side panel may take to appear.
pub const PAGE_S_MAX: u64 = 90;

/// How to start the browser.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The directory with the unpacked extension.
    pub dist: PathBuf,
    /// More unpacked extensions to load beside it.
    pub also_load: Vec<PathBuf>,
    /// The browser's executable; `None` looks for one, see [`find_chromium`].
    pub chromium: Option<PathBuf>,
    /// Whether the extension starts with every host granted, as if the user had chosen "all sites".
    pub grant_hosts: bool,
    /// Whether the browser runs without a display.
    pub headless: bool,
    /// Width and height of the window in CSS pixels.
    pub window_size: (u32, u32),
    /// The browser's language, for example `en-US` or `zh-CN`.
    pub language: String,
    /// What `prefers-color-scheme` says in pages that are opened through [`Browser::open`].
    pub color_scheme: ColorScheme,
}

impl LaunchOptions {
    /// The usual case: headless, English, light, 1280 by 900, hosts granted.
    #[must_use]
    pub fn new(dist: impl Into<PathBuf>) -> Self {
        Self {
            dist: dist.into(),
            also_load: Vec::new(),
            chromium: None,
            grant_hosts: true,
            headless: true,
            window_size: (1280, 900),
            language: "en-US".into(),
            color_scheme: ColorScheme::Light,
        }
    }
}

/// A running browser with the extension. Dropping it kills the browser and removes the profile.
pub struct Browser {
    // Order matters: the process must be dead before its profile is removed.
    process: BrowserProcess,
    profile: Option<Profile>,
    cdp: Cdp,
    extension: String,
    color_scheme: ColorScheme,
}

impl Browser {
    /// Starts the browser on a fresh profile, with the hosts granted when the options say so.
    ///
    /// # Errors
    /// When there is no browser, it does not start, or the extension does not load.
    pub async fn launch(options: &LaunchOptions) -> Result<Self> {
        let profile = Profile::new()?;
        if !options.grant_hosts {
            return Self::launch_on(options, profile).await;
        }
        let extension = extension_id(&options.dist)?;
        let profile = Self::launch_on(options, profile).await?.quit().await?;
        profile.grant_hosts(&extension)?;
        Self::launch_on(options, profile).await
    }

    /// Starts the browser on a profile that was used before; its grants are what they are.
    ///
    /// # Errors
    /// As [`Browser::launch`].
    pub async fn launch_on(options: &LaunchOptions, profile: Profile) -> Result<Self> {
        let extension = extension_id(&options.dist)?;
        let mut process = BrowserProcess::start(options, &profile)?;
        let cdp = Cdp::connect(&process.devtools_url(&profile).await?).await?;
        cdp.call("Target.setDiscoverTargets", json!({ "discover": true, "filter": [{}] })).await?;
        let browser =
            Self { process, profile: Some(profile), cdp, extension, color_scheme: options.color_scheme };
        browser.worker_target().await.context("the extension did not start")?;
        Ok(browser)
    }

    /// Lets the browser end by itself, so that it writes everything down, and keeps its profile.
    ///
    /// # Errors
    /// When it does not end in time; it is killed then.
    pub async fn quit(mut self) -> Result<Profile> {
        let profile = self.profile.take().context("the profile is taken")?;
        // The answer may be lost with the browser.
        let _ = self.cdp.call("Browser.close", json!({})).await;
        self.process.ended().await?;
        Ok(profile)
    }

    /// The connection, for commands that have no method here.
    #[must_use]
    pub fn cdp(&self) -> &Cdp {
        &self.cdp
    }

    /// The directory of the profile.
    #[must_use]
    pub fn profile_path(&self) -> PathBuf {
        self.profile.as_ref().map(|profile| profile.path().to_owned()).unwrap_or_default()
    }

    /// The extension's id.
    #[must_use]
    pub fn extension_id(&self) -> &str {
        &self.extension
    }

    /// The URL of a file of the extension.
    #[must_use]
    pub fn extension_url(&self, file: &str) -> String {
        format!("chrome-extension://{}/{file}", self.extension)
    }

    /// Waits until the browser has ended, for example because the user closed its last window.
    ///
    /// # Errors
    /// When it cannot be told.
    pub async fn closed(&mut self) -> Result<()> {
        self.process.ended_within(Duration::MAX).await
    }

    /// Opens a tab, waits until it has loaded, and collects its problems from the start.
    ///
    /// # Errors
    /// When the page does not load in time.
    pub async fn open(&self, url: &str) -> Result<Page> {
        let created = self.cdp.call("Target.createTarget", json!({ "url": "about:blank" })).await?;
        let target = created["targetId"].as_str().context("Target.createTarget: `targetId` is missing")?;
        let page = self.attach_page(target, url).await?;
        page.navigate(url).await?;
        Ok(page)
    }

    /// Opens a page of the extension.
    ///
    /// # Errors
    /// As [`Browser::open`].
    pub async fn open_extension(&self, file: &str) -> Result<Page> {
        self.open(&self.extension_url(file)).await
    }

    /// Opens a tab that nothing is attached to, and gives its target id.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn open_detached(&self, url: &str) -> Result<String> {
        let created = self.cdp.call("Target.createTarget", json!({ "url": url })).await?;
        Ok(created["targetId"].as_str().context("Target.createTarget: `targetId` is missing")?.to_owned())
    }

    /// Waits for a page whose URL contains `part` and attaches to it.
    ///
    /// # Errors
    /// When none appears in time.
    pub async fn find_page(&self, part: &str) -> Result<Page> {
        self.find_new_page(part, &[]).await
    }

    /// [`Browser::find_page`] among those that are not `known` yet.
    async fn find_new_page(&self, part: &str, known: &[Target]) -> Result<Page> {
        let what = format!("a page with {part} in its URL");
        let is_new = |target: &Target| known.iter().all(|known| known.id != target.id);
        let target = until(&what, Duration::from_secs(PAGE_S_MAX), || async {
            let mut targets = self.cdp.targets().await?;
            targets.retain(|target| target.kind == "page" && target.url.contains(part) && is_new(target));
            Ok(targets.pop())
        })
        .await?;
        let page = self.attach_page(&target.id, &target.url).await?;
        page.loaded().await?;
        Ok(page)
    }

    /// Opens the real side panel of the window of `opener`, which must be a page of the extension.
    ///
    /// # Errors
    /// When Chromium refuses to open it or it does not appear.
    pub async fn open_side_panel(&self, opener: &Page, file: &str) -> Result<Page> {
        let known = self.cdp.targets().await?;
        let open = "chrome.windows.getCurrent().then((w) => chrome.sidePanel.open({ windowId: w.id }))";
        opener.session().evaluate(open).await.context("cannot open the side panel")?;
        self.find_new_page(&self.extension_url(file), &known).await
    }

    /// Closes a target.
    ///
    /// # Errors
    /// When there is no such target.
    pub async fn close_target(&self, target: &str) -> Result<()> {
        self.cdp.call("Target.closeTarget", json!({ "targetId": target })).await?;
        Ok(())
    }

    /// The worker that runs now, if any.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn running_worker(&self) -> Result<Option<Target>> {
        self.running_worker_of(&self.extension).await
    }

    async fn running_worker_of(&self, extension: &str) -> Result<Option<Target>> {
        let origin = format!("chrome-extension://{extension}/");
        let targets = self.cdp.targets().await?;
        Ok(targets
            .into_iter()
            .find(|target| target.kind == "service_worker" && target.url.starts_with(&origin)))
    }

    /// Waits until the worker runs.
    ///
    /// # Errors
    /// When it does not come up in time.
    pub async fn worker_target(&self) -> Result<Target> {
        until("the extension's worker", Duration::from_secs(WORKER_S_MAX), || self.running_worker()).await
    }

    /// Attaches to the worker and collects its problems. An attached worker is kept alive by that.
    ///
    /// # Errors
    /// When it does not come up in time.
    pub async fn attach_worker(&self) -> Result<Session> {
        let target = self.worker_target().await?;
        let session = self.cdp.attach(&target.id).await?;
        self.cdp.name_session(&session, &target.url);
        session.call("Runtime.enable", json!({})).await?;
        session.call("Log.enable", json!({})).await?;
        Ok(session)
    }

    /// Kills the worker that runs now, as Chromium itself would, and returns once it is gone.
    ///
    /// A page with an open Port may start the next worker at once. Sessions of the worker must be detached.
    ///
    /// # Errors
    /// When no worker runs, or it does not end.
    pub async fn stop_worker(&self) -> Result<()> {
        self.stop_worker_of(&self.extension).await
    }

    /// [`Browser::stop_worker`] for another extension.
    ///
    /// # Errors
    /// As [`Browser::stop_worker`].
    pub async fn stop_worker_of(&self, extension: &str) -> Result<()> {
        let target = self.running_worker_of(extension).await?.context("no worker runs")?;
        let mut listener = self.cdp.listen();
        self.cdp.call("Target.closeTarget", json!({ "targetId": target.id })).await?;
        let within = Duration::from_secs(WORKER_S_MAX);
        listener
            .wait("the worker's end", within, |event| {
                (event.method == "Target.targetDestroyed" && event.params["targetId"] == target.id.as_str())
                    .then_some(())
            })
            .await
    }

    /// The problems that mean a defect of the extension: all but failed requests.
    #[must_use]
    pub fn defects(&self) -> Vec<Problem> {
        let mut problems = self.cdp.problems();
        problems.retain(|problem| problem.kind != ProblemKind::Network);
        problems
    }

    async fn attach_page(&self, target: &str, name: &str) -> Result<Page> {
        let session = self.cdp.attach(target).await?;
        self.cdp.name_session(&session, name);
        Page::prepare(session, target.to_owned(), self.color_scheme).await
    }
}
