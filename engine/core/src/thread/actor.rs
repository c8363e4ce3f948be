//! The actor: one task that takes the inputs of a thread one by one.

use super::{Inbox, Mail, Request, Urgent};
use crate::host::Core;
use crate::permission::Taints;
use crate::ports::{Clock, World};
use crate::provider::within;
use crate::store::RepoError;
use crate::store::records::{RunState, StoredNode, StoredRun};
use crate::store::repo::{self, ThreadState};
use crate::turn::{Effect, EffectEnd, Live, RunPhase, TitleTurn};
use futures::future::{FutureExt, LocalBoxFuture};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::ThreadId;
use panelot_protocol::snapshot::{ThreadActivity, ThreadMetaPatch, Waiting};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};
use thiserror::Error;

/// How long the database has for what an actor begins with.
const LOAD_MS_MAX: u64 = 10_000;
/// Failures in a row after which an actor leaves its thread alone until something wakes it again.
const FAILURES_COUNT_MAX: u32 = 3;

/// The actor's view of its thread counts no more: it begins again from what is stored.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum Broken {
    /// The database refused, or failed.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The database did not answer.
    #[error("the database does not answer")]
    Silent,
    /// A step of a run that the table does not have: a fault of the engine.
    #[error(transparent)]
    Step(#[from] crate::turn::IllegalStep),
}

impl Broken {
    /// What pages are told.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Repo(problem) => problem.code(),
            Self::Silent | Self::Step(_) => ErrorCode::Internal,
        }
    }
}

/// Why an actor ended.
enum Exit {
    /// Nothing to do.
    Idle,
    /// The thread is gone.
    Deleted,
}

/// One input.
pub(crate) enum Input {
    Urgent(Urgent),
    Effect(EffectEnd),
    Progress(crate::provider::Progress),
    Title(crate::provider::CallEnd),
    Due,
    Mail(Mail),
}

