//! The codecs against whole requests and recorded responses.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod anthropic_stream;
mod any_bytes;
mod any_history;
mod openai_stream;
mod replay;
mod requests;
mod support;
