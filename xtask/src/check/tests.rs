//! Each rule on a bundle that breaks it: what a person reads then.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use super::*;

/// A module with no sections.
const EMPTY_WASM: &[u8] = b"\0asm\x01\0\0\0";
/// A module with the custom section "name".
const NAMED_WASM: &[u8] = b"\0asm\x01\0\0\0\x00\x05\x04name";

/// Writes a bundle that breaks no rule.
fn good_bundle(dir: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let file = dir.join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, bytes).unwrap();
    };
    write("manifest.json", &fs_err::read(root.join("manifest.json")).unwrap());
    write("build.json", br#"{"profile":"release"}"#);
    for size in [16, 32, 48, 128] {
        write(&format!("icons/icon-{size}.png"), b"png");
    }
    for locale in ["en", "zh_CN"] {
        let texts =
            json!({"name": {"message": "n"}, "description": {"message": "d"}, "action": {"message": "a"}});
        write(&format!("_locales/{locale}/messages.json"), texts.to_string().as_bytes());
    }
    for page in ["chat", "options", "sidepanel"] {
        let text =
            "<link rel=\"stylesheet\" href=\"panelot.css\"><script type=\"module\" src=\"page.js\"></script>";
        write(&format!("{page}.html"), text.as_bytes());
    }
    write("panelot.css", b"body { color: red }");
    write("page.js", b"import init from './ui.js';\n");
    write("worker.js", b"import init from './engine.js';\n");
    write("probe.js", b"0");
    for module in ["engine", "ui"] {
        let glue = format!("export default new URL('{module}_bg.wasm', import.meta.url);\n");
        write(&format!("{module}.js"), glue.as_bytes());
        write(&format!("{module}_bg.wasm"), EMPTY_WASM);
    }
    write("content.js", content_js(EMPTY_WASM).as_bytes());
    write("content-strict.js", b"0");
}

fn content_js(module: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(module);
    format!("const wasm64='{text}';\n")
}

/// The problems of a good bundle after one change to its directory.
fn problems_after(change: impl FnOnce(&Path)) -> Problems {
    let dir = tempfile::tempdir().unwrap();
    good_bundle(dir.path());
    change(dir.path());
    bundle_problems(&Bundle::read(dir.path()).unwrap())
}

fn check(change: impl FnOnce(&Path), expected: &[&str]) {
    assert_eq!(problems_after(change), expected);
}

fn edit_manifest(dir: &Path, edit: impl FnOnce(&mut Value)) {
    let file = dir.join("manifest.json");
    let mut manifest = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    edit(&mut manifest);
    fs_err::write(file, manifest.to_string()).unwrap();
}

#[test]
fn a_good_bundle_has_no_problems() {
    check(|_| {}, &[]);
}

#[test]
fn a_file_that_the_manifest_names_must_exist() {
    check(
        |dir| fs_err::remove_file(dir.join("icons/icon-48.png")).unwrap(),
        &["manifest.json: /icons/48 names icons/icon-48.png, which is not in the bundle"],
    );
}

#[test]
fn a_missing_worker_is_named_by_the_manifest_and_by_the_list_of_files() {
    check(
        |dir| fs_err::remove_file(dir.join("worker.js")).unwrap(),
        &[
            "manifest.json: /background/service_worker names worker.js, which is not in the bundle",
            "worker.js is missing",
        ],
    );
}

#[test]
fn an_extra_permission_is_refused() {
    check(
        |dir| edit_manifest(dir, |m| m["permissions"].as_array_mut().unwrap().push("debugger".into())),
        &["manifest.json: permissions has \"debugger\", which is not on the agreed list"],
    );
}

#[test]
fn a_permission_that_disappears_is_noticed() {
    check(
        |dir| {
            edit_manifest(dir, |m| {
                m["optional_permissions"].as_array_mut().unwrap().retain(|p| p != "history")
            })
        },
        &["manifest.json: optional_permissions lacks \"history\", which is on the agreed list"],
    );
}

#[test]
fn hosts_at_install_are_refused() {
    check(
        |dir| edit_manifest(dir, |m| m["host_permissions"] = json!(["<all_urls>"])),
        &["manifest.json: the key host_permissions is not allowed"],
    );
}

#[test]
fn a_weaker_csp_is_refused() {
    check(
        |dir| {
            edit_manifest(dir, |m| {
                let policy = &mut m["content_security_policy"]["extension_pages"];
                *policy = policy.as_str().unwrap().replace("'wasm-unsafe-eval'", "'unsafe-eval'").into();
            });
        },
        &["manifest.json: the CSP lacks \"script-src 'self' 'wasm-unsafe-eval'\""],
    );
}

