//! Encryption of secrets at rest.

use panelot_protocol::FromJson;
use serde::Serialize;
use std::future::Future;
use thiserror::Error;

/// A secret in its envelope: nonce and ciphertext as base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromJson)]
#[serde(transparent)]
pub struct Sealed(pub String);

/// Seals and opens secrets with a key that never leaves the browser.
pub trait Vault: 'static {
    /// Seals a secret.
    ///
    /// # Errors
    /// When the key cannot be had.
    fn seal(&self, secret: &str) -> impl Future<Output = Result<Sealed, VaultError>> + 'static;

    /// Opens an envelope.
    ///
    /// # Errors
    /// [`VaultError::Unreadable`] when another key sealed it: the user has to enter the secret again.
    fn open(&self, sealed: &Sealed) -> impl Future<Output = Result<String, VaultError>> + 'static;
}

/// Why a secret was not sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VaultError {
    /// The key is another one, or the envelope is damaged.
    #[error("the stored secret cannot be read any more: enter it again")]
    Unreadable,
    /// The key cannot be had.
    #[error("the key that protects secrets is not available: {0}")]
    NoKey(String),
}
