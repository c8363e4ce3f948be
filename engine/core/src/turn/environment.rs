//! The environment of a run: what its behaviour depends on, fixed at its first start.

use super::finish::own_error;
use super::toolbox;
use crate::ports::World;
use crate::provider::{cut, overlay};
use crate::settings::StoredSettings;
use crate::store::records::{Environment, RunError, StoredConnection, StoredRun};
use crate::thread::Actor;
use panelot_protocol::canonical::fingerprint;
use panelot_protocol::event::ErrorCode;
use panelot_protocol::limits;
use panelot_protocol::settings::{Language, ModelCapabilities};
use panelot_protocol::snapshot::RecoveryReason;
use panelot_protocol::turn::{ModelRef, ToolLevel};
use thiserror::Error;

/// The levels of a turn that names none.
const LEVELS_DEFAULT: [ToolLevel; 2] = [ToolLevel::L0, ToolLevel::L1];

/// Why a run has no environment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Problem {
    /// No model is chosen, or its connection is gone.
    #[error("{0}")]
    NotConfigured(String),
    /// The run began with another environment.
    #[error("{0}")]
    Changed(&'static str),
    /// The settings cannot be read.
    #[error("the settings cannot be read: {0}")]
    Unreadable(String),
}

impl Problem {
    /// As the end of a run, and as what the user may decide.
    pub fn into_parts(self) -> (RunError, Option<RecoveryReason>) {
        let message = cut(&self.to_string(), limits::MESSAGE_CHARS_MAX);
        match self {
            Self::NotConfigured(_) => (own_error(ErrorCode::NotConfigured, message), None),
            Self::Changed(_) => {
                (own_error(ErrorCode::NotConfigured, message), Some(RecoveryReason::EnvironmentChanged))
            }
            Self::Unreadable(_) => (own_error(ErrorCode::Internal, message), None),
        }
    }
}

impl<W: World> Actor<W> {
    /// The environment of a run: the stored one, if it still holds, or a new one.
    pub(crate) async fn environment_of(&self, run: &StoredRun) -> Result<Environment, Problem> {
        if let Some(environment) = &run.environment {
            self.check_environment(environment).await?;
            return Ok(environment.clone());
        }
        let settings =
            self.core.settings.current().await.map_err(|error| Problem::Unreadable(error.to_string()))?;
        self.fix(run, &settings)
    }

    /// Whether a stored environment is whole and still there.
    pub(crate) async fn check_environment(&self, environment: &Environment) -> Result<(), Problem> {
        let settings =
            self.core.settings.current().await.map_err(|error| Problem::Unreadable(error.to_string()))?;
        let connection = settings
            .connection(&environment.model.connection_id)
            .ok_or(Problem::Changed("the connection that this turn began with was removed"))?;
        if digest(environment, connection).as_ref() != Some(&environment.digest) {
            return Err(Problem::Changed(
                "the connection or the tools are not the ones that this turn began with",
            ));
        }
        Ok(())
    }

    fn fix(&self, run: &StoredRun, settings: &StoredSettings) -> Result<Environment, Problem> {
        let thread = &self.state.thread;
        let preset = thread.preset.as_ref().and_then(|id| settings.preset(id));
        let model = run
            .overrides
            .as_ref()
            .and_then(|overrides| overrides.model.clone())
            .or_else(|| preset.map(|preset| preset.base.clone()))
            .or_else(|| settings.default_model.clone())
            .or_else(|| settings.any_model())
            .ok_or_else(not_configured)?;
        let connection = settings.connection(&model.connection_id).ok_or_else(not_configured)?;
        let entry = settings.model_entry(&model);
        let capabilities = known_capabilities(settings, &model);
        let levels = run
            .overrides
            .as_ref()
            .and_then(|overrides| overrides.enabled_tool_levels.clone())
            .or_else(|| preset.and_then(|preset| preset.enabled_tool_levels.clone()))
            .unwrap_or_else(|| LEVELS_DEFAULT.to_vec());
        let tools = if capabilities.tool_use { toolbox::schemas(&levels) } else { Vec::new() };
        let params = preset.and_then(|preset| preset.params.clone()).unwrap_or_default();
        let mut environment = Environment {
            params: overlay(&params, thread.param_overrides.as_ref()),
            capabilities,
            pricing: entry.and_then(|entry| entry.pricing.clone()),
            system: super::history::system_layers(
                preset.and_then(|preset| preset.system_prompt.as_deref()),
                settings.global_prompt.as_deref(),
                language(settings),
                self.core.now_ms(),
            ),
            tools: tools.into_iter().map(|tool| tool.name).collect(),
            levels,
            policy: run.policy,
            captured_tab: run.input.captured_tab.as_ref().map(|tab| tab.tab_id),
            digest: String::new(),
            model,
        };
        environment.digest = digest(&environment, connection)
            .ok_or_else(|| Problem::Unreadable("the environment has no fingerprint".to_owned()))?;
        Ok(environment)
    }
}

/// SHA-256 over the environment and what it is bound to: the endpoint and the tools' schemas. Keys are not in it.
fn digest(environment: &Environment, connection: &StoredConnection) -> Option<String> {
    let bare = Environment { digest: String::new(), ..environment.clone() };
    let schemas: Vec<(String, serde_json::Value)> = toolbox::schemas(&environment.levels)
        .into_iter()
        .filter(|schema| environment.tools.contains(&schema.name))
        .map(|schema| (schema.name, schema.parameters))
        .collect();
    fingerprint(&(bare, &connection.view.base_url, connection.view.kind, schemas)).ok()
}

pub(super) fn language(settings: &StoredSettings) -> &'static str {
    match settings.language {
        Some(Language::English) | None => "en",
        Some(Language::Chinese) => "zh-CN",
    }
}

fn not_configured() -> Problem {
    Problem::NotConfigured(
        "No model is set up: add a connection in the options, choose a model, and send the message again."
            .to_owned(),
    )
}

/// What a model can do; of one that nobody described it is assumed that it calls tools.
pub(super) fn known_capabilities(settings: &StoredSettings, model: &ModelRef) -> ModelCapabilities {
    let unknown = ModelCapabilities { tool_use: true, vision: false, reasoning: None, max_context: None };
    settings.model_entry(model).map_or(unknown, |entry| entry.capabilities.clone())
}
