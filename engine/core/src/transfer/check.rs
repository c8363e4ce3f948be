//! Checks a document whole and reads it. Nothing is written before every part of it is known to be right.

use super::document::{AttachmentDoc, FORMAT, NodeDoc, ThreadDoc, VERSION};
use crate::store::attachments::bytes_of_base64;
use panelot_protocol::budget::Budget;
use panelot_protocol::event::{LeftOut, LeftOutKind};
use panelot_protocol::ids::{AttachmentId, NodeId, PresetId, ThreadId};
use panelot_protocol::schema::Shape;
use panelot_protocol::settings::{PermissionRule, RuleEffect, Settings};
use panelot_protocol::validate::{Mode, validate};
use panelot_protocol::{FromJson, limits};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What one document may cost, measured before anything is parsed.
const BUDGET: Budget = Budget {
    name: "import",
    depth_max: 64,
    values_max: 2_000_000,
    items_max: 100_000,
    keys_max: 4_096,
    bytes_max: limits::IMPORT_BYTES_MAX,
};
/// Characters of a name that a problem repeats.
const NAME_CHARS_MAX: usize = 64;

/// A document that holds what it must.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Its threads.
    pub threads: Vec<ThreadParts>,
    /// What it holds and is not brought in.
    pub left_out: Vec<LeftOut>,
}

/// A thread with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadParts {
    /// The thread.
    pub thread: ThreadDoc,
    /// Its attachments.
    pub attachments: Vec<AttachmentDoc>,
    /// Its nodes, each behind its parent.
    pub nodes: Vec<NodeDoc>,
    /// The node that its shown path goes through.
    pub leaf_id: Option<NodeId>,
}

/// Problems, of which only the first ones are kept.
#[derive(Debug, Default)]
pub(super) struct Problems {
    named: Vec<String>,
    count: usize,
}

