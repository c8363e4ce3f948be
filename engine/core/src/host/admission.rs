//! Admission: a text of a page becomes an Op for somebody, or is answered at once.

use super::{Connection, Engine};
use crate::ports::{Clock, ConnectionKey, Key, World};
use crate::store::records::{StoredApproval, StoredInteraction};
use crate::store::repo;
use crate::thread::{Mail, Request, Urgent};
use panelot_protocol::canonical::fingerprint;
use panelot_protocol::decode::{DecodeError, Greeting, decode_greeting, decode_op};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ClientId, SubmissionId, ThreadId};
use panelot_protocol::op::Op;
use panelot_protocol::{ENGINE_PROTOCOL, ENGINE_SCHEMA_HASH};

/// How long a greeting waits for the snapshot that was asked for with it.
const GREETING_MS_MAX: u64 = 80;
/// What a page of another build is told.
const RELOAD_MESSAGE: &str =
    "This page and the engine are of different builds. Reload the extension, then open the page again.";

/// Where an Op goes.
enum Route {
    /// Into its thread's queue.
    Thread(ThreadId),
    /// Past the queue.
    Ahead(ThreadId),
    /// To the thread of an approval, past the queue.
    Approval,
    /// To the thread of a wait, past the queue.
    Interaction,
    /// To the desk, which serves what belongs to no thread.
    Desk,
    /// Answered at once.
    Pong,
    /// Refused: it has its place at the beginning of a connection.
    Again,
}

impl<W: World> Engine<W> {
    /// A page sent a text.
    pub fn message(&self, connection: ConnectionKey, text: &str) {
        let client = match self.connections.borrow().get(&connection) {
            None => return,
            Some(Connection::New) => None,
            Some(Connection::Open(client)) => Some(client.clone()),
        };
        self.core.publisher.heard(connection);
        match client {
            None => self.greet(connection, text),
            Some(client) => match decode_op(text) {
                Ok(op) => self.admit(connection, client, op),
                Err(error) => self.refuse_text(connection, &error),
            },
        }
    }

    /// The first message: who speaks, and whether both sides are of one build.
    fn greet(&self, connection: ConnectionKey, text: &str) {
        if let Some(greeting) = decode_greeting(text)
            && (greeting.protocol != ENGINE_PROTOCOL || greeting.schema_hash != ENGINE_SCHEMA_HASH)
        {
            self.part(connection, greeting);
            return;
        }
        let op = match decode_op(text) {
            Ok(op) => op,
            Err(error) => return self.refuse_text(connection, &error),
        };
        let Op::Initialize { submission_id, client_id, subscribe, .. } = op else {
            let answer = rejected(
                op.submission_id(),
                ErrorCode::InvalidCommand,
                "initialize must be the first message of a connection",
            );
            return self.core.publisher.answer(connection, answer);
        };
        self.connections.borrow_mut().insert(connection, Connection::Open(client_id.clone()));
        self.core.publisher.admit(connection);
        self.look_for_import();
        let Some(subscribe) = subscribe else {
            return self.core.publisher.greet(connection, submission_id, None);
        };
        self.core.publisher.wants(connection, &subscribe.thread_id);
        self.greet_in_time(connection, submission_id.clone());
        let request = Request::Greet { submission_id: submission_id.clone() };
        let mail = Mail { connection, client: client_id, request };
        if self.to_thread(&subscribe.thread_id, mail).is_err() {
            self.core.publisher.greet(connection, submission_id, None);
        }
    }

    /// Greets without a snapshot when the thread's takes too long; it follows as the answer to a subscription.
    fn greet_in_time(&self, connection: ConnectionKey, submission_id: SubmissionId) {
        let core = std::rc::Rc::clone(&self.core);
        let wait = core.world.clock().sleep(GREETING_MS_MAX);
        self.spawn(async move {
            wait.await;
            if !core.publisher.is_greeted(connection) {
                core.publisher.greet(connection, submission_id, None);
            }
        });
    }

    fn part(&self, connection: ConnectionKey, greeting: Greeting) {
        self.core.publisher.answer(
            connection,
            AgentEvent::FatalReloadRequired {
                submission_id: greeting.submission_id,
                protocol: greeting.protocol,
                schema_hash: ENGINE_SCHEMA_HASH.to_owned(),
                message: RELOAD_MESSAGE.to_owned(),
            },
        );
        self.disconnect(connection);
    }

    fn refuse_text(&self, connection: ConnectionKey, error: &DecodeError) {
        let message = error.to_string();
        let answer = match &error.submission_id {
            Some(id) => rejected(&SubmissionId::new(id.as_str()), ErrorCode::InvalidCommand, &message),
            None => AgentEvent::Error {
                submission_id: None,
                thread_id: None,
                turn_id: None,
                code: ErrorCode::InvalidCommand,
                message,
                retryable: false,
                error_kind: None,
                provider_details: None,
            },
        };
        self.core.publisher.answer(connection, answer);
    }

