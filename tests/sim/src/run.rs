//! One life from its first step to rest.

use crate::model::{AWAITED_TEXT, Model};
use crate::plan::{Plan, Step};
use crate::properties;
use crate::user::User;
use crate::watch::Watch;
use panelot_engine::Engine;
use panelot_engine::ports::{ConnectionKey, Entropy};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ConnectionId, SubmissionId, TabId, ThreadId};
use panelot_protocol::interaction::{InteractionRequestPayload, InteractionResponse};
use panelot_protocol::op::Op;
use panelot_protocol::settings::{
    Budgets, ConnectionInput, ModelCapabilities, ModelEntry, ModelPricing, Patience, ProviderKind,
    QuirkFlags, SettingsPatch,
};
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_protocol::turn::ModelRef;
use panelot_testkit::{Page, Seeded, SimWorld};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Rounds that the quiet phase may take to come to rest.
const ROUNDS_COUNT_MAX: usize = 80;
/// Rounds for which the engine is left alone.
const ROUNDS_ALONE_COUNT: usize = 30;
/// Rounds within which the engine sees what a watched page shows.
const ROUNDS_UNTIL_SEEN_COUNT: usize = 5;
/// Within what time a thread in which nothing runs begins to watch a page.
const WATCH_BEGINS_MS: u64 = 5_000;
/// How long such a round takes: the time after which Chrome ends a worker in which nothing happens.
const ALONE_MS: u64 = 30_000;
/// How long a round with users takes.
const ROUND_MS: u64 = 15_000;
/// The tab that every task is about.
pub(crate) const TAB: TabId = TabId(7);

/// How a life ended.
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
    /// What looks at each commit.
    pub watch: Watch,
    /// Messages that were sent under a number that was used before.
    pub misused: Vec<String>,
    /// What happened that makes some properties hold in part only.
    pub past: Past,
    pub(crate) engine: Rc<Engine<SimWorld>>,
    /// Engines that another worker took over from; they may have a little to live.
    pub(crate) former: Vec<Rc<Engine<SimWorld>>>,
    pub(crate) random: Seeded,
    /// What decides on things that came later, so that old seeds still mean what they meant.
    pub(crate) extra: Seeded,
    /// What decides on waits; `None` in lives without.
    pub(crate) waits: Option<Seeded>,
    /// The limits of this life.
    pub budgets: Budgets,
    pub(crate) tasks: u32,
    connections: u32,
    pub(crate) workers: u32,
    kill_again_after_polls: Option<u64>,
    kills: u32,
    trace: Vec<String>,
}

/// Things that happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Past {
    /// Two workers lived at once: the alarm, which nobody can read, is what the last one thought.
    pub two_workers: bool,
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

/// Runs the plan of a seed.
pub fn run_seed(seed: u64) -> Outcome {
    run_plan(&Plan::of(seed))
}

thread_local! {
    /// Whether a life runs on this thread: a panic is told with its seed then.
    static LIVING: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics inside lives from being printed where they happen: each is one of its life's problems.
pub fn hush_panics() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !LIVING.get() {
            loud(info);
        }
    }));
}

/// Runs a plan. A panic on the way is a problem like any other.
pub fn run_plan(plan: &Plan) -> Outcome {
    let mut simulation = Simulation::new(plan);
    LIVING.set(true);
    let lived = catch_unwind(AssertUnwindSafe(|| simulation.live(plan)));
    LIVING.set(false);
    let problems = lived.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        vec![format!("a panic: {text}")]
    });
    let writes = simulation.world.browser.written().len();
    let Simulation { kills, trace, world, .. } = simulation;
    // The tasks know the world and the world knows its tasks: what runs is dropped by hand.
    world.scheduler.kill();
    world.http.forget_script();
    world.store.forget_watch();
    Outcome { seed: plan.seed, kills, writes, problems, trace }
}

impl Simulation {
    fn new(plan: &Plan) -> Self {
        let world = SimWorld::new(plan.seed);
        let model = Model::new(plan.spoils.clone());
        let answering = model.clone();
        world.http.set_script(move |body| answering.reply(body));
        let naming = model.clone();
        world.http.set_title_script(move |_| naming.title());
        world.browser.put(TAB, Page::with_button("https://shop.test/cart", "Order"));
        let watch = Watch::of(&world.store);
        let engine = Engine::start(world.of_worker(1));
        Self {
            users: vec![User::new(1), User::new(2)],
            threads: Vec::new(),
            model,
            wishes: Vec::new(),
            observed: Vec::new(),
            misused: Vec::new(),
            watch,
            past: Past::default(),
            engine,
            former: Vec::new(),
            random: Seeded::new(plan.seed ^ 0x3e57_0000),
            extra: Seeded::new(plan.seed ^ 0x0ddb_a115),
            waits: plan.waits.then(|| Seeded::new(plan.seed ^ 0x0a17_5eed)),
            budgets: Budgets::default(),
            tasks: 0,
            connections: 0,
            workers: 1,
            kill_again_after_polls: None,
            kills: 0,
            trace: Vec::new(),
            world,
        }
    }

