//! What each Op is answered in each state of a run, and what becomes of the thread: one committed table, walked
//! against a real engine. `UPDATE_EXPECT=1` writes it anew; the difference is what a change of behaviour is.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail at once")]

use expect_test::expect_file;
use panelot_engine::ports::{Key, Table};
use panelot_engine::store::records::{Record, StoredRun};
use panelot_engine::turn::RunPhase;
use panelot_protocol::Shape;
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ClientId, NodeId, RunId, SubmissionId, TurnId};
use panelot_protocol::interaction::InteractionResponse;
use panelot_protocol::op::{ImportMode, Op, ThreadPatch, UncertainResolution};
use panelot_protocol::schema::TypeShape;
use panelot_protocol::settings::{Budgets, SettingsPatch};
use panelot_protocol::turn::UserInput;
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};
use panelot_testkit::http::text_step;
use panelot_testkit::{Reply, Stage, Step, TAB};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A thread in which a run is in a phase, and that run; no phase is a thread in which nothing was said.
struct Scene {
    stage: Stage,
    run: RunId,
}

fn hanging() -> Reply {
    Reply::stream(vec![text_step("x"), Step::Wait(2_000), text_step("y"), Step::Hang])
}

fn run_of(event: &AgentEvent) -> RunId {
    let AgentEvent::CommandAck { run_id: Some(run_id), .. } = event else {
        panic!("not an acknowledgement of a run: {event:?}")
    };
    run_id.clone()
}

/// Submits to a model that answers so, and lets a moment pass.
fn submit(stage: &mut Stage, reply: Reply) -> RunId {
    stage.world.http.push(reply);
    let run = run_of(&stage.submit("Go"));
    stage.page.advance(100);
    run
}

fn scene(phase: Option<RunPhase>) -> Scene {
    let mut stage = Stage::new(100);
    let click = || Reply::calls("", &[("click", json!({"ref": "e1"}))]);
    let run = match phase {
        None => RunId::from("no-such-run"),
        Some(RunPhase::Queued) => {
            submit(&mut stage, hanging());
            let queued = run_of(&stage.submit("Later"));
            let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
            stage.page.ask(&Op::TurnInterrupt { submission_id, thread_id });
            queued
        }
        Some(RunPhase::Preparing) => {
            let body = json!({"error": {"message": "slow down"}});
            submit(&mut stage, Reply::refusal(429, &body).with_header("retry-after", "40"))
        }
        Some(RunPhase::StreamingModel) => submit(&mut stage, hanging()),
        Some(RunPhase::WaitingApproval) => submit(&mut stage, click()),
        Some(RunPhase::WaitingInteraction) => {
            submit(&mut stage, Reply::calls("", &[("ask_user", json!({"question": "Which?"}))]))
        }
        Some(RunPhase::ExecutingTool) => {
            stage.world.browser.change(TAB, |page| page.answer_ms = 5_000);
            submit(&mut stage, Reply::calls("", &[("read_page", json!({}))]))
        }
        Some(RunPhase::PausedBudget) => {
            let budgets = Budgets { turn_tokens: Some(1), ..Budgets::default() };
            let patch = SettingsPatch::Budgets { budgets };
            stage.page.ask(&Op::SettingsUpdate { submission_id: stage.page.submission(), patch });
            submit(&mut stage, Reply::calls("", &[("read_page", json!({}))]))
        }
        Some(RunPhase::PausedUncertain) => {
            let run = submit(&mut stage, click());
            stage.world.browser.change(TAB, |page| page.answer_ms = 1_000);
            stage.answer(ApprovalDecision::Accept {});
            stage.page.advance(1_500);
            stage.restart();
            run
        }
        Some(RunPhase::Stopped) => {
            let run = submit(&mut stage, hanging());
            stage.page.advance(1_500);
            stage.restart();
            run
        }
        Some(RunPhase::Interrupted) => {
            let run = submit(&mut stage, hanging());
            let (submission_id, thread_id) = (stage.page.submission(), stage.thread.clone());
            stage.page.ask(&Op::TurnInterrupt { submission_id, thread_id });
            run
        }
        Some(RunPhase::Failed) => {
            submit(&mut stage, Reply::refusal(400, &json!({"error": {"message": "no"}})))
        }
        Some(RunPhase::Completed) => submit(&mut stage, Reply::text(&["Hello."])),
    };
    // Whatever begins now goes on for a while.
    stage.world.http.set_script(|_| hanging());
    let scene = Scene { stage, run };
    let there = scene.runs().into_iter().find(|stored| stored.id == scene.run);
    assert_eq!(there.map(|stored| RunPhase::of(&stored.state)), phase);
    scene
}

impl Scene {
    /// The runs of all threads, oldest first.
    fn runs(&self) -> Vec<StoredRun> {
        let rows = self.stage.world.store.table(Table::Runs);
        let mut runs: Vec<StoredRun> = rows.iter().map(|row| StoredRun::from_row(row).unwrap()).collect();
        runs.sort_by_key(|run| run.created_at_ms);
        runs
    }

