//! A whole world, and a page in it.

use crate::areas::{MemoryArea, PlainVault, RecordingNotifier};
use crate::browser::SimBrowser;
use crate::clients::SimClients;
use crate::http::ScriptedHttp;
use crate::random::Seeded;
use crate::sched::Scheduler;
use crate::store::SimStore;
use panelot_engine::Engine;
use panelot_engine::ports::{ConnectionKey, World};
use panelot_protocol::event::AgentEvent;
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{ClientId, ConnectionId, SubmissionId, ThreadId};
use panelot_protocol::op::{Op, SubscribeParams};
use panelot_protocol::settings::{
    ConnectionInput, ModelCapabilities, ModelEntry, ModelPricing, Patience, ProviderKind, QuirkFlags,
    SettingsPatch,
};
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_protocol::turn::ModelRef;
use panelot_protocol::view::{Folded, ThreadView};
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use std::rc::Rc;

/// A world in memory. Clones are handles to the same, as the workers of one profile share a disk.
#[derive(Clone)]
pub struct SimWorld {
    /// Tasks and time.
    pub scheduler: Scheduler,
    /// Ids and chance.
    pub entropy: Seeded,
    /// The database.
    pub store: SimStore,
    /// The provider.
    pub http: ScriptedHttp,
    /// Tabs and pages.
    pub browser: SimBrowser,
    /// The browser's local area.
    pub local: MemoryArea,
    /// The browser's session area.
    pub session: MemoryArea,
    /// Secrets.
    pub vault: PlainVault,
    /// Badge, alarm, notifications.
    pub notifier: RecordingNotifier,
    /// Connected pages.
    pub clients: SimClients,
}

impl SimWorld {
    /// An empty world.
    pub fn new(seed: u64) -> Self {
        let scheduler = Scheduler::new(seed);
        Self {
            entropy: Seeded::new(seed),
            store: SimStore::new(scheduler.clone()),
            http: ScriptedHttp::new(scheduler.clone()),
            browser: SimBrowser::new(scheduler.clone()),
            local: MemoryArea::new(scheduler.clone()),
            session: MemoryArea::new(scheduler.clone()),
            vault: PlainVault::default(),
            notifier: RecordingNotifier::default(),
            clients: SimClients::default(),
            scheduler,
        }
    }
}

impl SimWorld {
    /// The same world as another worker of the profile has it.
    #[must_use]
    pub fn of_worker(&self, worker: u32) -> Self {
        Self { scheduler: self.scheduler.of_worker(worker), ..self.clone() }
    }
}

impl World for SimWorld {
    type Clock = Scheduler;
    type Entropy = Seeded;
    type Spawner = Scheduler;
    type Store = SimStore;
    type Http = ScriptedHttp;
    type Browser = SimBrowser;
    type Local = MemoryArea;
    type Session = MemoryArea;
    type Vault = PlainVault;
    type Notifier = RecordingNotifier;
    type Clients = SimClients;

    fn clock(&self) -> &Scheduler {
        &self.scheduler
    }
    fn entropy(&self) -> &Seeded {
        &self.entropy
    }
    fn spawner(&self) -> &Scheduler {
        &self.scheduler
    }
    fn store(&self) -> &SimStore {
        &self.store
    }
    fn http(&self) -> &ScriptedHttp {
        &self.http
    }
    fn browser(&self) -> &SimBrowser {
        &self.browser
    }
    fn local(&self) -> &MemoryArea {
        &self.local
    }
    fn session(&self) -> &MemoryArea {
        &self.session
    }
    fn vault(&self) -> &PlainVault {
        &self.vault
    }
    fn notifier(&self) -> &RecordingNotifier {
        &self.notifier
    }
    fn clients(&self) -> &SimClients {
        &self.clients
    }
}

/// A page that speaks with the engine as the product's pages do.
pub struct SimPage {
    /// Its connection.
    pub connection: ConnectionKey,
    /// Its identity.
    pub client: ClientId,
    world: SimWorld,
    engine: Rc<Engine<SimWorld>>,
    /// What came and was not looked at.
    pub inbox: Vec<EventFrame>,
    /// What it shows.
    pub view: Option<ThreadView>,
    /// Whether its view needs a new snapshot.
    pub lost: bool,
}

impl SimPage {
    /// Connects a page and shakes hands.
    pub fn open(
        world: &SimWorld,
        engine: &Rc<Engine<SimWorld>>,
        number: u32,
        subscribe: Option<&ThreadId>,
    ) -> Self {
        let client = ClientId::new(format!("00000000-0000-4000-8000-{number:012}"));
        Self::reopen(world, engine, number, client, subscribe)
    }

    /// Connects a page that was connected before, and shakes hands.
    pub fn reopen(
        world: &SimWorld,
        engine: &Rc<Engine<SimWorld>>,
        number: u32,
        client: ClientId,
        subscribe: Option<&ThreadId>,
    ) -> Self {
        let mut page = Self {
            connection: ConnectionKey(number),
            client,
            world: world.clone(),
            engine: Rc::clone(engine),
            inbox: Vec::new(),
            view: None,
            lost: false,
        };
        engine.connect(page.connection);
        let op = Op::Initialize {
            submission_id: page.submission(),
            protocol: ENGINE_PROTOCOL.to_owned(),
            schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
            client_id: page.client.clone(),
            subscribe: subscribe.map(|thread_id| SubscribeParams { thread_id: thread_id.clone() }),
        };
        page.send(&op);
        page.settle();
        page
    }

