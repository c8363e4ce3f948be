//! What must hold when everything has come to rest.

use crate::model::{AWAITED_TEXT, FOUND_TITLE, Model};
use crate::run::{Simulation, TAB, Wish};
use crate::user::User;
use panelot_engine::ports::{Activity, Clock, Row, Table};
use panelot_engine::store::records::{
    NodePayload, Record, RunState, StoredApproval, StoredChain, StoredDraft, StoredInteraction, StoredNode,
    StoredReceipt, StoredRun, StoredThread,
};
use panelot_engine::turn::RunPhase;
use panelot_protocol::approval::ApprovalDecision;
use panelot_protocol::content::ContentAction;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{NodeId, SubmissionId, ThreadId};
use panelot_protocol::interaction::{InteractionEnd, InteractionRequestPayload};
use panelot_protocol::item::{ItemKind, ItemStatus, ItemView};
use panelot_protocol::op::Op;
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_protocol::turn::{PermissionPolicy, TokenUsage};
use panelot_testkit::SimWorld;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How late a deadline may be noticed when only the alarm wakes the engine.
const LATE_MS_MAX: u64 = 90_000;
/// Items of a page when a thread is read to its begin.
const PAGE_ITEMS_COUNT: u32 = 7;
/// Items after which reading a thread in pages is given up.
const PAGED_ITEMS_COUNT_MAX: usize = 5_000;

fn all<R: Record>(world: &SimWorld, table: Table) -> Vec<R> {
    let read = |row: &Row| R::from_row(row).expect("every stored row can be read");
    world.store.table(table).iter().map(read).collect()
}

/// How often a text was typed into a page.
pub fn writes(world: &SimWorld, text: &str) -> usize {
    let typed =
        |action: &ContentAction| matches!(action, ContentAction::Type { text: typed, .. } if typed == text);
    world.browser.written().iter().filter(|(_, action)| typed(action)).count()
}

/// Whether a thread is deleted.
pub fn is_gone(world: &SimWorld, thread: &ThreadId) -> bool {
    !all::<StoredThread>(world, Table::Threads).iter().any(|stored| &stored.id == thread)
}

/// Whether no run is unfinished and every Op is answered.
pub fn is_at_rest(simulation: &Simulation) -> bool {
    let answered = simulation.users.iter().all(|user| user.submitted.iter().all(|sent| sent.event.is_some()));
    let runs = all::<StoredRun>(&simulation.world, Table::Runs);
    answered && runs.iter().all(|run| run.state.is_finished())
}

/// The alarm is set while a turn is under way that goes on without a page.
pub fn check_alarm(world: &SimWorld) -> Option<String> {
    let under_way = |run: &StoredRun| match &run.state {
        RunState::Preparing { .. }
        | RunState::StreamingModel { .. }
        | RunState::WaitingApproval { .. }
        | RunState::WaitingInteraction { .. }
        | RunState::ExecutingTool { .. } => true,
        RunState::Queued {}
        | RunState::PausedBudget {}
        | RunState::PausedUncertain { .. }
        | RunState::Interrupted { .. }
        | RunState::Failed { .. }
        | RunState::Completed { .. } => false,
    };
    let needed = all::<StoredRun>(world, Table::Runs).iter().any(under_way);
    (needed && !world.notifier.shown().alarm)
        .then(|| "no alarm is set although a turn is under way".to_owned())
}

