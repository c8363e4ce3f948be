//! Rules about which part of the workspace may know which: one table, compared with cargo's graph and the sources.

use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use regex::Regex;
use walkdir::WalkDir;

use super::Problems;

/// What a crate of the workspace may use of the workspace. A crate that is not in the table is a problem itself.
const MAY_USE: [(&str, &[&str]); 14] = [
    ("panelot-protocol-macros", &[]),
    ("panelot-protocol", &["panelot-protocol-macros"]),
    ("panelot-providers", &["panelot-protocol"]),
    ("panelot-engine", &["panelot-protocol", "panelot-providers"]),
    ("panelot-testkit", &["panelot-engine", "panelot-protocol", "panelot-providers"]),
    ("panelot-engine-web", &["panelot-engine", "panelot-protocol", "panelot-providers"]),
    ("panelot-content", &["panelot-protocol"]),
    ("panelot-content-web", &["panelot-content", "panelot-protocol"]),
    // The options page verifies a connection itself, so the pages know the provider codecs.
    ("panelot-ui", &["panelot-protocol", "panelot-providers"]),
    ("panelot-ui-web", &["panelot-protocol", "panelot-providers", "panelot-ui"]),
    ("panelot-driver", &["panelot-protocol"]),
    // The stories seed databases with stored records, and draw from a seed.
    ("panelot-e2e", &["panelot-driver", "panelot-engine", "panelot-protocol", "panelot-testkit"]),
    ("panelot-sim", &["panelot-engine", "panelot-protocol", "panelot-providers", "panelot-testkit"]),
    ("xtask", &["panelot-driver", "panelot-protocol"]),
];

/// Crates that only some parts of the workspace may use, by the beginning of their name.
const RESERVED: [(&str, &[&str], &str); 8] = [
    ("web-sys", WEB, "the browser is reached only through the thin web halves"),
    ("js-sys", WEB, "the browser is reached only through the thin web halves"),
    ("wasm-bindgen", WEB_AND_BUILD, "the browser is reached only through the thin web halves"),
    ("serde-wasm-bindgen", WEB, "the browser is reached only through the thin web halves"),
    ("wasm-streams", WEB, "the browser is reached only through the thin web halves"),
    ("gloo", WEB, "the browser is reached only through the thin web halves"),
    ("idb", &["panelot-engine-web"], "only the engine's web half stores anything"),
    ("dioxus", &["panelot-ui-web"], "only the pages' web half draws"),
];

const WEB: &[&str] = &["panelot-engine-web", "panelot-content-web", "panelot-ui-web"];
/// xtask links wasm-bindgen's command-line support, which is no use of the browser.
const WEB_AND_BUILD: &[&str] = &["panelot-engine-web", "panelot-content-web", "panelot-ui-web", "xtask"];

/// The feature of the engine that makes deliberate faults possible.
const MUTANTS: &str = "mutants";
/// The crate that looks for them.
const SIMULATION: &str = "panelot-sim";

/// Names that must not stand in a part of the sources.
const FORBIDDEN: [Forbidden; 6] = [
    Forbidden {
        dir: "engine/core/src/permission",
        pattern: r"\bports::",
        except: &[],
        reason: "the verdict is a pure function: data in, verdict out; it knows no ports",
    },
    Forbidden {
        dir: "engine/providers/src",
        pattern: r"\b(tools|store|permission)::",
        except: &[],
        reason: "provider codecs know neither tools, store nor permission",
    },
    Forbidden {
        dir: "engine/core/src",
        pattern: r"\b(spawn_local|Instant::now|SystemTime::now)\b",
        except: &[],
        reason: "time and spawning come through ports",
    },
    Forbidden {
        dir: "engine/core/src",
        pattern: r"\bstore(\(\))?\.commit\(",
        except: &[
            "thread/change.rs",
            "thread/receipt.rs",
            "turn/drive.rs",
            "host/desk.rs",
            "host/sweep.rs",
            "attachments/room.rs",
        ],
        reason: "a commit is applied where its state is kept: by the thread's change, a refusal's receipt, the draft of \
                 a stream, the desk, and the sweeps",
    },
    Forbidden {
        dir: "engine/core/src",
        pattern: r"\.(publish|broadcast|tell|notice)\(",
        except: &[
            "thread/change.rs",
            "thread/actor.rs",
            "thread/answers.rs",
            "turn/drive.rs",
            "host/mod.rs",
            "host/desk.rs",
            "host/presence.rs",
            "host/publish.rs",
            "host/replace.rs",
        ],
        reason: "an event of a state goes out after the commit that made it; only volatile ones go by themselves",
    },
    Forbidden {
        dir: "ui/web/src",
        pattern: r"\bdangerous_inner_html\b",
        except: &[],
        reason: "no HTML from strings",
    },
];

/// A name that must not stand in the code of a folder.
struct Forbidden {
    dir: &'static str,
    pattern: &'static str,
    /// Files below the folder where it may stand.
    except: &'static [&'static str],
    reason: &'static str,
}

