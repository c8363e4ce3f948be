//! Receipts: the durable answer to a submission, given again when the same submission comes again.

use super::Mail;
use crate::ports::World;
use crate::store::RepoError;
use crate::store::records::StoredReceipt;
use crate::store::repo;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::ClientId;
use panelot_protocol::limits;
use panelot_protocol::op::Op;

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
    world: &W,
    client: &ClientId,
    op: &Op,
    fingerprint: &str,
) -> Result<Recall, RepoError> {
    let key = StoredReceipt::key_of(client, op.submission_id());
    let Some(receipt) = repo::get::<_, StoredReceipt>(world.store(), key).await? else {
        return Ok(Recall::New);
    };
    if receipt.command_type != op.command_type() || receipt.payload_sha256 != fingerprint {
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

impl Mail {
    /// The Op and its fingerprint; `None` for a greeting.
    pub fn op(&self) -> Option<(&Op, &str)> {
        match &self.request {
            super::Request::Greet { .. } => None,
            super::Request::Op { op, fingerprint } => Some((op, fingerprint)),
        }
    }
}
