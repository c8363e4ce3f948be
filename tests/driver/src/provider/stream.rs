//! Turns a reply into the bytes of the wire, at its pace and with its faults.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::Stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::fault::Fault;
use super::reply::{Piece, Reply, text_frames};
use super::request::ParsedRequest;
use super::{Outcome, State};

/// How many frames may wait for the client.
const FRAMES_BUFFERED_MAX: usize = 16;
/// The pause between the last bytes that get through and the end of a cut connection.
const CUT_FLUSH_MS: u64 = 20;
/// A rough count of tokens: this many bytes are one.
const BYTES_PER_TOKEN: usize = 4;

/// Writes down how a request ended; a request that is dropped before its end was hung up on.
pub(super) struct Ending {
    state: Arc<State>,
    index: usize,
    outcome: Outcome,
}

impl Ending {
    pub(super) fn new(state: Arc<State>, index: usize) -> Self {
        Self { state, index, outcome: Outcome::HungUp }
    }

    pub(super) fn finish(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.state.finish(self.index, self.outcome);
    }
}

/// The bytes of a streamed reply.
pub(super) fn stream_reply(
    state: Arc<State>,
    request: ParsedRequest,
    reply: Reply,
    ending: Ending,
) -> impl Stream<Item = io::Result<Vec<u8>>> + Send + 'static {
    let (sender, receiver) = mpsc::channel(FRAMES_BUFFERED_MAX);
    tokio::spawn(async move {
        let mut wire = Wire::new(sender, &reply.faults);
        let outcome = match write_reply(&state, &request, &reply, &mut wire).await {
            Ok(()) => Outcome::Sent,
            Err(Stop::HungUp) => Outcome::HungUp,
            Err(Stop::Cut) => Outcome::Faulted,
        };
        ending.finish(outcome);
    });
    futures::stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) })
}

/// Why a reply ends before its end.
enum Stop {
    HungUp,
    Cut,
}

/// The connection, with the faults of single bytes.
struct Wire {
    sender: mpsc::Sender<io::Result<Vec<u8>>>,
    drip: Option<(usize, Duration)>,
    left_until_cut: Option<usize>,
}

impl Wire {
    fn new(sender: mpsc::Sender<io::Result<Vec<u8>>>, faults: &[Fault]) -> Self {
        let (mut drip, mut left_until_cut) = (None, None);
        for fault in faults {
            if let Fault::Drip { bytes, every_ms } = fault {
                drip = Some(((*bytes).max(1), Duration::from_millis(*every_ms)));
            } else if let Fault::CutAfterBytes { bytes } = fault {
                left_until_cut = Some(*bytes);
            }
        }
        Self { sender, drip, left_until_cut }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let size = self.drip.map_or(bytes.len().max(1), |(size, _)| size);
        for piece in bytes.chunks(size) {
            self.write_piece(piece).await?;
            if let Some((_, pause)) = self.drip {
                self.wait(tokio::time::sleep(pause)).await?;
            }
        }
        Ok(())
    }

    async fn write_piece(&mut self, piece: &[u8]) -> Result<(), Stop> {
        let allowed = self.left_until_cut.unwrap_or(usize::MAX).min(piece.len());
        let (through, lost) = piece.split_at(allowed);
        self.sender.send(Ok(through.to_vec())).await.map_err(|_| Stop::HungUp)?;
        if let Some(left) = &mut self.left_until_cut {
            *left -= allowed;
            if *left == 0 && !lost.is_empty() {
                // The server writes what it has once nothing more is ready; an error at once would swallow it.
                self.wait(tokio::time::sleep(Duration::from_millis(CUT_FLUSH_MS))).await?;
                let error = io::Error::new(io::ErrorKind::ConnectionReset, "cut on purpose");
                self.sender.send(Err(error)).await.map_err(|_| Stop::HungUp)?;
                return Err(Stop::Cut);
            }
        }
        Ok(())
    }

