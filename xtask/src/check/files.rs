//! Rules about which files a bundle holds: all that pages and scripts load, and nothing that nobody asked for.

use super::Problems;
use crate::build::Bundle;

/// Files that the build makes, by name.
const GENERATED: [&str; 8] = [
    "build.json",
    "content-strict.js",
    "content.js",
    "engine.js",
    "engine_bg.wasm",
    "manifest.json",
    "ui.js",
    "ui_bg.wasm",
];

/// Files that are written by hand and copied, by name.
const WRITTEN: [&str; 7] =
    ["chat.html", "options.html", "page.js", "panelot.css", "probe.js", "sidepanel.html", "worker.js"];

/// Directories whose files are all of one kind.
const DIRECTORIES: [(&str, &[&str]); 3] =
    [("_locales/", &["json"]), ("icons/", &["png", "svg"]), ("snippets/", &["js"])];

/// What is missing, what is too much, and what pages and modules load in vain.
pub fn problems(bundle: &Bundle) -> Problems {
    let mut problems = Problems::new();
    for path in GENERATED.iter().chain(&WRITTEN) {
        if bundle.get(path).is_none() {
            problems.push(format!("{path} is missing"));
        }
    }
    for (path, bytes) in bundle.iter() {
        if !expected(path) {
            problems.push(format!("{path} is not a file that the bundle should hold"));
        }
        let text = String::from_utf8_lossy(bytes);
        let loads = match path.rsplit('.').next() {
            Some("html") => page_loads(&text),
            Some("js") => module_loads(&text),
            _ => Vec::new(),
        };
        for load in loads {
            let target = resolve(path, &load);
            if bundle.get(&target).is_none() {
                problems.push(format!("{path} loads {load}, which is not in the bundle"));
            }
        }
    }
    problems
}

fn expected(path: &str) -> bool {
    GENERATED.contains(&path)
        || WRITTEN.contains(&path)
        || DIRECTORIES.iter().any(|(dir, kinds)| {
            path.starts_with(dir) && path.rsplit_once('.').is_some_and(|(_, kind)| kinds.contains(&kind))
        })
}

/// Values of `src` and `href` that are not fragments.
fn page_loads(html: &str) -> Vec<String> {
    ["src=\"", "href=\""]
        .iter()
        .flat_map(|attribute| html.split(attribute).skip(1))
        .filter_map(|rest| rest.split('"').next())
        .filter(|value| !value.starts_with('#') && !value.starts_with("data:"))
        .map(str::to_owned)
        .collect()
}

/// Relative files that a module imports, or resolves against its own place.
fn module_loads(js: &str) -> Vec<String> {
    let mut loads = Vec::new();
    for line in js.lines() {
        let import =
            (line.starts_with("import ") || line.starts_with("export ")).then(|| line.rsplit_once(" from "));
        if let Some((_, from)) = import.flatten() {
            loads.push(from.trim_end_matches(';').trim_matches(['\'', '"']).to_owned());
        } else if let Some(bare) = line.strip_prefix("import ").filter(|rest| rest.starts_with(['\'', '"'])) {
            loads.push(bare.trim_end_matches(';').trim_matches(['\'', '"']).to_owned());
        }
        for rest in line.split("new URL(").skip(1) {
            if let Some((file, base)) = rest.split_once(',')
                && base.trim_start().starts_with("import.meta.url")
            {
                loads.push(file.trim().trim_matches(['\'', '"']).to_owned());
            }
        }
    }
    loads
}

/// A path relative to the file that names it.
fn resolve(from: &str, load: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if let Some(absolute) = load.strip_prefix('/') {
        return absolute.to_owned();
    }
    for part in load.split(['?', '#']).next().unwrap_or_default().split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_resolved_against_the_file_that_names_them() {
        assert_eq!(resolve("snippets/a/b.js", "./c.js"), "snippets/a/c.js");
        assert_eq!(resolve("snippets/a/b.js", "../../ui.js"), "ui.js");
        assert_eq!(resolve("page.js", "/ui.js"), "ui.js");
        assert_eq!(resolve("chat.html", "page.js?x=1"), "page.js");
    }

    #[test]
    fn imports_of_every_form_are_found() {
        let js = "import init, { a } from './engine.js';\nimport './side.js';\n\
            export { b } from \"./c.js\";\nconst u = new URL('engine_bg.wasm', import.meta.url);";
        assert_eq!(module_loads(js), ["./engine.js", "./side.js", "./c.js", "engine_bg.wasm"]);
    }
}
