//! Long threads with many branches, as the engine would have stored them.

use panelot_engine::ports::Row;
use panelot_engine::store::records::{NodePayload, Record, StoredChain, StoredNode, StoredThread};
use panelot_protocol::ids::{ConnectionId, NodeId, RunId, ThreadId};
use panelot_protocol::turn::{ModelRef, TokenUsage, UserInput};

/// When the threads were made, in milliseconds since 1970; late, so that they head the list.
const MADE_AT_MS: u64 = 4_000_000_000_000;

/// A thread: a path of questions and answers in turn, and single questions with an answer beside some of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongThread {
    title: String,
    /// Nodes of the path that is shown.
    path: u64,
    branches: u64,
}

impl LongThread {
    /// A thread with this many nodes in all, two for each branch. The last branch point is the last question.
    pub fn new(title: &str, nodes: u64, branches: u64) -> Self {
        assert!(
            nodes.is_multiple_of(2) && nodes >= 4 * branches + 4,
            "{nodes} nodes for {branches} branches"
        );
        Self { title: title.to_owned(), path: nodes - 2 * branches, branches }
    }

    /// Its id.
    pub fn id(&self) -> ThreadId {
        ThreadId::new(format!("long-{}", self.path + 2 * self.branches))
    }

    /// The text of the last answer of the shown path begins so.
    pub fn last_answer(&self) -> String {
        format!("Answer {}:", self.path - 1)
    }

    /// The text of the answer in the last branch that is not shown begins so; it takes the place of [`Self::last_answer`].
    pub fn other_answer(&self) -> String {
        format!("Answer {}:", self.path + 2 * self.branches - 1)
    }

    /// The question of the last branch that is not shown.
    pub fn other_question_id(&self) -> NodeId {
        self.node_id(self.path + 2 * self.branches - 2)
    }

    fn node_id(&self, number: u64) -> NodeId {
        NodeId::new(format!("{}-{number}", self.id()))
    }

    /// All its rows.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.put_chain(&mut rows, None, 0, 0..self.path);
        for branch in 0..self.branches {
            // Evenly spread from the last question on, which stands beside the last branch; questions have even depths.
            let last = self.path / 2 - 1;
            let question = 2 * (last - (self.branches - 1 - branch) * (last / self.branches));
            let first = self.path + 2 * branch;
            self.put_chain(&mut rows, Some(question - 1), question, first..first + 2);
        }
        let thread = StoredThread {
            revision: 1,
            title: self.title.clone(),
            title_by_user: true,
            leaf_id: Some(self.node_id(self.path - 1)),
            next_seq: self.path + 2 * self.branches,
            ..StoredThread::new(self.id(), MADE_AT_MS)
        };
        rows.push(thread.to_row().unwrap());
        rows
    }

    /// Nodes with these numbers below a parent of the shown path, from a depth on.
    fn put_chain(&self, rows: &mut Vec<Row>, parent: Option<u64>, depth: u64, numbers: std::ops::Range<u64>) {
        let (first, last) = (numbers.start, numbers.end - 1);
        let mut parent_id = parent.map(|parent| self.node_id(parent));
        for number in numbers {
            let node = StoredNode {
                id: self.node_id(number),
                thread_id: self.id(),
                parent_id: parent_id.replace(self.node_id(number)),
                seq: number,
                chain_id: self.node_id(first),
                depth: depth + number - first,
                at_ms: MADE_AT_MS,
                run_id: RunId::new(format!("{}-run-{}", self.id(), number / 2)),
                tombstone: false,
                payload: payload(number),
            };
            rows.push(node.to_row().unwrap());
        }
        let chain = StoredChain {
            thread_id: self.id(),
            chain_id: self.node_id(first),
            parent: parent.map(|parent| (self.node_id(parent), self.node_id(0))),
            base_depth: depth,
            base_seq: first,
            tip_id: self.node_id(last),
            tip_depth: depth + last - first,
            tip_seq: last,
        };
        rows.push(chain.to_row().unwrap());
    }
}

fn payload(number: u64) -> NodePayload {
    if number.is_multiple_of(2) {
        let input = UserInput::text(format!("Question {number}: what stands in the table?"));
        return NodePayload::UserMessage { input, steered: false };
    }
    NodePayload::AssistantMessage {
        text: format!(
            "Answer {number}: the table has **three** rows, and `{number}` is one of them.\n\n- a\n- b"
        ),
        reasoning: None,
        provider_state: None,
        partial: false,
        call_count: 0,
        model: ModelRef { connection_id: ConnectionId::new("seeded"), model_id: "seeded".into() },
        usage: TokenUsage::default(),
        cost_usd: None,
    }
}
