//! What runs outside the actor for a turn, and reports to it.

use super::tools::{Looked, Prepared, ToolEnd};
use crate::provider::{CallEnd, Progress};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{FutureExt, LocalBoxFuture};
use futures::stream::StreamExt;
use std::future::Future;
use std::task::{Context, Poll};

/// How an effect ended.
pub(crate) enum EffectEnd {
    /// A model call.
    Model(CallEnd),
    /// A call's target was looked at.
    Prepared(Box<Prepared>),
    /// The targets of several reads were looked at, in the order of the calls.
    PreparedReads(Vec<Prepared>),
    /// A tool ran.
    Tool(Box<ToolEnd>),
    /// Several reads ran, in the order of the calls.
    Reads(Vec<ToolEnd>),
    /// A page that is watched was looked at.
    Looked(Box<Looked>),
}

/// Something that runs; dropping it gives it up.
pub(crate) struct Effect {
    task: LocalBoxFuture<'static, EffectEnd>,
    progress: UnboundedReceiver<Progress>,
    /// An end that waits until all progress before it was taken.
    end: Option<EffectEnd>,
}

impl Effect {
    /// An effect that is made of a way to report its progress.
    pub fn new<F>(work: impl FnOnce(UnboundedSender<Progress>) -> F) -> Self
    where
        F: Future<Output = EffectEnd> + 'static,
    {
        let (sender, progress) = unbounded();
        Self { task: work(sender).boxed_local(), progress, end: None }
    }

    /// What it says, if it says something.
    pub fn poll_progress(&mut self, cx: &mut Context<'_>) -> Option<Progress> {
        match self.progress.poll_next_unpin(cx) {
            Poll::Ready(progress) => progress,
            Poll::Pending => None,
        }
    }

    /// Its end.
    pub fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<EffectEnd> {
        match self.end.take() {
            Some(end) => Poll::Ready(end),
            None => self.task.poll_unpin(cx),
        }
    }

    /// Puts the end back for the next [`Effect::poll_end`].
    pub fn keep_end(&mut self, end: EffectEnd) {
        self.end = Some(end);
    }
}
