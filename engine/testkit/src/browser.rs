//! A browser with tabs whose pages follow a script.

use crate::sched::Scheduler;
use panelot_engine::ports::{Browser, BrowserError, Clock, ContentError, TabState};
use panelot_protocol::content::{
    ActionReport, ContentAction, ContentOp, ContentOutcome, ContentResult, PageSnapshot, TargetDescription,
    WaitCondition,
};
use panelot_protocol::ids::TabId;
use panelot_protocol::item::ActionOutcome;
use panelot_protocol::snapshot::TabInfo;
use panelot_protocol::{CONTENT_PROTOCOL, CONTENT_SCRIPT_SCHEMA_HASH};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::rc::Rc;

/// A page as the content script sees it.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its text as a snapshot shows it.
    pub text: String,
    /// Its document's nonce.
    pub document: String,
    /// The elements that can be acted on, by ref.
    pub elements: BTreeMap<String, TargetDescription>,
    /// How long each answer takes, in milliseconds.
    pub answer_ms: u64,
    /// Whether it never answers, as behind a dialog.
    pub blocked: bool,
}

impl Page {
    /// A page with one button.
    pub fn with_button(url: &str, name: &str) -> Self {
        let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
        let line = format!("- button \"{name}\" [ref=e1]");
        let button = TargetDescription {
            role: "button".into(),
            name: name.into(),
            line: line.clone(),
            sensitive: None,
            origin,
        };
        Self {
            url: url.to_owned(),
            title: "A page".to_owned(),
            text: line,
            document: "doc1".to_owned(),
            elements: BTreeMap::from([("e1".to_owned(), button)]),
            answer_ms: 0,
            blocked: false,
        }
    }
}

/// What happens to a tab during one exchange with its page.
#[derive(Debug, Clone)]
pub enum Interlude {
    /// It is closed before the message arrives.
    ClosedBefore,
    /// It is closed before the answer arrives.
    ClosedAfter,
    /// It shows another page before the answer arrives.
    ReplacedAfter(Box<Page>),
    /// The page never acts.
    SilentBefore,
    /// The page acts and never answers.
    SilentAfter,
}

/// The tabs. Clones are handles to the same.
#[derive(Clone)]
pub struct SimBrowser {
    scheduler: Scheduler,
    tabs: Rc<RefCell<BTreeMap<TabId, Page>>>,
    next_tab: Rc<Cell<i32>>,
    /// Actions that reached a page and change something, in their order.
    written: Rc<RefCell<Vec<(TabId, ContentAction)>>>,
    reads: Rc<Cell<u64>>,
    access: Rc<Cell<bool>>,
    /// What happens during the next exchanges, one each.
    interludes: Rc<RefCell<VecDeque<Interlude>>>,
}

impl SimBrowser {
    /// A browser without tabs.
    pub fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            tabs: Rc::default(),
            next_tab: Rc::new(Cell::new(100)),
            written: Rc::default(),
            reads: Rc::default(),
            access: Rc::new(Cell::new(true)),
            interludes: Rc::default(),
        }
    }

    /// Lets something happen during the next exchange that has nothing planned.
    pub fn plan(&self, interlude: Interlude) {
        self.interludes.borrow_mut().push_back(interlude);
    }

    /// From now on nothing happens during exchanges.
    pub fn forget_plans(&self) {
        self.interludes.borrow_mut().clear();
    }

    /// Puts a page into a tab.
    pub fn put(&self, tab_id: TabId, page: Page) {
        self.tabs.borrow_mut().insert(tab_id, page);
    }

    /// Changes a page.
    pub fn change(&self, tab_id: TabId, change: impl FnOnce(&mut Page)) {
        change(self.tabs.borrow_mut().get_mut(&tab_id).expect("the tab exists"));
    }

    /// Changes a page if its tab is there.
    pub fn change_if_there(&self, tab_id: TabId, change: impl FnOnce(&mut Page)) {
        self.tabs.borrow_mut().get_mut(&tab_id).map(change);
    }

    /// Whether a page is there and shows a text.
    pub fn shows(&self, tab_id: TabId, text: &str) -> bool {
        self.tabs.borrow().get(&tab_id).is_some_and(|page| page.text.contains(text))
    }

    /// Closes a tab.
    pub fn close(&self, tab_id: TabId) {
        self.tabs.borrow_mut().remove(&tab_id);
    }

    /// Whether the extension may run in pages.
    pub fn set_access(&self, access: bool) {
        self.access.set(access);
    }

    /// What was done to pages.
    pub fn written(&self) -> Vec<(TabId, ContentAction)> {
        self.written.borrow().clone()
    }

    /// How often a page was read.
    pub fn reads(&self) -> u64 {
        self.reads.get()
    }

    fn state(&self, tab_id: TabId) -> Result<TabState, BrowserError> {
        let tabs = self.tabs.borrow();
        let page = tabs.get(&tab_id).ok_or(BrowserError::NoTab(tab_id))?;
        Ok(TabState { info: info(tab_id, page), complete: true, discarded: false })
    }
}

fn info(tab_id: TabId, page: &Page) -> TabInfo {
    TabInfo { tab_id, window_id: 1, active: false, title: page.title.clone(), url: page.url.clone() }
}

