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
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
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
