//! A connection made ready for a request: its secrets opened, its deviations known.

use super::SettingsBook;
use crate::ports::{KeyValueError, Vault, VaultError, World};
use crate::provider::{FIRST_BYTE_MS, SILENCE_MS};
use panelot_protocol::ids::ConnectionId;
use panelot_protocol::settings::{MaxTokensField, ProviderKind, QuirkFlags};
use panelot_protocol::turn::ModelRef;
use panelot_providers::{Connection, Kind, Quirks, Secret};
use thiserror::Error;

/// A connection with its secrets in the clear. Its `Debug` shows none of them.
#[derive(Debug, Clone)]
pub struct ReadyConnection {
    /// Which one.
    pub id: ConnectionId,
    /// What the codecs need.
    pub connection: Connection,
    /// Its keys in the order of use; empty for an endpoint that needs none.
    pub keys: Vec<Secret>,
    /// How long it may take until the first byte of an answer, in milliseconds.
    pub first_byte_ms: u64,
    /// How long it may be silent in the middle of an answer, in milliseconds.
    pub silence_ms: u64,
}

/// Why a connection cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotReady {
    /// There is none.
    #[error("no model is set up: add a connection in the options and choose a model")]
    NoConnection,
    /// The user switched it off.
    #[error("the connection {0} is switched off")]
    Disabled(String),
    /// Its secrets cannot be read any more.
    #[error("the stored key of {0} cannot be read any more: enter it again in the options")]
    KeyUnreadable(String),
    /// The key that protects secrets is not there.
    #[error(transparent)]
    Vault(VaultError),
    /// The settings cannot be read.
    #[error(transparent)]
    Storage(#[from] KeyValueError),
}

impl<W: World> SettingsBook<W> {
    /// A connection, ready for requests. With a model, what was learned of its endpoint is applied.
    ///
    /// # Errors
    /// See [`NotReady`].
    pub async fn ready(
        &self,
        id: &ConnectionId,
        model: Option<&ModelRef>,
    ) -> Result<ReadyConnection, NotReady> {
        let settings = self.current().await?;
        let stored = settings.connection(id).ok_or(NotReady::NoConnection)?;
        let view = &stored.view;
        if !view.enabled {
            return Err(NotReady::Disabled(view.name.clone()));
        }
        let unsealed = |error| match error {
            VaultError::Unreadable => NotReady::KeyUnreadable(view.name.clone()),
            VaultError::NoKey(_) => NotReady::Vault(error),
        };
        let mut keys = Vec::with_capacity(stored.keys.len());
        for sealed in &stored.keys {
            keys.push(Secret::new(&self.world.vault().open(sealed).await.map_err(unsealed)?));
        }
        let kind = match view.kind {
            ProviderKind::Openai => Kind::Openai,
            ProviderKind::Anthropic => Kind::Anthropic,
        };
        let mut connection = Connection::new(view.connection_id.as_str(), kind, &view.base_url);
        connection.name.clone_from(&view.name);
        connection.prefix_id.clone_from(&view.prefix_id);
        connection.model_ids = view.models.iter().map(|entry| entry.model.model_id.clone()).collect();
        connection.quirks = quirks(&view.quirks);
        for (name, sealed) in &stored.headers {
            let value = self.world.vault().open(sealed).await.map_err(unsealed)?;
            connection.custom_headers.insert(name.clone(), value);
        }
        let learned = settings.learned.iter().filter(|(of, _)| Some(of) == model);
        for adjustment in learned.flat_map(|(_, adjustments)| adjustments) {
            connection.quirks = connection.quirks.adjusted(*adjustment);
        }
        let ms = |seconds: Option<u32>, otherwise_ms: u64| {
            seconds.map_or(otherwise_ms, |seconds| u64::from(seconds).saturating_mul(1_000))
        };
        Ok(ReadyConnection {
            id: id.clone(),
            connection,
            keys,
            first_byte_ms: ms(view.patience.first_byte_s, FIRST_BYTE_MS),
            silence_ms: ms(view.patience.silence_s, SILENCE_MS),
        })
    }
}

fn quirks(flags: &QuirkFlags) -> Quirks {
    Quirks {
        no_stream_options: flags.no_stream_options,
        think_tag_reasoning: flags.think_tag_reasoning,
        no_parallel_tool_calls: flags.no_parallel_tool_calls,
        anthropic_manual_thinking: flags.anthropic_manual_thinking,
        max_tokens_field: match flags.max_tokens_field {
            Some(MaxTokensField::MaxCompletionTokens) => {
                panelot_providers::MaxTokensField::MaxCompletionTokens
            }
            Some(MaxTokensField::MaxTokens) | None => panelot_providers::MaxTokensField::MaxTokens,
        },
        no_system_role: flags.no_system_role,
        ..Quirks::default()
    }
}
