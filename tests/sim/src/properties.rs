//! What must hold when everything has come to rest.

use crate::model::FOUND_TITLE;
use crate::run::{Simulation, Wish};
use panelot_engine::ports::{Row, Table};
use panelot_engine::store::records::{
    NodePayload, Record, RunState, StoredChain, StoredNode, StoredReceipt, StoredRun, StoredThread,
};
use panelot_protocol::content::ContentAction;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{NodeId, SubmissionId, ThreadId};
use panelot_protocol::op::Op;
use panelot_protocol::snapshot::ThreadSnapshot;
use panelot_testkit::SimWorld;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// Everything that does not hold.
pub fn check(simulation: &mut Simulation) -> Vec<String> {
    let mut problems = simulation.model.violations();
    problems.append(&mut simulation.observed);
    problems.extend(simulation.users.iter_mut().flat_map(|user| std::mem::take(&mut user.observed)));
    if is_at_rest(simulation) && simulation.world.notifier.shown().alarm {
        problems.push("the alarm is set although everything is done".to_owned());
    }
    answers(simulation, &mut problems);
    inputs(simulation, &mut problems);
    single_writes(simulation, &mut problems);
    trees(&simulation.world, &mut problems);
    receipts(&simulation.world, &mut problems);
    titles(&simulation.world, &mut problems);
    views(simulation, &mut problems);
    problems
}

/// Every Op has one terminal answer; when it came twice, both are the same to the letter.
fn answers(simulation: &Simulation, problems: &mut Vec<String>) {
    for user in &simulation.users {
        for sent in &user.submitted {
            let what = format!("{} {}", sent.op.command_type(), sent.op.submission_id());
            let different: BTreeSet<&String> = sent.answers.iter().collect();
            match different.len() {
                0 => problems.push(format!("{what} was never answered")),
                1 => {}
                _ => problems.push(format!("{what} has different answers: {different:?}")),
            }
        }
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
