//! Results as models read them: what happened, in the engine's words, and what the page says, which goes into a fence.

use crate::prompt::fence::{Provenance, fence, one_line};
use panelot_protocol::content::{ActionFailureCode, ActionReport, ContentOutcome, PageSnapshot};
use panelot_protocol::ids::{NodeId, TabId};
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::snapshot::TabInfo;
use std::collections::BTreeSet;

/// Most characters of a title in a line of a result.
const TITLE_CHARS_MAX: usize = 200;
/// Most characters of an address in a line of a result.
const URL_CHARS_MAX: usize = 1_000;
/// Most tabs that a list names.
const TABS_COUNT_MAX: usize = 200;

/// A result in two parts, so that nothing a page says can pass for the engine's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolText {
    /// Whether the call did what it was for.
    pub ok: bool,
    /// The engine's own words: holds nothing of a page.
    pub head: String,
    /// What comes from a page; empty when nothing does.
    pub body: String,
}

impl ToolText {
    /// A result of the engine's own words alone.
    pub fn own(ok: bool, head: impl Into<String>) -> Self {
        Self { ok, head: head.into(), body: String::new() }
    }

    /// The whole text for the model, with the page's part in its fence.
    pub fn for_model(&self, from: Provenance<'_>) -> String {
        if self.body.is_empty() {
            return self.head.clone();
        }
        format!("{}\n{}", self.head, fence(from, &self.body))
    }
}

/// Where a page's part of a result comes from.
pub fn provenance<'a>(node_id: &'a NodeId, tool: &'a str, origin: Option<&'a str>) -> Provenance<'a> {
    Provenance { node_id, tool, origin }
}

/// What a content script answered, for the model. Every result names its tab.
pub fn render_outcome(tab_id: TabId, outcome: &ContentOutcome) -> ToolText {
    match outcome {
        ContentOutcome::Snapshot { snapshot } => snapshot_text(tab_id, snapshot),
        ContentOutcome::Action { action } => action_text(tab_id, action),
        ContentOutcome::Waited { met: true, elapsed_ms } => {
            ToolText::own(true, format!("Tab {tab_id}: the condition holds after {elapsed_ms} ms."))
        }
        ContentOutcome::Waited { met: false, elapsed_ms } => ToolText::own(
            false,
            format!(
                "Tab {tab_id}: the condition does not hold after {elapsed_ms} ms. Read the page to see where it stands; wait \
                 again only if it is still working."
            ),
        ),
        ContentOutcome::Failure { code, message } => ToolText {
            ok: false,
            head: format!("Tab {tab_id}: failed with {}. {}", code.as_str(), advice(*code)),
            body: message.clone(),
        },
        ContentOutcome::Target { target } => ToolText {
            ok: true,
            head: format!("Tab {tab_id}: the element is there."),
            body: target.line.clone(),
        },
        ContentOutcome::Pong {} => ToolText::own(true, format!("Tab {tab_id}: the page answers.")),
    }
}

fn snapshot_text(tab_id: TabId, snapshot: &PageSnapshot) -> ToolText {
    if snapshot.text.trim().is_empty() {
        return ToolText {
            ok: false,
            head: format!(
                "Tab {tab_id}: the page shows nothing that can be read. It may still be loading, or draw its content as a \
                 picture. Wait for it once with wait_for and read again; then tell the user."
            ),
            body: page_lines(&snapshot.url, &snapshot.title),
        };
    }
    let cut = if snapshot.truncated {
        " Parts were left out, as lines in it say: pass the ref of a part to read_page, or a larger maxTokens, if you need \
         them."
    } else {
        ""
    };
    ToolText {
        ok: true,
        head: format!("Tab {tab_id}: snapshot with {} refs.{cut}", snapshot.ref_count),
        body: format!("{}\n{}", page_lines(&snapshot.url, &snapshot.title), snapshot.text),
    }
}

fn action_text(tab_id: TabId, action: &ActionReport) -> ToolText {
    let outcome = match action.outcome {
        ActionOutcome::Verified => "done, and its effect was seen.",
        ActionOutcome::Failed => {
            "it did not have the effect. Look at what is said below and try another way; do not repeat it unchanged."
        }
        ActionOutcome::Uncertain => {
            "it may have happened, but no clear effect was seen. Look at the page before you do anything that could do it \
             twice."
        }
    };
    let navigating = if action.navigating {
        " The page is going to another address: its refs are no longer valid, so call read_page next."
    } else {
        ""
    };
    let mut lines = vec![page_lines(&action.url, "")];
    lines.extend(action.evidence.iter().map(|evidence| format!("evidence: {evidence}")));
    if action.diff.trim().is_empty() {
        lines.push("changes: none seen".to_owned());
    } else {
        lines.push(format!("changes:\n{}", action.diff));
    }
    ToolText {
        ok: action.outcome == ActionOutcome::Verified,
        head: format!("Tab {tab_id}: {outcome}{navigating}"),
        body: lines.join("\n"),
    }
}

