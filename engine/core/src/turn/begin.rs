//! The beginning of a turn: everything that the user submitted is stored in one commit before anything else happens.

use super::machine::{IllegalStep, RunPhase, step};
use crate::provider::cut;
use crate::store::records::{NodePayload, RunState, StoredRun};
use crate::store::tree::{NewNode, Position};
use crate::thread::Change;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{NodeId, RunId, TabId, ThreadId, TurnId};
use panelot_protocol::limits;
use panelot_protocol::turn::{PermissionPolicy, TokenUsage, TurnKind, TurnOverrides, UserInput};

/// Characters of the first line that stand in for a title.
const FALLBACK_TITLE_CHARS_MAX: u64 = 60;

/// Where a turn begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    /// After the thread's leaf.
    AtLeaf,
    /// As a sibling: after this node, or as a new root.
    After(Option<Position>),
    /// As another answer to a message that is there: after this node, without a message of its own.
    AnswerAgain(Position),
}

/// A run that was not started.
pub(crate) fn new_run(
    id: RunId,
    thread_id: ThreadId,
    now_ms: u64,
    input: UserInput,
    overrides: Option<TurnOverrides>,
    policy: PermissionPolicy,
) -> StoredRun {
    StoredRun {
        id,
        thread_id,
        revision: 1,
        created_at_ms: now_ms,
        kind: TurnKind::User,
        state: RunState::Queued {},
        input,
        overrides,
        policy,
        user_node_id: None,
        parent_id: None,
        forked: false,
        leaf_id: None,
        environment: None,
        open_calls: Vec::new(),
        steers: Vec::new(),
        tool_failures: 0,
        model_calls: 0,
        usage: TokenUsage::default(),
        tokens_allowed_from: 0,
        cost_usd: Some(0.0),
        recovery: None,
        pending_tool: None,
        consented_call: None,
    }
}

impl Change {
    /// Starts a run: its message becomes a node, and a run that was left undecided is left for good. `stored` tells
    /// whether the run waits in the queue already.
    ///
    /// # Errors
    /// When the run is not one that waits.
    pub fn begin(
        &mut self,
        run: &StoredRun,
        stored: bool,
        start: &Start,
        now_ms: u64,
        mut id: impl FnMut() -> NodeId,
    ) -> Result<(), IllegalStep> {
        self.leave_undecided()?;
        let mut next = step(run, RunState::Preparing { not_before_ms: None, attempts: 0 })?;
        let context = NewNode {
            id: id(),
            payload: NodePayload::TurnContext {
                policy: run.policy,
                model: run.overrides.as_ref().and_then(|overrides| overrides.model.clone()),
            },
        };
        let message = NewNode {
            id: id(),
            payload: NodePayload::UserMessage { input: run.input.clone(), steered: false },
        };
        let (parent, new) = match start {
            Start::AtLeaf => (self.next.leaf(), vec![context, message]),
            Start::After(parent) => (parent.clone(), vec![context, message]),
            Start::AnswerAgain(parent) => (Some(parent.clone()), vec![context]),
        };
        self.path_replaced |= !matches!(start, Start::AtLeaf);
        let nodes = self.append(parent.as_ref(), &run.id, now_ms, new);
        self.builder.put_all(&nodes);
        self.builder.strict();
        next.forked = !matches!(start, Start::AtLeaf);
        next.parent_id = parent.map(|parent| parent.node_id);
        next.user_node_id = nodes
            .iter()
            .find(|node| matches!(node.payload, NodePayload::UserMessage { .. }))
            .map(|node| node.id.clone());
        next.leaf_id = nodes.last().map(|node| node.id.clone());
        let title = fallback_title(&run.input.text);
        let thread = self.thread();
        thread.stats.turns = thread.stats.turns.saturating_add(1);
        add_tabs(&mut thread.tabs, &run.input);
        if thread.title.is_empty() {
            thread.title = title;
        }
        let thread_id = self.thread_id();
        self.say(AgentEvent::TurnStart {
            thread_id,
            turn_id: TurnId::from(&run.id),
            turn_kind: run.kind,
            steerable: true,
        });
        for node in &nodes {
            self.say_node(node);
        }
        self.put_run(stored.then_some(run), next);
        Ok(())
    }

    /// A run that the user could have let go on is left for good.
    fn leave_undecided(&mut self) -> Result<(), IllegalStep> {
        let undecided = self.next.runs.iter().find(|run| {
            let phase = RunPhase::of(&run.state);
            phase == RunPhase::Stopped || phase == RunPhase::PausedBudget
        });
        let Some(before) = undecided.cloned() else { return Ok(()) };
        let mut left = step(&before, RunState::Interrupted { resumable: false })?;
        left.recovery = None;
        self.put_run(Some(&before), left);
        Ok(())
    }
}

/// The tabs that a message lets its thread read.
pub(crate) fn add_tabs(tabs: &mut Vec<TabId>, input: &UserInput) {
    let captured = input.captured_tab.as_ref().map(|tab| tab.tab_id);
    let referenced = input.attached_context.iter().filter_map(|context| context.tab_id);
    for tab in captured.into_iter().chain(referenced) {
        if !tabs.contains(&tab) {
            tabs.push(tab);
        }
    }
}

/// The first line of a message, cut: the title until a better one is found.
fn fallback_title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut(line, FALLBACK_TITLE_CHARS_MAX.min(limits::TITLE_CHARS_MAX))
}
