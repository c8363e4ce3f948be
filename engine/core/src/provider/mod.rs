//! Model calls: what drives the codecs over the network, with keys, waits, time-outs and retries.

mod call;
mod convert;
mod models;
mod race;

pub use call::{CallEnd, ModelPlan, Progress, call};
pub(crate) use convert::cut;
pub use convert::{capabilities, cost_usd, gen_params, overlay, run_error, token_usage};
pub use models::list_models;
pub use race::{Late, within};

/// How long an endpoint has for the first byte of an answer, unless its connection says otherwise.
pub const FIRST_BYTE_MS: u64 = 60_000;
/// How long an endpoint may be silent in the middle of an answer, unless its connection says otherwise; keep-alives count
/// as life.
pub const SILENCE_MS: u64 = 120_000;
/// After how long without a first byte the user is told.
pub const SLOW_PROVIDER_MS: u64 = 10_000;
/// The longest wait that a live timer does; a longer one is stored, and an alarm ends it.
pub const LIVE_WAIT_MS_MAX: u64 = 20_000;
// An answer is cut behind the line that makes it too long: what is kept of it can still be sent to a page.
const _: () = assert!(
    (panelot_providers::OUTPUT_BYTES_MAX + panelot_providers::sse::SSE_LINE_BYTES_MAX) as u64
        <= panelot_protocol::limits::ITEM_TEXT_CHARS_MAX
);

/// How long an endpoint has to list its models.
pub const MODELS_MS_MAX: u64 = 4_000;
/// How long the body of a refusal may take.
const REFUSAL_BODY_MS_MAX: u64 = 10_000;
