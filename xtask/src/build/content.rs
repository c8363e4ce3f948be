//! Packs the content script: glue and wasm in one classic file that can be injected any number of times.

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The property of the isolated world's `globalThis` that holds the running content script.
pub const GLOBAL: &str = "__panelot";

/// What stands in front of the inlined module.
const WASM_START: &str = "const wasm64='";

/// What the glue declares; the wrapper hands it on.
pub const GLUE_OBJECT: &str = "let wasm_bindgen";

/// `content.js`. Its completion value, which `chrome.scripting.executeScript` hands back, is a promise of `"ready"`, or
/// of the reason why the module did not start; after a failure nothing stays behind, so the twin may follow.
///
/// `globalThis.__panelot` holds `wasm_bindgen` (the exports), `ready` (a promise) and `restore()`, which does nothing
/// here: a trap in wasm restores its stack by itself.
///
/// # Errors
/// When the glue is not what wasm-bindgen makes for classic scripts.
pub fn pack(glue: &str, wasm: &[u8]) -> Result<String> {
    expect_glue(glue)?;
    let wasm64 = STANDARD.encode(wasm);
    Ok(format!(
        "if(!globalThis.{GLOBAL}){{globalThis.{GLOBAL}=(()=>{{'use strict';\n\
         {glue}\n\
         {WASM_START}{wasm64}';\n\
         const bytes=Uint8Array.from(atob(wasm64),(c)=>c.charCodeAt(0));\n\
         const ready=wasm_bindgen({{module_or_path:bytes}}).then(()=>'ready');\n\
         ready.catch(()=>{{delete globalThis.{GLOBAL}}});\n\
         return{{wasm_bindgen,ready,restore(){{}}}};}})()}}\n\
         {COMPLETION}"
    ))
}

/// The last statement of both files: the injection's result.
pub const COMPLETION: &str = "globalThis.__panelot.ready.catch((error)=>`${error}`);\n";

/// Refuses glue of another shape, which a new wasm-bindgen could bring.
///
/// # Errors
/// When the declaration that the wrapper hands on is not there exactly once.
pub fn expect_glue(glue: &str) -> Result<()> {
    match glue.matches(GLUE_OBJECT).count() {
        1 => Ok(()),
        found => {
            bail!("the glue has `{GLUE_OBJECT}` {found} times instead of once: did wasm-bindgen change?")
        }
    }
}

/// The module inside `content.js`.
///
/// # Errors
/// When the file was not made by `pack`.
pub fn embedded_wasm(script: &str) -> Result<Vec<u8>> {
    let (_, rest) = script.split_once(WASM_START).context("content.js holds no inlined module")?;
    let (text, _) = rest.split_once('\'').context("the module inlined in content.js does not end")?;
    STANDARD.decode(text).context("the module inlined in content.js is not base64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_can_be_read_back_from_the_packed_script() {
        let script = pack("let wasm_bindgen = (function() {})();", b"\0asm\x01\0\0\0").unwrap();
        assert_eq!(embedded_wasm(&script).unwrap(), b"\0asm\x01\0\0\0");
    }

    #[test]
    fn glue_of_an_unknown_shape_is_refused() {
        assert_eq!(
            pack("var bindings = {};", b"").unwrap_err().to_string(),
            "the glue has `let wasm_bindgen` 0 times instead of once: did wasm-bindgen change?"
        );
    }
}