/// Runs that should have gone on without a user, after time enough.
pub fn stands_still(world: &SimWorld) -> Vec<String> {
    let runs = all::<StoredRun>(world, Table::Runs);
    let threads = all::<StoredThread>(world, Table::Threads);
    let now_ms = world.scheduler.now_ms();
    let overdue = |run: &StoredRun| {
        all::<StoredApproval>(world, Table::Approvals).iter().any(|approval| {
            approval.run_id == run.id
                && approval.decision.is_none()
                && approval.request.deadline_ms.saturating_add(LATE_MS_MAX) < now_ms
        })
    };
    let waits_on = |run: &StoredRun| {
        let waits = all::<StoredInteraction>(world, Table::Interactions);
        let mut open = waits.into_iter().filter(|wait| wait.run_id == run.id && wait.end.is_none());
        open.any(|wait| {
            wait.request.deadline_ms().is_some_and(|at_ms| at_ms.saturating_add(LATE_MS_MAX) < now_ms)
        })
    };
    let is_held = |run: &StoredRun| {
        threads.iter().any(|thread| thread.id == run.thread_id && thread.queue_held)
            || runs.iter().any(|other| {
                other.thread_id == run.thread_id
                    && (RunPhase::of(&other.state).is_busy()
                        || matches!(other.state, RunState::PausedBudget {}))
            })
    };
    let stands = |run: &&StoredRun| match &run.state {
        RunState::Preparing { .. } | RunState::StreamingModel { .. } | RunState::ExecutingTool { .. } => true,
        RunState::WaitingApproval { .. } => overdue(run),
        RunState::WaitingInteraction { .. } => waits_on(run),
        RunState::Queued {} => !is_held(run),
        RunState::PausedBudget {}
        | RunState::PausedUncertain { .. }
        | RunState::Interrupted { .. }
        | RunState::Failed { .. }
        | RunState::Completed { .. } => false,
    };
    let standing = runs.iter().filter(stands);
    standing.map(|run| format!("{} stands still without a page: {:?}", run.id, run.state)).collect()
}

/// Waits for a text that the page has shown for a while.
pub fn unseen(world: &SimWorld) -> Vec<String> {
    if !world.browser.shows(TAB, AWAITED_TEXT) {
        return Vec::new();
    }
    let waits = all::<StoredInteraction>(world, Table::Interactions).into_iter();
    let watches = waits.filter(|wait| {
        wait.end.is_none() && matches!(wait.request, InteractionRequestPayload::WatchPage { .. })
    });
    watches.map(|wait| format!("{} goes on although the page shows what it waits for", wait.id)).collect()
}

/// An answer on its way that shows what no answer of the model begins with: pieces that came twice, or two answers.
pub fn unsaid(model: &Model, shown: &ThreadSnapshot) -> Option<String> {
    let mut running = shown
        .items
        .iter()
        .filter(|item| item.kind == ItemKind::AssistantMessage && item.status == ItemStatus::Running);
    running
        .find(|item| !model.began(&item.text))
        .map(|item| format!("a page shows {:?}, with which no answer begins", item.text))
}

/// Everything that does not hold.
pub fn check(simulation: &mut Simulation) -> Vec<String> {
    let mut problems = simulation.model.violations();
    problems.append(&mut simulation.observed);
    problems.extend(simulation.users.iter_mut().flat_map(|user| std::mem::take(&mut user.observed)));
    if is_at_rest(simulation) {
        leftovers(simulation, &mut problems);
    }
    answers(simulation, &mut problems);
    inputs(simulation, &mut problems);
    places(simulation, &mut problems);
    decisions(simulation, &mut problems);
    permissions(simulation, &mut problems);
    remains(&simulation.world, &mut problems);
    single_writes(simulation, &mut problems);
    whole_answers(simulation, &mut problems);
    queue_order(simulation, &mut problems);
    trees(&simulation.world, &mut problems);
    sums(&simulation.world, &mut problems);
    receipts(&simulation.world, &mut problems);
    titles(&simulation.world, &mut problems);
    waits(simulation, &mut problems);
    budgets(simulation, &mut problems);
    views(simulation, &mut problems);
    pages(simulation, &mut problems);
    problems.extend(simulation.users.iter().flat_map(User::badly_answered));
    if !simulation.past.two_workers && simulation.users.iter().any(|user| user.untold) {
        problems.push("a page was not told of a revision".to_owned());
    }
    problems.extend(simulation.users.iter_mut().flat_map(|user| std::mem::take(&mut user.observed)));
    problems.extend(simulation.watch.take());
    problems
}

