//! Decodes a response with status 2xx: finds out what really came, and feeds the wire's decoder.

use crate::answer::{Final, Incomplete, StreamEvent};
use crate::anthropic::AnthropicDecoder;
use crate::errors::{ProtocolFault, ProviderError, cut};
use crate::failure::{html_title, request_id};
use crate::openai::OpenaiDecoder;
use crate::secret::{Redactor, Secret};
use crate::sse::{SseError, SseItem, SseParser};
use crate::types::{Connection, Kind, ResponseHead};
use crate::wire::{Context, EXCERPT_CHARS_MAX};

/// The longest body that came in place of a stream, in bytes.
pub const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How much of a web page is read for its title, in bytes.
const HTML_BYTES_MAX: usize = 4096;
/// How much white space may stand before the first byte that tells what the body is, in bytes.
const SNIFF_BYTES_MAX: usize = 1024;

/// Decodes one response. Feed it with [`push`](Self::push) until [`is_over`](Self::is_over) or the end of the body,
/// then call [`finish`](Self::finish); when reading fails or is given up, call [`fail`](Self::fail) instead.
///
/// What came decides, and not the content type, which servers set wrongly: a stream, a JSON body or a web page.
#[derive(Debug)]
pub struct StreamDecoder {
    wire: Wire,
    mode: Mode,
    context: Context,
    content_type: String,
    failure: Option<ProviderError>,
}

#[derive(Debug)]
enum Mode {
    /// The first bytes, which do not yet tell what the body is.
    Sniffing(Vec<u8>),
    Stream(Box<Stream>),
    Json(Vec<u8>),
    Html(Vec<u8>),
}

#[derive(Debug)]
struct Stream {
    parser: SseParser,
    /// The first bytes, shown when the body turns out to be something else.
    begin: Vec<u8>,
    has_events: bool,
}

#[derive(Debug)]
enum Wire {
    Openai(Box<OpenaiDecoder>),
    Anthropic(Box<AnthropicDecoder>),
}

