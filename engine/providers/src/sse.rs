//! Server-sent events after the WHATWG event-stream grammar, fed with chunks that may be cut anywhere.
//!
//! Two deliberate differences from the grammar: an event that the end of the stream cuts before its blank line is
//! still delivered by [`SseParser::finish`], since providers end streams so; and comments are reported, because they
//! prove that the server lives.

/// The longest line, and the most data of one event, in bytes.
pub const SSE_LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The longest stream, in bytes.
pub const SSE_STREAM_BYTES_MAX: usize = 256 * 1024 * 1024;

/// UTF-8's byte order mark, dropped at the very start.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Something that the stream said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// An event with at least one data line.
    Event {
        /// The `event` field; empty when there was none.
        name: String,
        /// The data lines, joined by line feeds.
        data: String,
    },
    /// A comment, an event without data, or another line without content: a sign of life.
    Alive,
}

/// A limit that the stream broke. The parser stays unusable after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line, or the data of an event, is too long.
    #[error("a line or event of the stream is longer than {bytes_max} bytes")]
    LineTooLong {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// The stream as a whole is too long.
    #[error("the stream is longer than {bytes_max} bytes")]
    StreamTooLong {
        /// The limit, in bytes.
        bytes_max: usize,
    },
}

/// The limits of one parser, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    /// For a line and for the data of one event.
    pub line_bytes_max: usize,
    /// For the whole stream.
    pub stream_bytes_max: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line_bytes_max: SSE_LINE_BYTES_MAX, stream_bytes_max: SSE_STREAM_BYTES_MAX }
    }
}

/// A parser for one stream. Every byte is looked at once, whatever the cuts.
#[derive(Debug, Default)]
pub struct SseParser {
    limits: SseLimits,
    /// The bytes of the line that is not ended yet.
    line: Vec<u8>,
    /// A carriage return ended the last line: a line feed right after it belongs to it.
    after_cr: bool,
    /// No line has ended yet, so that a byte order mark may still stand in front.
    at_start: bool,
    name: String,
    data: Option<String>,
    bytes_seen: usize,
    failed: Option<SseError>,
    /// How many bytes were searched for a line end: the proof that the work is linear.
    #[cfg(test)]
    searched: usize,
}

