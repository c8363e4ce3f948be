//! Rules about `manifest.json`: valid, with exactly the permissions that were agreed on, and every file that it names.

use serde_json::Value;

use super::Problems;
use crate::build::Bundle;
use crate::versions::CHROME_MIN;

/// What the extension asks for at install: each adds to what a reviewer must be convinced of.
const PERMISSIONS: [&str; 11] = [
    "activeTab",
    "alarms",
    "contextMenus",
    "favicon",
    "notifications",
    "scripting",
    "sidePanel",
    "storage",
    "tabs",
    "unlimitedStorage",
    "webNavigation",
];

/// What it may ask for later, in the click that needs it.
const OPTIONAL_PERMISSIONS: [&str; 7] =
    ["bookmarks", "downloads", "history", "identity", "sessions", "tabGroups", "topSites"];

const OPTIONAL_HOST_PERMISSIONS: [&str; 1] = ["<all_urls>"];

/// Keys that give a page a way to the extension, or a site to the extension at install: none is used.
const KEYS_REFUSED: [&str; 6] = [
    "host_permissions",
    "content_scripts",
    "web_accessible_resources",
    "externally_connectable",
    "update_url",
    "sandbox",
];

/// Directives of the pages' CSP that must be there word for word.
const CSP_DIRECTIVES: [&str; 8] = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
];

/// What is wrong with the manifest.
pub fn problems(bundle: &Bundle) -> Problems {
    let Some(bytes) = bundle.get("manifest.json") else {
        return vec!["manifest.json is missing".into()];
    };
    let manifest: Value = match serde_json::from_slice(bytes) {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("manifest.json is not JSON: {error}")],
    };
    let mut problems = Problems::new();
    let mut expect = |pointer: &str, wanted: &Value| {
        let found = manifest.pointer(pointer).unwrap_or(&Value::Null);
        if found != wanted {
            problems.push(format!("manifest.json: {pointer} is {found}, but must be {wanted}"));
        }
    };
    expect("/manifest_version", &3.into());
    expect("/version", &env!("CARGO_PKG_VERSION").into());
    expect("/minimum_chrome_version", &CHROME_MIN.to_string().into());
    expect("/incognito", &"not_allowed".into());
    expect("/background/type", &"module".into());
    problems.extend(list(&manifest, "permissions", &PERMISSIONS));
    problems.extend(list(&manifest, "optional_permissions", &OPTIONAL_PERMISSIONS));
    problems.extend(list(&manifest, "optional_host_permissions", &OPTIONAL_HOST_PERMISSIONS));
    for key in KEYS_REFUSED {
        if manifest.get(key).is_some() {
            problems.push(format!("manifest.json: the key {key} is not allowed"));
        }
    }
    problems.extend(csp(&manifest));
    problems.extend(missing_files(bundle, &manifest));
    problems.extend(messages(bundle, &manifest));
    problems
}

/// Permissions must be the agreed ones, whatever their order.
fn list(manifest: &Value, key: &str, agreed: &[&str]) -> Problems {
    let found: Vec<&str> =
        manifest.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let extra = found.iter().filter(|name| !agreed.contains(name));
    let lacking = agreed.iter().filter(|name| !found.contains(name));
    extra
        .map(|name| format!("manifest.json: {key} has \"{name}\", which is not on the agreed list"))
        .chain(
            lacking.map(|name| format!("manifest.json: {key} lacks \"{name}\", which is on the agreed list")),
        )
        .collect()
}

fn csp(manifest: &Value) -> Problems {
    let policy = manifest.pointer("/content_security_policy/extension_pages").and_then(Value::as_str);
    let Some(policy) = policy else {
        return vec!["manifest.json: /content_security_policy/extension_pages is missing".into()];
    };
    let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
    let lacking = CSP_DIRECTIVES.iter().filter(|directive| !directives.contains(directive));
    lacking.map(|directive| format!("manifest.json: the CSP lacks \"{directive}\"")).collect()
}

/// Every string of the manifest that names a file, by the place where it stands.
fn named_files(manifest: &Value) -> Vec<(String, String)> {
    let single =
        ["/background/service_worker", "/side_panel/default_path", "/options_page", "/options_ui/page"];
    let mut files: Vec<(String, String)> = Vec::new();
    for pointer in single.into_iter().chain(["/action/default_popup", "/devtools_page"]) {
        if let Some(file) = manifest.pointer(pointer).and_then(Value::as_str) {
            files.push((pointer.to_owned(), file.to_owned()));
        }
    }
    for pointer in ["/icons", "/action/default_icon"] {
        let icons = manifest.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
        files.extend(
            icons.filter_map(|(size, file)| Some((format!("{pointer}/{size}"), file.as_str()?.to_owned()))),
        );
    }
    files
}

fn missing_files(bundle: &Bundle, manifest: &Value) -> Problems {
    let named = named_files(manifest).into_iter();
    named
        .filter(|(_, file)| bundle.get(file).is_none())
        .map(|(place, file)| format!("manifest.json: {place} names {file}, which is not in the bundle"))
        .collect()
}

/// Every `__MSG_name__` has its text in the default locale, and each locale has the same names.
fn messages(bundle: &Bundle, manifest: &Value) -> Problems {
    let Some(default) = manifest.get("default_locale").and_then(Value::as_str) else {
        return vec!["manifest.json: default_locale is missing".into()];
    };
    let default = format!("_locales/{default}/messages.json");
    let Some(names) = message_names(bundle, &default) else {
        return vec![format!("{default} is missing or is not a JSON object")];
    };
    let mut problems = Problems::new();
    let mut used = Vec::new();
    collect_messages(manifest, &mut used);
    for name in used {
        if !names.contains(&name) {
            problems.push(format!("manifest.json uses __MSG_{name}__, but {default} has no \"{name}\""));
        }
    }
    for (path, _) in bundle.iter().filter(|(path, _)| path.starts_with("_locales/")) {
        match message_names(bundle, path) {
            Some(found) if found == names => {}
            Some(found) => {
                problems.push(format!("{path} has the names {found:?}, but {default} has {names:?}"))
            }
            None => problems.push(format!("{path} is not a JSON object")),
        }
    }
    problems
}

fn message_names(bundle: &Bundle, path: &str) -> Option<Vec<String>> {
    let messages: Value = serde_json::from_slice(bundle.get(path)?).ok()?;
    let mut names: Vec<String> = messages.as_object()?.keys().cloned().collect();
    names.sort();
    Some(names)
}

/// The manifest's values that are messages stand at most two levels deep.
fn collect_messages(manifest: &Value, names: &mut Vec<String>) {
    let top = manifest.as_object().into_iter().flat_map(|object| object.values());
    let below = top.clone().filter_map(Value::as_object).flat_map(|object| object.values());
    let texts = top.chain(below).filter_map(Value::as_str);
    names.extend(texts.filter_map(|text| text.strip_prefix("__MSG_")?.strip_suffix("__")).map(str::to_owned));
}
