//! What users do: each looks at the page and does one thing of a kind.

use crate::plan::{Act, Deed};
use crate::properties;
use crate::run::{Again, Simulation, TAB, Wish};
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{NodeId, SubmissionId, ThreadId};
use panelot_protocol::interaction::{InteractionRequestPayload, InteractionResponse, PendingInteraction};
use panelot_protocol::item::ItemKind;
use panelot_protocol::op::{Op, ThreadPatch, UncertainResolution};
use panelot_protocol::settings::SettingsPatch;
use panelot_protocol::snapshot::{RecoveryReason, ThreadSnapshot};
use panelot_protocol::turn::{CapturedTab, PermissionPolicy, TurnOverrides, UserInput};

/// Most threads of a profile.
const THREADS_COUNT_MAX: usize = 4;
/// How long tasks wait, in seconds.
const WAITS_S: [u64; 4] = [30, 120, 600, 3_000];

impl Simulation {
    /// A user does something.
    pub(crate) fn act(&mut self, Act { user, deed }: Act) {
        if !self.users[user].is_connected() {
            self.connect(user);
        }
        match deed {
            Deed::Speak => self.speak(user),
            Deed::Decide => self.decide(user),
            Deed::Interrupt => self
                .with_thread(user, |submission_id, thread_id| Op::TurnInterrupt { submission_id, thread_id }),
            Deed::ForkTurn => self.fork_turn(user),
            Deed::ForkThread => self.fork_thread(user),
            Deed::SelectBranch => self.select_branch(user),
            Deed::DeleteNode => self.delete_node(user),
            Deed::EditThread => self.edit_thread(user),
            Deed::DeleteThread => {
                if self.threads.len() > 1 {
                    self.with_thread(user, |submission_id, thread_id| Op::ThreadDelete {
                        submission_id,
                        thread_id,
                    });
                }
            }
            Deed::EditQueue => self.edit_queue(user),
            Deed::EditSettings => self.edit_settings(user),
            Deed::Ask => self.ask(user),
            Deed::CreateThread => {
                if self.threads.len() < THREADS_COUNT_MAX {
                    let submission_id = self.submission();
                    self.submit(user, Op::ThreadCreate { submission_id, preset: None, folder_id: None });
                }
            }
            Deed::SwitchThread => {
                let thread = self.threads[self.random.below(self.threads.len())].clone();
                self.note(format!("user {user} looks at another thread"));
                self.users[user].show(&self.world, &self.engine, &thread);
            }
            Deed::Leave => {
                self.note(format!("user {user} leaves"));
                self.users[user].disconnect(&self.engine);
            }
            Deed::Repeat => self.repeat(user),
            Deed::Misuse => self.misuse(user),
        }
    }

    fn with_thread(&mut self, user: usize, op: impl FnOnce(SubmissionId, ThreadId) -> Op) {
        let Some((thread_id, _)) = self.shown(user) else { return };
        let op = op(self.submission(), thread_id);
        self.submit(user, op);
    }

    fn task(&mut self) -> UserInput {
        self.tasks += 1;
        let steps = self.random.below(4);
        let word = |bound: usize, word: &'static str| if self.random.below(bound) == 0 { word } else { "" };
        let (reads, bad, wide) = (word(2, " reads"), word(8, " bad"), word(3, " wide"));
        let captured_tab = Some(CapturedTab { tab_id: TAB, title: None, url: None });
        let looks = if self.extra.below(4) == 0 { " looks" } else { "" };
        let stubborn = if self.extra.below(12) == 0 { " stubborn" } else { "" };
        let waits = self.wait();
        let text = format!("task t{} steps {steps}{reads}{bad}{wide}{looks}{stubborn}{waits}", self.tasks);
        UserInput { captured_tab, ..UserInput::text(text) }
    }

    /// Asks for nothing but to watch the page, for longer than anybody is away.
    pub(crate) fn watch_page(&mut self, user: usize) {
        let Some((thread_id, _)) = self.shown(user) else { return };
        self.tasks += 1;
        let captured_tab = Some(CapturedTab { tab_id: TAB, title: None, url: None });
        let text = format!("task t{} steps 0 waits watch_page {}", self.tasks, WAITS_S[WAITS_S.len() - 1]);
        let input = UserInput { captured_tab, ..UserInput::text(text) };
        let submission_id = self.submission();
        self.submit(user, Op::TurnSubmit { submission_id, thread_id, input, overrides: None });
    }

    /// What a task waits for first, if it does.
    fn wait(&self) -> String {
        let Some(waits) = self.waits.as_ref().filter(|waits| waits.below(2) == 0) else {
            return String::new();
        };
        let tool = ["ask_user", "request_user_action", "watch_page", "schedule_resume"][waits.below(4)];
        format!(" waits {tool} {}", WAITS_S[waits.below(WAITS_S.len())])
    }

