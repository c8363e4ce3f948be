//! The shape of a thread's tree, known from its chains alone: appending, paths, siblings, newest descendants.

use super::records::{NodePayload, StoredChain, StoredNode, StoredThread};
use crate::mutants::mutant;
use panelot_protocol::ids::{NodeId, RunId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Where a node stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The node.
    pub node_id: NodeId,
    /// Its chain.
    pub chain_id: NodeId,
    /// How many nodes come before it on its path.
    pub depth: u64,
}

impl From<&StoredNode> for Position {
    fn from(node: &StoredNode) -> Self {
        Self { node_id: node.id.clone(), chain_id: node.chain_id.clone(), depth: node.depth }
    }
}

/// A stretch of a path inside one chain; both ends are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The chain.
    pub chain_id: NodeId,
    /// The depth nearest to the root.
    pub from_depth: u64,
    /// The depth nearest to the leaf.
    pub to_depth: u64,
}

/// What an append writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The new nodes in their order.
    pub nodes: Vec<StoredNode>,
    /// The chains that are new or longer.
    pub chains: Vec<StoredChain>,
}

/// A node that is to be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNode {
    /// Its id.
    pub id: NodeId,
    /// What it holds.
    pub payload: NodePayload,
}

/// The siblings of a node, itself included, in the order of making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Siblings {
    /// A sibling whose id only a read can tell: the node at this chain and depth. It is the oldest.
    pub unread_first: Option<(NodeId, u64)>,
    /// The others.
    pub known: Vec<NodeId>,
}

/// The chains of one thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    chains: BTreeMap<NodeId, StoredChain>,
}

impl Tree {
    /// A tree of stored chains.
    pub fn new(chains: impl IntoIterator<Item = StoredChain>) -> Self {
        Self { chains: chains.into_iter().map(|chain| (chain.chain_id.clone(), chain)).collect() }
    }

    /// The chains.
    pub fn chains(&self) -> impl Iterator<Item = &StoredChain> {
        self.chains.values()
    }

    /// The position of a node that ends a chain; a thread's leaf always does.
    pub fn tip(&self, node_id: &NodeId) -> Option<Position> {
        self.chains.values().find(|chain| &chain.tip_id == node_id).map(tip_of)
    }

    /// The newest node that reaches the root: where a thread goes whose leaf is damaged.
    pub fn newest_sound_tip(&self) -> Option<Position> {
        let mut chains: Vec<&StoredChain> = self.chains.values().collect();
        chains.sort_by_key(|chain| std::cmp::Reverse(chain.tip_seq));
        chains.into_iter().map(tip_of).find(|position| self.segments(position).is_some())
    }

