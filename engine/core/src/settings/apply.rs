//! One change of the settings, checked before anything is stored.

use super::StoredSettings;
use crate::ports::{KeyValueError, Sealed, Vault, VaultError};
use crate::store::records::StoredConnection;
use panelot_protocol::limits;
use panelot_protocol::settings::{
    ConnectionInput, ConnectionView, ModelEntry, ModelPreset, PermissionRule, ProviderKind, SettingsPatch,
};
use panelot_protocol::turn::ModelRef;
use panelot_providers::Kind;
use panelot_providers::url::BaseUrl;
use thiserror::Error;

/// Why a change was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A field is wrong.
    #[error("{field}: {rule}")]
    Invalid {
        /// The field's path in the patch.
        field: &'static str,
        /// The rule that it breaks.
        rule: String,
    },
    /// A secret could not be sealed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The area failed.
    #[error(transparent)]
    Storage(#[from] KeyValueError),
}

impl Refusal {
    fn invalid(field: &'static str, rule: impl Into<String>) -> Self {
        Self::Invalid { field, rule: rule.into() }
    }
}

/// The settings with a change made.
pub(super) async fn apply<V: Vault>(
    vault: &V,
    before: &StoredSettings,
    patch: SettingsPatch,
) -> Result<StoredSettings, Refusal> {
    let mut after = before.clone();
    after.revision = after.revision.saturating_add(1);
    match patch {
        SettingsPatch::Language { language } => after.language = language,
        SettingsPatch::Theme { theme } => after.theme = theme,
        SettingsPatch::DefaultModel { model } => after.default_model = known_model(before, model)?,
        SettingsPatch::TaskModel { model } => after.task_model = known_model(before, model)?,
        SettingsPatch::Policy { policy } => after.permission_policy = policy,
        SettingsPatch::SiteAccess { site_access } => after.site_access = site_access,
        SettingsPatch::PutConnection { connection } => {
            put_connection(vault, &mut after, connection).await?;
        }
        SettingsPatch::RemoveConnection { connection_id } => {
            after.connections.retain(|c| c.view.connection_id != connection_id);
            let gone = |model: &Option<ModelRef>| {
                model.as_ref().is_some_and(|model| model.connection_id == connection_id)
            };
            if gone(&after.default_model) {
                after.default_model = None;
            }
            if gone(&after.task_model) {
                after.task_model = None;
            }
            after.learned.retain(|(model, _)| model.connection_id != connection_id);
        }
        SettingsPatch::PutRule { rule } => put_rule(&mut after.rules, rule)?,
        SettingsPatch::RemoveRule { rule_id } => after.rules.retain(|rule| rule.rule_id != rule_id),
        SettingsPatch::PutPreset { preset } => put_preset(&mut after.presets, preset)?,
        SettingsPatch::RemovePreset { preset_id } => {
            after.presets.retain(|preset| preset.preset_id != preset_id);
        }
        SettingsPatch::Budgets { budgets } => after.budgets = budgets,
        SettingsPatch::GlobalPrompt { text } => after.global_prompt = text.filter(|text| !text.is_empty()),
    }
    Ok(after)
}

fn known_model(settings: &StoredSettings, model: Option<ModelRef>) -> Result<Option<ModelRef>, Refusal> {
    match &model {
        Some(wanted) if settings.connection(&wanted.connection_id).is_none() => {
            Err(Refusal::invalid("patch.model.connectionId", "no such connection"))
        }
        Some(_) | None => Ok(model),
    }
}

fn put_rule(rules: &mut Vec<PermissionRule>, rule: PermissionRule) -> Result<(), Refusal> {
    crate::permission::rules::check_rule(&rule)
        .map_err(|problem| Refusal::invalid("patch.rule", problem.to_string()))?;
    upsert(rules, rule, |a, b| a.rule_id == b.rule_id, limits::RULES_COUNT_MAX, "patch.rule")
}

fn put_preset(presets: &mut Vec<ModelPreset>, preset: ModelPreset) -> Result<(), Refusal> {
    let same = |a: &ModelPreset, b: &ModelPreset| a.preset_id == b.preset_id;
    upsert(presets, preset, same, limits::PRESETS_COUNT_MAX, "patch.preset")
}

/// Replaces what is the same, or adds it while there is room.
fn upsert<T>(
    list: &mut Vec<T>,
    value: T,
    same: impl Fn(&T, &T) -> bool,
    count_max: u64,
    field: &'static str,
) -> Result<(), Refusal> {
    if let Some(have) = list.iter_mut().find(|have| same(have, &value)) {
        *have = value;
        return Ok(());
    }
    if u64::try_from(list.len()).is_ok_and(|count| count < count_max) {
        list.push(value);
        return Ok(());
    }
    Err(Refusal::invalid(field, format!("there are {count_max} already")))
}

async fn put_connection<V: Vault>(
    vault: &V,
    settings: &mut StoredSettings,
    input: ConnectionInput,
) -> Result<(), Refusal> {
    let kind = match input.kind {
        ProviderKind::Openai => Kind::Openai,
        ProviderKind::Anthropic => Kind::Anthropic,
    };
    let base = BaseUrl::parse(kind, &input.base_url)
        .map_err(|error| Refusal::invalid("patch.connection.baseUrl", error.to_string()))?
        .base;
    let base_url = base.to_string();
    let old = settings.connection(&input.connection_id);
    // A key that was entered for one host never goes to another one: it must be entered again.
    let kept = old.filter(|old| same_origin(&old.view.base_url, &base_url));
    let keys = match &input.api_keys {
        None => kept.map(|old| old.keys.clone()).unwrap_or_default(),
        Some(keys) => {
            let mut sealed = Vec::with_capacity(keys.len());
            for key in keys.iter().map(|key| key.trim()).filter(|key| !key.is_empty()) {
                sealed.push(vault.seal(key).await?);
            }
            sealed
        }
    };
    let headers: Vec<(String, Sealed)> = match &input.custom_headers {
        None => kept.map(|old| old.headers.clone()).unwrap_or_default(),
        Some(headers) => {
            let mut sealed = Vec::with_capacity(headers.len());
            for (name, value) in headers {
                sealed.push((name.trim().to_owned(), vault.seal(value).await?));
            }
            sealed
        }
    };
    let connection_id = input.connection_id.clone();
    let models = input.models.into_iter().map(|entry| ModelEntry {
        model: ModelRef { connection_id: connection_id.clone(), model_id: entry.model.model_id.clone() },
        ..entry
    });
    let view = ConnectionView {
        connection_id: input.connection_id,
        name: input.name,
        kind: input.kind,
        base_url,
        key_count: u32::try_from(keys.len()).unwrap_or(u32::MAX),
        header_names: headers.iter().map(|(name, _)| name.clone()).collect(),
        prefix_id: input.prefix_id,
        models: models.collect(),
        enabled: input.enabled,
        quirks: input.quirks,
        patience: input.patience,
    };
    settings.learned.retain(|(model, _)| model.connection_id != view.connection_id);
    let stored = StoredConnection { view, keys, headers };
    let same = |a: &StoredConnection, b: &StoredConnection| a.view.connection_id == b.view.connection_id;
    upsert(&mut settings.connections, stored, same, limits::CONNECTIONS_COUNT_MAX, "patch.connection")
}

/// Whether two normalised addresses have the same scheme, host and port.
fn same_origin(one: &str, other: &str) -> bool {
    origin_of(one) == origin_of(other)
}

fn origin_of(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let end = scheme.len().saturating_add("://".len()).saturating_add(host_end);
    url.get(..end).unwrap_or(url)
}
