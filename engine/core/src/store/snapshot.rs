//! From stored nodes to what a page shows: items, metadata, snapshots.
//!
//! What is built here and what the engine's events fold to must be the same; the items' ids and fields below are the
//! contract between the two.

use super::commit::RepoError;
use super::records::{NodePayload, StoredApproval, StoredInteraction, StoredNode, StoredRun, StoredThread};
use super::repo::{self, SNAPSHOT_NODES_COUNT, ThreadState};
use super::tree::{Position, Siblings, Tree};
use crate::ports::Store;
use panelot_protocol::approval::PendingApproval;
use panelot_protocol::ids::{InteractionId, ItemId, NodeId, RunId, TurnId};
use panelot_protocol::interaction::{InteractionEnd, InteractionRequestPayload, PendingInteraction};
use panelot_protocol::item::{BranchInfo, ItemDetails, ItemKind, ItemMeta, ItemStatus, ItemView};
use panelot_protocol::limits;
use panelot_protocol::snapshot::{
    ActiveTurn, QueueView, QueuedRun, RecoveryReason, RunRecoveryState, StreamCursor, ThreadMeta,
    ThreadSnapshot,
};
use serde_json::Value;

/// Characters of arguments that an item shows; longer ones are cut to a text.
pub const DISPLAY_PARAMS_CHARS_MAX: usize = 4_000;

/// The id of the reasoning item of an assistant's node.
pub fn reasoning_item_id(node_id: &NodeId) -> ItemId {
    ItemId::new(format!("r-{node_id}"))
}

