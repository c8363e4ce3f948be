//! The tools' effects: looking at a call's target, and doing what was permitted. Each has a deadline.

use super::toolbox::{Action, Invocation};
use crate::permission::{Effect, Origin, Permitted};
use crate::ports::{Browser, BrowserError, Clock, ContentError, Entropy, TabState, World};
use crate::provider::{Late, within};
use crate::store::records::StoredFacts;
use panelot_protocol::content::{
    ActionReport, ContentAction, ContentOp, ContentOutcome, ContentResult, PageSnapshot,
};
use panelot_protocol::ids::{NodeId, RequestId, TabId};
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::limits;
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH};
use std::fmt::Write as _;

/// How long looking at a target may take.
const LOOK_MS_MAX: u64 = 10_000;
/// How long a page may take to load before the result says that it still does.
const LOAD_MS_MAX: u64 = 30_000;
/// How long the browser may take for a word about its tabs.
const TABS_MS_MAX: u64 = 10_000;
/// What an answer of a page may be late.
const GRACE_MS: u64 = 2_000;
/// Tabs that one list names.
const TABS_COUNT_MAX: usize = 100;

/// What was seen of a call's target.
pub(crate) struct Prepared {
    /// The call.
    pub call: NodeId,
    /// The call, parsed.
    pub invocation: Invocation,
    /// What was seen, or why it cannot be done, for the model.
    pub facts: Result<StoredFacts, String>,
}

/// What came of a tool.
pub(crate) struct ToolEnd {
    /// The call.
    pub call: NodeId,
    /// Whether it succeeded.
    pub ok: bool,
    /// The result as the model reads it.
    pub text: String,
    /// The result in a line.
    pub summary: String,
    /// A write's outcome.
    pub outcome: Option<ActionOutcome>,
    /// A tab that it opened.
    pub opened_tab: Option<TabId>,
    /// What a page showed.
    pub read: Option<(Origin, String)>,
}

impl ToolEnd {
    /// A call that did nothing.
    pub fn failed(call: NodeId, text: &str) -> Self {
        Self {
            call,
            ok: false,
            text: text.to_owned(),
            summary: text.to_owned(),
            outcome: None,
            opened_tab: None,
            read: None,
        }
    }

    fn done(call: NodeId, text: String, summary: String) -> Self {
        Self { call, ok: true, text, summary, outcome: None, opened_tab: None, read: None }
    }
}

/// Looks at a call's target without touching it.
pub(crate) async fn prepare<W: World>(
    world: W,
    call: NodeId,
    invocation: Invocation,
    captured: Option<TabId>,
) -> Prepared {
    let until_ms = world.clock().now_ms().saturating_add(LOOK_MS_MAX);
    let facts = match within(world.clock(), until_ms, facts(&world, &invocation, captured)).await {
        Ok(facts) => facts,
        Err(Late) => Err(format!(
            "The page did not answer within {} s. A dialog of the page may be open: ask the user to close it.",
            LOOK_MS_MAX / 1_000
        )),
    };
    Prepared { call, invocation, facts }
}

async fn facts<W: World>(
    world: &W,
    invocation: &Invocation,
    captured: Option<TabId>,
) -> Result<StoredFacts, String> {
    let tab_id = match &invocation.action {
        Action::ListTabs | Action::OpenTab { .. } | Action::Pause { .. } => return Ok(StoredFacts::default()),
        Action::Navigate { .. } | Action::Page(_) => invocation.tab(captured).ok_or_else(|| {
            "No tab is captured for this message. Call tabs_list and name a tab with tabId.".to_owned()
        })?,
    };
    let tab = world.browser().tab(tab_id).await.map_err(|error| tab_text(&error))?;
    let mut facts =
        StoredFacts { tab_id: Some(tab_id), url: Some(tab.info.url.clone()), ..StoredFacts::default() };
    if matches!(invocation.action, Action::Navigate { .. }) {
        return Ok(facts);
    }
    facts.access_missing = !world.browser().may_access(&tab.info.url).await;
    let Some(target) = invocation.target_ref().filter(|_| !facts.access_missing) else { return Ok(facts) };
    let action = ContentAction::Describe { target: target.to_owned() };
    let result = ask(world, tab_id, action, LOOK_MS_MAX).await.map_err(|error| error.to_string())?;
    match result.outcome {
        ContentOutcome::Target { target } => {
            facts.element = Some(target);
            facts.document = Some(result.document);
            Ok(facts)
        }
        ContentOutcome::Failure { code, message } => Err(format!("{}: {message}", code.as_str())),
        ContentOutcome::Pong {}
        | ContentOutcome::Snapshot { .. }
        | ContentOutcome::Action { .. }
        | ContentOutcome::Waited { .. } => Err("The page answered something else than was asked.".to_owned()),
    }
}

