//! One model call with all its attempts, as an effect that reports while it goes on.

use super::convert::run_error;
use super::{LIVE_WAIT_MS_MAX, Late, REFUSAL_BODY_MS_MAX, SLOW_PROVIDER_MS, within};
use crate::ports::{Clock, Entropy, Http, HttpBody, HttpError, World};
use crate::settings::{NotReady, ReadyConnection, SettingsBook};
use crate::store::records::RunError;
use futures::channel::mpsc::UnboundedSender;
use panelot_protocol::event::{ErrorCode, ProviderErrorKind};
use panelot_protocol::snapshot::{Waiting, WaitingReason};
use panelot_protocol::turn::ModelRef;
use panelot_providers::{
    Answer, Capabilities, ErrorKind, FAILURE_BODY_BYTES_MAX, Final, GenParams, Incomplete, Message,
    ModelRequest, Output, ProviderError, ResponseHead, Retry, RetryState, StreamDecoder, StreamEvent,
    ToolChoice, ToolSchema, build_request, read_failure,
};
use std::rc::Rc;

/// What a call sends.
#[derive(Debug, Clone)]
pub struct ModelPlan {
    /// The model.
    pub model: ModelRef,
    /// The system prompt's layers, the most stable first.
    pub system: Vec<String>,
    /// The history.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: Vec<ToolSchema>,
    /// Whether they may be called.
    pub tool_choice: ToolChoice,
    /// Parameters.
    pub params: GenParams,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// Attempts of the same call that were made before a stored wait.
    pub attempts_before: u32,
}

/// What a call says before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// The answer grew.
    Stream(StreamEvent),
    /// It waits for something, or no longer.
    Waiting(Option<Waiting>),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEnd {
    /// With a whole answer.
    Whole(Box<Final>),
    /// Without one; what there is of it is worth keeping.
    Broken {
        /// What came before the end.
        answer: Box<Answer>,
        /// Whether the user has seen anything of it.
        shown: bool,
        /// What went wrong.
        error: RunError,
        /// Whether the same call may simply be made again when the user wants it.
        resumable: bool,
    },
    /// Not yet: the next attempt is far away.
    Wait {
        /// When it may be made.
        until_ms: u64,
        /// Attempts so far.
        attempts: u32,
        /// Why.
        reason: WaitingReason,
    },
}

/// Makes a call. Dropping it aborts the request.
pub async fn call<W: World>(
    world: W,
    settings: Rc<SettingsBook<W>>,
    plan: ModelPlan,
    progress: UnboundedSender<Progress>,
) -> CallEnd {
    let mut ready = match settings.ready(&plan.model.connection_id, Some(&plan.model)).await {
        Ok(ready) => ready,
        Err(problem) => return broken_before(not_ready(&problem)),
    };
    if !world.http().may_reach(&ready.connection.base_url).await {
        return broken_before(no_permission(&ready));
    }
    let mut retry = RetryState::new(ready.keys.len(), settings.working_key(&ready.id));
    loop {
        let attempt = Attempt { world: &world, ready: &ready, plan: &plan, progress: &progress };
        let fault = match attempt.make(retry.key()).await {
            Ok(whole) => {
                settings.remember_key(&ready.id, retry.key());
                return CallEnd::Whole(Box::new(whole));
            }
            Err(fault) => fault,
        };
        let _ = progress.unbounded_send(Progress::Waiting(None));
        let output = if fault.incomplete.nothing_shown() { Output::Nothing } else { Output::Shown };
        let now_ms = world.clock().now_ms();
        match retry.next(&fault.incomplete.error, output, now_ms, world.entropy().unit()) {
            Retry::Now { .. } => {}
            Retry::Adjusted { adjustment, .. } => {
                ready.connection.quirks = ready.connection.quirks.adjusted(adjustment);
                // Not remembering it costs one more refusal next time, no more.
                let _ = settings.learn(&plan.model, adjustment).await;
            }
            Retry::After { .. } if attempts(&plan, &retry) > retry.attempts_max() => {
                return fault.end(&ready, true);
            }
            Retry::After { ms, .. } => {
                let reason = waiting_reason(&fault.incomplete.error.kind);
                let until_ms = now_ms.saturating_add(ms);
                if ms > LIVE_WAIT_MS_MAX {
                    let attempts = u32::try_from(attempts(&plan, &retry)).unwrap_or(u32::MAX);
                    return CallEnd::Wait { until_ms, attempts, reason };
                }
                let waiting = Waiting { reason, until_ms: Some(until_ms) };
                let _ = progress.unbounded_send(Progress::Waiting(Some(waiting)));
                world.clock().sleep_until(until_ms).await;
                let _ = progress.unbounded_send(Progress::Waiting(None));
            }
            Retry::AskUser { .. } => return fault.end(&ready, true),
            Retry::GiveUp => return fault.end(&ready, false),
        }
    }
}