#[test]
fn another_version_than_the_workspace_is_refused() {
    check(
        |dir| edit_manifest(dir, |m| m["version"] = json!("9.9.9")),
        &[concat!("manifest.json: /version is \"9.9.9\", but must be \"", env!("CARGO_PKG_VERSION"), "\"")],
    );
}

#[test]
fn a_manifest_that_is_no_json_is_said_to_be_none() {
    check(
        |dir| fs_err::write(dir.join("manifest.json"), "{").unwrap(),
        &["manifest.json is not JSON: EOF while parsing an object at line 1 column 1"],
    );
}

#[test]
fn a_message_without_a_text_is_named() {
    check(
        |dir| edit_manifest(dir, |m| m["name"] = json!("__MSG_title__")),
        &["manifest.json uses __MSG_title__, but _locales/en/messages.json has no \"title\""],
    );
}

#[test]
fn a_file_that_nobody_asked_for_is_refused() {
    check(
        |dir| fs_err::write(dir.join("notes.txt"), "").unwrap(),
        &["notes.txt is not a file that the bundle should hold"],
    );
}

#[test]
fn a_page_that_loads_a_missing_script_is_named() {
    check(
        |dir| fs_err::write(dir.join("chat.html"), "<script src=\"chat.js\"></script>").unwrap(),
        &["chat.html loads chat.js, which is not in the bundle"],
    );
}

#[test]
fn text_that_becomes_code_is_refused() {
    check(
        |dir| fs_err::write(dir.join("probe.js"), "let a = 1;\n  eval('a');\nnew Function('a');").unwrap(),
        &["probe.js calls eval: eval('a');", "probe.js makes a function from text: new Function('a');"],
    );
}

#[test]
fn a_word_that_ends_in_eval_is_no_eval() {
    check(|dir| fs_err::write(dir.join("probe.js"), "medieval(1); x.eval(2)").unwrap(), &[]);
}

#[test]
fn html_from_text_is_refused_outside_the_fenced_library() {
    check(
        |dir| fs_err::write(dir.join("page.js"), "import './ui.js';\na.innerHTML = b;").unwrap(),
        &["page.js assigns HTML text: a.innerHTML = b;"],
    );
    check(
        |dir| {
            let snippet = dir.join("snippets/dioxus-interpreter-js-1/a.js");
            fs_err::create_dir_all(snippet.parent().unwrap()).unwrap();
            fs_err::write(snippet, "t.innerHTML = b;").unwrap();
        },
        &[],
    );
}

#[test]
fn a_remote_address_in_code_is_refused_but_a_namespace_is_none() {
    check(
        |dir| fs_err::write(dir.join("probe.js"), "load('https://cdn.example/x.js')").unwrap(),
        &["probe.js holds the remote address https://cdn.example/x.js"],
    );
    check(
        |dir| fs_err::write(dir.join("panelot.css"), "a { background: url(//cdn.example/x.png) }").unwrap(),
        &["panelot.css holds the remote address //cdn.example/x.png"],
    );
    check(|dir| fs_err::write(dir.join("probe.js"), "ns('http://www.w3.org/2000/svg')").unwrap(), &[]);
    check(
        |dir| fs_err::write(dir.join("probe.js"), "// see https://docs.example/why\na = 'https://'").unwrap(),
        &[],
    );
}

#[test]
fn an_inline_script_is_refused() {
    check(
        |dir| fs_err::write(dir.join("chat.html"), "<script>start()</script>").unwrap(),
        &["chat.html holds an inline script"],
    );
}

#[test]
fn a_source_map_and_debug_names_are_refused() {
    check(
        |dir| {
            fs_err::write(dir.join("probe.js"), "0 //# sourceMappingURL=probe.js.map").unwrap();
            fs_err::write(dir.join("ui_bg.wasm"), NAMED_WASM).unwrap();
            fs_err::write(dir.join("content.js"), content_js(NAMED_WASM)).unwrap();
        },
        &[
            "probe.js names a source map",
            "ui_bg.wasm has the debug section \"name\"",
            "the module in content.js has the debug section \"name\"",
        ],
    );
}

#[test]
fn a_dev_build_is_not_shipped() {
    check(
        |dir| fs_err::write(dir.join("build.json"), r#"{"profile":"dev"}"#).unwrap(),
        &["build.json: the profile must be \"release\": run `cargo xtask build --release`"],
    );
}

#[test]
fn a_file_above_its_budget_is_named_with_both_sizes() {
    check(
        |dir| fs_err::write(dir.join("content-strict.js"), " ".repeat(791 * 1024)).unwrap(),
        &["content-strict.js has 791 KiB, but its budget is 790 KiB"],
    );
}
