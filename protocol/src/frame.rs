//! An event as it goes over a Port: the event's own fields, and where it stands in its thread's stream.

use crate::event::AgentEvent;
use crate::snapshot::StreamCursor;
use crate::{FromJson, Shape};

/// The field of an event's object that carries its [`StreamCursor`]. No event has a field of this name.
pub const CURSOR_FIELD: &str = "stream";

/// One message of the engine to a page.
#[derive(Debug, Clone, PartialEq, FromJson, Shape)]
pub struct EventFrame {
    /// What happened.
    #[serde(flatten)]
    pub event: AgentEvent,
    /// Where it stands, for events of a thread's stream.
    #[serde(default, rename = "stream", skip_serializing_if = "Option::is_none")]
    pub cursor: Option<StreamCursor>,
}

impl EventFrame {
    /// An answer or a broadcast outside any thread's stream.
    pub fn outside(event: AgentEvent) -> Self {
        Self { event, cursor: None }
    }

    /// The message as one JSON text.
    ///
    /// # Errors
    /// When a value has no JSON form, such as a number that is not finite.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        let Some(cursor) = &self.cursor else { return serde_json::to_string(&self.event) };
        let mut text = serde_json::to_string(&self.event)?;
        if text.pop() == Some('}') {
            text.push_str(",\"");
            text.push_str(CURSOR_FIELD);
            text.push_str("\":");
            text.push_str(&serde_json::to_string(cursor)?);
            text.push('}');
        }
        Ok(text)
    }
}
