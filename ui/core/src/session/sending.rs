//! Messages on their way: from the composer to the engine, and back into the composer when they are refused.

use panelot_protocol::event::ErrorCode;
use panelot_protocol::ids::{RunId, SubmissionId, ThreadId, TurnId};
use panelot_protocol::item::ItemKind;
use panelot_protocol::op::Op;
use panelot_protocol::turn::UserInput;

use super::{Change, Delivery, Session, say};
use crate::connection::Surroundings;
use crate::i18n::Key;
use crate::outgoing::{FirstMessage, Outgoing, Place};
use crate::trouble::{Step, Trouble};

impl Session {
    /// Messages of the shown thread that are not confirmed, oldest first.
    #[must_use]
    pub fn outgoing(&self) -> Vec<Outgoing> {
        let shown = |sent: &&Outgoing| match (&sent.place, self.thread_id()) {
            (Place::Thread(thread_id), Some(shown)) => thread_id == shown,
            (Place::New(create), None) => self.creating.as_ref() == Some(create),
            (Place::Thread(_), None) | (Place::New(_), Some(_)) => false,
        };
        self.outgoing.iter().filter(shown).cloned().collect()
    }

    /// Takes over the messages that an earlier life of the page sent and that have no answer.
    pub fn remember(&mut self, left_over: Vec<Outgoing>) {
        self.outgoing.extend(left_over);
    }

    pub(super) fn send(
        &mut self,
        input: UserInput,
        delivery: Delivery,
        around: &mut dyn Surroundings,
    ) -> Vec<Change> {
        let submission_id = around.submission_id();
        let overrides = Some(self.overrides());
        let mut sent = Outgoing {
            submission_id: submission_id.clone(),
            place: Place::New(submission_id.clone()),
            input: input.clone(),
            overrides: overrides.clone(),
            run_id: None,
            steer: false,
        };
        let Some(thread_id) = self.thread_id().cloned() else {
            if self.creating.is_some() {
                return vec![Change::Restore(input)];
            }
            let create_id = around.submission_id();
            self.creating = Some(create_id.clone());
            sent.place = Place::New(create_id.clone());
            self.outgoing.push(sent);
            let create = Op::ThreadCreate { submission_id: create_id, preset: None, folder_id: None };
            let first = FirstMessage { submission_id, input, overrides };
            return vec![Change::Begin(Box::new(create), Box::new(first)), Change::Outgoing];
        };
        sent.place = Place::Thread(thread_id.clone());
        let steerable = self.user_turn().filter(|turn| turn.steerable).map(|turn| turn.turn_id.clone());
        let op = match (steerable, delivery) {
            (Some(expected_turn_id), Delivery::Now) => {
                sent.steer = true;
                Op::TurnSteer { submission_id, thread_id, expected_turn_id, input }
            }
            (Some(_), Delivery::Queue) => Op::TurnEnqueue { submission_id, thread_id, input, overrides },
            (None, Delivery::Now | Delivery::Queue) => {
                Op::TurnSubmit { submission_id, thread_id, input, overrides }
            }
        };
        self.outgoing.push(sent);
        vec![say(op), Change::Outgoing]
    }

    /// A thread was made. Its first message follows by itself; the page shows it when it is what the page waits for.
    pub(super) fn created(
        &mut self,
        submission: &SubmissionId,
        thread_id: ThreadId,
        around: &mut dyn Surroundings,
    ) -> Vec<Change> {
        for sent in &mut self.outgoing {
            if sent.place == Place::New(submission.clone()) {
                sent.place = Place::Thread(thread_id.clone());
            }
        }
        if self.creating.as_ref() != Some(submission) {
            return Vec::new();
        }
        self.creating = None;
        let subscribe = around.submission_id();
        self.opening = Some((subscribe.clone(), thread_id.clone()));
        let mut changes = vec![
            Change::Showing(Some(thread_id.clone())),
            say(Op::ThreadSubscribe { submission_id: subscribe, thread_id }),
        ];
        changes.extend(self.list(None, around));
        changes
    }

    pub(super) fn acked(&mut self, submission_id: &SubmissionId, run_id: Option<&RunId>) -> Vec<Change> {
        let mut changes: Vec<Change> = self.saved(submission_id, true).into_iter().collect();
        if let Some(at) = self.outgoing.iter().position(|sent| sent.submission_id == *submission_id) {
            let (shown, turn_is_over) = (self.shows(at), self.view.is_some() && self.user_turn().is_none());
            match self.outgoing.get_mut(at).filter(|sent| shown && !(sent.steer && turn_is_over)) {
                Some(sent) => sent.run_id = run_id.cloned(),
                // The engine has it: its thread shows it, here or whenever it is opened again.
                None => _ = self.outgoing.remove(at),
            }
            self.forget_delivered();
            changes.push(Change::Outgoing);
        }
        changes
    }

    /// Whether an unconfirmed message is of the shown thread.
    fn shows(&self, at: usize) -> bool {
        let place = self.outgoing.get(at).map(|sent| &sent.place);
        self.thread_id().is_some_and(|shown| place == Some(&Place::Thread(shown.clone())))
    }

