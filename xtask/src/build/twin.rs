//! Builds `content-strict.js`: the content crate as plain JavaScript, for pages whose CSP forbids WebAssembly.
//!
//! The crate is compiled and linked for the first version of wasm, which wasm2js can lower. The release profile is used
//! always: cargo rebuilds the twin only when the content crate or what it depends on changed.

use anyhow::{Context, Result};

use super::{Builder, Profile, bindgen, tool_cached, twin_pack};
use crate::proc;
use crate::setup::{TWIN_FLAGS, Tool};
use crate::versions::WASM_TARGET;

const CRATE: &str = "panelot-content-web";

/// Nothing traps on an access out of bounds after wasm2js, so a stack overflow would be silent. With a shadow stack of
/// 4 MiB the JavaScript engine's own stack ends first, with a RangeError.
const STACK_FLAG: &str = "-Clink-arg=-zstack-size=4194304";

const OPT_FLAGS: [&str; 5] =
    ["-Oz", "--enable-mutable-globals", "--strip-debug", "--strip-producers", "--strip-target-features"];

/// wasm2js indents generously: two thirds of its output are white space and long names.
const MINIFY_FLAGS: [&str; 3] = ["--minify", "--target=chrome120", "--log-level=warning"];

/// The text of `content-strict.js`.
///
/// # Errors
/// The step that failed.
pub fn build(builder: &Builder<'_>) -> Result<String> {
    let target = builder.target.join("wasm-twin");
    let release = Builder {
        setup: builder.setup,
        wasm: builder.wasm.clone(),
        node: builder.node.clone(),
        profile: Profile::Release,
        target: builder.target.clone(),
    };
    let mut cargo = release.wasm.twin_cargo();
    cargo.current_dir(&release.setup.paths.root).args(["build", "--locked", "--quiet", "--release"]);
    cargo.args(["--target", WASM_TARGET, "--package", CRATE]).env("CARGO_TARGET_DIR", &target);
    let flags = [TWIN_FLAGS.as_slice(), &[STACK_FLAG]].concat();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", release.rust_flags(&target, &flags));
    proc::run(&mut cargo).context("compile the content script for wasm2js")?;

    let module = release.module(&target.join(WASM_TARGET).join("release"), CRATE);
    let generated = bindgen::no_modules(&module, Profile::Release)?;
    let optimized = tool_cached(&release, Tool::WasmOpt, &OPT_FLAGS, &generated.wasm)?;
    let lowered = tool_cached(&release, Tool::Wasm2js, &["-Oz"], &optimized)?;
    let lowered = String::from_utf8(lowered).context("wasm2js wrote no UTF-8")?;
    let script = twin_pack::pack(&optimized, &lowered, &generated.js)?;
    let small = tool_cached(&release, Tool::Esbuild, &MINIFY_FLAGS, script.as_bytes())?;
    String::from_utf8(small).context("esbuild wrote no UTF-8")
}
