//! What the script remembers of its document: refs, and what it last told of the page.

use crate::collect::{self, Collected};
use crate::dom::{self, Node, WeakNumberMap, WeakRef};
use panelot_content::action::{Code, Failure};
use panelot_content::diff;
use panelot_content::facts::{NodeIndex, States, Unread};
use panelot_content::privacy;
use panelot_content::refs::{Identity, Nonce, Ref, RefTable, Stale};
use panelot_content::render::{self, Rendered};
use panelot_content::tree::{self, Item, Tree};
use panelot_protocol::content::{PageSnapshot, SensitiveField, TargetDescription};
use panelot_protocol::limits;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::wasm_bindgen;

/// From this many refs on, those of elements that are gone are forgotten.
const REFS_KEPT_MIN: usize = 4_000;
/// Tokens that reading one element may cost, to learn what it is.
const IDENTITY_TOKENS: u32 = 4_000;

/// The lines of the last reading, and which part of the page they are of.
struct Told {
    lines: Vec<String>,
    part_only: bool,
    /// What was asked for: a later reading is comparable when it asks for as much.
    tokens_max: u32,
    scroll: (f64, f64),
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn random_values(into: &js_sys::Uint32Array);
}

struct Page {
    refs: RefTable,
    numbers: WeakNumberMap,
    elements: BTreeMap<u32, WeakRef>,
    told: Option<Told>,
    prune_at: usize,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::new(Page::new());
}

impl Page {
    fn new() -> Page {
        let bits = js_sys::Uint32Array::new_with_length(1);
        random_values(&bits);
        Page {
            refs: RefTable::new(Nonce::from_random(bits.get_index(0))),
            numbers: WeakNumberMap::new(),
            elements: BTreeMap::new(),
            told: None,
            prune_at: REFS_KEPT_MIN,
        }
    }

    /// The ref of an element; it keeps the one that it has.
    fn ref_of(&mut self, element: &Node, identity: Identity) -> Ref {
        // The map holds numbers of this table only.
        let known = self.numbers.get(element).map(|number| number as u32);
        let number = known.unwrap_or_else(|| {
            let number = self.refs.issue();
            self.numbers.set(element, f64::from(number));
            self.elements.insert(number, WeakRef::new(element));
            number
        });
        self.refs.tell(number, identity);
        self.refs.to_ref(number)
    }

    fn prune(&mut self) {
        if self.elements.len() < self.prune_at {
            return;
        }
        self.elements.retain(|_, element| element.deref().is_some());
        let elements = &self.elements;
        self.refs.retain(|number| elements.contains_key(&number));
        self.prune_at = (self.elements.len() * 2).max(REFS_KEPT_MIN);
    }

    /// A ref as long as the longest that the next reading can give.
    fn sample(&self) -> String {
        self.refs.to_ref(self.refs.last().saturating_add(1_000)).to_string()
    }
}

fn with_page<T>(with: impl FnOnce(&mut Page) -> T) -> T {
    PAGE.with_borrow_mut(with)
}

/// The document's nonce.
pub fn nonce() -> String {
    with_page(|page| page.refs.to_ref(0).nonce.as_str().to_owned())
}

/// Reads the page, or what is below a ref.
///
/// # Errors
/// When the ref cannot be used, or the page has nothing to tell.
pub fn snapshot(tokens_max: u32, scope: Option<&str>) -> Result<PageSnapshot, Failure> {
    let collected = match scope {
        None => collect::collect_page(tokens_max),
        Some(text) => {
            let element = resolve(text)?;
            collect::collect_below(&element, tokens_max).map(|(collected, _)| collected).ok_or_else(|| {
                Failure::new(Code::NotVisible, format!("{text} is in the page but not shown, so there is nothing to read in it. Read the whole page."))
            })?
        }
    };
    let tree = tree::distil(&collected.facts);
    let rendered = render(&collected, &tree, tokens_max);
    if rendered.text.trim().is_empty() {
        return Err(empty(&collected));
    }
    if scope.is_none() {
        remember(&collected, lines(&tree), tokens_max);
    }
    Ok(PageSnapshot {
        url: shortened(&collected.facts.url, limits::URL_CHARS_MAX),
        title: shortened(&panelot_content::clean::clean(&collected.facts.title), limits::TITLE_CHARS_MAX),
        text: rendered.text,
        ref_count: rendered.refs,
        truncated: rendered.truncated,
    })
}

