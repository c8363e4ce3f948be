//! The tools' effects: looking at a call's target, and doing what was permitted. Each has a deadline.

use super::toolbox::Invocation;
use crate::permission::{Origin, Permitted, Place};
use crate::ports::{Browser, BrowserError, Clock, ContentError, Entropy, TabState, World};
use crate::provider::{Late, within};
use crate::store::records::StoredFacts;
use crate::tools::ToolInvocation;
use crate::tools::results::{ToolText, advice, provenance, render_arrival, render_outcome, render_tabs};
use crate::tools::waits::PageSeen;
use panelot_protocol::content::{ActionFailureCode, ContentAction, ContentOp, ContentOutcome, ContentResult};
use panelot_protocol::ids::{InteractionId, NodeId, RequestId, TabId};
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::limits;
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH};
use std::collections::BTreeSet;

/// How long looking at a target may take.
const LOOK_MS_MAX: u64 = 10_000;
/// How long a page may take to load before the result says that it still does.
const LOAD_MS_MAX: u64 = 30_000;
/// How long the browser may take for a word about its tabs.
const TABS_MS_MAX: u64 = 10_000;
/// What an answer of a page may be late.
const GRACE_MS: u64 = 2_000;

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
    if !invocation.call.needs_tab() {
        return Ok(StoredFacts::default());
    }
    let tab_id = invocation.tab(captured).ok_or_else(|| {
        "No tab is captured for this message. Call tabs_list and name a tab with tabId.".to_owned()
    })?;
    let tab = world.browser().tab(tab_id).await.map_err(|error| tab_text(&error))?;
    let mut facts =
        StoredFacts { tab_id: Some(tab_id), url: Some(tab.info.url.clone()), ..StoredFacts::default() };
    if invocation.call.content_action().is_none() {
        return Ok(facts);
    }
    facts.access_missing = !world.browser().may_access(&tab.info.url).await;
    let target = invocation.call.target_ref().filter(|_| invocation.writes() && !facts.access_missing);
    let Some(target) = target else { return Ok(facts) };
    let action = ContentAction::Describe { target: target.to_owned() };
    let result = ask(world, tab_id, action, LOOK_MS_MAX).await.map_err(|error| error.to_string())?;
    if let ContentOutcome::Target { target } = result.outcome {
        facts.element = Some(target);
        facts.document = Some(result.document);
        return Ok(facts);
    }
    if let ContentOutcome::Failure { code, message } = &result.outcome {
        return Err(format!("Tab {tab_id}: failed with {}. {} ({message})", code.as_str(), advice(*code)));
    }
    Err("The page answered something else than was asked.".to_owned())
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

/// Does what was permitted, once. `of_thread` are the tabs that the thread may read without a question.
pub(crate) async fn execute<W: World>(
    world: W,
    call: NodeId,
    permitted: Permitted<Invocation>,
    facts: StoredFacts,
    of_thread: BTreeSet<TabId>,
) -> ToolEnd {
    let place = permitted.question().acted_on();
    let invocation = permitted.executed(()).call;
    match &invocation.call {
        ToolInvocation::TabsList => match bounded(&world, TABS_MS_MAX, world.browser().tabs()).await {
            Ok(tabs) => rendered(call, "tabs_list", None, &render_tabs(&tabs, &of_thread)),
            Err(error) => ToolEnd::failed(call, &tab_text(&error)),
        },
        ToolInvocation::WaitForTime { time_ms } => {
            world.clock().sleep(*time_ms).await;
            rendered(call, "wait_for", None, &ToolText::own(true, format!("{time_ms} ms passed.")))
        }
        ToolInvocation::Wait(_) => ToolEnd::failed(call, "A wait is begun, not executed."),
        ToolInvocation::TabOpen { .. } => {
            let Some(url) = invocation.call.href() else { return unreachable_address(call) };
            let sent = bounded(&world, TABS_MS_MAX, world.browser().open(&url, facts.tab_id)).await;
            let end = arrive(&world, call, sent, &url, "tab_open").await;
            ToolEnd { opened_tab: end.1, ..end.0 }
        }
        ToolInvocation::Navigate { .. } => {
            let (Some(url), Some(tab_id)) = (invocation.call.href(), facts.tab_id) else {
                return unreachable_address(call);
            };
            let sent = bounded(&world, TABS_MS_MAX, world.browser().navigate(tab_id, &url)).await;
            arrive(&world, call, sent, &url, "navigate").await.0
        }
        ToolInvocation::ReadPage(_)
        | ToolInvocation::Click(_)
        | ToolInvocation::Type(_)
        | ToolInvocation::SelectOption(_)
        | ToolInvocation::WaitForText { .. } => {
            let (Some(action), Some(tab_id)) = (invocation.call.content_action(), facts.tab_id) else {
                return ToolEnd::failed(call, "No tab is meant.");
            };
            act(&world, call, tab_id, &invocation, action, place).await
        }
    }
}

