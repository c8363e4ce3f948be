//! Joins the output of wasm2js with wasm-bindgen's glue into one classic script without WebAssembly.
//!
//! wasm2js and the glue were not made for each other. Without the patches here memory is corrupted or calls hang; each
//! patch is applied exactly once or the build fails:
//! - Growth leaves the old buffer attached, and the glue refreshes its views only when theirs is detached: `transfer`.
//! - Growth copies the whole heap, and the allocator asks for 64 KiB at a time: doubling behind a virtual size.
//! - A failed growth throws inside the allocator: it returns -1 as the instruction does.
//! - 64-bit integers cross as two halves, the glue wants BigInt: wrappers from the module's signatures.
//! - A trap is a plain Error, the glue looks for RuntimeError.
//! - A panic does not restore the shadow stack: `restore()`, to be called when no Rust frame is live.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use regex::{NoExpand, Regex};
use wasmparser::{CompositeInnerType, ExternalKind, FuncType, Parser, Payload, TypeRef, ValType};

use super::content::{COMPLETION, GLOBAL, expect_glue};

/// Two's-complement halves and back: low, high, join; and the second half of the last 64-bit result.
const HELPERS: &str = "let tr=0;class RTE extends Error{get name(){return'RuntimeError'}}\
    const L=(x)=>Number(BigInt.asIntN(32,x)),H=(x)=>Number(BigInt.asIntN(32,x>>32n)),\
    J=(l,h)=>BigInt(h|0)<<32n|BigInt(l>>>0);";

/// Grows by doubling up to 512 MiB a step; what the module sees is the virtual size `vp` in pages.
const GROW: &str = "if (newPages * 65536 <= buffer.byteLength) { vp = newPages; return oldPages; }\n   \
    var newBuffer; try { newBuffer = buffer.transfer(Math.max(newPages * 65536, \
    Math.min(buffer.byteLength * 2, 1 << 29))); } catch (e) { return -1; }\n   vp = newPages;";

const GROW_PATTERN: &str = r"var newBuffer = new ArrayBuffer\(newPages << 16\);\s*var newHEAP8 = new Int8Array\(newBuffer\);\s*newHEAP8\.set\(HEAP8\);";
const SIZE_PATTERN: &str = r"function __wasm_memory_size\(\) \{\s*return buffer\.byteLength >> 16;\s*\}";
const TRAP_PATTERN: &str = r"function wasm2js_trap\(\) \{ throw new Error\('abort'\); \}";

/// The text of `content-strict.js`. It offers what `content.js` offers, see `super::content::pack`.
///
/// # Errors
/// When a patch finds nothing to patch, or finds it twice.
pub fn pack(module: &[u8], lowered: &str, glue: &str) -> Result<String> {
    expect_glue(glue)?;
    let border = Border::read(module)?;
    let body = patch(lowered)?;
    let (imports, exports) = (border.import_wrappers(), border.export_wrappers());
    Ok(format!(
        "if(!globalThis.{GLOBAL}){{globalThis.{GLOBAL}=(()=>{{'use strict';\n\
         {HELPERS}\n\
         {body}\n\
         const mk=(M)=>{{const N={{env:{{setTempRet0:(x)=>{{tr=x}},getTempRet0:()=>tr}}}};\
         for(const k in M)N[k]={{...N[k],...M[k]}};{imports}\n\
         const E=asmFunc(N),X={{}};for(const k of Object.getOwnPropertyNames(E))X[k]=E[k];{exports}return X}};\n\
         const WebAssembly={{Module:class{{}},\
         Instance:class{{constructor(m,i){{this.exports=mk(i)}}}},RuntimeError:RTE}};\n\
         {glue}\n\
         const ex=wasm_bindgen.initSync({{module:new WebAssembly.Module()}}),\
         sp=ex.__wbindgen_add_to_stack_pointer,sp0=sp?.(0);\n\
         return{{wasm_bindgen,ready:Promise.resolve('ready'),restore(){{if(sp)sp(sp0-sp(0))}}}};}})()}}\n\
         {COMPLETION}"
    ))
}

/// Applies the patches to what wasm2js wrote.
fn patch(lowered: &str) -> Result<String> {
    // wasm2js writes an ES module; only the function `asmFunc` is wanted, the instance is made by the glue.
    let body: String =
        lowered.lines().filter(|line| !line.starts_with("import ")).flat_map(|line| [line, "\n"]).collect();
    let (body, _) = body.split_once("var retasmFunc").context("wasm2js output has no `var retasmFunc`")?;
    let mut body = body.to_owned();
    if body.contains("__wasm_memory_grow(pagesToAdd)") {
        body = replace_once(&body, GROW_PATTERN, GROW)?;
        let size = "var vp = buffer.byteLength >> 16; function __wasm_memory_size() { return vp; }";
        body = replace_once(&body, SIZE_PATTERN, size)?;
    }
    if body.contains("function wasm2js_trap") {
        body =
            replace_once(&body, TRAP_PATTERN, "function wasm2js_trap() { throw new RTE('unreachable'); }")?;
    }
    Ok(body)
}

fn replace_once(text: &str, pattern: &str, with: &str) -> Result<String> {
    let regex = Regex::new(pattern).context("a patch's own pattern")?;
    match regex.find_iter(text).count() {
        1 => Ok(regex.replace(text, NoExpand(with)).into_owned()),
        found => bail!("a patch of the wasm2js output applies {found} times instead of once: {pattern}"),
    }
}

/// The functions that cross between the module and JavaScript with a 64-bit integer.
#[derive(Debug, Default)]
struct Border {
    imports: Vec<(String, String, FuncType)>,
    exports: Vec<(String, FuncType)>,
}

