//! Serves files below a directory, and nothing else.

use std::path::{Component, Path};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The file at a relative path below the root; 404 when there is none or the path leaves the root.
pub(super) async fn serve(root: Option<&Path>, path: &str) -> Response {
    let relative = Path::new(path);
    let stays_below = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let Some(root) = root.filter(|_| stays_below) else { return StatusCode::NOT_FOUND.into_response() };
    match tokio::fs::read(root.join(relative)).await {
        Ok(bytes) => ([(header::CONTENT_TYPE, content_type(relative))], bytes).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_files_below_the_root_are_served() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("in")).unwrap();
        std::fs::write(root.path().join("in/page.html"), "inside").unwrap();
        std::fs::write(root.path().join("secret"), "outside").unwrap();
        let below = root.path().join("in");
        let status = async |path: &str| serve(Some(&below), path).await.status();
        assert_eq!(status("page.html").await, StatusCode::OK);
        for path in ["../secret", "/etc/hostname", "other.html", ""] {
            assert_eq!(status(path).await, StatusCode::NOT_FOUND, "{path:?}");
        }
        assert_eq!(serve(None, "page.html").await.status(), StatusCode::NOT_FOUND);
    }
}
