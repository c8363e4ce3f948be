//! Small values under a name.

use std::future::Future;
use thiserror::Error;

/// Values as JSON texts under names.
pub trait KeyValueArea: 'static {
    /// The value under a name.
    ///
    /// # Errors
    /// When the area cannot be read.
    fn get(&self, name: &str) -> impl Future<Output = Result<Option<String>, KeyValueError>> + 'static;

    /// The names that begin with a prefix and have a value.
    ///
    /// # Errors
    /// When the area cannot be read.
    fn names(&self, prefix: &str) -> impl Future<Output = Result<Vec<String>, KeyValueError>> + 'static;

    /// Sets or removes a value; durable when it returns.
    ///
    /// # Errors
    /// When the area cannot be written; then the old value stays.
    fn set(
        &self,
        name: &str,
        value: Option<String>,
    ) -> impl Future<Output = Result<(), KeyValueError>> + 'static;
}

/// Why a value was not read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyValueError {
    /// The area is full.
    #[error("the browser's storage is full")]
    Full,
    /// Chrome refused, in its own words.
    #[error("the browser's storage failed: {0}")]
    Failed(String),
}
