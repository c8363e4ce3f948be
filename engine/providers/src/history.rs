//! The history as a wire accepts it: every call has exactly one result, right after it, in order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::types::{Message, Part, Quirks, ToolCall};

/// What the model reads where a result is missing, because the work was interrupted.
pub(crate) const INTERRUPTED_RESULT: &str = "This call was interrupted before its result arrived. It may or may not have run: \
     look at the current state before you do it again.";
/// What a tool result without any content says, since the wires refuse an empty one.
pub(crate) const EMPTY_RESULT: &str = "(no output)";
/// What stands for the user where two answers would follow on each other, or where a history ends with an answer:
/// the wires want a user's message there.
pub(crate) const GO_ON: &str = "Go on.";
/// What follows on an answer that was cut off.
pub(crate) const PARTIAL_NOTE: &str = "[This answer was cut off here.]";
/// The longest tool call id that both wires take, in bytes.
const CALL_ID_BYTES_MAX: usize = 40;
/// The length of an id for endpoints that insist on short ones, in bytes.
const SHORT_ID_BYTES: usize = 9;

/// One piece of the history, ready to be written on either wire.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry<'a> {
    User(&'a [Part]),
    /// Stands for a user's message that says [`GO_ON`].
    GoOn,
    Assistant(AssistantEntry<'a>),
    /// The results of the assistant message before, one for each of its calls, in its order.
    Results(Vec<ResultEntry<'a>>),
}

#[derive(Debug, PartialEq)]
pub(crate) struct AssistantEntry<'a> {
    pub text: &'a str,
    pub reasoning: Option<&'a str>,
    pub state: Option<&'a Value>,
    pub partial: bool,
    /// The calls with the ids that they have on the wire.
    pub calls: Vec<(String, &'a ToolCall)>,
}

impl AssistantEntry<'_> {
    /// The text, with a note where it was cut off.
    pub fn told_text(&self) -> String {
        match (self.partial, self.text.is_empty()) {
            (false, _) => self.text.to_owned(),
            (true, true) => PARTIAL_NOTE.to_owned(),
            (true, false) => format!("{}\n\n{PARTIAL_NOTE}", self.text.trim_end()),
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ResultEntry<'a> {
    pub call_id: String,
    pub name: &'a str,
    pub ok: bool,
    /// `None` where the result is missing.
    pub parts: Option<&'a [Part]>,
}

/// Brings `messages` into the order that the wires demand. Missing results are marked, results without a call and
/// repeated ones are left out, blank messages too, and ids are made legal and unique.
pub(crate) fn repaired<'a>(messages: &'a [Message], quirks: &Quirks) -> Vec<Entry<'a>> {
    let mut results = results_by_call(messages);
    let mut ids = WireIds { short: quirks.short_tool_ids, used: BTreeSet::new() };
    let mut entries = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { parts } if has_content(parts) => entries.push(Entry::User(parts)),
            Message::User { .. } | Message::ToolResult { .. } => {}
            Message::Assistant { text, reasoning, calls, provider_state, partial } => {
                if text.trim().is_empty() && calls.is_empty() {
                    continue;
                }
                let named: Vec<(String, &ToolCall)> =
                    calls.iter().map(|call| (ids.wire_id(&call.id), call)).collect();
                let answers: Vec<ResultEntry<'a>> =
                    named.iter().map(|(id, call)| take_result(&mut results, at, id, call)).collect();
                if matches!(entries.last(), None | Some(Entry::Assistant(_))) {
                    entries.push(Entry::GoOn);
                }
                entries.push(Entry::Assistant(AssistantEntry {
                    text,
                    reasoning: reasoning.as_deref(),
                    state: provider_state.as_ref(),
                    partial: *partial,
                    calls: named,
                }));
                if !answers.is_empty() {
                    entries.push(Entry::Results(answers));
                }
            }
        }
    }
    if matches!(entries.last(), Some(Entry::Assistant(_))) {
        entries.push(Entry::GoOn);
    }
    entries
}

fn has_content(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Image { .. } => true,
    })
}

