//! Tool calls of an OpenAI-kind stream: gathers the pieces of each call, however the endpoint numbers them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::{FinishedCall, StreamEvent};
use crate::arguments::parse_arguments;

/// The most calls of one answer.
pub(crate) const CALLS_MAX: usize = 128;
/// The longest id and name that are kept, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// The calls of one answer so far.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    slots: Vec<Slot>,
}

/// More calls than [`CALLS_MAX`], or a name longer than any tool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallsTooLarge;

#[derive(Debug, Default)]
struct Slot {
    /// The number that the endpoint gives the call; several calls may share it.
    wire_index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Members that we do not know, as JSON text, beside `function` and inside it.
    extras: BTreeMap<String, String>,
    function_extras: BTreeMap<String, String>,
}

/// One entry of `tool_calls`, with the odd forms evened out.
struct Piece<'v> {
    wire_index: Option<u64>,
    id: String,
    name: &'v str,
    arguments: String,
}

impl CallTable {
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes the `tool_calls` of one delta. `raw` gives the same array unparsed, and is called only when an entry has
    /// members that must go back byte for byte. Returns how many bytes it now holds more.
    pub fn take<'r>(
        &mut self,
        entries: &[Value],
        raw: impl FnOnce() -> Vec<BTreeMap<String, &'r RawValue>>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<usize, CallsTooLarge> {
        let mut added_bytes = 0_usize;
        let mut touched = Vec::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            let Some(entry) = entry.as_object() else {
                touched.push(None);
                continue;
            };
            let piece = read_piece(entry);
            let at = self.slot_for(&piece, position, entries.len());
            if at >= CALLS_MAX || piece.id.len() > NAME_BYTES_MAX || piece.name.len() > NAME_BYTES_MAX {
                return Err(CallsTooLarge);
            }
            added_bytes = added_bytes.saturating_add(self.add(at, piece, out));
            touched.push(Some(at));
        }
        if entries.iter().any(has_extras) {
            for (raw_entry, at) in raw().into_iter().zip(touched) {
                if let Some(slot) = at.and_then(|at| self.slots.get_mut(at)) {
                    added_bytes = added_bytes.saturating_add(slot.keep_extras(&raw_entry));
                }
            }
        }
        Ok(added_bytes)
    }

    /// Which call a piece belongs to; one past the end for a new one.
    fn slot_for(&self, piece: &Piece<'_>, position: usize, entries: usize) -> usize {
        let new = self.slots.len();
        let last_where = |test: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(test);
        if !piece.id.is_empty()
            && let Some(at) = last_where(&|slot| slot.id == piece.id)
        {
            return at;
        }
        // Without a number, several entries at once are numbered by their place, and a single one goes on with the
        // last call.
        let candidate = match piece.wire_index {
            Some(index) => last_where(&|slot| slot.wire_index == Some(index)),
            None if entries > 1 => last_where(&|slot| slot.wire_index == u64::try_from(position).ok()),
            None => new.checked_sub(1),
        };
        match candidate.and_then(|at| self.slots.get(at).map(|slot| (at, slot))) {
            Some((at, slot)) if slot.goes_on_with(piece) => at,
            Some(_) | None => new,
        }
    }

    /// Adds a piece to its call and reports it. Returns how many bytes were added.
    fn add(&mut self, at: usize, piece: Piece<'_>, out: &mut Vec<StreamEvent>) -> usize {
        if at == self.slots.len() {
            let wire_index = piece.wire_index.or_else(|| u64::try_from(at).ok());
            self.slots.push(Slot { wire_index, ..Slot::default() });
        }
        let Some(slot) = self.slots.get_mut(at) else { return 0 };
        if slot.id.is_empty() {
            slot.id = piece.id;
        }
        if slot.name.is_empty() {
            piece.name.clone_into(&mut slot.name);
        } else if slot.arguments.is_empty() && slot.name != piece.name && slot.name.len() < NAME_BYTES_MAX {
            // The name itself comes in pieces.
            slot.name.push_str(piece.name);
        }
        slot.arguments.push_str(&piece.arguments);
        let added_bytes = piece.arguments.len().saturating_add(piece.name.len());
        out.push(StreamEvent::ToolCallDelta {
            index: at,
            id: slot.id.clone(),
            name: slot.name.clone(),
            args_delta: piece.arguments,
        });
        added_bytes
    }

    /// The calls of a whole answer.
    pub fn finish(&self) -> Vec<FinishedCall> {
        let finished = |slot: &Slot| FinishedCall {
            id: slot.id.clone(),
            name: slot.name.clone(),
            arguments: parse_arguments(&slot.arguments),
        };
        self.slots.iter().map(finished).collect()
    }

    /// The unknown members of each call, for the replay state; `None` when there are none.
    pub fn extras(&self) -> Option<Value> {
        let is_plain = |slot: &Slot| slot.extras.is_empty() && slot.function_extras.is_empty();
        if self.slots.iter().all(is_plain) {
            return None;
        }
        let member = |texts: &BTreeMap<String, String>| -> Value {
            texts
                .iter()
                .map(|(name, json)| (name.clone(), Value::from(json.clone())))
                .collect::<Map<_, _>>()
                .into()
        };
        let of_slot = |slot: &Slot| -> Value {
            let members = [("call", &slot.extras), ("function", &slot.function_extras)];
            let filled = members.iter().filter(|(_, texts)| !texts.is_empty());
            filled.map(|(key, texts)| ((*key).to_owned(), member(texts))).collect::<Map<_, _>>().into()
        };
        Some(self.slots.iter().map(of_slot).collect())
    }
}

