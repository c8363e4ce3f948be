//! Endpoints that are known: what the form is filled with, and the deviations that follow from an endpoint's host.

use crate::types::{Kind, MaxTokensField, Quirks};
use crate::url::BaseUrl;

/// What fills the connection form in one go; the user adds the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// A stable word for it, for translated names.
    pub id: &'static str,
    /// Its name as the provider writes it.
    pub name: &'static str,
    /// The wire.
    pub kind: Kind,
    /// The base URL; empty for a custom endpoint. Words in capitals stand for what the user has to fill in.
    pub base_url: &'static str,
    /// Other addresses of the same service, for other regions.
    pub other_base_urls: &'static [&'static str],
    /// Where a key is made; `None` where none is needed.
    pub key_page: Option<&'static str>,
    /// Known deviations.
    pub quirks: Quirks,
}

impl Template {
    const fn new(
        id: &'static str,
        name: &'static str,
        base_url: &'static str,
        key_page: Option<&'static str>,
    ) -> Self {
        Self { id, name, kind: Kind::Openai, base_url, other_base_urls: &[], key_page, quirks: Quirks::NONE }
    }
}

/// All templates, in the order of the form.
#[must_use]
pub fn templates() -> Vec<Template> {
    let openai = |id, name, base_url, key_page| Template {
        quirks: BaseUrl::parse(Kind::Openai, base_url).map(|url| host_quirks(&url.base)).unwrap_or_default(),
        ..Template::new(id, name, base_url, key_page)
    };
    let keys = Some;
    vec![
        Template {
            kind: Kind::Anthropic,
            ..Template::new(
                "anthropic",
                "Anthropic",
                "https://api.anthropic.com",
                keys("https://console.anthropic.com/settings/keys"),
            )
        },
        openai("openai", "OpenAI", "https://api.openai.com/v1", keys("https://platform.openai.com/api-keys")),
        openai(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            keys("https://openrouter.ai/keys"),
        ),
        openai(
            "deepseek",
            "DeepSeek",
            "https://api.deepseek.com/v1",
            keys("https://platform.deepseek.com/api_keys"),
        ),
        Template {
            other_base_urls: &["https://api.moonshot.ai/v1"],
            ..openai(
                "moonshot",
                "Moonshot",
                "https://api.moonshot.cn/v1",
                keys("https://platform.moonshot.cn/console/api-keys"),
            )
        },
        Template {
            other_base_urls: &["https://api.z.ai/api/paas/v4"],
            ..openai(
                "zhipu",
                "Zhipu",
                "https://open.bigmodel.cn/api/paas/v4",
                keys("https://open.bigmodel.cn/usercenter/apikeys"),
            )
        },
        Template {
            other_base_urls: &["https://dashscope-intl.aliyuncs.com/compatible-mode/v1"],
            ..openai(
                "dashscope",
                "Alibaba Bailian",
                "https://dashscope.aliyuncs.com/compatible-mode/v1",
                keys("https://bailian.console.aliyun.com/?tab=model#/api-key"),
            )
        },
        openai("ollama", "Ollama", "http://localhost:11434/v1", None),
        openai("lmstudio", "LM Studio", "http://localhost:1234/v1", None),
        openai(
            "gemini",
            "Google Gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            keys("https://aistudio.google.com/apikey"),
        ),
        openai(
            "mistral",
            "Mistral",
            "https://api.mistral.ai/v1",
            keys("https://console.mistral.ai/api-keys"),
        ),
        openai("groq", "Groq", "https://api.groq.com/openai/v1", keys("https://console.groq.com/keys")),
        openai("xai", "xAI", "https://api.x.ai/v1", keys("https://console.x.ai")),
        openai("vllm", "vLLM", "http://localhost:8000/v1", None),
        openai("llamacpp", "llama.cpp", "http://localhost:8080/v1", None),
        openai(
            "azure",
            "Azure OpenAI",
            "https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=2024-10-21",
            keys("https://portal.azure.com"),
        ),
        Template::new("custom", "Custom", "", None),
    ]
}

/// The deviations that follow from the host alone. They hold for every connection to it, however it was set up.
#[must_use]
pub fn host_quirks(base: &BaseUrl) -> Quirks {
    let host = base.host();
    let completion_tokens = MaxTokensField::MaxCompletionTokens;
    if host.ends_with(".openai.azure.com") {
        return Quirks {
            api_key_header: Some("api-key".to_owned()),
            max_tokens_field: completion_tokens,
            ..Quirks::NONE
        };
    }
    match host {
        "api.openai.com" => Quirks { max_tokens_field: completion_tokens, ..Quirks::NONE },
        // It checks ids and the order of roles, and reports the token use without being asked.
        "api.mistral.ai" => {
            Quirks { short_tool_ids: true, no_user_after_tool: true, no_stream_options: true, ..Quirks::NONE }
        }
        _ => Quirks::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_has_a_canonical_address_that_needs_no_remark() {
        for template in templates().into_iter().filter(|template| template.id != "custom") {
            for url in [&[template.base_url], template.other_base_urls].concat() {
                let parsed = BaseUrl::parse(template.kind, url).unwrap();
                let canonical = url.replace("RESOURCE", "resource");
                assert_eq!((parsed.base.to_string(), parsed.notes), (canonical, vec![]), "{}", template.id);
            }
        }
    }

    #[test]
    fn the_templates_are_the_known_endpoints_once_each() {
        let got: Vec<&str> = templates().into_iter().map(|template| template.id).collect();
        let want = [
            "anthropic",
            "openai",
            "openrouter",
            "deepseek",
            "moonshot",
            "zhipu",
            "dashscope",
            "ollama",
            "lmstudio",
            "gemini",
            "mistral",
            "groq",
            "xai",
            "vllm",
            "llamacpp",
            "azure",
            "custom",
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn a_key_page_is_named_for_every_endpoint_on_the_net() {
        for template in templates() {
            let is_remote = template.base_url.starts_with("https://");
            assert_eq!(template.key_page.is_some(), is_remote, "{}", template.id);
        }
    }

    #[test]
    fn the_host_brings_its_deviations() {
        let of = |url| host_quirks(&BaseUrl::parse(Kind::Openai, url).unwrap().base);
        let azure = of("https://r.openai.azure.com/openai/v1");
        assert_eq!(azure.api_key_header.as_deref(), Some("api-key"));
        assert!(of("https://api.mistral.ai/v1").short_tool_ids);
        assert_eq!(of("https://api.mistral.ai.example/v1"), Quirks::default());
    }
}
