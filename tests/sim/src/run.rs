//! One seed from its first action to rest.

use crate::model::Model;
use crate::properties;
use crate::user::User;
use panelot_engine::Engine;
use panelot_engine::ports::{ConnectionKey, Entropy, StoreError};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ConnectionId, NodeId, SubmissionId, TabId, ThreadId};
use panelot_protocol::item::ItemKind;
use panelot_protocol::op::{Op, ThreadPatch, UncertainResolution};
use panelot_protocol::settings::{
    Budgets, ConnectionInput, ModelCapabilities, ModelEntry, ModelPricing, ProviderKind, QuirkFlags,
    SettingsPatch,
};
use panelot_protocol::snapshot::{RecoveryReason, ThreadSnapshot};
use panelot_protocol::turn::{CapturedTab, ModelRef, UserInput};
use panelot_protocol::view::ThreadView;
use panelot_testkit::{Page, Seeded, SimWorld};
use std::rc::Rc;

/// Actions of one seed.
const ACTIONS_COUNT_MAX: usize = 28;
/// Rounds that the quiet phase may take to come to rest.
const ROUNDS_COUNT_MAX: usize = 80;
/// The tab that every task is about.
const TAB: TabId = TabId(7);

/// How a seed ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// How often the worker was killed.
    pub kills: u32,
    /// Writes that reached the page.
    pub writes: usize,
    /// What did not hold; empty when all is well.
    pub problems: Vec<String>,
    /// What happened, in order.
    pub trace: Vec<String>,
}

/// One simulated profile.
pub struct Simulation {
    /// The world.
    pub world: SimWorld,
    /// The users with their pages.
    pub users: Vec<User>,
    /// All threads that were made.
    pub threads: Vec<ThreadId>,
    /// The scripted model.
    pub model: Model,
    /// What the users wanted done once more, if the engine took it on.
    pub wishes: Vec<Wish>,
    /// What did not hold on the way.
    pub observed: Vec<String>,
    engine: Rc<Engine<SimWorld>>,
    random: Seeded,
    connections: u32,
    tasks: u32,
    kills: u32,
    trace: Vec<String>,
}

/// A user asks for something that was done before: an uncertain write, or a task whose answer is to be given again or
/// was removed from the model's sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The Op that asks for it.
    pub submission: SubmissionId,
    /// What may be written once more.
    pub writes: Again,
}

/// Writes that may come once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// This text.
    Text(String),
    /// Each text of this task.
    Task(String),
}

impl Again {
    /// Whether a text is one of them.
    pub fn covers(&self, text: &str) -> bool {
        match self {
            Self::Text(own) => own == text,
            Self::Task(name) => text.split_once('#').is_some_and(|(task, _)| task == name),
        }
    }
}

