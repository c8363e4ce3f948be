//! Requests to endpoints.

use panelot_providers::HttpRequest;
use std::future::Future;
use thiserror::Error;

/// Sends requests. Redirects to another origin are not followed.
pub trait Http: 'static {
    /// The body of a response.
    type Body: HttpBody;

    /// Sends a request and waits for the response's head. Dropping the future aborts the request.
    ///
    /// # Errors
    /// When no response came; never because of a status.
    fn send(
        &self,
        request: HttpRequest,
    ) -> impl Future<Output = Result<HttpResponse<Self::Body>, HttpError>> + 'static;

    /// Whether the extension may send a request to this URL.
    fn may_reach(&self, url: &str) -> impl Future<Output = bool> + 'static;
}

/// A response whose body still comes.
#[derive(Debug)]
pub struct HttpResponse<B> {
    /// The status.
    pub status: u16,
    /// Headers with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: B,
}

/// A body in chunks. Dropping it aborts the request.
pub trait HttpBody: 'static {
    /// The next bytes; `None` at the clean end.
    ///
    /// # Errors
    /// When the connection broke.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Vec<u8>>, HttpError>>;
}

/// Why a request gave no response, or a body no end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HttpError {
    /// The host was not reached, or the connection broke.
    #[error("the connection failed: {0}")]
    Network(String),
    /// The endpoint answered with a redirect to another origin.
    #[error("the endpoint redirects to another origin")]
    Redirected,
    /// The extension may not reach the host.
    #[error("the extension has no permission for this host")]
    Forbidden,
}
