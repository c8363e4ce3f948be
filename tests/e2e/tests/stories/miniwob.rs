//! Task pages of MiniWoB++, solved through the product's own tools; the page's own reward is the judge.
//!
//! Each scripted model sees the sentence of the task and the results of our tools, and nothing else.

use anyhow::{Context, Result, ensure};
use panelot_driver::product::Chat;
use panelot_driver::provider::{ParsedRequest, Reply, SnapshotNode, ToolResult, snapshot_lines};
use panelot_driver::sites::MINIWOB_VARIABLE;
use panelot_e2e::World;
use panelot_protocol::turn::PermissionPolicy;
use serde_json::{Value, json};

/// How often each page is played, each time with another problem.
const EPISODES: usize = 2;
/// The page's own clock is stopped by making an episode this long.
const EPISODE_MS: u64 = 3_600_000;

/// What a model does next: a tool and its arguments, or nothing more.
type Step = Option<(&'static str, Value)>;
/// Decides the next step from the task, the newest reading of the page, and the writes so far.
type Policy = fn(task: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step;

/// The page's name and its model.
const PAGES: [(&str, Policy); 12] = [
    ("click-test", |_, page, writes| step(writes, &[click(page, "button", "Click Me!")])),
    ("click-test-transfer", |task, page, writes| step(writes, &[click(page, "button", last_word(task))])),
    ("click-button", |task, page, writes| step(writes, &[click(page, "button", quoted(task))])),
    ("click-dialog", |_, page, writes| step(writes, &[click(page, "button", "Close")])),
    ("click-dialog-2", click_dialog),
    ("click-checkboxes", click_checkboxes),
    ("click-checkboxes-large", click_checkboxes),
    ("enter-text", |task, page, writes| enter(page, writes, quoted(task))),
    ("enter-text-2", enter_text_2),
    ("focus-text", |_, page, writes| step(writes, &[click(page, "textbox", "")])),
    ("simple-arithmetic", simple_arithmetic),
    ("click-collapsible-nodelay", click_collapsible),
];

/// The first of the planned steps that has not been done.
fn step(writes: &[ToolResult], plan: &[Step]) -> Step {
    plan.get(writes.len()).cloned().flatten()
}

/// A click on the first node with this role and name.
fn click(page: &[SnapshotNode], role: &str, name: &str) -> Step {
    let node =
        page.iter().find(|node| node.role == role && node.name == name && !node.reference.is_empty())?;
    Some(("click", json!({ "ref": node.reference })))
}

/// A text into the only field.
fn type_text(page: &[SnapshotNode], text: &str) -> Step {
    let node = page.iter().find(|node| node.role == "textbox")?;
    Some(("type", json!({ "ref": node.reference, "text": text })))
}

fn enter(page: &[SnapshotNode], writes: &[ToolResult], text: &str) -> Step {
    step(writes, &[type_text(page, text), click(page, "button", "Submit")])
}

/// What stands between the first two quotation marks.
fn quoted(task: &str) -> &str {
    task.split('"').nth(1).unwrap_or_default()
}

/// The last word, without the full stop.
fn last_word(task: &str) -> &str {
    task.split_whitespace().last().unwrap_or_default().trim_end_matches('.')
}

fn click_dialog(task: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step {
    let name = if quoted(task) == "x" { "Close" } else { quoted(task) };
    step(writes, &[click(page, "button", name)])
}

fn click_checkboxes(task: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step {
    let names = task.trim_start_matches("Select ").split(" and click Submit").next().unwrap_or_default();
    let names = names.split(", ").filter(|name| *name != "nothing");
    let mut plan: Vec<Step> = names.map(|name| click(page, "checkbox", name.trim())).collect();
    plan.push(click(page, "button", "Submit"));
    step(writes, &plan)
}

fn enter_text_2(task: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step {
    let text = quoted(task);
    let text = if task.contains("upper case") { text.to_uppercase() } else { text.to_lowercase() };
    enter(page, writes, &text)
}

fn simple_arithmetic(_: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step {
    let result = page.iter().flat_map(|node| [&node.name, &node.value]).find_map(|text| calculate(text))?;
    enter(page, writes, &result.to_string())
}

/// The result of `7 x 3 =`.
fn calculate(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [left, operator, right, "="] = words.as_slice() else { return None };
    let (left, right): (i64, i64) = (left.parse().ok()?, right.parse().ok()?);
    match *operator {
        "+" => Some(left + right),
        "-" => Some(left - right),
        "x" => Some(left * right),
        _ => None,
    }
}

fn click_collapsible(_: &str, page: &[SnapshotNode], writes: &[ToolResult]) -> Step {
    let section = page.iter().find(|node| node.name.starts_with("Section #") && !node.reference.is_empty());
    let open = section.map(|node| ("click", json!({ "ref": node.reference })));
    step(writes, &[open, click(page, "button", "Submit")])
}

/// The scripted model: reads before its first step and after each write, and follows its policy.
fn play(policy: Policy, task: &str, request: &ParsedRequest) -> Reply {
    if !request.offers("read_page") {
        return Reply::text("A title");
    }
    let results = request.results();
    let (reads, writes): (Vec<_>, Vec<_>) =
        results.iter().cloned().partition(|result| result.name == "read_page");
    if results.last().is_none_or(|last| last.name != "read_page") {
        return Reply::call("read_page", json!({}));
    }
    let page = reads.last().map(|read| snapshot_lines(&read.text)).unwrap_or_default();
    match policy(task, &page, &writes) {
        Some((tool, arguments)) => Reply::call(tool, arguments),
        None => Reply::text("I am done."),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_give_their_full_reward() -> Result<()> {
    ensure!(
        std::env::var_os(MINIWOB_VARIABLE).is_some(),
        "{MINIWOB_VARIABLE} is not set; run this through `cargo xtask test`"
    );
    let world = World::start(|_: &ParsedRequest| Reply::text("not yet")).await?;
    let chat = world.connected_chat().await?;
    world.set_policy(&chat, PermissionPolicy::Auto).await?;
    let mut failures = Vec::new();
    for (name, policy) in PAGES {
        for episode in 0..EPISODES {
            if let Err(failure) = play_page(&world, name, policy, episode).await {
                failures.push(format!("{name}, episode {episode}: {failure:#}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    world.end()
}

async fn play_page(world: &World, name: &str, policy: Policy, episode: usize) -> Result<()> {
    let page = world.browser.open(&world.site.url(&format!("miniwob/miniwob/{name}.html"))).await?;
    let start = format!(
        "(() => {{ Math.seedrandom('{name} {episode}'); core.EPISODE_MAX_TIME = {EPISODE_MS}; core.startEpisodeReal();
            return document.querySelector('#query').innerText.trim(); }})()"
    );
    let task: String = page.evaluate(&start).await?;
    let words = task.clone();
    world.provider.set_script(move |request: &ParsedRequest| play(policy, &words, request));
    let chat = Chat::open(&world.browser).await?;
    // A message carries the policy that the composer shows when it is sent.
    chat.page
        .wait_for("the chosen policy", "document.querySelector('[data-testid=policy]').value === '2'")
        .await?;
    chat.submit(&task).await?;
    let ended = chat.idle().await;
    let reward: f64 = page.evaluate("WOB_RAW_REWARD_GLOBAL").await?;
    let shown = chat.shown().await;
    chat.page.close().await?;
    page.close().await?;
    ended.with_context(|| format!("the task was: {task}"))?;
    ensure!((reward - 1.0).abs() < f64::EPSILON, "the reward is {reward}; the task was: {task}\n{shown}");
    Ok(())
}
