//! One page: evaluate, wait, trusted keys and clicks, screenshots.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::PAGE_S_MAX;
use super::input::Chord;
use crate::cdp::Session;
use crate::until;

/// How long an element may take to appear, or a condition in a page to hold.
pub const ELEMENT_S_MAX: u64 = 90;

/// What `prefers-color-scheme` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl ColorScheme {
    /// The name in CSS.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// An attached page.
#[derive(Clone)]
pub struct Page {
    session: Session,
    target: String,
}

impl Page {
    pub(super) async fn prepare(session: Session, target: String, scheme: ColorScheme) -> Result<Self> {
        for domain in ["Page", "Runtime", "Log", "Inspector"] {
            session.call(&format!("{domain}.enable"), json!({})).await?;
        }
        let page = Self { session, target };
        page.set_color_scheme(scheme).await?;
        Ok(page)
    }

    /// The session, for commands that have no method here.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The target's id.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Goes to a URL and waits until it has loaded.
    ///
    /// # Errors
    /// When the navigation fails or the page does not load in time.
    pub async fn navigate(&self, url: &str) -> Result<()> {
        let reply = self.session.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(error) = reply["errorText"].as_str() {
            anyhow::bail!("cannot open {url}: {error}");
        }
        self.loaded().await
    }

    /// Loads the page again and waits until it has loaded.
    ///
    /// # Errors
    /// When the page does not load in time.
    pub async fn reload(&self) -> Result<()> {
        self.session.evaluate("globalThis.__beforeReload = true").await?;
        self.session.call("Page.reload", json!({})).await?;
        self.wait_for("the reload", "!globalThis.__beforeReload").await?;
        self.loaded().await
    }

    /// Waits until the document is complete.
    ///
    /// # Errors
    /// When it is not in time.
    pub async fn loaded(&self) -> Result<()> {
        let what = "the page to load";
        self.wait_within(what, Duration::from_secs(PAGE_S_MAX), "document.readyState === 'complete'").await
    }

    /// Evaluates an expression (its promise is awaited) and reads its value.
    ///
    /// # Errors
    /// When it throws, or its value is of another type.
    pub async fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> Result<T> {
        let value = self.session.evaluate(expression).await?;
        serde_json::from_value(value).with_context(|| format!("the value of {expression}"))
    }

    /// Calls a function, given as source text, with JSON arguments.
    ///
    /// # Errors
    /// As [`Page::evaluate`].
    pub async fn call<T: DeserializeOwned>(&self, function: &str, arguments: &[Value]) -> Result<T> {
        let arguments: Vec<_> = arguments.iter().map(Value::to_string).collect();
        self.evaluate(&format!("({function})({})", arguments.join(", "))).await
    }

    /// Waits until an expression is truthy. `what` completes "waited for ...".
    ///
    /// # Errors
    /// When it is not within [`ELEMENT_S_MAX`]; the message holds the page's text.
    pub async fn wait_for(&self, what: &str, expression: &str) -> Result<()> {
        self.wait_within(what, Duration::from_secs(ELEMENT_S_MAX), expression).await
    }

    /// [`Page::wait_for`] with another limit.
    ///
    /// # Errors
    /// As [`Page::wait_for`].
    pub async fn wait_within(&self, what: &str, within: Duration, expression: &str) -> Result<()> {
        let truthy = format!("(async () => Boolean(await ({expression})))()");
        let waited = until(what, within, || async {
            let holds = self.session.evaluate(&truthy).await?;
            Ok((holds == true).then_some(()))
        });
        match waited.await {
            Ok(()) => Ok(()),
            Err(failure) => {
                let text = self.session.evaluate("location.href + '\\n' + document.body?.innerText").await;
                Err(failure.context(format!("the page shows: {}", text.unwrap_or_default())))
            }
        }
    }

    /// Waits until an element matches the selector.
    ///
    /// # Errors
    /// As [`Page::wait_for`].
    pub async fn appears(&self, selector: &str) -> Result<()> {
        self.wait_for(selector, &format!("document.querySelector({})", json!(selector))).await
    }

    /// Waits until no element matches the selector.
    ///
    /// # Errors
    /// As [`Page::wait_for`].
    pub async fn disappears(&self, selector: &str) -> Result<()> {
        let what = format!("the end of {selector}");
        self.wait_for(&what, &format!("!document.querySelector({})", json!(selector))).await
    }