    /// Waits, but no longer than the client does.
    async fn wait(&self, until: impl Future<Output = ()>) -> Result<(), Stop> {
        tokio::select! {
            () = until => Ok(()),
            () = self.sender.closed() => Err(Stop::HungUp),
        }
    }

    async fn frame(&mut self, data: &Value) -> Result<(), Stop> {
        self.write(format!("data: {data}\n\n").as_bytes()).await
    }
}

async fn write_reply(
    state: &State,
    request: &ParsedRequest,
    reply: &Reply,
    wire: &mut Wire,
) -> Result<(), Stop> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = envelope(request, "chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        chunk
    };
    wire.frame(&chunk(json!({ "role": "assistant", "content": "" }), None)).await?;
    if reply.faults.contains(&Fault::Malformed) {
        wire.write(b"data: {\"choices\": [{\"delta\": {\"conte\n\n").await?;
    }
    let mut calls = 0;
    for piece in &reply.pieces {
        match piece {
            Piece::Text(text) => {
                for frame in text_frames(text) {
                    wire.frame(&chunk(json!({ "content": frame }), None)).await?;
                }
            }
            Piece::Frame(text) => wire.frame(&chunk(json!({ "content": text }), None)).await?,
            Piece::Reasoning(text) => wire.frame(&chunk(json!({ "reasoning_content": text }), None)).await?,
            Piece::Call { name, arguments } => {
                for delta in call_deltas(request.number, calls, name, arguments) {
                    wire.frame(&chunk(json!({ "tool_calls": [delta] }), None)).await?;
                }
                calls += 1;
            }
            Piece::Pause(time) => wire.wait(tokio::time::sleep(*time)).await?,
            Piece::Gate(name) => wire.wait(state.gate(name).pass()).await?,
        }
    }
    wire.frame(&chunk(json!({}), Some(reply.finish_reason()))).await?;
    if request.include_usage {
        let mut last = envelope(request, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage(request, reply);
        wire.frame(&last).await?;
    }
    if !reply.faults.contains(&Fault::NoDone) {
        wire.write(b"data: [DONE]\n\n").await?;
    }
    Ok(())
}

/// The reply to a request that wants no stream.
pub(super) fn completion(request: &ParsedRequest, reply: &Reply) -> Value {
    let mut calls = Vec::new();
    for piece in &reply.pieces {
        if let Piece::Call { name, arguments } = piece {
            let id = call_id(request.number, calls.len());
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            calls.push(json!({ "id": id, "type": "function", "function": function }));
        }
    }
    let mut message = json!({ "role": "assistant", "content": reply.whole_text() });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut body = envelope(request, "chat.completion");
    body["choices"] =
        json!([{ "index": 0, "message": message, "logprobs": null, "finish_reason": reply.finish_reason() }]);
    body["usage"] = usage(request, reply);
    body
}

fn envelope(request: &ParsedRequest, object: &str) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "id": format!("chatcmpl-{}", request.number), "object": object, "created": now.as_secs(),
        "model": request.model,
    })
}

fn call_id(request: usize, index: usize) -> String {
    format!("call_{request}_{index}")
}

/// A call on the wire: its head, then its arguments in two halves.
fn call_deltas(request: usize, index: usize, name: &str, arguments: &Value) -> [Value; 3] {
    let text: Vec<char> = arguments.to_string().chars().collect();
    let (first, second) = text.split_at(text.len() / 2);
    let head = json!({
        "index": index, "id": call_id(request, index), "type": "function",
        "function": { "name": name, "arguments": "" },
    });
    let half = |half: &[char]| json!({ "index": index, "function": { "arguments": half.iter().collect::<String>() } });
    [head, half(first), half(second)]
}

fn usage(request: &ParsedRequest, reply: &Reply) -> Value {
    let prompt = request.body.to_string().len() / BYTES_PER_TOKEN;
    let completion = reply.whole_text().len() / BYTES_PER_TOKEN + 1;
    json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion })
}
