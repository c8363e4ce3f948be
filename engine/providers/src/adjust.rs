//! What to change in a request that an endpoint refused: recognised once, applied once, remembered for that model.

use panelot_protocol::FromJson;
use serde::Serialize;

use crate::types::{Kind, MaxTokensField, Quirks};

/// One change that makes a refused request acceptable. Store it for the model, and say so to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    /// Send the output limit as `max_completion_tokens`.
    UseMaxCompletionTokens,
    /// Send the output limit as `max_tokens`.
    UseMaxTokens,
    /// Leave `temperature` out.
    DropTemperature,
    /// Leave `top_p` out.
    DropTopP,
    /// Leave `stop` out.
    DropStopSequences,
    /// Leave `stream_options` out.
    DropStreamOptions,
    /// Leave `parallel_tool_calls` out.
    DropParallelToolCalls,
    /// Leave `tool_choice` out.
    DropToolChoice,
    /// Ask for no reasoning: leave `reasoning_effort` or `thinking` out.
    DropReasoningEffort,
    /// Use the fixed thinking budget in place of adaptive thinking.
    UseManualThinking,
    /// Send no earlier reasoning back.
    DropReasoningReplay,
    /// Put the system prompt into the first user message.
    FoldSystemPrompt,
    /// Put an assistant message between tool results and a user message.
    BridgeUserAfterTool,
    /// Send tool call ids of nine letters or digits.
    ShortenToolIds,
    /// Send no cache marks.
    DropPromptCache,
}

impl Adjustment {
    /// Whether to remember it for the model. What is wrong with one history's replayed thinking on the Anthropic wire
    /// says nothing about the model.
    #[must_use]
    pub fn is_lasting(self, kind: Kind) -> bool {
        !(self == Self::DropReasoningReplay && kind == Kind::Anthropic)
    }
}

impl Quirks {
    /// These quirks with `adjustment` applied as well.
    #[must_use]
    pub fn adjusted(&self, adjustment: Adjustment) -> Quirks {
        let mut quirks = self.clone();
        match adjustment {
            Adjustment::UseMaxCompletionTokens => {
                quirks.max_tokens_field = MaxTokensField::MaxCompletionTokens
            }
            Adjustment::UseMaxTokens => quirks.max_tokens_field = MaxTokensField::MaxTokens,
            Adjustment::DropTemperature => quirks.no_temperature = true,
            Adjustment::DropTopP => quirks.no_top_p = true,
            Adjustment::DropStopSequences => quirks.no_stop_sequences = true,
            Adjustment::DropStreamOptions => quirks.no_stream_options = true,
            Adjustment::DropParallelToolCalls => quirks.no_parallel_field = true,
            Adjustment::DropToolChoice => quirks.no_tool_choice = true,
            Adjustment::DropReasoningEffort => quirks.no_reasoning_effort = true,
            Adjustment::UseManualThinking => quirks.anthropic_manual_thinking = true,
            Adjustment::DropReasoningReplay => quirks.no_reasoning_replay = true,
            Adjustment::FoldSystemPrompt => quirks.no_system_role = true,
            Adjustment::BridgeUserAfterTool => quirks.no_user_after_tool = true,
            Adjustment::ShortenToolIds => quirks.short_tool_ids = true,
            Adjustment::DropPromptCache => quirks.no_prompt_cache = true,
        }
        quirks
    }
}

/// What a refusal with this text and this `param` asks for. `None` when it names nothing that can be left out.
pub(crate) fn recognise(message: &str, param: Option<&str>) -> Option<Adjustment> {
    let text = message.to_ascii_lowercase();
    let has = |needle: &str| text.contains(needle);
    if let Some(adjustment) = param.and_then(|param| by_param(param, &text)) {
        return Some(adjustment);
    }
    if has("use 'max_completion_tokens'")
        || has("use max_completion_tokens")
        || has("use `max_completion_tokens`")
    {
        return Some(Adjustment::UseMaxCompletionTokens);
    }
    if has("cannot both be specified") && has("top_p") {
        return Some(Adjustment::DropTopP);
    }
    if has("role 'user' after role 'tool'") || has("role user after role tool") {
        return Some(Adjustment::BridgeUserAfterTool);
    }
    if has("tool call id") && has("length of 9") {
        return Some(Adjustment::ShortenToolIds);
    }
    if is_thinking_replay_fault(&text) {
        return Some(Adjustment::DropReasoningReplay);
    }
    if has("system role") && (has("not supported") || has("unsupported"))
        || has("developer instruction is not enabled")
    {
        return Some(Adjustment::FoldSystemPrompt);
    }
    if has("adaptive thinking is not supported") || has("thinking.type") && has("adaptive") {
        return Some(Adjustment::UseManualThinking);
    }
    // The order matters where one name is a part of another's usual sentence.
    const NAMES: [&str; 13] = [
        "stream_options",
        "parallel_tool_calls",
        "tool_choice",
        "max_completion_tokens",
        "max_tokens",
        "temperature",
        "top_p",
        "reasoning_effort",
        "output_config",
        "reasoning_content",
        "cache_control",
        "thinking",
        "'stop'",
    ];
    if !names_a_refused_field(&text) {
        return None;
    }
    NAMES.iter().find(|name| has(name)).and_then(|name| by_param(name.trim_matches('\''), &text))
}

