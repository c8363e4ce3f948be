//! Settings: what a page may see of them, and the changes that it may ask for.

use crate::ids::{ConnectionId, PresetId, RuleId};
use crate::turn::{ModelRef, PermissionPolicy, ToolLevel};
use crate::{FromJson, Shape, limits};
use serde::Serialize;
use std::collections::BTreeMap;

/// Parameters of generation; an unset field is never sent.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct GenParams {
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 10.0)]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1.0)]
    pub top_p: Option<f64>,
    /// Longest answer in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 1, max = 10_000_000)]
    pub max_tokens: Option<u32>,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = limits::STOP_SEQUENCES_COUNT_MAX, len_max = limits::NAME_CHARS_MAX)]
    pub stop_sequences: Option<Vec<String>>,
    /// How much the model should think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// How much a model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// A lot.
    High,
}

/// Wire protocols of endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// `POST {baseUrl}/chat/completions`.
    Openai,
    /// `POST {baseUrl}/v1/messages`.
    Anthropic,
}

/// Which field carries the longest answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Deviations of an endpoint from its kind's wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct QuirkFlags {
    /// Refuses `stream_options`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_stream_options: bool,
    /// Writes its reasoning between `<think>` tags.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub think_tag_reasoning: bool,
    /// One tool call at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_parallel_tool_calls: bool,
    /// Anthropic's older fixed thinking budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anthropic_manual_thinking: bool,
    /// Which field carries the longest answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// Refuses a system message: it goes first as a user's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_system_role: bool,
}

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelCapabilities {
    /// Calls tools.
    pub tool_use: bool,
    /// Sees images.
    pub vision: bool,
    /// Thinks visibly and takes an effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// Its context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_context: Option<u32>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelPricing {
    /// Tokens sent.
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub input: f64,
    /// Tokens received.
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub output: f64,
    /// Tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub cache_read: Option<f64>,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    /// Where it is.
    pub model: ModelRef,
    /// How people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub display_name: Option<String>,
    /// What it can do.
    pub capabilities: ModelCapabilities,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pricing: Option<ModelPricing>,
}

/// How long an endpoint may take; what is absent has the engine's own value. A model that is loaded into memory first, or
/// one that thinks without a word, needs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct Patience {
    /// Until the first byte of an answer, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = limits::PATIENCE_S_MIN, max = limits::PATIENCE_S_MAX)]
    pub first_byte_s: Option<u32>,
    /// Between two signs of life in an answer, in seconds; a keep-alive is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = limits::PATIENCE_S_MIN, max = limits::PATIENCE_S_MAX)]
    pub silence_s: Option<u32>,
}

/// A connection as pages see it: without its secrets.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// The connection.
    pub connection_id: ConnectionId,
    /// Its name.
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub name: String,
    /// Its wire.
    pub kind: ProviderKind,
    /// Its address, normalised.
    #[shape(len_max = limits::URL_CHARS_MAX)]
    pub base_url: String,
    /// How many keys it has.
    pub key_count: u32,
    /// Names of its own headers; values are secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::HEADERS_COUNT_MAX, len_max = limits::NAME_CHARS_MAX)]
    pub header_names: Vec<String>,
    /// What stands before its models' names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub prefix_id: Option<String>,
    /// Models entered by hand, with what is known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::MODELS_COUNT_MAX)]
    pub models: Vec<ModelEntry>,
    /// Whether it is used.
    pub enabled: bool,
    /// Its deviations.
    pub quirks: QuirkFlags,
    /// How long it may take.
    #[serde(default)]
    pub patience: Patience,
}

/// A connection as a page sends it to be stored. The engine normalises the address.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionInput {
    /// The connection; an unknown one is made.
    pub connection_id: ConnectionId,
    /// Its name.
    #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
    pub name: String,
    /// Its wire.
    pub kind: ProviderKind,
    /// Its address.
    #[shape(len_min = 1, len_max = limits::URL_CHARS_MAX)]
    pub base_url: String,
    /// Its keys in the order of use; absent keeps those that are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = limits::KEYS_COUNT_MAX, len_max = limits::SECRET_CHARS_MAX)]
    pub api_keys: Option<Vec<String>>,
    /// Its own headers; absent keeps those that are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(keys_max = limits::HEADERS_COUNT_MAX, len_max = limits::SECRET_CHARS_MAX)]
    pub custom_headers: Option<BTreeMap<String, String>>,
    /// What stands before its models' names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::NAME_CHARS_MAX)]
    pub prefix_id: Option<String>,
    /// Models entered by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[shape(items_max = limits::MODELS_COUNT_MAX)]
    pub models: Vec<ModelEntry>,
    /// Whether it is used.
    pub enabled: bool,
    /// Its deviations.
    #[serde(default)]
    pub quirks: QuirkFlags,
    /// How long it may take.
    #[serde(default)]
    pub patience: Patience,
}

