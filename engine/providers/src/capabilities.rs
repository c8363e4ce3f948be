//! What is known of models by the beginnings of their names.

use crate::types::Capabilities;

/// One row: the beginning of a name, tools, vision, reasoning, context window and longest answer in tokens (0: unknown).
type Row = (&'static str, bool, bool, Option<bool>, u32, u32);

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// The longest matching beginning wins. A name that is not here is taken to call tools and to see nothing.
const TABLE: [Row; 73] = [
    ("claude-", true, true, None, 200_000, 8_192),
    ("claude-3-haiku", true, true, NO, 200_000, 4_096),
    ("claude-3-opus", true, true, NO, 200_000, 4_096),
    ("claude-3-5-", true, true, NO, 200_000, 8_192),
    ("claude-3-7-", true, true, YES, 200_000, 64_000),
    ("claude-haiku-4", true, true, YES, 200_000, 64_000),
    ("claude-sonnet-4", true, true, YES, 200_000, 64_000),
    ("claude-opus-4", true, true, YES, 200_000, 32_000),
    ("gpt-3.5", true, false, NO, 16_385, 4_096),
    ("gpt-4", true, false, NO, 8_192, 8_192),
    ("gpt-4-turbo", true, true, NO, 128_000, 4_096),
    ("gpt-4o", true, true, NO, 128_000, 16_384),
    ("chatgpt-4o", false, true, NO, 128_000, 16_384),
    ("gpt-4.1", true, true, NO, 1_047_576, 32_768),
    ("gpt-5", true, true, YES, 400_000, 128_000),
    ("gpt-oss", true, false, YES, 131_072, 0),
    ("o1", true, true, YES, 200_000, 100_000),
    ("o1-mini", false, false, YES, 128_000, 65_536),
    ("o1-preview", false, false, YES, 128_000, 32_768),
    ("o3", true, true, YES, 200_000, 100_000),
    ("o3-mini", true, false, YES, 200_000, 100_000),
    ("o4-mini", true, true, YES, 200_000, 100_000),
    ("gemini-", true, true, None, 1_048_576, 8_192),
    ("gemini-1.5", true, true, NO, 1_048_576, 8_192),
    ("gemini-2.0", true, true, NO, 1_048_576, 8_192),
    ("gemini-2.5", true, true, YES, 1_048_576, 65_536),
    ("gemini-3", true, true, YES, 1_048_576, 65_536),
    ("gemma2", false, false, NO, 8_192, 0),
    ("gemma-2", false, false, NO, 8_192, 0),
    ("gemma3", false, true, NO, 131_072, 0),
    ("gemma-3", false, true, NO, 131_072, 0),
    ("deepseek-chat", true, false, None, 128_000, 8_192),
    ("deepseek-reasoner", true, false, YES, 128_000, 65_536),
    ("deepseek-r1", false, false, YES, 128_000, 0),
    ("deepseek-v3", true, false, None, 128_000, 0),
    ("kimi-", true, false, None, 131_072, 0),
    ("kimi-k2", true, false, None, 131_072, 0),
    ("kimi-k2-thinking", true, false, YES, 262_144, 0),
    ("kimi-k2.5", true, true, YES, 262_144, 0),
    ("kimi-latest", true, true, NO, 131_072, 0),
    ("moonshot-v1-8k", true, false, NO, 8_192, 0),
    ("moonshot-v1-32k", true, false, NO, 32_768, 0),
    ("moonshot-v1-128k", true, false, NO, 131_072, 0),
    ("glm-4", true, false, NO, 128_000, 0),
    ("glm-4v", false, true, NO, 8_192, 0),
    ("glm-4.5", true, false, YES, 131_072, 98_304),
    ("glm-4.5v", true, true, YES, 65_536, 16_384),
    ("glm-4.6", true, false, YES, 200_000, 131_072),
    ("glm-4.6v", true, true, YES, 131_072, 32_768),
    ("qwen", true, false, None, 32_768, 0),
    ("qwen-max", true, false, NO, 32_768, 8_192),
    ("qwen-plus", true, false, None, 131_072, 32_768),
    ("qwen-vl", true, true, NO, 131_072, 8_192),
    ("qwen2.5-vl", true, true, NO, 131_072, 8_192),
    ("qwen3", true, false, YES, 131_072, 32_768),
    ("qwen3-coder", true, false, NO, 262_144, 65_536),
    ("qwen3-max", true, false, None, 262_144, 65_536),
    ("qwen3-vl", true, true, YES, 262_144, 32_768),
    ("qwq", true, false, YES, 131_072, 32_768),
    ("mistral-", true, false, NO, 131_072, 0),
    ("mistral-medium", true, true, NO, 131_072, 0),
    ("mistral-small", true, true, NO, 131_072, 0),
    ("pixtral", true, true, NO, 131_072, 0),
    ("magistral", true, false, YES, 40_960, 0),
    ("grok-3", true, false, None, 131_072, 0),
    ("grok-4", true, true, YES, 256_000, 0),
    ("llama3.2-vision", false, true, NO, 131_072, 0),
    ("llama-3.2-11b-vision", true, true, NO, 131_072, 0),
    ("llama-3.2-90b-vision", true, true, NO, 131_072, 0),
    ("llama-4", true, true, NO, 131_072, 0),
    ("llama4", true, true, NO, 131_072, 0),
    ("llava", false, true, NO, 4_096, 0),
    ("minicpm-v", false, true, NO, 32_768, 0),
];

/// What the name of a model suggests. A vendor in front of it (`openai/gpt-4o`, `models/gemini-2.5-pro`) is passed over.
#[must_use]
pub fn known_capabilities(model: &str) -> Capabilities {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let best = TABLE.iter().filter(|row| name.starts_with(row.0)).max_by_key(|row| row.0.len());
    let known = |tokens: u32| (tokens > 0).then_some(tokens);
    match best {
        Some(&(_, tool_use, vision, reasoning, context, output)) => Capabilities {
            tool_use,
            vision,
            reasoning,
            max_context: known(context),
            max_output: known(output),
        },
        None => Capabilities::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_wins_whatever_the_vendor_and_the_case() {
        let cases = [
            ("gpt-4", false, Some(8_192)),
            ("gpt-4o-mini", true, Some(128_000)),
            ("openai/GPT-4.1-nano", true, Some(1_047_576)),
            ("models/gemini-2.5-pro", true, Some(1_048_576)),
            ("accounts/x/models/qwen3-vl-8b:free", true, Some(262_144)),
            ("claude-sonnet-4-5-20250929", true, Some(200_000)),
            ("somebodys-own-model", false, None),
        ];
        for (model, vision, max_context) in cases {
            let known = known_capabilities(model);
            assert_eq!((known.vision, known.max_context), (vision, max_context), "{model}");
        }
        assert_eq!(known_capabilities("somebodys-own-model"), Capabilities::default());
    }

    #[test]
    fn no_beginning_is_listed_twice() {
        let names: std::collections::BTreeSet<&str> = TABLE.iter().map(|row| row.0).collect();
        assert_eq!(names.len(), TABLE.len());
    }
}
