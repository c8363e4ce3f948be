//! What the model says in more than one story.

use std::time::Duration;

use panelot_driver::provider::{ParsedRequest, Piece, Reply};

/// Longer than the engine takes to write down what has been streamed.
const CHECKPOINT_MS: u64 = 2_500;

/// Tells half a story and stops at the gate `middle`; when it is asked to go on, it tells the rest.
#[must_use]
pub fn storyteller(request: &ParsedRequest) -> Reply {
    let told = request.messages.iter().any(|message| message.text.contains("Once upon a time"));
    if !request.offers("read_page") {
        return Reply::text("A story");
    }
    if told {
        return Reply::text("and they lived happily ever after.");
    }
    Reply::text("Once upon a time ")
        .with(Piece::Pause(Duration::from_millis(CHECKPOINT_MS)))
        .say("there was a fox ")
        .then_wait_at("middle")
        .say("that nobody ever saw.")
}
