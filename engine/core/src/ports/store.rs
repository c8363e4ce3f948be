//! The database: rows in tables, read by key or index, written by commits that hold whole or not at all.
//!
//! A row's body is a JSON text; what the database must compare stands beside it, so that no implementation looks into
//! a body and every implementation agrees.

use std::future::Future;
use thiserror::Error;

/// Tables, one per kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Threads by id.
    Threads,
    /// Nodes by id.
    Nodes,
    /// Chains (unbranched stretches of a thread's tree) by `[thread, chain]`.
    Chains,
    /// Runs by id.
    Runs,
    /// Receipts by identity.
    Receipts,
    /// Approvals by id.
    Approvals,
    /// Interactions by id.
    Interactions,
    /// Text so far of running answers, by run.
    Drafts,
    /// Attachments by id.
    Attachments,
    /// Single values by name.
    Meta,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 10] = [
        Self::Threads,
        Self::Nodes,
        Self::Chains,
        Self::Runs,
        Self::Receipts,
        Self::Approvals,
        Self::Interactions,
        Self::Drafts,
        Self::Attachments,
        Self::Meta,
    ];

    /// The name of its object store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Nodes => "nodes",
            Self::Chains => "chains",
            Self::Runs => "runs",
            Self::Receipts => "receipts",
            Self::Approvals => "approvals",
            Self::Interactions => "interactions",
            Self::Drafts => "drafts",
            Self::Attachments => "attachments",
            Self::Meta => "meta",
        }
    }
}

/// Ways to read a table in an order of its own. A row without a key for an index is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// Threads by `[archived, updatedAt]`.
    ThreadsByUpdated,
    /// Nodes by `[thread, seq]`.
    NodesBySeq,
    /// Nodes by `[chain, depth]`.
    NodesByChain,
    /// Runs by `[thread, created]`.
    RunsByThread,
    /// Unfinished runs by `[thread, created]`; finished ones are not in it.
    RunsUnfinished,
    /// Settled receipts by `[expiresAt]`; those in progress are not in it.
    ReceiptsByExpiry,
    /// Undecided approvals by `[thread]`.
    ApprovalsPending,
    /// All approvals by `[thread]`.
    ApprovalsByThread,
    /// Open interactions by `[thread]`.
    InteractionsPending,
    /// All interactions by `[thread]`.
    InteractionsByThread,
    /// Attachments by `[thread]`.
    AttachmentsByThread,
}

impl Index {
    /// All indexes.
    pub const ALL: [Self; 11] = [
        Self::ThreadsByUpdated,
        Self::NodesBySeq,
        Self::NodesByChain,
        Self::RunsByThread,
        Self::RunsUnfinished,
        Self::ReceiptsByExpiry,
        Self::ApprovalsPending,
        Self::ApprovalsByThread,
        Self::InteractionsPending,
        Self::InteractionsByThread,
        Self::AttachmentsByThread,
    ];

    /// The table that it orders.
    pub fn table(self) -> Table {
        match self {
            Self::ThreadsByUpdated => Table::Threads,
            Self::NodesBySeq | Self::NodesByChain => Table::Nodes,
            Self::RunsByThread | Self::RunsUnfinished => Table::Runs,
            Self::ReceiptsByExpiry => Table::Receipts,
            Self::ApprovalsPending | Self::ApprovalsByThread => Table::Approvals,
            Self::InteractionsPending | Self::InteractionsByThread => Table::Interactions,
            Self::AttachmentsByThread => Table::Attachments,
        }
    }

    /// The name of the index, and of the row's property that holds its key.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreadsByUpdated => "byUpdated",
            Self::NodesBySeq => "bySeq",
            Self::NodesByChain => "byChain",
            Self::RunsByThread | Self::ApprovalsByThread | Self::InteractionsByThread => "byThread",
            Self::AttachmentsByThread => "byThread",
            Self::RunsUnfinished => "unfinished",
            Self::ReceiptsByExpiry => "byExpiry",
            Self::ApprovalsPending | Self::InteractionsPending => "pending",
        }
    }
}

