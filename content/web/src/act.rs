//! Performing actions: each checks its target, shows it, acts once, waits for the page, and reports what was seen.

mod click;
mod events;
mod place;
mod select;
mod text;
mod watch;

use crate::dom::{self, Node};
use crate::overlay::Highlight;
use crate::page;
use crate::wait::{self, Wanted};
use panelot_content::action::{Code, Evidence, Failure, judge};
use panelot_protocol::content::{ActionReport, ContentAction, ContentOutcome, WaitCondition};
use panelot_protocol::limits;
use place::Place;
use watch::Effects;

/// Does what a request asks for.
///
/// # Errors
/// A failure with a sentence for the model; where an effect may have happened, it says so.
pub async fn perform(action: ContentAction, wanted: Wanted) -> Result<ContentOutcome, Failure> {
    match action {
        ContentAction::Snapshot { max_tokens, scope_ref } => {
            let snapshot = page::snapshot(max_tokens, scope_ref.as_deref())?;
            Ok(ContentOutcome::Snapshot { snapshot })
        }
        ContentAction::Describe { target } => Ok(ContentOutcome::Target { target: page::describe(&target)? }),
        ContentAction::WaitFor { condition, timeout_ms } => wait_for(&condition, timeout_ms, &wanted).await,
        ContentAction::Click { target, button, modifiers, click_count } => {
            let gesture = events::Gesture { button, modifiers, count: click_count };
            write(&target, "click", &wanted, async |act| click::click(act, &gesture).await).await
        }
        ContentAction::Type { target, text, mode, submit } => {
            write(&target, "type", &wanted, async |act| text::type_text(act, &text, mode, submit).await).await
        }
        ContentAction::SelectOption { target, values } => {
            write(&target, "select", &wanted, async |act| select::select(act, &values).await).await
        }
    }
}

/// What an action works with.
pub(crate) struct Act<'a> {
    /// The element that the ref names.
    pub(crate) element: Node,
    /// How to call it.
    pub(crate) called: String,
    /// Who waits.
    pub(crate) wanted: &'a Wanted,
    /// What happens to the document meanwhile.
    pub(crate) effects: &'a Effects,
}

impl Act<'_> {
    /// Fails when the request was given up before anything was done.
    pub(crate) fn still_wanted(&self) -> Result<(), Failure> {
        if self.wanted.holds() {
            return Ok(());
        }
        Err(Failure::new(
            Code::Aborted,
            format!("The action on {} was cancelled before it began. Nothing was done.", self.called),
        ))
    }

    /// Finds the place of an element, checks that it can be acted on there, and shows it.
    pub(crate) async fn reach(
        &self,
        element: &Node,
        cover: place::Cover,
    ) -> Result<(Place, Option<Highlight>), Failure> {
        let place = place::reach(element, &self.called, cover, self.wanted).await?;
        self.still_wanted()?;
        // Of a large page another part is read after scrolling; what scrolled in is not what the action did.
        page::follow_scroll(limits::ACTION_TOKENS_DEFAULT);
        let highlight = Highlight::show(place.rect, &self.called);
        Ok((place, highlight))
    }
}

/// What every write has in common, around the one gesture that differs.
async fn write(
    target: &str,
    verb: &str,
    wanted: &Wanted,
    gesture: impl AsyncFnOnce(&Act<'_>) -> Result<Vec<Evidence>, Failure>,
) -> Result<ContentOutcome, Failure> {
    let element = page::resolve(target)?;
    page::prepare_diff(limits::ACTION_TOKENS_DEFAULT);
    let effects = Effects::start();
    let called = page::called(&element);
    let act = Act { element, called, wanted, effects: &effects };
    let url = dom::document().url();
    let mut evidence = gesture(&act).await?;
    if let Some(leaving) = effects.leaving() {
        evidence.push(Evidence::Navigating(leaving));
    }
    let now_at = dom::document().url();
    if now_at != url {
        let address = panelot_content::clean::shorten(&now_at, 200);
        evidence.push(Evidence::PageChanged(format!("the address is now {address}")));
    }
    let navigating = effects.is_leaving();
    let diff = if navigating { String::new() } else { page::take_diff(limits::ACTION_TOKENS_DEFAULT) };
    if !diff.is_empty() {
        let (added, removed) = count(&diff);
        evidence.push(Evidence::PageChanged(format!(
            "after the {verb} {added} lines were added and {removed} removed"
        )));
    }
    let (outcome, words) = judge(&evidence);
    let evidence = words
        .iter()
        .take(usize::try_from(limits::EVIDENCE_COUNT_MAX).unwrap_or(usize::MAX))
        .map(|line| page::shortened(line, limits::MESSAGE_CHARS_MAX))
        .collect();
    let url = page::shortened(&now_at, limits::URL_CHARS_MAX);
    Ok(ContentOutcome::Action { action: ActionReport { outcome, evidence, diff, navigating, url } })
}

fn count(diff: &str) -> (usize, usize) {
    let added = diff.lines().filter(|line| line.starts_with('+')).count();
    let removed = diff.lines().filter(|line| line.starts_with('-')).count();
    (added, removed)
}

/// Waits until a text is there or gone, looking at what the page shows.
async fn wait_for(
    condition: &WaitCondition,
    timeout_ms: u64,
    wanted: &Wanted,
) -> Result<ContentOutcome, Failure> {
    /// A page is looked at again after this long even if it did not seem to change.
    const LOOK_MS: f64 = 250.0;
    let started = wait::now();
    // The protocol limits the time to a minute.
    let limit = timeout_ms as f64;
    let watch = wait::Watch::start(None);
    loop {
        let met = match condition {
            WaitCondition::Text { text } => shows(text),
            WaitCondition::TextGone { text } => !shows(text),
        };
        let elapsed = wait::now() - started;
        if met || elapsed >= limit {
            return Ok(ContentOutcome::Waited { met, elapsed_ms: elapsed as u64 });
        }
        if !wanted.holds() {
            return Err(Failure::new(Code::Aborted, "The wait was cancelled."));
        }
        let seen = watch.last_change();
        wait::pause(LOOK_MS.min(limit - elapsed)).await;
        if watch.last_change() == seen {
            continue;
        }
        // Text that a page builds in pieces is looked at once the pieces are there.
        wait::next_task().await;
    }
}

/// Whether the page shows a text, in any of its parts, white space aside.
fn shows(text: &str) -> bool {
    /// Tokens that may be read to find the text.
    const TOKENS: u32 = 50_000;
    let wanted = panelot_content::clean::clean(text);
    let document = dom::document();
    let whole = document.body().and_then(|body| body.inner_text()).unwrap_or_default();
    if panelot_content::clean::clean(&whole).contains(&wanted) {
        return true;
    }
    // Shadow roots, values and names are not part of that text.
    let collected = crate::collect::collect_page(TOKENS);
    let tree = panelot_content::tree::distil(&collected.facts);
    tree.items.iter().any(|item| {
        item.name.contains(&wanted) || item.value.as_ref().is_some_and(|value| value.contains(&wanted))
    })
}
