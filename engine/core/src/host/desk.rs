//! The desk: serves what belongs to no thread, in the order in which it came. Questions are answered beside it.

use super::admission::rejected;
use super::{Core, Doing, listing};
use crate::attachments;
use crate::ports::{Spawner, Store, StoreError, Table, World};
use crate::settings::Refusal;
use crate::store::marks::StoredImportMark;
use crate::store::records::{Record, StoredThread};
use crate::store::snapshot::thread_meta;
use crate::store::{CommitBuilder, RepoError};
use crate::thread::{Full, Mail, Recall, new_thread, recall, receipt_of, refuse};
use crate::transfer::{ExportProblem, Imported, Outcome, Taken, export, import};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::FutureExt;
use futures::stream::StreamExt;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{ClientId, FolderId, PresetId, SubmissionId, ThreadId};
use panelot_protocol::limits;
use panelot_protocol::op::Op;
use panelot_protocol::snapshot::{ActivityEntry, ThreadActivity, ThreadMetaPatch};
use std::cell::Cell;
use std::rc::Rc;

/// Bytes of one chunk of an export: half of what a chunk may be, so that escapes never make a message too long.
const CHUNK_BYTES_MAX: usize = 512 * 1_024;
/// Threads that one broadcast names.
const ACTIVITY_COUNT_MAX: usize = 4_096;

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

    /// Whether every Op that it took is answered.
    pub fn is_quiet(&self) -> bool {
        self.unanswered.get() == 0
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
        command(&self.core, &mail, |_| async { Ok(Done::answer(answer)) }).await;
    }
}

/// What an Op leads to: its commit without the receipt, its answer, and what follows once the commit holds.
struct Done {
    commit: CommitBuilder,
    answer: AgentEvent,
    then: Then,
}

impl Done {
    /// Nothing but an answer.
    fn answer(answer: AgentEvent) -> Self {
        Self { commit: CommitBuilder::new(), answer, then: Then::Nothing }
    }
}

/// What follows a commit of the desk.
enum Then {
    Nothing,
    /// Every page is told this.
    Broadcast(Box<AgentEvent>),
    /// Threads are other ones now.
    Imported(Imported),
    /// Attachments may be too many.
    MakeRoom,
}

