//! Every version that is pinned outside a lock file, in one place.
//!
//! Lock files pin the rest: `Cargo.lock` (crates), `xtask/tools/Cargo.lock` (wasm-pack, the wasm-bindgen test runner)
//! and `tests/npm/package-lock.json` (binaryen, React, axe).

/// The target of all three halves of the extension.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The oldest browser that the manifest accepts: alarms of 30 s start with it.
pub const CHROME_MIN: u64 = 120;

/// cargo-deny, which judges licences, bans and sources.
pub const CARGO_DENY: &str = "0.20.2";

/// The task pages that the end-to-end tests play, from PyPI.
pub const MINIWOB: &str = "1.1.0";

/// SHA-256 of the MiniWoB wheel, in lower-case hex.
pub const MINIWOB_SHA256: &str = "297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9";

/// Debian's Rust for the web browsers' own builds: the way to a wasm target where rustup must not fetch one.
pub const DEBIAN_WASM_PACKAGES: [&str; 6] =
    ["rustc-web", "cargo-web", "rust-web-src", "lld-22", "rust-web-clippy", "rustfmt-web"];

/// Node runs binaryen; npm installs it.
pub const DEBIAN_NODE_PACKAGES: [&str; 2] = ["nodejs", "npm"];

/// The browser, its driver, and fonts without which Chinese and emoji are boxes in screenshots.
pub const DEBIAN_CHROMIUM_PACKAGES: [&str; 4] =
    ["chromium", "chromium-driver", "fonts-noto-cjk", "fonts-noto-color-emoji"];

/// Downloads the MiniWoB wheel.
pub const DEBIAN_PIP_PACKAGES: [&str; 1] = ["python3-pip"];

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The version of a package in a lock file.
    fn locked(lock: &str, package: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = fs_err::read_to_string(root.join(lock)).unwrap();
        let (_, rest) = text.split_once(&format!("name = \"{package}\"\nversion = \"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn the_glue_and_the_test_runner_are_made_by_the_wasm_bindgen_that_is_linked() {
        let linked = locked("Cargo.lock", "wasm-bindgen");
        assert_eq!(locked("Cargo.lock", "wasm-bindgen-cli-support"), linked);
        assert_eq!(locked("xtask/tools/Cargo.lock", "wasm-bindgen-cli"), linked);
    }
}
