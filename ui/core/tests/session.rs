//! A page's session against a scripted engine: what is said, what is shown, and what comes back into the composer.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::SubmissionId;
use panelot_protocol::item::{ItemKind, ItemMeta};
use panelot_protocol::notice::EngineNotice;
use panelot_protocol::op::Op;
use panelot_protocol::settings::Language;
use panelot_protocol::snapshot::{
    ActiveTurn, QueueView, StreamCursor, ThreadMeta, ThreadSnapshot, ThreadStats,
};
use panelot_protocol::turn::{PermissionPolicy, TurnKind, UserInput};
use panelot_ui::connection::Surroundings;
use panelot_ui::intents::{Act, Intent};
use panelot_ui::outgoing::{FirstMessage, Outgoing, Place, Standing, behind_items};
use panelot_ui::session::{Change, Delivery, Notices, Restarted, Session};

#[derive(Default)]
struct World(u32);

impl Surroundings for World {
    fn now_ms(&self) -> u64 {
        0
    }
    fn chance_permille(&mut self) -> u64 {
        0
    }
    fn submission_id(&mut self) -> SubmissionId {
        self.0 += 1;
        SubmissionId::new(format!("s{}", self.0))
    }
}

#[derive(Default)]
struct Rig {
    session: Session,
    world: World,
    sequence: u64,
}

fn snapshot(active: bool) -> Box<ThreadSnapshot> {
    Box::new(ThreadSnapshot {
        thread: ThreadMeta {
            thread_id: "t1".into(),
            revision: 1,
            title: String::new(),
            created_at_ms: 0,
            updated_at_ms: 0,
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
        },
        items: Vec::new(),
        older_than: None,
        active_turn: active.then(|| ActiveTurn {
            turn_id: "u1".into(),
            turn_kind: TurnKind::User,
            steerable: true,
            waiting: None,
            steers: Vec::new(),
        }),
        approvals: Vec::new(),
        interactions: Vec::new(),
        queue: QueueView::default(),
        recoverable: Vec::new(),
        cursor: StreamCursor { thread_id: "t1".into(), epoch: "e1".into(), sequence: 0 },
    })
}

fn said(changes: &[Change]) -> Vec<Op> {
    changes
        .iter()
        .filter_map(|change| if let Change::Say(op) = change { Some((**op).clone()) } else { None })
        .collect()
}

fn restored(changes: &[Change]) -> Vec<&str> {
    changes
        .iter()
        .filter_map(|c| if let Change::Restore(input) = c { Some(input.text.as_str()) } else { None })
        .collect()
}

impl Rig {
    /// A session that shows thread `t1`.
    fn showing(active: bool) -> Self {
        let mut rig = Self::default();
        let said = said(&rig.intend(Intent::OpenThread("t1".into())));
        let submission_id = said[0].submission_id().clone();
        rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(active) });
        rig
    }

    fn intend(&mut self, intent: Intent) -> Vec<Change> {
        self.session.intend(intent, &mut self.world)
    }

    /// Sends the first message of a new thread.
    fn begin(&mut self, text: &str) -> (Op, FirstMessage) {
        let intent = Intent::Send { input: UserInput::text(text), delivery: Delivery::Now };
        let changes = self.intend(intent);
        let [Change::Begin(create, first), Change::Outgoing] = &changes[..] else { panic!("{changes:?}") };
        ((**create).clone(), (**first).clone())
    }

    fn created(&mut self, create: &Op, thread: &str) -> Vec<Change> {
        let mut meta = snapshot(false).thread;
        meta.thread_id = thread.into();
        self.hear(AgentEvent::ThreadCreated { submission_id: create.submission_id().clone(), thread: meta })
    }

    fn steers(&mut self, texts: &[&str]) -> Vec<Change> {
        let steers = texts.iter().map(|text| UserInput::text(*text)).collect();
        self.stream(AgentEvent::TurnSteers { thread_id: "t1".into(), turn_id: "u1".into(), steers })
    }

    fn send(&mut self, text: &str) -> Vec<Op> {
        said(&self.intend(Intent::Send { input: UserInput::text(text), delivery: Delivery::Now }))
    }

    fn hear(&mut self, event: AgentEvent) -> Vec<Change> {
        self.session.hear(&EventFrame::outside(event), &mut self.world)
    }

    fn stream(&mut self, event: AgentEvent) -> Vec<Change> {
        self.sequence += 1;
        let cursor = StreamCursor { thread_id: "t1".into(), epoch: "e1".into(), sequence: self.sequence };
        self.session.hear(&EventFrame { event, cursor: Some(cursor) }, &mut self.world)
    }

    fn reject(&mut self, op: &Op, code: ErrorCode) -> Vec<Change> {
        self.hear(AgentEvent::CommandRejected {
            submission_id: op.submission_id().clone(),
            code,
            message: "no".into(),
            thread_id: None,
            retryable: true,
        })
    }

    fn ack(&mut self, op: &Op, run: &str) -> Vec<Change> {
        self.hear(AgentEvent::CommandAck {
            submission_id: op.submission_id().clone(),
            thread_id: Some("t1".into()),
            run_id: Some(run.into()),
            revision: Some(2),
        })
    }

    fn texts_on_their_way(&self) -> Vec<String> {
        self.session.outgoing().into_iter().map(|sent| sent.input.text).collect()
    }

    fn user_item(&mut self, turn: &str, text: &str) -> Vec<Change> {
        self.stream(AgentEvent::ItemStart {
            thread_id: "t1".into(),
            turn_id: turn.into(),
            item_id: format!("i-{text}").as_str().into(),
            kind: ItemKind::UserMessage,
            meta: ItemMeta { input: Some(UserInput::text(text)), ..ItemMeta::default() },
        })
    }
}

