//! The tree by chains, held against a tree that knows every node.

use super::records::{NodePayload, StoredNode, StoredThread};
use super::tree::{NewNode, Position, Tree};
use crate::store::repo;
use crate::store::{CommitBuilder, MemoryStore};
use futures::executor::block_on;
use panelot_protocol::ids::{NodeId, RunId, ThreadId};
use panelot_protocol::turn::PermissionPolicy;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn empty_thread() -> StoredThread {
    StoredThread { revision: 0, ..StoredThread::new(ThreadId::from("t"), 1) }
}

fn context(id: String) -> NewNode {
    NewNode {
        id: NodeId::new(id),
        payload: NodePayload::TurnContext { policy: PermissionPolicy::Untrusted, model: None },
    }
}

/// A tree grown by a list of choices: each names the node (or the root) under which the next one goes.
struct Grown {
    thread: StoredThread,
    tree: Tree,
    nodes: Vec<StoredNode>,
    store: MemoryStore,
}

fn grow(choices: &[usize]) -> Grown {
    let mut grown = Grown {
        thread: empty_thread(),
        tree: Tree::default(),
        nodes: Vec::new(),
        store: MemoryStore::default(),
    };
    for (number, choice) in choices.iter().enumerate() {
        let parent = match choice % (grown.nodes.len() + 1) {
            0 => None,
            place => Some(Position::from(&grown.nodes[place - 1])),
        };
        let new = vec![context(format!("n{number}"))];
        let appended = grown.tree.append(&mut grown.thread, parent.as_ref(), &RunId::from("r"), 5, new);
        let mut commit = CommitBuilder::new();
        commit.put_all(&appended.nodes).put_all(&appended.chains);
        grown
            .store
            .commit_now(&commit.build().expect("records have a JSON form"))
            .expect("nothing is expected");
        grown.nodes.extend(appended.nodes);
    }
    grown
}

impl Grown {
    fn path_by_parents(&self, leaf: &NodeId) -> Vec<NodeId> {
        let by_id: BTreeMap<&NodeId, &StoredNode> = self.nodes.iter().map(|node| (&node.id, node)).collect();
        let mut path = Vec::new();
        let mut next = Some(leaf);
        while let Some(id) = next {
            path.push(id.clone());
            next = by_id[id].parent_id.as_ref();
        }
        path.reverse();
        path
    }

    fn newest_below(&self, of: &NodeId) -> NodeId {
        let below = self.nodes.iter().filter(|node| self.path_by_parents(&node.id).contains(of));
        below.max_by_key(|node| node.seq).expect("a node is below itself").id.clone()
    }

    fn siblings_by_parent(&self, of: &StoredNode) -> Vec<NodeId> {
        let with = self.nodes.iter().filter(|node| node.parent_id == of.parent_id);
        with.map(|node| node.id.clone()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_path_read_by_chains_is_the_path_by_parents(
        choices in prop::collection::vec(0usize..40, 1..40),
        count in 1u64..50,
        before in 0u64..60,
    ) {
        let grown = grow(&choices);
        for node in &grown.nodes {
            let leaf = Position::from(node);
            let page = block_on(repo::path_page(&grown.store, &grown.tree, &leaf, before, count)).expect("sound");
            let ids: Vec<NodeId> = page.nodes.iter().map(|node| node.id.clone()).collect();
            let path = grown.path_by_parents(&node.id);
            let end = path.len().min(before as usize);
            let start = end.saturating_sub(count as usize);
            prop_assert_eq!(&ids, &path[start..end]);
            prop_assert_eq!(page.more_before, start > 0);
        }
    }

    #[test]
    fn the_newest_descendant_by_chains_is_the_newest_below(choices in prop::collection::vec(0usize..40, 1..40)) {
        let grown = grow(&choices);
        for node in &grown.nodes {
            let found = grown.tree.newest_descendant(&Position::from(node)).map(|position| position.node_id);
            prop_assert_eq!(found, Some(grown.newest_below(&node.id)));
        }
    }

    #[test]
    fn siblings_by_chains_are_the_children_of_the_parent_in_their_order(
        choices in prop::collection::vec(0usize..40, 1..40),
    ) {
        let grown = grow(&choices);
        for node in &grown.nodes {
            let siblings = grown.tree.siblings(&Position::from(node), node.parent_id.as_ref());
            let mut all = siblings.known;
            if let Some(place) = siblings.unread_first {
                let read = block_on(repo::nodes_at(&grown.store, &[place])).expect("sound");
                all.insert(0, read[0].clone().expect("the first child continues its parent's chain").id);
            }
            prop_assert_eq!(all, grown.siblings_by_parent(node));
        }
    }

    #[test]
    fn numbers_never_repeat_and_the_leaf_is_the_last_node(choices in prop::collection::vec(0usize..40, 1..40)) {
        let grown = grow(&choices);
        let seqs: Vec<u64> = grown.nodes.iter().map(|node| node.seq).collect();
        prop_assert_eq!(seqs, (0..choices.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(grown.thread.leaf_id, grown.nodes.last().map(|node| node.id.clone()));
    }
}

#[test]
fn a_cycle_of_chains_has_no_path_and_the_newest_sound_tip_is_elsewhere() {
    let grown = grow(&[0, 1, 1, 2]);
    let mut chains: Vec<_> = grown.tree.chains().cloned().collect();
    for chain in &mut chains {
        if chain.parent.is_some() {
            chain.parent = Some((chain.chain_id.clone(), chain.chain_id.clone()));
        }
    }
    let damaged = Tree::new(chains);
    let fork = damaged.chains().find(|chain| chain.parent.is_some()).expect("one fork").clone();
    let tip = damaged.tip(&fork.tip_id).expect("a tip");
    assert_eq!(damaged.segments(&tip), None);
    let sound = damaged.newest_sound_tip().expect("the root's chain is sound");
    assert_ne!(sound.chain_id, fork.chain_id);
}

#[test]
fn a_path_of_ten_thousand_nodes_with_two_hundred_forks_is_opened_with_one_read() {
    let mut thread = empty_thread();
    let mut tree = Tree::default();
    let mut leaf: Option<Position> = None;
    for number in 0..10_000u64 {
        if number % 50 == 49 {
            // A side branch that is left again: the main path goes on as a chain of its own.
            let mut aside = thread.clone();
            let appended = tree.append(
                &mut aside,
                leaf.as_ref(),
                &RunId::from("r"),
                5,
                vec![context(format!("s{number}"))],
            );
            thread.next_seq = aside.next_seq;
            drop(appended);
        }
        let new = vec![context(format!("n{number}"))];
        let appended = tree.append(&mut thread, leaf.as_ref(), &RunId::from("r"), 5, new);
        leaf = appended.nodes.last().map(Position::from);
    }
    let segments = tree.segments(&leaf.expect("a leaf")).expect("sound");
    assert_eq!(segments.len(), 201);
    assert_eq!(Tree::window(&segments, 10_000, 200).len(), 5);
}
