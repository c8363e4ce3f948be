//! The connection machine against a scripted engine and clock.
#![expect(clippy::unwrap_used, clippy::panic, reason = "the rig fails its test by panicking")]

use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{SubmissionId, ThreadId};
use panelot_protocol::op::{Op, SubscribeParams};
use panelot_protocol::snapshot::{ThreadMeta, ThreadStats};
use panelot_protocol::turn::UserInput;
use panelot_ui::connection::{
    Connection, Effect, INITIALIZE_TIMEOUT_MS, Input, Link, OUTBOX_BYTES_MAX, OUTBOX_COUNT_MAX,
    PONG_TIMEOUT_MS, Surroundings,
};
use panelot_ui::outgoing::{FirstMessage, Outgoing, Place};

struct World {
    now_ms: u64,
    chance: u64,
    ids: u32,
}

impl Surroundings for World {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }
    fn chance_permille(&mut self) -> u64 {
        self.chance
    }
    fn submission_id(&mut self) -> SubmissionId {
        self.ids += 1;
        SubmissionId::new(format!("s{}", self.ids))
    }
}

struct Rig {
    connection: Connection,
    world: World,
}

impl Rig {
    fn new() -> Self {
        Self::with("")
    }

    fn with(left_over: &str) -> Self {
        let world = World { now_ms: 1_000_000, chance: 1_000, ids: 0 };
        Self { connection: Connection::new("c1".into(), "hash".into(), left_over), world }
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.connection.step(input, &mut self.world)
    }

    /// Starts and answers the greeting; the effects of the answer.
    fn greet(&mut self) -> Vec<Effect> {
        let effects = self.step(Input::Start);
        self.answer(&effects)
    }

    fn answer(&mut self, effects: &[Effect]) -> Vec<Effect> {
        let hello = effects.iter().find_map(|effect| {
            let Effect::Post(text) = effect else { return None };
            Some(serde_json::from_str::<Op>(text).unwrap().submission_id().clone())
        });
        self.step(Input::Heard(Box::new(AgentEvent::Initialized {
            submission_id: hello.unwrap(),
            protocol: "panelot/engine-v1".into(),
            schema_hash: "hash".into(),
            snapshot: None,
        })))
    }

    fn wake_time(effects: &[Effect]) -> u64 {
        match effects.iter().find(|effect| matches!(effect, Effect::Wake { .. })) {
            Some(Effect::Wake { at_ms }) => *at_ms,
            _ => panic!("no wake in {effects:?}"),
        }
    }
}

fn delete(id: &str) -> Op {
    Op::ThreadDelete { submission_id: id.into(), thread_id: "t1".into() }
}

fn post(op: &Op) -> Effect {
    Effect::Post(serde_json::to_string(op).unwrap())
}

/// What a page stores of these Ops.
fn kept(ops: &[Op]) -> String {
    let entry =
        |op: &Op| (op.submission_id().to_string(), serde_json::to_string(op).unwrap(), None::<String>);
    serde_json::to_string(&ops.iter().map(entry).collect::<Vec<_>>()).unwrap()
}

fn ack(id: &str) -> Input {
    Input::Heard(Box::new(AgentEvent::CommandAck {
        submission_id: id.into(),
        thread_id: None,
        run_id: None,
        revision: None,
    }))
}

#[test]
fn a_start_opens_a_port_and_greets_with_the_shown_thread() {
    let mut rig = Rig::new();
    rig.step(Input::Show(Some(ThreadId::new("t1"))));
    let hello = Op::Initialize {
        submission_id: "s1".into(),
        protocol: "panelot/engine-v1".into(),
        schema_hash: "hash".into(),
        client_id: "c1".into(),
        subscribe: Some(SubscribeParams { thread_id: "t1".into() }),
    };
    assert_eq!(
        rig.step(Input::Start),
        [Effect::Open, post(&hello), Effect::Wake { at_ms: 1_000_000 + INITIALIZE_TIMEOUT_MS }]
    );
}

#[test]
fn what_was_said_before_the_greeting_follows_it_in_order() {
    let mut rig = Rig::with(&kept(&[delete("old")]));
    assert_eq!(
        rig.step(Input::Say(Box::new(delete("new")))),
        [Effect::Store(kept(&[delete("old"), delete("new")]))]
    );
    assert_eq!(
        rig.greet(),
        [
            post(&delete("old")),
            post(&delete("new")),
            Effect::Wake { at_ms: 1_020_000 },
            Effect::State(Link::Ready),
        ]
    );
}

#[test]
fn an_unanswered_op_is_sent_again_under_its_own_id_until_it_is_answered() {
    let mut rig = Rig::new();
    rig.greet();
    rig.step(Input::Say(Box::new(delete("a"))));
    for _ in 0..3 {
        let lost = rig.step(Input::Lost);
        rig.world.now_ms = Rig::wake_time(&lost);
        let opened = rig.step(Input::Woke);
        assert!(rig.answer(&opened).contains(&post(&delete("a"))));
    }
    assert_eq!(rig.step(ack("a")), [Effect::Store(String::new())]);
    let lost = rig.step(Input::Lost);
    rig.world.now_ms = Rig::wake_time(&lost);
    let opened = rig.step(Input::Woke);
    assert!(!rig.answer(&opened).contains(&post(&delete("a"))));
}