    /// A new submission's id.
    pub fn submission(&self) -> SubmissionId {
        use panelot_engine::ports::Entropy;
        SubmissionId::new(self.world.entropy.uuid())
    }

    /// Sends an Op without waiting for anything.
    pub fn send(&self, op: &Op) {
        self.engine.message(self.connection, &serde_json::to_string(op).unwrap());
    }

    /// Lets everything run that can run now, and takes what came.
    pub fn settle(&mut self) {
        self.world.scheduler.settle();
        self.read();
    }

    /// Lets time pass, and takes what came.
    pub fn advance(&mut self, ms: u64) {
        self.world.scheduler.advance(ms);
        self.read();
    }

    /// Takes what came, and folds it into the view.
    pub fn read(&mut self) {
        for frame in self.world.clients.take(self.connection) {
            match (&frame.event, &mut self.view) {
                (AgentEvent::Initialized { snapshot: Some(snapshot), .. }, _)
                | (AgentEvent::ThreadSubscribed { snapshot, .. }, _) => {
                    self.view = Some(ThreadView::new((**snapshot).clone()));
                    self.lost = false;
                }
                (_, Some(view)) => match view.fold(&frame) {
                    Folded::Current | Folded::Ignored => {}
                    Folded::Resubscribe(_) => self.lost = true,
                    Folded::Deleted => self.view = None,
                },
                (_, None) => {}
            }
            self.inbox.push(frame);
        }
    }

    /// Sends an Op, lets everything run, and gives the answer that carries its submission.
    pub fn ask(&mut self, op: &Op) -> AgentEvent {
        self.send(op);
        self.settle();
        self.answer_to(op.submission_id()).expect("every Op is answered")
    }

    /// The answer to a submission, if it came.
    pub fn answer_to(&self, submission: &SubmissionId) -> Option<AgentEvent> {
        let id = submission.as_str();
        self.inbox.iter().map(|frame| &frame.event).find(|event| submission_of(event) == Some(id)).cloned()
    }

    /// Makes a thread.
    pub fn create_thread(&mut self) -> ThreadId {
        let op = Op::ThreadCreate { submission_id: self.submission(), preset: None, folder_id: None };
        let answer = self.ask(&op);
        let AgentEvent::ThreadCreated { thread, .. } = answer else { panic!("no thread: {answer:?}") };
        thread.thread_id
    }

    /// Shows a thread.
    pub fn subscribe(&mut self, thread_id: &ThreadId) -> ThreadSnapshot {
        let op = Op::ThreadSubscribe { submission_id: self.submission(), thread_id: thread_id.clone() };
        let answer = self.ask(&op);
        let AgentEvent::ThreadSubscribed { snapshot, .. } = answer else { panic!("no snapshot: {answer:?}") };
        *snapshot
    }

    /// Sets one connection up, with a model that is everybody's default.
    pub fn configure(&mut self, keys: &[&str]) {
        let connection = connection_of(keys);
        let model = connection.models.first().map(|entry| entry.model.clone());
        for patch in [SettingsPatch::PutConnection { connection }, SettingsPatch::DefaultModel { model }] {
            let op = Op::SettingsUpdate { submission_id: self.submission(), patch };
            let answer = self.ask(&op);
            assert!(matches!(answer, AgentEvent::SettingsUpdated { .. }), "{answer:?}");
        }
    }

    /// The types of all events that came, and forgets them.
    pub fn take_types(&mut self) -> Vec<&'static str> {
        self.inbox.drain(..).map(|frame| frame.event.event_type()).collect()
    }
}

/// The connection of [`SimPage::configure`]: one model with prices, without vision.
pub fn connection_of(keys: &[&str]) -> ConnectionInput {
    let connection_id = ConnectionId::from("c1");
    let model = ModelRef { connection_id: connection_id.clone(), model_id: "m1".to_owned() };
    let entry = ModelEntry {
        model: model.clone(),
        display_name: None,
        capabilities: ModelCapabilities { tool_use: true, vision: false, reasoning: None, max_context: None },
        pricing: Some(ModelPricing { input: 1.0, output: 2.0, cache_read: None }),
    };
    ConnectionInput {
        connection_id,
        name: "Test".to_owned(),
        kind: ProviderKind::Openai,
        base_url: "https://api.test/v1".to_owned(),
        api_keys: Some(keys.iter().map(|key| (*key).to_owned()).collect()),
        custom_headers: None,
        prefix_id: None,
        models: vec![entry],
        enabled: true,
        quirks: QuirkFlags::default(),
        patience: Patience::default(),
    }
}

fn submission_of(event: &AgentEvent) -> Option<&str> {
    if let AgentEvent::FatalReloadRequired { submission_id, .. } = event {
        return Some(submission_id);
    }
    event.submission_id().map(SubmissionId::as_str)
}