/// The only writer of one thread.
pub(crate) struct Actor<W: World> {
    pub(crate) core: Rc<Core<W>>,
    pub(crate) id: ThreadId,
    /// What is stored of the thread, except its nodes.
    pub(crate) state: ThreadState,
    /// What runs outside: a model call, a tool. One at a time; dropping it gives it up.
    pub(crate) effect: Option<Effect>,
    /// The title that is looked for beside the turn.
    pub(crate) title: Option<TitleTurn>,
    /// The answer that streams.
    pub(crate) live: Option<Live>,
    /// What the turn waits for, apart from the user.
    pub(crate) waiting: Option<Waiting>,
    /// The calls of the current run that have no result, as nodes.
    pub(crate) calls: Vec<StoredNode>,
    /// When the page that is watched was last looked at in this actor's life.
    pub(crate) looked_at_ms: Option<u64>,
    /// What the pages of the path have shown.
    pub(crate) taints: Taints,
    /// Whether [`Self::taints`] holds what was read before this actor began.
    pub(crate) taints_known: bool,
    /// When something must be looked at.
    timer: Option<(u64, LocalBoxFuture<'static, ()>)>,
    /// Whether the thread was deleted.
    pub(crate) gone: bool,
}

/// Runs a thread's actor until it has nothing to do. `leave` takes it out of the table of actors; it answers whether
/// that was done, which it is unless something came in meanwhile.
pub(crate) async fn run<W: World>(
    core: Rc<Core<W>>,
    id: ThreadId,
    mut inbox: Inbox,
    leave: impl Fn() -> bool,
) {
    let mut failures = 0_u32;
    let mut again = false;
    loop {
        let actor = match load(&core, &id).await {
            Ok(Some(actor)) => actor,
            Ok(None) => {
                refuse_waiting(&core, &mut inbox, &Absence::NoThread).await;
                if leave() {
                    return;
                }
                continue;
            }
            Err(problem) => {
                failures = failures.saturating_add(1);
                if failures >= FAILURES_COUNT_MAX {
                    refuse_waiting(&core, &mut inbox, &Absence::Failure(problem)).await;
                    if leave() {
                        return;
                    }
                    failures = 0;
                }
                continue;
            }
        };
        match actor.serve(&mut inbox, &mut failures, again).await {
            Ok(Exit::Idle | Exit::Deleted) => {
                if leave() {
                    return;
                }
            }
            Err(problem) => {
                failures = failures.saturating_add(1);
                again = true;
                tell_failure(&core, &id, &problem);
                if failures >= FAILURES_COUNT_MAX {
                    refuse_waiting(&core, &mut inbox, &Absence::Failure(problem)).await;
                    if leave() {
                        return;
                    }
                    failures = 0;
                }
            }
        }
    }
}

async fn load<W: World>(core: &Rc<Core<W>>, id: &ThreadId) -> Result<Option<Actor<W>>, Broken> {
    let clock = core.world.clock();
    let until_ms = clock.now_ms().saturating_add(LOAD_MS_MAX);
    let state = match within(clock, until_ms, repo::load_thread(core.world.store(), id)).await {
        Ok(state) => state?,
        Err(_) => return Err(Broken::Silent),
    };
    Ok(state.map(|state| Actor {
        core: Rc::clone(core),
        id: id.clone(),
        state,
        effect: None,
        title: None,
        live: None,
        waiting: None,
        calls: Vec::new(),
        looked_at_ms: None,
        taints: Taints::default(),
        taints_known: false,
        timer: None,
        gone: false,
    }))
}

/// What the pages that see the thread are told when its actor had to begin again.
fn tell_failure<W: World>(core: &Core<W>, id: &ThreadId, problem: &Broken) {
    match problem {
        // Another writer was faster, or the answer was lost: what is stored now decides, and nothing is wrong.
        Broken::Repo(error) if super::change::must_reload(error) => {}
        Broken::Repo(_) | Broken::Silent | Broken::Step(_) => core.publisher.publish(
            id,
            AgentEvent::Error {
                submission_id: None,
                thread_id: Some(id.clone()),
                turn_id: None,
                code: problem.code(),
                message: problem.to_string(),
                retryable: true,
                error_kind: None,
                provider_details: None,
            },
        ),
    }
}

/// Why nobody can take an Op.
enum Absence {
    NoThread,
    Failure(Broken),
}

/// Answers all that waits of a thread that cannot be served.
async fn refuse_waiting<W: World>(core: &Rc<Core<W>>, inbox: &mut Inbox, absence: &Absence) {
    for (mail, counted) in inbox.drain() {
        refuse_one(core, &mail, absence).await;
        if counted {
            inbox.answered();
        }
    }
}

async fn refuse_one<W: World>(core: &Rc<Core<W>>, mail: &Mail, absence: &Absence) {
    let op = match &mail.request {
        Request::Greet { submission_id } => {
            core.publisher.greet(mail.connection, submission_id.clone(), None);
            return;
        }
        Request::Op { op, .. } => op,
    };
    let (code, message) = match absence {
        Absence::NoThread => (ErrorCode::ThreadNotFound, "there is no such thread".to_owned()),
        Absence::Failure(problem) => (problem.code(), problem.to_string()),
    };
    if op.is_query() {
        return core.publisher.answer(mail.connection, super::receipt::refusal(op, code, message));
    }
    // The Op that deleted the thread may come again: its receipt outlives the thread.
    super::refuse(core, mail, code, message).await;
}

impl<W: World> Actor<W> {
    /// Serves the thread. `again`: pages may have seen what is not stored, so they are asked to look anew.
    async fn serve(mut self, inbox: &mut Inbox, failures: &mut u32, again: bool) -> Result<Exit, Broken> {
        if again {
            self.say_look_anew();
        }
        self.load_calls().await?;
        self.recover().await?;
        self.advance().await?;
        self.show_presence();
        loop {
            self.set_timer();
            if self.is_idle() && inbox.is_quiet() {
                return Ok(Exit::Idle);
            }
            let input = self.next(inbox).await;
            let counted = matches!(input, Input::Mail(_));
            let outcome = self.take(input).await;
            if counted {
                inbox.answered();
            }
            outcome?;
            *failures = 0;
            if self.gone {
                return Ok(Exit::Deleted);
            }
        }
    }

    /// Asks the pages to look anew: they may have seen what is not stored, or not have seen what is.
    pub(crate) fn say_look_anew(&self) {
        let patch = ThreadMetaPatch { path_replaced: true, ..ThreadMetaPatch::default() };
        let (thread_id, revision) = (self.id.clone(), self.state.thread.revision);
        self.publish(AgentEvent::ThreadUpdated { thread_id, revision, patch: Box::new(patch) });
    }

    /// The next input: what must not wait first, then what runs, then Ops.
    async fn next(&mut self, inbox: &mut Inbox) -> Input {
        poll_fn(|cx| self.poll_next(inbox, cx)).await
    }

