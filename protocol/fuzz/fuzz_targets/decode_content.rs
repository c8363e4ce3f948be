//! Arbitrary bytes as a message between engine and content script.

#![no_main]

use libfuzzer_sys::fuzz_target;
use panelot_protocol::decode::{decode_content_op, decode_content_result};

fuzz_target!(|text: &str| {
    if let Ok(op) = decode_content_op(text) {
        let written = serde_json::to_string(&op).expect("a content Op has a JSON form");
        assert_eq!(decode_content_op(&written).as_ref(), Ok(&op));
    }
    if let Ok(result) = decode_content_result(text) {
        let written = serde_json::to_string(&result).expect("a content result has a JSON form");
        assert_eq!(decode_content_result(&written).as_ref(), Ok(&result));
    }
});
