//! The manifest: a protocol as canonical text, made from the shapes, and the hash over it.
//!
//! Each line names a place on the wire and what stands there, sorted by place, so that a change of one field is a
//! change of one line wherever that field is reached. Names, comments and order of the source leave no trace.

use crate::budget::{self, Budget};
use crate::content::{ContentOp, ContentResult};
use crate::frame::EventFrame;
use crate::op::Op;
use crate::schema::{Field, INTEGER_MAX, Limits, Presence, Record, Shape, TypeShape};
use crate::validate::Mode;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A message of a protocol.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Its name in the manifest.
    pub name: &'static str,
    /// What an unknown field means.
    pub mode: Mode,
    /// What it looks like.
    pub shape: &'static TypeShape,
}

/// The protocol between pages and engine.
pub fn engine_manifest() -> String {
    let op = Message { name: "op", mode: Mode::Closed, shape: Op::SHAPE };
    let event = Message { name: "event", mode: Mode::Open, shape: EventFrame::SHAPE };
    manifest(crate::ENGINE_PROTOCOL, &[budget::COMMAND, budget::EVENT], &[op, event])
}

/// The protocol between engine and content script.
pub fn content_manifest() -> String {
    let op = Message { name: "op", mode: Mode::Closed, shape: ContentOp::SHAPE };
    let result = Message { name: "result", mode: Mode::Closed, shape: ContentResult::SHAPE };
    manifest(crate::CONTENT_PROTOCOL, &[budget::CONTENT], &[op, result])
}

/// The source of the constants of both hashes, as it is committed.
pub fn hashes_rs() -> String {
    format!(
        "\
//! The hashes of the manifests, made from the types by `cargo xtask protocol write`.

/// SHA-256 of the manifest of the protocol between pages and engine.
pub const ENGINE_SCHEMA_HASH: &str = \"{}\";
/// SHA-256 of the manifest of the protocol between engine and content script.
pub const CONTENT_SCRIPT_SCHEMA_HASH: &str =
    \"{}\";
",
        hash(&engine_manifest()),
        hash(&content_manifest())
    )
}