    fn poll_next(&mut self, inbox: &mut Inbox, cx: &mut Context<'_>) -> Poll<Input> {
        if let Poll::Ready(urgent) = inbox.poll_urgent(cx) {
            return Poll::Ready(Input::Urgent(urgent));
        }
        if let Some(effect) = &mut self.effect {
            if let Some(progress) = effect.poll_progress(cx) {
                return Poll::Ready(Input::Progress(progress));
            }
            if let Poll::Ready(end) = effect.poll_end(cx) {
                // What it said just before its end comes before the end.
                if let Some(progress) = effect.poll_progress(cx) {
                    effect.keep_end(end);
                    return Poll::Ready(Input::Progress(progress));
                }
                self.effect = None;
                return Poll::Ready(Input::Effect(end));
            }
        }
        if let Some(title) = &mut self.title
            && let Poll::Ready(end) = title.poll_end(cx)
        {
            return Poll::Ready(Input::Title(end));
        }
        if let Some((_, timer)) = &mut self.timer
            && timer.poll_unpin(cx).is_ready()
        {
            self.timer = None;
            return Poll::Ready(Input::Due);
        }
        if let Poll::Ready(mail) = inbox.poll_op(cx) {
            return Poll::Ready(Input::Mail(mail));
        }
        Poll::Pending
    }

    async fn take(&mut self, input: Input) -> Result<(), Broken> {
        match input {
            Input::Urgent(Urgent::Mail(mail)) | Input::Mail(mail) => self.mail(mail).await?,
            Input::Urgent(Urgent::Wake) | Input::Due => self.due().await?,
            Input::Progress(progress) => self.progress(progress).await?,
            Input::Effect(end) => self.effect_ended(end).await?,
            Input::Title(end) => self.title_ended(end).await?,
        }
        self.advance().await
    }

    /// The run that is not queued: the one that runs, or that waits for a decision.
    pub(crate) fn current(&self) -> Option<&StoredRun> {
        self.state.runs.iter().find(|run| !run.state.is_queued())
    }

    /// Whether nothing will happen unless somebody asks for it.
    fn is_idle(&self) -> bool {
        let busy = self.current().is_some_and(|run| {
            let phase = RunPhase::of(&run.state);
            phase.is_busy() && phase != RunPhase::PausedUncertain
        });
        !busy && self.effect.is_none() && self.title.is_none()
    }

    /// Tells the rest of the engine what this thread does.
    pub(crate) fn show_presence(&self) {
        let mut doing = doing(&self.state);
        doing.working |= self.title.is_some();
        self.core.presence.set(&self.id, doing);
    }

    fn set_timer(&mut self) {
        let due = self.next_due_ms();
        if self.timer.as_ref().map(|(at_ms, _)| *at_ms) == due {
            return;
        }
        self.timer = due.map(|at_ms| (at_ms, self.core.world.clock().sleep_until(at_ms).boxed_local()));
    }

    /// The nearest time at which something is to be looked at while the worker lives.
    fn next_due_ms(&self) -> Option<u64> {
        let deadlines = self.state.approvals.iter().map(|approval| approval.request.deadline_ms);
        let draft = self.live.as_ref().and_then(Live::draft_due_ms);
        deadlines.chain(draft).chain(self.wait_due_ms()).min()
    }
}

/// What a thread in this state does.
pub(crate) fn doing(state: &ThreadState) -> crate::host::Doing {
    let Some(run) = state.runs.iter().find(|run| !run.state.is_queued()) else {
        let starts = state.runs.iter().any(|run| run.state.is_queued()) && !state.thread.queue_held;
        return match starts {
            true => crate::host::Doing { activity: ThreadActivity::Running, working: true, pending: true },
            false => crate::host::Doing::NOTHING,
        };
    };
    let (activity, working, pending) = match &run.state {
        RunState::Preparing { not_before_ms, .. } => (ThreadActivity::Running, not_before_ms.is_none(), true),
        RunState::Queued {} | RunState::StreamingModel { .. } | RunState::ExecutingTool { .. } => {
            (ThreadActivity::Running, true, true)
        }
        RunState::WaitingApproval { .. } => (ThreadActivity::WaitingForUser, false, true),
        RunState::WaitingInteraction { interaction_id, .. } => {
            let wait = state.interactions.iter().find(|wait| &wait.id == interaction_id);
            // A page or a time is awaited without the user: nobody is called for it.
            let needs_user = wait.is_none_or(|wait| wait.request.needs_user());
            let activity = if needs_user { ThreadActivity::WaitingForUser } else { ThreadActivity::Running };
            (activity, false, true)
        }
        RunState::PausedBudget {}
        | RunState::PausedUncertain { .. }
        | RunState::Interrupted { resumable: true } => (ThreadActivity::NeedsRecovery, false, false),
        RunState::Interrupted { resumable: false } | RunState::Failed { .. } | RunState::Completed { .. } => {
            (ThreadActivity::Idle, false, false)
        }
    };
    crate::host::Doing { activity, working, pending }
}
