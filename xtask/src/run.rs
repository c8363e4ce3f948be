//! `cargo xtask run`: the extension in a throw-away Chromium beside a demo provider and a demo site.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use panelot_driver::browser::{ColorScheme, Page};
use panelot_driver::product::{Chat, Line, connect_provider};
use panelot_driver::{Browser, LaunchOptions, Provider, Site, SiteOptions};

use crate::build::{self, Profile};
use crate::setup::{self, Setup};
use crate::{proc, progress};

/// What the demo asks the agent to do.
const TASK: &str = "Order a flat white with oat milk for Mei Chen, size large, note: extra hot.";
/// The key that the demo connection uses; the demo provider takes any.
const DEMO_KEY: &str = "demo-key";
/// How long the end of the demo may take after Ctrl+C.
const CLEAN_UP_S_MAX: u64 = 5;

/// Arguments of `cargo xtask run`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask run", about = "The extension in a throw-away Chromium with a demo provider.")]
struct RunArgs {
    /// Without a window: plays the demo task, prints the transcript, writes target/run/*.png.
    #[arg(long)]
    headless: bool,
    /// Build as it is shipped.
    #[arg(long)]
    release: bool,
}

/// Builds the bundle and plays the demo.
///
/// # Errors
/// When a part of the set-up or the build fails, or the demo does not do what it should.
pub fn run(setup: &Setup, args: &[String]) -> Result<()> {
    let words = std::iter::once("cargo xtask run".to_owned()).chain(args.iter().cloned());
    let args = match RunArgs::try_parse_from(words) {
        Ok(args) => args,
        // Help and wrong arguments have their own exit codes.
        Err(answer) => answer.exit(),
    };
    let profile = if args.release { Profile::Release } else { Profile::Dev };
    // Not in dist/: a browser may have that bundle loaded.
    let dist = setup.paths.root.join("target/run/bundle");
    let dist = build::build_into(setup, build::Browser::Chrome, profile, dist)?;
    let chromium = setup::browser(setup)?.chromium;
    let headless = args.headless || !has_display();
    let options = LaunchOptions { chromium: Some(chromium), headless, ..LaunchOptions::new(dist) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let pictures = setup.paths.root.join("target/run");
    runtime.block_on(until_stopped(async {
        let world = World::start(&options).await?;
        if headless { world.play(&pictures).await } else { world.wait().await }
    }))
}

/// Runs the demo, and ends it early, with everything that it started, when Ctrl+C is pressed.
async fn until_stopped(demo: impl Future<Output = Result<()>>) -> Result<()> {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let (done, all_done) = mpsc::channel::<()>();
    proc::before_signalled_end(move || {
        // The receiver is gone when the demo has ended by itself.
        let _ = stop.send(());
        let _ = all_done.recv_timeout(Duration::from_secs(CLEAN_UP_S_MAX));
    });
    let ended = tokio::select! {
        ended = demo => ended,
        _ = stopped => Ok(()),
    };
    // The demo is dropped by now, its browser and profile with it.
    drop(done);
    ended
}

fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Everything that runs while the demo does.
struct World {
    browser: Browser,
    provider: Provider,
    site: Site,
    order: Page,
    chat: Chat,
}

impl World {
    async fn start(options: &LaunchOptions) -> Result<Self> {
        progress::step("starting the demo provider, the demo site and Chromium");
        let provider = Provider::start().await?;
        let site = Site::start(SiteOptions::default()).await?;
        let browser = Browser::launch(options).await?;
        let order = browser.open(&site.url("order")).await?;
        let chat = Chat::open(&browser).await?;
        connect_provider(&chat.page, &provider.base_url(), &[DEMO_KEY]).await?;
        progress::note(&format!("demo provider: {}", provider.base_url()));
        progress::note(&format!("demo site:     {}", site.url("order")));
        Ok(Self { browser, provider, site, order, chat })
    }

    /// Tells a person what to do, and waits until the browser is closed.
    async fn wait(mut self) -> Result<()> {
        progress::answer!(
            "The chat page is open and connected to the demo provider. Try this message:\n\n    {TASK}\n"
        );
        progress::answer!("The agent reads the café's page and asks before it writes. Y allows, N declines.");
        progress::answer!("Faults on demand, for the next request:");
        progress::answer!(
            "    curl -d '{{\"cutAfterBytes\":{{\"bytes\":600}}}}' {}/admin/fault",
            self.provider.origin()
        );
        progress::answer!("Close the browser or press Ctrl+C to end; profile and settings are thrown away.");
        self.browser.closed().await
    }

    /// Plays the demo task by keyboard, with pictures on the way.
    async fn play(self, pictures: &Path) -> Result<()> {
        progress::step("no display: playing the demo task");
        let mut written = Vec::new();
        let mut shoot = async |page: &Page, name: &str| {
            let file = pictures.join(format!("{name}.png"));
            page.screenshot(&file).await?;
            written.push(file);
            anyhow::Ok(())
        };
        let chat = &self.chat;
        shoot(&chat.page, "1-chat").await?;
        chat.submit(TASK).await?;
        let asked = chat.approval().await?;
        shoot(&chat.page, "2-approval").await?;
        chat.decide(&asked, "y").await?;
        let approvals = 1 + chat.approve_until_idle().await?;
        shoot(&chat.page, "3-done").await?;
        chat.page.set_color_scheme(ColorScheme::Dark).await?;
        shoot(&chat.page, "3-done-dark").await?;
        shoot(&self.order, "4-page").await?;
        progress::answer!("\n{}\n", transcript(&self.chat.transcript().await?));
        self.judge(approvals)?;
        for file in &written {
            progress::note(&format!("picture: {}", file.display()));
        }
        Ok(())
    }

    /// The demo counts only when the café got exactly one order and nobody complained.
    fn judge(&self, approvals: usize) -> Result<()> {
        let orders = self.site.submissions("order");
        ensure!(orders.len() == 1, "the café got {} orders instead of one: {orders:#?}", orders.len());
        let order = orders.first().map(|order| order.values.to_string()).unwrap_or_default();
        progress::answer!("The café got one order, after {approvals} approvals: {order}");
        let violations = self.provider.violations();
        ensure!(violations.is_empty(), "requests broke the rules of the wire: {violations:#?}");
        let defects = self.browser.defects();
        ensure!(defects.is_empty(), "the pages complained: {defects:#?}");
        Ok(())
    }
}

/// The conversation as text.
fn transcript(lines: &[Line]) -> String {
    let one = |line: &Line| {
        let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.kind.as_str() {
            "message-user" => format!("You:     {text}"),
            "message-assistant" => format!("Panelot: {text}"),
            "tool-row" => format!("         [{} {}] {text}", line.tool, line.status),
            _ => format!("         ({text})"),
        }
    };
    lines.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, tool: &str, status: &str, text: &str) -> Line {
        Line { kind: kind.into(), tool: tool.into(), status: status.into(), text: text.into() }
    }

    #[test]
    fn a_transcript_tells_who_said_what_and_which_tools_ran() {
        let lines = [
            line("message-user", "", "", "Order\ncoffee"),
            line("tool-row", "click", "done", "Clicked"),
            line("message-assistant", "", "done", "Done."),
            line("notice", "", "", "Interrupted"),
        ];
        let expected =
            "You:     Order coffee\n         [click done] Clicked\nPanelot: Done.\n         (Interrupted)";
        assert_eq!(transcript(&lines), expected);
    }
}
