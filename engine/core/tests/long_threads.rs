//! A thread of 10,000 nodes costs as many round trips to the database as one of 100.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail at once")]

use panelot_engine::Engine;
use panelot_engine::ports::{Commit, Durability};
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::ThreadId;
use panelot_protocol::op::Op;
use panelot_protocol::turn::UserInput;
use panelot_testkit::{LongThread, Reply, SimPage, SimWorld};
use std::rc::Rc;

/// Nodes and branch points.
const SIZES: [(u64, u64); 3] = [(100, 2), (1_000, 20), (10_000, 200)];

/// Reads and commits of one step.
type Cost = (u64, u64);

struct Walk {
    world: SimWorld,
    page: SimPage,
    _engine: Rc<Engine<SimWorld>>,
}

impl Walk {
    /// A worker that has not looked at the thread yet.
    fn new(thread: &LongThread) -> Self {
        let world = SimWorld::new(1);
        let commit = Commit {
            expect: Vec::new(),
            put: thread.rows(),
            delete: Vec::new(),
            durability: Durability::Relaxed,
        };
        world.store.memory().commit_now(&commit).unwrap();
        let engine = Engine::start(world.clone());
        let mut page = SimPage::open(&world, &engine, 1, None);
        page.configure(&["planted-key-0123456789"]);
        Self { world, page, _engine: engine }
    }

    /// What a step costs until nothing moves any more.
    fn cost(&mut self, step: impl FnOnce(&mut SimPage)) -> Cost {
        let before = (self.world.store.reads(), self.world.store.commits());
        step(&mut self.page);
        self.page.settle();
        (self.world.store.reads() - before.0, self.world.store.commits() - before.1)
    }
}

fn submit(page: &mut SimPage, thread_id: &ThreadId) {
    let submission_id = page.submission();
    let (thread_id, input) = (thread_id.clone(), UserInput::text("And now?"));
    let answer = page.ask(&Op::TurnSubmit { submission_id, thread_id, input, overrides: None });
    assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
}

/// The costs of opening a thread, of showing its other branch, and of a whole turn at its end.
fn costs(nodes: u64, branches: u64) -> [Cost; 3] {
    let thread = LongThread::new("Long", nodes, branches);
    let mut walk = Walk::new(&thread);
    let open = walk.cost(|page| {
        let snapshot = page.subscribe(&thread.id());
        let last = snapshot.items.last().map(|item| item.text.as_str()).unwrap_or_default();
        assert!(last.starts_with(&thread.last_answer()), "{last}");
    });
    let switch = walk.cost(|page| {
        let (submission_id, node_id) = (page.submission(), thread.other_question_id());
        let answer = page.ask(&Op::ThreadSelectBranch { submission_id, thread_id: thread.id(), node_id });
        assert!(matches!(answer, AgentEvent::CommandAck { .. }), "{answer:?}");
    });
    walk.world.http.push(Reply::text(&["All is well."]));
    let turn = walk.cost(|page| submit(page, &thread.id()));
    let shown = walk.page.subscribe(&thread.id());
    let texts: Vec<&str> = shown.items.iter().rev().map(|item| item.text.as_str()).collect();
    assert_eq!(texts.first(), Some(&"All is well."));
    assert!(texts.get(2).is_some_and(|text| text.starts_with(&thread.other_answer())), "{:?}", texts.get(2));
    [open, switch, turn]
}

#[test]
fn opening_switching_and_appending_cost_the_same_round_trips_for_100_and_for_10_000_nodes() {
    let measured = SIZES.map(|(nodes, branches)| costs(nodes, branches));
    assert_eq!(measured[1], measured[0]);
    assert_eq!(measured[2], measured[0]);
}