impl Problems {
    /// Adds one: its path and what is wrong there.
    pub fn add(&mut self, path: &str, rule: &str) {
        self.count = self.count.saturating_add(1);
        // The last place tells how many more there are.
        if u64::try_from(self.named.len()).is_ok_and(|named| named < limits::IMPORT_PROBLEMS_COUNT_MAX) {
            self.named.push(crate::provider::cut(&format!("{path}: {rule}"), limits::MESSAGE_CHARS_MAX));
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The problems; when there are more than are kept, the last line says so.
    pub fn list(mut self) -> Vec<String> {
        if self.count > self.named.len() {
            self.named.pop();
            let more = self.count.saturating_sub(self.named.len());
            self.named.push(format!("{more} more problems"));
        }
        self.named
    }
}

/// Reads a document.
///
/// # Errors
/// Every problem with its path, at most [`limits::IMPORT_PROBLEMS_COUNT_MAX`] lines.
pub fn check(text: &str) -> Result<Checked, Vec<String>> {
    let mut problems = Problems::default();
    let Some(mut fields) = object(text, &mut problems) else { return Err(problems.list()) };
    if fields.remove("format").as_ref().and_then(Value::as_str) != Some(FORMAT) {
        problems.add("format", &format!("must be \"{FORMAT}\": this is no export of Panelot"));
        return Err(problems.list());
    }
    match fields.remove("version").as_ref().and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(version) if version > VERSION => {
            problems.add("version", &format!("{version} is newer than {VERSION}: update the extension"));
            return Err(problems.list());
        }
        Some(_) | None => {
            problems.add("version", &format!("must be {VERSION}"));
            return Err(problems.list());
        }
    }
    fields.remove("exportedAtMs");
    fields.remove("skipped");
    let mut left_out =
        fields.remove("settings").map(|value| settings(value, &mut problems)).unwrap_or_default();
    let threads = match fields.remove("threads") {
        Some(Value::Array(threads)) => threads,
        Some(_) => {
            problems.add("threads", "not an array");
            Vec::new()
        }
        None => {
            problems.add("threads", "missing");
            Vec::new()
        }
    };
    for key in fields.keys() {
        problems.add(&short(key), "unknown field");
    }
    let mut seen = Seen::default();
    let mut checked = Vec::with_capacity(threads.len());
    for (at, value) in threads.into_iter().enumerate() {
        checked.extend(thread(value, &format!("threads[{at}]"), &mut seen, &mut problems));
    }
    if !problems.is_empty() {
        return Err(problems.list());
    }
    left_out.truncate(usize::try_from(limits::LEFT_OUT_COUNT_MAX).unwrap_or(usize::MAX));
    Ok(Checked { threads: checked, left_out })
}

/// A preset that a thread of a document names, as what is left out when it is not here.
pub(super) fn left_preset(preset: &PresetId) -> LeftOut {
    LeftOut { kind: LeftOutKind::ThreadPreset, name: preset.to_string() }
}

/// Ids that were met: each stands for one thing in the whole document.
#[derive(Default)]
struct Seen {
    threads: BTreeSet<ThreadId>,
    nodes: BTreeSet<NodeId>,
    attachments: BTreeSet<AttachmentId>,
}

fn object(text: &str, problems: &mut Problems) -> Option<Map<String, Value>> {
    if let Err(overdraft) = BUDGET.measure(text) {
        problems.add("document", &overdraft.to_string());
        return None;
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Some(fields),
        Ok(_) => {
            problems.add("document", "not an object");
            None
        }
        Err(error) => {
            problems.add("document", &format!("not JSON ({error})"));
            None
        }
    }
}

/// Reads a part by its shape; a fault is named with its place.
fn part<T: Shape + FromJson>(value: Value, path: &str, problems: &mut Problems) -> Option<T> {
    if let Err(fault) = validate(&value, T::SHAPE, Mode::Closed) {
        let place = if fault.path.is_empty() { path.to_owned() } else { format!("{path}.{}", fault.path) };
        problems.add(&place, &fault.rule.to_string());
        return None;
    }
    match T::from_json(value) {
        Ok(read) => Some(read),
        Err(fault) => {
            problems.add(path, &fault.to_string());
            None
        }
    }
}

fn list(fields: &mut Map<String, Value>, key: &str, path: &str, problems: &mut Problems) -> Vec<Value> {
    match fields.remove(key) {
        None => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => {
            problems.add(&format!("{path}.{key}"), "not an array");
            Vec::new()
        }
    }
}

fn thread(value: Value, path: &str, seen: &mut Seen, problems: &mut Problems) -> Option<ThreadParts> {
    let Value::Object(mut fields) = value else {
        problems.add(path, "not an object");
        return None;
    };
    let head_path = format!("{path}.thread");
    let head = match fields.remove("thread") {
        Some(value) => part::<ThreadDoc>(value, &head_path, problems),
        None => {
            problems.add(&head_path, "missing");
            None
        }
    };
    if let Some(head) = &head {
        check_head(head, &head_path, seen, problems);
    }
    let attachments = list(&mut fields, "attachments", path, problems);
    let attachments = attachments
        .into_iter()
        .enumerate()
        .filter_map(|(at, value)| attachment(value, &format!("{path}.attachments[{at}]"), seen, problems))
        .collect();
    let raw = list(&mut fields, "nodes", path, problems);
    let mut here = BTreeSet::new();
    let mut nodes = Vec::with_capacity(raw.len());
    for (at, value) in raw.into_iter().enumerate() {
        let path = format!("{path}.nodes[{at}]");
        // What refers to a faulty node is not at fault.
        let id = value.get("id").and_then(Value::as_str).map(NodeId::from);
        let Some(node) = part::<NodeDoc>(value, &path, problems) else {
            here.extend(id);
            continue;
        };
        check_node(&node, &path, &here, seen, problems);
        here.insert(node.id.clone());
        nodes.push(node);
    }
    let leaf_id = fields.remove("leafId").and_then(|value| leaf(value, path, &here, problems));
    for key in fields.keys() {
        problems.add(&format!("{path}.{}", short(key)), "unknown field");
    }
    Some(ThreadParts { thread: head?, attachments, nodes, leaf_id })
}

fn check_head(head: &ThreadDoc, path: &str, seen: &mut Seen, problems: &mut Problems) {
    if !seen.threads.insert(head.id.clone()) {
        problems.add(&format!("{path}.id"), "another thread of this document has this id");
    }
    if head.stats.cost_usd.is_some_and(|cost| cost < 0.0) {
        problems.add(&format!("{path}.stats.costUsd"), "less than 0");
    }
}

fn check_node(node: &NodeDoc, path: &str, here: &BTreeSet<NodeId>, seen: &mut Seen, problems: &mut Problems) {
    if !seen.nodes.insert(node.id.clone()) {
        problems.add(&format!("{path}.id"), "another node of this document has this id");
    }
    // A parent that comes first rules out circles, gaps and parents in other threads at once.
    if node.parent_id.as_ref().is_some_and(|parent| !here.contains(parent)) {
        problems.add(&format!("{path}.parentId"), "no node before this one in this thread has this id");
    }
    if let Some((field, id)) = node.payload.refers_to()
        && !here.contains(id)
    {
        problems.add(&format!("{path}.{field}"), "no node before this one in this thread has this id");
    }
}

fn leaf(value: Value, path: &str, here: &BTreeSet<NodeId>, problems: &mut Problems) -> Option<NodeId> {
    let path = format!("{path}.leafId");
    let id = part::<NodeId>(value, &path, problems)?;
    if !here.contains(&id) {
        problems.add(&path, "no node of this thread has this id");
    }
    Some(id)
}

fn attachment(value: Value, path: &str, seen: &mut Seen, problems: &mut Problems) -> Option<AttachmentDoc> {
    let read = part::<AttachmentDoc>(value, path, problems)?;
    if !seen.attachments.insert(read.id.clone()) {
        problems.add(&format!("{path}.id"), "another attachment of this document has this id");
    }
    if let Some(pieces) = &read.pieces {
        let padded = pieces.iter().rev().skip(1).any(|piece| piece.ends_with('='));
        let bytes = pieces.iter().map(|piece| bytes_of_base64(piece)).fold(0_u64, u64::saturating_add);
        if padded {
            problems.add(&format!("{path}.pieces"), "only the last piece may be padded");
        }
        if bytes != read.size {
            problems.add(&format!("{path}.size"), &format!("the pieces hold {bytes} bytes"));
        }
    }
    Some(read)
}

/// What of the settings is left out: all of it.
fn settings(value: Value, problems: &mut Problems) -> Vec<LeftOut> {
    let Some(settings) = part::<Settings>(value, "settings", problems) else { return Vec::new() };
    let left = |kind| move |name: String| LeftOut { kind, name };
    let connections = settings.connections.iter().map(|have| format!("{} ({})", have.name, have.base_url));
    let presets = settings.presets.iter().map(|have| have.name.clone());
    let rules = settings.rules.iter().map(rule_text);
    let mut all: Vec<LeftOut> = connections.map(left(LeftOutKind::Connection)).collect();
    all.extend(presets.map(left(LeftOutKind::Preset)));
    all.extend(rules.map(left(LeftOutKind::Rule)));
    all.push(LeftOut { kind: LeftOutKind::Settings, name: String::new() });
    for entry in &mut all {
        entry.name = crate::provider::cut(&entry.name, limits::MESSAGE_CHARS_MAX);
    }
    all
}

fn rule_text(rule: &PermissionRule) -> String {
    let effect = match rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Deny => "deny",
    };
    format!("{effect} {} {}", rule.subject, rule.origin)
}

/// A key from outside as a problem repeats it.
fn short(key: &str) -> String {
    key.chars().take(NAME_CHARS_MAX).collect()
}
