//! What only asks: snapshots and pages of a path, always of one state and in step with the stream.

use super::{Actor, Broken, Mail, Request};
use crate::ports::{Key, World};
use crate::store::records::StoredNode;
use crate::store::repo;
use crate::store::snapshot::{LiveState, items_page, thread_snapshot};
use crate::store::tree::Position;
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::ids::{NodeId, SubmissionId};
use panelot_protocol::op::Op;
use panelot_protocol::snapshot::ThreadSnapshot;

impl<W: World> Actor<W> {
    /// Takes an Op or a greeting.
    ///
    /// # Errors
    /// [`Broken`] when the thread must be loaded again; the Op is answered all the same.
    pub(crate) async fn mail(&mut self, mail: Mail) -> Result<(), Broken> {
        let op = match &mail.request {
            Request::Greet { submission_id } => {
                let snapshot = self.subscribe(&mail).await;
                let submission_id = submission_id.clone();
                self.core.publisher.greet(mail.connection, submission_id, snapshot.ok().map(Box::new));
                return Ok(());
            }
            Request::Op { op, .. } => op.as_ref(),
        };
        let answer = if let Op::ThreadSubscribe { submission_id, .. } = op {
            match self.subscribe(&mail).await {
                Ok(snapshot) => AgentEvent::ThreadSubscribed {
                    submission_id: submission_id.clone(),
                    snapshot: Box::new(snapshot),
                },
                Err(problem) => self.query_failed(submission_id, &problem),
            }
        } else if let Op::ThreadItems { submission_id, before_node_id, limit, .. } = op {
            match self.items(submission_id, before_node_id.as_ref(), *limit).await {
                Ok(answer) => answer,
                Err(problem) => self.query_failed(submission_id, &problem),
            }
        } else {
            return self.command(&mail).await;
        };
        self.core.publisher.answer(mail.connection, answer);
        Ok(())
    }

    /// Subscribes a page and gives it the snapshot that the stream goes on from: no event of this thread comes
    /// between the two, since they all come from this actor.
    async fn subscribe(&self, mail: &Mail) -> Result<ThreadSnapshot, Broken> {
        let cursor = self.core.publisher.subscribe(mail.connection, &self.id);
        let live = LiveState {
            active_turn: self.active_turn(),
            items: self.live.as_ref().map(crate::turn::Live::items).unwrap_or_default(),
            cursor,
        };
        Ok(thread_snapshot(self.core.world.store(), &self.state, live).await?)
    }

    async fn items(
        &self,
        submission_id: &SubmissionId,
        before: Option<&NodeId>,
        limit: u32,
    ) -> Result<AgentEvent, Broken> {
        let page = |items, older_than| AgentEvent::ThreadItemsPage {
            submission_id: submission_id.clone(),
            thread_id: self.id.clone(),
            items,
            older_than,
        };
        let Some(leaf) = self.state.leaf() else { return Ok(page(Vec::new(), None)) };
        let before_depth = match before {
            None => u64::MAX,
            Some(node_id) => match self.node(node_id).await? {
                Some(node) => node.depth,
                None => {
                    return Ok(AgentEvent::CommandRejected {
                        submission_id: submission_id.clone(),
                        code: ErrorCode::InvalidCommand,
                        message: "beforeNodeId: no such node in this thread".to_owned(),
                        thread_id: Some(self.id.clone()),
                        retryable: false,
                    });
                }
            },
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found = items_page(self.core.world.store(), &self.state.tree, &leaf, before_depth, limit).await?;
        Ok(page(found.items, found.older_than))
    }

    /// A node of this thread.
    ///
    /// # Errors
    /// [`Broken`] when the database fails.
    pub(crate) async fn node(&self, id: &NodeId) -> Result<Option<StoredNode>, Broken> {
        let node = repo::get::<_, StoredNode>(self.core.world.store(), Key::text(id.as_str())).await?;
        Ok(node.filter(|node| node.thread_id == self.id))
    }

    /// Where a node of this thread stands.
    ///
    /// # Errors
    /// [`Broken`] when the database fails.
    pub(crate) async fn position(&self, id: &NodeId) -> Result<Option<Position>, Broken> {
        Ok(self.node(id).await?.as_ref().map(Position::from))
    }

    fn query_failed(&self, submission_id: &SubmissionId, problem: &Broken) -> AgentEvent {
        AgentEvent::CommandRejected {
            submission_id: submission_id.clone(),
            code: problem.code(),
            message: problem.to_string(),
            thread_id: Some(self.id.clone()),
            retryable: true,
        }
    }
}
