//! The table of legal Ops, walked against a real engine in each situation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail at once")]

use panelot_engine::thread::{OpKind, Ruling, Situation, ruling};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, RunId, TurnId};
use panelot_protocol::op::{Op, ThreadPatch, UncertainResolution};
use panelot_protocol::turn::UserInput;
use panelot_testkit::http::text_step;
use panelot_testkit::{Reply, Stage, Step, TAB};
use serde_json::json;

/// A thread with one ended turn that is now in a situation, and the run that matters there.
fn bring_about(situation: Situation, seed: u64) -> (Stage, RunId) {
    let mut stage = Stage::new(seed);
    stage.world.http.push(Reply::text(&["Hello."]));
    let mut run = run_of(&stage.submit("Hi"));
    let hang = || Reply::stream(vec![text_step("x"), Step::Wait(2_000), text_step("y"), Step::Hang]);
    match situation {
        Situation::Idle => {}
        Situation::Working => {
            stage.world.http.push(hang());
            run = run_of(&stage.submit("Go"));
            stage.page.advance(100);
        }
        Situation::WaitingForUser => {
            stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
            run = run_of(&stage.submit("Go"));
        }
        Situation::Uncertain => {
            stage.world.http.push(Reply::calls("", &[("click", json!({"ref": "e1"}))]));
            run = run_of(&stage.submit("Go"));
            stage.world.browser.change(TAB, |page| page.answer_ms = 1_000);
            stage.answer(panelot_protocol::approval::ApprovalDecision::Accept {});
            stage.page.advance(1_500);
            assert_eq!(stage.world.browser.written().len(), 1);
            stage.restart();
        }
        Situation::Resumable => {
            stage.world.http.push(hang());
            run = run_of(&stage.submit("Go"));
            stage.page.advance(1_500);
            stage.restart();
        }
    }
    (stage, run)
}

fn run_of(event: &AgentEvent) -> RunId {
    let AgentEvent::CommandAck { run_id: Some(run_id), .. } = event else {
        panic!("not an acknowledgement of a run: {event:?}")
    };
    run_id.clone()
}

fn op(kind: OpKind, stage: &Stage, run_id: &RunId) -> Op {
    let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
    let run_id = run_id.clone();
    let input = UserInput::text("more");
    let node = || -> NodeId {
        let items = &stage.page.view.as_ref().unwrap().snapshot.items;
        items.first().unwrap().meta.node_id.clone().unwrap()
    };
    match kind {
        OpKind::Submit => Op::TurnSubmit { submission_id, thread_id, input, overrides: None },
        OpKind::Enqueue => Op::TurnEnqueue { submission_id, thread_id, input, overrides: None },
        OpKind::ForkTurn => {
            Op::TurnFork { submission_id, thread_id, sibling_of_node_id: node(), input, overrides: None }
        }
        OpKind::Steer => {
            Op::TurnSteer { submission_id, thread_id, expected_turn_id: TurnId::from(&run_id), input }
        }
        OpKind::Interrupt => Op::TurnInterrupt { submission_id, thread_id },
        OpKind::Resume => Op::RunResume { submission_id, thread_id, run_id },
        OpKind::Resolve => Op::RunResolveUncertain {
            submission_id,
            thread_id,
            run_id,
            resolution: UncertainResolution::MarkDone,
        },
        OpKind::EditQueue => Op::QueueRemove { submission_id, thread_id, run_id },
        OpKind::ReleaseQueue => Op::QueueRelease { submission_id, thread_id },
        OpKind::EditTree => Op::NodeDelete { submission_id, thread_id, node_id: node() },
        OpKind::EditThread => Op::ThreadUpdate {
            submission_id,
            thread_id,
            patch: ThreadPatch { pinned: Some(true), ..ThreadPatch::default() },
        },
        OpKind::Answer => Op::ApprovalResponse {
            submission_id,
            approval_id: "no-such-question".into(),
            decision: panelot_protocol::approval::ApprovalDecision::Accept {},
        },
    }
}

#[test]
fn every_op_in_every_situation_is_answered_as_the_table_says() {
    for (seed, situation) in (100..).zip(Situation::ALL) {
        for kind in OpKind::ALL {
            let (mut stage, run) = bring_about(situation, seed);
            let op = op(kind, &stage, &run);
            let answer = stage.page.ask(&op);
            let refused =
                if let AgentEvent::CommandRejected { code, .. } = &answer { Some(*code) } else { None };
            let expected = match (kind, ruling(kind, situation)) {
                (_, Ruling::Refuse(code, _)) => Some(code),
                // Legal everywhere, but these name something that is not there.
                (OpKind::EditQueue | OpKind::Answer, _) => Some(ErrorCode::InvalidCommand),
                (_, Ruling::Do | Ruling::Start | Ruling::Queue) => None,
            };
            assert_eq!(refused, expected, "{kind:?} while {situation:?}: {answer:?}");
            let queued = stage.page.view.as_ref().map_or(0, |view| view.snapshot.queue.runs.len());
            let waits = ruling(kind, situation) == Ruling::Queue
                && !matches!(situation, Situation::Idle | Situation::Resumable);
            assert_eq!(queued, usize::from(waits), "{kind:?} while {situation:?}");
        }
    }
}