impl Slot {
    /// Whether a piece that carries the number of this call belongs to it, or begins another call under that number.
    fn goes_on_with(&self, piece: &Piece<'_>) -> bool {
        if piece.name.is_empty() || self.name.is_empty() {
            return true;
        }
        if !piece.id.is_empty() && !self.id.is_empty() {
            // Equal ids were found before: this one begins a call of its own.
            return false;
        }
        if piece.name != self.name {
            // Another name under the same number: the rest of a name in pieces, unless arguments have begun.
            return self.arguments.is_empty() && piece.arguments.is_empty();
        }
        // The name is repeated. The same arguments once more are a repetition too; after whole ones, others are a new
        // call. The look at the last byte spares parsing at every piece of long arguments.
        let may_be_whole = self.arguments.trim_end().ends_with('}');
        self.arguments == piece.arguments || !may_be_whole || parse_arguments(&self.arguments).is_err()
    }

    fn keep_extras(&mut self, entry: &BTreeMap<String, &RawValue>) -> usize {
        let mut added_bytes = keep(&mut self.extras, entry, &CALL_MEMBERS);
        let function = entry.get("function").map(|raw| raw.get());
        if let Some(Ok(function)) = function.map(serde_json::from_str::<BTreeMap<String, &RawValue>>) {
            added_bytes =
                added_bytes.saturating_add(keep(&mut self.function_extras, &function, &FUNCTION_MEMBERS));
        }
        added_bytes
    }
}

const CALL_MEMBERS: [&str; 4] = ["index", "id", "type", "function"];
const FUNCTION_MEMBERS: [&str; 2] = ["name", "arguments"];

/// Keeps the members of `from` that are not `known`; a later value replaces an earlier one, except by `null`.
pub(crate) fn keep(
    extras: &mut BTreeMap<String, String>,
    from: &BTreeMap<String, &RawValue>,
    known: &[&str],
) -> usize {
    let mut added_bytes = 0_usize;
    for (name, raw) in
        from.iter().filter(|(name, raw)| !known.contains(&name.as_str()) && raw.get() != "null")
    {
        added_bytes = added_bytes.saturating_add(name.len()).saturating_add(raw.get().len());
        extras.insert(name.clone(), raw.get().to_owned());
    }
    added_bytes
}

fn has_extras(entry: &Value) -> bool {
    let unknown = |object: &Map<String, Value>, known: &[&str]| {
        object.iter().any(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
    };
    let Some(entry) = entry.as_object() else { return false };
    let function = entry.get("function").and_then(Value::as_object);
    unknown(entry, &CALL_MEMBERS) || function.is_some_and(|function| unknown(function, &FUNCTION_MEMBERS))
}

fn read_piece(entry: &Map<String, Value>) -> Piece<'_> {
    let function = entry.get("function").and_then(Value::as_object);
    let id = match entry.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let arguments = match function.and_then(|function| function.get("arguments")) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    Piece {
        wire_index: entry.get("index").and_then(Value::as_u64),
        id,
        name: function.and_then(|function| function.get("name")).and_then(Value::as_str).unwrap_or_default(),
        arguments,
    }
}