fn unreachable_address(call: NodeId) -> ToolEnd {
    ToolEnd::failed(call, "This address cannot be opened. Use an http or https address.")
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

/// A result as it is stored: what a page says stands in a fence.
fn rendered(call: NodeId, tool: &str, place: Option<&Origin>, text: &ToolText) -> ToolEnd {
    let origin = place.map(ToString::to_string);
    let whole = text.for_model(provenance(&call, tool, origin.as_deref()));
    ToolEnd {
        ok: text.ok,
        text: whole,
        summary: text.head.clone(),
        outcome: None,
        opened_tab: None,
        read: place.cloned().map(|origin| (origin, text.body.clone())),
        call,
    }
}

/// Waits for a page that was sent for, within its time; answers its tab, too.
async fn arrive<W: World>(
    world: &W,
    call: NodeId,
    sent: Result<TabState, BrowserError>,
    asked: &str,
    tool: &str,
) -> (ToolEnd, Option<TabId>) {
    let tab = match sent {
        Ok(tab) => tab,
        Err(error) => return (ToolEnd::failed(call, &tab_text(&error)), None),
    };
    let tab_id = tab.info.tab_id;
    let until_ms = world.clock().now_ms().saturating_add(LOAD_MS_MAX);
    let text = match within(world.clock(), until_ms, world.browser().loaded(tab_id)).await {
        Ok(Ok(tab)) => render_arrival(tab_id, asked, &tab.info.url, &tab.info.title),
        Ok(Err(error)) => return (ToolEnd::failed(call, &tab_text(&error)), None),
        Err(Late) => {
            let head = format!(
                "Tab {tab_id}: the page is still loading after {} s. Use wait_for, then read_page with this tabId.",
                LOAD_MS_MAX / 1_000
            );
            ToolText::own(true, head)
        }
    };
    let end = rendered(call, tool, None, &text);
    (ToolEnd { outcome: Some(ActionOutcome::Verified), ..end }, Some(tab_id))
}

async fn act<W: World>(
    world: &W,
    call: NodeId,
    tab_id: TabId,
    invocation: &Invocation,
    action: ContentAction,
    place: Option<Origin>,
) -> ToolEnd {
    let extra_ms = if let ContentAction::WaitFor { timeout_ms, .. } = &action { *timeout_ms } else { 0 };
    let ms_max = limits::CONTENT_TIMEOUT_MS.saturating_add(extra_ms);
    let until_ms = world.clock().now_ms().saturating_add(ms_max).saturating_add(GRACE_MS);
    let unsure = |call, text: String| ToolEnd {
        outcome: invocation.writes().then_some(ActionOutcome::Uncertain),
        ..ToolEnd::failed(call, &text)
    };
    let outcome = match within(world.clock(), until_ms, ask(world, tab_id, action, ms_max)).await {
        Err(Late) => return unsure(call, late_text(tab_id, invocation.writes())),
        Ok(Err(error)) if error.may_have_acted() && invocation.writes() => {
            let code = ActionFailureCode::NavigationUncertain;
            return unsure(call, format!("Tab {tab_id}: {}: {error}. {}", code.as_str(), advice(code)));
        }
        Ok(Err(error)) => return ToolEnd::failed(call, &format!("{error}.")),
        Ok(Ok(result)) => result.outcome,
    };
    let end = rendered(call, invocation.spec.name, place.as_ref(), &render_outcome(tab_id, &outcome));
    match outcome {
        ContentOutcome::Action { action } => ToolEnd {
            outcome: Some(action.outcome),
            summary: action.evidence.first().cloned().unwrap_or(end.summary),
            ..end
        },
        ContentOutcome::Failure { .. } => {
            ToolEnd { outcome: invocation.writes().then_some(ActionOutcome::Failed), ..end }
        }
        ContentOutcome::Snapshot { snapshot } => ToolEnd { summary: snapshot.title, ..end },
        ContentOutcome::Pong {} | ContentOutcome::Target { .. } | ContentOutcome::Waited { .. } => end,
    }
}

/// What a look at a watched page saw.
pub(crate) struct Looked {
    /// The wait.
    pub wait: InteractionId,
    /// What was seen.
    pub seen: Seen,
}

/// What a look at a watched page can see.
pub(crate) enum Seen {
    /// The condition does not hold, or the page does not answer now.
    Nothing,
    /// The condition holds.
    Met(PageSeen),
    /// The tab is closed.
    Closed,
    /// The tab shows another site than the one that was judged.
    Elsewhere(PageSeen),
}

/// Looks once at a page that is watched, within a time. `site` is the one that may be watched.
pub(crate) async fn look<W: World>(
    world: W,
    wait: InteractionId,
    tab_id: TabId,
    site: Option<Origin>,
    action: ContentAction,
) -> Looked {
    let until_ms = world.clock().now_ms().saturating_add(LOOK_MS_MAX);
    let seen = within(world.clock(), until_ms, see(&world, tab_id, site.as_ref(), action)).await;
    Looked { wait, seen: seen.unwrap_or(Seen::Nothing) }
}

async fn see<W: World>(world: &W, tab_id: TabId, site: Option<&Origin>, action: ContentAction) -> Seen {
    let before = match world.browser().tab(tab_id).await {
        Ok(tab) => tab,
        Err(BrowserError::NoTab(_)) => return Seen::Closed,
        Err(BrowserError::Refused(_)) => return Seen::Nothing,
    };
    if !is_of(&before, site) {
        return Seen::Elsewhere(page_of(&before));
    }
    if before.discarded {
        // Chrome put the page to sleep: it changes nothing, and waking it would be more than a look.
        return Seen::Nothing;
    }
    let met = match ask(world, tab_id, action, LOOK_MS_MAX).await {
        Ok(ContentResult { outcome: ContentOutcome::Waited { met, .. }, .. }) => met,
        Err(ContentError::NoTab(_)) => return Seen::Closed,
        Ok(_)
        | Err(
            ContentError::NoAccess(_)
            | ContentError::Unreachable(_)
            | ContentError::Injection(_)
            | ContentError::DocumentGone
            | ContentError::BadAnswer(_),
        ) => false,
    };
    if !met {
        return Seen::Nothing;
    }
    // The answer counts for the site that may be watched only: the tab may have gone elsewhere between the two.
    match world.browser().tab(tab_id).await {
        Ok(after) if is_of(&after, site) => Seen::Met(page_of(&after)),
        Ok(after) => Seen::Elsewhere(page_of(&after)),
        Err(BrowserError::NoTab(_)) => Seen::Closed,
        Err(BrowserError::Refused(_)) => Seen::Nothing,
    }
}

fn is_of(tab: &TabState, site: Option<&Origin>) -> bool {
    let place = Place::parse(&tab.info.url).ok();
    place.as_ref().and_then(Place::origin) == site
}

fn page_of(tab: &TabState) -> PageSeen {
    PageSeen { url: tab.info.url.clone(), title: tab.info.title.clone() }
}

fn late_text(tab_id: TabId, writes: bool) -> String {
    let said = format!(
        "timeout: the page in tab {tab_id} did not answer in time. A dialog of the page may be open, or it is busy."
    );
    if writes {
        format!("{said} The action may have happened: read the page before you try again.")
    } else {
        said
    }
}
