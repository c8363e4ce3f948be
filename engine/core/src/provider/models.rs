//! The models that endpoints offer.

use super::convert::{cut, error_kind};
use super::{MODELS_MS_MAX, within};
use crate::ports::{Clock, Http, HttpBody, HttpError, World};
use crate::settings::{ReadyConnection, SettingsBook};
use futures::future::join_all;
use panelot_protocol::event::{ModelsFailure, ProviderErrorKind};
use panelot_protocol::ids::ConnectionId;
use panelot_protocol::limits;
use panelot_protocol::settings::{ConnectionView, ModelCapabilities, ModelEntry};
use panelot_protocol::turn::ModelRef;
use panelot_providers::{ProviderError, ResponseHead, build_models_request, read_failure};
use serde_json::Value;
use std::rc::Rc;

/// Longest list that is read, in bytes.
const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The models of every enabled connection, or of one: those entered by hand first, then what the endpoint lists.
/// Connections that do not answer are named with the reason; they keep nobody else's models back.
pub async fn list_models<W: World>(
    world: &W,
    settings: &Rc<SettingsBook<W>>,
    only: Option<&ConnectionId>,
) -> (Vec<ModelEntry>, Vec<ModelsFailure>) {
    let Ok(stored) = settings.current().await else { return (Vec::new(), Vec::new()) };
    let wanted: Vec<&ConnectionView> = stored
        .connections
        .iter()
        .map(|connection| &connection.view)
        .filter(|view| view.enabled && only.is_none_or(|only| only == &view.connection_id))
        .collect();
    let lists = wanted.iter().map(|view| list_one(world, settings, view));
    let (mut models, mut failures) = (Vec::new(), Vec::new());
    for (view, listed) in wanted.iter().zip(join_all(lists).await) {
        models.extend(view.models.iter().cloned());
        match listed {
            Ok(ids) => models.extend(entries(view, ids)),
            // A connection whose models were entered by hand may have no list at all.
            Err(_) if !view.models.is_empty() => {}
            Err(failure) => failures.push(failure),
        }
    }
    models.truncate(usize::try_from(limits::MODELS_COUNT_MAX).unwrap_or(usize::MAX));
    (models, failures)
}

fn entries(view: &ConnectionView, ids: Vec<String>) -> Vec<ModelEntry> {
    let known = |id: &String| view.models.iter().any(|entry| &entry.model.model_id == id);
    ids.into_iter()
        .filter(|id| !known(id))
        .map(|model_id| ModelEntry {
            model: ModelRef { connection_id: view.connection_id.clone(), model_id },
            display_name: None,
            capabilities: ModelCapabilities {
                tool_use: true,
                vision: false,
                reasoning: None,
                max_context: None,
            },
            pricing: None,
        })
        .collect()
}

async fn list_one<W: World>(
    world: &W,
    settings: &Rc<SettingsBook<W>>,
    view: &ConnectionView,
) -> Result<Vec<String>, ModelsFailure> {
    let failure = |error_kind, message: String| ModelsFailure {
        connection_id: view.connection_id.clone(),
        error_kind,
        message: cut(&message, limits::MESSAGE_CHARS_MAX),
    };
    let ready = settings
        .ready(&view.connection_id, None)
        .await
        .map_err(|error| failure(ProviderErrorKind::Auth, error.to_string()))?;
    if !world.http().may_reach(&view.base_url).await {
        let message = format!("the extension has no permission for {} yet: grant it", view.base_url);
        return Err(failure(ProviderErrorKind::HostPermission, message));
    }
    let until_ms = world.clock().now_ms().saturating_add(MODELS_MS_MAX);
    match within(world.clock(), until_ms, fetch(world, &ready)).await {
        Ok(Ok(ids)) => Ok(ids),
        Ok(Err(error)) => Err(failure(error_kind(&error.kind), error.to_string())),
        Err(_) => {
            let message = format!("no answer within {} s", MODELS_MS_MAX / 1_000);
            Err(failure(ProviderErrorKind::Timeout, message))
        }
    }
}

async fn fetch<W: World>(world: &W, ready: &ReadyConnection) -> Result<Vec<String>, ProviderError> {
    let request = build_models_request(&ready.connection, ready.keys.first())?;
    let response = world.http().send(request).await.map_err(|error| network(&error))?;
    let head = ResponseHead { status: response.status, headers: response.headers };
    let (mut body, mut bytes) = (response.body, Vec::new());
    while let Some(chunk) = body.chunk().await.map_err(|error| network(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIST_BYTES_MAX {
            return Err(ProviderError::network("the list of models is too long"));
        }
    }
    if !(200..300).contains(&head.status) {
        let now_ms = world.clock().now_ms();
        return Err(read_failure(&ready.connection, &ready.keys, &head, &bytes, now_ms));
    }
    ids(&bytes).ok_or_else(|| {
        ProviderError::protocol(panelot_providers::ProtocolFault::Malformed {
            what: "a list of models was expected, and something else came".to_owned(),
        })
    })
}

fn network(error: &HttpError) -> ProviderError {
    ProviderError::network(&error.to_string())
}

/// The ids of a list: `{"data": [{"id": ...}]}`, `{"models": [...]}` or a bare array.
fn ids(bytes: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value).as_array()?;
    let id = |entry: &Value| {
        let named = entry.get("id").or_else(|| entry.get("name")).unwrap_or(entry);
        named.as_str().map(|id| cut(id, limits::NAME_CHARS_MAX)).filter(|id| !id.is_empty())
    };
    Some(list.iter().filter_map(id).collect())
}