#[test]
fn a_first_message_makes_its_thread_and_goes_with_it() {
    let mut rig = Rig::default();
    let (create, first) = rig.begin("hello");
    assert_eq!(first.input.text, "hello");
    let changes = rig.created(&create, "t1");
    let ops = said(&changes);
    assert!(matches!(&ops[0], Op::ThreadSubscribe { thread_id, .. } if thread_id.as_str() == "t1"));
    assert!(!ops.iter().any(|op| matches!(op, Op::TurnSubmit { .. })), "{ops:?}");
    assert_eq!(rig.texts_on_their_way(), ["hello"]);
}

#[test]
fn a_first_message_whose_chat_was_left_is_not_shown_in_the_next_one() {
    let mut rig = Rig::default();
    let (create, first) = rig.begin("hello");
    rig.intend(Intent::NewThread);
    assert_eq!(rig.texts_on_their_way(), [] as [&str; 0]);
    assert_eq!(rig.created(&create, "t1"), []);
    let refused = Op::TurnSubmit {
        submission_id: first.submission_id,
        thread_id: "t1".into(),
        input: first.input,
        overrides: None,
    };
    let changes = rig.reject(&refused, ErrorCode::Overloaded);
    assert_eq!(changes[0], Change::Keep(Some("t1".into()), UserInput::text("hello")));
    assert_eq!(restored(&changes), [] as [&str; 0]);
}

#[test]
fn a_message_that_an_earlier_life_of_the_page_sent_is_shown_in_its_thread_and_comes_back_when_refused() {
    let sent = |thread: &str, text: &str| Outgoing {
        submission_id: text.into(),
        place: Place::Thread(thread.into()),
        input: UserInput::text(text),
        overrides: None,
        run_id: None,
        steer: false,
    };
    let mut rig = Rig::default();
    rig.session.remember(vec![sent("t1", "here"), sent("t2", "elsewhere")]);
    let opened = said(&rig.intend(Intent::OpenThread("t1".into())));
    let submission_id = opened[0].submission_id().clone();
    rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(false) });
    assert_eq!(rig.texts_on_their_way(), ["here"]);
    let refused = |text: &str| Op::ThreadDelete { submission_id: text.into(), thread_id: "t".into() };
    assert_eq!(restored(&rig.reject(&refused("here"), ErrorCode::QueueFull)), ["here"]);
    let changes = rig.reject(&refused("elsewhere"), ErrorCode::QueueFull);
    assert_eq!(changes[0], Change::Keep(Some("t2".into()), UserInput::text("elsewhere")));
}

#[test]
fn a_message_carries_the_policy_that_is_shown() {
    let mut rig = Rig::showing(false);
    rig.intend(Intent::ChoosePolicy(PermissionPolicy::Always));
    let ops = rig.send("x");
    let [Op::TurnSubmit { overrides: Some(overrides), .. }] = &ops[..] else { panic!("{ops:?}") };
    assert_eq!(overrides.permission_policy, Some(PermissionPolicy::Always));
}

#[test]
fn a_running_turn_is_steered_and_alt_shift_enter_queues() {
    let mut rig = Rig::showing(true);
    assert!(
        matches!(&rig.send("more")[..], [Op::TurnSteer { expected_turn_id, .. }] if expected_turn_id.as_str() == "u1")
    );
    let queued = rig.intend(Intent::Send { input: UserInput::text("later"), delivery: Delivery::Queue });
    assert!(matches!(&said(&queued)[..], [Op::TurnEnqueue { .. }]));
}