/// At rest nothing is left of what was under way.
fn leftovers(simulation: &Simulation, problems: &mut Vec<String>) {
    let world = &simulation.world;
    let shown = world.notifier.shown();
    if !simulation.past.two_workers && shown.alarm {
        problems.push("the alarm is set although everything is done".to_owned());
    }
    if !simulation.past.two_workers && shown.activity != Activity::Idle {
        problems.push(format!("the badge shows {:?} although everything is done", shown.activity));
    }
    for draft in all::<StoredDraft>(world, Table::Drafts) {
        problems.push(format!("a draft of {} is left", draft.run_id));
    }
    for approval in all::<StoredApproval>(world, Table::Approvals) {
        if approval.decision.is_none() {
            problems.push(format!("{} was never decided", approval.id));
        }
    }
    for wait in all::<StoredInteraction>(world, Table::Interactions) {
        if wait.end.is_none() {
            problems.push(format!("{} never ended", wait.id));
        }
    }
    let nodes = all::<StoredNode>(world, Table::Nodes);
    let answered: BTreeSet<&NodeId> = nodes
        .iter()
        .filter_map(|node| match &node.payload {
            NodePayload::ToolResult { call_node_id, .. } => Some(call_node_id),
            _ => None,
        })
        .collect();
    for node in nodes.iter().filter(|node| matches!(node.payload, NodePayload::ToolCall { .. })) {
        if !answered.contains(&node.id) {
            problems.push(format!("the call {} has no result", node.id));
        }
    }
    for run in all::<StoredRun>(world, Table::Runs) {
        if !run.steers.is_empty() {
            problems.push(format!("{} ended with messages that nobody read", run.id));
        }
    }
}

/// An answer that is not marked as partial is all that the model said.
fn whole_answers(simulation: &Simulation, problems: &mut Vec<String>) {
    for node in all::<StoredNode>(&simulation.world, Table::Nodes) {
        if let NodePayload::AssistantMessage { text, partial: false, .. } = &node.payload
            && !simulation.model.said(text)
        {
            problems.push(format!("{text:?} is shown as a whole answer"));
        }
    }
}

/// Messages that waited in the queue of a thread came to their turn in the order of their acknowledgement.
fn queue_order(simulation: &Simulation, problems: &mut Vec<String>) {
    let nodes = all::<StoredNode>(&simulation.world, Table::Nodes);
    let runs = all::<StoredRun>(&simulation.world, Table::Runs);
    let sent = simulation.users.iter().flat_map(|user| &user.submitted);
    let acknowledged: BTreeMap<&str, u64> = sent
        .filter_map(|sent| match (&sent.op, &sent.event) {
            (
                Op::TurnEnqueue { .. },
                Some(AgentEvent::CommandAck { run_id: Some(run), revision: Some(revision), .. }),
            ) => Some((run.as_str(), *revision)),
            _ => None,
        })
        .collect();
    let mut began: Vec<(&ThreadId, u64, u64)> = runs
        .iter()
        .filter_map(|run| {
            let revision = acknowledged.get(run.id.as_str())?;
            let node = nodes.iter().find(|node| Some(&node.id) == run.user_node_id.as_ref())?;
            Some((&run.thread_id, *revision, node.seq))
        })
        .collect();
    began.sort();
    for pair in began.windows(2) {
        let [(thread, _, first), (other, _, second)] = pair else { continue };
        if thread == other && first > second {
            problems.push(format!("the queue of {thread} ran out of order: {second} before {first}"));
        }
    }
}

/// Every Op has one terminal answer for each time that it arrived, and all are the same to the letter.
fn answers(simulation: &Simulation, problems: &mut Vec<String>) {
    for user in &simulation.users {
        for sent in &user.submitted {
            let what = format!("{} {}", sent.op.command_type(), sent.op.submission_id());
            let different: BTreeSet<&String> = sent.answers.iter().collect();
            if sent.answers.len() > sent.delivered {
                let (answers, times) = (sent.answers.len(), sent.delivered);
                problems.push(format!("{what} arrived {times} times and was answered {answers} times"));
            }
            match different.len() {
                0 => problems.push(format!("{what} was never answered")),
                1 => {}
                _ => problems.push(format!("{what} has different answers: {different:?}")),
            }
        }
    }
}

