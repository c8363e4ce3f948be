//! The two lanes into an actor: Ops, bounded, and what must never wait behind them.

use crate::ports::ConnectionKey;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::stream::StreamExt;
use panelot_protocol::ids::{ClientId, SubmissionId};
use panelot_protocol::limits;
use panelot_protocol::op::Op;
use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Poll};

/// An Op of a page.
#[derive(Debug, Clone)]
pub(crate) struct Mail {
    /// The connection that gets the answer.
    pub connection: ConnectionKey,
    /// The page.
    pub client: ClientId,
    /// What is asked.
    pub request: Request,
}

/// What a page asks of a thread.
#[derive(Debug, Clone)]
pub(crate) enum Request {
    /// To see it, as part of the handshake.
    Greet {
        /// The submission.
        submission_id: SubmissionId,
    },
    /// An Op.
    Op {
        /// The Op.
        op: Box<Op>,
        /// SHA-256 of its canonical form.
        fingerprint: String,
    },
}

/// What does not wait behind Ops.
#[derive(Debug)]
pub(crate) enum Urgent {
    /// An interrupt or an answer of the user.
    Mail(Mail),
    /// Look whether something is due.
    Wake,
}

/// The sending side.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    ops: UnboundedSender<Mail>,
    urgent: UnboundedSender<Urgent>,
    unanswered: Rc<Cell<usize>>,
    untaken: Rc<Cell<usize>>,
}

/// The receiving side.
pub(crate) struct Inbox {
    ops: UnboundedReceiver<Mail>,
    urgent: UnboundedReceiver<Urgent>,
    /// Ops that were accepted and not answered.
    unanswered: Rc<Cell<usize>>,
    /// What came in the other lane and was not taken.
    untaken: Rc<Cell<usize>>,
}

/// A new mailbox.
pub(crate) fn mailbox() -> (Handle, Inbox) {
    let (ops, ops_in) = unbounded();
    let (urgent, urgent_in) = unbounded();
    let (unanswered, untaken) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let handle = Handle { ops, urgent, unanswered: Rc::clone(&unanswered), untaken: Rc::clone(&untaken) };
    (handle, Inbox { ops: ops_in, urgent: urgent_in, unanswered, untaken })
}

/// Too many Ops wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl Handle {
    /// Puts an Op into its lane.
    ///
    /// # Errors
    /// [`Full`] when as many Ops as may wait are not answered yet.
    pub fn op(&self, mail: Mail) -> Result<(), Full> {
        if self.unanswered.get() >= limits::MAILBOX_OPS_COUNT_MAX {
            return Err(Full);
        }
        self.unanswered.set(self.unanswered.get().saturating_add(1));
        // The receiver lives as long as its handle is in the host's table.
        let _ = self.ops.unbounded_send(mail);
        Ok(())
    }

    /// Puts something into the lane of its own.
    pub fn urgent(&self, urgent: Urgent) {
        self.untaken.set(self.untaken.get().saturating_add(1));
        let _ = self.urgent.unbounded_send(urgent);
    }
}

impl Handle {
    /// Whether everything that came was taken and answered.
    pub fn is_quiet(&self) -> bool {
        self.unanswered.get() == 0 && self.untaken.get() == 0
    }
}

impl Inbox {
    /// Whether everything that came was taken and answered.
    pub fn is_quiet(&self) -> bool {
        self.unanswered.get() == 0 && self.untaken.get() == 0
    }

    /// What must not wait, when something is there.
    pub fn poll_urgent(&mut self, cx: &mut Context<'_>) -> Poll<Urgent> {
        match self.urgent.poll_next_unpin(cx) {
            Poll::Ready(Some(urgent)) => {
                self.untaken.set(self.untaken.get().saturating_sub(1));
                Poll::Ready(urgent)
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// The next Op, when one is there. It counts until [`Inbox::answered`].
    pub fn poll_op(&mut self, cx: &mut Context<'_>) -> Poll<Mail> {
        match self.ops.poll_next_unpin(cx) {
            Poll::Ready(Some(mail)) => Poll::Ready(mail),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// An Op was answered.
    pub fn answered(&self) {
        self.unanswered.set(self.unanswered.get().saturating_sub(1));
    }

    /// Takes all that is there: what must not wait first, each with whether it counts as an Op.
    pub fn drain(&mut self) -> Vec<(Mail, bool)> {
        let mut mails = Vec::new();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(urgent) = self.poll_urgent(&mut cx) {
            match urgent {
                Urgent::Mail(mail) => mails.push((mail, false)),
                Urgent::Wake => {}
            }
        }
        while let Poll::Ready(mail) = self.poll_op(&mut cx) {
            mails.push((mail, true));
        }
        mails
    }
}