#[test]
fn a_query_is_asked_again_but_never_stored() {
    let mut rig = Rig::new();
    rig.greet();
    let query = Op::SettingsGet { submission_id: "q".into() };
    assert_eq!(rig.step(Input::Say(Box::new(query.clone()))), [post(&query)]);
    let lost = rig.step(Input::Lost);
    rig.world.now_ms = Rig::wake_time(&lost);
    let opened = rig.step(Input::Woke);
    assert!(rig.answer(&opened).contains(&post(&query)));
}

#[test]
fn pauses_double_from_250_ms_to_8_s() {
    let mut rig = Rig::new();
    rig.greet();
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let lost = rig.step(Input::Lost);
        pauses.push(Rig::wake_time(&lost) - rig.world.now_ms);
        rig.world.now_ms = Rig::wake_time(&lost);
        rig.step(Input::Woke);
    }
    assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
}

#[test]
fn chance_shortens_a_pause_to_its_half_at_most() {
    let mut rig = Rig::new();
    rig.world.chance = 0;
    let mut pauses = Vec::new();
    rig.step(Input::Start);
    for _ in 0..6 {
        let lost = rig.step(Input::Lost);
        pauses.push(Rig::wake_time(&lost) - rig.world.now_ms);
        rig.world.now_ms = Rig::wake_time(&lost);
        rig.step(Input::Woke);
    }
    assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 4_000]);
}

#[test]
fn an_early_timer_opens_nothing() {
    let mut rig = Rig::new();
    rig.greet();
    let lost = rig.step(Input::Lost);
    let at_ms = Rig::wake_time(&lost);
    rig.world.now_ms = at_ms - 1;
    assert_eq!(rig.step(Input::Woke), [Effect::Wake { at_ms }]);
}

#[test]
fn a_silent_engine_is_given_up_after_a_ping() {
    let mut rig = Rig::new();
    rig.greet();
    rig.world.now_ms += 20_000;
    let pinged = rig.step(Input::Woke);
    assert_eq!(
        pinged,
        [
            post(&Op::Ping { submission_id: "s2".into() }),
            Effect::Wake { at_ms: rig.world.now_ms + PONG_TIMEOUT_MS }
        ]
    );
    rig.world.now_ms += PONG_TIMEOUT_MS;
    assert_eq!(
        rig.step(Input::Woke),
        [
            Effect::Close,
            Effect::Wake { at_ms: rig.world.now_ms + 250 },
            Effect::State(Link::Reconnecting { attempts: 0 })
        ]
    );
}

#[test]
fn a_pong_keeps_the_port_until_the_next_ping() {
    let mut rig = Rig::new();
    rig.greet();
    rig.world.now_ms += 20_000;
    rig.step(Input::Woke);
    let next = rig.step(Input::Heard(Box::new(AgentEvent::Pong { submission_id: "s2".into() })));
    assert_eq!(next, [Effect::Wake { at_ms: 1_040_000 }]);
    rig.world.now_ms = 1_040_000;
    assert_eq!(rig.step(Input::Woke).first(), Some(&post(&Op::Ping { submission_id: "s3".into() })));
}

#[test]
fn another_build_ends_it_for_good() {
    let mut rig = Rig::new();
    rig.step(Input::Start);
    let fatal = AgentEvent::FatalReloadRequired {
        submission_id: "s1".into(),
        protocol: "panelot/engine-v1".into(),
        schema_hash: "other".into(),
        message: "other build".into(),
    };
    assert_eq!(rig.step(Input::Heard(Box::new(fatal))), [Effect::Close, Effect::State(Link::ReloadRequired)]);
    assert_eq!(rig.step(Input::Lost), []);
    assert_eq!(rig.step(Input::Woke), []);
    assert_eq!(rig.step(Input::Start), []);
    assert_eq!(rig.step(Input::Say(Box::new(delete("a")))), [Effect::Refuse(Box::new(delete("a")))]);
}

#[test]
fn more_than_the_outbox_takes_is_refused() {
    let mut rig = Rig::new();
    rig.greet();
    for at in 0..OUTBOX_COUNT_MAX {
        rig.step(Input::Say(Box::new(delete(&format!("a{at}")))));
    }
    assert_eq!(rig.step(Input::Say(Box::new(delete("b")))), [Effect::Refuse(Box::new(delete("b")))]);
}

#[test]
fn an_outbox_that_cannot_be_read_is_left_behind() {
    for broken in ["", "{", "[1]", "[[\"a\"]]", "[[\"a\", \"b\"]]"] {
        let mut rig = Rig::with(broken);
        assert!(rig.connection.is_settled(), "{broken:?}");
        assert_eq!(
            rig.greet(),
            [Effect::Wake { at_ms: 1_020_000 }, Effect::State(Link::Ready)],
            "{broken:?}"
        );
    }
}