/// What was added to a turn went to that turn, and a thread that began at a node knows where.
fn places(simulation: &Simulation, problems: &mut Vec<String>) {
    let threads = all::<StoredThread>(&simulation.world, Table::Threads);
    for sent in simulation.users.iter().flat_map(|user| &user.submitted) {
        match (&sent.op, &sent.event) {
            (
                Op::TurnSteer { expected_turn_id, .. },
                Some(AgentEvent::CommandAck { run_id: Some(run_id), .. }),
            ) if run_id.as_str() != expected_turn_id.as_str() => {
                problems.push(format!("a message for {expected_turn_id} went to {run_id}"));
            }
            (Op::ThreadFork { thread_id, at_node_id, .. }, Some(AgentEvent::ThreadForked { thread, .. })) => {
                let origin = Some((thread_id.clone(), at_node_id.clone()));
                let forked = threads.iter().find(|stored| stored.id == thread.thread_id);
                if forked.is_some_and(|stored| stored.forked_from != origin) {
                    problems.push(format!("{} does not know where it began", thread.thread_id));
                }
            }
            _ => {}
        }
    }
}

/// What the engine keeps of an answer to a question is what the user said.
fn decisions(simulation: &Simulation, problems: &mut Vec<String>) {
    let approvals = all::<StoredApproval>(&simulation.world, Table::Approvals);
    for sent in simulation.users.iter().flat_map(|user| &user.submitted) {
        let (Op::ApprovalResponse { approval_id, decision, .. }, Some(AgentEvent::CommandAck { .. })) =
            (&sent.op, &sent.event)
        else {
            continue;
        };
        let kept = approvals.iter().find(|approval| &approval.id == approval_id);
        if kept.is_some_and(|approval| approval.decision.as_ref() != Some(decision)) {
            problems.push(format!("the answer to {approval_id} was {decision:?}, and another one is kept"));
        }
    }
}

/// A write that was done was permitted: by its answer, by one for the whole session, by the policy of its turn, or by
/// the word of the user that it be done again.
fn permissions(simulation: &Simulation, problems: &mut Vec<String>) {
    let nodes = all::<StoredNode>(&simulation.world, Table::Nodes);
    let runs = all::<StoredRun>(&simulation.world, Table::Runs);
    let approvals = all::<StoredApproval>(&simulation.world, Table::Approvals);
    let for_session = simulation.users.iter().flat_map(|user| &user.submitted).any(|sent| {
        matches!(&sent.op, Op::ApprovalResponse { decision: ApprovalDecision::AcceptForSession {}, .. })
    });
    if for_session {
        return;
    }
    for (_, action) in simulation.world.browser.written() {
        let ContentAction::Type { text, .. } = action else { continue };
        if simulation.wishes.iter().any(|wish| wish.writes.covers(&text)) {
            continue;
        }
        let is_call = |node: &&StoredNode| matches!(&node.payload, NodePayload::ToolCall { arguments, .. } if arguments["text"] == text.as_str());
        let mut calls = nodes.iter().filter(is_call);
        let (Some(call), None) = (calls.next(), calls.next()) else { continue };
        let by_policy = runs.iter().any(|run| run.id == call.run_id && run.policy == PermissionPolicy::Auto);
        let by_answer = approvals.iter().any(|approval| {
            approval.call_node_id == call.id
                && approval.decision.as_ref().is_some_and(ApprovalDecision::accepts)
        });
        if !by_policy && !by_answer {
            problems.push(format!("{text:?} was written and nobody allowed it"));
        }
    }
}