/// Arguments as an item shows them: themselves, or a cut text of them.
pub fn display_params(arguments: &Value) -> Value {
    let text = arguments.to_string();
    match text.char_indices().nth(DISPLAY_PARAMS_CHARS_MAX) {
        None => arguments.clone(),
        Some((end, _)) => Value::String(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// A thread's metadata as pages see it.
pub fn thread_meta(thread: &StoredThread) -> ThreadMeta {
    ThreadMeta {
        thread_id: thread.id.clone(),
        revision: thread.revision,
        title: thread.title.clone(),
        created_at_ms: thread.created_at_ms,
        updated_at_ms: thread.updated_at_ms,
        leaf_id: thread.leaf_id.clone(),
        pinned: thread.pinned,
        archived: thread.archived,
        preset: thread.preset.clone(),
        folder_id: thread.folder_id.clone(),
        tags: thread.tags.clone(),
        parent_thread_id: thread.forked_from.as_ref().map(|(parent, _)| parent.clone()),
        param_overrides: thread.param_overrides.clone(),
        cost_ceiling_usd: thread.cost_ceiling_usd,
        stats: thread.stats.clone(),
    }
}

/// The start of a node's item; `None` for nodes that start none.
pub fn item_of(node: &StoredNode) -> Option<ItemView> {
    let meta = ItemMeta { node_id: Some(node.id.clone()), at_ms: Some(node.at_ms), ..ItemMeta::default() };
    let item = |kind, meta, status| ItemView {
        item_id: ItemId::from(&node.id),
        turn_id: TurnId::from(&node.run_id),
        kind,
        meta,
        text: String::new(),
        tool_progress: None,
        status,
        details: None,
    };
    match &node.payload {
        NodePayload::UserMessage { input, .. } => Some(item(
            ItemKind::UserMessage,
            ItemMeta { input: Some(input.clone()), ..meta },
            ItemStatus::Done,
        )),
        NodePayload::AssistantMessage { text, partial, call_count, .. } => {
            if text.is_empty() && *call_count > 0 {
                return None;
            }
            let mut view = item(ItemKind::AssistantMessage, meta, ended(*partial));
            view.text.clone_from(text);
            view.details = partial_details(*partial);
            Some(view)
        }
        NodePayload::ToolCall { tool_name, arguments, category, label, tab_id, origin, .. } => {
            let meta = ItemMeta {
                tool_name: Some(tool_name.clone()),
                category: Some(*category),
                label: Some(label.clone()),
                params: Some(display_params(arguments)),
                tab_id: *tab_id,
                origin: origin.clone(),
                ..meta
            };
            Some(item(ItemKind::ToolCall, meta, ItemStatus::Running))
        }
        NodePayload::SystemNotice { notice, text, .. } => {
            let mut view =
                item(ItemKind::SystemNotice, ItemMeta { notice: Some(*notice), ..meta }, ItemStatus::Done);
            view.text.clone_from(text);
            Some(view)
        }
        NodePayload::ToolResult { .. }
        | NodePayload::ApprovalDecision { .. }
        | NodePayload::InteractionResponse { .. }
        | NodePayload::TurnContext { .. } => None,
    }
}

fn ended(partial: bool) -> ItemStatus {
    if partial { ItemStatus::Failed } else { ItemStatus::Done }
}

fn partial_details(partial: bool) -> Option<ItemDetails> {
    partial.then(|| ItemDetails { partial: true, ..ItemDetails::default() })
}

/// The reasoning item of an assistant's node, when it thought aloud.
pub fn reasoning_of(node: &StoredNode) -> Option<ItemView> {
    let NodePayload::AssistantMessage { reasoning: Some(reasoning), partial, text, .. } = &node.payload
    else {
        return None;
    };
    if reasoning.is_empty() {
        return None;
    }
    // Thoughts are whole once the answer itself began.
    let cut = *partial && text.is_empty();
    Some(ItemView {
        item_id: reasoning_item_id(&node.id),
        turn_id: TurnId::from(&node.run_id),
        kind: ItemKind::Reasoning,
        meta: ItemMeta { node_id: Some(node.id.clone()), at_ms: Some(node.at_ms), ..ItemMeta::default() },
        text: reasoning.clone(),
        tool_progress: None,
        status: ended(cut),
        details: partial_details(cut),
    })
}

/// The item of a question that waits or was decided.
pub fn approval_item(approval: &StoredApproval) -> ItemView {
    let request = &approval.request;
    let accepted = approval.decision.as_ref().map(panelot_protocol::approval::ApprovalDecision::accepts);
    ItemView {
        item_id: ItemId::from(&approval.id),
        turn_id: TurnId::from(&approval.run_id),
        kind: ItemKind::Approval,
        meta: ItemMeta {
            tool_name: Some(request.tool_name.clone()),
            category: Some(request.category),
            label: Some(request.label.clone()),
            tab_id: request.tab_id,
            origin: request.origin.clone(),
            ..ItemMeta::default()
        },
        text: String::new(),
        tool_progress: None,
        status: match accepted {
            None => ItemStatus::Running,
            Some(true) => ItemStatus::Done,
            Some(false) => ItemStatus::Failed,
        },
        details: approval
            .decision
            .clone()
            .map(|decision| ItemDetails { decision: Some(decision), ..ItemDetails::default() }),
    }
}

/// The item of a wait that is open or has ended.
pub fn interaction_item(
    id: &InteractionId,
    run_id: &RunId,
    request: &InteractionRequestPayload,
    end: Option<&InteractionEnd>,
) -> ItemView {
    ItemView {
        item_id: ItemId::from(id),
        turn_id: TurnId::from(run_id),
        kind: ItemKind::Interaction,
        meta: ItemMeta { interaction: Some(Box::new(request.clone())), ..ItemMeta::default() },
        text: String::new(),
        tool_progress: None,
        status: match end.map(InteractionEnd::is_good) {
            None => ItemStatus::Running,
            Some(true) => ItemStatus::Done,
            Some(false) => ItemStatus::Failed,
        },
        details: end.map(|end| ItemDetails { end: Some(end.clone()), ..ItemDetails::default() }),
    }
}

/// The item of a stored wait.
pub fn pending_item(wait: &StoredInteraction) -> ItemView {
    interaction_item(&wait.id, &wait.run_id, &wait.request, wait.end.as_ref())
}

/// The items of nodes in the order of their path. A result closes the call before it; a decision is an item of its
/// own, described by its call and by what was asked. So is the end of a wait.
pub fn items_of(nodes: &[StoredNode]) -> Vec<ItemView> {
    items_by_node(nodes).into_iter().map(|(_, item)| item).collect()
}

/// The same, each item with its node.
fn items_by_node(nodes: &[StoredNode]) -> Vec<(&StoredNode, ItemView)> {
    let mut items: Vec<(&StoredNode, ItemView)> = Vec::new();
    for node in nodes.iter().filter(|node| !node.tombstone) {
        items.extend(reasoning_of(node).into_iter().chain(item_of(node)).map(|item| (node, item)));
        match &node.payload {
            NodePayload::ToolResult { call_node_id, ok, summary, outcome, .. } => {
                let call = ItemId::from(call_node_id);
                if let Some((_, item)) = items.iter_mut().rev().find(|(_, item)| item.item_id == call) {
                    item.status = if *ok { ItemStatus::Done } else { ItemStatus::Failed };
                    item.details = Some(result_details(summary, *outcome));
                }
            }
            NodePayload::ApprovalDecision { approval_id, call_node_id, decision, asked, .. } => {
                let call = ItemId::from(call_node_id);
                let described = items.iter().rev().find(|(_, item)| item.item_id == call);
                let mut meta = described.map_or_else(ItemMeta::default, |(_, call)| ItemMeta {
                    tool_name: call.meta.tool_name.clone(),
                    category: call.meta.category,
                    label: call.meta.label.clone(),
                    tab_id: call.meta.tab_id,
                    origin: call.meta.origin.clone(),
                    ..ItemMeta::default()
                });
                if let Some(asked) = asked {
                    meta.label = Some(asked.label.clone());
                    meta.tab_id = asked.tab_id;
                    meta.origin.clone_from(&asked.origin);
                }
                let item = ItemView {
                    item_id: ItemId::from(approval_id),
                    turn_id: TurnId::from(&node.run_id),
                    kind: ItemKind::Approval,
                    meta,
                    text: String::new(),
                    tool_progress: None,
                    status: if decision.accepts() { ItemStatus::Done } else { ItemStatus::Failed },
                    details: Some(ItemDetails { decision: Some(decision.clone()), ..ItemDetails::default() }),
                };
                items.push((node, item));
            }
            NodePayload::InteractionResponse { interaction_id, request, end } => {
                items.push((node, interaction_item(interaction_id, &node.run_id, request, Some(end))));
            }
            NodePayload::UserMessage { .. }
            | NodePayload::AssistantMessage { .. }
            | NodePayload::ToolCall { .. }
            | NodePayload::TurnContext { .. }
            | NodePayload::SystemNotice { .. } => {}
        }
    }
    items
}

/// What an ended call's item says.
pub fn result_details(summary: &str, outcome: Option<panelot_protocol::item::ActionOutcome>) -> ItemDetails {
    ItemDetails { summary: Some(summary.to_owned()), outcome, ..ItemDetails::default() }
}

/// A page of items with their branches.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemsPage {
    /// The items in their order.
    pub items: Vec<ItemView>,
    /// The node before the first; `None` when the path begins here.
    pub older_than: Option<NodeId>,
}

/// Text of one page of items, in bytes: a message to a page has room for it several times over.
const PAGE_TEXT_BYTES_MAX: usize = 12 * 1024 * 1024;
/// Nodes behind a page that are looked at for what they say of its calls: results and decisions stand near them.
const PAGE_OUTLOOK_NODES_COUNT: u64 = 64;

/// The newest items before a depth of the path to `leaf`, at most `limit`, in at most two round trips. What a page
/// shows of a call does not depend on where the page ends.
///
/// # Errors
/// See [`RepoError`].
pub async fn items_page<S: Store>(
    store: &S,
    tree: &Tree,
    leaf: &Position,
    before_depth: u64,
    limit: usize,
) -> Result<ItemsPage, RepoError> {
    let outlook = PAGE_OUTLOOK_NODES_COUNT.min(u64::MAX - before_depth);
    let (until, count) = (before_depth + outlook, SNAPSHOT_NODES_COUNT + outlook);
    let page = repo::path_page(store, tree, leaf, until, count).await?;
    let mut placed = items_by_node(&page.nodes);
    placed.retain(|(node, _)| node.depth < before_depth);
    let cut = first_of_page(&placed, limit);
    let older_than = match placed.get(cut) {
        Some((node, _)) if cut > 0 || page.more_before => Some(node.id.clone()),
        None if page.more_before => page.nodes.first().map(|node| node.id.clone()),
        Some(_) | None => None,
    };
    let mut items: Vec<ItemView> = placed.drain(cut..).map(|(_, item)| item).collect();
    add_branches(store, tree, &page.nodes, &mut items).await?;
    Ok(ItemsPage { items, older_than })
}

/// Where the last `limit` items begin, or fewer when they are long. A node's items stay together when there is room for
/// any node.
fn first_of_page(placed: &[(&StoredNode, ItemView)], limit: usize) -> usize {
    let mut bytes = 0_usize;
    let fits = |(_, item): &&(&StoredNode, ItemView)| {
        bytes = bytes.saturating_add(item.text.len());
        bytes <= PAGE_TEXT_BYTES_MAX
    };
    // The last item is shown however long it is.
    let count = placed.iter().rev().take(limit).take_while(fits).count().max(1);
    let cut = placed.len().saturating_sub(count);
    let node_at = |at: usize| placed.get(at).map(|(node, _)| &node.id);
    let whole = (cut..placed.len()).find(|at| *at == 0 || node_at(*at) != node_at(at - 1));
    whole.unwrap_or(cut)
}

/// Tells each item that stands where branches part which of them it is.
async fn add_branches<S: Store>(
    store: &S,
    tree: &Tree,
    nodes: &[StoredNode],
    items: &mut [ItemView],
) -> Result<(), RepoError> {
    let mut parted: Vec<(&StoredNode, Siblings)> = Vec::new();
    for node in nodes {
        let siblings = tree.siblings(&Position::from(node), node.parent_id.as_ref());
        if siblings.known.len() > 1 || siblings.unread_first.is_some() {
            parted.push((node, siblings));
        }
    }
    let places: Vec<(NodeId, u64)> =
        parted.iter().filter_map(|(_, siblings)| siblings.unread_first.clone()).collect();
    let mut read = repo::nodes_at(store, &places).await?.into_iter();
    for (node, siblings) in parted {
        let mut all = siblings.known;
        if siblings.unread_first.is_some()
            && let Some(first) = read.next().flatten()
        {
            all.insert(0, first.id);
        }
        let Some(branch) = branch_of(&node.id, &all) else { continue };
        // The message of a turn stands below its context: the branch shows at the first item after the fork. A node
        // with an item of its own shows it there or, on another page, nowhere.
        let has_item = !node.tombstone && (reasoning_of(node).is_some() || item_of(node).is_some());
        let shown = items.iter_mut().find(|item| {
            item.meta.node_id.as_ref().is_some_and(|id| {
                let is_below =
                    |other: &StoredNode| &other.id == id && other.parent_id.as_ref() == Some(&node.id);
                id == &node.id || (!has_item && nodes.iter().any(is_below))
            })
        });
        if let Some(item) = shown {
            item.meta.branch = Some(branch);
        }
    }
    Ok(())
}

fn branch_of(node_id: &NodeId, all: &[NodeId]) -> Option<BranchInfo> {
    let index = all.iter().position(|id| id == node_id)?;
    Some(BranchInfo {
        index: u32::try_from(index).ok()?,
        count: u32::try_from(all.len()).ok()?,
        previous: index.checked_sub(1).and_then(|before| all.get(before)).cloned(),
        next: all.get(index.saturating_add(1)).cloned(),
    })
}

/// What only the running engine knows of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveState {
    /// The turn that runs.
    pub active_turn: Option<ActiveTurn>,
    /// Items that are not stored yet, with their text so far.
    pub items: Vec<ItemView>,
    /// Where the thread's stream stands.
    pub cursor: StreamCursor,
}

/// A thread's snapshot: what is stored and what runs.
///
/// # Errors
/// See [`RepoError`].
pub async fn thread_snapshot<S: Store>(
    store: &S,
    state: &ThreadState,
    live: LiveState,
) -> Result<ThreadSnapshot, RepoError> {
    let limit = usize::try_from(limits::SNAPSHOT_ITEMS_COUNT_MAX).unwrap_or(usize::MAX);
    let page = match state.leaf() {
        Some(leaf) => items_page(store, &state.tree, &leaf, u64::MAX, limit).await?,
        None => ItemsPage { items: Vec::new(), older_than: None },
    };
    let mut items = page.items;
    items.extend(state.approvals.iter().map(approval_item));
    items.extend(state.interactions.iter().map(pending_item));
    items.extend(live.items);
    Ok(ThreadSnapshot {
        thread: thread_meta(&state.thread),
        items,
        older_than: page.older_than,
        active_turn: live.active_turn,
        approvals: state.approvals.iter().map(pending_approval).collect(),
        interactions: state
            .interactions
            .iter()
            .map(|interaction| PendingInteraction {
                interaction_id: interaction.id.clone(),
                turn_id: TurnId::from(&interaction.run_id),
                request: interaction.request.clone(),
            })
            .collect(),
        queue: queue_view(state),
        recoverable: state.runs.iter().filter_map(recovery_of).collect(),
        cursor: live.cursor,
    })
}

/// What a run that does not go on by itself needs; `None` for one that goes on or is finished.
pub fn recovery_of(run: &StoredRun) -> Option<RunRecoveryState> {
    let reason = run.recovery?;
    Some(RunRecoveryState {
        run_id: run.id.clone(),
        turn_id: TurnId::from(&run.id),
        reason,
        pending_tool: match reason {
            RecoveryReason::UncertainWrite => run.pending_tool.clone(),
            RecoveryReason::Interrupted
            | RecoveryReason::BudgetPaused
            | RecoveryReason::EnvironmentChanged => None,
        },
        revision: run.revision,
    })
}

/// A question as a snapshot carries it.
pub fn pending_approval(approval: &StoredApproval) -> PendingApproval {
    PendingApproval {
        approval_id: approval.id.clone(),
        turn_id: TurnId::from(&approval.run_id),
        request: approval.request.clone(),
    }
}

/// The runs that wait, as pages see them.
pub fn queue_view(state: &ThreadState) -> QueueView {
    let queued = state.runs.iter().filter(|run| run.state.is_queued());
    QueueView {
        runs: queued
            .map(|run| QueuedRun {
                run_id: run.id.clone(),
                input: run.input.clone(),
                overrides: run.overrides.clone(),
                revision: run.revision,
            })
            .collect(),
        held: state.thread.queue_held,
    }
}