fn render(collected: &Collected, tree: &Tree, tokens_max: u32) -> Rendered {
    with_page(|page| {
        page.prune();
        let sample = page.sample();
        render::render(&collected.facts, tree, tokens_max, &sample, |_, item| {
            let element = collected.element(item.node)?;
            Some(page.ref_of(element, item.identity()).to_string())
        })
    })
}

fn empty(collected: &Collected) -> Failure {
    let reason = if collected.facts.is_empty() {
        "it has no body yet"
    } else {
        "nothing in it is shown as text or as a control"
    };
    Failure::new(
        Code::NotVisible,
        format!(
            "The page is empty: {reason}. Wait for it to load and read again; if it stays empty, use a deeper read or a screenshot if one is offered, else tell the user."
        ),
    )
}

/// Text cut to what the protocol lets through.
pub fn shortened(text: &str, chars_max: u64) -> String {
    text.chars().take(usize::try_from(chars_max).unwrap_or(usize::MAX)).collect()
}

/// The lines of a reading for comparison. The focus moves with every action; that is no change of the page.
fn lines(tree: &Tree) -> Vec<String> {
    tree.items.iter().map(|item| render::line(item, None).replace(" [focused]", "")).collect()
}

fn remember(collected: &Collected, lines: Vec<String>, tokens_max: u32) {
    let part_only = collected.facts.unread != Unread::default();
    let told = Told { lines, part_only, tokens_max, scroll: scroll() };
    with_page(|page| page.told = Some(told));
}

fn scroll() -> (f64, f64) {
    (dom::window().scroll_x(), dom::window().scroll_y())
}

/// Makes sure that there is something to compare with after an action.
pub fn prepare_diff(tokens_max: u32) {
    if with_page(|page| page.told.is_none()) {
        read_for_diff(tokens_max);
    }
}

/// Compares from here on with what is around the viewport now, where only that part of the page is read.
pub fn follow_scroll(tokens_max: u32) {
    let now = scroll();
    if with_page(|page| page.told.as_ref().is_some_and(|told| told.part_only && told.scroll != now)) {
        read_for_diff(tokens_max);
    }
}

/// The budget of a reading that is only compared: that of the last one, so that both are of the same part.
fn tokens_for_diff(tokens_max: u32) -> u32 {
    let told = with_page(|page| page.told.as_ref().map(|told| told.tokens_max));
    told.unwrap_or(limits::SNAPSHOT_TOKENS_DEFAULT).max(tokens_max)
}

fn read_for_diff(tokens_max: u32) {
    let tokens_max = tokens_for_diff(tokens_max);
    let collected = collect::collect_page(tokens_max);
    remember(&collected, lines(&tree::distil(&collected.facts)), tokens_max);
}

/// What changed since the page was last told; empty if nothing did.
pub fn take_diff(tokens_max: u32) -> String {
    let read_max = tokens_for_diff(tokens_max);
    let collected = collect::collect_page(read_max);
    let tree = tree::distil(&collected.facts);
    let after = lines(&tree);
    let before = with_page(|page| page.told.take()).map(|told| told.lines).unwrap_or_default();
    let changes = diff::changes(&before, &after);
    let told = diff::describe(&changes, &before, tokens_max, |at| match tree.items.get(at) {
        // An element that kept its ref but changed its words is known by the new ones from now on.
        Some(item) => line_with_ref(&collected, item),
        None => String::new(),
    });
    remember(&collected, after, read_max);
    told.unwrap_or_default()
}