/// A wait that was answered keeps the answer that was acknowledged, and none ends before its time by itself.
fn waits(simulation: &Simulation, problems: &mut Vec<String>) {
    let waits = all::<StoredInteraction>(&simulation.world, Table::Interactions);
    for sent in simulation.users.iter().flat_map(|user| &user.submitted) {
        let (Op::InteractionResponse { interaction_id, response, .. }, Some(AgentEvent::CommandAck { .. })) =
            (&sent.op, &sent.event)
        else {
            continue;
        };
        let end = Some(InteractionEnd::Answered { response: response.clone() });
        if waits.iter().any(|wait| &wait.id == interaction_id && wait.end != end) {
            problems
                .push(format!("the answer to {interaction_id} was {response:?}, and another end is kept"));
        }
    }
    for node in all::<StoredNode>(&simulation.world, Table::Nodes) {
        let NodePayload::InteractionResponse { interaction_id, request, end } = &node.payload else {
            continue;
        };
        let by_time = matches!(end, InteractionEnd::Expired {} | InteractionEnd::Due {});
        if by_time && request.deadline_ms().is_none_or(|at_ms| node.at_ms < at_ms) {
            problems.push(format!("{interaction_id} ended before its time"));
        }
    }
}

/// A turn uses its tokens once, and once more for each time that the user let it go on; the call that reaches the limit
/// is never cut.
fn budgets(simulation: &Simulation, problems: &mut Vec<String>) {
    /// Tokens of one call of the scripted model.
    const CALL_TOKENS: u64 = 110;
    let Some(limit) = simulation.budgets.turn_tokens else { return };
    for run in all::<StoredRun>(&simulation.world, Table::Runs) {
        let sent = simulation.users.iter().flat_map(|user| &user.submitted);
        let resumed = sent.filter(|sent| {
            matches!(&sent.op, Op::RunResume { run_id, .. } if run_id == &run.id)
                && matches!(sent.event, Some(AgentEvent::CommandAck { .. }))
        });
        let allowances = 1 + u64::try_from(resumed.count()).unwrap();
        let allowed = allowances * limit.div_ceil(CALL_TOKENS) * CALL_TOKENS;
        let used = run.usage.input + run.usage.output;
        if used > allowed {
            problems.push(format!("{} used {used} tokens, {allowed} at most were allowed", run.id));
        }
    }
}

/// A thread that was deleted leaves nothing behind.
fn remains(world: &SimWorld, problems: &mut Vec<String>) {
    let threads: BTreeSet<ThreadId> =
        all::<StoredThread>(world, Table::Threads).into_iter().map(|thread| thread.id).collect();
    let runs = all::<StoredRun>(world, Table::Runs);
    let of_rows = all::<StoredNode>(world, Table::Nodes).into_iter().map(|node| node.thread_id);
    let of_rows =
        of_rows.chain(all::<StoredChain>(world, Table::Chains).into_iter().map(|chain| chain.thread_id));
    let of_rows = of_rows.chain(runs.iter().map(|run| run.thread_id.clone()));
    let of_rows = of_rows
        .chain(all::<StoredApproval>(world, Table::Approvals).into_iter().map(|approval| approval.thread_id));
    let of_waits = all::<StoredInteraction>(world, Table::Interactions).into_iter();
    let of_rows = of_rows.chain(of_waits.map(|wait| wait.thread_id));
    let gone: BTreeSet<ThreadId> = of_rows.filter(|thread| !threads.contains(thread)).collect();
    for thread in gone {
        problems.push(format!("{thread} is deleted and something of it is left"));
    }
}

