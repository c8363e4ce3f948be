//! What changed between two readings of a page, bounded.

use crate::tokens::{budget, centitokens};
use std::collections::BTreeMap;

/// Up to this many lines on each side the difference is exact in order; beyond it, lines are only counted.
const EXACT_LINES_MAX: usize = 400;

/// One changed line of the later or the earlier reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The line at this position of the earlier reading is gone.
    Removed(usize),
    /// The line at this position of the later reading is new.
    Added(usize),
}

/// The lines that differ, in reading order.
#[must_use]
pub fn changes(before: &[String], after: &[String]) -> Vec<Change> {
    let head = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (before_rest, after_rest) =
        (before.get(head..).unwrap_or_default(), after.get(head..).unwrap_or_default());
    let tail =
        before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = before_rest.get(..before_rest.len() - tail).unwrap_or_default();
    let new = after_rest.get(..after_rest.len() - tail).unwrap_or_default();
    let found = if old.len() <= EXACT_LINES_MAX && new.len() <= EXACT_LINES_MAX {
        exact(old, new)
    } else {
        counted(old, new)
    };
    found
        .into_iter()
        .map(|change| match change {
            Change::Removed(at) => Change::Removed(at + head),
            Change::Added(at) => Change::Added(at + head),
        })
        .collect()
}

/// By the longest common subsequence.
fn exact(old: &[String], new: &[String]) -> Vec<Change> {
    let width = new.len() + 1;
    // lengths[i * width + j]: the longest common subsequence of old[i..] and new[j..].
    let mut lengths = vec![0u32; (old.len() + 1) * width];
    let at = |lengths: &[u32], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let best = if line == other {
                at(&lengths, i + 1, j + 1) + 1
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let equal = matches!((old.get(i), new.get(j)), (Some(a), Some(b)) if a == b);
        if equal {
            i += 1;
            j += 1;
        } else if i < old.len() && (j == new.len() || at(&lengths, i + 1, j) >= at(&lengths, i, j + 1)) {
            found.push(Change::Removed(i));
            i += 1;
        } else {
            found.push(Change::Added(j));
            j += 1;
        }
    }
    found
}

/// By how often each line occurs, whatever its place.
fn counted(old: &[String], new: &[String]) -> Vec<Change> {
    let mut balance: BTreeMap<&str, i32> = BTreeMap::new();
    for line in new {
        *balance.entry(line).or_default() += 1;
    }
    let mut found = Vec::new();
    for (at, line) in old.iter().enumerate() {
        let left = balance.entry(line).or_default();
        *left -= 1;
        if *left < 0 {
            found.push(Change::Removed(at));
        }
    }
    for (at, line) in new.iter().enumerate() {
        if let Some(left) = balance.get_mut(line.as_str())
            && *left > 0
        {
            *left -= 1;
            found.push(Change::Added(at));
        }
    }
    found
}

/// The changes in words within `tokens_max`; none when nothing changed.
///
/// `added` gives the line of an added position as it is to be told (with its ref).
pub fn describe(
    changes: &[Change],
    before: &[String],
    tokens_max: u32,
    mut added: impl FnMut(usize) -> String,
) -> Option<String> {
    if changes.is_empty() {
        return None;
    }
    let rest = |removed: u32, added: u32| {
        format!(
            "(cut: {added} more added and {removed} more removed lines; read the page again to see them)\n"
        )
    };
    let reserve = centitokens(&rest(99_999, 99_999));
    let mut left = budget(tokens_max).saturating_sub(reserve);
    let mut out = String::new();
    let (mut cut_added, mut cut_removed) = (0u32, 0u32);
    // New lines are worth more than gone ones: they are what can be acted on.
    let gone_max = left / 3;
    let mut gone = 0u32;
    for change in changes {
        match change {
            Change::Added(at) => {
                let line = format!("+ {}\n", added(*at));
                match left.checked_sub(centitokens(&line)).filter(|_| cut_added == 0) {
                    Some(rest) => {
                        left = rest;
                        out.push_str(&line);
                    }
                    None => cut_added += 1,
                }
            }
            Change::Removed(at) => {
                let line = before.get(*at).map_or("", String::as_str);
                let line = format!("- {line}\n");
                let cost = centitokens(&line);
                match left.checked_sub(cost).filter(|_| gone.saturating_add(cost) <= gone_max) {
                    Some(rest) => {
                        left = rest;
                        gone = gone.saturating_add(cost);
                        out.push_str(&line);
                    }
                    None => cut_removed += 1,
                }
            }
        }
    }
    if cut_added + cut_removed > 0 {
        out.push_str(&rest(cut_removed, cut_added));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let (before, after) = (lines(before), lines(after));
        let told: Vec<String> = changes(&before, &after)
            .into_iter()
            .map(|change| match change {
                Change::Removed(at) => format!("-{}", before[at]),
                Change::Added(at) => format!("+{}", after[at]),
            })
            .collect();
        assert_eq!(told.join(" "), expected);
    }

    #[test]
    fn equal_readings_have_no_changes() {
        check("a b c", "a b c", "");
        assert_eq!(describe(&[], &[], 100, |_| String::new()), None);
    }

    #[test]
    fn changes_come_in_reading_order() {
        check("a b c d", "a x c e d", "-b +x +e");
        check("", "a b", "+a +b");
        check("a b", "", "-a -b");
        check("a a b", "a b", "-a");
    }

    #[test]
    fn large_differences_are_counted_without_order() {
        let before: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        let after: Vec<String> = (1..1_001).rev().map(|n| n.to_string()).collect();
        assert_eq!(changes(&before, &after), [Change::Removed(0), Change::Added(0)]);
    }

    #[test]
    fn the_description_stays_within_its_budget_and_says_what_it_leaves_out() {
        let before: Vec<String> = (0..300).map(|n| format!("- text \"old {n}\"")).collect();
        let after: Vec<String> = (0..300).map(|n| format!("- button \"new {n}\"")).collect();
        let found = changes(&before, &after);
        let told = describe(&found, &before, 300, |at| after[at].clone()).unwrap();
        assert!(crate::tokens::tokens(&told) <= 300, "{told}");
        let (added, removed) = (told.matches("+ - button").count(), told.matches("- - text").count());
        let rest = format!(
            "(cut: {} more added and {} more removed lines; read the page again to see them)\n",
            300 - added,
            300 - removed
        );
        assert!(told.ends_with(&rest) && added > 0 && removed > 0, "{told}");
    }
}
