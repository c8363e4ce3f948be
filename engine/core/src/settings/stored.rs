//! The settings as they are stored, and as pages see them.

use crate::permission::rules::initial_rule;
use crate::store::records::StoredConnection;
use panelot_protocol::FromJson;
use panelot_protocol::ids::{ConnectionId, PresetId};
use panelot_protocol::settings::{
    Budgets, Language, ModelPreset, PermissionRule, Settings, SiteAccess, Theme,
};
use panelot_protocol::turn::{ModelRef, PermissionPolicy};
use panelot_providers::Adjustment;
use serde::Serialize;

/// All settings with their sealed secrets.
#[derive(Debug, Clone, PartialEq, Serialize, FromJson)]
pub struct StoredSettings {
    /// Grows by one with each change of the user's.
    pub revision: u64,
    /// The chosen language.
    #[serde(default)]
    pub language: Option<Language>,
    /// The theme.
    pub theme: Theme,
    /// The endpoints.
    pub connections: Vec<StoredConnection>,
    /// The model of new threads.
    #[serde(default)]
    pub default_model: Option<ModelRef>,
    /// The model of small tasks.
    #[serde(default)]
    pub task_model: Option<ModelRef>,
    /// The policy of new threads.
    pub permission_policy: PermissionPolicy,
    /// What was chosen about sites.
    pub site_access: SiteAccess,
    /// Permission rules.
    pub rules: Vec<PermissionRule>,
    /// Model presets.
    pub presets: Vec<ModelPreset>,
    /// What may be used before the user is asked.
    #[serde(default)]
    pub budgets: Budgets,
    /// The user's own text in every system prompt.
    #[serde(default)]
    pub global_prompt: Option<String>,
    /// What the endpoints of models were found to want changed.
    #[serde(default)]
    pub learned: Vec<(ModelRef, Vec<Adjustment>)>,
}

impl StoredSettings {
    /// The settings of a first start.
    pub fn first() -> Self {
        Self {
            revision: 0,
            language: None,
            theme: Theme::default(),
            connections: Vec::new(),
            default_model: None,
            task_model: None,
            permission_policy: PermissionPolicy::default(),
            site_access: SiteAccess::default(),
            rules: vec![initial_rule()],
            presets: Vec::new(),
            budgets: Budgets::default(),
            global_prompt: None,
            learned: Vec::new(),
        }
    }

    /// What pages may see.
    pub fn view(&self) -> Settings {
        Settings {
            revision: self.revision,
            language: self.language,
            theme: self.theme,
            connections: self.connections.iter().map(|connection| connection.view.clone()).collect(),
            default_model: self.default_model.clone(),
            task_model: self.task_model.clone(),
            permission_policy: self.permission_policy,
            site_access: self.site_access,
            rules: self.rules.clone(),
            presets: self.presets.clone(),
            budgets: self.budgets,
            global_prompt: self.global_prompt.clone(),
        }
    }

    /// A connection.
    pub fn connection(&self, id: &ConnectionId) -> Option<&StoredConnection> {
        self.connections.iter().find(|connection| &connection.view.connection_id == id)
    }

    /// A preset.
    pub fn preset(&self, id: &PresetId) -> Option<&ModelPreset> {
        self.presets.iter().find(|preset| &preset.preset_id == id)
    }

    /// What is known of a model that was entered by hand.
    pub fn model_entry(&self, model: &ModelRef) -> Option<&panelot_protocol::settings::ModelEntry> {
        let connection = self.connection(&model.connection_id)?;
        connection.view.models.iter().find(|entry| entry.model.model_id == model.model_id)
    }

    /// The first model there is, for a user who chose none.
    pub fn any_model(&self) -> Option<ModelRef> {
        self.connections
            .iter()
            .filter(|connection| connection.view.enabled)
            .find_map(|connection| connection.view.models.first())
            .map(|entry| entry.model.clone())
    }
}