impl Browser for SimBrowser {
    fn tabs(&self) -> impl Future<Output = Result<Vec<TabInfo>, BrowserError>> + 'static {
        let this = self.clone();
        async move {
            this.scheduler.pause().await;
            let tabs = this.tabs.borrow();
            Ok(tabs.iter().map(|(tab_id, page)| info(*tab_id, page)).collect())
        }
    }

    fn tab(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        let this = self.clone();
        async move {
            this.scheduler.pause().await;
            this.state(tab_id)
        }
    }

    fn open(
        &self,
        url: &str,
        _opener: Option<TabId>,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        let (this, url) = (self.clone(), url.to_owned());
        async move {
            this.scheduler.pause().await;
            let tab_id = TabId(this.next_tab.get());
            this.next_tab.set(tab_id.0 + 1);
            this.put(tab_id, Page::with_button(&url, "Go on"));
            this.scheduler.pause().await;
            this.state(tab_id)
        }
    }

    fn navigate(
        &self,
        tab_id: TabId,
        url: &str,
    ) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        let (this, url) = (self.clone(), url.to_owned());
        async move {
            this.scheduler.pause().await;
            this.state(tab_id)?;
            this.put(tab_id, Page::with_button(&url, "Go on"));
            this.scheduler.pause().await;
            this.state(tab_id)
        }
    }

    fn loaded(&self, tab_id: TabId) -> impl Future<Output = Result<TabState, BrowserError>> + 'static {
        self.tab(tab_id)
    }

    fn may_access(&self, _url: &str) -> impl Future<Output = bool> + 'static {
        std::future::ready(self.access.get())
    }

    fn content(
        &self,
        tab_id: TabId,
        op: ContentOp,
    ) -> impl Future<Output = Result<ContentResult, ContentError>> + 'static {
        let this = self.clone();
        async move {
            this.scheduler.pause().await;
            let ContentOp::Execute { request_id, action, .. } = op else {
                panic!("the engine sends pages only what they execute");
            };
            let interlude = this.interludes.borrow_mut().pop_front();
            if matches!(interlude, Some(Interlude::ClosedBefore)) {
                this.close(tab_id);
            }
            let Some(page) = this.tabs.borrow().get(&tab_id).cloned() else {
                return Err(ContentError::NoTab(tab_id));
            };
            if page.blocked || matches!(interlude, Some(Interlude::SilentBefore)) {
                std::future::pending::<()>().await;
            }
            let outcome = this.perform(tab_id, &page, &action);
            // The page has acted; the answer is on its way.
            this.scheduler.pause().await;
            this.scheduler.sleep(page.answer_ms).await;
            match interlude {
                Some(Interlude::ClosedAfter) => this.close(tab_id),
                Some(Interlude::ReplacedAfter(page)) => this.put(tab_id, *page),
                Some(Interlude::SilentAfter) => std::future::pending::<()>().await,
                Some(Interlude::ClosedBefore | Interlude::SilentBefore) | None => {}
            }
            let document = this.tabs.borrow().get(&tab_id).map(|page| page.document.clone());
            if document.as_ref() != Some(&page.document) {
                return Err(ContentError::DocumentGone);
            }
            Ok(ContentResult {
                protocol: CONTENT_PROTOCOL.to_owned(),
                schema_hash: CONTENT_SCRIPT_SCHEMA_HASH.to_owned(),
                request_id,
                document: page.document,
                outcome,
            })
        }
    }
}

impl SimBrowser {
    fn perform(&self, tab_id: TabId, page: &Page, action: &ContentAction) -> ContentOutcome {
        if action.is_write() {
            self.written.borrow_mut().push((tab_id, action.clone()));
        } else {
            self.reads.set(self.reads.get() + 1);
        }
        match action {
            ContentAction::Snapshot { .. } => ContentOutcome::Snapshot {
                snapshot: PageSnapshot {
                    url: page.url.clone(),
                    title: page.title.clone(),
                    text: page.text.clone(),
                    ref_count: u32::try_from(page.elements.len()).unwrap(),
                    truncated: false,
                },
            },
            ContentAction::Describe { target } => match page.elements.get(target) {
                Some(target) => ContentOutcome::Target { target: target.clone() },
                None => stale(target),
            },
            ContentAction::Click { target, .. }
            | ContentAction::Type { target, .. }
            | ContentAction::SelectOption { target, .. } => match page.elements.get(target) {
                Some(element) => ContentOutcome::Action {
                    action: ActionReport {
                        outcome: ActionOutcome::Verified,
                        evidence: vec![format!("{} \"{}\" reacted", element.role, element.name)],
                        diff: String::new(),
                        navigating: false,
                        url: page.url.clone(),
                    },
                },
                None => stale(target),
            },
            ContentAction::WaitFor { condition, timeout_ms } => {
                let met = match condition {
                    WaitCondition::Text { text } => page.text.contains(text),
                    WaitCondition::TextGone { text } => !page.text.contains(text),
                };
                ContentOutcome::Waited { met, elapsed_ms: if met { 0 } else { *timeout_ms } }
            }
        }
    }
}

fn stale(target: &str) -> ContentOutcome {
    ContentOutcome::Failure {
        code: panelot_protocol::content::ActionFailureCode::StaleRef,
        message: format!("{target} is gone: read the page again"),
    }
}
