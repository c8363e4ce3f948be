//! Size budgets: what a user downloads and what every page with the content script has to parse.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Problems;
use crate::build::{Bundle, embedded_wasm};

// Each budget is a little above what was measured when it was set, so that growth is a decision and not an accident.

/// The wasm of the pages, as gzip: 637 KiB.
const UI_WASM_GZIP_KIB_MAX: usize = 670;
/// The wasm of the worker, as gzip: 665 KiB.
const ENGINE_WASM_GZIP_KIB_MAX: usize = 700;
/// The wasm of the content script, as it is compiled in each page: 384 KiB.
const CONTENT_WASM_KIB_MAX: usize = 420;
/// The content script for strict pages: 718 KiB.
const CONTENT_STRICT_JS_KIB_MAX: usize = 790;
/// All files together: 4,656 KiB.
const BUNDLE_KIB_MAX: usize = 4_900;

/// One size with its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// What was measured.
    pub what: &'static str,
    /// How large it is, in bytes.
    pub bytes: usize,
    /// How large it may be, in KiB.
    pub kib_max: usize,
}

/// What is too large.
pub fn problems(bundle: &Bundle) -> Problems {
    let too_large = |size: &Size| size.bytes > size.kib_max * 1024;
    let sizes = measure(bundle).into_iter().filter(too_large);
    sizes
        .map(|size| {
            let kib = size.bytes.div_ceil(1024);
            format!("{} has {kib} KiB, but its budget is {} KiB", size.what, size.kib_max)
        })
        .collect()
}

/// Every size that has a budget. A file that is missing has none; another rule names it.
pub fn measure(bundle: &Bundle) -> Vec<Size> {
    let content =
        bundle.get("content.js").and_then(|script| embedded_wasm(&String::from_utf8_lossy(script)).ok());
    let sizes = [
        ("ui_bg.wasm as gzip", bundle.get("ui_bg.wasm").map(gzip_len), UI_WASM_GZIP_KIB_MAX),
        ("engine_bg.wasm as gzip", bundle.get("engine_bg.wasm").map(gzip_len), ENGINE_WASM_GZIP_KIB_MAX),
        ("the module in content.js", content.map(|module| module.len()), CONTENT_WASM_KIB_MAX),
        ("content-strict.js", bundle.get("content-strict.js").map(<[u8]>::len), CONTENT_STRICT_JS_KIB_MAX),
        ("the whole bundle", Some(bundle.bytes()), BUNDLE_KIB_MAX),
    ];
    let sizes = sizes.into_iter();
    sizes.filter_map(|(what, bytes, kib_max)| Some(Size { what, bytes: bytes?, kib_max })).collect()
}

/// The length after gzip at its best, as a store serves it.
fn gzip_len(bytes: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail; if it did, the full length is the honest upper bound.
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.map_or(bytes.len(), |packed| packed.len())
}