fn line_with_ref(collected: &Collected, item: &Item) -> String {
    let element = collected.element(item.node).filter(|_| item.wants_ref());
    let own = element.map(|element| with_page(|page| page.ref_of(element, item.identity())).to_string());
    render::line(item, own.as_deref())
}

/// The element of a ref, if it is still what the last snapshot said.
///
/// # Errors
/// `stale_ref` with a sentence that tells what happened.
pub fn resolve(text: &str) -> Result<Node, Failure> {
    let stale = |stale: Stale| Failure::new(Code::StaleRef, stale.sentence(text));
    let number = with_page(|page| page.refs.resolve(text)).map_err(stale)?;
    let element = with_page(|page| page.elements.get(&number).and_then(WeakRef::deref));
    let Some(element) = element.filter(Node::is_connected) else {
        return Err(with_page(|page| page.refs.check(number, None)).err().map_or_else(|| gone(text), stale));
    };
    // What is not painted has lost its words; that it is hidden is found out later.
    if dom::is_painted(&element)
        && let Some(now) = identify(&element)
    {
        with_page(|page| page.refs.check(number, Some(&now))).map_err(stale)?;
    }
    Ok(element)
}

fn gone(text: &str) -> Failure {
    Failure::new(
        Code::StaleRef,
        format!("{text} is no longer in the page. Read the page again and use the new ref."),
    )
}

/// What a snapshot would say of an element now.
fn identify(element: &Node) -> Option<Identity> {
    let (collected, index) = collect::collect_below(element, IDENTITY_TOKENS)?;
    tree::identify(&collected.facts, index)
}

/// How to call an element in a sentence.
pub fn called(element: &Node) -> String {
    let identity = identify(element).unwrap_or_default();
    let role = if identity.role.is_empty() { dom::tag_of(element) } else { identity.role };
    let name = if identity.name.is_empty() {
        element
            .text_content()
            .map(|text| panelot_content::clean::clean(&shortened(&text, 500)))
            .unwrap_or_default()
    } else {
        identity.name
    };
    if name.is_empty() { role } else { format!("{role} \"{}\"", panelot_content::clean::shorten(&name, 80)) }
}

/// What a ref is now, without touching it.
///
/// # Errors
/// When the ref cannot be used.
pub fn describe(text: &str) -> Result<TargetDescription, Failure> {
    let element = resolve(text)?;
    let (collected, index) = collect::collect_below(&element, IDENTITY_TOKENS).ok_or_else(|| {
        Failure::new(Code::NotVisible, format!("{text} is in the page but not shown. Read the page again."))
    })?;
    let tree = tree::distil(&collected.facts);
    let item = tree.items.iter().find(|item| item.node == index);
    let identity = tree::identify(&collected.facts, index).unwrap_or_default();
    Ok(TargetDescription {
        role: shortened(&identity.role, limits::NAME_CHARS_MAX),
        name: shortened(&identity.name, limits::MESSAGE_CHARS_MAX),
        line: shortened(
            &item.map(|item| render::line(item, Some(text))).unwrap_or_default(),
            limits::MESSAGE_CHARS_MAX,
        ),
        sensitive: sensitive(&collected, index),
        origin: shortened(&origin(), limits::URL_CHARS_MAX),
    })
}

fn origin() -> String {
    dom::get(&js_sys::global(), "origin").as_string().unwrap_or_default()
}

fn sensitive(collected: &Collected, index: NodeIndex) -> Option<SensitiveField> {
    let facts = collected.facts.element(index)?;
    let secret = privacy::is_secret(facts) || facts.states.has(States::FILLED);
    if !secret {
        return None;
    }
    let autocomplete =
        facts.attr(panelot_content::facts::Attr::Autocomplete).unwrap_or_default().to_ascii_lowercase();
    Some(if autocomplete.contains("one-time-code") {
        SensitiveField::OneTimeCode
    } else if autocomplete.contains("cc-") && facts.input_type() != "password" {
        SensitiveField::Card
    } else {
        SensitiveField::Password
    })
}
