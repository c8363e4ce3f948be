//! The pages that the agent works on: served on loopback, reachable under two origins.

mod files;
mod submissions;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{Router, get, post};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::submissions::Submission;
use self::submissions::Submissions;
use crate::provider::Gate;

/// The variable that names the directory with the npm packages: `node_modules`, or the directory around it.
pub const NPM_VARIABLE: &str = "PANELOT_NPM";
/// The variable that names the directory of the `miniwob` package: its `html`, or the directory around it.
pub const MINIWOB_VARIABLE: &str = "PANELOT_MINIWOB";

/// Where the served files come from; what is absent is answered with 404.
#[derive(Debug, Clone, Default)]
pub struct SiteOptions {
    /// A directory with `react` and `react-dom` (18, with `umd` files) and `axe-core`.
    pub npm: Option<PathBuf>,
    /// The `html` directory of the `miniwob` package.
    pub miniwob: Option<PathBuf>,
    /// A directory of fixture pages.
    pub fixtures: Option<PathBuf>,
}

impl SiteOptions {
    /// Takes the directories from [`NPM_VARIABLE`] and [`MINIWOB_VARIABLE`].
    #[must_use]
    pub fn from_environment() -> Self {
        let below = |name, inner| {
            let directory = PathBuf::from(std::env::var_os(name)?);
            let inside = directory.join(inner);
            Some(if inside.is_dir() { inside } else { directory })
        };
        let (npm, miniwob) = (below(NPM_VARIABLE, "node_modules"), below(MINIWOB_VARIABLE, "html"));
        Self { npm, miniwob, fixtures: None }
    }
}

/// A running site. Dropping it closes the server.
pub struct Site {
    address: SocketAddr,
    shared: Arc<SharedSite>,
    server: JoinHandle<()>,
}

struct SharedSite {
    options: SiteOptions,
    submissions: Submissions,
}

impl Site {
    /// Starts the server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(options: SiteOptions) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(SharedSite { options, submissions: Submissions::default() });
        let router = router(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the site ended: {error}");
            }
        });
        Ok(Self { address, shared, server })
    }

    /// The URL of a path on the first origin, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{}", self.address, path.trim_start_matches('/'))
    }

    /// The URL of a path on the second origin, `http://localhost:PORT`.
    #[must_use]
    pub fn other_url(&self, path: &str) -> String {
        format!("http://localhost:{}/{}", self.address.port(), path.trim_start_matches('/'))
    }

    /// What was submitted to a form so far, in order of arrival: the proof of what was done and how often.
    #[must_use]
    pub fn submissions(&self, form: &str) -> Vec<Submission> {
        self.shared.submissions.of(form)
    }

    /// The gate that every submission to a form stops at, after it was counted. Open unless [`Site::hold`] closed it.
    #[must_use]
    pub fn hold(&self, form: &str) -> Gate {
        self.shared.submissions.hold(form)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
        self.shared.submissions.open_all();
    }
}

fn router(shared: Arc<SharedSite>) -> Router {
    Router::new()
        .route("/order", get(|| async { Html(include_str!("assets/order.html")) }))
        .route("/order.js", get(|| async { script(include_str!("assets/order.js")) }))
        .route("/react", get(react_page))
        .route("/react.js", get(|| async { script(include_str!("assets/react.js")) }))
        .route("/submit/{form}", post(submit))
        .route("/large", get(large_page))
        .route("/npm/{*path}", get(npm_file))
        .route("/miniwob/{*path}", get(miniwob_file))
        .route("/fixtures/{*path}", get(fixture_file))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .with_state(shared)
}

fn script(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text).into_response()
}

/// The React form, on a page that allows no script but its own and no WebAssembly.
async fn react_page() -> Response {
    let mut response = Html(include_str!("assets/react.html")).into_response();
    let policy = HeaderValue::from_static("script-src 'self'");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// How large `/large` is.
#[derive(serde::Deserialize)]
struct LargeQuery {
    elements: usize,
}

/// The most elements that `/large` makes.
const LARGE_ELEMENTS_MAX: usize = 100_000;

/// A page with a given number of elements, in rows of a heading, a text, a link, a field and a button.
async fn large_page(Query(query): Query<LargeQuery>) -> Response {
    if query.elements > LARGE_ELEMENTS_MAX {
        return (StatusCode::BAD_REQUEST, format!("elements: at most {LARGE_ELEMENTS_MAX}")).into_response();
    }
    let rows = query.elements / LARGE_ROW_ELEMENTS;
    let mut page = String::from("<!doctype html><html lang=en><title>Large page</title><body>");
    for row in 0..rows {
        page.push_str(&format!(
            "<section><h2>Row {row}</h2><p>Text of row {row}.</p><a href=\"/row/{row}\">Details of {row}</a>\
             <label>Amount {row} <input name=a{row}></label><button>Save {row}</button></section>"
        ));
    }
    Html(page).into_response()
}

/// How many elements a row of `/large` has.
const LARGE_ROW_ELEMENTS: usize = 7;

async fn submit(
    State(shared): State<Arc<SharedSite>>,
    Path(form): Path<String>,
    axum::Json(values): axum::Json<Value>,
) -> Response {
    let number = shared.submissions.add(&form, values).await;
    axum::Json(serde_json::json!({ "number": number })).into_response()
}

async fn npm_file(State(shared): State<Arc<SharedSite>>, Path(path): Path<String>) -> Response {
    files::serve(shared.options.npm.as_deref(), &path).await
}

async fn miniwob_file(State(shared): State<Arc<SharedSite>>, Path(path): Path<String>) -> Response {
    files::serve(shared.options.miniwob.as_deref(), &path).await
}

async fn fixture_file(State(shared): State<Arc<SharedSite>>, Path(path): Path<String>) -> Response {
    files::serve(shared.options.fixtures.as_deref(), &path).await
}
