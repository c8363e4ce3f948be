//! Arbitrary bytes as an event with its place in a stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use panelot_protocol::decode::decode_event;

fuzz_target!(|text: &str| {
    if let Ok(Some(frame)) = decode_event(text) {
        let written = frame.encode().expect("an event has a JSON form");
        assert_eq!(decode_event(&written), Ok(Some(frame)));
    }
});
