//! Rules about what the bundle's code may contain: nothing that runs text, nothing loaded from elsewhere, and in a
//! release no debug names.

use anyhow::{Context, Result};
use regex::Regex;
use serde_json::Value;
use wasmparser::{Parser, Payload};

use super::Problems;
use crate::build::{Bundle, embedded_wasm};

/// Text that becomes code, and the sentence that says so.
const RUNS_TEXT: [(&str, &str); 5] = [
    (r"(^|[^\w.$])eval\s*\(", "calls eval"),
    (r"new\s+Function\s*\(|(^|[^\w.$])Function\s*\(\s*['\x22`]", "makes a function from text"),
    (r"set(Timeout|Interval)\s*\(\s*['\x22`]", "gives a timer text to run"),
    (r"importScripts\s*\(", "calls importScripts"),
    (r"document\.write\s*\(", "calls document.write"),
];

/// HTML from strings, which only generated glue of a library may hold.
const SETS_HTML: [(&str, &str); 2] = [
    (r"\.(inner|outer)HTML\s*=[^=]", "assigns HTML text"),
    (r"insertAdjacentHTML\s*\(", "inserts HTML text"),
];

/// Rules that a library's own glue breaks, each with the reason why it may.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "snippets/dioxus-interpreter-js-",
    "assigns HTML text",
    "the interpreter clones templates that the compiler wrote; the UI forbids dangerous_inner_html by lint",
)];

/// Names of XML namespaces look like addresses, but nothing is fetched from them.
const NAMESPACE: &str = "http://www.w3.org/";

/// What is wrong with the code in the bundle.
pub fn problems(bundle: &Bundle) -> Problems {
    let release = profile(bundle).as_deref() == Some("release");
    let mut problems = Problems::new();
    if !release {
        problems
            .push("build.json: the profile must be \"release\": run `cargo xtask build --release`".into());
    }
    for (path, bytes) in bundle.iter() {
        let kind = path.rsplit('.').next().unwrap_or_default();
        if matches!(kind, "js" | "html" | "css") {
            let text = String::from_utf8_lossy(bytes);
            problems.extend(text_problems(path, kind, &text));
        }
        if kind == "html" {
            problems.extend(inline_code(path, &String::from_utf8_lossy(bytes)));
        }
        if kind == "wasm" {
            problems.extend(names(path, bytes));
        }
    }
    if let Some(script) = bundle.get("content.js") {
        match embedded_wasm(&String::from_utf8_lossy(script)) {
            Ok(module) => problems.extend(names("the module in content.js", &module)),
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    problems
}

fn profile(bundle: &Bundle) -> Option<String> {
    let stamp: Value = serde_json::from_slice(bundle.get("build.json")?).ok()?;
    Some(stamp.get("profile")?.as_str()?.to_owned())
}

fn text_problems(path: &str, kind: &str, text: &str) -> Problems {
    let mut problems = Problems::new();
    if kind == "js" {
        for (pattern, what) in RUNS_TEXT.iter().chain(&SETS_HTML) {
            let excused = EXCEPTIONS.iter().any(|(file, rule, _)| path.starts_with(file) && rule == what);
            if !excused && let Some(line) = first_match(text, pattern) {
                problems.push(format!("{path} {what}: {line}"));
            }
        }
    }
    if text.contains("sourceMappingURL=") {
        problems.push(format!("{path} names a source map"));
    }
    if let Some(address) = remote_address(kind, text) {
        problems.push(format!("{path} holds the remote address {address}"));
    }
    problems
}

/// The first line that matches, cut to a readable length.
fn first_match(text: &str, pattern: &str) -> Option<String> {
    let regex = Regex::new(pattern).ok()?;
    let found = regex.find(text)?;
    let start = text.get(..found.start())?.rfind('\n').map_or(0, |at| at + 1);
    let line: String = text.get(start..)?.lines().next()?.trim().chars().take(100).collect();
    Some(line)
}

/// An address that something could be loaded from begins a string, an attribute or a CSS `url()`; prose in the comments
/// of generated glue may name one.
fn remote_address(kind: &str, text: &str) -> Option<String> {
    let opening = if kind == "css" { r"['\x22(]" } else { r"['\x22`=]" };
    let regex = Regex::new(&format!(r"{opening}\s*((?:https?:)?//[\w.-]+[^\s'\x22`)>\\]*)")).ok()?;
    let addresses = regex.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str()));
    addresses.filter(|address| !address.starts_with(NAMESPACE)).map(str::to_owned).next()
}

/// Script and style belong into files: an inline handler or script would need a weaker CSP.
fn inline_code(path: &str, html: &str) -> Problems {
    let patterns = [
        (r"(?s)<script[^>]*>[^<\s]", "holds an inline script"),
        (r"<[^>]+\son\w+\s*=", "holds an inline event handler"),
        (r"(?i)javascript:", "holds a javascript: address"),
    ];
    let broken = patterns.iter().filter(|(pattern, _)| first_match(html, pattern).is_some());
    broken.map(|(_, what)| format!("{path} {what}")).collect()
}

/// Sections that only debuggers read.
fn names(path: &str, module: &[u8]) -> Problems {
    let sections = match custom_sections(module) {
        Ok(sections) => sections,
        Err(error) => return vec![format!("{path}: {error:#}")],
    };
    let debug = |name: &String| name == "name" || name.starts_with(".debug") || name == "sourceMappingURL";
    let found = sections.into_iter().filter(debug);
    found.map(|name| format!("{path} has the debug section \"{name}\"")).collect()
}

fn custom_sections(module: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload.context("is not valid wasm")? {
            names.push(section.name().to_owned());
        }
    }
    Ok(names)
}