/// Every committed file that is made from the types: its path inside this crate, and its text.
pub fn committed_files() -> [(&'static str, String); 3] {
    [
        ("schema/engine.txt", engine_manifest()),
        ("schema/content.txt", content_manifest()),
        ("schema/hashes.rs", hashes_rs()),
    ]
}

/// A protocol as canonical text. Messages that are told apart by a tag are listed once more as a catalogue.
pub fn manifest(protocol: &str, budgets: &[Budget], messages: &[Message]) -> String {
    let mut lines = BTreeSet::new();
    for Message { name, mode, shape } in messages {
        let unknown = match mode {
            Mode::Closed => "refused",
            Mode::Open => "ignored",
        };
        lines.insert(format!("{name} unknown fields are {unknown}"));
        lines.extend(catalogue(shape).map(|variant| format!("{name} catalogue {variant}")));
        describe(name, shape, "", &mut lines);
    }
    let mut text = format!("protocol {protocol}\n");
    for Budget { name, depth_max, values_max, items_max, keys_max, bytes_max } in budgets {
        let _ = writeln!(
            text,
            "budget {name}: depth {depth_max}, values {values_max}, items {items_max}, keys {keys_max}, bytes {bytes_max}"
        );
    }
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The SHA-256 over a manifest, in lower hex.
pub fn hash(manifest: &str) -> String {
    hex(&Sha256::digest(manifest.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The names of the variants that the shape's own tag tells apart.
pub fn catalogue(shape: &'static TypeShape) -> Box<dyn Iterator<Item = &'static str>> {
    match shape {
        TypeShape::Tagged(tagged) => Box::new(tagged.variants.iter().map(|variant| variant.name)),
        TypeShape::Record(record) => Box::new(record.flattened.iter().flat_map(|part| catalogue(part))),
        TypeShape::Limited { inner, .. } => catalogue(inner),
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Choice(_)
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. } => Box::new(std::iter::empty()),
    }
}

/// Adds a line for the place and one for each place inside. `presence` is put before what stands there.
fn describe(place: &str, shape: &'static TypeShape, presence: &str, lines: &mut BTreeSet<String>) {
    let mut path = place.to_owned();
    let mut words = presence.to_owned();
    let mut limits = Limits::NONE;
    let mut shape = shape;
    loop {
        match shape {
            TypeShape::Limited { inner, limits: own } => {
                if let Some(boundary) = own.boundary {
                    let uses: Vec<String> = boundary.uses.iter().map(u64::to_string).collect();
                    lines.insert(format!("{path} boundary uses ({}) {}", uses.join(", "), boundary.tokens));
                }
                limits = limits.tightened(*own);
                shape = inner;
            }
            TypeShape::Optional(inner) => {
                // A field says by its presence that it may be absent; only in lists and maps is null a word.
                if path != place {
                    words.push_str("nullable ");
                }
                shape = inner;
            }
            TypeShape::List(inner) => {
                lines.insert(format!(
                    "{path}: {words}list{}",
                    range("items", limits.items_min, limits.items_max)
                ));
                path.push_str("[]");
                words.clear();
                limits = limits.of_items();
                shape = inner;
            }
            TypeShape::Map { key, value } => {
                lines.insert(format!("{path}: {words}map{}", range("keys", None, limits.keys_max)));
                describe(&format!("{path}{{key}}"), key, "", lines);
                path.push_str("{}");
                words.clear();
                limits = limits.of_items();
                shape = value;
            }
            TypeShape::Record(record) => {
                lines.insert(format!("{path}: {words}object"));
                fields(&path, record, lines);
                return;
            }
            TypeShape::Tagged(tagged) => {
                lines.insert(format!("{path}: {words}object by {}", tagged.tag));
                for variant in tagged.variants {
                    describe(&format!("{path}<{}>", variant.name), variant.shape, "", lines);
                }
                return;
            }
            TypeShape::Json
            | TypeShape::Bool
            | TypeShape::Integer { .. }
            | TypeShape::Float
            | TypeShape::Text
            | TypeShape::Choice(_) => {
                lines.insert(format!("{path}: {words}{}", leaf(shape, limits)));
                return;
            }
        }
    }
}

fn fields(path: &str, record: &'static Record, lines: &mut BTreeSet<String>) {
    for Field { name, presence, shape } in record.fields {
        let presence = match presence {
            Presence::Required => "",
            Presence::Optional => "optional ",
            Presence::Nullable => "optional nullable ",
        };
        describe(&format!("{path}.{name}"), shape, presence, lines);
    }
    for part in record.flattened {
        describe(path, part, "", lines);
    }
}

fn leaf(shape: &TypeShape, limits: Limits) -> String {
    match shape {
        TypeShape::Bool => "boolean".to_owned(),
        TypeShape::Integer { min, max } => {
            #[expect(clippy::cast_precision_loss, reason = "bounds of integers lie within 2^53")]
            let (min, max) = (
                (*min as f64).max(limits.min.unwrap_or(f64::MIN)),
                (*max as f64).min(limits.max.unwrap_or(f64::MAX)),
            );
            let exact = |bound: f64| {
                if bound.abs() >= INTEGER_MAX as f64 { "unbounded".to_owned() } else { bound.to_string() }
            };
            format!("integer {}..={}", exact(min), exact(max))
        }
        TypeShape::Float => {
            let bound =
                |bound: Option<f64>| bound.map_or_else(|| "unbounded".to_owned(), |bound| bound.to_string());
            format!("number {}..={}", bound(limits.min), bound(limits.max))
        }
        TypeShape::Text => {
            let format = limits.format.map(|format| format!(" {}", format.name())).unwrap_or_default();
            format!("string{format}{}", range("length", limits.len_min, limits.len_max))
        }
        TypeShape::Choice(names) => {
            let names: BTreeSet<&str> = names.iter().copied().collect();
            format!("one of {}", names.into_iter().collect::<Vec<_>>().join(" | "))
        }
        TypeShape::Json
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. }
        | TypeShape::Record(_)
        | TypeShape::Tagged(_)
        | TypeShape::Limited { .. } => "any JSON".to_owned(),
    }
}

fn range(unit: &str, min: Option<u64>, max: Option<u64>) -> String {
    match (min, max) {
        (None, None) => String::new(),
        (min, None) => format!(" {unit} {}..", min.unwrap_or(0)),
        (min, Some(max)) => format!(" {unit} {}..={max}", min.unwrap_or(0)),
    }
}