/// Runs a seed.
pub fn run_seed(seed: u64) -> Outcome {
    let mut simulation = Simulation::new(seed);
    simulation.set_up();
    let actions = 6 + simulation.random.below(ACTIONS_COUNT_MAX - 6);
    for _ in 0..actions {
        simulation.act();
        simulation.pass_time();
    }
    let rested = simulation.come_to_rest();
    let mut problems = properties::check(&mut simulation);
    if !rested {
        problems.push("it does not come to rest: something waits for ever".to_owned());
    }
    let writes = simulation.world.browser.written().len();
    Outcome { seed, kills: simulation.kills, writes, problems, trace: simulation.trace }
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let world = SimWorld::new(seed);
        let model = Model::new(seed);
        let answering = model.clone();
        world.http.set_script(move |body| answering.reply(body));
        let naming = model.clone();
        world.http.set_title_script(move |_| naming.title());
        world.browser.put(TAB, Page::with_button("https://shop.test/cart", "Order"));
        let engine = Engine::start(world.clone());
        Self {
            users: vec![User::new(1), User::new(2)],
            threads: Vec::new(),
            model,
            wishes: Vec::new(),
            observed: Vec::new(),
            engine,
            random: Seeded::new(seed ^ 0x0dd5_eed5),
            connections: 0,
            tasks: 0,
            kills: 0,
            trace: Vec::new(),
            world,
        }
    }

    fn note(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.trace.push(format!("{:>6} {what}", self.world.scheduler.polls()));
    }

    fn submission(&self) -> SubmissionId {
        SubmissionId::new(self.world.entropy.uuid())
    }

    fn connect(&mut self, user: usize) {
        self.connections += 1;
        let key = ConnectionKey(self.connections);
        self.users[user].connect(&self.world, &self.engine, key);
    }

    /// Lets everything run that can run now.
    fn settle(&mut self) {
        if self.world.scheduler.settle() {
            self.restart();
        }
        self.read();
    }

    fn read(&mut self) {
        for user in &mut self.users {
            user.read(&self.world);
        }
        for user in &self.users {
            for sent in &user.submitted {
                if let Some(
                    AgentEvent::ThreadCreated { thread, .. } | AgentEvent::ThreadForked { thread, .. },
                ) = &sent.event
                    && !self.threads.contains(&thread.thread_id)
                {
                    self.threads.push(thread.thread_id.clone());
                }
            }
        }
        for user in 0..self.users.len() {
            if self.users[user].lost
                && let Some(thread) = self.users[user].thread.clone()
            {
                self.users[user].show(&self.world, &self.engine, &thread);
            }
        }
    }

    /// A new worker begins where the old one was killed.
    fn restart(&mut self) {
        self.kills += 1;
        self.note("killed");
        for user in &mut self.users {
            user.cut();
        }
        if self.random.below(3) == 0 {
            // It may be killed again while it recovers.
            let polls = 1 + self.random.below(60);
            self.world.scheduler.kill_after(u64::try_from(polls).unwrap());
        }
        self.engine = Engine::start(self.world.clone());
        for user in 0..self.users.len() {
            self.connect(user);
        }
    }

    fn set_up(&mut self) {
        for user in 0..self.users.len() {
            self.connect(user);
        }
        self.settle();
        let model = ModelRef { connection_id: ConnectionId::from("c1"), model_id: "m1".to_owned() };
        for patch in [
            SettingsPatch::PutConnection { connection: connection(&model) },
            SettingsPatch::DefaultModel { model: Some(model) },
            SettingsPatch::Budgets { budgets: self.budgets() },
        ] {
            let op = Op::SettingsUpdate { submission_id: self.submission(), patch };
            self.users[0].submit(&self.engine, op);
            self.settle();
        }
        self.create_thread(0);
        self.settle();
        let thread = self.threads[0].clone();
        for user in &mut self.users {
            user.show(&self.world, &self.engine, &thread);
        }
        self.settle();
    }

    /// Limits that a few model calls reach, in some lives.
    fn budgets(&mut self) -> Budgets {
        Budgets {
            turn_tokens: [None, None, Some(1), Some(300)][self.random.below(4)],
            thread_cost_usd: [None, None, None, Some(0.000_5)][self.random.below(4)],
        }
    }

    fn create_thread(&mut self, user: usize) {
        let op = Op::ThreadCreate { submission_id: self.submission(), preset: None, folder_id: None };
        self.users[user].submit(&self.engine, op);
    }

    fn pass_time(&mut self) {
        if self.random.below(3) == 0 {
            let polls = 1 + self.random.below(400);
            self.world.scheduler.kill_after(u64::try_from(polls).unwrap());
        }
        let ms = [0, 0, 4, 40, 900, 2_500, 21_000, 130_000][self.random.below(8)];
        if self.world.scheduler.advance(ms) {
            self.restart();
        }
        if self.random.below(4) == 0 {
            self.engine.alarm();
        }
        let kills = self.kills;
        self.settle();
        if self.kills == kills {
            // A worker that was just started has not looked around yet.
            self.observed.extend(properties::check_alarm(&self.world));
        }
    }

    fn task(&mut self) -> UserInput {
        self.tasks += 1;
        let steps = self.random.below(4);
        let reads = ["", " reads", " reads", " wide"][self.random.below(4)];
        let bad = if self.random.below(8) == 0 { " bad" } else { "" };
        let stubborn = if self.random.below(12) == 0 { " stubborn" } else { "" };
        let captured_tab = Some(CapturedTab { tab_id: TAB, title: None, url: None });
        let text = format!("task t{} steps {steps}{reads}{bad}{stubborn}", self.tasks);
        UserInput { captured_tab, ..UserInput::text(text) }
    }

    /// One thing that a user does, or that happens to the world.
    fn act(&mut self) {
        let user = self.random.below(self.users.len());
        if !self.users[user].is_connected() {
            self.connect(user);
        }
        match self.random.below(24) {
            0..=4 => self.speak(user),
            5..=9 => self.decide(user),
            10 => self.interrupt(user),
            11 => self.fork(user),
            12 => self.change_tree(user),
            13 => self.change_thread(user),
            14 => self.change_queue(user),
            15 => self.page_fault(),
            16 => self.store_fault(),
            17 => {
                self.note("a page goes away");
                self.users[user].disconnect(&self.engine);
            }
            18 => self.repeat(user),
            19 => self.switch_thread(user),
            _ => self.speak(user),
        }
    }

    fn view(&self, user: usize) -> Option<&ThreadView> {
        self.users[user].view.as_ref()
    }

    fn shown(&self, user: usize) -> Option<(ThreadId, ThreadSnapshot)> {
        let view = self.view(user)?;
        Some((view.thread_id().clone(), view.snapshot.clone()))
    }

    fn submit(&mut self, user: usize, op: Op) {
        self.note(format!("user {user}: {}", op.command_type()));
        self.users[user].submit(&self.engine, op);
    }

    fn speak(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let (submission_id, input) = (self.submission(), self.task());
        let op = match (self.random.below(4), snapshot.active_turn) {
            (0, Some(turn)) => {
                Op::TurnSteer { submission_id, thread_id, expected_turn_id: turn.turn_id, input }
            }
            (1, _) => Op::TurnEnqueue { submission_id, thread_id, input, overrides: None },
            _ => Op::TurnSubmit { submission_id, thread_id, input, overrides: None },
        };
        self.submit(user, op);
    }

    /// Answers what the page asks, one thing of it.
    fn decide(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        if let Some(approval) = snapshot.approvals.first() {
            let decision = match self.random.below(8) {
                0 => ApprovalDecision::Decline { note: Some("not this".to_owned()) },
                1 => ApprovalDecision::Cancel {},
                2 => ApprovalDecision::AcceptForSession {},
                _ => ApprovalDecision::Accept {},
            };
            let approval_id = approval.approval_id.clone();
            let submission_id = self.submission();
            return self.submit(user, Op::ApprovalResponse { submission_id, approval_id, decision });
        }
        let Some(run) = snapshot.recoverable.first().cloned() else { return };
        let submission_id = self.submission();
        let (run_id, reason) = (run.run_id, run.reason);
        match reason {
            RecoveryReason::UncertainWrite => {
                let resolution = self.look_at_the_page(&snapshot, &submission_id);
                let op = Op::RunResolveUncertain { submission_id, thread_id, run_id, resolution };
                self.submit(user, op);
            }
            RecoveryReason::Interrupted
            | RecoveryReason::BudgetPaused
            | RecoveryReason::EnvironmentChanged => {
                self.submit(user, Op::RunResume { submission_id, thread_id, run_id });
            }
        }
    }

    /// What an honest user decides about a write that may have happened.
    fn look_at_the_page(
        &mut self,
        snapshot: &ThreadSnapshot,
        submission: &SubmissionId,
    ) -> UncertainResolution {
        let call = snapshot
            .recoverable
            .iter()
            .filter_map(|run| run.pending_tool.as_ref())
            .find_map(|tool| snapshot.items.iter().find(|item| item.item_id == tool.item_id));
        let text = call.and_then(|call| call.meta.params.as_ref()).and_then(|params| params["text"].as_str());
        let Some(text) = text else { return UncertainResolution::Fail };
        if properties::writes(&self.world, text) > 0 {
            return UncertainResolution::MarkDone;
        }
        let wish = Wish { submission: submission.clone(), writes: Again::Text(text.to_owned()) };
        self.wishes.push(wish);
        UncertainResolution::Retry
    }

    fn interrupt(&mut self, user: usize) {
        let Some((thread_id, _)) = self.shown(user) else { return };
        let submission_id = self.submission();
        self.submit(user, Op::TurnInterrupt { submission_id, thread_id });
    }

    fn random_node(&self, snapshot: &ThreadSnapshot, kind: ItemKind) -> Option<NodeId> {
        let of_kind = snapshot.items.iter().filter(|item| item.kind == kind);
        let nodes: Vec<&NodeId> = of_kind.filter_map(|item| item.meta.node_id.as_ref()).collect();
        (!nodes.is_empty()).then(|| nodes[self.random.below(nodes.len())].clone())
    }

    fn fork(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let kind = if self.random.below(2) == 0 { ItemKind::UserMessage } else { ItemKind::AssistantMessage };
        let Some(sibling_of_node_id) = self.random_node(&snapshot, kind) else { return };
        let (submission_id, input) = (self.submission(), self.task());
        if kind == ItemKind::AssistantMessage {
            self.wish_again(&snapshot, &sibling_of_node_id, &submission_id);
        }
        let op = Op::TurnFork { submission_id, thread_id, sibling_of_node_id, input, overrides: None };
        self.submit(user, op);
    }

    /// The task that an answer belongs to may be done once more.
    fn wish_again(&mut self, snapshot: &ThreadSnapshot, answer: &NodeId, submission: &SubmissionId) {
        let before = snapshot.items.iter().take_while(|item| item.meta.node_id.as_ref() != Some(answer));
        let inputs = before.filter_map(|item| item.meta.input.as_ref());
        let task = inputs.filter_map(|input| input.text.split_whitespace().nth(1)).last();
        if let Some(task) = task {
            let writes = Again::Task(task.to_owned());
            self.wishes.push(Wish { submission: submission.clone(), writes });
        }
    }

    fn change_tree(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let submission_id = self.submission();
        let branch = snapshot.items.iter().filter_map(|item| item.meta.branch.as_ref()).next();
        if let Some(node_id) = branch.and_then(|branch| branch.previous.clone().or(branch.next.clone())) {
            return self.submit(user, Op::ThreadSelectBranch { submission_id, thread_id, node_id });
        }
        if let Some(node_id) = self.random_node(&snapshot, ItemKind::AssistantMessage) {
            self.wish_again(&snapshot, &node_id, &submission_id);
            self.submit(user, Op::NodeDelete { submission_id, thread_id, node_id });
        }
    }

    fn change_thread(&mut self, user: usize) {
        let Some((thread_id, _)) = self.shown(user) else { return };
        let submission_id = self.submission();
        if self.random.below(4) == 0 && self.threads.len() > 1 {
            return self.submit(user, Op::ThreadDelete { submission_id, thread_id });
        }
        let title = format!("Title {}", self.random.below(100));
        let patch = ThreadPatch { title: Some(title), ..ThreadPatch::default() };
        self.submit(user, Op::ThreadUpdate { submission_id, thread_id, patch });
    }

    fn change_queue(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let submission_id = self.submission();
        let Some(run) = snapshot.queue.runs.first() else {
            return self.submit(user, Op::QueueRelease { submission_id, thread_id });
        };
        let run_id = run.run_id.clone();
        let op = match self.random.below(3) {
            0 => Op::QueueRemove { submission_id, thread_id, run_id },
            1 => {
                let input = self.task();
                Op::QueueUpdate { submission_id, thread_id, run_id, input, overrides: None }
            }
            _ => Op::QueueRelease { submission_id, thread_id },
        };
        self.submit(user, op);
    }

    fn page_fault(&mut self) {
        match self.random.below(3) {
            0 => {
                self.note("the tab is closed");
                self.world.browser.close(TAB);
            }
            1 => {
                self.note("the page renders anew");
                let mut page = Page::with_button("https://shop.test/cart", "Order");
                page.elements.clear();
                self.world.browser.put(TAB, page);
            }
            _ => {
                self.note("the tab shows another site");
                self.world.browser.put(TAB, Page::with_button("https://other.test/", "Order"));
            }
        }
    }

    fn store_fault(&mut self) {
        let error = match self.random.below(3) {
            0 => StoreError::Full,
            1 => StoreError::Aborted("the browser had enough".to_owned()),
            _ => StoreError::Unknown("the connection broke".to_owned()),
        };
        self.note(format!("the next commit fails: {error}"));
        self.world.store.fail_next_commit(error);
    }

    /// A message that was answered is sent again, as after a lost answer.
    fn repeat(&mut self, user: usize) {
        let count = self.users[user].submitted.len();
        if count == 0 {
            return;
        }
        let op = self.users[user].submitted[self.random.below(count)].op.clone();
        self.note(format!("user {user} again: {}", op.command_type()));
        self.users[user].post(&self.engine, &op);
    }

    fn switch_thread(&mut self, user: usize) {
        if self.threads.len() < 3 && self.random.below(2) == 0 {
            self.note(format!("user {user}: thread.create"));
            return self.create_thread(user);
        }
        let thread = self.threads[self.random.below(self.threads.len())].clone();
        self.users[user].show(&self.world, &self.engine, &thread);
    }

    /// The faults stop; the users see to everything that waits for them.
    fn come_to_rest(&mut self) -> bool {
        self.note("quiet");
        self.model.calm();
        self.world.store.forget_faults();
        self.world.scheduler.kill_never();
        self.world.browser.put(TAB, Page::with_button("https://shop.test/cart", "Order"));
        for _ in 0..ROUNDS_COUNT_MAX {
            for user in 0..self.users.len() {
                if !self.users[user].is_connected() {
                    self.connect(user);
                }
            }
            for thread in self.threads.clone() {
                if properties::is_gone(&self.world, &thread) {
                    continue;
                }
                self.users[0].show(&self.world, &self.engine, &thread);
                self.settle();
                self.see_to(0);
                self.settle();
            }
            self.engine.alarm();
            if self.world.scheduler.advance(15_000) {
                self.restart();
            }
            self.settle();
            if properties::is_at_rest(self) {
                return true;
            }
        }
        false
    }

    /// Answers everything that the shown thread asks.
    fn see_to(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        for approval in &snapshot.approvals {
            let (submission_id, approval_id) = (self.submission(), approval.approval_id.clone());
            let decision = ApprovalDecision::Accept {};
            self.submit(user, Op::ApprovalResponse { submission_id, approval_id, decision });
        }
        if !snapshot.recoverable.is_empty() && snapshot.approvals.is_empty() {
            self.decide(user);
        }
        if snapshot.queue.held && snapshot.active_turn.is_none() {
            let submission_id = self.submission();
            self.submit(user, Op::QueueRelease { submission_id, thread_id });
        }
    }

    /// Lets every page have what it asked for.
    pub fn catch_up(&mut self) {
        for _ in 0..ROUNDS_COUNT_MAX {
            self.settle();
            if self.users.iter().all(|user| !user.is_waiting()) {
                return;
            }
        }
    }

    /// A fresh snapshot of a thread, as a page gets it that connects now.
    pub fn fresh_snapshot(&mut self, thread_id: &ThreadId) -> Option<ThreadSnapshot> {
        let mut reader = User::new(9);
        reader.thread = Some(thread_id.clone());
        self.connections += 1;
        reader.connect(&self.world, &self.engine, ConnectionKey(self.connections));
        self.world.scheduler.settle();
        reader.read(&self.world);
        let snapshot = reader.view.as_ref().map(|view| view.snapshot.clone());
        reader.disconnect(&self.engine);
        self.world.scheduler.settle();
        snapshot
    }
}

fn connection(model: &ModelRef) -> ConnectionInput {
    let capabilities =
        ModelCapabilities { tool_use: true, vision: false, reasoning: None, max_context: None };
    let pricing = Some(ModelPricing { input: 1.0, output: 2.0, cache_read: None });
    ConnectionInput {
        connection_id: model.connection_id.clone(),
        name: "Simulated".to_owned(),
        kind: ProviderKind::Openai,
        base_url: "https://api.test/v1".to_owned(),
        api_keys: Some(vec!["key".to_owned()]),
        custom_headers: None,
        prefix_id: None,
        models: vec![ModelEntry { model: model.clone(), display_name: None, capabilities, pricing }],
        enabled: true,
        quirks: QuirkFlags::default(),
    }
}
