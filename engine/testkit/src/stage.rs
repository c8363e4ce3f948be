//! A stage for tests of the engine: a thread that a page shows, a tab, a model.

use crate::browser::Page;
use crate::world::{SimPage, SimWorld};
use panelot_engine::Engine;
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ApprovalId, TabId, ThreadId};
use panelot_protocol::interaction::{InteractionResponse, PendingInteraction};
use panelot_protocol::op::Op;
use panelot_protocol::turn::{CapturedTab, UserInput};
use std::rc::Rc;

/// The tab that messages of a [`Stage`] capture.
pub const TAB: TabId = TabId(7);

/// One thread, one page that shows it, one tab with a page in it, one model.
pub struct Stage {
    /// The world.
    pub world: SimWorld,
    /// The worker's engine.
    pub engine: Rc<Engine<SimWorld>>,
    /// The page.
    pub page: SimPage,
    /// The thread.
    pub thread: ThreadId,
}

impl Stage {
    /// A stage before anything was said.
    pub fn new(seed: u64) -> Self {
        let world = SimWorld::new(seed);
        world.browser.put(TAB, Page::with_button("https://shop.test/cart", "Place order"));
        let engine = Engine::start(world.clone());
        let mut page = SimPage::open(&world, &engine, 1, None);
        page.configure(&["planted-key-0123456789"]);
        let thread = page.create_thread();
        page.subscribe(&thread);
        page.take_types();
        Self { world, engine, page, thread }
    }

    /// Sends a message with the tab captured; answers the engine's answer.
    pub fn submit(&mut self, text: &str) -> AgentEvent {
        let input = UserInput {
            captured_tab: Some(CapturedTab { tab_id: TAB, title: None, url: None }),
            ..UserInput::text(text)
        };
        let op = Op::TurnSubmit {
            submission_id: self.page.submission(),
            thread_id: self.thread.clone(),
            input,
            overrides: None,
        };
        self.page.ask(&op)
    }

    /// The question that waits.
    pub fn asked(&self) -> Option<ApprovalId> {
        let view = self.page.view.as_ref().unwrap();
        view.snapshot.approvals.first().map(|approval| approval.approval_id.clone())
    }

    /// Answers the question that waits.
    pub fn answer(&mut self, decision: ApprovalDecision) -> AgentEvent {
        let approval_id = self.asked().expect("a question waits");
        let op = Op::ApprovalResponse { submission_id: self.page.submission(), approval_id, decision };
        self.page.ask(&op)
    }

    /// The wait that is open.
    pub fn awaited(&self) -> Option<PendingInteraction> {
        self.page.view.as_ref().unwrap().snapshot.interactions.first().cloned()
    }

    /// Answers the wait that is open.
    pub fn respond(&mut self, response: InteractionResponse) -> AgentEvent {
        let interaction_id = self.awaited().expect("a wait is open").interaction_id;
        let op = Op::InteractionResponse { submission_id: self.page.submission(), interaction_id, response };
        self.page.ask(&op)
    }

    /// What the page folded must be what a page that comes now is shown.
    pub fn check_view(&mut self) {
        self.page.advance(20);
        assert!(!self.page.lost, "the page lost its way");
        let folded = self.page.view.as_ref().unwrap().snapshot.clone();
        let mut other = SimPage::open(&self.world, &self.engine, 99, Some(&self.thread));
        other.settle();
        assert_eq!(folded, other.view.as_ref().unwrap().snapshot);
        self.engine.disconnected(other.connection);
    }

    /// Ends the worker where it stands and starts another one; the page connects again.
    pub fn restart(&mut self) {
        self.world.scheduler.kill();
        self.start_again();
    }

    /// Starts a worker after the last one was ended; the page connects again.
    pub fn start_again(&mut self) {
        self.engine = Engine::start(self.world.clone());
        let number = self.page.connection.0 + 1;
        let client = self.page.client.clone();
        self.page = SimPage::reopen(&self.world, &self.engine, number, client, Some(&self.thread));
    }
}