    fn live(&mut self, plan: &Plan) -> Vec<String> {
        let quiet = self.random.clone();
        self.set_up();
        for step in &plan.steps {
            self.step(step);
        }
        self.random = quiet;
        self.calm();
        if plan.alone {
            self.leave_alone();
        }
        let rested = self.come_to_rest();
        let mut problems = properties::check(self);
        if !rested {
            problems.push("it does not come to rest: something waits for ever".to_owned());
        }
        problems
    }

    pub(crate) fn note(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.trace.push(format!("{:>6} {what}", self.world.scheduler.polls()));
    }

    pub(crate) fn submission(&self) -> SubmissionId {
        SubmissionId::new(self.world.entropy.uuid())
    }

    pub(crate) fn connect(&mut self, user: usize) {
        self.connections += 1;
        let key = ConnectionKey(self.connections);
        self.users[user].connect(&self.world, &self.engine, key);
    }

    /// Lets everything run that can run now.
    pub(crate) fn settle(&mut self) {
        if self.world.scheduler.settle() {
            self.restart();
        }
        self.read();
    }

    fn read(&mut self) {
        for user in &mut self.users {
            user.read(&self.world);
        }
        for view in self.users.iter().filter_map(|user| user.view.as_ref()) {
            self.observed.extend(properties::unsaid(&self.model, &view.snapshot));
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
        for user in &mut self.users {
            if user.lost
                && let Some(thread) = user.thread.clone()
            {
                user.show(&self.world, &self.engine, &thread);
            }
        }
    }

    /// The worker was killed: what it said last may have reached the pages. A new one begins where it stopped.
    fn restart(&mut self) {
        self.kills += 1;
        self.note("killed");
        if self.random.below(2) == 0 {
            self.users.iter_mut().for_each(|user| user.read(&self.world));
        }
        if let Some(polls) = self.kill_again_after_polls.take() {
            self.world.scheduler.kill_after(polls);
        }
        self.begin_worker();
        for user in 0..self.users.len() {
            self.connect(user);
        }
    }

    /// Starts an engine in a worker of its own; no page is connected to it.
    pub(crate) fn begin_worker(&mut self) {
        self.users.iter_mut().for_each(User::cut);
        self.workers += 1;
        let engine = Engine::start(self.world.of_worker(self.workers));
        self.former.push(std::mem::replace(&mut self.engine, engine));
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
        let op = Op::ThreadCreate { submission_id: self.submission(), preset: None, folder_id: None };
        self.users[0].submit(&self.engine, op);
        self.settle();
        let thread = self.threads[0].clone();
        for user in &mut self.users {
            user.show(&self.world, &self.engine, &thread);
        }
        self.settle();
    }

    /// Limits that a few model calls reach, in some lives.
    fn budgets(&mut self) -> Budgets {
        self.budgets = Budgets {
            turn_tokens: [None, None, Some(1), Some(300)][self.extra.below(4)],
            thread_cost_usd: [None, None, None, Some(0.000_5)][self.extra.below(4)],
        };
        self.budgets
    }

    fn step(&mut self, step: &Step) {
        self.random = Seeded::new(step.chance);
        if let Some(fault) = step.fault {
            self.strike(fault);
        }
        if let Some(act) = step.act {
            self.act(act);
        }
        if self.waits.as_ref().is_some_and(|waits| waits.below(5) == 0) {
            self.ship();
        }
        self.kill_again_after_polls = step.kill_again_after_polls;
        if let Some(polls) = step.kill_after_polls {
            self.world.scheduler.kill_after(polls);
        }
        if self.world.scheduler.advance(step.wait_ms) {
            self.restart();
        }
        if step.alarm && self.alarm_is_set() {
            self.engine.alarm();
        }
        let kills = self.kills;
        self.settle();
        if self.kills == kills && !self.past.two_workers {
            // A worker that was just started has not looked around yet.
            self.observed.extend(properties::check_alarm(&self.world));
        }
    }

    /// The page shows what was awaited, or no longer.
    fn ship(&mut self) {
        self.note("the page changes by itself");
        self.world.browser.change_if_there(TAB, |page| match page.text.find(AWAITED_TEXT) {
            Some(at) => page.text.truncate(at),
            None => page.text.push_str(AWAITED_TEXT),
        });
    }

    fn alarm_is_set(&self) -> bool {
        self.past.two_workers || self.world.notifier.shown().alarm
    }

    pub(crate) fn shown(&self, user: usize) -> Option<(ThreadId, ThreadSnapshot)> {
        let view = self.users[user].view.as_ref()?;
        Some((view.thread_id().clone(), view.snapshot.clone()))
    }

    pub(crate) fn submit(&mut self, user: usize, op: Op) {
        self.note(format!("user {user}: {}", op.command_type()));
        self.users[user].submit(&self.engine, op);
    }

    /// The faults stop.
    fn calm(&mut self) {
        self.note("quiet");
        self.model.calm();
        self.world.store.forget_faults();
        self.world.scheduler.kill_never();
        self.world.browser.forget_plans();
        self.world.browser.put(TAB, Page::with_button("https://shop.test/cart", "Order"));
        for user in &mut self.users {
            user.op_fault.set(None);
            user.event_fault = None;
        }
        if self.waits.as_ref().is_some_and(|waits| waits.below(2) == 0) {
            self.ship();
        }
        self.settle();
    }

    /// Every page closes. A worker in which nothing happens is ended, and the alarm alone brings a new one: what goes
    /// on without a user must come to its end.
    fn leave_alone(&mut self) {
        let watches = self.waits.as_ref().is_some_and(|waits| waits.below(3) == 0);
        if watches {
            self.watch_before_leaving();
        }
        for user in 0..self.users.len() {
            self.users[user].disconnect(&self.engine);
        }
        let mut lives = true;
        for round in 0..ROUNDS_ALONE_COUNT {
            if watches && round == 1 && !self.world.browser.shows(TAB, AWAITED_TEXT) {
                self.ship();
            }
            if round == 1 + ROUNDS_UNTIL_SEEN_COUNT {
                self.observed.extend(properties::unseen(&self.world));
            }
            let touches = self.world.notifier.shown().touches;
            self.world.scheduler.advance(ALONE_MS);
            if lives && self.world.notifier.shown().touches == touches {
                self.note("the idle worker is ended");
                self.world.scheduler.kill();
                lives = false;
            }
            if !self.alarm_is_set() {
                continue;
            }
            if lives {
                self.engine.alarm();
            } else {
                self.note("the alarm brings a worker");
                self.begin_worker();
                lives = true;
            }
            self.world.scheduler.settle();
        }
        self.observed.extend(properties::stands_still(&self.world));
        if !lives {
            self.begin_worker();
        }
    }

    /// The last thing that a user asks for before leaving is to watch the page.
    fn watch_before_leaving(&mut self) {
        if !self.users[0].is_connected() {
            self.connect(0);
        }
        self.settle();
        self.watch_page(0);
        self.world.scheduler.advance(WATCH_BEGINS_MS);
        self.settle();
    }

    /// The users see to everything that waits for them.
    fn come_to_rest(&mut self) -> bool {
        for _ in 0..ROUNDS_COUNT_MAX {
            for user in 0..self.users.len() {
                if self.users[user].disturbed || self.users[user].has_unanswered() {
                    self.users[user].disconnect(&self.engine);
                }
                if !self.users[user].is_connected() {
                    self.connect(user);
                }
            }
            self.settle();
            for thread in self.threads.clone() {
                if properties::is_gone(&self.world, &thread) {
                    continue;
                }
                self.users[0].show(&self.world, &self.engine, &thread);
                self.settle();
                self.see_to(0);
                self.settle();
            }
            if self.alarm_is_set() {
                self.engine.alarm();
            }
            self.world.scheduler.advance(ROUND_MS);
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
        for wait in &snapshot.interactions {
            let (submission_id, interaction_id) = (self.submission(), wait.interaction_id.clone());
            let response = match wait.request {
                InteractionRequestPayload::AskUser { .. } => {
                    InteractionResponse::Submit { value: "Red".into() }
                }
                _ => InteractionResponse::Done {},
            };
            self.submit(user, Op::InteractionResponse { submission_id, interaction_id, response });
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

    /// Asks one question and gives its answer.
    pub fn answer_to(&mut self, op: &Op) -> Option<AgentEvent> {
        self.users[0].ask(&self.engine, op);
        self.settle();
        self.users[0].heard.remove(op.submission_id())
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
        patience: Patience::default(),
    }
}