impl Border {
    fn read(module: &[u8]) -> Result<Self> {
        let mut border = Self::default();
        let mut types: Vec<FuncType> = Vec::new();
        let mut functions: Vec<FuncType> = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload.context("the module for wasm2js is not valid wasm")?;
            if let Payload::TypeSection(section) = &payload {
                for group in section.clone() {
                    for kind in group?.into_types() {
                        let CompositeInnerType::Func(function) = kind.composite_type.inner else {
                            bail!("the module for wasm2js has a type that is no function");
                        };
                        types.push(function);
                    }
                }
            }
            if let Payload::ImportSection(section) = &payload {
                for import in section.clone().into_imports() {
                    let import = import?;
                    let TypeRef::Func(index) = import.ty else {
                        bail!("the module for wasm2js imports {}, which is no function", import.name);
                    };
                    let function = at(&types, index)?;
                    border.imports.push((import.module.into(), import.name.into(), function.clone()));
                    functions.push(function);
                }
            }
            if let Payload::FunctionSection(section) = &payload {
                for index in section.clone() {
                    functions.push(at(&types, index?)?);
                }
            }
            if let Payload::ExportSection(section) = &payload {
                for export in section.clone() {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        border.exports.push((export.name.into(), at(&functions, export.index)?));
                    }
                }
            }
        }
        border.imports.retain(|(_, _, function)| has_i64(function));
        border.exports.retain(|(_, function)| has_i64(function));
        Ok(border)
    }

    /// JavaScript that takes BigInt apart for the module's exports and puts its results together.
    fn export_wrappers(&self) -> String {
        let mut text = String::new();
        for (name, function) in &self.exports {
            let name = js_string(name);
            let outer = parameters(function, |index, _| format!("a{index}"));
            let inner = parameters(function, |index, wide| {
                if wide { format!("L(a{index}),H(a{index})") } else { format!("a{index}") }
            });
            let call = format!("f({inner})");
            let result = if returns_i64(function) { format!("J({call},tr)") } else { call };
            let _ = write!(text, "{{const f=E[{name}];X[{name}]=({outer})=>{result}}}");
        }
        text
    }

    /// The same for the functions that the module imports.
    fn import_wrappers(&self) -> String {
        let mut text = String::new();
        for (module, name, function) in &self.imports {
            let place = format!("N[{}][{}]", js_string(module), js_string(name));
            let outer =
                parameters(
                    function,
                    |index, wide| {
                        if wide { format!("l{index},h{index}") } else { format!("a{index}") }
                    },
                );
            let inner = parameters(function, |index, wide| {
                if wide { format!("J(l{index},h{index})") } else { format!("a{index}") }
            });
            let call = format!("f({inner})");
            let result =
                if returns_i64(function) { format!("{{const r={call};tr=H(r);return L(r)}}") } else { call };
            let _ = write!(text, "{{const f={place};{place}=({outer})=>{result}}}");
        }
        text
    }
}

fn at(functions: &[FuncType], index: u32) -> Result<FuncType> {
    let found = usize::try_from(index).ok().and_then(|index| functions.get(index)).cloned();
    found.with_context(|| format!("the module for wasm2js has no function or type {index}"))
}

fn has_i64(function: &FuncType) -> bool {
    function.params().iter().chain(function.results()).any(|kind| *kind == ValType::I64)
}

fn returns_i64(function: &FuncType) -> bool {
    function.results() == [ValType::I64]
}

fn parameters(function: &FuncType, write: impl Fn(usize, bool) -> String) -> String {
    let each = function.params().iter().enumerate().map(|(index, kind)| write(index, *kind == ValType::I64));
    each.collect::<Vec<_>>().join(",")
}

fn js_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_finds_nothing_or_two_places_fails_the_build() {
        let error = replace_once("abc abc", "abc", "x").unwrap_err();
        assert_eq!(error.to_string(), "a patch of the wasm2js output applies 2 times instead of once: abc");
        let error = replace_once("", "abc", "x").unwrap_err();
        assert_eq!(error.to_string(), "a patch of the wasm2js output applies 0 times instead of once: abc");
    }

    #[test]
    fn sixty_four_bit_integers_get_wrappers_on_both_sides() {
        let border = Border {
            imports: vec![(
                "m".into(),
                "now".into(),
                FuncType::new([ValType::I32, ValType::I64], [ValType::I64]),
            )],
            exports: vec![("add".into(), FuncType::new([ValType::I64, ValType::I32], [ValType::I64]))],
        };
        assert_eq!(
            border.import_wrappers(),
            r#"{const f=N["m"]["now"];N["m"]["now"]=(a0,l1,h1)=>{const r=f(a0,J(l1,h1));tr=H(r);return L(r)}}"#
        );
        assert_eq!(
            border.export_wrappers(),
            r#"{const f=E["add"];X["add"]=(a0,a1)=>J(f(L(a0),H(a0),a1),tr)}"#
        );
    }

    #[test]
    fn growth_is_patched_to_double_and_to_detach() {
        let lowered = "import * as a from 'a';\nvar x;\nfunction __wasm_memory_size() {\n  return buffer.byteLength >> 16;\n }\n \
            function __wasm_memory_grow(pagesToAdd) {\n  var newBuffer = new ArrayBuffer(newPages << 16);\n   \
            var newHEAP8 = new Int8Array(newBuffer);\n   newHEAP8.set(HEAP8);\n }\nvar retasmFunc = 1;";
        let body = patch(lowered).unwrap();
        assert!(body.contains("buffer.transfer("));
        assert!(body.contains("return vp;"));
        assert!(!body.contains("import"));
    }
}