    fn overrides(&self) -> Option<TurnOverrides> {
        let policy = match self.random.below(8) {
            0 => PermissionPolicy::Always,
            1 => PermissionPolicy::Auto,
            _ => return None,
        };
        Some(TurnOverrides { permission_policy: Some(policy), ..TurnOverrides::default() })
    }

    fn speak(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let (submission_id, input, overrides) = (self.submission(), self.task(), self.overrides());
        let op = match (self.random.below(4), snapshot.active_turn) {
            (0, Some(turn)) => {
                Op::TurnSteer { submission_id, thread_id, expected_turn_id: turn.turn_id, input }
            }
            (1, _) => Op::TurnEnqueue { submission_id, thread_id, input, overrides },
            _ => Op::TurnSubmit { submission_id, thread_id, input, overrides },
        };
        self.submit(user, op);
    }

    /// Answers what the page asks, one thing of it.
    pub(crate) fn decide(&mut self, user: usize) {
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
        if let Some(wait) = snapshot.interactions.first() {
            return self.respond(user, wait);
        }
        let Some(run) = snapshot.recoverable.first().cloned() else { return };
        let submission_id = self.submission();
        let (run_id, reason) = (run.run_id, run.reason);
        match reason {
            RecoveryReason::UncertainWrite => {
                // Some users look at the page, some give the write up unseen, some stop.
                let resolution = match self.extra.below(6) {
                    0 => return self.submit(user, Op::TurnInterrupt { submission_id, thread_id }),
                    1 => UncertainResolution::Fail,
                    _ => self.look_at_the_page(&snapshot, &submission_id),
                };
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

    /// Answers a wait, in one of the ways that its card offers, or in one that it does not.
    fn respond(&mut self, user: usize, wait: &PendingInteraction) {
        let submit = |text: &str| InteractionResponse::Submit { value: text.into() };
        let fits = match wait.request {
            InteractionRequestPayload::AskUser { .. } => submit(["Red", "Blue"][self.random.below(2)]),
            _ => InteractionResponse::Done {},
        };
        let response = match self.random.below(10) {
            0 => InteractionResponse::Cancel {},
            1 => InteractionResponse::Decline { note: Some("not now".to_owned()) },
            2 => submit("  "),
            _ => fits,
        };
        let (submission_id, interaction_id) = (self.submission(), wait.interaction_id.clone());
        self.submit(user, Op::InteractionResponse { submission_id, interaction_id, response });
        // Now and then the other one looks at the same card and says something else.
        let other = 1 - user;
        let both = self.users[other].is_connected() && self.users[other].thread == self.users[user].thread;
        if both && self.random.below(3) == 0 {
            let response =
                [submit("Green"), InteractionResponse::Decline { note: None }][self.random.below(2)].clone();
            let (submission_id, interaction_id) = (self.submission(), wait.interaction_id.clone());
            self.submit(other, Op::InteractionResponse { submission_id, interaction_id, response });
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
        if self.random.below(6) == 0 {
            return UncertainResolution::Fail;
        }
        let wish = Wish { submission: submission.clone(), writes: Again::Text(text.to_owned()) };
        self.wishes.push(wish);
        UncertainResolution::Retry
    }

    fn random_node(&self, snapshot: &ThreadSnapshot, kind: ItemKind) -> Option<NodeId> {
        let of_kind = snapshot.items.iter().filter(|item| item.kind == kind);
        let nodes: Vec<&NodeId> = of_kind.filter_map(|item| item.meta.node_id.as_ref()).collect();
        (!nodes.is_empty()).then(|| nodes[self.random.below(nodes.len())].clone())
    }

    fn random_message(&self, snapshot: &ThreadSnapshot) -> Option<(ItemKind, NodeId)> {
        let kind = if self.random.below(2) == 0 { ItemKind::UserMessage } else { ItemKind::AssistantMessage };
        self.random_node(snapshot, kind).map(|node| (kind, node))
    }

    fn fork_turn(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let Some((kind, sibling_of_node_id)) = self.random_message(&snapshot) else { return };
        let (submission_id, input) = (self.submission(), self.task());
        if kind == ItemKind::AssistantMessage {
            self.wish_again(&snapshot, &sibling_of_node_id, &submission_id);
        }
        let op = Op::TurnFork { submission_id, thread_id, sibling_of_node_id, input, overrides: None };
        self.submit(user, op);
    }

    /// The tasks that an answer may belong to may be done once more.
    fn wish_again(&mut self, snapshot: &ThreadSnapshot, answer: &NodeId, submission: &SubmissionId) {
        let before = snapshot.items.iter().take_while(|item| item.meta.node_id.as_ref() != Some(answer));
        let inputs = before.filter_map(|item| item.meta.input.as_ref());
        let task = inputs.filter_map(|input| input.text.split_whitespace().nth(1)).last();
        if let Some(task) = task {
            let writes = Again::Task(task.to_owned());
            self.wishes.push(Wish { submission: submission.clone(), writes });
        }
    }

    fn fork_thread(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let Some((_, at_node_id)) = self.random_message(&snapshot) else { return };
        if self.threads.len() < THREADS_COUNT_MAX {
            let submission_id = self.submission();
            self.submit(user, Op::ThreadFork { submission_id, thread_id, at_node_id });
        }
    }

    fn select_branch(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let branch = snapshot.items.iter().filter_map(|item| item.meta.branch.as_ref()).next();
        let other = branch.and_then(|branch| branch.previous.clone().or(branch.next.clone()));
        let Some(node_id) = other.or_else(|| self.random_message(&snapshot).map(|(_, node)| node)) else {
            return;
        };
        let submission_id = self.submission();
        self.submit(user, Op::ThreadSelectBranch { submission_id, thread_id, node_id });
    }

    fn delete_node(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let Some(node_id) = self.random_node(&snapshot, ItemKind::AssistantMessage) else { return };
        let submission_id = self.submission();
        self.wish_again(&snapshot, &node_id, &submission_id);
        self.submit(user, Op::NodeDelete { submission_id, thread_id, node_id });
    }

    fn edit_thread(&mut self, user: usize) {
        let mut patch = ThreadPatch::default();
        match self.random.below(3) {
            0 => patch.title = Some(format!("Title {}", self.random.below(100))),
            1 => patch.pinned = Some(self.random.below(2) == 0),
            _ => patch.tags = Some(vec![format!("tag{}", self.random.below(9))]),
        }
        self.with_thread(user, |submission_id, thread_id| Op::ThreadUpdate {
            submission_id,
            thread_id,
            patch,
        });
    }

    fn edit_queue(&mut self, user: usize) {
        let Some((thread_id, snapshot)) = self.shown(user) else { return };
        let submission_id = self.submission();
        let runs = &snapshot.queue.runs;
        if runs.is_empty() {
            return self.submit(user, Op::QueueRelease { submission_id, thread_id });
        }
        let run_id = runs[self.random.below(runs.len())].run_id.clone();
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

    fn edit_settings(&mut self, user: usize) {
        let policies = [PermissionPolicy::Always, PermissionPolicy::default()];
        let policy = policies[self.random.below(policies.len())];
        let (submission_id, patch) = (self.submission(), SettingsPatch::Policy { policy });
        self.submit(user, Op::SettingsUpdate { submission_id, patch });
    }

    fn ask(&mut self, user: usize) {
        let submission_id = self.submission();
        let shown = self.shown(user);
        let op = match (self.random.below(5), shown) {
            (0, _) => Op::ThreadList { submission_id, cursor: None, query: None, archived: None },
            (1, _) => Op::SettingsGet { submission_id },
            (2, _) => Op::Ping { submission_id },
            (_, Some((thread_id, snapshot))) => {
                let before_node_id = self.random_message(&snapshot).map(|(_, node)| node);
                Op::ThreadItems { submission_id, thread_id, before_node_id, limit: 3 }
            }
            (_, None) => return,
        };
        self.note(format!("user {user} asks: {}", op.command_type()));
        self.users[user].ask(&self.engine, &op);
    }

    /// A message that was sent is sent again, as after a lost answer.
    fn repeat(&mut self, user: usize) {
        let count = self.users[user].submitted.len();
        if count == 0 {
            return;
        }
        let op = self.users[user].submitted[self.random.below(count)].op.clone();
        self.note(format!("user {user} again: {}", op.command_type()));
        self.users[user].post(&self.engine, &op);
    }

    /// Another message under the number of an old one: refused, and nothing happens.
    fn misuse(&mut self, user: usize) {
        let input = self.task();
        let spoken = self.users[user].submitted.iter().rev().find_map(|sent| match &sent.op {
            Op::TurnSubmit { submission_id, thread_id, .. }
            | Op::TurnEnqueue { submission_id, thread_id, .. }
                if matches!(sent.event, Some(AgentEvent::CommandAck { .. })) =>
            {
                Some((submission_id.clone(), thread_id.clone()))
            }
            _ => None,
        });
        let Some((submission_id, thread_id)) = spoken else { return };
        self.note(format!("user {user} uses {submission_id} for something else"));
        self.misused.push(input.text.clone());
        let op = Op::TurnEnqueue { submission_id, thread_id, input, overrides: None };
        self.users[user].misuse(&self.engine, &op);
    }
}