/// Attempts of this call, those before a stored wait included.
fn attempts(plan: &ModelPlan, retry: &RetryState) -> usize {
    usize::try_from(plan.attempts_before).unwrap_or(usize::MAX).saturating_add(retry.attempts())
}

/// A failed attempt.
struct Fault {
    incomplete: Box<Incomplete>,
    /// What the engine knows better than the codec.
    kind: Option<ProviderErrorKind>,
}

impl Fault {
    fn before_answer(error: ProviderError) -> Self {
        Self::of(error, None)
    }

    fn of(error: ProviderError, kind: Option<ProviderErrorKind>) -> Self {
        let incomplete = Incomplete { answer: Answer::default(), dropped_calls: Vec::new(), error };
        Self { incomplete: Box::new(incomplete), kind }
    }

    fn end(self, ready: &ReadyConnection, asks_user: bool) -> CallEnd {
        let error = run_error(&self.incomplete.error, self.kind, &ready.connection);
        let shown = !self.incomplete.nothing_shown();
        CallEnd::Broken {
            answer: Box::new(self.incomplete.answer),
            shown,
            error,
            resumable: shown || asks_user,
        }
    }
}

struct Attempt<'a, W: World> {
    world: &'a W,
    ready: &'a ReadyConnection,
    plan: &'a ModelPlan,
    progress: &'a UnboundedSender<Progress>,
}

impl<W: World> Attempt<'_, W> {
    async fn make(&self, key: usize) -> Result<Final, Fault> {
        let system: Vec<&str> = self.plan.system.iter().map(String::as_str).collect();
        let request = ModelRequest {
            model: &self.plan.model.model_id,
            system: &system,
            messages: &self.plan.messages,
            tools: &self.plan.tools,
            tool_choice: self.plan.tool_choice,
            params: &self.plan.params,
            capabilities: self.plan.capabilities,
        };
        let request = build_request(&self.ready.connection, self.ready.keys.get(key), &request)
            .map_err(Fault::before_answer)?;
        let clock = self.world.clock();
        let started_ms = clock.now_ms();
        let first_byte_at_ms = started_ms.saturating_add(self.ready.first_byte_ms);
        let response = self.patiently(started_ms, first_byte_at_ms, self.world.http().send(request)).await;
        let response = match response {
            Err(Late) => return Err(too_late("no answer began", self.ready.first_byte_ms)),
            Ok(Err(error)) => return Err(http_fault(&error)),
            Ok(Ok(response)) => response,
        };
        let head = ResponseHead { status: response.status, headers: response.headers };
        if !(200..300).contains(&head.status) {
            return Err(self.refusal(&head, response.body).await);
        }
        self.answer(&head, response.body, started_ms, first_byte_at_ms).await
    }

    /// Waits for something that begins an answer, and tells the user when it takes long.
    async fn patiently<T>(
        &self,
        started_ms: u64,
        deadline_ms: u64,
        work: impl Future<Output = T>,
    ) -> Result<T, Late> {
        let clock = self.world.clock();
        let mut work = std::pin::pin!(work);
        let slow_at_ms = started_ms.saturating_add(SLOW_PROVIDER_MS);
        if let Ok(value) = within(clock, slow_at_ms, work.as_mut()).await {
            return Ok(value);
        }
        let waiting = Waiting { reason: WaitingReason::SlowProvider, until_ms: Some(deadline_ms) };
        let _ = self.progress.unbounded_send(Progress::Waiting(Some(waiting)));
        let outcome = within(clock, deadline_ms, work).await;
        let _ = self.progress.unbounded_send(Progress::Waiting(None));
        outcome
    }

    async fn answer(
        &self,
        head: &ResponseHead,
        mut body: impl HttpBody,
        started_ms: u64,
        first_byte_at_ms: u64,
    ) -> Result<Final, Fault> {
        let clock = self.world.clock();
        let ready = self.ready;
        let mut decoder = StreamDecoder::new(&ready.connection, &self.plan.model.model_id, &ready.keys, head);
        let mut begun = false;
        let (ended, kind) = loop {
            let chunk = if begun {
                within(clock, clock.now_ms().saturating_add(ready.silence_ms), body.chunk()).await
            } else {
                self.patiently(started_ms, first_byte_at_ms, body.chunk()).await
            };
            match chunk {
                Ok(Ok(Some(bytes))) => {
                    begun = true;
                    for event in decoder.push(&bytes) {
                        let _ = self.progress.unbounded_send(Progress::Stream(event));
                    }
                    if decoder.is_over() {
                        break (decoder.finish(), None);
                    }
                }
                Ok(Ok(None)) => break (decoder.finish(), None),
                Ok(Err(error)) => {
                    let fault = http_fault(&error);
                    break (decoder.fail(fault.incomplete.error), fault.kind);
                }
                Err(Late) => {
                    let fault = match begun {
                        true => too_late("the answer stopped", ready.silence_ms),
                        false => too_late("no answer began", self.ready.first_byte_ms),
                    };
                    break (decoder.fail(fault.incomplete.error), fault.kind);
                }
            }
        };
        ended.map_err(|incomplete| Fault { incomplete, kind })
    }

    async fn refusal(&self, head: &ResponseHead, mut body: impl HttpBody) -> Fault {
        let clock = self.world.clock();
        let until_ms = clock.now_ms().saturating_add(REFUSAL_BODY_MS_MAX);
        let mut text = Vec::new();
        while text.len() < FAILURE_BODY_BYTES_MAX {
            match within(clock, until_ms, body.chunk()).await {
                Ok(Ok(Some(bytes))) => text.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(Late) => break,
            }
        }
        let ready = self.ready;
        Fault::before_answer(read_failure(&ready.connection, &ready.keys, head, &text, clock.now_ms()))
    }
}

