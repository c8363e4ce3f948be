//! The browser driver against a small extension of the same shape as the real one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use panelot_driver::browser::ColorScheme;
use panelot_driver::cdp::ProblemKind;
use panelot_driver::{Browser, LaunchOptions, until};
use tokio::sync::{Mutex, MutexGuard};

/// Two browsers at once would be too much for a small machine.
static ONE_BROWSER: Mutex<()> = Mutex::const_new(());

const WITHIN: Duration = Duration::from_secs(30);

fn options() -> LaunchOptions {
    LaunchOptions::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extension"))
}

async fn launch(options: &LaunchOptions) -> Result<(Browser, MutexGuard<'static, ()>)> {
    let turn = ONE_BROWSER.lock().await;
    Ok((Browser::launch(options).await?, turn))
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_granted_only_when_asked_for() -> Result<()> {
    let granted = "chrome.permissions.contains({ origins: ['<all_urls>'] })";
    for grant_hosts in [false, true] {
        let (browser, _turn) = launch(&LaunchOptions { grant_hosts, ..options() }).await?;
        let page = browser.open_extension("panel.html").await?;
        assert_eq!(page.evaluate::<bool>(granted).await?, grant_hosts);
        // The other permissions are the manifest's own in both cases.
        assert_eq!(page.evaluate::<String>("typeof chrome.scripting.executeScript").await?, "function");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_clicks_are_trusted() -> Result<()> {
    let (browser, _turn) = launch(&LaunchOptions { grant_hosts: false, ..options() }).await?;
    let page = browser.open_extension("panel.html").await?;
    page.click("#name").await?;
    page.type_keys("Ada 1").await?;
    page.insert(" \u{4f60}\u{597d}").await?;
    page.click("#go").await?;
    assert_eq!(page.text("#out").await?.as_deref(), Some("clicked true Ada 1 \u{4f60}\u{597d}"));
    page.focus("#name").await?;
    page.press("Shift+Enter").await?;
    assert_eq!(page.text("#out").await?.as_deref(), Some("shift enter"));
    page.press("Tab").await?;
    page.press("Enter").await?;
    page.wait_for("the click by keyboard", "document.querySelector('#out').innerText.startsWith('clicked')")
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_worker_is_gone_and_a_message_starts_another() -> Result<()> {
    let (browser, _turn) = launch(&LaunchOptions { grant_hosts: false, ..options() }).await?;
    let page = browser.open_extension("panel.html").await?;
    let born = || page.evaluate::<String>("chrome.runtime.sendMessage('born')");
    let first = born().await?;
    assert_eq!(born().await?, first);
    browser.stop_worker().await?;
    assert_ne!(born().await?, first);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uncaught_error_of_the_worker_is_a_defect() -> Result<()> {
    let (browser, _turn) = launch(&LaunchOptions { grant_hosts: false, ..options() }).await?;
    let page = browser.open_extension("panel.html").await?;
    browser.attach_worker().await?;
    page.session().evaluate("void chrome.runtime.sendMessage('fail')").await?;
    let defects = until("the defect", WITHIN, || async {
        let defects = browser.defects();
        Ok((!defects.is_empty()).then_some(defects))
    })
    .await?;
    let [defect] = defects.as_slice() else { panic!("{defects:#?}") };
    assert_eq!(
        (defect.kind, defect.place.as_str()),
        (ProblemKind::Uncaught, &*browser.extension_url("worker.js"))
    );
    assert!(defect.text.contains("told to fail"), "{}", defect.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_side_panel_opens_and_can_be_seen_in_both_schemes() -> Result<()> {
    let (browser, _turn) = launch(&LaunchOptions { grant_hosts: false, ..options() }).await?;
    let opener = browser.open_extension("panel.html?opener").await?;
    let panel = browser.open_side_panel(&opener, "panel.html").await?;
    assert_ne!(panel.target(), opener.target());
    assert_eq!(panel.text("h1").await?.as_deref(), Some("Panel"));
    let pictures = tempfile::tempdir()?;
    let mut images = Vec::new();
    for scheme in [ColorScheme::Light, ColorScheme::Dark] {
        panel.set_color_scheme(scheme).await?;
        let file = pictures.path().join("panel").join(format!("{}.png", scheme.name()));
        panel.screenshot(&file).await?;
        images.push(std::fs::read(file)?);
    }
    for image in &images {
        assert!(image.starts_with(b"\x89PNG"));
    }
    assert_ne!(images[0], images[1]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_when_a_test_panics() -> Result<()> {
    let (browser, _turn) = launch(&LaunchOptions { grant_hosts: false, ..options() }).await?;
    let profile = browser.profile_path();
    assert!(profile.is_dir());
    let panicked = tokio::spawn(async move {
        let _browser = browser;
        panic!("on purpose");
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert!(!profile.exists());
    assert_eq!(processes_with(&profile)?, Vec::<PathBuf>::new());
    Ok(())
}

/// The processes whose command line names the profile.
fn processes_with(profile: &Path) -> Result<Vec<PathBuf>> {
    let needle = profile.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        // A process may end between the listing and the reading.
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(&needle) {
            found.push(path);
        }
    }
    Ok(found)
}
