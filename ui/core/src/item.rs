//! One item as a page keeps it: what it is, how far it is, and its text as blocks that are built once.

use std::rc::Rc;

use panelot_protocol::item::{ItemDelta, ItemDetails, ItemKind, ItemMeta, ItemResult, ItemStatus, ItemView};
use serde_json::Value;

use crate::markdown::MarkdownStream;

/// An item and everything that its row shows.
#[derive(Debug, Clone)]
pub struct ItemState {
    /// Its kind.
    pub kind: ItemKind,
    /// What was known at its start.
    pub meta: Rc<ItemMeta>,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// What is known since its end.
    pub details: Option<ItemDetails>,
    /// Text of everything but an assistant's message.
    pub text: String,
    /// An assistant's message.
    pub markdown: MarkdownStream,
    /// A tool's last word on its progress.
    pub progress: Option<Value>,
}

impl ItemState {
    /// The state of an item as a snapshot or the fold has it.
    #[must_use]
    pub fn of(item: &ItemView) -> Self {
        let mut state = Self {
            kind: item.kind,
            meta: Rc::new(item.meta.clone()),
            status: item.status,
            details: item.details.clone(),
            text: String::new(),
            markdown: MarkdownStream::default(),
            progress: item.tool_progress.clone(),
        };
        state.add(&item.text);
        if item.status == ItemStatus::Running {
            state.markdown.settle();
        } else {
            state.markdown.finish();
        }
        state
    }

    /// Adds what is new. Cheap; [`ItemState::settle`] follows once for all that came in a frame.
    pub fn grow(&mut self, delta: &ItemDelta) {
        for text in [&delta.text, &delta.reasoning].into_iter().flatten() {
            self.add(text);
        }
        if delta.tool_progress.is_some() {
            self.progress.clone_from(&delta.tool_progress);
        }
    }

    /// Moves finished blocks out of the growing tail.
    pub fn settle(&mut self) {
        self.markdown.settle();
    }

    /// The item has ended.
    pub fn end(&mut self, result: Option<&ItemResult>) {
        let ok = result.is_none_or(|result| result.ok);
        self.status = if ok { ItemStatus::Done } else { ItemStatus::Failed };
        self.details = result.and_then(|result| result.details.clone());
        self.progress = None;
        self.markdown.finish();
    }

    /// What the user wrote, for a user's message.
    #[must_use]
    pub fn written(&self) -> &str {
        self.meta.input.as_ref().map_or(self.text.as_str(), |input| input.text.as_str())
    }

    fn add(&mut self, text: &str) {
        match self.kind {
            ItemKind::AssistantMessage => self.markdown.push(text),
            ItemKind::UserMessage
            | ItemKind::Reasoning
            | ItemKind::ToolCall
            | ItemKind::Approval
            | ItemKind::Interaction
            | ItemKind::SystemNotice => self.text.push_str(text),
        }
    }
}