    /// The path from a node to the root as stretches, the leaf's first; `None` when a parent is missing or the
    /// chains form a cycle.
    pub fn segments(&self, leaf: &Position) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        let mut visited = BTreeSet::new();
        let (mut chain_id, mut to_depth) = (leaf.chain_id.clone(), leaf.depth);
        loop {
            let chain = self.chains.get(&chain_id)?;
            if !visited.insert(chain_id.clone()) || to_depth < chain.base_depth || to_depth > chain.tip_depth
            {
                return None;
            }
            segments.push(Segment { chain_id: chain_id.clone(), from_depth: chain.base_depth, to_depth });
            let Some((_, parent_chain)) = &chain.parent else {
                return (chain.base_depth == 0).then_some(segments);
            };
            to_depth = chain.base_depth.checked_sub(1)?;
            chain_id = parent_chain.clone();
        }
    }

    /// Of a path, the stretches that hold the `count` nodes before `depth` (exclusive), the leaf's first.
    pub fn window(segments: &[Segment], before_depth: u64, count: u64) -> Vec<Segment> {
        let lowest = before_depth.saturating_sub(count);
        let mut window = Vec::new();
        for segment in segments {
            let Some(last) = before_depth.checked_sub(1) else { break };
            let (from, to) = (segment.from_depth.max(lowest), segment.to_depth.min(last));
            if from <= to && segment.to_depth >= lowest {
                window.push(Segment { chain_id: segment.chain_id.clone(), from_depth: from, to_depth: to });
            }
        }
        window
    }

    /// The newest node at or below a node.
    pub fn newest_descendant(&self, of: &Position) -> Option<Position> {
        let mut by_seq: Vec<&StoredChain> = self.chains.values().collect();
        by_seq.sort_by_key(|chain| chain.base_seq);
        let mut below: BTreeMap<&NodeId, u64> = BTreeMap::from([(&of.chain_id, of.depth)]);
        for chain in &by_seq {
            let Some((_, parent_chain)) = &chain.parent else { continue };
            let reached =
                below.get(parent_chain).is_some_and(|depth| chain.base_depth.saturating_sub(1) >= *depth);
            if reached {
                below.entry(&chain.chain_id).or_insert(chain.base_depth);
            }
        }
        let newest = by_seq.into_iter().filter(|chain| below.contains_key(&chain.chain_id));
        newest.max_by_key(|chain| chain.tip_seq).map(tip_of)
    }

    /// The siblings of a node; one alone when it has none.
    pub fn siblings(&self, of: &Position, parent_id: Option<&NodeId>) -> Siblings {
        let mut starts: Vec<&StoredChain> = self
            .chains
            .values()
            .filter(|chain| chain.parent.as_ref().map(|(node, _)| node) == parent_id)
            .collect();
        starts.sort_by_key(|chain| chain.base_seq);
        let begins_chain = of.node_id == of.chain_id;
        let mut known: Vec<NodeId> = starts.iter().map(|chain| chain.chain_id.clone()).collect();
        if !begins_chain {
            known.insert(0, of.node_id.clone());
            return Siblings { unread_first: None, known };
        }
        let own = self.chains.get(&of.chain_id);
        let parent_chain = own.and_then(|chain| chain.parent.as_ref()).map(|(_, chain)| chain.clone());
        let unread_first = parent_chain
            .filter(|chain| self.chains.get(chain).is_some_and(|chain| chain.tip_depth >= of.depth))
            .map(|chain| (chain, of.depth));
        Siblings { unread_first, known }
    }

    /// Whether a node is the last of its path so far and the first of a branch beside another.
    pub fn begins_branch(&self, position: &Position) -> bool {
        let Some(chain) = self.chains.get(&position.chain_id) else { return false };
        let alone = chain.chain_id == position.node_id && chain.tip_id == position.node_id;
        let parent = chain.parent.as_ref().map(|(parent, _)| parent);
        alone && (parent.is_some() || self.siblings(position, parent).known.len() > 1)
    }

    /// Appends nodes one below the other, the first below `parent` (`None`: a new root). Moves the thread's leaf,
    /// takes its next numbers and sets its time; the caller bumps the revision with the commit.
    pub fn append(
        &mut self,
        thread: &mut StoredThread,
        parent: Option<&Position>,
        run_id: &RunId,
        at_ms: u64,
        new: Vec<NewNode>,
    ) -> Appended {
        let mut nodes: Vec<StoredNode> = Vec::with_capacity(new.len());
        let mut touched = BTreeSet::new();
        let mut parent = parent.cloned();
        for NewNode { id, payload } in new {
            let seq = thread.next_seq;
            thread.next_seq = seq.saturating_add(1);
            let depth = parent.as_ref().map_or(0, |parent| parent.depth.saturating_add(1));
            let chain_id = self.place(&thread.id, parent.as_ref(), &id, depth, seq);
            touched.insert(chain_id.clone());
            nodes.push(StoredNode {
                id: id.clone(),
                thread_id: thread.id.clone(),
                parent_id: parent.as_ref().map(|parent| parent.node_id.clone()),
                seq,
                chain_id: chain_id.clone(),
                depth,
                at_ms,
                run_id: run_id.clone(),
                tombstone: false,
                payload,
            });
            let beside = mutant!(WrongParent) && nodes.len() == 1;
            if !beside {
                parent = Some(Position { node_id: id, chain_id, depth });
            }
        }
        if let Some(last) = nodes.last() {
            thread.leaf_id = Some(last.id.clone());
            thread.updated_at_ms = at_ms;
        }
        let chains = touched.iter().filter_map(|id| self.chains.get(id)).cloned().collect();
        Appended { nodes, chains }
    }

    /// Lengthens the parent's chain when the parent is its end, else begins a chain.
    fn place(
        &mut self,
        thread_id: &ThreadId,
        parent: Option<&Position>,
        node_id: &NodeId,
        depth: u64,
        seq: u64,
    ) -> NodeId {
        if let Some(parent) = parent
            && let Some(chain) = self.chains.get_mut(&parent.chain_id)
            && chain.tip_id == parent.node_id
        {
            chain.tip_id = node_id.clone();
            chain.tip_depth = depth;
            chain.tip_seq = seq;
            return parent.chain_id.clone();
        }
        let chain = StoredChain {
            thread_id: thread_id.clone(),
            chain_id: node_id.clone(),
            parent: parent.map(|parent| (parent.node_id.clone(), parent.chain_id.clone())),
            base_depth: depth,
            base_seq: seq,
            tip_id: node_id.clone(),
            tip_depth: depth,
            tip_seq: seq,
        };
        self.chains.insert(node_id.clone(), chain);
        node_id.clone()
    }
}

fn tip_of(chain: &StoredChain) -> Position {
    Position { node_id: chain.tip_id.clone(), chain_id: chain.chain_id.clone(), depth: chain.tip_depth }
}