/// A model preset.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreset {
    /// The preset.
    pub preset_id: PresetId,
    /// Its name.
    #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
    pub name: String,
    /// Its icon, one grapheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = 16)]
    pub icon: Option<String>,
    /// Its model.
    pub base: ModelRef,
    /// Its layer of the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::PROMPT_CHARS_MAX)]
    pub system_prompt: Option<String>,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<GenParams>,
    /// The tool levels that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(items_max = 4)]
    pub enabled_tool_levels: Option<Vec<ToolLevel>>,
    /// Its policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_permission_policy: Option<PermissionPolicy>,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Passes without a question.
    Allow,
    /// Always asks.
    Ask,
    /// Never passes.
    Deny,
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// Written by the user.
    User,
    /// Kept from an approval.
    Approval,
    /// Brought by a plugin.
    Plugin,
}

/// A permission rule: subject × origin × effect.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// The rule.
    pub rule_id: RuleId,
    /// A tool's name, `category:NAME`, or `*`.
    #[shape(len_min = 1, len_max = limits::NAME_CHARS_MAX)]
    pub subject: String,
    /// An origin pattern: `https://shop.example`, `*.shop.example`, or `*`.
    #[shape(len_min = 1, len_max = limits::URL_CHARS_MAX)]
    pub origin: String,
    /// What it does.
    pub effect: RuleEffect,
    /// Where it comes from.
    pub source: RuleSource,
}

/// Interface languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape)]
pub enum Language {
    /// English.
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh-CN")]
    Chinese,
}

/// Interface themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system is.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// What the user chose about access to sites at first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "snake_case")]
pub enum SiteAccess {
    /// Chrome asks for each site.
    #[default]
    PerSite,
    /// All sites were granted.
    AllSites,
}

/// What may be used before the user is asked whether it should go on; an absent limit is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct Budgets {
    /// Tokens of one turn, sent and received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 1)]
    pub turn_tokens: Option<u64>,
    /// Cost of one thread in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(min = 0.0, max = 1_000_000.0)]
    pub thread_cost_usd: Option<f64>,
}

/// All settings as pages see them: without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape, Default)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Grows by one with each change.
    pub revision: u64,
    /// The chosen language; absent follows the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// The theme.
    pub theme: Theme,
    /// The endpoints.
    #[shape(items_max = limits::CONNECTIONS_COUNT_MAX)]
    pub connections: Vec<ConnectionView>,
    /// The model of new threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<ModelRef>,
    /// The model of titles and other small tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_model: Option<ModelRef>,
    /// The policy of new threads.
    pub permission_policy: PermissionPolicy,
    /// What was chosen about sites.
    pub site_access: SiteAccess,
    /// Permission rules.
    #[shape(items_max = limits::RULES_COUNT_MAX)]
    pub rules: Vec<PermissionRule>,
    /// Model presets.
    #[shape(items_max = limits::PRESETS_COUNT_MAX)]
    pub presets: Vec<ModelPreset>,
    /// What may be used before the user is asked.
    #[serde(default)]
    pub budgets: Budgets,
    /// The user's own text in every system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[shape(len_max = limits::PROMPT_CHARS_MAX)]
    pub global_prompt: Option<String>,
}

/// One change of the settings.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson, Shape)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SettingsPatch {
    /// Chooses a language; absent follows the browser.
    Language {
        /// The language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<Language>,
    },
    /// Chooses a theme.
    Theme {
        /// The theme.
        theme: Theme,
    },
    /// Chooses the model of new threads; absent forgets it.
    DefaultModel {
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    /// Chooses the model of small tasks; absent uses the thread's.
    TaskModel {
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    /// Chooses the policy of new threads.
    Policy {
        /// The policy.
        policy: PermissionPolicy,
    },
    /// Records the choice about sites.
    SiteAccess {
        /// The choice.
        site_access: SiteAccess,
    },
    /// Sets what may be used before the user is asked.
    Budgets {
        /// The limits.
        budgets: Budgets,
    },
    /// Stores a connection.
    PutConnection {
        /// The connection.
        connection: ConnectionInput,
    },
    /// Forgets a connection and its keys.
    RemoveConnection {
        /// The connection.
        connection_id: ConnectionId,
    },
    /// Stores a rule.
    PutRule {
        /// The rule.
        rule: PermissionRule,
    },
    /// Forgets a rule; a deleted rule stays deleted.
    RemoveRule {
        /// The rule.
        rule_id: RuleId,
    },
    /// Stores a preset.
    PutPreset {
        /// The preset.
        preset: ModelPreset,
    },
    /// Forgets a preset.
    RemovePreset {
        /// The preset.
        preset_id: PresetId,
    },
    /// Sets the user's own text in every system prompt; absent removes it.
    GlobalPrompt {
        /// The text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[shape(len_max = limits::PROMPT_CHARS_MAX)]
        text: Option<String>,
    },
}