    fn phases(&self) -> String {
        let name = |run: &StoredRun| format!("{:?}", RunPhase::of(&run.state));
        let names: Vec<String> = self.runs().iter().map(name).collect();
        names.join(" ")
    }

    /// The first message of the thread, or a name that nothing has.
    fn node(&self) -> NodeId {
        let items = &self.stage.page.view.as_ref().unwrap().snapshot.items;
        let shown = items.first().and_then(|item| item.meta.node_id.clone());
        shown.unwrap_or_else(|| NodeId::from("no-such-node"))
    }

    /// Every Op, some of them with each of their choices, by the name of its line.
    fn ops(&self) -> Vec<(String, Op)> {
        let Self { stage, run } = self;
        let id = || stage.page.submission();
        let thread = || stage.thread.clone();
        let input = || UserInput::text("more");
        let mut ops = vec![
            initialize(id()),
            Op::ThreadCreate { submission_id: id(), preset: None, folder_id: None },
            Op::ThreadSubscribe { submission_id: id(), thread_id: thread() },
            Op::ThreadDelete { submission_id: id(), thread_id: thread() },
            Op::ThreadFork { submission_id: id(), thread_id: thread(), at_node_id: self.node() },
            Op::ThreadSelectBranch { submission_id: id(), thread_id: thread(), node_id: self.node() },
            Op::ThreadList { submission_id: id(), cursor: None, query: None, archived: None },
            Op::ThreadItems { submission_id: id(), thread_id: thread(), before_node_id: None, limit: 5 },
            Op::ThreadUpdate {
                submission_id: id(),
                thread_id: thread(),
                patch: ThreadPatch { pinned: Some(true), ..ThreadPatch::default() },
            },
            Op::NodeDelete { submission_id: id(), thread_id: thread(), node_id: self.node() },
            Op::TurnSubmit { submission_id: id(), thread_id: thread(), input: input(), overrides: None },
            Op::TurnFork {
                submission_id: id(),
                thread_id: thread(),
                sibling_of_node_id: self.node(),
                input: input(),
                overrides: None,
            },
            Op::TurnSteer {
                submission_id: id(),
                thread_id: thread(),
                expected_turn_id: TurnId::from(run),
                input: input(),
            },
            Op::TurnEnqueue { submission_id: id(), thread_id: thread(), input: input(), overrides: None },
            Op::TurnInterrupt { submission_id: id(), thread_id: thread() },
            Op::QueueUpdate {
                submission_id: id(),
                thread_id: thread(),
                run_id: run.clone(),
                input: input(),
                overrides: None,
            },
            Op::QueueRemove { submission_id: id(), thread_id: thread(), run_id: run.clone() },
            Op::QueueRelease { submission_id: id(), thread_id: thread() },
            Op::RunResume { submission_id: id(), thread_id: thread(), run_id: run.clone() },
            Op::SettingsGet { submission_id: id() },
            Op::SettingsUpdate { submission_id: id(), patch: SettingsPatch::DefaultModel { model: None } },
            Op::ModelsList { submission_id: id(), connection_id: None },
            Op::DataExport { submission_id: id(), include_attachments: false },
            Op::Ping { submission_id: id() },
        ];
        ops.extend(self.transfers());
        let mut named: Vec<(String, Op)> =
            ops.into_iter().map(|op| (op.command_type().to_owned(), op)).collect();
        named.extend(self.choices());
        named.sort_by(|one, other| one.0.cmp(&other.0));
        named
    }

    fn transfers(&self) -> [Op; 2] {
        let put = Op::AttachmentPut {
            submission_id: self.stage.page.submission(),
            attachment_id: "a-file".into(),
            thread_id: Some(self.stage.thread.clone()),
            mime: "text/plain".to_owned(),
            name: None,
            index: 0,
            total: 1,
            chunk: "aGVsbG8=".to_owned(),
        };
        let import = Op::DataImport {
            submission_id: self.stage.page.submission(),
            transfer_id: "a-transfer".into(),
            index: 0,
            total: 1,
            chunk: "{}".to_owned(),
            mode: ImportMode::Merge,
        };
        [put, import]
    }