/// An acknowledged message is in the tree, unless the user removed it.
fn inputs(simulation: &Simulation, problems: &mut Vec<String>) {
    let nodes = all::<StoredNode>(&simulation.world, Table::Nodes);
    let spoken: BTreeSet<&str> = nodes
        .iter()
        .filter_map(|node| match &node.payload {
            NodePayload::UserMessage { input, .. } => Some(input.text.as_str()),
            _ => None,
        })
        .collect();
    for text in simulation.misused.iter().filter(|text| spoken.contains(text.as_str())) {
        problems.push(format!("{text:?} was sent under a number that was used before, and was taken"));
    }
    let sent = || simulation.users.iter().flat_map(|user| &user.submitted);
    let mut replaced: BTreeSet<String> = BTreeSet::new();
    for sent in sent() {
        if let (
            Op::QueueUpdate { run_id, .. } | Op::QueueRemove { run_id, .. },
            Some(AgentEvent::CommandAck { .. }),
        ) = (&sent.op, &sent.event)
        {
            replaced.insert(run_id.to_string());
        }
    }
    for sent in sent() {
        let Some(AgentEvent::CommandAck { run_id, .. }) = &sent.event else { continue };
        let (thread_id, input) = match &sent.op {
            Op::TurnSubmit { thread_id, input, .. }
            | Op::TurnEnqueue { thread_id, input, .. }
            | Op::TurnSteer { thread_id, input, .. } => (thread_id, input),
            _ => continue,
        };
        let removed = run_id.as_ref().is_some_and(|run| replaced.contains(run.as_str()));
        if removed || is_gone(&simulation.world, thread_id) || spoken.contains(input.text.as_str()) {
            continue;
        }
        problems.push(format!("{} was acknowledged, but {:?} is lost", sent.op.command_type(), input.text));
    }
}

/// A write is done once, and once more for each time that the user asked for it.
fn single_writes(simulation: &Simulation, problems: &mut Vec<String>) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for (_, action) in simulation.world.browser.written() {
        if let ContentAction::Type { text, .. } = action {
            *count.entry(text).or_default() += 1;
        }
    }
    let sent = simulation.users.iter().flat_map(|user| &user.submitted);
    let taken_on: BTreeSet<&SubmissionId> = sent
        .filter(|sent| matches!(sent.event, Some(AgentEvent::CommandAck { .. })))
        .map(|sent| sent.op.submission_id())
        .collect();
    for (text, count) in count {
        let granted = |wish: &&Wish| wish.writes.covers(&text) && taken_on.contains(&wish.submission);
        let allowed = 1 + simulation.wishes.iter().filter(granted).count();
        if count > allowed {
            problems.push(format!("{text:?} was written {count} times, {allowed} at most was right"));
        }
    }
}

/// Nodes form trees: numbers are used once, parents exist, depths and chains agree, each call has one result.
fn trees(world: &SimWorld, problems: &mut Vec<String>) {
    let nodes = all::<StoredNode>(world, Table::Nodes);
    let by_id: BTreeMap<&NodeId, &StoredNode> = nodes.iter().map(|node| (&node.id, node)).collect();
    let mut numbers = BTreeSet::new();
    let mut results = BTreeSet::new();
    for node in &nodes {
        if !numbers.insert((&node.thread_id, node.seq)) {
            problems.push(format!("the number {} is used twice in {}", node.seq, node.thread_id));
        }
        let parent = node.parent_id.as_ref().map(|id| by_id.get(id));
        let legal = match parent {
            None => node.depth == 0,
            Some(None) => false,
            Some(Some(parent)) => {
                parent.thread_id == node.thread_id && parent.depth + 1 == node.depth && parent.seq < node.seq
            }
        };
        if !legal {
            problems.push(format!("the node {} does not stand below its parent", node.id));
        }
        if let NodePayload::ToolResult { call_node_id, .. } = &node.payload
            && !results.insert(call_node_id)
        {
            problems.push(format!("the call {call_node_id} has two results"));
        }
    }
    for chain in all::<StoredChain>(world, Table::Chains) {
        let tip = by_id.get(&chain.tip_id);
        let sound = tip.is_some_and(|tip| {
            tip.chain_id == chain.chain_id && tip.depth == chain.tip_depth && tip.seq == chain.tip_seq
        });
        if !sound {
            problems.push(format!("the chain {} does not end where it says", chain.chain_id));
        }
    }
    for thread in all::<StoredThread>(world, Table::Threads) {
        let leaf = thread.leaf_id.as_ref();
        if leaf.is_some_and(|leaf| !by_id.contains_key(leaf)) {
            problems.push(format!("the leaf of {} does not exist", thread.id));
        }
        let last = nodes.iter().filter(|node| node.thread_id == thread.id).map(|node| node.seq).max();
        if last.is_some_and(|last| last >= thread.next_seq) {
            problems.push(format!("{} would use a number again", thread.id));
        }
    }
}

