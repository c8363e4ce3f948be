//! The answer that streams, as pages see it before it is stored.

use crate::store::records::StoredDraft;
use crate::store::snapshot::reasoning_item_id;
use panelot_protocol::event::AgentEvent;
use panelot_protocol::ids::{ItemId, NodeId, RunId, ThreadId, TurnId};
use panelot_protocol::item::{ItemDelta, ItemKind, ItemMeta, ItemStatus, ItemView};
use panelot_providers::StreamEvent;

/// How often the text so far is stored.
pub(crate) const DRAFT_INTERVAL_MS: u64 = 1_000;

/// The text so far of one answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    /// The node that it will be.
    pub node_id: NodeId,
    /// The run.
    pub run_id: RunId,
    /// When it began: the time of its items.
    pub began_ms: u64,
    /// The answer.
    pub text: String,
    /// The thoughts.
    pub reasoning: String,
    text_shown: bool,
    thinking: Thinking,
    /// Whether pages show something in another order, or of another kind, than what will be stored.
    pub misshown: bool,
    draft: Draft,
}

/// How far the thoughts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    Unseen,
    Running,
    Over,
}

/// When the text so far was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draft {
    /// All that there is was.
    Stored { at_ms: u64 },
    /// There is more.
    Due { at_ms: u64 },
}

/// What a piece of the answer means for pages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Say {
    /// An event of the thread.
    Event(Box<AgentEvent>),
    /// A piece that may be merged with its neighbours.
    Delta(ItemId, ItemDelta),
}

impl Live {
    /// An answer that begins now.
    pub fn new(node_id: NodeId, run_id: RunId, now_ms: u64) -> Self {
        Self {
            node_id,
            run_id,
            began_ms: now_ms,
            text: String::new(),
            reasoning: String::new(),
            text_shown: false,
            thinking: Thinking::Unseen,
            misshown: false,
            draft: Draft::Stored { at_ms: now_ms },
        }
    }

    /// Takes a piece of the stream; answers what pages are told.
    pub fn take(&mut self, thread_id: &ThreadId, event: StreamEvent, now_ms: u64) -> Vec<Say> {
        let mut say = Vec::new();
        match event {
            StreamEvent::Text(text) if !text.is_empty() => {
                if self.thinking == Thinking::Running {
                    self.thinking = Thinking::Over;
                    let item_id = reasoning_item_id(&self.node_id);
                    say.push(event_of(AgentEvent::ItemComplete {
                        thread_id: thread_id.clone(),
                        item_id,
                        result: None,
                    }));
                }
                if !std::mem::replace(&mut self.text_shown, true) {
                    say.push(self.start(thread_id, ItemKind::AssistantMessage));
                }
                self.text.push_str(&text);
                let delta = ItemDelta { text: Some(text), ..ItemDelta::default() };
                say.push(Say::Delta(ItemId::from(&self.node_id), delta));
                self.grown(now_ms);
            }
            StreamEvent::Reasoning(text) if !text.is_empty() => {
                match self.thinking {
                    Thinking::Unseen => {
                        // Thoughts are stored before the answer that they led to.
                        self.misshown |= self.text_shown;
                        say.push(self.start(thread_id, ItemKind::Reasoning));
                        self.thinking = Thinking::Running;
                    }
                    Thinking::Running | Thinking::Over => {}
                }
                self.reasoning.push_str(&text);
                let delta = ItemDelta { reasoning: Some(text), ..ItemDelta::default() };
                say.push(Say::Delta(reasoning_item_id(&self.node_id), delta));
                self.grown(now_ms);
            }
            StreamEvent::TextWasReasoning => {
                self.reasoning.push_str(&std::mem::take(&mut self.text));
                self.misshown |= self.text_shown;
                self.grown(now_ms);
            }
            StreamEvent::Text(_)
            | StreamEvent::Reasoning(_)
            | StreamEvent::ToolCallDelta { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::Alive => {}
        }
        say
    }

    /// The events that make what pages show equal to the stored items of this answer.
    pub fn settle(&self, thread_id: &ThreadId, stored: &[ItemView]) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for item in stored {
            let (shown, text) = match item.kind {
                ItemKind::Reasoning => (self.thinking != Thinking::Unseen, &self.reasoning),
                ItemKind::AssistantMessage => (self.text_shown, &self.text),
                ItemKind::UserMessage
                | ItemKind::ToolCall
                | ItemKind::Approval
                | ItemKind::Interaction
                | ItemKind::SystemNotice => (false, &self.text),
            };
            if shown && text == &item.text {
                events.extend(crate::thread::item_end(thread_id, item));
            } else {
                events.extend(crate::thread::item_events(thread_id, item));
            }
        }
        events
    }