impl SseParser {
    /// A parser with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(SseLimits::default())
    }

    /// A parser with limits of your own.
    #[must_use]
    pub fn with_limits(limits: SseLimits) -> Self {
        Self { limits, at_start: true, ..Self::default() }
    }

    /// Takes the next chunk and adds what it completes to `items`.
    ///
    /// # Errors
    /// When a limit is broken; what was complete before that is in `items`.
    pub fn push(&mut self, chunk: &[u8], items: &mut Vec<SseItem>) -> Result<(), SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let outcome = self.take(chunk, items);
        self.failed = outcome.err();
        outcome
    }

    /// Takes the end of the stream: a last line or event without its line end still counts.
    pub fn finish(&mut self, items: &mut Vec<SseItem>) -> Result<(), SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.line.is_empty() {
            self.end_line(items)?;
        }
        self.dispatch(items);
        Ok(())
    }

    fn take(&mut self, chunk: &[u8], items: &mut Vec<SseItem>) -> Result<(), SseError> {
        let room = self.limits.stream_bytes_max.saturating_sub(self.bytes_seen);
        let (fits, too_much) = chunk.split_at_checked(room).unwrap_or((chunk, &[]));
        self.bytes_seen = self.bytes_seen.saturating_add(fits.len());
        let mut rest = fits;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = self.line_end(rest) {
            let (head, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.extend_line(head)?;
            self.end_line(items)?;
            rest = match tail.strip_prefix(b"\r") {
                Some([]) => {
                    self.after_cr = true;
                    &[]
                }
                Some(after) => after.strip_prefix(b"\n").unwrap_or(after),
                None => tail.strip_prefix(b"\n").unwrap_or(tail),
            };
        }
        self.extend_line(rest)?;
        if too_much.is_empty() {
            Ok(())
        } else {
            Err(SseError::StreamTooLong { bytes_max: self.limits.stream_bytes_max })
        }
    }

    fn line_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        #[cfg(test)]
        {
            self.searched += end.map_or(bytes.len(), |end| end + 1);
        }
        end
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.line.len().saturating_add(bytes.len()) > self.limits.line_bytes_max {
            return Err(self.too_long());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn too_long(&self) -> SseError {
        SseError::LineTooLong { bytes_max: self.limits.line_bytes_max }
    }

    fn end_line(&mut self, items: &mut Vec<SseItem>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let bytes = if std::mem::take(&mut self.at_start) {
            line.strip_prefix(BOM).unwrap_or(&line)
        } else {
            line.as_slice()
        };
        // Line ends are ASCII, so that decoding line by line replaces the same bad bytes as decoding the whole.
        self.read_line(&String::from_utf8_lossy(bytes), items)?;
        // The buffer is used again, so that a long stream does not allocate once a line.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn read_line(&mut self, line: &str, items: &mut Vec<SseItem>) -> Result<(), SseError> {
        if line.is_empty() {
            self.dispatch(items);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                let held = self.data.as_ref().map_or(0, String::len);
                if held.saturating_add(value.len()) >= self.limits.line_bytes_max {
                    return Err(self.too_long());
                }
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
            "event" => value.clone_into(&mut self.name),
            // A comment, `id`, `retry` or a field that nobody knows.
            _ => items.push(SseItem::Alive),
        }
        Ok(())
    }

    fn dispatch(&mut self, items: &mut Vec<SseItem>) {
        let name = std::mem::take(&mut self.name);
        match self.data.take() {
            Some(data) => items.push(SseItem::Event { name, data }),
            None if name.is_empty() => {}
            None => items.push(SseItem::Alive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> SseItem {
        SseItem::Event { name: String::new(), data: data.into() }
    }

    fn named(name: &str, data: &str) -> SseItem {
        SseItem::Event { name: name.into(), data: data.into() }
    }

    fn parse<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<SseItem> {
        let mut parser = SseParser::new();
        let mut items = Vec::new();
        for chunk in chunks {
            parser.push(chunk, &mut items).unwrap();
        }
        parser.finish(&mut items).unwrap();
        items
    }

    #[track_caller]
    fn check(input: &[u8], want: &[SseItem]) {
        assert_eq!(parse([input]), want, "{input:?}");
        for at in 0..=input.len() {
            let (head, tail) = input.split_at(at);
            assert_eq!(parse([head, tail]), want, "{input:?} cut at {at}");
            assert_eq!(parse([head, b"", tail]), want, "{input:?} cut at {at} with an empty chunk");
        }
        assert_eq!(parse(input.chunks(1)), want, "{input:?} byte by byte");
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for body in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
            check(body.as_bytes(), &[event("a"), event("b")]);
        }
        check(b"data: a\r\n\ndata: b\n\r", &[event("a"), event("b")]);
    }

    #[test]
    fn fields_are_read_as_the_grammar_says() {
        let cases: [(&str, &[SseItem]); 14] = [
            ("data:a\n\n", &[event("a")]),
            ("data:  a \n\n", &[event(" a ")]),
            ("data: a\ndata: b\n\n", &[event("a\nb")]),
            ("data\ndata\n\n", &[event("\n")]),
            ("data:\ndata: b\n\n", &[event("\nb")]),
            ("data: a:b\n\n", &[event("a:b")]),
            ("event: ping\ndata: {}\n\n", &[named("ping", "{}")]),
            ("event: ping\n\ndata: a\n\n", &[SseItem::Alive, event("a")]),
            ("event: x\nevent: y\ndata: a\n\ndata: b\n\n", &[named("y", "a"), event("b")]),
            (": comment\n:\n\n", &[SseItem::Alive, SseItem::Alive]),
            ("id: 1\nretry: 10\ndata: a\n\n", &[SseItem::Alive, SseItem::Alive, event("a")]),
            ("Data: a\n data: b\n\n", &[SseItem::Alive, SseItem::Alive]),
            ("\n\n\n", &[]),
            ("", &[]),
        ];
        for (input, want) in cases {
            check(input.as_bytes(), want);
        }
    }

    #[test]
    fn an_event_that_the_end_cuts_is_delivered() {
        for body in ["data: [DONE]", "data: [DONE]\n", "data: [DONE]\r"] {
            check(body.as_bytes(), &[event("[DONE]")]);
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        check("\u{feff}data: a\n\n".as_bytes(), &[event("a")]);
        check("\u{feff}\u{feff}data: a\n\n".as_bytes(), &[SseItem::Alive]);
        check("data: \u{feff}a\n\n\u{feff}data: b\n\n".as_bytes(), &[event("\u{feff}a"), SseItem::Alive]);
    }

    #[test]
    fn bad_bytes_become_replacement_characters_and_good_ones_survive_cuts() {
        check("data: 🌍北京é\n\n".as_bytes(), &[event("🌍北京é")]);
        check(b"data: a\xF0\x9F\x8Cb\xFF\xC3\n\n", &[event("a\u{fffd}b\u{fffd}\u{fffd}")]);
        check(b"data: \xE5\n\n", &[event("\u{fffd}")]);
    }

    #[test]
    fn each_byte_of_a_long_line_is_searched_once_whatever_the_cuts() {
        let mut body = b"data: ".to_vec();
        body.resize(4 * 1024 * 1024, b'x');
        body.extend_from_slice(b"\n\n");
        for chunk_bytes in [1, 1000, body.len()] {
            let mut parser = SseParser::new();
            let mut items = Vec::new();
            for chunk in body.chunks(chunk_bytes) {
                parser.push(chunk, &mut items).unwrap();
            }
            assert_eq!((parser.searched, items.len()), (body.len(), 1), "chunks of {chunk_bytes}");
        }
    }

    #[test]
    fn limits_end_the_stream_with_a_typed_error_for_good() {
        let limits = SseLimits { line_bytes_max: 10, stream_bytes_max: 40 };
        let line = SseError::LineTooLong { bytes_max: 10 };
        let stream = SseError::StreamTooLong { bytes_max: 40 };
        let cases: [(&[u8], usize, SseError); 4] = [
            (b"data: a\n\ndata: 1234567\n\n", 1, line),
            (b"data: 1\n\ndata: 12\ndata: 34\ndata: 56\ndata: 78\n", 1, stream),
            (b":\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n:\n", 20, stream),
            (b"data:1234\ndata:1234\ndata:1234\n", 0, line),
        ];
        for (input, items_before, want) in cases {
            for chunk_bytes in [1, 3, input.len()] {
                let mut parser = SseParser::with_limits(limits);
                let mut items = Vec::new();
                let outcome = input.chunks(chunk_bytes).try_for_each(|chunk| parser.push(chunk, &mut items));
                assert_eq!((outcome, items.len()), (Err(want), items_before), "{input:?} in {chunk_bytes}");
                assert_eq!(parser.push(b"data: b\n\n", &mut items), Err(want));
                assert_eq!(parser.finish(&mut items), Err(want));
            }
        }
    }
}
