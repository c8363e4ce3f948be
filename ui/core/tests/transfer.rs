//! An export becomes a text, a document goes out chunk by chunk, and whatever ends it leaves the page usable.

use panelot_protocol::event::{AgentEvent, ErrorCode, LeftOut, LeftOutKind};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::SubmissionId;
use panelot_protocol::op::{ImportMode, Op};
use panelot_ui::connection::Surroundings;
use panelot_ui::intents::Intent;
use panelot_ui::session::{Change, Session};
use panelot_ui::transfer::Transfer;

#[derive(Default)]
struct World {
    made: u64,
}

impl Surroundings for World {
    fn now_ms(&self) -> u64 {
        0
    }

    fn chance_permille(&mut self) -> u64 {
        0
    }

    fn submission_id(&mut self) -> SubmissionId {
        self.made += 1;
        SubmissionId::new(format!("00000000-0000-4000-8000-{:012}", self.made))
    }
}

#[derive(Default)]
struct Rig {
    session: Session,
    world: World,
}

impl Rig {
    fn intend(&mut self, intent: Intent) -> Vec<Op> {
        said(&self.session.intend(intent, &mut self.world))
    }

    fn hear(&mut self, event: AgentEvent) -> Vec<Op> {
        said(&self.session.hear(&EventFrame::outside(event), &mut self.world))
    }

    fn shown(&self) -> Transfer {
        self.session.transfer().shown()
    }
}

fn said(changes: &[Change]) -> Vec<Op> {
    changes
        .iter()
        .filter_map(|change| if let Change::Say(op) = change { Some((**op).clone()) } else { None })
        .collect()
}

fn exported(op: &Op, index: u32, total: Option<u32>, chunk: &str) -> AgentEvent {
    let submission_id = op.submission_id().clone();
    AgentEvent::DataExported { submission_id, index, total, chunk: chunk.to_owned() }
}

fn ack(op: &Op) -> AgentEvent {
    let submission_id = op.submission_id().clone();
    AgentEvent::CommandAck { submission_id, thread_id: None, run_id: None, revision: None }
}

#[test]
fn an_export_grows_to_its_last_chunk_and_begins_again_after_a_lost_connection() {
    let mut rig = Rig::default();
    let op = rig.intend(Intent::Export { with_attachments: true }).remove(0);
    assert_eq!(rig.intend(Intent::Export { with_attachments: true }), [], "one at a time");
    rig.hear(exported(&op, 0, None, "lost"));
    rig.hear(exported(&op, 0, None, "{\"a\""));
    assert_eq!(rig.shown(), Transfer::Exporting { bytes: 4 });
    rig.hear(exported(&op, 1, Some(2), ":1}"));
    assert_eq!(rig.session.transfer().exported(), Some("{\"a\":1}"));
    assert_eq!(rig.shown(), Transfer::Exported { bytes: 7 });
    rig.intend(Intent::ForgetTransfer);
    assert_eq!(rig.shown(), Transfer::None);
}

#[test]
fn the_next_chunk_of_an_import_goes_out_with_the_answer_to_the_one_before() {
    let mut rig = Rig::default();
    let text = "x".repeat(1_300_000);
    let mut op = rig.intend(Intent::Import { text: text.clone(), mode: ImportMode::Merge }).remove(0);
    let (mut sent, mut places, mut ids) = (String::new(), Vec::new(), Vec::new());
    loop {
        let Op::DataImport { index, total, chunk, transfer_id, .. } = &op else { unreachable!("{op:?}") };
        sent.push_str(chunk);
        places.push((*index, *total));
        ids.push(transfer_id.clone());
        assert_eq!(rig.shown(), Transfer::Importing { part: index + 1, total: *total });
        match rig.hear(ack(&op)).pop() {
            Some(next) => op = next,
            None => break,
        }
    }
    assert_eq!((sent, places), (text, vec![(0, 3), (1, 3), (2, 3)]));
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let left_out = vec![LeftOut { kind: LeftOutKind::Rule, name: "allow * *".to_owned() }];
    let submission_id = op.submission_id().clone();
    let event = AgentEvent::DataImported {
        submission_id,
        threads: 3,
        problems: Vec::new(),
        left_out: left_out.clone(),
    };
    assert!(matches!(rig.hear(event).as_slice(), [Op::ThreadList { .. }]), "the list is another one");
    assert_eq!(rig.shown(), Transfer::Imported { threads: 3, left_out });
}

#[test]
fn a_document_with_problems_and_a_refused_chunk_both_end_the_import() {
    let mut rig = Rig::default();
    let import = || Intent::Import { text: "{}".to_owned(), mode: ImportMode::Replace };
    let op = rig.intend(import()).remove(0);
    let problems = vec!["format: missing".to_owned()];
    let submission_id = op.submission_id().clone();
    rig.hear(AgentEvent::DataImported {
        submission_id,
        threads: 0,
        problems: problems.clone(),
        left_out: Vec::new(),
    });
    assert_eq!(rig.shown(), Transfer::Refused { problems });
    let op = rig.intend(import()).remove(0);
    rig.hear(AgentEvent::CommandRejected {
        submission_id: op.submission_id().clone(),
        code: ErrorCode::StorageFull,
        message: String::new(),
        thread_id: None,
        retryable: true,
    });
    assert_eq!(rig.shown(), Transfer::None);
}
