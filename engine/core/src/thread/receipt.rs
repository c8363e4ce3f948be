//! Receipts: the durable answer to a submission, given again when the same submission comes again.

use super::Mail;
use crate::host::Core;
use crate::mutants::mutant;
use crate::ports::{Store, Table, World};
use crate::store::records::{Record, StoredReceipt};
use crate::store::repo;
use crate::store::{CommitBuilder, RepoError};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::ClientId;
use panelot_protocol::limits;
use panelot_protocol::op::Op;
use std::cell::RefCell;
use std::collections::VecDeque;

/// What is known of a submission.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recall {
    /// Nothing: it is new.
    New,
    /// It was answered with this text.
    Answered(String),
    /// Another Op was sent under it.
    Conflict(Box<AgentEvent>),
}

/// Looks a submission up.
///
/// # Errors
/// When the database fails.
pub(crate) async fn recall<W: World>(
    core: &Core<W>,
    client: &ClientId,
    op: &Op,
    fingerprint: &str,
) -> Result<Recall, RepoError> {
    let key = StoredReceipt::key_of(client, op.submission_id());
    let receipt = match core.unstored.of(client, op) {
        Some(receipt) => receipt,
        None => match repo::get::<_, StoredReceipt>(core.world.store(), key).await? {
            Some(receipt) => receipt,
            None => return Ok(Recall::New),
        },
    };
    let same = receipt.command_type == op.command_type() && receipt.payload_sha256 == fingerprint;
    if !same && !mutant!(ReceiptOfAnotherOp) {
        return Ok(Recall::Conflict(Box::new(AgentEvent::CommandRejected {
            submission_id: op.submission_id().clone(),
            code: ErrorCode::InvalidCommand,
            message: format!(
                "submissionId: was used before for another {}; nothing changed",
                receipt.command_type
            ),
            thread_id: op.thread_id().cloned(),
            retryable: false,
        })));
    }
    Ok(receipt.answer.map_or(Recall::New, Recall::Answered))
}

/// The receipt that stores an answer, and the answer as it is sent.
///
/// # Errors
/// When the answer has no JSON form.
pub(crate) fn receipt_of(
    client: &ClientId,
    op: &Op,
    fingerprint: &str,
    answer: AgentEvent,
    now_ms: u64,
) -> Result<(StoredReceipt, String), RepoError> {
    let text = EventFrame::outside(answer)
        .encode()
        .map_err(|error| RepoError::Unstorable { table: "receipts", reason: error.to_string() })?;
    let receipt = StoredReceipt {
        client_id: client.clone(),
        submission_id: op.submission_id().clone(),
        command_type: op.command_type().to_owned(),
        payload_sha256: fingerprint.to_owned(),
        expires_at_ms: now_ms.saturating_add(limits::RECEIPT_LIFETIME_MS),
        answer: Some(text.clone()),
    };
    Ok((receipt, text))
}

/// Refusals that are kept in memory while the database takes none.
const UNSTORED_COUNT_MAX: usize = 256;
/// Times that a refusal is tried to be stored.
const REFUSALS_COUNT_MAX: u32 = 3;

/// The answer that refuses an Op. What went wrong inside may go right another time.
pub(crate) fn refusal(op: &Op, code: ErrorCode, message: String) -> AgentEvent {
    AgentEvent::CommandRejected {
        submission_id: op.submission_id().clone(),
        code,
        message,
        thread_id: op.thread_id().cloned(),
        retryable: may_work_later(code),
    }
}

/// Whether what failed in this way may go right another time.
pub(crate) fn may_work_later(code: ErrorCode) -> bool {
    match code {
        ErrorCode::Internal
        | ErrorCode::Overloaded
        | ErrorCode::StorageFull
        | ErrorCode::StorageBlocked
        | ErrorCode::StorageFailed => true,
        ErrorCode::ProtocolMismatch
        | ErrorCode::ThreadNotFound
        | ErrorCode::TurnMismatch
        | ErrorCode::TurnNotSteerable
        | ErrorCode::NoActiveTurn
        | ErrorCode::QueueFull
        | ErrorCode::Interrupted
        | ErrorCode::ProviderError
        | ErrorCode::NotConfigured
        | ErrorCode::InvalidCommand
        | ErrorCode::StorageNewer
        | ErrorCode::StorageDamaged
        | ErrorCode::ImportInterrupted => false,
    }
}

/// Refuses an Op that could not be done, so that the same submission is refused the same way again. An Op whose commit
/// holds all the same gets the answer that is stored. A refusal that the database does not take is kept in memory
/// while this worker lives; the next worker judges the Op anew, of which nothing was done.
pub(crate) async fn refuse<W: World>(core: &Core<W>, mail: &Mail, code: ErrorCode, message: String) {
    let Some((op, fingerprint)) = mail.op() else { return };
    let publisher = &core.publisher;
    let answer = refusal(op, code, message);
    let mut unstored = None;
    for _ in 0..REFUSALS_COUNT_MAX {
        match recall(core, &mail.client, op, fingerprint).await {
            Ok(Recall::Answered(text)) => return publisher.answer_text(mail.connection, &text),
            Ok(Recall::Conflict(event)) => return publisher.answer(mail.connection, *event),
            Ok(Recall::New) => {}
            Err(_) => break,
        }
        let stored = receipt_of(&mail.client, op, fingerprint, answer.clone(), core.now_ms());
        let Ok((receipt, text)) = stored else { break };
        let mut builder = CommitBuilder::new();
        builder.absent(Table::Receipts, receipt.key()).put(&receipt).strict();
        let Ok(commit) = builder.build() else { break };
        if core.world.store().commit(commit).await.is_ok() {
            return publisher.answer_text(mail.connection, &text);
        }
        unstored = Some(receipt);
    }
    if let Some(receipt) = unstored {
        core.unstored.keep(receipt);
    }
    publisher.answer(mail.connection, answer);
}

/// Refusals that the database did not take, the oldest first.
#[derive(Default)]
pub(crate) struct Unstored(RefCell<VecDeque<StoredReceipt>>);

impl Unstored {
    fn keep(&self, receipt: StoredReceipt) {
        let mut kept = self.0.borrow_mut();
        if kept.len() >= UNSTORED_COUNT_MAX {
            kept.pop_front();
        }
        kept.push_back(receipt);
    }

    fn of(&self, client: &ClientId, op: &Op) -> Option<StoredReceipt> {
        let kept = self.0.borrow();
        let same = |receipt: &&StoredReceipt| {
            receipt.client_id == *client && receipt.submission_id == *op.submission_id()
        };
        kept.iter().find(same).cloned()
    }
}

impl Mail {
    /// The Op and its fingerprint; `None` for a greeting.
    pub fn op(&self) -> Option<(&Op, &str)> {
        match &self.request {
            super::Request::Greet { .. } => None,
            super::Request::Op { op, fingerprint } => Some((op, fingerprint)),
        }
    }
}