/// One part of a key. Numbers come before texts, as in IndexedDB.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyPart {
    /// A whole number up to 2^53 - 1.
    Number(u64),
    /// A text; compared by UTF-16 code units, which for the ids and names used here is the order of bytes.
    Text(String),
}

/// A key: compared part by part, a prefix before what it begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub Vec<KeyPart>);

impl Key {
    /// A key of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(vec![KeyPart::Text(text.into())])
    }

    /// The key with one more text.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.0.push(KeyPart::Text(text.into()));
        self
    }

    /// The key with one more number.
    #[must_use]
    pub fn and_number(mut self, number: u64) -> Self {
        self.0.push(KeyPart::Number(number));
        self
    }
}

/// A stored row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its table.
    pub table: Table,
    /// Its key.
    pub key: Key,
    /// Its keys in the table's indexes.
    pub index_keys: Vec<(Index, Key)>,
    /// The number that [`Expect::Revision`] compares; 0 for records without one.
    pub revision: u64,
    /// The record as a JSON text.
    pub body: String,
}

/// One read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The row under a key.
    Get {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
    },
    /// Rows of a table by key, in order.
    Scan {
        /// The table.
        table: Table,
        /// The first key.
        from: Key,
        /// The last key, inclusive.
        to: Key,
        /// Most rows.
        limit: u32,
    },
    /// Rows by an index, in order.
    Range {
        /// The index.
        index: Index,
        /// The first key.
        from: Key,
        /// The last key, inclusive.
        to: Key,
        /// From the last to the first.
        reverse: bool,
        /// Most rows.
        limit: u32,
    },
}

/// What must be true for a commit to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// No such row.
    Absent {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
    },
    /// The row is there at this revision.
    Revision {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
        /// The revision.
        revision: u64,
    },
}

/// How sure a commit must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// On the disk before it returns: user input, results of writes, approvals, receipts.
    Strict,
    /// Handed to the system.
    #[default]
    Relaxed,
}

/// Writes as data: applied whole, or refused whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// What must be true.
    pub expect: Vec<Expect>,
    /// Rows to write, each whole.
    pub put: Vec<Row>,
    /// Rows to remove; one that is not there is no error.
    pub delete: Vec<(Table, Key)>,
    /// How sure it must be.
    pub durability: Durability,
}

/// The database. All reads of one call see one state; commits are serialised.
pub trait Store: 'static {
    /// Answers all queries from one state, each with its rows in order (none or one for [`Query::Get`]).
    ///
    /// # Errors
    /// See [`StoreError`].
    fn read(&self, queries: Vec<Query>) -> impl Future<Output = Result<Vec<Vec<Row>>, StoreError>> + 'static;

    /// Applies a commit in one transaction.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when an expectation does not hold. After any error nothing of it is stored, except
    /// after [`StoreError::Unknown`].
    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), StoreError>> + 'static;
}

/// Why the database did not do it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// An expectation does not hold; the text names it.
    #[error("the data changed meanwhile: {0}")]
    Conflict(String),
    /// The disk or the quota is full.
    #[error("there is no room left to store this")]
    Full,
    /// The database is of a newer version.
    #[error("the stored data is of a newer version of Panelot: update the extension")]
    Newer,
    /// Another context keeps the database from being upgraded.
    #[error("another window of an older version keeps the database open: close it")]
    Blocked,
    /// The database cannot be read.
    #[error("the stored data is damaged: {0}")]
    Corrupt(String),
    /// The browser ended the transaction.
    #[error("the browser ended the transaction: {0}")]
    Aborted(String),
    /// The connection broke while the commit was on its way: it may hold or not.
    #[error("it is not known whether the data was stored: {0}")]
    Unknown(String),
}
