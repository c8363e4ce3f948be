//! Reasoning inside the text: splits a leading block between think tags from the answer, wherever chunks are cut.
//!
//! Only a block at the very start is reasoning. A stream that shows a closing tag without an opening one began in
//! reasoning. A tag right behind a back-tick is quoted text.

/// The pairs of tags that models use.
const TAGS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("[THINK]", "[/THINK]"),
];

/// How much white space an opening tag may stand behind, in bytes.
const BLANK_BYTES_MAX: usize = 1024;

/// A piece of the split text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
    /// All text so far was reasoning.
    TextWasReasoning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but white space so far: an opening tag may follow.
    Start,
    /// Inside a block that this tag closes.
    Inside { close: &'static str },
    /// Text began without an opening tag: a closing tag may still reveal that it was reasoning.
    Unopened,
    /// Behind the block; white space before the answer is dropped.
    Behind,
    /// The answer: everything is text.
    Answer,
}

/// A splitter for one answer. What may be the beginning of a tag is held back until it is decided.
#[derive(Debug)]
pub(crate) struct ThinkSplitter {
    state: State,
    held: String,
    /// The last character that was passed on, to recognise quoted tags.
    last: Option<char>,
}

impl ThinkSplitter {
    pub fn new() -> Self {
        Self { state: State::Start, held: String::new(), last: None }
    }

    /// Takes the next piece of text and returns what is decided by it.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// Takes the end of the text: what was held back was no tag. The second value says whether a block was left open.
    pub fn finish(mut self) -> (Vec<Piece>, bool) {
        let held = std::mem::take(&mut self.held);
        let is_open = matches!(self.state, State::Inside { .. });
        let pieces = match self.state {
            _ if held.is_empty() => Vec::new(),
            State::Inside { .. } => vec![Piece::Reasoning(held)],
            State::Behind if held.trim().is_empty() => Vec::new(),
            State::Start | State::Unopened | State::Behind | State::Answer => vec![Piece::Text(held)],
        };
        (pieces, is_open)
    }

