//! What came of an action: verified, failed or uncertain, and by which evidence.

pub use panelot_protocol::item::ActionOutcome as Verdict;

/// What was seen after an action, besides the difference of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The target's own state is what was wanted; in words.
    StateReached(String),
    /// The target's own state differs from what was wanted; in words.
    StateDiffers(String),
    /// The page changed in a way that the action can have caused; in words.
    PageChanged(String),
    /// The document is about to be replaced.
    Navigating(String),
    /// The page took the event and kept its default action for itself.
    Prevented,
    /// Nothing happened that could be seen.
    Nothing,
}

/// Judges an action by all that was seen, and tells the evidence in words.
#[must_use]
pub fn judge(evidence: &[Evidence]) -> (Verdict, Vec<String>) {
    let mut words: Vec<String> = Vec::new();
    let (mut good, mut bad) = (false, false);
    for seen in evidence {
        match seen {
            Evidence::StateReached(text) | Evidence::PageChanged(text) | Evidence::Navigating(text) => {
                good = true;
                words.push(text.clone());
            }
            Evidence::StateDiffers(text) => {
                bad = true;
                words.push(text.clone());
            }
            Evidence::Prevented => words.push("the page handled the event itself".to_owned()),
            Evidence::Nothing => {}
        }
    }
    if bad {
        return (Verdict::Failed, words);
    }
    if good {
        return (Verdict::Verified, words);
    }
    words.push(
        "no change of the page was seen; read the page to find out, and do not simply repeat the action"
            .to_owned(),
    );
    (Verdict::Uncertain, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_differs_outweighs_a_page_that_changed() {
        let seen = [
            Evidence::PageChanged("2 lines added".into()),
            Evidence::StateDiffers("the field holds \"x\"".into()),
        ];
        assert_eq!(
            judge(&seen),
            (Verdict::Failed, vec!["2 lines added".to_owned(), "the field holds \"x\"".to_owned()])
        );
    }

    #[test]
    fn a_change_or_a_navigation_verifies() {
        assert_eq!(
            judge(&[Evidence::Nothing, Evidence::Navigating("the page is leaving".into())]),
            (Verdict::Verified, vec!["the page is leaving".to_owned()])
        );
    }

    #[test]
    fn silence_is_uncertain_never_success() {
        assert_eq!(judge(&[Evidence::Nothing]).0, Verdict::Uncertain);
        assert_eq!(judge(&[Evidence::Prevented]).0, Verdict::Uncertain);
        assert_eq!(judge(&[]).0, Verdict::Uncertain);
    }
}