async fn serve<W: World>(core: Rc<Core<W>>, mut inbox: UnboundedReceiver<Mail>, unanswered: Rc<Cell<usize>>) {
    while let Some(mail) = inbox.next().await {
        command(&core, &mail, |op| perform(Rc::clone(&core), mail.client.clone(), op)).await;
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
        match recall(core, &mail.client, op, fingerprint).await? {
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
        match core.world.store().commit(commit.build()?).await {
            Ok(()) => {}
            // When nobody knows whether it holds, its receipt tells.
            Err(StoreError::Unknown(problem)) => {
                let held = recall(core, &mail.client, op, fingerprint).await?;
                if held != Recall::Answered(text.clone()) {
                    return Err(RepoError::Store(StoreError::Aborted(problem)));
                }
            }
            Err(problem) => return Err(RepoError::Store(problem)),
        }
        core.publisher.answer_text(mail.connection, &text);
        match done.then {
            Then::Nothing => {}
            Then::Broadcast(event) => core.publisher.broadcast(*event),
            Then::Imported(imported) => say_imported(core, imported).await,
            // What is too much now is too much at the next attachment, too.
            Then::MakeRoom => drop(attachments::make_room(core).await),
        }
        Ok::<_, RepoError>(None)
    };
    match outcome.await {
        Ok(Some(text)) => core.publisher.answer_text(mail.connection, &text),
        Ok(None) => {}
        Err(problem) => {
            refuse(core, mail, problem.code(), problem.to_string()).await;
        }
    }
}

async fn perform<W: World>(core: Rc<Core<W>>, client: ClientId, op: Op) -> Result<Done, RepoError> {
    let submission_id = op.submission_id().clone();
    if let Op::ThreadCreate { preset, folder_id, .. } = op {
        return Ok(create(&core, submission_id, preset, folder_id));
    }
    if let Op::DataImport { .. } = op {
        return take_chunk(&core, client, op).await;
    }
    if let Op::AttachmentPut { .. } = op {
        return take_piece(&core, op).await;
    }
    let Op::SettingsUpdate { patch, .. } = op else {
        let message = "this Op belongs to a thread or to nobody";
        return Ok(Done::answer(rejected(&submission_id, ErrorCode::InvalidCommand, message)));
    };
    // The settings are written before the receipt: the same change once more changes nothing, a lost one would.
    let (answer, then) = match core.settings.change(patch).await {
        Ok(settings) => {
            let event = |submission_id| AgentEvent::SettingsUpdated {
                submission_id,
                settings: Box::new(settings.clone()),
            };
            (event(Some(submission_id)), Then::Broadcast(Box::new(event(None))))
        }
        Err(refusal) => {
            let code = match &refusal {
                Refusal::Invalid { .. } => ErrorCode::InvalidCommand,
                Refusal::Vault(_) | Refusal::Storage(_) => ErrorCode::Internal,
            };
            (rejected(&submission_id, code, &refusal.to_string()), Then::Nothing)
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
    Done { commit, answer, then: Then::Nothing }
}

/// A chunk of an import. The first one leaves a mark, the last one is the import.
async fn take_chunk<W: World>(core: &Rc<Core<W>>, client: ClientId, op: Op) -> Result<Done, RepoError> {
    let submission_id = op.submission_id().clone();
    let Op::DataImport { transfer_id, index, total, chunk, mode, .. } = op else {
        return Ok(Done::answer(not_here(&submission_id)));
    };
    let ack = AgentEvent::CommandAck {
        submission_id: submission_id.clone(),
        thread_id: None,
        run_id: None,
        revision: None,
    };
    match core.incoming.take(&client, &transfer_id, index, total, &chunk) {
        Taken::First => {
            let mut commit = CommitBuilder::new();
            commit.put(&StoredImportMark { transfer_id, begun_at_ms: core.now_ms() });
            Ok(Done { commit, answer: ack, then: Then::Nothing })
        }
        Taken::More => Ok(Done::answer(ack)),
        Taken::Refused(problem) => {
            Ok(Done::answer(rejected(&submission_id, ErrorCode::InvalidCommand, &problem)))
        }
        Taken::Whole(text) => {
            let Outcome { commit, answer, imported } = import(core, &submission_id, &text, mode).await?;
            Ok(Done { commit, answer, then: Then::Imported(imported) })
        }
    }
}

/// A piece of an attachment.
async fn take_piece<W: World>(core: &Rc<Core<W>>, op: Op) -> Result<Done, RepoError> {
    let submission_id = op.submission_id().clone();
    let Op::AttachmentPut { attachment_id, thread_id, mime, name, index, total, chunk, .. } = op else {
        return Ok(Done::answer(not_here(&submission_id)));
    };
    let piece = attachments::Piece { id: attachment_id, thread_id, mime, name, index, total, base64: chunk };
    let mut commit = CommitBuilder::new();
    Ok(match attachments::take(core, piece, &mut commit).await? {
        Ok(()) => {
            let answer =
                AgentEvent::CommandAck { submission_id, thread_id: None, run_id: None, revision: None };
            Done { commit, answer, then: Then::MakeRoom }
        }
        Err(problem) => Done::answer(rejected(&submission_id, ErrorCode::InvalidCommand, &problem)),
    })
}

fn not_here(submission_id: &SubmissionId) -> AgentEvent {
    rejected(submission_id, ErrorCode::InvalidCommand, "this Op belongs to a thread or to nobody")
}

/// Tells pages what an import changed. What was granted to a thread of the same name was granted to another one.
async fn say_imported<W: World>(core: &Rc<Core<W>>, imported: Imported) {
    for thread_id in imported.removed {
        core.presence.set(&thread_id, Doing::NOTHING);
        core.grants.forget(&thread_id).await;
        core.publisher.publish(&thread_id, AgentEvent::ThreadDeleted { thread_id: thread_id.clone() });
    }
    for (thread_id, revision) in imported.replaced {
        core.presence.set(&thread_id, Doing::NOTHING);
        core.grants.forget(&thread_id).await;
        let patch = Box::new(ThreadMetaPatch { path_replaced: true, ..ThreadMetaPatch::default() });
        core.publisher
            .publish(&thread_id, AgentEvent::ThreadUpdated { thread_id: thread_id.clone(), revision, patch });
    }
    // A page that does not know one of them asks for the list again.
    let threads = imported.added.into_iter().take(ACTIVITY_COUNT_MAX);
    let threads: Vec<ActivityEntry> =
        threads.map(|thread_id| ActivityEntry { thread_id, activity: ThreadActivity::Idle }).collect();
    if !threads.is_empty() {
        core.publisher.broadcast(AgentEvent::ActivityUpdated { threads });
    }
}

/// Writes an export to a page.
async fn send_export<W: World>(
    core: &Rc<Core<W>>,
    mail: &Mail,
    submission_id: SubmissionId,
    with_content: bool,
) {
    if core.exporting.replace(true) {
        let message = "another export is being written: try again when it is done";
        let answer = rejected(&submission_id, ErrorCode::Overloaded, message);
        return core.publisher.answer(mail.connection, answer);
    }
    let mut chunks = Chunks { waiting: String::new(), index: 0 };
    let post = |index: u32, total: Option<u32>, chunk: String| {
        let submission_id = submission_id.clone();
        core.publisher
            .answer(mail.connection, AgentEvent::DataExported { submission_id, index, total, chunk });
    };
    let written = export(core, with_content, &mut |text| {
        chunks.add(text, &post);
        core.publisher.is_open(mail.connection)
    })
    .await;
    core.exporting.set(false);
    let code = match &written {
        Ok(()) => return chunks.end(&post),
        Err(ExportProblem::NobodyListens) => return,
        Err(ExportProblem::Repo(problem)) => problem.code(),
        Err(ExportProblem::Settings(_)) => ErrorCode::Internal,
        Err(ExportProblem::TooMuch { .. }) => ErrorCode::InvalidCommand,
    };
    if let Err(problem) = written {
        core.publisher.answer(mail.connection, rejected(&submission_id, code, &problem.to_string()));
    }
}

/// A text on its way in chunks.
struct Chunks {
    waiting: String,
    index: u32,
}

impl Chunks {
    fn add(&mut self, text: &str, post: &impl Fn(u32, Option<u32>, String)) {
        self.waiting.push_str(text);
        while self.waiting.len() > CHUNK_BYTES_MAX {
            let mut end = CHUNK_BYTES_MAX;
            while !self.waiting.is_char_boundary(end) {
                end = end.saturating_sub(1);
            }
            let rest = self.waiting.split_off(end);
            post(self.index, None, std::mem::replace(&mut self.waiting, rest));
            self.index = self.index.saturating_add(1);
        }
    }

    fn end(self, post: &impl Fn(u32, Option<u32>, String)) {
        post(self.index, Some(self.index.saturating_add(1)), self.waiting);
    }
}

async fn answer_query<W: World>(core: &Rc<Core<W>>, mail: &Mail) {
    let Some((op, _)) = mail.op() else { return };
    let submission_id = op.submission_id().clone();
    let answer = if let Op::DataExport { include_attachments, .. } = op {
        return send_export(core, mail, submission_id, *include_attachments).await;
    } else if let Op::ThreadList { cursor, query, archived, .. } = op {
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
        Err(listing::Problem::Repo(error)) => rejected(&submission_id, error.code(), &error.to_string()),
    }
}