    pub(super) fn refused(
        &mut self,
        submission_id: &SubmissionId,
        code: ErrorCode,
        message: &str,
        around: &mut dyn Surroundings,
    ) -> Vec<Change> {
        let mut changes: Vec<Change> = self.saved(submission_id, false).into_iter().collect();
        let trouble = Trouble::of(code, message, None, None);
        self.stopping = false;
        if self.opening.as_ref().is_some_and(|(asked, _)| asked == submission_id) {
            changes.extend(self.leave());
        }
        let of_refused = |sent: &Outgoing| {
            sent.submission_id == *submission_id || sent.place == Place::New(submission_id.clone())
        };
        let Some(at) = self.outgoing.iter().position(of_refused) else {
            // Stopping what has ended already is what the user wanted.
            if code != ErrorCode::NoActiveTurn {
                changes.push(Change::Trouble(trouble));
            }
            changes.push(Change::Around);
            return changes;
        };
        let mut sent = self.outgoing.remove(at);
        if let Some(op) = instead(&mut sent, code, around) {
            changes.push(say(op));
            self.outgoing.push(sent);
        } else {
            changes.extend(self.give_back(sent, trouble));
        }
        changes.push(Change::Outgoing);
        changes
    }

    /// A message that is not taken goes back to where it was written: into the composer, or into the draft of its
    /// thread when another one is shown.
    fn give_back(&mut self, sent: Outgoing, trouble: Trouble) -> Vec<Change> {
        let create = match &sent.place {
            Place::New(create) => Some(create),
            Place::Thread(_) => None,
        };
        let shown = match &sent.place {
            Place::Thread(thread_id) => self.thread_id() == Some(thread_id),
            Place::New(create) => self.creating.as_ref() == Some(create),
        };
        if create.is_some() && self.creating.as_ref() == create {
            self.creating = None;
        }
        if shown {
            return vec![Change::Restore(sent.input), Change::Trouble(trouble)];
        }
        let thread_id = match sent.place {
            Place::Thread(thread_id) => Some(thread_id),
            Place::New(_) => None,
        };
        let kept = Trouble::own(Key::ErrKeptAsDraft, "", Step::None);
        vec![Change::Keep(thread_id, sent.input), Change::Trouble(kept)]
    }

    /// Keeps a message of another page that nobody takes.
    #[must_use]
    pub fn keep(&mut self, sent: &Outgoing) -> Vec<Change> {
        self.give_back(sent.clone(), Trouble::own(Key::ErrKeptAsDraft, "", Step::None))
    }

    pub(super) fn failed(
        &mut self,
        submission_id: Option<&SubmissionId>,
        thread_id: Option<&ThreadId>,
        trouble: Trouble,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(submission_id) = submission_id {
            changes.extend(self.saved(submission_id, false));
            if self.paging.as_ref() == Some(submission_id) {
                self.paging = None;
            }
            if self.opening.as_ref().is_some_and(|(asked, _)| asked == submission_id) {
                changes.extend(self.leave());
            }
            if let Some(at) = self.outgoing.iter().position(|sent| sent.submission_id == *submission_id) {
                let sent = self.outgoing.remove(at);
                changes.extend(self.give_back(sent, trouble.clone()));
                changes.push(Change::Outgoing);
            }
        }
        if thread_id.is_none() || thread_id == self.thread_id() {
            changes.push(Change::Trouble(trouble));
        }
        changes
    }

    /// Drops the unconfirmed messages that the thread now shows: as an item, in its queue, or among those that wait for
    /// the running turn.
    pub(super) fn forget_delivered(&mut self) {
        let Some(view) = &self.view else { return };
        let thread = &view.snapshot;
        let steers = thread.active_turn.as_ref().map(|turn| turn.steers.as_slice()).unwrap_or_default();
        self.outgoing.retain(|sent| {
            let Some(run_id) = &sent.run_id else { return true };
            let queued = thread.queue.runs.iter().any(|run| run.run_id == *run_id);
            let waits = sent.steer && steers.contains(&sent.input);
            let shown =
                thread.items.iter().rev().filter(|item| item.kind == ItemKind::UserMessage).any(|item| {
                    let of_run = item.turn_id == TurnId::from(run_id);
                    of_run && (!sent.steer || item.meta.input.as_ref() == Some(&sent.input))
                });
            !(queued || waits || shown)
        });
    }
}

/// What to say in the place of a refused message: one for a turn that has ended becomes the next turn. `None` when there
/// is nothing to be said.
pub fn instead(sent: &mut Outgoing, code: ErrorCode, around: &mut dyn Surroundings) -> Option<Op> {
    let missed =
        matches!(code, ErrorCode::TurnMismatch | ErrorCode::TurnNotSteerable | ErrorCode::NoActiveTurn);
    let Place::Thread(thread_id) = &sent.place else { return None };
    if !(sent.steer && missed) {
        return None;
    }
    sent.submission_id = around.submission_id();
    sent.steer = false;
    Some(Op::TurnSubmit {
        submission_id: sent.submission_id.clone(),
        thread_id: thread_id.clone(),
        input: sent.input.clone(),
        overrides: sent.overrides.clone(),
    })
}
