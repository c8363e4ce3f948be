//! The rule about the protocol's hashes: all three wasm were built from the protocol that is committed.

use std::path::Path;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Problems;
use crate::build::{Bundle, embedded_wasm};

/// The committed hashes of both protocols, as lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    /// Between pages and engine.
    pub engine: String,
    /// Between engine and content script.
    pub content: String,
}

impl Hashes {
    /// Reads `protocol/schema/hashes.rs`.
    ///
    /// # Errors
    /// When the file is missing or lacks a constant.
    pub fn read(root: &Path) -> Result<Self> {
        let file = root.join("protocol/schema/hashes.rs");
        let text = fs_err::read_to_string(&file)?;
        let constant = |name: &str| constant(&text, name).with_context(|| format!("in {}", file.display()));
        Ok(Self { engine: constant("ENGINE_SCHEMA_HASH")?, content: constant("CONTENT_SCRIPT_SCHEMA_HASH")? })
    }
}

/// The first string literal after the constant's name.
fn constant(text: &str, name: &str) -> Result<String> {
    let (_, rest) =
        text.split_once(&format!("const {name}:")).with_context(|| format!("no constant {name}"))?;
    let value = rest.split('"').nth(1).with_context(|| format!("{name} has no value"))?;
    if value.len() != 64 || !value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        bail!("{name} is no SHA-256 in hex: {value}");
    }
    Ok(value.to_owned())
}

/// Which module was built from another protocol, or does not check which one it speaks.
pub fn problems(bundle: &Bundle, hashes: &Hashes) -> Problems {
    let script = |path: &str| bundle.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let engine = bundle.get("engine_bg.wasm").map(<[u8]>::to_vec);
    let ui = bundle.get("ui_bg.wasm").map(<[u8]>::to_vec);
    let content = script("content.js").and_then(|script| embedded_wasm(&script).ok());
    let strict = script("content-strict.js").map(|script| inlined_data(&script));
    let rules = [
        ("engine_bg.wasm", &engine, "pages", &hashes.engine),
        ("engine_bg.wasm", &engine, "content script", &hashes.content),
        ("ui_bg.wasm", &ui, "pages", &hashes.engine),
        ("content.js", &content, "content script", &hashes.content),
        ("content-strict.js", &strict, "content script", &hashes.content),
    ];
    let mut problems = Problems::new();
    for (path, data, protocol, hash) in rules {
        if let Some(data) = data
            && !holds(data, hash.as_bytes())
        {
            problems.push(format!(
                "{path} does not hold the committed hash {hash} of the protocol with the {protocol}"
            ));
        }
    }
    problems
}

/// wasm2js writes each data segment as a base64 literal.
fn inlined_data(script: &str) -> Vec<u8> {
    let literals = script.split('"').filter_map(|literal| STANDARD.decode(literal).ok());
    literals.flatten().collect()
}

fn holds(data: &[u8], text: &[u8]) -> bool {
    data.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_found_however_it_is_wrapped() {
        let hash = "ab".repeat(32);
        assert_eq!(constant(&format!("pub const A: &str =\n    \"{hash}\";"), "A").unwrap(), hash);
        assert_eq!(constant("", "A").unwrap_err().to_string(), "no constant A");
        assert_eq!(
            constant("pub const A: &str = \"beef\";", "A").unwrap_err().to_string(),
            "A is no SHA-256 in hex: beef"
        );
    }

    #[test]
    fn a_module_of_another_protocol_is_named() {
        let hashes = Hashes { engine: "a".repeat(64), content: "b".repeat(64) };
        let mut bundle = Bundle::default();
        let both = format!("{}{}", hashes.engine, hashes.content);
        bundle.put("engine_bg.wasm", both.into_bytes()).unwrap();
        bundle.put("ui_bg.wasm", b"c".repeat(64)).unwrap();
        let strict = format!("f(\"{}\")", STANDARD.encode(&hashes.content));
        bundle.put("content-strict.js", strict.into_bytes()).unwrap();
        assert_eq!(
            problems(&bundle, &hashes),
            [format!(
                "ui_bg.wasm does not hold the committed hash {} of the protocol with the pages",
                hashes.engine
            )]
        );
    }
}