#[test]
fn a_steer_that_came_too_late_becomes_the_next_turn() {
    let mut rig = Rig::showing(true);
    let steer = rig.send("more");
    let changes = rig.reject(&steer[0], ErrorCode::TurnMismatch);
    assert!(matches!(&said(&changes)[..], [Op::TurnSubmit { input, .. }] if input.text == "more"));
    assert_eq!(restored(&changes), [] as [&str; 0]);
    assert_eq!(rig.texts_on_their_way(), ["more"]);
}

#[test]
fn a_refused_message_goes_back_into_the_composer_and_says_why() {
    let mut rig = Rig::showing(false);
    let ops = rig.send("important");
    let changes = rig.reject(&ops[0], ErrorCode::Overloaded);
    assert_eq!(restored(&changes), ["important"]);
    assert!(changes.iter().any(|change| matches!(change, Change::Trouble(_))));
    assert_eq!(rig.texts_on_their_way(), [] as [&str; 0]);
}

#[test]
fn a_refused_thread_gives_the_first_message_back() {
    let mut rig = Rig::default();
    let (create, _) = rig.begin("first");
    assert_eq!(restored(&rig.reject(&create, ErrorCode::Internal)), ["first"]);
    rig.begin("again");
}

#[test]
fn a_confirmed_message_leaves_when_its_item_is_shown_whatever_comes_first() {
    for ack_first in [true, false] {
        let mut rig = Rig::showing(false);
        let ops = rig.send("hello");
        if ack_first {
            rig.ack(&ops[0], "u9");
            assert_eq!(rig.texts_on_their_way(), ["hello"]);
            rig.user_item("u9", "hello");
        } else {
            rig.user_item("u9", "hello");
            rig.ack(&ops[0], "u9");
        }
        assert_eq!(rig.texts_on_their_way(), [] as [&str; 0], "ack first: {ack_first}");
    }
}

#[test]
fn messages_for_the_running_turn_wait_in_every_page_alike_until_the_turn_reads_them() {
    let mut rig = Rig::showing(true);
    let mine = rig.send("mine");
    let behind = |rig: &Rig| {
        let turn = rig.session.thread().and_then(|thread| thread.active_turn.clone()).unwrap();
        let rows = behind_items(&turn.steers, &rig.session.outgoing());
        rows.into_iter().map(|(input, standing)| (input.text, standing)).collect::<Vec<_>>()
    };
    let sending = |text: &str| (text.to_owned(), Standing::Sending);
    let waiting = |text: &str, place, count| (text.to_owned(), Standing::Waiting { place, count });
    assert_eq!(behind(&rig), [sending("mine")]);
    rig.steers(&["theirs"]);
    assert_eq!(behind(&rig), [waiting("theirs", 1, 1), sending("mine")]);
    rig.ack(&mine[0], "u1");
    rig.steers(&["theirs", "mine"]);
    assert_eq!(behind(&rig), [waiting("theirs", 1, 2), waiting("mine", 2, 2)]);
    rig.user_item("u1", "theirs");
    rig.user_item("u1", "mine");
    rig.steers(&[]);
    assert_eq!(behind(&rig), []);
}

#[test]
fn a_message_for_a_turn_that_is_over_leaves_with_its_answer() {
    let mut rig = Rig::showing(true);
    let steer = rig.send("late");
    let submission_id = reconnect(&mut rig).submission_id().clone();
    rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(false) });
    assert_eq!(rig.texts_on_their_way(), ["late"]);
    rig.ack(&steer[0], "u1");
    assert_eq!(rig.texts_on_their_way(), [] as [&str; 0]);
}

#[test]
fn an_update_is_announced_until_another_engine_greets_and_a_restart_stays() {
    let mut rig = Rig::showing(false);
    let restarted = EngineNotice::Restarted { at_ms: 7, report: "unreachable".into() };
    for notice in [EngineNotice::UpdateReady {}, restarted] {
        assert_eq!(rig.hear(AgentEvent::EngineNotice { notice }), [Change::Notices]);
    }
    let kept = Some(Restarted { at_ms: 7, report: "unreachable".into() });
    assert_eq!(*rig.session.notices(), Notices { restarted: kept.clone(), update_ready: true });
    reconnect(&mut rig);
    assert_eq!(*rig.session.notices(), Notices { restarted: kept, update_ready: false });
}