fn too_late(what: &str, ms: u64) -> Fault {
    let text = format!("{what} within {} s", ms / 1_000);
    Fault::of(ProviderError::network(&text), Some(ProviderErrorKind::Timeout))
}

fn http_fault(error: &HttpError) -> Fault {
    match error {
        HttpError::Network(text) => Fault::before_answer(ProviderError::network(text)),
        HttpError::Redirected => Fault::before_answer(ProviderError::invalid("baseUrl", error.to_string())),
        HttpError::Forbidden => Fault::of(
            ProviderError::invalid("baseUrl", error.to_string()),
            Some(ProviderErrorKind::HostPermission),
        ),
    }
}

fn waiting_reason(kind: &ErrorKind) -> WaitingReason {
    match kind {
        ErrorKind::RateLimit { .. } => WaitingReason::RateLimit,
        ErrorKind::Auth
        | ErrorKind::OriginRefused
        | ErrorKind::Quota
        | ErrorKind::Overloaded { .. }
        | ErrorKind::Server { .. }
        | ErrorKind::ContextTooLong
        | ErrorKind::ContentFilter
        | ErrorKind::Network
        | ErrorKind::Protocol(_)
        | ErrorKind::NotFound
        | ErrorKind::Rejected { .. }
        | ErrorKind::Invalid { .. } => WaitingReason::Retry,
    }
}

fn broken_before(error: RunError) -> CallEnd {
    CallEnd::Broken { answer: Box::default(), shown: false, error, resumable: false }
}

fn not_ready(problem: &NotReady) -> RunError {
    let code = match problem {
        NotReady::NoConnection | NotReady::Disabled(_) | NotReady::KeyUnreadable(_) => {
            ErrorCode::NotConfigured
        }
        NotReady::Vault(_) | NotReady::Storage(_) => ErrorCode::Internal,
    };
    RunError { code, message: problem.to_string(), retryable: false, kind: None, details: None }
}

fn no_permission(ready: &ReadyConnection) -> RunError {
    let error = ProviderError::invalid(
        "baseUrl",
        format!("the extension has no permission for {} yet: grant it", ready.connection.base_url),
    );
    run_error(&error, Some(ProviderErrorKind::HostPermission), &ready.connection)
}