/// What the model should do after a failure.
pub fn advice(code: ActionFailureCode) -> &'static str {
    match code {
        ActionFailureCode::StaleRef | ActionFailureCode::Detached => {
            "Nothing was done. Call read_page and use the new ref of the element."
        }
        ActionFailureCode::NotVisible => {
            "Nothing was done. Something has to be opened or expanded first; read the page to find what."
        }
        ActionFailureCode::NotStable => {
            "Nothing was done. The element moves: wait a moment with wait_for, then try once more."
        }
        ActionFailureCode::Disabled => {
            "Nothing was done. Fill what the page still requires, or tell the user what is missing."
        }
        ActionFailureCode::NotEditable => {
            "Nothing was done. Pick the field itself, or use click or select_option."
        }
        ActionFailureCode::Occluded => {
            "Nothing was done. Close or answer what lies over the element first, then try again."
        }
        ActionFailureCode::AmbiguousTarget => {
            "Nothing was done. Read the page and choose one element by its own ref."
        }
        ActionFailureCode::UnsupportedFrame => {
            "Nothing was done. This part of the page cannot be reached; ask the user to do this step."
        }
        ActionFailureCode::L1NotEffective => {
            "The page ignored the action. Look for another control with the same effect, or ask the user to do this step."
        }
        ActionFailureCode::NavigationUncertain => {
            "The page went elsewhere while it ran, so it may have happened. Read the page before anything else."
        }
        ActionFailureCode::SafetyBoundaryUnavailable => {
            "A dialog or another boundary holds the page. Ask the user to look at the tab."
        }
        ActionFailureCode::Timeout => {
            "The page did not answer in time, so the action may have happened. Read the page before you repeat it."
        }
        ActionFailureCode::Aborted => "It was stopped. Do not repeat it unless the user asks.",
        ActionFailureCode::Unknown => "Read the page to see where it stands, then try another way.",
    }
}

/// The tabs of the browser, for the model. `of_thread` are those that may be read without a question.
pub fn render_tabs(tabs: &[TabInfo], of_thread: &BTreeSet<TabId>) -> ToolText {
    let line = |tab: &TabInfo| {
        let marks = match (tab.active, of_thread.contains(&tab.tab_id)) {
            (true, true) => " [in front] [of this task]",
            (true, false) => " [in front]",
            (false, true) => " [of this task]",
            (false, false) => "",
        };
        format!("- tabId {}{marks} {}", tab.tab_id, page_line(&tab.url, &tab.title))
    };
    let lines: Vec<String> = tabs.iter().take(TABS_COUNT_MAX).map(line).collect();
    let cut = match tabs.len().saturating_sub(lines.len()) {
        0 => String::new(),
        more => format!(" {more} more are not listed."),
    };
    ToolText { ok: true, head: format!("{} tabs are open.{cut}", tabs.len()), body: lines.join("\n") }
}

/// Where a tab arrived after `tab_open` or `navigate`, for the model. `asked` is the address that was opened.
pub fn render_arrival(tab_id: TabId, asked: &str, url: &str, title: &str) -> ToolText {
    let redirected =
        if asked == url { "" } else { " It is not the address that was asked for: the site redirected." };
    ToolText {
        ok: true,
        head: format!(
            "Tab {tab_id}: the page is loaded.{redirected} Call read_page with this tabId to see it."
        ),
        body: page_lines(url, title),
    }
}

pub(super) fn page_lines(url: &str, title: &str) -> String {
    let url = one_line(url, URL_CHARS_MAX);
    let title = one_line(title, TITLE_CHARS_MAX);
    if title.is_empty() { format!("address: {url}") } else { format!("address: {url}\ntitle: {title}") }
}

fn page_line(url: &str, title: &str) -> String {
    format!("\"{}\" {}", one_line(title, TITLE_CHARS_MAX).replace('"', "'"), one_line(url, URL_CHARS_MAX))
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