/// Where each call id's results stand, oldest first.
type ResultsByCall<'a> = BTreeMap<&'a str, VecDeque<(usize, bool, &'a [Part])>>;

fn results_by_call(messages: &[Message]) -> ResultsByCall<'_> {
    let mut results: ResultsByCall<'_> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let Message::ToolResult { call_id, ok, parts, name: _ } = message {
            results.entry(call_id).or_default().push_back((at, *ok, parts));
        }
    }
    results
}

fn take_result<'a>(
    results: &mut ResultsByCall<'a>,
    after: usize,
    wire_id: &str,
    call: &'a ToolCall,
) -> ResultEntry<'a> {
    let mut found = None;
    if let Some(waiting) = results.get_mut(call.id.as_str()) {
        // A result that stands before its call answers nothing.
        while let Some((at, ok, parts)) = waiting.pop_front() {
            if at > after {
                found = Some((ok, parts));
                break;
            }
        }
    }
    let (ok, parts) = found.map_or((false, None), |(ok, parts)| (ok, Some(parts)));
    ResultEntry { call_id: wire_id.to_owned(), name: &call.name, ok, parts }
}

/// Hands out ids that are legal on the wire and used once. The same history always gets the same ids, so that prompt
/// caches hold.
struct WireIds {
    short: bool,
    used: BTreeSet<String>,
}

impl WireIds {
    fn wire_id(&mut self, id: &str) -> String {
        let mut wire_id = if self.is_legal(id) { id.to_owned() } else { self.derived(id, 0) };
        let mut salt = 0_u64;
        while !self.used.insert(wire_id.clone()) {
            salt = salt.saturating_add(1);
            wire_id = self.derived(id, salt);
        }
        wire_id
    }

    fn is_legal(&self, id: &str) -> bool {
        if self.short {
            return id.len() == SHORT_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        }
        (1..=CALL_ID_BYTES_MAX).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    }

    fn derived(&self, id: &str, salt: u64) -> String {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mut rest = fnv1a(id.bytes().chain(salt.to_le_bytes()));
        let mut name = String::from(if self.short { "" } else { "call_" });
        for _ in 0..SHORT_ID_BYTES {
            let digit =
                usize::try_from(rest % 36).ok().and_then(|at| DIGITS.get(at)).copied().unwrap_or(b'0');
            name.push(char::from(digit));
            rest /= 36;
        }
        name
    }
}

