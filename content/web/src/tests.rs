//! Tests in a browser: fixtures in a real document, read and acted on as the engine would.
#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are scripts in the test's own page, which has no CSP"
)]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one answer that it wants")]

mod acting;
mod large;
mod messages;
mod reading;
mod typing;

use crate::dom::{self, Node};
use crate::{act, collect, page};
use js_sys::{Function, Promise, Reflect};
use panelot_content::action::Failure;
use panelot_content::{render, tree};
use panelot_protocol::content::{ActionReport, ContentAction, ContentOutcome, MouseButton, TypeMode};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test_configure;

wasm_bindgen_test_configure!(run_in_browser);

/// A piece of a page that goes away at the end of a test.
pub(crate) struct Fixture {
    pub(crate) root: Node,
}

impl Fixture {
    /// Puts markup into the page.
    pub(crate) fn new(markup: &str) -> Fixture {
        // A test that failed did not take its own away.
        while let Some(old) = dom::document().query("[data-fixture]") {
            old.remove();
        }
        let root = dom::document().create_element("div").unwrap();
        Reflect::set(&dom::get(&root, "dataset"), &"fixture".into(), &"".into()).unwrap();
        Reflect::set(&root, &"innerHTML".into(), &markup.into()).unwrap();
        dom::document().body().unwrap().append_child(&root).unwrap();
        Fixture { root }
    }

    /// Runs a script whose `root` is the fixture's element.
    pub(crate) fn run(&self, script: &str) -> JsValue {
        Function::new_with_args("root", script).call1(&JsValue::UNDEFINED, &self.root).unwrap()
    }

    /// The first element that matches.
    pub(crate) fn find(&self, selector: &str) -> Node {
        self.root.query(selector).unwrap_or_else(|| panic!("nothing matches {selector}"))
    }

    /// The lines of the fixture alone, refs left out.
    pub(crate) fn read(&self) -> Vec<String> {
        let (collected, _) = collect::collect_below(&self.root, 50_000).expect("the fixture is shown");
        let tree = tree::distil(&collected.facts);
        tree.items
            .iter()
            .map(|item| format!("{}{}", "  ".repeat(item.depth as usize), render::line(item, None)))
            .collect()
    }

    /// The ref that a snapshot of the whole page gives the element whose line holds `words`.
    pub(crate) fn ref_of(&self, words: &str) -> String {
        let text = page::snapshot(20_000, None).unwrap().text;
        let line = text
            .lines()
            .find(|line| line.contains(words))
            .unwrap_or_else(|| panic!("no line has {words}: {text}"));
        let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref in {line}"));
        rest.split_once(']').unwrap().0.to_owned()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.root.remove();
    }
}

/// Does an action and gives its report.
pub(crate) async fn perform(action: ContentAction) -> Result<ActionReport, Failure> {
    match act::perform(action, crate::wait::Wanted::default()).await? {
        ContentOutcome::Action { action } => Ok(action),
        other => panic!("not the report of an action: {other:?}"),
    }
}

pub(crate) fn click_on(target: &str) -> ContentAction {
    ContentAction::Click {
        target: target.to_owned(),
        button: MouseButton::Left,
        modifiers: vec![],
        click_count: 1,
    }
}

pub(crate) fn type_into(target: &str, text: &str, submit: bool) -> ContentAction {
    ContentAction::Type { target: target.to_owned(), text: text.to_owned(), mode: TypeMode::Replace, submit }
}

/// Lets tasks of the page run until a script's condition holds.
pub(crate) async fn until(condition: &str) {
    let script = format!(
        "return new Promise((done) => {{ const look = () => ({condition}) ? done() : setTimeout(look, 5); look(); }})"
    );
    let promise: Promise = Function::new_no_args(&script).call0(&JsValue::UNDEFINED).unwrap().into();
    wasm_bindgen_futures::JsFuture::from(promise).await.unwrap();
}
