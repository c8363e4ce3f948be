//! Feeding recorded responses to a decoder, cut in every way.

use panelot_providers::{
    Connection, Final, Incomplete, Kind, Quirks, ResponseHead, StreamDecoder, StreamEvent,
};

pub type Outcome = (Vec<StreamEvent>, Result<Final, Box<Incomplete>>);

pub fn connection(kind: Kind, quirks: Quirks) -> Connection {
    Connection { quirks, ..Connection::new("c1", kind, "https://api.example.com/v1") }
}

/// Decodes a response that arrives in `chunks` and then ends.
pub fn decode<'c>(connection: &Connection, chunks: impl IntoIterator<Item = &'c [u8]>) -> Outcome {
    let head = ResponseHead::new(200).with("content-type", "text/event-stream").with("x-request-id", "req_1");
    let mut decoder = StreamDecoder::new(connection, "m1", [], &head);
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(decoder.push(chunk));
    }
    (events, decoder.finish())
}

/// Decodes `body` whole, cut once at every byte, and byte by byte: the outcome must be the same each time.
#[track_caller]
pub fn decode_cut(connection: &Connection, body: &[u8]) -> Outcome {
    let whole = decode(connection, [body]);
    for at in 0..=body.len() {
        let (head, tail) = body.split_at(at);
        assert_eq!(decode(connection, [head, tail]), whole, "cut at {at}");
    }
    assert_eq!(decode(connection, body.chunks(1)), whole, "byte by byte");
    whole
}

/// A stream whose events have these data lines, with the OpenAI kind's end.
pub fn stream(chunks: &[&str]) -> String {
    chunks.iter().chain(&["[DONE]"]).map(|chunk| format!("data: {chunk}\n\n")).collect()
}