/// A thread's figures are those of its nodes and of the tries to find it a title.
fn sums(world: &SimWorld, problems: &mut Vec<String>) {
    let nodes = all::<StoredNode>(world, Table::Nodes);
    for thread in all::<StoredThread>(world, Table::Threads) {
        let own = || nodes.iter().filter(|node| node.thread_id == thread.id);
        let turns = own().filter(|node| matches!(node.payload, NodePayload::TurnContext { .. })).count();
        if thread.stats.turns as usize != turns {
            problems.push(format!("{} counts {} turns of {turns}", thread.id, thread.stats.turns));
        }
        let usage = own().fold(TokenUsage::default(), |sum, node| match &node.payload {
            NodePayload::AssistantMessage { usage, .. } => sum.plus(*usage),
            _ => sum,
        });
        // A title is no node: what it used is in the thread's figures alone, for one try or two.
        let one_title = TokenUsage { input: 100, output: 10, ..TokenUsage::default() };
        let with_titles = [usage, usage.plus(one_title), usage.plus(one_title).plus(one_title)];
        if !with_titles.contains(&thread.stats.usage) {
            problems.push(format!("{} counts {:?} of {usage:?}", thread.id, thread.stats.usage));
        }
    }
}

/// A thread that was spoken in has a title: the user's own if there is one, else one that was found, else a first line.
fn titles(world: &SimWorld, problems: &mut Vec<String>) {
    for thread in all::<StoredThread>(world, Table::Threads) {
        let title = thread.title.as_str();
        let by_user = title.starts_with("Title ");
        let right = match thread.title_by_user {
            true => by_user,
            false => title == FOUND_TITLE || title.starts_with("task ") || thread.leaf_id.is_none(),
        };
        if !right {
            problems.push(format!("{} is called {title:?}, by user: {}", thread.id, thread.title_by_user));
        }
    }
}

/// No receipt is left in progress.
fn receipts(world: &SimWorld, problems: &mut Vec<String>) {
    for receipt in all::<StoredReceipt>(world, Table::Receipts) {
        if receipt.answer.is_none() {
            problems.push(format!("{} is in progress for ever", receipt.submission_id));
        }
    }
}

/// What a page shows by events is what a page gets that connects now.
fn views(simulation: &mut Simulation, problems: &mut Vec<String>) {
    simulation.catch_up();
    for number in 0..simulation.users.len() {
        let Some(view) = simulation.users[number].view.clone() else { continue };
        let Some(fresh) = simulation.fresh_snapshot(view.thread_id()) else {
            problems.push(format!("{} cannot be opened any more", view.thread_id()));
            continue;
        };
        let open = all::<StoredInteraction>(&simulation.world, Table::Interactions);
        let open = open.iter().filter(|wait| wait.thread_id == *view.thread_id() && wait.end.is_none());
        let open: BTreeSet<_> = open.map(|wait| (wait.id.clone(), wait.request.deadline_ms())).collect();
        let shown = fresh.interactions.iter();
        let shown: BTreeSet<_> =
            shown.map(|wait| (wait.interaction_id.clone(), wait.request.deadline_ms())).collect();
        if open != shown {
            problems.push(format!("page {number} is shown the waits {shown:?} and not {open:?}"));
        }
        let mut folded = view.snapshot.clone();
        // A page may hold more of the past than a fresh one.
        let extra = folded.items.len().saturating_sub(fresh.items.len());
        folded.items.drain(..extra);
        folded.older_than.clone_from(&fresh.older_than);
        folded.cursor.clone_from(&fresh.cursor);
        for difference in differences(&folded, &fresh) {
            problems.push(format!("page {number} shows something else than the engine: {difference}"));
        }
    }
}

