//! The browser's process: started in a group of its own, and never left behind.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use super::LaunchOptions;
use super::profile::Profile;
use crate::until;

/// The variable that names the browser to use, before any that is found.
pub const CHROMIUM_VARIABLE: &str = "PANELOT_CHROMIUM";
/// The names under which Chromium is looked for. Branded Chrome ignores `--load-extension`.
const CHROMIUM_NAMES: [&str; 3] = ["chromium", "chromium-browser", "chrome"];
/// How long the browser may take until its DevTools answer.
const START_S_MAX: u64 = 120;
/// How long the browser may take to end by itself.
const QUIT_S_MAX: u64 = 20;
/// How much of the browser's log an error quotes.
const LOG_LINES_QUOTED_MAX: usize = 20;

/// Runs the browser, and ends it and its profile should the process that started it die: then nobody drops anything.
const GUARD: &str = r#"
profile=$1
shift
exec 3<&0
{
    read -r _ <&3
    trap '' TERM
    kill -TERM 0
    sleep 1
    rm -rf "$profile"
    kill -KILL 0
} &
"$@" 3<&- </dev/null
"#;

/// A running browser. Dropping it kills the whole process group.
pub(super) struct BrowserProcess {
    child: Child,
    group: Option<Pid>,
}

impl BrowserProcess {
    /// Starts Chromium on the profile.
    pub(super) fn start(options: &LaunchOptions, profile: &Profile) -> Result<Self> {
        let program = match &options.chromium {
            Some(program) => program.clone(),
            None => find_chromium()?,
        };
        // The port of an earlier life would be taken for this one's.
        match std::fs::remove_file(profile.port_file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        let log = File::create(profile.log_file()).context("cannot make the browser's log")?;
        let child = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(profile.path())
            .arg(&program)
            .args(arguments(options, profile.path()))
            .env("LANGUAGE", &options.language)
            // Its other end closes with this process, however this process ends.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, group })
    }

    /// Waits for the DevTools and gives their websocket's address.
    pub(super) async fn devtools_url(&mut self, profile: &Profile) -> Result<String> {
        let path = profile.port_file();
        let waited = until("the browser's DevTools", Duration::from_secs(START_S_MAX), || {
            let gone = self.child.try_wait();
            let text = std::fs::read_to_string(&path);
            async move {
                if let Some(status) = gone? {
                    return Ok(Some(Err(status)));
                }
                Ok(text.ok().and_then(|text| devtools_url(&text)).map(Ok))
            }
        });
        match waited.await.with_context(|| log_tail(profile))? {
            Ok(url) => Ok(url),
            Err(status) => bail!("the browser ended at once ({status})\n{}", log_tail(profile)),
        }
    }

    /// Waits until the browser, which was asked to close, has ended by itself.
    pub(super) async fn ended(&mut self) -> Result<()> {
        self.ended_within(Duration::from_secs(QUIT_S_MAX)).await
    }

    /// Waits until the browser has ended.
    pub(super) async fn ended_within(&mut self, within: Duration) -> Result<()> {
        until("the browser's end", within, || {
            let state = self.child.try_wait();
            async move { Ok(state?.map(|_| ())) }
        })
        .await
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // The group may be gone already; the children of a browser that ended by itself may not.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The address in a `DevToolsActivePort` file: the port, then the path. `None` while it is half written.
fn devtools_url(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let port: u16 = lines.next()?.trim().parse().ok()?;
    let path = lines.next()?.trim();
    path.starts_with('/').then(|| format!("ws://127.0.0.1:{port}{path}"))
}

fn log_tail(profile: &Profile) -> String {
    let log = std::fs::read_to_string(profile.log_file()).unwrap_or_default();
    let lines: Vec<_> = log.lines().collect();
    let first = lines.len().saturating_sub(LOG_LINES_QUOTED_MAX);
    format!("the end of the browser's log:\n{}", lines.get(first..).unwrap_or_default().join("\n"))
}

/// Finds the browser: what [`CHROMIUM_VARIABLE`] names, else the first known name in `PATH`.
///
/// # Errors
/// When there is none; the message says how to get one.
pub fn find_chromium() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(CHROMIUM_VARIABLE) {
        return Ok(path.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|dir| CHROMIUM_NAMES.map(|name| dir.join(name)))
        .find(|candidate| candidate.is_file())
        .with_context(|| {
            format!(
                "no Chromium in PATH; run `cargo xtask setup`, or set {CHROMIUM_VARIABLE} to its executable"
            )
        })
}

fn arguments(options: &LaunchOptions, profile: &Path) -> Vec<String> {
    let extensions = std::iter::once(&options.dist).chain(&options.also_load);
    let dist = extensions.map(|path| path.display().to_string()).collect::<Vec<_>>().join(",");
    let (width, height) = options.window_size;
    let mut arguments = vec![
        format!("--user-data-dir={}", profile.display()),
        format!("--load-extension={dist}"),
        format!("--disable-extensions-except={dist}"),
        format!("--window-size={width},{height}"),
        format!("--lang={}", options.language),
        "--remote-debugging-port=0".into(),
        "--no-first-run".into(),
        "--no-default-browser-check".into(),
        "--password-store=basic".into(),
        "--use-mock-keychain".into(),
    ];
    let quiet =
        ["gpu", "quic", "background-networking", "component-update", "sync", "breakpad", "default-apps"];
    arguments.extend(quiet.map(|what| format!("--disable-{what}")));
    if options.headless {
        arguments.push("--headless=new".into());
        arguments.push("--hide-scrollbars".into());
    }
    // Chromium's sandbox refuses to run as root.
    if rustix::process::geteuid().is_root() {
        arguments.push("--no-sandbox".into());
    }
    arguments.push("about:blank".into());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_file_gives_the_address_once_it_is_whole() {
        let cases = [
            ("", None),
            ("41234\n", None),
            ("41234\n/devtools/browser/abc\n", Some("ws://127.0.0.1:41234/devtools/browser/abc")),
            ("x\n/devtools/browser/abc\n", None),
        ];
        for (text, url) in cases {
            assert_eq!(devtools_url(text).as_deref(), url, "{text:?}");
        }
    }
}
