//! Threads: one actor each, the only writer of its thread. Everything that changes a thread goes through its mailbox,
//! one input at a time.

mod actor;
mod answers;
mod change;
mod commands;
mod deletion;
mod legality;
mod mailbox;
mod queries;
mod receipt;
mod turns;

pub(crate) use actor::{Actor, Broken, run};
pub(crate) use change::{Change, changed_nothing, item_end, item_events};
pub(crate) use commands::new_thread;
pub(crate) use deletion::rows_of_thread;
pub use legality::{OpKind, Ruling, Situation, ruling};
pub(crate) use mailbox::{Full, Handle, Inbox, Mail, Request, Urgent, mailbox};
pub(crate) use receipt::{Recall, Unstored, may_work_later, recall, receipt_of, refuse};
pub(crate) use turns::turn_start;