/// A thread that is read page by page is the same as its snapshot, and the list has every thread once.
fn pages(simulation: &mut Simulation, problems: &mut Vec<String>) {
    for thread_id in simulation.threads.clone() {
        if is_gone(&simulation.world, &thread_id) {
            continue;
        }
        let Some(fresh) = simulation.fresh_snapshot(&thread_id) else { continue };
        let mut paged: Vec<ItemView> = Vec::new();
        let mut before_node_id = None;
        loop {
            let submission_id = simulation.submission();
            let thread_id = thread_id.clone();
            let op = Op::ThreadItems { submission_id, thread_id, before_node_id, limit: PAGE_ITEMS_COUNT };
            let Some(AgentEvent::ThreadItemsPage { items, older_than, .. }) = simulation.answer_to(&op)
            else {
                problems.push("a page of items was not answered".to_owned());
                return;
            };
            paged.splice(0..0, items);
            before_node_id = older_than;
            if before_node_id.is_none() || paged.len() > PAGED_ITEMS_COUNT_MAX {
                break;
            }
        }
        paged.drain(..paged.len().saturating_sub(fresh.items.len()));
        let as_json = |items: &[ItemView]| serde_json::to_value(items).expect("items have a JSON form");
        let mut found = Vec::new();
        compare("items", &as_json(&paged), &as_json(&fresh.items), &mut found);
        if let Some(difference) = found.into_iter().next() {
            problems.push(format!("{thread_id} is another one when it is read in pages: {difference}"));
        }
    }
    let op =
        Op::ThreadList { submission_id: simulation.submission(), cursor: None, query: None, archived: None };
    if let Some(AgentEvent::ThreadListed { threads, .. }) = simulation.answer_to(&op) {
        let mut listed: Vec<ThreadId> = threads.into_iter().map(|entry| entry.thread.thread_id).collect();
        listed.sort();
        let stored = all::<StoredThread>(&simulation.world, Table::Threads);
        let mut there: Vec<ThreadId> = stored.into_iter().map(|thread| thread.id).collect();
        there.sort();
        if listed != there {
            problems.push(format!("the list has {listed:?} and not {there:?}"));
        }
    } else {
        problems.push("the list of threads was not answered".to_owned());
    }
}

/// Where two snapshots differ, as short as it can be said: by the names of their fields.
fn differences(page: &ThreadSnapshot, engine: &ThreadSnapshot) -> Vec<String> {
    let as_json = |snapshot| serde_json::to_value(snapshot).expect("a snapshot has a JSON form");
    let mut found = Vec::new();
    compare("", &as_json(page), &as_json(engine), &mut found);
    found
}

/// Goes down where both sides have the same shape; `place` names the field.
fn compare(place: &str, page: &Value, engine: &Value, found: &mut Vec<String>) {
    match (page, engine) {
        (Value::Object(here), Value::Object(there)) => {
            let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
            for name in names {
                let field =
                    |side: &serde_json::Map<String, Value>| side.get(name).cloned().unwrap_or_default();
                compare(&format!("{place}.{name}"), &field(here), &field(there), found);
            }
        }
        (Value::Array(here), Value::Array(there)) if here.len() == there.len() => {
            for (at, (one, other)) in here.iter().zip(there).enumerate() {
                compare(&format!("{place}[{at}]"), one, other, found);
            }
        }
        _ if page == engine => {}
        _ => found.push(format!("{place}: {} and not {}", brief(page), brief(engine))),
    }
}

/// A value in short: of a list of items their kinds and ids.
fn brief(value: &Value) -> String {
    let Value::Array(entries) = value else { return value.to_string() };
    let entry = |entry: &Value| match (&entry["kind"], &entry["itemId"]) {
        (Value::String(kind), Value::String(id)) => format!("{kind} {}", id.get(..13).unwrap_or(id)),
        _ => entry.to_string(),
    };
    format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
}