    fn admit(&self, connection: ConnectionKey, client: ClientId, op: Op) {
        let submission_id = op.submission_id().clone();
        let fingerprint = match fingerprint(&op) {
            Ok(fingerprint) => fingerprint,
            Err(error) => {
                let answer = rejected(&submission_id, ErrorCode::InvalidCommand, &error.to_string());
                return self.core.publisher.answer(connection, answer);
            }
        };
        let route = route(&op);
        if let Op::ThreadSubscribe { thread_id, .. } = &op {
            self.core.publisher.wants(connection, thread_id);
        }
        let mail = Mail { connection, client, request: Request::Op { op: Box::new(op), fingerprint } };
        match route {
            Route::Thread(thread_id) => {
                if self.to_thread(&thread_id, mail).is_err() {
                    self.overloaded(connection, &submission_id, Some(thread_id));
                }
            }
            Route::Ahead(thread_id) => self.actor(&thread_id).urgent(Urgent::Mail(mail)),
            Route::Approval | Route::Interaction => self.to_owner(mail),
            Route::Desk => {
                if self.desk.take(mail).is_err() {
                    self.overloaded(connection, &submission_id, None);
                }
            }
            Route::Pong => self.core.publisher.answer(connection, AgentEvent::Pong { submission_id }),
            Route::Again => {
                let message = "initialize: this connection is initialized already";
                let answer = rejected(&submission_id, ErrorCode::InvalidCommand, message);
                self.core.publisher.answer(connection, answer);
            }
        }
    }

    fn overloaded(&self, connection: ConnectionKey, id: &SubmissionId, thread_id: Option<ThreadId>) {
        self.core.publisher.answer(
            connection,
            AgentEvent::CommandRejected {
                submission_id: id.clone(),
                code: ErrorCode::Overloaded,
                message: "too many messages wait here: try again in a moment".to_owned(),
                thread_id,
                retryable: true,
            },
        );
    }

    /// An answer of the user names a question, not a thread: finds whose it is.
    fn to_owner(&self, mail: Mail) {
        let Some(engine) = self.me.upgrade() else { return };
        self.spawn(async move {
            match engine.owner(&mail).await {
                Ok(Some(thread_id)) => engine.actor(&thread_id).urgent(Urgent::Mail(mail)),
                Ok(None) => engine.desk.refuse_unknown(mail).await,
                Err(problem) => {
                    let Some((op, _)) = mail.op() else { return };
                    let answer = rejected(op.submission_id(), problem.code(), &problem.to_string());
                    engine.core.publisher.answer(mail.connection, answer);
                }
            }
        });
    }

    async fn owner(&self, mail: &Mail) -> Result<Option<ThreadId>, crate::store::RepoError> {
        let store = self.core.world.store();
        let Some((op, _)) = mail.op() else { return Ok(None) };
        if let Op::ApprovalResponse { approval_id, .. } = op {
            let found = repo::get::<_, StoredApproval>(store, Key::text(approval_id.as_str())).await?;
            return Ok(found.map(|approval| approval.thread_id));
        }
        if let Op::InteractionResponse { interaction_id, .. } = op {
            let found = repo::get::<_, StoredInteraction>(store, Key::text(interaction_id.as_str())).await?;
            return Ok(found.map(|interaction| interaction.thread_id));
        }
        Ok(None)
    }
}

fn route(op: &Op) -> Route {
    match op {
        Op::Initialize { .. } => Route::Again,
        Op::ThreadSubscribe { thread_id, .. }
        | Op::ThreadDelete { thread_id, .. }
        | Op::ThreadFork { thread_id, .. }
        | Op::ThreadSelectBranch { thread_id, .. }
        | Op::ThreadItems { thread_id, .. }
        | Op::ThreadUpdate { thread_id, .. }
        | Op::NodeDelete { thread_id, .. }
        | Op::TurnSubmit { thread_id, .. }
        | Op::TurnFork { thread_id, .. }
        | Op::TurnSteer { thread_id, .. }
        | Op::TurnEnqueue { thread_id, .. }
        | Op::QueueUpdate { thread_id, .. }
        | Op::QueueRemove { thread_id, .. }
        | Op::QueueRelease { thread_id, .. }
        | Op::RunResume { thread_id, .. }
        | Op::RunResolveUncertain { thread_id, .. } => Route::Thread(thread_id.clone()),
        Op::TurnInterrupt { thread_id, .. } => Route::Ahead(thread_id.clone()),
        Op::ApprovalResponse { .. } => Route::Approval,
        Op::InteractionResponse { .. } => Route::Interaction,
        Op::ThreadCreate { .. }
        | Op::ThreadList { .. }
        | Op::SettingsGet { .. }
        | Op::SettingsUpdate { .. }
        | Op::ModelsList { .. }
        | Op::AttachmentPut { .. }
        | Op::DataExport { .. }
        | Op::DataImport { .. } => Route::Desk,
        Op::Ping { .. } => Route::Pong,
    }
}

/// A refusal that needs nothing stored.
pub(super) fn rejected(submission_id: &SubmissionId, code: ErrorCode, message: &str) -> AgentEvent {
    AgentEvent::CommandRejected {
        submission_id: submission_id.clone(),
        code,
        message: message.to_owned(),
        thread_id: None,
        retryable: crate::thread::may_work_later(code),
    }
}
