//! Arbitrary bytes as an Op.

#![no_main]

use libfuzzer_sys::fuzz_target;
use panelot_protocol::decode::{decode_greeting, decode_op};

fuzz_target!(|text: &str| {
    let _ = decode_greeting(text);
    if let Ok(op) = decode_op(text) {
        let written = serde_json::to_string(&op).expect("an Op has a JSON form");
        assert_eq!(decode_op(&written).as_ref(), Ok(&op));
    }
});