    /// Waits until the page's visible text contains `text`.
    ///
    /// # Errors
    /// As [`Page::wait_for`].
    pub async fn shows(&self, text: &str) -> Result<()> {
        self.wait_for(
            &format!("the text {text:?}"),
            &format!("document.body.innerText.includes({})", json!(text)),
        )
        .await
    }

    /// The visible text of the first match, or `None`.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn text(&self, selector: &str) -> Result<Option<String>> {
        self.call("(s) => document.querySelector(s)?.innerText ?? null", &[json!(selector)]).await
    }

    /// The visible texts of all matches.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn texts(&self, selector: &str) -> Result<Vec<String>> {
        self.call("(s) => [...document.querySelectorAll(s)].map((e) => e.innerText)", &[json!(selector)])
            .await
    }

    /// How many elements match.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn count(&self, selector: &str) -> Result<usize> {
        self.call("(s) => document.querySelectorAll(s).length", &[json!(selector)]).await
    }

    /// Moves the focus to the first match.
    ///
    /// # Errors
    /// When none appears.
    pub async fn focus(&self, selector: &str) -> Result<()> {
        self.appears(selector).await?;
        self.session.evaluate(&format!("document.querySelector({}).focus()", json!(selector))).await?;
        Ok(())
    }

    /// Presses a key or chord such as `Enter` or `Alt+Shift+Enter`, as the keyboard would.
    ///
    /// # Errors
    /// When a name is unknown, or the page is gone.
    pub async fn press(&self, chord: &str) -> Result<()> {
        for event in Chord::parse(chord)?.events() {
            self.session.call("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }

    /// Types each character by its own key press.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn type_keys(&self, text: &str) -> Result<()> {
        for character in text.chars() {
            match character {
                ' ' => self.press("Space").await?,
                '+' => self.insert("+").await?,
                other => self.press(&other.to_string()).await?,
            }
        }
        Ok(())
    }

    /// Inserts a text at once where the focus is, as an input method or a paste would.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn insert(&self, text: &str) -> Result<()> {
        self.session.call("Input.insertText", json!({ "text": text })).await?;
        Ok(())
    }

    /// Clicks the middle of the first match with the mouse, once it is there, in view and where it stays.
    ///
    /// # Errors
    /// When it does not appear, or something else covers it.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let point = "(s) => new Promise((resolve) => {
            const element = document.querySelector(s);
            if (!element) return resolve(null);
            element.scrollIntoView({ block: 'center', behavior: 'instant' });
            const place = () => { const r = element.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
            const before = place();
            setTimeout(() => {
                const [x, y] = place();
                const hit = document.elementFromPoint(x, y);
                const free = hit && (element.contains(hit) || hit.contains(element) || hit.closest('label')?.control === element);
                resolve(free && x === before[0] && y === before[1] ? [x, y] : null);
            }, 30);
        })";
        let what = format!("{selector} to be clickable");
        let selector = [json!(selector)];
        let (x, y): (f64, f64) =
            until(&what, Duration::from_secs(ELEMENT_S_MAX), || self.call(point, &selector)).await?;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.session.call("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Sets what `prefers-color-scheme` says, and asks for reduced motion, so that what is seen is settled.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn set_color_scheme(&self, scheme: ColorScheme) -> Result<()> {
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme.name() },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.session.call("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        Ok(())
    }

    /// Sets the size of the viewport in CSS pixels.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn set_viewport(&self, width: u32, height: u32) -> Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.session.call("Emulation.setDeviceMetricsOverride", metrics).await?;
        Ok(())
    }

    /// Makes this the tab that the user sees.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn bring_to_front(&self) -> Result<()> {
        self.session.call("Page.bringToFront", json!({})).await?;
        Ok(())
    }

    /// Writes what the viewport shows to a PNG file; makes its directory.
    ///
    /// # Errors
    /// When the page is gone or the file cannot be written.
    pub async fn screenshot(&self, file: &Path) -> Result<()> {
        let reply = self.session.call("Page.captureScreenshot", json!({ "format": "png" })).await?;
        let data = reply["data"].as_str().context("Page.captureScreenshot: `data` is missing")?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(data)?;
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Closes the tab.
    ///
    /// # Errors
    /// When it is gone already.
    pub async fn close(self) -> Result<()> {
        self.session.cdp().call("Target.closeTarget", json!({ "targetId": self.target })).await?;
        Ok(())
    }
}