#[test]
fn more_bytes_than_the_outbox_takes_are_refused_and_what_is_there_stays() {
    let mut rig = Rig::new();
    rig.greet();
    let submit = |id: &str, bytes: usize| Op::TurnSubmit {
        submission_id: id.into(),
        thread_id: "t1".into(),
        input: UserInput::text("x".repeat(bytes)),
        overrides: None,
    };
    let large = submit("a", OUTBOX_BYTES_MAX - 1_000);
    assert_eq!(
        rig.step(Input::Say(Box::new(large.clone()))),
        [Effect::Store(kept(std::slice::from_ref(&large))), post(&large)]
    );
    let more = submit("b", 1_000);
    assert_eq!(rig.step(Input::Say(Box::new(more.clone()))), [Effect::Refuse(Box::new(more))]);
    assert!(rig.connection.awaits(&"a".into()));
}

#[test]
fn an_extension_that_is_gone_ends_it_for_good() {
    let mut rig = Rig::new();
    rig.greet();
    assert_eq!(rig.step(Input::Gone), [Effect::Close, Effect::State(Link::Gone)]);
    assert_eq!(rig.step(Input::Lost), []);
    assert_eq!(rig.step(Input::Woke), []);
    assert_eq!(rig.step(Input::Say(Box::new(delete("a")))), [Effect::Refuse(Box::new(delete("a")))]);
}

#[test]
fn an_answer_that_comes_twice_is_taken_once() {
    let mut rig = Rig::new();
    rig.greet();
    rig.step(Input::Say(Box::new(delete("a"))));
    rig.step(Input::Say(Box::new(delete("b"))));
    assert_eq!(rig.step(ack("a")), [Effect::Store(kept(&[delete("b")]))]);
    assert_eq!(rig.step(ack("a")), []);
    assert!(!rig.connection.is_settled());
}

#[test]
fn a_refusal_ends_the_sending_as_an_answer_does() {
    let mut rig = Rig::new();
    rig.greet();
    rig.step(Input::Say(Box::new(delete("a"))));
    let refused = AgentEvent::CommandRejected {
        submission_id: "a".into(),
        code: panelot_protocol::event::ErrorCode::QueueFull,
        message: "no".into(),
        thread_id: None,
        retryable: true,
    };
    assert_eq!(rig.step(Input::Heard(Box::new(refused))), [Effect::Store(String::new())]);
    rig.step(Input::Lost);
    rig.world.now_ms += 10_000;
    let opened = rig.step(Input::Woke);
    assert_eq!(
        rig.answer(&opened),
        [Effect::Wake { at_ms: rig.world.now_ms + 20_000 }, Effect::State(Link::Ready)]
    );
}

/// The Op that makes a thread, and what is to be sent into it.
fn begin() -> (Op, FirstMessage) {
    let create = Op::ThreadCreate { submission_id: "create".into(), preset: None, folder_id: None };
    let first =
        FirstMessage { submission_id: "first".into(), input: UserInput::text("hello"), overrides: None };
    (create, first)
}

fn created(thread: &str) -> Input {
    let thread = ThreadMeta {
        thread_id: thread.into(),
        revision: 1,
        title: String::new(),
        created_at_ms: 1,
        updated_at_ms: 1,
        leaf_id: None,
        pinned: false,
        archived: false,
        preset: None,
        folder_id: None,
        tags: Vec::new(),
        parent_thread_id: None,
        param_overrides: None,
        cost_ceiling_usd: None,
        stats: ThreadStats::default(),
    };
    Input::Heard(Box::new(AgentEvent::ThreadCreated { submission_id: "create".into(), thread }))
}

/// The Op that sends the first message, as far as its text says.
fn posted(effects: &[Effect]) -> Vec<Op> {
    let texts = effects.iter().filter_map(|e| if let Effect::Post(text) = e { Some(text) } else { None });
    texts.map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn a_first_message_follows_the_thread_that_is_made_for_it_also_in_another_life_of_the_page() {
    let (create, first) = begin();
    let submit = Op::TurnSubmit {
        submission_id: "first".into(),
        thread_id: "t9".into(),
        input: UserInput::text("hello"),
        overrides: None,
    };
    let mut rig = Rig::new();
    rig.greet();
    let effects = rig.step(Input::Begin(Box::new(create.clone()), Box::new(first)));
    let [Effect::Store(stored), Effect::Post(_)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(posted(&rig.step(created("t9"))), std::slice::from_ref(&submit));
    assert!(rig.connection.awaits(&"first".into()) && !rig.connection.awaits(&"create".into()));

    let mut next = Rig::with(stored);
    let message = Outgoing {
        submission_id: "first".into(),
        place: Place::New("create".into()),
        input: UserInput::text("hello"),
        overrides: None,
        run_id: None,
        steer: false,
    };
    assert_eq!(next.connection.messages(), [message]);
    assert_eq!(posted(&next.greet()), [create]);
    assert_eq!(posted(&next.step(created("t9"))), [submit]);
}
