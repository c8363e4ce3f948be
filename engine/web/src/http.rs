//! Requests to endpoints by `fetch`.

use crate::chrome::{js_message, permissions};
use crate::death;
use js_sys::{Reflect, Uint8Array};
use panelot_engine::ports::{Http, HttpBody, HttpError, HttpResponse};
use panelot_providers::HttpRequest;
use std::future::Future;
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Headers, ReadableStreamDefaultReader, Request, RequestCredentials, RequestInit,
    RequestRedirect, Response,
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = fetch)]
    async fn fetch(request: &Request) -> Result<JsValue, JsValue>;
}

/// The browser's `fetch`.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebHttp;

/// Aborts the request when it is dropped.
struct AbortOnDrop(AbortController);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A body that is read chunk by chunk.
pub struct WebBody {
    reader: Option<ReadableStreamDefaultReader>,
    _abort: AbortOnDrop,
}

impl Http for WebHttp {
    type Body = WebBody;

    fn send(
        &self,
        request: HttpRequest,
    ) -> impl Future<Output = Result<HttpResponse<WebBody>, HttpError>> + 'static {
        async move {
            let abort = AbortOnDrop(AbortController::new().map_err(network)?);
            let request = build(&request, &abort.0).map_err(network)?;
            let response: Response = fetch(&request).await.map_err(network)?.unchecked_into();
            // A redirect that is not followed has no status that a page may see.
            if response.type_() == web_sys::ResponseType::Opaqueredirect {
                return Err(HttpError::Redirected);
            }
            let reader = match response.body() {
                Some(stream) => Some(
                    stream
                        .get_reader()
                        .dyn_into::<ReadableStreamDefaultReader>()
                        .map_err(|_| HttpError::Network("the response's body cannot be read".to_owned()))?,
                ),
                None => None,
            };
            Ok(HttpResponse {
                status: response.status(),
                headers: headers_of(&response.headers()),
                body: WebBody { reader, _abort: abort },
            })
        }
    }

    fn may_reach(&self, url: &str) -> impl Future<Output = bool> + 'static {
        let url = url.to_owned();
        async move { permissions::contains_origin(&url).await }
    }
}

impl HttpBody for WebBody {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = JsFuture::from(reader.read()).await.map_err(network)?;
        let property = |name: &str| Reflect::get(&read, &JsValue::from_str(name));
        if property("done").map_err(network)?.is_truthy() {
            return Ok(None);
        }
        let value = property("value").map_err(network)?;
        let bytes = value
            .dyn_ref::<Uint8Array>()
            .ok_or_else(|| HttpError::Network("a chunk of the body is not of bytes".to_owned()))?;
        Ok(Some(bytes.to_vec()))
    }
}

fn network(error: JsValue) -> HttpError {
    HttpError::Network(js_message(&error))
}

fn build(request: &HttpRequest, abort: &AbortController) -> Result<Request, JsValue> {
    let headers = Headers::new()?;
    for (name, value) in &request.headers {
        headers.set(name, value)?;
    }
    let init = RequestInit::new();
    init.set_method(request.method.as_str());
    init.set_headers_headers(&headers);
    init.set_redirect(RequestRedirect::Manual);
    init.set_credentials(RequestCredentials::Omit);
    init.set_signal(Some(&death::signal_with(&abort.signal())));
    if !request.body.is_empty() {
        init.set_body(&Uint8Array::from(request.body.as_slice()).into());
    }
    Request::new_with_str_and_init(&request.url, &init)
}

fn headers_of(headers: &Headers) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in headers.entries() {
        let Ok(entry) = entry else { continue };
        let pair: js_sys::Array = entry.unchecked_into();
        if let (Some(name), Some(value)) = (pair.get(0).as_string(), pair.get(1).as_string()) {
            all.push((name.to_ascii_lowercase(), value));
        }
    }
    all
}
