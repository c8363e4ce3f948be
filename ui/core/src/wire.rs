//! Texts of the Port into events and back.

use panelot_protocol::decode::decode_event;
use panelot_protocol::frame::EventFrame;
use panelot_protocol::op::Op;

/// What a text of the engine is.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// An event of a known type.
    Frame(Box<EventFrame>),
    /// An event of a type that this build does not know. Newer engines may say more; it is ignored.
    Unknown,
    /// Not an event, or a known one with a wrong field. The sentence names the path and the rule.
    Unreadable(String),
}

/// Reads a text of the engine.
#[must_use]
pub fn read(text: &str) -> Heard {
    match decode_event(text) {
        Ok(Some(frame)) => Heard::Frame(Box::new(frame)),
        Ok(None) => Heard::Unknown,
        Err(error) => Heard::Unreadable(error.to_string()),
    }
}

/// The text of an Op.
///
/// # Errors
/// When a value has no JSON form.
pub fn write(op: &Op) -> Result<String, serde_json::Error> {
    serde_json::to_string(op)
}

#[cfg(test)]
mod tests {
    use panelot_protocol::event::AgentEvent;
    use panelot_protocol::snapshot::StreamCursor;

    use super::*;

    fn complete(cursor: &str) -> String {
        format!(r#"{{"type":"item.complete","threadId":"t","itemId":"i"{cursor}}}"#)
    }

    #[test]
    fn a_stream_event_brings_its_cursor() {
        let heard = read(&complete(r#","stream":{"threadId":"t","epoch":"e","sequence":7}"#));
        let expected = EventFrame {
            event: AgentEvent::ItemComplete { thread_id: "t".into(), item_id: "i".into(), result: None },
            cursor: Some(StreamCursor { thread_id: "t".into(), epoch: "e".into(), sequence: 7 }),
        };
        assert_eq!(heard, Heard::Frame(Box::new(expected)));
    }

    #[test]
    fn an_unknown_type_is_ignored_and_a_wrong_field_is_not() {
        assert_eq!(read(r#"{"type":"weather.updated","sky":"blue"}"#), Heard::Unknown);
        assert!(matches!(read(r#"{"type":"thread.deleted"}"#), Heard::Unreadable(_)));
        assert!(matches!(read("[1"), Heard::Unreadable(_)));
    }

    #[test]
    fn what_a_frame_writes_is_read_back() {
        let frame = EventFrame {
            event: AgentEvent::ThreadDeleted { thread_id: "t".into() },
            cursor: Some(StreamCursor { thread_id: "t".into(), epoch: "e".into(), sequence: 1 }),
        };
        assert_eq!(read(&frame.encode().unwrap()), Heard::Frame(Box::new(frame)));
    }
}
