//! The desk: serves what belongs to no thread, in the order in which it came. Questions are answered beside it.

use super::admission::rejected;
use super::{Core, listing};
use crate::ports::{Spawner, Store, Table, World};
use crate::settings::Refusal;
use crate::store::records::{Record, StoredThread};
use crate::store::snapshot::thread_meta;
use crate::store::{CommitBuilder, RepoError};
use crate::thread::{Full, Mail, Recall, new_thread, recall, receipt_of, refuse};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::FutureExt;
use futures::stream::StreamExt;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{FolderId, PresetId, SubmissionId, ThreadId};
use panelot_protocol::limits;
use panelot_protocol::op::Op;
use std::cell::Cell;
use std::rc::Rc;

/// The sending side of the desk.
pub(super) struct Desk<W: World> {
    core: Rc<Core<W>>,
    mails: UnboundedSender<Mail>,
    unanswered: Rc<Cell<usize>>,
}

impl<W: World> Desk<W> {
    /// A desk with its task.
    pub fn new(core: Rc<Core<W>>) -> Self {
        let (mails, inbox) = unbounded();
        let unanswered = Rc::new(Cell::new(0));
        let task = serve(Rc::clone(&core), inbox, Rc::clone(&unanswered));
        core.world.spawner().spawn(task.boxed_local());
        Self { core, mails, unanswered }
    }

    /// Takes an Op.
    ///
    /// # Errors
    /// [`Full`] when too many wait.
    pub fn take(&self, mail: Mail) -> Result<(), Full> {
        let asks = mail.op().is_some_and(|(op, _)| op.is_query());
        if asks {
            let core = Rc::clone(&self.core);
            self.core.world.spawner().spawn(async move { answer_query(&core, &mail).await }.boxed_local());
            return Ok(());
        }
        if self.unanswered.get() >= limits::MAILBOX_OPS_COUNT_MAX {
            return Err(Full);
        }
        self.unanswered.set(self.unanswered.get().saturating_add(1));
        let _ = self.mails.unbounded_send(mail);
        Ok(())
    }

    /// Refuses the answer to a question that is not known, for good.
    pub async fn refuse_unknown(&self, mail: Mail) {
        let Some((op, _)) = mail.op() else { return };
        let message = if matches!(op, Op::ApprovalResponse { .. }) {
            "approvalId: no such question"
        } else {
            "interactionId: no such wait"
        };
        let answer = rejected(op.submission_id(), ErrorCode::InvalidCommand, message);
        command(&self.core, &mail, |_| async {
            Ok(Done { commit: CommitBuilder::new(), answer, then: None })
        })
        .await;
    }
}

/// What an Op leads to: its commit without the receipt, its answer, and what every page is told.
struct Done {
    commit: CommitBuilder,
    answer: AgentEvent,
    then: Option<AgentEvent>,
}

async fn serve<W: World>(core: Rc<Core<W>>, mut inbox: UnboundedReceiver<Mail>, unanswered: Rc<Cell<usize>>) {
    while let Some(mail) = inbox.next().await {
        command(&core, &mail, |op| perform(Rc::clone(&core), op)).await;
        unanswered.set(unanswered.get().saturating_sub(1));
    }
}

/// One Op with its receipt. A submission that two connections bring at once is decided once: the second one finds
/// the receipt of the first.
async fn command<W: World, F>(core: &Rc<Core<W>>, mail: &Mail, perform: impl FnOnce(Op) -> F)
where
    F: Future<Output = Result<Done, RepoError>>,
{
    let Some((op, fingerprint)) = mail.op() else { return };
    let outcome = async {
        match recall(&core.world, &mail.client, op, fingerprint).await? {
            Recall::Answered(text) => return Ok(Some(text)),
            Recall::Conflict(event) => {
                core.publisher.answer(mail.connection, *event);
                return Ok(None);
            }
            Recall::New => {}
        }
        let done = perform(op.clone()).await?;
        let (receipt, text) = receipt_of(&mail.client, op, fingerprint, done.answer, core.now_ms())?;
        let mut commit = done.commit;
        commit.absent(Table::Receipts, receipt.key()).put(&receipt).strict();
        core.world.store().commit(commit.build()?).await?;
        core.publisher.answer_text(mail.connection, &text);
        if let Some(event) = done.then {
            core.publisher.broadcast(event);
        }
        Ok::<_, RepoError>(None)
    };
    match outcome.await {
        Ok(Some(text)) => core.publisher.answer_text(mail.connection, &text),
        Ok(None) => {}
        Err(problem) => {
            refuse(&core.world, &core.publisher, mail, ErrorCode::Internal, problem.to_string()).await;
        }
    }
}