    /// Whether pages show an item that will not be stored.
    pub fn shows_other_than(&self, stored: &[ItemView]) -> bool {
        let has = |kind| stored.iter().any(|item| item.kind == kind);
        self.misshown
            || (self.text_shown && !has(ItemKind::AssistantMessage))
            || (self.thinking != Thinking::Unseen && !has(ItemKind::Reasoning))
    }

    /// Its items as a snapshot carries them.
    pub fn items(&self) -> Vec<ItemView> {
        let item = |item_id, kind, text: &str, status| ItemView {
            item_id,
            turn_id: TurnId::from(&self.run_id),
            kind,
            meta: self.meta(),
            text: text.to_owned(),
            tool_progress: None,
            status,
            details: None,
        };
        let mut items = Vec::new();
        let status = match self.thinking {
            Thinking::Running => ItemStatus::Running,
            Thinking::Unseen | Thinking::Over => ItemStatus::Done,
        };
        if !self.reasoning.is_empty() {
            let id = reasoning_item_id(&self.node_id);
            items.push(item(id, ItemKind::Reasoning, &self.reasoning, status));
        }
        if !self.text.is_empty() {
            let id = ItemId::from(&self.node_id);
            items.push(item(id, ItemKind::AssistantMessage, &self.text, ItemStatus::Running));
        }
        items
    }

    /// When the text so far is to be stored; `None` when all of it is.
    pub fn draft_due_ms(&self) -> Option<u64> {
        match self.draft {
            Draft::Stored { .. } => None,
            Draft::Due { at_ms } => Some(at_ms),
        }
    }

    /// The draft to store, when it is time.
    pub fn draft(&mut self, now_ms: u64) -> Option<StoredDraft> {
        if self.draft_due_ms().is_none_or(|due_ms| due_ms > now_ms) {
            return None;
        }
        self.draft = Draft::Stored { at_ms: now_ms };
        Some(StoredDraft {
            run_id: self.run_id.clone(),
            node_id: self.node_id.clone(),
            text: self.text.clone(),
            reasoning: self.reasoning.clone(),
            at_ms: now_ms,
        })
    }

    fn grown(&mut self, now_ms: u64) {
        if let Draft::Stored { at_ms } = self.draft {
            self.draft = Draft::Due { at_ms: at_ms.saturating_add(DRAFT_INTERVAL_MS).max(now_ms) };
        }
    }

    fn meta(&self) -> ItemMeta {
        ItemMeta { node_id: Some(self.node_id.clone()), at_ms: Some(self.began_ms), ..ItemMeta::default() }
    }

    fn start(&self, thread_id: &ThreadId, kind: ItemKind) -> Say {
        let item_id = match kind {
            ItemKind::Reasoning => reasoning_item_id(&self.node_id),
            ItemKind::UserMessage
            | ItemKind::AssistantMessage
            | ItemKind::ToolCall
            | ItemKind::Approval
            | ItemKind::Interaction
            | ItemKind::SystemNotice => ItemId::from(&self.node_id),
        };
        event_of(AgentEvent::ItemStart {
            thread_id: thread_id.clone(),
            turn_id: TurnId::from(&self.run_id),
            item_id,
            kind,
            meta: self.meta(),
        })
    }
}

fn event_of(event: AgentEvent) -> Say {
    Say::Event(Box::new(event))
}