impl StreamDecoder {
    /// A decoder for the answer to one request. `keys` are all keys of the connection: whatever the provider sends,
    /// no error will show one.
    #[must_use]
    pub fn new<'k>(
        connection: &Connection,
        model: &str,
        keys: impl IntoIterator<Item = &'k Secret>,
        head: &ResponseHead,
    ) -> Self {
        let context = Context {
            connection_id: connection.id.clone(),
            model: model.to_owned(),
            quirks: connection.quirks.clone(),
            redactor: Redactor::new(connection, keys),
            request_id: request_id(head),
        };
        let wire = match connection.kind {
            Kind::Openai => Wire::Openai(Box::new(OpenaiDecoder::new(context.clone()))),
            Kind::Anthropic => Wire::Anthropic(Box::new(AnthropicDecoder::new(context.clone()))),
        };
        let content_type = head.header("content-type").unwrap_or("no content type").to_owned();
        Self { wire, mode: Mode::Sniffing(Vec::new()), context, content_type, failure: None }
    }

    /// Takes the next bytes and returns the events that they complete. Never fails: what is wrong shows in
    /// [`is_over`](Self::is_over) and comes out of [`finish`](Self::finish), together with what was right before it.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        if !self.is_over()
            && let Err(error) = self.take(bytes, &mut out)
        {
            self.failure = Some(error);
        }
        out
    }

    /// Whether nothing that may follow matters any more: the answer is whole, or it has failed. The response can be
    /// dropped then.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.failure.is_some() || self.wire.is_done()
    }

    /// Takes the end of the body.
    ///
    /// # Errors
    /// When the answer is not whole; what there is of it comes with the error.
    pub fn finish(mut self) -> Result<Final, Box<Incomplete>> {
        if !self.is_over()
            && let Err(error) = self.end()
        {
            self.failure = Some(error);
        }
        self.wire.finish(self.failure)
    }

    /// Gives the answer up because reading failed, timed out or was stopped. An answer that was whole already stays so.
    ///
    /// # Errors
    /// Always but in that case, with `error` and what there is of the answer.
    pub fn fail(self, error: ProviderError) -> Result<Final, Box<Incomplete>> {
        let failure = if self.wire.is_done() { self.failure } else { Some(self.failure.unwrap_or(error)) };
        self.wire.finish(failure)
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        match &mut self.mode {
            Mode::Sniffing(begin) => {
                begin.extend_from_slice(bytes);
                let begin = std::mem::take(begin);
                match sniff(&begin) {
                    None => {
                        self.mode = Mode::Sniffing(begin);
                        Ok(())
                    }
                    Some(mode) => {
                        self.mode = mode;
                        self.take(&begin, out)
                    }
                }
            }
            Mode::Stream(stream) => {
                let mut items = Vec::new();
                let room = EXCERPT_CHARS_MAX.saturating_mul(4).saturating_sub(stream.begin.len());
                stream.begin.extend(bytes.iter().take(room));
                let outcome = stream.parser.push(bytes, &mut items);
                stream.has_events |= self.wire.items(items, out)?;
                outcome.map_err(|error| self.too_large(error))
            }
            Mode::Json(body) => {
                if body.len().saturating_add(bytes.len()) > BODY_BYTES_MAX {
                    let fault = ProtocolFault::TooLarge { what: "the body", bytes_max: BODY_BYTES_MAX };
                    return Err(self.context.protocol(fault));
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            Mode::Html(body) => {
                body.extend_from_slice(bytes);
                if body.len() < HTML_BYTES_MAX { Ok(()) } else { self.end() }
            }
        }
    }

    fn end(&mut self) -> Result<(), ProviderError> {
        let mut out = Vec::new();
        match &mut self.mode {
            Mode::Sniffing(begin) if begin.iter().all(u8::is_ascii_whitespace) => {
                Err(self.context.protocol(ProtocolFault::Empty))
            }
            Mode::Sniffing(begin) => {
                let excerpt = excerpt(begin);
                Err(self.neither_stream_nor_json(&excerpt))
            }
            Mode::Stream(stream) => {
                let mut items = Vec::new();
                let outcome = stream.parser.finish(&mut items);
                stream.has_events |= self.wire.items(items, &mut out)?;
                let is_labelled = self.content_type.to_ascii_lowercase().contains("event-stream");
                let foreign = (!stream.has_events && !is_labelled).then(|| excerpt(&stream.begin));
                outcome.map_err(|error| self.too_large(error))?;
                match foreign {
                    Some(excerpt) => Err(self.neither_stream_nor_json(&excerpt)),
                    None => Ok(()),
                }
            }
            Mode::Json(body) => {
                let text = String::from_utf8_lossy(body);
                self.wire.body(text.trim_start_matches('\u{feff}'), &mut out)
            }
            Mode::Html(body) => {
                let title = html_title(&String::from_utf8_lossy(body));
                let title = title.map(|title| self.context.redactor.redact(&title));
                Err(self.context.protocol(ProtocolFault::Html { title }))
            }
        }
    }

    fn neither_stream_nor_json(&self, excerpt: &str) -> ProviderError {
        let what = format!("an event stream was expected, and {} came: `{excerpt}`", self.content_type);
        self.context.malformed(&what)
    }

    fn too_large(&self, error: SseError) -> ProviderError {
        let fault = match error {
            SseError::LineTooLong { bytes_max } => {
                ProtocolFault::TooLarge { what: "a line of the stream", bytes_max }
            }
            SseError::StreamTooLong { bytes_max } => {
                ProtocolFault::TooLarge { what: "the stream", bytes_max }
            }
        };
        self.context.protocol(fault)
    }
}

impl Wire {
    fn is_done(&self) -> bool {
        match self {
            Self::Openai(decoder) => decoder.is_done(),
            Self::Anthropic(decoder) => decoder.is_done(),
        }
    }

    /// Feeds the items of the stream up to the answer's end; says whether there was an event among them.
    fn items(&mut self, items: Vec<SseItem>, out: &mut Vec<StreamEvent>) -> Result<bool, ProviderError> {
        let mut has_events = false;
        for item in items {
            if self.is_done() {
                break;
            }
            match item {
                SseItem::Alive => out.push(StreamEvent::Alive),
                SseItem::Event { name, data } => {
                    has_events = true;
                    match self {
                        Self::Openai(decoder) => decoder.event(&name, &data, out)?,
                        Self::Anthropic(decoder) => decoder.event(&name, &data, out)?,
                    }
                }
            }
        }
        Ok(has_events)
    }

    fn body(&mut self, body: &str, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        match self {
            Self::Openai(decoder) => decoder.body(body, out),
            Self::Anthropic(decoder) => decoder.body(body, out),
        }
    }

    fn finish(self, failure: Option<ProviderError>) -> Result<Final, Box<Incomplete>> {
        match self {
            Self::Openai(decoder) => decoder.finish(failure),
            Self::Anthropic(decoder) => decoder.finish(failure),
        }
    }
}

/// What a body is, by its first byte that is neither white space nor a byte order mark. No line of a stream begins
/// with a bracket.
fn sniff(begin: &[u8]) -> Option<Mode> {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    if begin.len() < BOM.len() && BOM.starts_with(begin) {
        return None;
    }
    let rest = begin.strip_prefix(BOM).unwrap_or(begin);
    match rest.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => Some(Mode::Json(Vec::new())),
        Some(b'<') => Some(Mode::Html(Vec::new())),
        None if begin.len() < SNIFF_BYTES_MAX => None,
        Some(_) | None => Some(Mode::Stream(Box::new(Stream {
            parser: SseParser::new(),
            begin: Vec::new(),
            has_events: false,
        }))),
    }
}

fn excerpt(bytes: &[u8]) -> String {
    cut(String::from_utf8_lossy(bytes).trim(), EXCERPT_CHARS_MAX)
}
