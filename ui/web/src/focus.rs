//! Where the keyboard's focus goes when what had it is closed, disabled or replaced.
//!
//! The `autofocus` attribute is no help: Chrome honours it once per document. So whoever opens or closes something asks
//! for the focus with [`soon`], and [`keep`] looks after what the engine takes away.

use std::cell::{Cell, RefCell};

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlElement};

use crate::chrome::clock;
use crate::page;
use crate::parts::composer::INPUT_ID;

/// Id of what takes the focus on a page without a composer when nothing nearer is left.
pub const MAIN_ID: &str = "settings";
/// How many frames a wish waits for its element: an answer of the engine may have to come first.
const WISH_FRAMES_MAX: u32 = 240;
/// How many frames pass until what has changed is painted.
const PAINT_FRAMES_MAX: u32 = 3;
/// What can have the focus, for the first of a container.
const CONTROLS: &str = "button:not(:disabled), a[href], input, select, textarea";

thread_local! {
    /// Number of the newest wish; an older one gives up.
    static WISH_NUMBER: Cell<u32> = const { Cell::new(0) };
    /// Whether a wish is open.
    static IS_WISHING: Cell<bool> = const { Cell::new(false) };
    /// What has the focus and is looked after.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    /// How many ids were given away.
    static IDS_COUNT: Cell<u32> = const { Cell::new(0) };
}

/// An element with the focus, and where it stands.
struct Kept {
    element: HtmlElement,
    /// Nearest first.
    around: Vec<Element>,
}

impl Kept {
    /// Whether it can have the focus no more.
    fn is_lost(&self) -> bool {
        !self.element.is_connected() || self.element.has_attribute("disabled")
    }
}

/// An id for an element that has no name of its own.
#[must_use]
pub fn fresh_id() -> String {
    let number = IDS_COUNT.get().wrapping_add(1);
    IDS_COUNT.set(number);
    format!("focus-{number}")
}

/// Puts the focus on the first of these ids that is there and can take it, as soon as one is, unless the user has gone
/// elsewhere meanwhile.
pub fn soon<const COUNT: usize>(ids: [String; COUNT]) {
    soon_on(move || ids.iter().filter_map(|id| page::element(id)).find(can_take));
}

/// Puts the focus on the button that leads on in the same direction among the versions of a message, or on the other
/// one, once another version is shown in the place of this one. To be called while a button of the group has the focus.
pub fn soon_on_branch(test_id: &'static str) {
    let groups = || page::all(".branch");
    let Some(left) = page::focused().and_then(|button| button.closest(".branch").ok().flatten()) else {
        return;
    };
    let Some(place) = groups().iter().position(|group| *group == left) else { return };
    soon_on(move || {
        let group = groups().into_iter().nth(place).filter(|group| *group != left)?;
        let wanted = format!("[data-testid={test_id}]:not(:disabled)");
        let found =
            [wanted.as_str(), CONTROLS].into_iter().find_map(|one| group.query_selector(one).ok().flatten());
        found?.dyn_into().ok()
    });
}

fn soon_on(find: impl Fn() -> Option<HtmlElement> + 'static) {
    let number = WISH_NUMBER.get().wrapping_add(1);
    WISH_NUMBER.set(number);
    IS_WISHING.set(true);
    let asked_from = page::focused();
    spawn_local(async move {
        for _ in 0..WISH_FRAMES_MAX {
            clock::next_frame().await;
            if WISH_NUMBER.get() != number {
                return;
            }
            let now = page::focused();
            if now.is_some() && now != asked_from {
                break;
            }
            if let Some(element) = find() {
                let _ = element.focus();
                break;
            }
        }
        IS_WISHING.set(false);
        if page::focused().is_none() {
            page::focus(fall_back_id());
        }
    });
}

/// Notes what has the focus before a change is painted. If it is gone afterwards, what has its id now gets the focus,
/// or the composer, or on a page without one the first control of the nearest container that is left.
pub fn keep() {
    let Some(element) = page::focused().filter(|element| element.id() != INPUT_ID) else { return };
    let mut around = Vec::new();
    let mut next = element.parent_element();
    while let Some(parent) = next {
        next = parent.parent_element();
        around.push(parent);
    }
    let kept = Kept { element, around };
    // Whoever waits already looks at the newest.
    if KEPT.replace(Some(kept)).is_some() {
        return;
    }
    spawn_local(async {
        for _ in 0..PAINT_FRAMES_MAX {
            clock::next_frame().await;
            let lost = KEPT.with_borrow(|kept| kept.as_ref().is_some_and(Kept::is_lost));
            if lost {
                break;
            }
        }
        let Some(kept) = KEPT.take() else { return };
        if kept.is_lost() && page::focused().is_none() && !IS_WISHING.get() {
            hand_over(&kept);
        }
    });
}

fn hand_over(kept: &Kept) {
    let id = kept.element.id();
    let same = Some(id).filter(|id| !id.is_empty()).and_then(|id| page::element(&id)).filter(can_take);
    let near = || {
        let left = kept.around.iter().find(|element| element.is_connected())?;
        left.query_selector(CONTROLS).ok().flatten()?.dyn_into().ok()
    };
    match same.or_else(|| page::element(INPUT_ID)).or_else(near) {
        Some(element) => {
            let _ = element.focus();
        }
        None => page::focus(fall_back_id()),
    }
}

fn fall_back_id() -> &'static str {
    if page::has_composer() { INPUT_ID } else { MAIN_ID }
}

fn can_take(element: &HtmlElement) -> bool {
    // What is not rendered has no box, and cannot take the focus either.
    !element.has_attribute("disabled") && element.offset_width() > 0
}