/// What breaks the table.
///
/// # Errors
/// When cargo or a source file cannot be read.
pub fn problems(root: &Path) -> Result<Problems> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec();
    let metadata = metadata.context("`cargo metadata` on the workspace")?;
    let mut problems = dependency_problems(&edges(&metadata));
    for rule in &FORBIDDEN {
        problems.extend(source_problems(root, rule)?);
    }
    Ok(problems)
}

/// A crate of the workspace and what it depends on outside its tests.
struct Edges {
    name: String,
    dependencies: Vec<String>,
    /// The features that it switches on in what it depends on, also for its tests.
    features: Vec<String>,
}

fn edges(metadata: &Metadata) -> Vec<Edges> {
    let packages = metadata.packages.iter();
    packages
        .map(|package| {
            let kept = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development);
            let dependencies = kept.map(|dependency| dependency.name.clone()).collect();
            let features = package.dependencies.iter().flat_map(|dependency| dependency.features.clone());
            Edges { name: package.name.to_string(), dependencies, features: features.collect() }
        })
        .collect()
}

fn dependency_problems(crates: &[Edges]) -> Problems {
    let mut problems = Problems::new();
    for Edges { name, dependencies, features } in crates {
        if name != SIMULATION && features.iter().any(|feature| feature == MUTANTS) {
            problems
                .push(format!("crate {name} must not switch {MUTANTS} on: they are for {SIMULATION} alone"));
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| known == name) else {
            problems.push(format!(
                "crate {name} is not in the table of layers: add it to xtask/src/check/layers.rs"
            ));
            continue;
        };
        for dependency in dependencies {
            let inside = MAY_USE.iter().any(|(known, _)| known == dependency);
            if inside && !allowed.contains(&dependency.as_str()) {
                problems
                    .push(format!("crate {name} must not use {dependency}: its layer may use {allowed:?}"));
            }
            let reserved = RESERVED.iter().find(|(prefix, _, _)| dependency.starts_with(prefix));
            if let Some((_, users, reason)) = reserved
                && !users.contains(&name.as_str())
            {
                problems.push(format!("crate {name} must not use {dependency}: {reason}"));
            }
        }
    }
    problems
}

fn source_problems(root: &Path, rule: &Forbidden) -> Result<Problems> {
    let Forbidden { dir, pattern, except, reason } = rule;
    let regex = Regex::new(pattern)?;
    let mut problems = Problems::new();
    let dir = root.join(dir);
    if !dir.exists() {
        return Ok(problems);
    }
    for found in WalkDir::new(&dir).sort_by_file_name() {
        let found = found.with_context(|| format!("read {}", dir.display()))?;
        let may = except.iter().any(|file| found.path() == dir.join(file));
        if may || found.path().extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let text = fs_err::read_to_string(found.path())?;
        let shown = found.path().strip_prefix(root)?.display();
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (index, line) in code.filter(|(_, line)| regex.is_match(line)) {
            problems.push(format!("{shown}:{}: `{}`: {reason}", index + 1, line.trim()));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(name: &str, dependencies: &[&str]) -> Edges {
        let dependencies = dependencies.iter().map(|name| (*name).into()).collect();
        Edges { name: name.into(), dependencies, features: vec![] }
    }

    #[test]
    fn only_the_simulation_switches_deliberate_faults_on() {
        let with = |name| Edges { features: vec!["std".into(), "mutants".into()], ..uses(name, &[]) };
        assert_eq!(
            dependency_problems(&[with("panelot-sim"), with("panelot-engine-web")]),
            ["crate panelot-engine-web must not switch mutants on: they are for panelot-sim alone"]
        );
    }

    #[test]
    fn a_crate_that_knows_too_much_is_named_with_the_reason() {
        let crates = [
            uses("panelot-content", &["panelot-protocol", "panelot-engine"]),
            uses("panelot-engine", &["web-sys"]),
            uses("panelot-engine-web", &["dioxus"]),
            uses("panelot-new", &[]),
            uses("panelot-ui-web", &["dioxus", "web-sys", "panelot-ui"]),
        ];
        assert_eq!(
            dependency_problems(&crates),
            [
                "crate panelot-content must not use panelot-engine: its layer may use [\"panelot-protocol\"]",
                "crate panelot-engine must not use web-sys: the browser is reached only through the thin web halves",
                "crate panelot-engine-web must not use dioxus: only the pages' web half draws",
                "crate panelot-new is not in the table of layers: add it to xtask/src/check/layers.rs",
            ]
        );
    }

    #[test]
    fn a_forbidden_name_is_found_in_code_and_not_in_comments_or_where_it_may_stand() {
        let dir = tempfile::tempdir().unwrap();
        let src = dir.path().join("part");
        fs_err::create_dir_all(&src).unwrap();
        for file in ["a.rs", "b.rs"] {
            fs_err::write(src.join(file), "// ports:: is not used\nuse crate::ports::Clock;\n").unwrap();
        }
        let rule = Forbidden { dir: "part", pattern: r"\bports::", except: &["b.rs"], reason: "pure" };
        assert_eq!(
            source_problems(dir.path(), &rule).unwrap(),
            ["part/a.rs:2: `use crate::ports::Clock;`: pure"]
        );
    }
}