/// Whether the text complains that a field as such is unwelcome, and not of its value.
fn names_a_refused_field(text: &str) -> bool {
    const COMPLAINTS: [&str; 13] = [
        "unsupported",
        "not supported",
        "does not support",
        "doesn't support",
        "unknown",
        "unrecognized",
        "unexpected",
        "extra inputs",
        "extra fields",
        "not permitted",
        "not allowed",
        "only default",
        "only the default",
    ];
    COMPLAINTS.iter().any(|complaint| text.contains(complaint))
}

/// The wordings with which the Anthropic wire refuses replayed thinking.
fn is_thinking_replay_fault(text: &str) -> bool {
    text.contains("thinking")
        && (text.contains("cannot be modified")
            || text.contains("invalid `signature`")
            || text.contains("expected `thinking`")
            || text.contains("must start with a thinking block")
            || text.contains("invalid signature"))
}

fn by_param(param: &str, text: &str) -> Option<Adjustment> {
    let name = param.rsplit('.').find(|piece| piece.parse::<usize>().is_err()).unwrap_or(param);
    let root = param.split(['.', '[']).next().unwrap_or(param);
    let adjustment = match (root, name) {
        ("max_tokens", _) if names_a_refused_field(text) => Adjustment::UseMaxCompletionTokens,
        ("max_completion_tokens", _) if names_a_refused_field(text) => Adjustment::UseMaxTokens,
        ("temperature", _) if names_a_refused_field(text) => Adjustment::DropTemperature,
        ("top_p", _) if names_a_refused_field(text) => Adjustment::DropTopP,
        ("stop", _) if names_a_refused_field(text) => Adjustment::DropStopSequences,
        ("stream_options", _) => Adjustment::DropStreamOptions,
        ("parallel_tool_calls", _) => Adjustment::DropParallelToolCalls,
        ("tool_choice", _) => Adjustment::DropToolChoice,
        ("reasoning_effort" | "reasoning" | "output_config", _) => Adjustment::DropReasoningEffort,
        ("thinking", _) if text.contains("adaptive") => Adjustment::UseManualThinking,
        ("thinking", _) => Adjustment::DropReasoningEffort,
        (_, "reasoning_content" | "reasoning_details") => Adjustment::DropReasoningReplay,
        (_, "cache_control") => Adjustment::DropPromptCache,
        _ => return None,
    };
    Some(adjustment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_real_servers_name_their_adjustment() {
        use Adjustment as A;
        let cases = [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some(A::UseMaxCompletionTokens),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
                None,
                Some(A::UseMaxCompletionTokens),
            ),
            ("Unknown field: max_completion_tokens", None, Some(A::UseMaxTokens)),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some(A::DropTemperature),
            ),
            ("temperature: only default (1) is supported", None, Some(A::DropTemperature)),
            (
                r#"[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]"#,
                None,
                Some(A::DropStreamOptions),
            ),
            ("temperature must be between 0 and 2", Some("temperature"), None),
            ("Unrecognized request argument supplied: stream_options", None, Some(A::DropStreamOptions)),
            (
                "body.parallel_tool_calls: Extra inputs are not permitted",
                None,
                Some(A::DropParallelToolCalls),
            ),
            ("Unknown parameter: 'tool_choice'.", Some("tool_choice"), Some(A::DropToolChoice)),
            ("Unrecognized request argument supplied: reasoning_effort", None, Some(A::DropReasoningEffort)),
            (
                "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
                None,
                Some(A::DropReasoningReplay),
            ),
            (
                "messages.3.content.0: Invalid `signature` in `thinking` block",
                None,
                Some(A::DropReasoningReplay),
            ),
            (
                "messages.2.reasoning_content: Extra inputs are not permitted",
                None,
                Some(A::DropReasoningReplay),
            ),
            ("adaptive thinking is not supported on this model", None, Some(A::UseManualThinking)),
            ("cache_control: Extra inputs are not permitted", None, Some(A::DropPromptCache)),
            ("System role not supported", None, Some(A::FoldSystemPrompt)),
            ("Unexpected role 'user' after role 'tool'", None, Some(A::BridgeUserAfterTool)),
            (
                "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
                None,
                Some(A::ShortenToolIds),
            ),
            ("`temperature` and `top_p` cannot both be specified for this model.", None, Some(A::DropTopP)),
            ("The model `nope` does not exist", Some("model"), None),
            ("Invalid schema for function 'x'", Some("tools[0].function.parameters"), None),
            ("", None, None),
        ];
        for (message, param, want) in cases {
            assert_eq!(recognise(message, param), want, "{message}");
        }
    }

    #[test]
    fn an_adjustment_changes_the_quirks_and_stays_when_applied_again() {
        use Adjustment as A;
        let all = [
            A::UseMaxCompletionTokens,
            A::DropTemperature,
            A::DropTopP,
            A::DropStopSequences,
            A::DropStreamOptions,
            A::DropParallelToolCalls,
            A::DropToolChoice,
            A::DropReasoningEffort,
            A::UseManualThinking,
            A::DropReasoningReplay,
            A::FoldSystemPrompt,
            A::BridgeUserAfterTool,
            A::ShortenToolIds,
            A::DropPromptCache,
        ];
        for adjustment in all {
            let once = Quirks::default().adjusted(adjustment);
            assert_ne!(once, Quirks::default(), "{adjustment:?}");
            assert_eq!(once.adjusted(adjustment), once, "{adjustment:?}");
        }
        let back = Quirks::default().adjusted(A::UseMaxCompletionTokens).adjusted(A::UseMaxTokens);
        assert_eq!(back, Quirks::default());
    }
}