async fn perform<W: World>(core: Rc<Core<W>>, op: Op) -> Result<Done, RepoError> {
    let submission_id = op.submission_id().clone();
    if let Op::ThreadCreate { preset, folder_id, .. } = op {
        return Ok(create(&core, submission_id, preset, folder_id));
    }
    let Op::SettingsUpdate { patch, .. } = op else {
        let message = "this Op belongs to a thread or to nobody";
        let answer = rejected(&submission_id, ErrorCode::InvalidCommand, message);
        return Ok(Done { commit: CommitBuilder::new(), answer, then: None });
    };
    // The settings are written before the receipt: the same change once more changes nothing, a lost one would.
    let (answer, then) = match core.settings.change(patch).await {
        Ok(settings) => {
            let event = |submission_id| AgentEvent::SettingsUpdated {
                submission_id,
                settings: Box::new(settings.clone()),
            };
            (event(Some(submission_id)), Some(event(None)))
        }
        Err(refusal) => {
            let code = match &refusal {
                Refusal::Invalid { .. } => ErrorCode::InvalidCommand,
                Refusal::Vault(_) | Refusal::Storage(_) => ErrorCode::Internal,
            };
            (rejected(&submission_id, code, &refusal.to_string()), None)
        }
    };
    Ok(Done { commit: CommitBuilder::new(), answer, then })
}

fn create<W: World>(
    core: &Core<W>,
    submission_id: SubmissionId,
    preset: Option<PresetId>,
    folder_id: Option<FolderId>,
) -> Done {
    let thread = StoredThread { preset, folder_id, ..new_thread(ThreadId::new(core.id()), core.now_ms()) };
    let mut commit = CommitBuilder::new();
    commit.absent(Table::Threads, thread.key()).put(&thread);
    let answer = AgentEvent::ThreadCreated { submission_id, thread: thread_meta(&thread) };
    Done { commit, answer, then: None }
}

async fn answer_query<W: World>(core: &Rc<Core<W>>, mail: &Mail) {
    let Some((op, _)) = mail.op() else { return };
    let submission_id = op.submission_id().clone();
    let answer = if let Op::ThreadList { cursor, query, archived, .. } = op {
        list(core, submission_id, cursor.as_deref(), query.as_deref(), *archived).await
    } else if let Op::ModelsList { connection_id, .. } = op {
        let (models, failures) =
            crate::provider::list_models(&core.world, &core.settings, connection_id.as_ref()).await;
        AgentEvent::ModelsListed { submission_id, models, failures }
    } else {
        match core.settings.view().await {
            Ok(settings) => AgentEvent::SettingsUpdated {
                submission_id: Some(submission_id),
                settings: Box::new(settings),
            },
            Err(error) => rejected(&submission_id, ErrorCode::Internal, &error.to_string()),
        }
    };
    core.publisher.answer(mail.connection, answer);
}

async fn list<W: World>(
    core: &Rc<Core<W>>,
    submission_id: SubmissionId,
    cursor: Option<&str>,
    query: Option<&str>,
    archived: Option<bool>,
) -> AgentEvent {
    match listing::list(core, cursor, query, archived.unwrap_or(false)).await {
        Ok((threads, cursor)) => AgentEvent::ThreadListed { submission_id, threads, cursor },
        Err(listing::Problem::Cursor) => {
            rejected(&submission_id, ErrorCode::InvalidCommand, "cursor: not one of this engine's")
        }
        Err(listing::Problem::Repo(error)) => {
            rejected(&submission_id, ErrorCode::Internal, &error.to_string())
        }
    }
}
