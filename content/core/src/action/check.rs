//! Whether an element can be acted on, from what was seen of it just before.

use super::failure::{Code, Failure};

/// What was seen of a target just before the action.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Target {
    /// How to call it, as in `button "Pay"`.
    pub called: String,
    /// Whether it is in a document.
    pub attached: bool,
    /// Whether it is rendered and not invisible.
    pub rendered: bool,
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Disabled by itself or by a fieldset.
    pub disabled: bool,
    /// It or something around it says `aria-disabled=true`.
    pub aria_disabled: bool,
    /// It or something around it is inert.
    pub inert: bool,
    /// Whether its place is inside of the viewport after scrolling.
    pub in_view: bool,
    /// What receives events at its place instead, in words; none when it does itself.
    pub cover: Option<String>,
}

/// Checks a target in the order in which a person would notice what is wrong.
///
/// # Errors
/// A failure that names what is wrong and what to do next.
pub fn check_target(target: &Target) -> Result<(), Failure> {
    let called = &target.called;
    let fail = |code, message: String| Err(Failure::new(code, message));
    if !target.attached {
        return fail(
            Code::Detached,
            format!(
                "{called} left the page before the action. Nothing was done. Read the page again and use the new ref."
            ),
        );
    }
    if !target.rendered {
        return fail(
            Code::NotVisible,
            format!(
                "{called} is in the page but not shown. Nothing was done. Open what contains it (a menu, a tab, a section) and read the page again."
            ),
        );
    }
    if target.inert {
        return fail(
            Code::Disabled,
            format!(
                "{called} is inert: the page has switched that part off, usually behind a dialog. Nothing was done. Close the dialog or choose another target."
            ),
        );
    }
    if target.disabled || target.aria_disabled {
        return fail(
            Code::Disabled,
            format!(
                "{called} is disabled. Nothing was done. Fill in or choose what it waits for, then read the page again."
            ),
        );
    }
    if target.width < 1.0 || target.height < 1.0 {
        return fail(
            Code::NotVisible,
            format!(
                "{called} has no size ({:.0}×{:.0} px). Nothing was done. Look for a visible element that does the same.",
                target.width, target.height
            ),
        );
    }
    if !target.in_view {
        return fail(
            Code::NotVisible,
            format!(
                "{called} cannot be scrolled into view. Nothing was done. Open what contains it, or choose another target."
            ),
        );
    }
    if let Some(cover) = &target.cover {
        return fail(
            Code::Occluded,
            format!(
                "{called} is covered by {cover}. Nothing was done. Close or move what covers it, then try again."
            ),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Target {
        Target {
            called: "button \"Pay\"".to_owned(),
            attached: true,
            rendered: true,
            width: 80.0,
            height: 20.0,
            in_view: true,
            ..Target::default()
        }
    }

    #[test]
    fn a_good_target_passes() {
        assert_eq!(check_target(&good()), Ok(()));
    }

    #[test]
    fn each_obstacle_has_its_code_and_names_the_target() {
        let table: [(Target, Code); 8] = [
            (Target { attached: false, ..good() }, Code::Detached),
            (Target { rendered: false, ..good() }, Code::NotVisible),
            (Target { inert: true, ..good() }, Code::Disabled),
            (Target { disabled: true, ..good() }, Code::Disabled),
            (Target { aria_disabled: true, ..good() }, Code::Disabled),
            (Target { width: 0.0, ..good() }, Code::NotVisible),
            (Target { in_view: false, ..good() }, Code::NotVisible),
            (Target { cover: Some("dialog \"Cookies\"".to_owned()), ..good() }, Code::Occluded),
        ];
        for (target, code) in table {
            let failure = check_target(&target).unwrap_err();
            assert_eq!(failure.code, code);
            assert!(failure.message.starts_with("button \"Pay\" "), "{failure}");
            assert!(failure.message.contains("Nothing was done."), "{failure}");
        }
    }

    #[test]
    fn what_covers_the_target_is_named() {
        let target = Target { cover: Some("dialog \"Cookies\"".to_owned()), ..good() };
        assert_eq!(
            check_target(&target).unwrap_err().message,
            "button \"Pay\" is covered by dialog \"Cookies\". Nothing was done. Close or move what covers it, \
             then try again."
        );
    }
}
