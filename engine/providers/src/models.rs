//! Model lists: what an endpoint names, what it says about each model, and what is known of models by their names.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::answer::Pricing;
use crate::capabilities::known_capabilities;
use crate::errors::{ProtocolFault, ProviderError, cut};
use crate::types::Capabilities;

/// The longest model list, in bytes.
pub const MODEL_LIST_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most models of one list; further ones are left out.
pub const MODELS_MAX: usize = 10_000;
/// The longest model id, in bytes. A list with a longer one is not a list of models.
const MODEL_ID_BYTES_MAX: usize = 512;
/// The longest display name that is kept, in characters.
const NAME_CHARS_MAX: usize = 200;

/// A model of an endpoint's list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedModel {
    /// The id to send.
    pub id: String,
    /// The endpoint's name for people.
    pub display_name: Option<String>,
    /// What the list says about it, and what is known by its name where the list is silent.
    pub capabilities: Capabilities,
    /// The price, where the list has it.
    pub pricing: Option<Pricing>,
    /// `false` for models that do not chat: embeddings, speech, images, moderation.
    pub is_chat: bool,
}

/// Reads the answer to [`build_models_request`](crate::build_models_request): an object with a `data` array whose
/// entries have a non-empty `id`. Repeated ids count once.
///
/// # Errors
/// [`ProtocolFault::Malformed`] for anything else, naming the entry: an unchecked name must not get into the settings.
pub fn parse_models(body: &[u8]) -> Result<Vec<ListedModel>, ProviderError> {
    if body.len() > MODEL_LIST_BYTES_MAX {
        let fault = ProtocolFault::TooLarge { what: "the model list", bytes_max: MODEL_LIST_BYTES_MAX };
        return Err(ProviderError::protocol(fault));
    }
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| malformed(&format!("the model list is not JSON ({error})")))?;
    let Some(entries) = body.get("data").and_then(Value::as_array) else {
        return Err(malformed("the model list has no `data` array"));
    };
    let mut seen = BTreeSet::new();
    let mut models = Vec::new();
    for (at, entry) in entries.iter().enumerate().take(MODELS_MAX) {
        let id = entry.get("id").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if id.is_empty() || id.len() > MODEL_ID_BYTES_MAX || id.chars().any(char::is_control) {
            return Err(malformed(&format!("data[{at}].id of the model list is not a name")));
        }
        if let Some(entry) = entry.as_object().filter(|_| seen.insert(id)) {
            models.push(read_entry(id, entry));
        }
    }
    Ok(models)
}

fn malformed(what: &str) -> ProviderError {
    ProviderError::protocol(ProtocolFault::Malformed { what: format!("{what}; enter the models by hand") })
}

fn read_entry(id: &str, entry: &Map<String, Value>) -> ListedModel {
    let word =
        |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty() && *text != id);
    ListedModel {
        id: id.to_owned(),
        display_name: word("display_name").or_else(|| word("name")).map(|name| cut(name, NAME_CHARS_MAX)),
        capabilities: stated_capabilities(known_capabilities(id), entry),
        pricing: stated_pricing(entry),
        is_chat: is_chat(id),
    }
}

/// What the entry states, in the words of the endpoints that state anything, over what is `known`.
fn stated_capabilities(known: Capabilities, entry: &Map<String, Value>) -> Capabilities {
    let count = |holder: Option<&Map<String, Value>>, keys: &[&str]| {
        keys.iter()
            .find_map(|key| holder?.get(*key)?.as_u64())
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0)
    };
    let top_provider = entry.get("top_provider").and_then(Value::as_object);
    let lists = |list: Option<&Value>, word: &str| {
        let words = list?.as_array()?;
        Some(words.iter().any(|entry| entry.as_str() == Some(word)))
    };
    let parameters = entry.get("supported_parameters");
    let modalities = entry.get("architecture").and_then(|architecture| architecture.get("input_modalities"));
    let flag =
        |name: &str| entry.get("capabilities").and_then(|flags| flags.get(name)).and_then(Value::as_bool);
    let own = |name: &str| entry.get(name).and_then(Value::as_bool);
    let context =
        ["context_length", "context_window", "max_context_length", "max_model_len", "max_input_tokens"];
    Capabilities {
        tool_use: lists(parameters, "tools").or_else(|| flag("function_calling")).unwrap_or(known.tool_use),
        vision: lists(modalities, "image")
            .or_else(|| flag("vision"))
            .or_else(|| own("supports_image_in"))
            .unwrap_or(known.vision),
        reasoning: lists(parameters, "reasoning").or_else(|| own("supports_reasoning")).or(known.reasoning),
        max_context: count(Some(entry), &context).or(known.max_context),
        max_output: count(top_provider, &["max_completion_tokens"])
            .or_else(|| count(Some(entry), &["max_completion_tokens"]))
            .or(known.max_output),
    }
}

