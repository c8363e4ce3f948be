//! Choosing options of a native list.

use super::Act;
use super::click::other_root;
use super::events;
use super::place::Cover;
use crate::dom::{self, Node};
use crate::wait::Watch;
use panelot_content::action::{Code, Evidence, Failure, choose_options};
use panelot_content::clean::clean;
use panelot_content::facts::OptionFacts;

/// A list is read up to here.
const OPTIONS_MAX: u32 = 20_000;

/// Selects what `values` names and nothing else.
pub(super) async fn select(act: &Act<'_>, values: &[String]) -> Result<Vec<Evidence>, Failure> {
    let element = &act.element;
    if dom::tag_of(element) != "select" {
        return Err(Failure::new(
            Code::NotEditable,
            format!(
                "{} is not a list of the browser's own. Nothing was done. Click it to open it, read the page, and click the option.",
                act.called
            ),
        ));
    }
    let multiple = element.multiple();
    let options = options(element);
    let choice = choose_options(&options, values, multiple)?;
    let (_place, highlight) = act.reach(element, Cover::Loose).await?;
    let watch = Watch::start(other_root(element).as_ref());
    events::focus(element);
    let live = element.options();
    let mut changed = false;
    for (at, known) in (0u32..).zip(&options) {
        let wanted = choice.positions.contains(&(at as usize));
        if wanted == known.selected {
            continue;
        }
        changed = true;
        if multiple && let Some(option) = live.item(at) {
            option.set_selected(wanted);
        }
    }
    if !multiple && let Some(at) = choice.positions.first().and_then(|at| i32::try_from(*at).ok()) {
        element.set_selected_index(at);
    }
    if changed {
        events::plain_composed(element, "input");
        events::plain(element, "change");
    }
    act.effects.settle(&watch, act.wanted, || changed).await;
    drop(watch);
    drop(highlight);
    Ok(vec![compare(element, &options, &choice.positions)])
}

fn options(element: &Node) -> Vec<OptionFacts> {
    let live = element.options();
    (0..live.len().min(OPTIONS_MAX))
        .filter_map(|at| live.item(at))
        .map(|option| OptionFacts {
            label: option.label(),
            value: option.value(),
            selected: option.selected(),
            disabled: option.disabled() || option.closest("optgroup:disabled").is_some(),
        })
        .collect()
}

/// The page may have taken the choice back or replaced the list.
fn compare(element: &Node, before: &[OptionFacts], chosen: &[usize]) -> Evidence {
    let labels = |options: &mut dyn Iterator<Item = &OptionFacts>| -> Vec<String> {
        options.map(|option| clean(&option.label)).collect()
    };
    let meant = labels(&mut chosen.iter().filter_map(|at| before.get(*at)));
    let after = options(element);
    let held = labels(&mut after.iter().filter(|option| option.selected));
    let told = |labels: &[String]| {
        if labels.is_empty() { "nothing".to_owned() } else { format!("\"{}\"", labels.join("\", \"")) }
    };
    if meant == held {
        Evidence::StateReached(format!("{} is selected", told(&held)))
    } else {
        Evidence::StateDiffers(format!(
            "{} is selected instead of {}: the page changed the choice",
            told(&held),
            told(&meant)
        ))
    }
}