async fn ask<W: World>(
    world: &W,
    tab_id: TabId,
    action: ContentAction,
    ms_max: u64,
) -> Result<ContentResult, ContentError> {
    let op = ContentOp::Execute {
        protocol: CONTENT_PROTOCOL.to_owned(),
        schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.to_owned(),
        request_id: RequestId::new(world.entropy().uuid()),
        deadline_ms: world.clock().now_ms().saturating_add(ms_max),
        action,
    };
    world.browser().content(tab_id, op).await
}

fn tab_text(error: &BrowserError) -> String {
    match error {
        BrowserError::NoTab(tab_id) => {
            format!("Tab {tab_id} does not exist any more. Call tabs_list to see which tabs there are.")
        }
        BrowserError::Refused(_) => format!("{error}."),
    }
}

/// Does what was permitted, once.
pub(crate) async fn execute<W: World>(
    world: W,
    call: NodeId,
    permitted: Permitted<Invocation>,
    facts: StoredFacts,
) -> ToolEnd {
    let place = permitted.question().acted_on();
    let invocation = permitted.executed(()).call;
    match &invocation.action {
        Action::ListTabs => list_tabs(&world, call).await,
        Action::Pause { ms } => {
            world.clock().sleep(*ms).await;
            ToolEnd::done(call, format!("{ms} ms passed."), format!("waited {ms} ms"))
        }
        Action::OpenTab { url } => {
            let opener = facts.tab_id;
            let opened = bounded(&world, TABS_MS_MAX, world.browser().open(url, opener)).await;
            arrive(&world, call, opened, "Opened", true).await
        }
        Action::Navigate { url } => {
            let Some(tab_id) = facts.tab_id else { return ToolEnd::failed(call, "No tab is meant.") };
            let going = bounded(&world, TABS_MS_MAX, world.browser().navigate(tab_id, url)).await;
            arrive(&world, call, going, "Went to", false).await
        }
        Action::Page(action) => {
            let Some(tab_id) = facts.tab_id else { return ToolEnd::failed(call, "No tab is meant.") };
            act(&world, call, tab_id, action, place, invocation.effect()).await
        }
    }
}

/// A word of the browser within a time.
async fn bounded<W: World, T>(
    world: &W,
    ms_max: u64,
    work: impl Future<Output = Result<T, BrowserError>>,
) -> Result<T, BrowserError> {
    let until_ms = world.clock().now_ms().saturating_add(ms_max);
    match within(world.clock(), until_ms, work).await {
        Ok(outcome) => outcome,
        Err(Late) => Err(BrowserError::Refused(format!("no answer within {} s", ms_max / 1_000))),
    }
}

async fn list_tabs<W: World>(world: &W, call: NodeId) -> ToolEnd {
    let tabs = match bounded(world, TABS_MS_MAX, world.browser().tabs()).await {
        Ok(tabs) => tabs,
        Err(error) => return ToolEnd::failed(call, &tab_text(&error)),
    };
    let mut text = String::new();
    for tab in tabs.iter().take(TABS_COUNT_MAX) {
        let active = if tab.active { " [active]" } else { "" };
        let _ = writeln!(text, "- tab {}{active} {:?} {}", tab.tab_id, tab.title, tab.url);
    }
    if tabs.len() > TABS_COUNT_MAX {
        let _ = writeln!(text, "and {} more", tabs.len().saturating_sub(TABS_COUNT_MAX));
    }
    let text = super::history::fence(&call, "tabs_list", None, &text);
    ToolEnd::done(call, text, format!("{} tabs", tabs.len()))
}

/// Waits for a page that was sent for, within its time.
async fn arrive<W: World>(
    world: &W,
    call: NodeId,
    sent: Result<TabState, BrowserError>,
    verb: &str,
    opened: bool,
) -> ToolEnd {
    let tab = match sent {
        Ok(tab) => tab,
        Err(error) => return ToolEnd::failed(call, &tab_text(&error)),
    };
    let tab_id = tab.info.tab_id;
    let until_ms = world.clock().now_ms().saturating_add(LOAD_MS_MAX);
    let (tab, state) = match within(world.clock(), until_ms, world.browser().loaded(tab_id)).await {
        Ok(Ok(tab)) => (tab, "It is loaded."),
        Ok(Err(error)) => return ToolEnd::failed(call, &tab_text(&error)),
        Err(Late) => (tab, "It is still loading."),
    };
    let url = tab.info.url.clone();
    let about = format!("title: {:?}\naddress: {url}", tab.info.title);
    let fenced = super::history::fence(&call, "navigate", None, &about);
    let text = format!("{verb} the address in tab {tab_id}. {state} Call read_page to see it.\n{fenced}");
    ToolEnd {
        outcome: Some(ActionOutcome::Verified),
        opened_tab: opened.then_some(tab_id),
        ..ToolEnd::done(call, text, url)
    }
}

