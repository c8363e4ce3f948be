//! The server's routes: the OpenAI wire, and an admin side for people who try the demo by hand.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get, post};
use serde_json::{Value, json};

use super::check::violations;
use super::fault::Fault;
use super::reply::Reply;
use super::request::ParsedRequest;
use super::stream::{Ending, completion, stream_reply};
use super::{DEMO_MODEL, Outcome, State};

/// The largest request body.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat))
        .route("/admin/requests", get(admin_requests))
        .route("/admin/fault", post(admin_fault))
        .route("/admin/gates/{name}/open", post(admin_open))
        .fallback(|| async { error(StatusCode::NOT_FOUND, "not_found", "There is nothing at this address.") })
        .layer(middleware::from_fn(loopback_only))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(state)
}

/// Refuses a page that reached the server under a name of its own (DNS rebinding).
async fn loopback_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if matches!(name, "127.0.0.1" | "localhost") {
        next.run(request).await
    } else {
        error(StatusCode::FORBIDDEN, "forbidden_host", "This server answers on loopback only.")
    }
}

async fn models(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = refuse(&state, key_of(&headers).as_deref()) {
        return refusal;
    }
    let model =
        |id: &str| json!({ "id": id, "object": "model", "created": 1_760_000_000, "owned_by": "panelot" });
    let slow = format!("{DEMO_MODEL}-slow");
    Json(json!({ "object": "list", "data": [model(DEMO_MODEL), model(&slow)] })).into_response()
}

async fn chat(Shared(state): Shared<Arc<State>>, headers: HeaderMap, body: Bytes) -> Response {
    let key = key_of(&headers);
    let number = state.lock().requests.len();
    let parsed = serde_json::from_slice::<Value>(&body)
        .map_err(anyhow::Error::from)
        .and_then(|body| ParsedRequest::parse(number, key.clone(), body));
    let request = match parsed {
        Ok(request) => request,
        Err(failure) => {
            let sentence = format!("{failure:#}");
            state.lock().violations.push(format!("request {number}: {sentence}"));
            return error(StatusCode::BAD_REQUEST, "invalid_request", &sentence);
        }
    };
    let broken = violations(&request, &state.lock().secrets);
    let ending = Ending::new(Arc::clone(&state), state.record(&request, broken));
    if let Some(refusal) = refuse(&state, key.as_deref()) {
        ending.finish(Outcome::Faulted);
        return refusal;
    }
    let Some(script) = state.lock().script.clone() else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "no_script", "No script is set.");
    };
    let mut reply = script.reply(&request);
    if reply.faults.is_empty() {
        reply.faults.extend(state.lock().faults.pop_front());
    }
    answer(state, request, reply, ending).await
}

async fn answer(state: Arc<State>, request: ParsedRequest, reply: Reply, ending: Ending) -> Response {
    for fault in &reply.faults {
        match fault {
            Fault::Delay { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Fault::Status { status, code, retry_after } => {
                ending.finish(Outcome::Faulted);
                return status_fault(*status, code, retry_after.as_deref());
            }
            Fault::Html => {
                ending.finish(Outcome::Faulted);
                let page = "<!doctype html><title>Log in</title><h1>Please log in to this network</h1>";
                return ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
            }
            // The handler is dropped when the client hangs up, and `ending` then says so.
            Fault::Hang => std::future::pending().await,
            Fault::Drip { .. } | Fault::CutAfterBytes { .. } | Fault::NoDone | Fault::Malformed => {}
        }
    }
    if !request.stream {
        ending.finish(Outcome::Sent);
        return Json(completion(&request, &reply)).into_response();
    }
    let body = Body::from_stream(stream_reply(state, request, reply, ending));
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

fn key_of(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    Some(value.strip_prefix("Bearer ")?.to_owned())
}

fn refuse(state: &State, key: Option<&str>) -> Option<Response> {
    let refused = state.lock().refused_keys.contains(key.unwrap_or_default());
    refused.then(|| error(StatusCode::UNAUTHORIZED, "invalid_api_key", "Incorrect API key provided."))
}

fn status_fault(status: u16, code: &str, retry_after: Option<&str>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = error(status, code, "The demo provider was told to fail.");
    if let Some(value) = retry_after.and_then(|text| text.parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn error(status: StatusCode, code: &str, message: &str) -> Response {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let body = json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    let mut response = (status, Json(body)).into_response();
    response.headers_mut().insert("x-request-id", header::HeaderValue::from_static("req-demo"));
    response
}

async fn admin_requests(Shared(state): Shared<Arc<State>>) -> Json<Value> {
    let requests = state.lock().requests.clone();
    let show = |one: super::RecordedRequest| json!({ "number": one.request.number, "outcome": format!("{:?}", one.outcome), "body": one.request.body });
    Json(requests.into_iter().map(show).collect())
}

async fn admin_fault(Shared(state): Shared<Arc<State>>, body: Bytes) -> Response {
    match serde_json::from_slice::<Fault>(&body) {
        Ok(fault) => {
            state.lock().faults.push_back(fault);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(failure) => error(StatusCode::BAD_REQUEST, "invalid_fault", &failure.to_string()),
    }
}

async fn admin_open(Shared(state): Shared<Arc<State>>, Path(name): Path<String>) -> StatusCode {
    state.gate(&name).open();
    StatusCode::NO_CONTENT
}
