//! Small values in `chrome.storage`.

use crate::chrome::{js_message, storage};
use panelot_engine::ports::{KeyValueArea, KeyValueError};
use std::future::Future;

/// One of the browser's areas.
#[derive(Debug, Clone, Copy)]
pub enum WebArea {
    /// `chrome.storage.local`.
    Local,
    /// `chrome.storage.session`.
    Session,
}

impl KeyValueArea for WebArea {
    fn get(&self, name: &str) -> impl Future<Output = Result<Option<String>, KeyValueError>> + 'static {
        let (area, name) = (storage::area(*self), name.to_owned());
        async move { storage::get(&area, &name).await.map_err(|error| KeyValueError::Failed(js_message(&error))) }
    }

    fn names(&self, prefix: &str) -> impl Future<Output = Result<Vec<String>, KeyValueError>> + 'static {
        let (area, prefix) = (storage::area(*self), prefix.to_owned());
        async move {
            let names =
                storage::names(&area).await.map_err(|error| KeyValueError::Failed(js_message(&error)))?;
            Ok(names.into_iter().filter(|name| name.starts_with(&prefix)).collect())
        }
    }

    fn set(
        &self,
        name: &str,
        value: Option<String>,
    ) -> impl Future<Output = Result<(), KeyValueError>> + 'static {
        let (area, name) = (storage::area(*self), name.to_owned());
        async move {
            storage::set(&area, &name, value.as_deref())
                .await
                .map_err(|error| KeyValueError::Failed(js_message(&error)))
        }
    }
}