async fn act<W: World>(
    world: &W,
    call: NodeId,
    tab_id: TabId,
    action: &ContentAction,
    place: Option<Origin>,
    effect: Effect,
) -> ToolEnd {
    let ms_max = match action {
        ContentAction::WaitFor { timeout_ms, .. } => timeout_ms.saturating_add(limits::CONTENT_TIMEOUT_MS),
        ContentAction::Snapshot { .. }
        | ContentAction::Describe { .. }
        | ContentAction::Click { .. }
        | ContentAction::Type { .. }
        | ContentAction::SelectOption { .. } => limits::CONTENT_TIMEOUT_MS,
    };
    let until_ms = world.clock().now_ms().saturating_add(ms_max).saturating_add(GRACE_MS);
    let answered = within(world.clock(), until_ms, ask(world, tab_id, action.clone(), ms_max)).await;
    let unsure = |call, text: String| ToolEnd {
        outcome: (effect == Effect::Write).then_some(ActionOutcome::Uncertain),
        ..ToolEnd::failed(call, &text)
    };
    match answered {
        Err(Late) => unsure(call, late_text(tab_id, effect)),
        Ok(Err(error)) if error.may_have_acted() && effect == Effect::Write => unsure(
            call,
            format!("navigation_uncertain: {error}. It may have happened: read the page to see what is so."),
        ),
        Ok(Err(error)) => ToolEnd::failed(call, &format!("{error}.")),
        Ok(Ok(result)) => report(call, tab_id, action, place, result),
    }
}

fn late_text(tab_id: TabId, effect: Effect) -> String {
    let said = format!(
        "timeout: the page in tab {tab_id} did not answer in time. A dialog of the page may be open, or it is busy."
    );
    match effect {
        Effect::Write => format!("{said} The action may have happened: read the page before you try again."),
        Effect::Read => said,
    }
}

fn report(
    call: NodeId,
    tab_id: TabId,
    action: &ContentAction,
    place: Option<Origin>,
    result: ContentResult,
) -> ToolEnd {
    match result.outcome {
        ContentOutcome::Snapshot { snapshot } => snapshot_end(call, tab_id, place, &snapshot),
        ContentOutcome::Action { action: report } => action_end(call, tab_id, action, place, &report),
        ContentOutcome::Waited { met: true, elapsed_ms } => ToolEnd::done(
            call,
            format!("The condition holds after {elapsed_ms} ms in tab {tab_id}."),
            format!("after {elapsed_ms} ms"),
        ),
        ContentOutcome::Waited { met: false, elapsed_ms } => ToolEnd::failed(
            call,
            &format!("timeout: the condition did not hold within {elapsed_ms} ms. Read the page to see why."),
        ),
        ContentOutcome::Failure { code, message } => ToolEnd {
            outcome: action.is_write().then_some(ActionOutcome::Failed),
            ..ToolEnd::failed(call, &format!("{}: {message}", code.as_str()))
        },
        ContentOutcome::Pong {} | ContentOutcome::Target { .. } => {
            ToolEnd::failed(call, "The page answered something else than was asked.")
        }
    }
}

fn snapshot_end(call: NodeId, tab_id: TabId, place: Option<Origin>, snapshot: &PageSnapshot) -> ToolEnd {
    let shown = format!("title: {:?}\naddress: {}\n{}", snapshot.title, snapshot.url, snapshot.text);
    let fenced = super::history::fence(&call, "read_page", place.as_ref(), &shown);
    let text = format!("Tab {tab_id}:\n{fenced}");
    ToolEnd { read: place.map(|origin| (origin, shown)), ..ToolEnd::done(call, text, snapshot.title.clone()) }
}

fn action_end(
    call: NodeId,
    tab_id: TabId,
    action: &ContentAction,
    place: Option<Origin>,
    report: &ActionReport,
) -> ToolEnd {
    let (ok, word) = match report.outcome {
        ActionOutcome::Verified => (true, "verified"),
        ActionOutcome::Failed => (false, "failed"),
        ActionOutcome::Uncertain => (true, "uncertain"),
    };
    let mut shown = report.evidence.join("\n");
    if report.navigating {
        shown.push_str("\nThe document began to go elsewhere.");
    }
    if !report.diff.is_empty() {
        shown.push('\n');
        shown.push_str(&report.diff);
    }
    let tool = match action {
        ContentAction::Click { .. } => "click",
        ContentAction::Type { .. } => "type",
        ContentAction::SelectOption { .. } => "select_option",
        ContentAction::Snapshot { .. } | ContentAction::Describe { .. } | ContentAction::WaitFor { .. } => {
            "read_page"
        }
    };
    let fenced = super::history::fence(&call, tool, place.as_ref(), &shown);
    let summary = report.evidence.first().cloned().unwrap_or_else(|| word.to_owned());
    ToolEnd {
        ok,
        outcome: Some(report.outcome),
        read: place.map(|origin| (origin, shown)),
        ..ToolEnd::done(call, format!("Outcome in tab {tab_id}: {word}.\n{fenced}"), summary)
    }
}