    /// The Ops that decide something, with each decision.
    fn choices(&self) -> Vec<(String, Op)> {
        let snapshot = &self.stage.page.view.as_ref().unwrap().snapshot;
        let approval = snapshot.approvals.first().map(|asked| asked.approval_id.clone());
        let wait = snapshot.interactions.first().map(|wait| wait.interaction_id.clone());
        let mut ops = Vec::new();
        for resolution in
            [UncertainResolution::Retry, UncertainResolution::MarkDone, UncertainResolution::Fail]
        {
            let op = Op::RunResolveUncertain {
                submission_id: self.stage.page.submission(),
                thread_id: self.stage.thread.clone(),
                run_id: self.run.clone(),
                resolution,
            };
            ops.push((format!("{} {resolution:?}", op.command_type()), op));
        }
        let decisions = [
            ("Accept", ApprovalDecision::Accept {}),
            ("Decline", ApprovalDecision::Decline { note: None }),
            ("Cancel", ApprovalDecision::Cancel {}),
        ];
        for (name, decision) in decisions {
            let approval_id = approval.clone().unwrap_or_else(|| "no-such-question".into());
            let op =
                Op::ApprovalResponse { submission_id: self.stage.page.submission(), approval_id, decision };
            ops.push((format!("{} {name}", op.command_type()), op));
        }
        let responses = [
            ("Submit", InteractionResponse::Submit { value: json!("yes") }),
            ("Done", InteractionResponse::Done {}),
            ("Decline", InteractionResponse::Decline { note: None }),
            ("Cancel", InteractionResponse::Cancel {}),
        ];
        for (name, response) in responses {
            let interaction_id = wait.clone().unwrap_or_else(|| "no-such-wait".into());
            let op = Op::InteractionResponse {
                submission_id: self.stage.page.submission(),
                interaction_id,
                response,
            };
            ops.push((format!("{} {name}", op.command_type()), op));
        }
        ops
    }
}

fn initialize(submission_id: SubmissionId) -> Op {
    Op::Initialize {
        submission_id,
        protocol: ENGINE_PROTOCOL.to_owned(),
        schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
        client_id: ClientId::from("00000000-0000-4000-8000-000000000077"),
        subscribe: None,
    }
}

/// The answer in short, and the phases of all runs when they are others now.
fn cell(scene: &mut Scene, op: &Op) -> String {
    let before = scene.phases();
    let answer = answer_to(&mut scene.stage, op);
    let said = if let AgentEvent::CommandRejected { code, message, .. } = &answer {
        format!("{}: {message}", name_of(*code))
    } else {
        answer.event_type().to_owned()
    };
    let after = scene.phases();
    let is_gone = scene
        .stage
        .world
        .store
        .table(Table::Threads)
        .iter()
        .all(|row| row.key != Key::text(scene.stage.thread.as_str()));
    match (is_gone, before == after) {
        (true, _) => format!("{said} → nothing is left"),
        (false, true) => said,
        (false, false) => format!("{said} → {after}"),
    }
}

/// The answer; `models.list` alone waits for somebody outside.
fn answer_to(stage: &mut Stage, op: &Op) -> AgentEvent {
    stage.page.send(op);
    stage.page.settle();
    let mut waits = 0..100;
    loop {
        if let Some(answer) = stage.page.answer_to(op.submission_id()) {
            return answer;
        }
        assert!(waits.next().is_some(), "no answer to {op:?}");
        stage.page.advance(100);
    }
}

fn name_of(code: ErrorCode) -> String {
    serde_json::to_value(code).unwrap().as_str().unwrap().to_owned()
}

/// The states of each answer, in the order in which they come.
fn grouped(cells: Vec<(String, String)>) -> Vec<(String, String)> {
    let count = cells.len();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (state, cell) in cells {
        match groups.iter_mut().find(|(answer, _)| *answer == cell) {
            Some((_, states)) => states.push(state),
            None => groups.push((cell, vec![state])),
        }
    }
    let named = |states: Vec<String>| match states.len() == count {
        true => "every state".to_owned(),
        false => states.join(", "),
    };
    groups.into_iter().map(|(cell, states)| (cell, named(states))).collect()
}

#[test]
fn every_op_in_every_state_is_answered_as_the_table_says() {
    let phases: Vec<Option<RunPhase>> =
        std::iter::once(None).chain(RunPhase::ALL.into_iter().map(Some)).collect();
    let names: Vec<String> = scene(None).ops().into_iter().map(|(name, _)| name).collect();
    let mut table = String::new();
    for (at, name) in names.iter().enumerate() {
        let mut cells: Vec<(String, String)> = Vec::new();
        for phase in &phases {
            let mut scene = scene(*phase);
            let (same, op) = scene.ops().remove(at);
            assert_eq!(&same, name);
            let state = phase.map_or("NothingSaid".to_owned(), |phase| format!("{phase:?}"));
            cells.push((state, cell(&mut scene, &op)));
        }
        writeln!(table, "{name}").unwrap();
        for (cell, states) in grouped(cells) {
            writeln!(table, "    {cell}\n        {states}").unwrap();
        }
    }
    expect_file!["tables/ops.txt"].assert_eq(&table);
}

#[test]
fn the_table_has_every_op_of_the_protocol() {
    let TypeShape::Tagged(tagged) = Op::SHAPE else { panic!("Ops are told apart by a tag") };
    let known: BTreeSet<&str> = tagged.variants.iter().map(|variant| variant.name).collect();
    let ops = scene(None).ops();
    let walked: BTreeSet<&str> = ops.iter().map(|(_, op)| op.command_type()).collect();
    assert_eq!(walked, known);
}