/// OpenRouter's prices, which are strings in dollars per token.
fn stated_pricing(entry: &Map<String, Value>) -> Option<Pricing> {
    const TOKENS_PER_PRICE: f64 = 1_000_000.0;
    let pricing = entry.get("pricing")?;
    let price = |key: &str| {
        let per_token: f64 = pricing.get(key)?.as_str()?.parse().ok()?;
        (per_token.is_finite() && per_token >= 0.0).then_some(per_token * TOKENS_PER_PRICE)
    };
    Some(Pricing {
        input: price("prompt")?,
        output: price("completion")?,
        cache_read: price("input_cache_read"),
        cache_write: price("input_cache_write"),
    })
}

fn is_chat(id: &str) -> bool {
    const OTHERS: [&str; 13] = [
        "embed",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "transcribe",
        "rerank",
        "gpt-image",
        "stable-diffusion",
        "bge-",
        "sora",
        "imagen",
        "davinci-002",
    ];
    let id = id.to_ascii_lowercase();
    !OTHERS.iter().any(|other| id.contains(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(body: &str) -> Result<Vec<String>, String> {
        match parse_models(body.as_bytes()) {
            Ok(models) => Ok(models.into_iter().map(|model| model.id).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_data_array_of_ids_is_a_list_with_or_without_the_rest() {
        let got =
            ids(r#"{"object":"list","data":[{"id":"a"},{"id":"b","created":1,"owned_by":null},{"id":"a"}]}"#);
        assert_eq!(got, Ok(vec!["a".into(), "b".into()]));
        assert_eq!(ids(r#"{"data":[]}"#), Ok(vec![]));
    }

    #[test]
    fn anything_else_is_a_protocol_error_that_names_the_place() {
        let cases = [
            ("<html>", "the model list is not JSON (expected value at line 1 column 1)"),
            ("", "the model list is not JSON (EOF while parsing a value at line 1 column 0)"),
            (r#"{"models":[{"id":"a"}]}"#, "the model list has no `data` array"),
            (r#"["a"]"#, "the model list has no `data` array"),
            (r#"{"data":{"id":"a"}}"#, "the model list has no `data` array"),
            (r#"{"data":[{"id":"a"},{"id":" "}]}"#, "data[1].id of the model list is not a name"),
            (r#"{"data":["a"]}"#, "data[0].id of the model list is not a name"),
            (r#"{"data":[{"id":5}]}"#, "data[0].id of the model list is not a name"),
            (r#"{"data":[{"id":"a\nb"}]}"#, "data[0].id of the model list is not a name"),
        ];
        for (body, want) in cases {
            let want = format!("the provider broke the protocol: {want}; enter the models by hand");
            assert_eq!(ids(body), Err(want), "{body}");
        }
    }

    #[test]
    fn a_long_list_is_read_up_to_its_limit() {
        let entries: Vec<String> = (0..MODELS_MAX + 5).map(|at| format!(r#"{{"id":"m{at}"}}"#)).collect();
        let models = parse_models(format!(r#"{{"data":[{}]}}"#, entries.join(",")).as_bytes()).unwrap();
        assert_eq!(models.len(), MODELS_MAX);
    }

    #[test]
    fn what_a_list_states_goes_before_what_a_name_suggests() {
        let body = serde_json::json!({"data": [
            {"id": "vendor/new-model", "name": "New", "context_length": 1000,
             "architecture": {"input_modalities": ["text", "image"]}, "supported_parameters": ["temperature"],
             "top_provider": {"max_completion_tokens": 100},
             "pricing": {"prompt": "0.000001", "completion": "0.000002", "input_cache_read": "0", "request": "0"}},
            {"id": "mistral-tiny", "capabilities": {"function_calling": false, "vision": true}, "max_context_length": 7},
            {"id": "text-embedding-3-small", "pricing": {"prompt": "-1", "completion": "0"}},
        ]});
        let want = [
            ListedModel {
                id: "vendor/new-model".into(),
                display_name: Some("New".into()),
                capabilities: Capabilities {
                    tool_use: false,
                    vision: true,
                    reasoning: Some(false),
                    max_context: Some(1000),
                    max_output: Some(100),
                },
                pricing: Some(Pricing { input: 1.0, output: 2.0, cache_read: Some(0.0), cache_write: None }),
                is_chat: true,
            },
            ListedModel {
                id: "mistral-tiny".into(),
                display_name: None,
                capabilities: Capabilities {
                    tool_use: false,
                    vision: true,
                    reasoning: Some(false),
                    max_context: Some(7),
                    ..Capabilities::default()
                },
                pricing: None,
                is_chat: true,
            },
            ListedModel {
                id: "text-embedding-3-small".into(),
                display_name: None,
                capabilities: Capabilities::default(),
                pricing: None,
                is_chat: false,
            },
        ];
        assert_eq!(parse_models(body.to_string().as_bytes()).unwrap(), want);
    }
}
