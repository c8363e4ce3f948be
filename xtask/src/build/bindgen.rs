//! wasm-bindgen as a library: the JavaScript glue of a module, at the version of the lock file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use super::Profile;

/// What wasm-bindgen makes of one module.
pub struct Generated {
    /// The glue.
    pub js: String,
    /// The module without wasm-bindgen's descriptions.
    pub wasm: Vec<u8>,
    /// Files that the glue imports, by their path in the bundle.
    pub snippets: BTreeMap<String, String>,
}

/// Glue that is an ES module, for the pages.
///
/// # Errors
/// When the module cannot be read or was compiled with another wasm-bindgen.
pub fn web(module: &Path, out_name: &str, profile: Profile) -> Result<Generated> {
    generate(module, |bindgen| {
        bindgen.out_name(out_name).web(true)?.omit_default_module_path(false);
        keep_names(bindgen, profile);
        Ok(())
    })
}

/// [`web`] for the worker's module, which can be replaced by a new instance after a fault: calls that the old one still
/// awaits are then refused.
///
/// # Errors
/// As [`web`].
pub fn worker(module: &Path, out_name: &str, profile: Profile) -> Result<Generated> {
    generate(module, |bindgen| {
        bindgen.out_name(out_name).web(true)?.omit_default_module_path(false).reset_state_function(true);
        keep_names(bindgen, profile);
        Ok(())
    })
}

/// Glue that is one classic script, for the content script.
///
/// # Errors
/// As `web`, and when a crate ships a JavaScript snippet, which a classic script cannot import.
pub fn no_modules(module: &Path, profile: Profile) -> Result<Generated> {
    let generated = generate(module, |bindgen| {
        bindgen.no_modules(true)?.omit_default_module_path(true);
        keep_names(bindgen, profile);
        Ok(())
    })?;
    if let Some(path) = generated.snippets.keys().next() {
        bail!(
            "the content script cannot ship the snippet {path}: use only imports that need no inline JavaScript"
        );
    }
    Ok(generated)
}

fn keep_names(bindgen: &mut Bindgen, profile: Profile) {
    bindgen
        .remove_name_section(profile == Profile::Release)
        .remove_producers_section(profile == Profile::Release);
}

fn generate(module: &Path, configure: impl FnOnce(&mut Bindgen) -> Result<()>) -> Result<Generated> {
    let context = || format!("wasm-bindgen on {}", module.display());
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(false);
    configure(&mut bindgen).with_context(context)?;
    let mut output = bindgen.generate_output().with_context(context)?;
    let mut snippets = BTreeMap::new();
    for (dir, files) in output.snippets() {
        for (index, text) in files.iter().enumerate() {
            snippets.insert(format!("snippets/{dir}/inline{index}.js"), text.clone());
        }
    }
    for (path, text) in output.local_modules() {
        snippets.insert(format!("snippets/{path}"), text.clone());
    }
    if let Some(package) = output.npm_dependencies().keys().next() {
        bail!("{} wants the npm package {package}, but the bundle ships no npm code", module.display());
    }
    let js = output.js().to_owned();
    let wasm = output.wasm_mut().emit_wasm();
    Ok(Generated { js, wasm, snippets })
}