/// FNV-1a, 64 bits: spreads ids well enough, and needs no crate.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn user(text: &str) -> Message {
        Message::User { parts: vec![Part::Text(text.into())] }
    }

    fn assistant(text: &str, ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "click".into(), arguments: Map::new() };
        Message::Assistant {
            text: text.into(),
            reasoning: None,
            calls: ids.iter().map(call).collect(),
            provider_state: None,
            partial: false,
        }
    }

    fn result(id: &str, text: &str) -> Message {
        Message::ToolResult {
            call_id: id.into(),
            name: "click".into(),
            ok: true,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// The history in short: `u:text`, `a:text[ids]`, `r:id=text` or `r:id?` where the result is missing.
    fn short(messages: &[Message], quirks: &Quirks) -> String {
        let text = |parts: &[Part]| match parts.first() {
            Some(Part::Text(text)) => text.clone(),
            other => format!("{other:?}"),
        };
        let mut lines = Vec::new();
        for entry in repaired(messages, quirks) {
            match entry {
                Entry::User(parts) => lines.push(format!("u:{}", text(parts))),
                Entry::GoOn => lines.push("u!".into()),
                Entry::Assistant(entry) => {
                    let ids: Vec<String> = entry.calls.into_iter().map(|(id, _)| id).collect();
                    lines.push(format!("a:{}[{}]", entry.text, ids.join(",")));
                }
                Entry::Results(results) => lines.extend(results.iter().map(|result| match result.parts {
                    Some(parts) => format!("r:{}={}", result.call_id, text(parts)),
                    None => format!("r:{}?", result.call_id),
                })),
            }
        }
        lines.join(" ")
    }

    #[test]
    fn each_call_gets_one_result_right_after_it_in_order() {
        let cases: [(&str, Vec<Message>, &str); 9] = [
            (
                "in order already",
                vec![
                    user("q"),
                    assistant("", &["a", "b"]),
                    result("a", "1"),
                    result("b", "2"),
                    assistant("done", &[]),
                ],
                "u:q a:[a,b] r:a=1 r:b=2 a:done[] u!",
            ),
            (
                "results swapped and interleaved with steering",
                vec![assistant("", &["a", "b"]), result("b", "2"), user("also"), result("a", "1")],
                "u! a:[a,b] r:a=1 r:b=2 u:also",
            ),
            (
                "one of two is missing",
                vec![assistant("", &["a", "b"]), result("b", "2"), user("go on")],
                "u! a:[a,b] r:a? r:b=2 u:go on",
            ),
            ("all are missing at the end", vec![assistant("x", &["a"])], "u! a:x[a] r:a?"),
            ("a result without a call", vec![user("q"), result("z", "9"), user("r")], "u:q u:r"),
            ("a result before its call", vec![result("a", "0"), assistant("", &["a"])], "u! a:[a] r:a?"),
            (
                "a repeated result",
                vec![assistant("", &["a"]), result("a", "1"), result("a", "2")],
                "u! a:[a] r:a=1",
            ),
            ("empty messages", vec![user(" \n"), assistant(" ", &[]), user("q")], "u:q"),
            (
                "answers that follow on each other",
                vec![user("q"), assistant("1", &[]), assistant("2", &["a"])],
                "u:q a:1[] u! a:2[a] r:a?",
            ),
        ];
        for (what, messages, want) in cases {
            assert_eq!(short(&messages, &Quirks::default()), want, "{what}");
        }
    }

    #[test]
    fn an_id_used_twice_in_a_history_is_renamed_and_keeps_its_own_result() {
        let messages = [
            assistant("", &["a"]),
            result("a", "1"),
            assistant("", &["a", "a"]),
            result("a", "2"),
            result("a", "3"),
        ];
        let got = short(&messages, &Quirks::default());
        let ids: Vec<&str> = got.split("r:").skip(1).filter_map(|piece| piece.split('=').next()).collect();
        let unique: BTreeSet<&&str> = ids.iter().collect();
        assert_eq!((ids.len(), unique.len()), (3, 3), "{got}");
        let texts: Vec<&str> = got.split('=').skip(1).filter_map(|piece| piece.split(' ').next()).collect();
        assert_eq!(texts, ["1", "2", "3"]);
    }

    #[test]
    fn ids_are_made_legal_for_the_wire_and_the_same_each_time() {
        let messages = [assistant("", &["", "bad id!", "call_0123456789"])];
        let short_quirk = Quirks { short_tool_ids: true, ..Quirks::default() };
        for quirks in [Quirks::default(), short_quirk] {
            let ids = |entries: &[Entry<'_>]| match entries.get(1) {
                Some(Entry::Assistant(entry)) => {
                    entry.calls.iter().map(|(id, _)| id.clone()).collect::<Vec<String>>()
                }
                other => panic!("{other:?}"),
            };
            let got = ids(&repaired(&messages, &quirks));
            let checker = WireIds { short: quirks.short_tool_ids, used: BTreeSet::new() };
            assert!(got.iter().all(|id| checker.is_legal(id)), "{got:?}");
            assert_eq!(got, ids(&repaired(&messages, &quirks)));
            assert_eq!(got.get(2).map(String::as_str) == Some("call_0123456789"), !quirks.short_tool_ids);
        }
    }

    #[test]
    fn a_cut_answer_says_so() {
        let entry =
            |text| AssistantEntry { text, reasoning: None, state: None, partial: true, calls: vec![] };
        assert_eq!(entry("half ").told_text(), "half\n\n[This answer was cut off here.]");
        assert_eq!(entry("").told_text(), "[This answer was cut off here.]");
    }
}