    /// One decision; `false` when more text is needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.state {
            State::Start => self.step_start(),
            State::Inside { close } => self.step_until(&[close], pieces),
            State::Unopened => {
                let tags: Vec<&'static str> = TAGS.iter().flat_map(|(open, close)| [*open, *close]).collect();
                self.step_until(&tags, pieces)
            }
            State::Behind => {
                let trimmed = self.held.trim_start();
                self.held = trimmed.to_owned();
                if self.held.is_empty() {
                    return false;
                }
                self.state = State::Answer;
                true
            }
            State::Answer => {
                if !self.held.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut self.held)));
                }
                false
            }
        }
    }

    fn step_start(&mut self) -> bool {
        let begun = self.held.trim_start();
        if begun.is_empty() && self.held.len() <= BLANK_BYTES_MAX {
            return false;
        }
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
            self.held = begun.get(open.len()..).unwrap_or_default().to_owned();
            self.state = State::Inside { close };
            return true;
        }
        if !begun.is_empty() && TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
            return false;
        }
        self.state = State::Unopened;
        true
    }

    /// Passes on everything before the first of `tags`, or before what may become one. An opening tag in the middle
    /// of the text is part of the answer, and so is everything behind it.
    fn step_until(&mut self, tags: &[&'static str], pieces: &mut Vec<Piece>) -> bool {
        let found = tags
            .iter()
            .flat_map(|tag| self.held.match_indices(tag))
            .filter(|(at, _)| !self.is_quoted(*at))
            .min_by_key(|(at, _)| *at)
            .map(|(at, tag)| (at, tag.len(), TAGS.iter().any(|(open, _)| *open == tag)));
        if let Some((at, length, is_open)) = found {
            let after = self.held.split_off(if is_open { at } else { at.saturating_add(length) });
            self.held.truncate(at);
            self.emit(pieces);
            if self.state == State::Unopened && !is_open {
                pieces.push(Piece::TextWasReasoning);
            }
            self.held = after;
            self.state = if is_open { State::Answer } else { State::Behind };
            return true;
        }
        let keep = self.undecided_tail(tags);
        let tail = self.held.split_off(self.held.len().saturating_sub(keep));
        self.emit(pieces);
        self.held = tail;
        false
    }

    fn emit(&mut self, pieces: &mut Vec<Piece>) {
        let text = std::mem::take(&mut self.held);
        let Some(last) = text.chars().next_back() else { return };
        self.last = Some(last);
        pieces.push(if self.state == State::Unopened { Piece::Text(text) } else { Piece::Reasoning(text) });
    }

    fn is_quoted(&self, at: usize) -> bool {
        let before = self.held.get(..at).and_then(|text| text.chars().next_back()).or(self.last);
        before == Some('`')
    }

    /// How many bytes at the end of the held text may be the beginning of a tag.
    fn undecided_tail(&self, tags: &[&'static str]) -> usize {
        let longest = tags.iter().map(|tag| tag.len()).max().unwrap_or(0);
        let from = self.held.len().saturating_sub(longest);
        (from..self.held.len())
            .find(|at| self.held.get(*at..).is_some_and(|tail| tags.iter().any(|tag| tag.starts_with(tail))))
            .map_or(0, |at| self.held.len().saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the user ends up with: reasoning and text.
    fn split(chunks: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::new();
        let mut pieces = Vec::new();
        for chunk in chunks {
            pieces.extend(splitter.push(chunk));
        }
        pieces.extend(splitter.finish().0);
        let (mut reasoning, mut text) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Reasoning(more) => reasoning.push_str(&more),
                Piece::TextWasReasoning => reasoning.push_str(&std::mem::take(&mut text)),
            }
        }
        (reasoning, text)
    }

    const CASES: [(&str, &str, &str); 13] = [
        ("<think>why</think>answer", "why", "answer"),
        ("\n <think>\nwhy\n</think>\n\nanswer\n", "\nwhy\n", "answer\n"),
        ("[THINK]why[/THINK]answer", "why", "answer"),
        ("<thinking>a </think> b</thinking>c", "a </think> b", "c"),
        ("reasoning</think>answer", "reasoning", "answer"),
        ("no tags at all, 1 < 2 </ think>", "", "no tags at all, 1 < 2 </ think>"),
        ("text first <think>literal", "", "text first <think>literal"),
        ("in prose `</think>` stays", "", "in prose `</think>` stays"),
        ("`<think>` in prose", "", "`<think>` in prose"),
        ("<think>why</think>then </think> and <think>x</think>", "why", "then </think> and <think>x</think>"),
        ("text <think>x</think> text", "", "text <think>x</think> text"),
        ("<think></think>only", "", "only"),
        ("<thi", "", "<thi"),
    ];

    #[test]
    fn a_leading_block_is_reasoning_and_everything_else_is_text() {
        for (input, reasoning, text) in CASES {
            assert_eq!(split(&[input]), (reasoning.into(), text.into()), "{input}");
        }
    }

    #[test]
    fn cuts_change_nothing() {
        for (input, reasoning, text) in CASES {
            for (at, _) in input.char_indices() {
                let (head, tail) = input.split_at(at);
                assert_eq!(split(&[head, tail]), (reasoning.into(), text.into()), "{head}‖{tail}");
            }
            let single: Vec<String> = input.chars().map(String::from).collect();
            let single: Vec<&str> = single.iter().map(String::as_str).collect();
            assert_eq!(split(&single), (reasoning.into(), text.into()), "{input} by characters");
        }
    }

    #[test]
    fn an_open_block_is_reported_at_the_end() {
        let mut splitter = ThinkSplitter::new();
        assert_eq!(splitter.push("<think>never </thi"), [Piece::Reasoning("never ".into())]);
        assert_eq!(splitter.finish(), (vec![Piece::Reasoning("</thi".into())], true));
    }
}
