//! Between the codecs' types and those of the protocol and the store.

use crate::store::records::RunError;
use panelot_protocol::event::{ErrorCode, ProviderDetails, ProviderErrorKind};
use panelot_protocol::limits;
use panelot_protocol::settings::{GenParams, ModelCapabilities, ModelPricing, ReasoningEffort};
use panelot_protocol::turn::TokenUsage;
use panelot_providers::{Capabilities, ErrorKind, Pricing, ProviderError, Usage};

/// Token use as it is stored and shown.
pub fn token_usage(usage: &Usage) -> TokenUsage {
    let some = |count: u64| (count > 0).then_some(count);
    TokenUsage {
        input: usage.input,
        output: usage.output,
        cache_read: some(usage.cache_read),
        cache_write: some(usage.cache_write),
    }
}

/// The cost of a call; `None` when the price is unknown.
pub fn cost_usd(usage: &Usage, pricing: Option<&ModelPricing>) -> Option<f64> {
    let pricing = pricing?;
    let cost = usage.cost_usd(&Pricing {
        input: pricing.input,
        output: pricing.output,
        cache_read: pricing.cache_read,
        cache_write: None,
    });
    cost.is_finite().then_some(cost)
}

/// What the codecs may assume of a model.
pub fn capabilities(of: &ModelCapabilities) -> Capabilities {
    Capabilities {
        tool_use: of.tool_use,
        vision: of.vision,
        reasoning: of.reasoning,
        max_context: of.max_context,
        max_output: None,
    }
}

/// Parameters as the codecs take them.
pub fn gen_params(params: &GenParams) -> panelot_providers::GenParams {
    panelot_providers::GenParams {
        temperature: params.temperature,
        top_p: params.top_p,
        max_tokens: params.max_tokens,
        stop_sequences: params.stop_sequences.clone(),
        reasoning_effort: params.reasoning_effort.map(|effort| match effort {
            ReasoningEffort::Low => panelot_providers::ReasoningEffort::Low,
            ReasoningEffort::Medium => panelot_providers::ReasoningEffort::Medium,
            ReasoningEffort::High => panelot_providers::ReasoningEffort::High,
        }),
    }
}

/// Parameters with a thread's own over those of its preset, field by field.
pub fn overlay(base: &GenParams, over: Option<&GenParams>) -> GenParams {
    let Some(over) = over else { return base.clone() };
    GenParams {
        temperature: over.temperature.or(base.temperature),
        top_p: over.top_p.or(base.top_p),
        max_tokens: over.max_tokens.or(base.max_tokens),
        stop_sequences: over.stop_sequences.clone().or_else(|| base.stop_sequences.clone()),
        reasoning_effort: over.reasoning_effort.or(base.reasoning_effort),
    }
}

/// How a failed call ends its run. `kind` replaces what the error itself says, where the engine knows better.
pub fn run_error(
    error: &ProviderError,
    kind: Option<ProviderErrorKind>,
    connection: &panelot_providers::Connection,
) -> RunError {
    RunError {
        code: ErrorCode::ProviderError,
        message: cut(&error.to_string(), limits::MESSAGE_CHARS_MAX),
        retryable: error.kind.is_transient() || kind == Some(ProviderErrorKind::HostPermission),
        kind: Some(kind.unwrap_or_else(|| error_kind(&error.kind))),
        details: Some(ProviderDetails {
            connection_id: Some(panelot_protocol::ids::ConnectionId::new(connection.id.as_str())),
            connection_name: Some(cut(&connection.name, limits::NAME_CHARS_MAX)),
            status: error.status.map(u32::from),
            request_id: error.request_id.as_ref().map(|id| cut(id, limits::NAME_CHARS_MAX)),
            retry_after_ms: retry_after_ms(&error.kind),
        }),
    }
}

/// What an endpoint asked to wait.
fn retry_after_ms(kind: &ErrorKind) -> Option<u64> {
    match kind {
        ErrorKind::RateLimit { retry_after_ms }
        | ErrorKind::Overloaded { retry_after_ms }
        | ErrorKind::Server { retry_after_ms } => *retry_after_ms,
        ErrorKind::Auth
        | ErrorKind::OriginRefused
        | ErrorKind::Quota
        | ErrorKind::ContextTooLong
        | ErrorKind::ContentFilter
        | ErrorKind::Network
        | ErrorKind::Protocol(_)
        | ErrorKind::NotFound
        | ErrorKind::Rejected { .. }
        | ErrorKind::Invalid { .. } => None,
    }
}

/// The kind as pages know it.
pub(super) fn error_kind(kind: &ErrorKind) -> ProviderErrorKind {
    match kind {
        ErrorKind::Auth => ProviderErrorKind::Auth,
        ErrorKind::RateLimit { .. } => ProviderErrorKind::RateLimit,
        ErrorKind::Quota => ProviderErrorKind::InsufficientQuota,
        ErrorKind::Overloaded { .. } | ErrorKind::Server { .. } => ProviderErrorKind::Overloaded,
        ErrorKind::ContextTooLong => ProviderErrorKind::ContextTooLong,
        ErrorKind::ContentFilter => ProviderErrorKind::ContentFilter,
        ErrorKind::Network => ProviderErrorKind::Network,
        ErrorKind::Protocol(_) => ProviderErrorKind::Protocol,
        ErrorKind::OriginRefused
        | ErrorKind::NotFound
        | ErrorKind::Rejected { .. }
        | ErrorKind::Invalid { .. } => ProviderErrorKind::BadRequest,
    }
}

/// At most so many characters of a text.
pub(crate) fn cut(text: &str, chars_max: u64) -> String {
    let max = usize::try_from(chars_max).unwrap_or(usize::MAX);
    match text.char_indices().nth(max.saturating_sub(1)) {
        Some((end, last)) if end.saturating_add(last.len_utf8()) < text.len() => {
            format!("{}…", text.get(..end).unwrap_or_default())
        }
        Some(_) | None => text.to_owned(),
    }
}