#[test]
fn the_place_of_a_waiting_message_is_said_when_several_wait() {
    let words = [Language::English, Language::Chinese]
        .map(|language| Standing::Waiting { place: 2, count: 3 }.text(language));
    assert_eq!(words, ["Waiting for the next step, 2 of 3", "等待下一步时补充，第 2/3 条"]);
}

#[test]
fn a_gap_asks_for_a_snapshot_once_and_takes_it() {
    let mut rig = Rig::showing(true);
    rig.sequence = 5;
    let delta = AgentEvent::TurnStart {
        thread_id: "t1".into(),
        turn_id: "u2".into(),
        turn_kind: TurnKind::User,
        steerable: true,
    };
    let asked = said(&rig.stream(delta.clone()));
    assert!(matches!(asked[..], [Op::ThreadSubscribe { .. }]));
    assert_eq!(rig.stream(delta), []);
    let submission_id = asked[0].submission_id().clone();
    let changes = rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(false) });
    assert_eq!(changes, [Change::Replaced, Change::Outgoing]);
    assert!(!rig.session.is_running());
}

#[test]
fn a_deleted_thread_leads_back_to_an_empty_draft() {
    let mut rig = Rig::showing(false);
    let changes = rig.stream(AgentEvent::ThreadDeleted { thread_id: "t1".into() });
    assert!(changes.contains(&Change::Showing(None)));
    assert_eq!((rig.session.thread_id(), rig.session.thread()), (None, None));
}

/// The engine answers a reconnection without the snapshot; the Op that asks for it.
fn reconnect(rig: &mut Rig) -> Op {
    let changes = rig.hear(AgentEvent::Initialized {
        submission_id: "x".into(),
        protocol: "p".into(),
        schema_hash: "h".into(),
        snapshot: None,
    });
    let asked = said(&changes).into_iter().find(|op| matches!(op, Op::ThreadSubscribe { .. }));
    asked.unwrap()
}

#[test]
fn a_greeting_without_a_snapshot_asks_for_it_and_what_comes_before_it_is_in_it() {
    let mut rig = Rig::showing(true);
    let asked = reconnect(&mut rig);
    assert_eq!(rig.session.thread_id().map(|id| id.as_str()), Some("t1"));
    assert_eq!(rig.user_item("u1", "hello"), []);
    let submission_id = asked.submission_id().clone();
    let changes = rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(false) });
    assert_eq!(changes, [Change::Replaced, Change::Outgoing]);
    assert!(!rig.session.is_running());
}

#[test]
fn a_thread_that_is_gone_after_a_reconnection_leads_back_too() {
    let mut rig = Rig::showing(false);
    let asked = reconnect(&mut rig);
    let changes = rig.reject(&asked, ErrorCode::ThreadNotFound);
    assert!(changes.contains(&Change::Showing(None)));
    assert_eq!(rig.session.thread_id(), None);
}

#[test]
fn an_answer_for_a_thread_that_was_left_changes_nothing() {
    let mut rig = Rig::default();
    let first = said(&rig.intend(Intent::OpenThread("t1".into())));
    rig.intend(Intent::NewThread);
    let submission_id = first[0].submission_id().clone();
    assert_eq!(rig.hear(AgentEvent::ThreadSubscribed { submission_id, snapshot: snapshot(false) }), []);
}

#[test]
fn stopping_is_shown_until_the_turn_has_ended() {
    let mut rig = Rig::showing(true);
    assert!(matches!(said(&rig.intend(Intent::Stop))[..], [Op::TurnInterrupt { .. }]));
    assert!(rig.session.is_stopping());
    rig.stream(AgentEvent::TurnComplete {
        thread_id: "t1".into(),
        turn_id: "u1".into(),
        stop_reason: panelot_protocol::turn::StopReason::Interrupted,
    });
    assert!(!rig.session.is_stopping());
}

#[test]
fn a_title_that_is_found_while_a_turn_is_stopped_ends_nothing() {
    let mut rig = Rig::showing(true);
    rig.intend(Intent::Stop);
    let changes = rig.stream(AgentEvent::TurnComplete {
        thread_id: "t1".into(),
        turn_id: "the-title".into(),
        stop_reason: panelot_protocol::turn::StopReason::End,
    });
    assert_eq!(changes, []);
    assert!(rig.session.is_stopping());
}

#[test]
fn an_act_without_a_thread_says_nothing() {
    assert_eq!(Rig::default().intend(Intent::InThread(Act::ReleaseQueue)), []);
}
