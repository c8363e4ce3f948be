//! How a model sees the attachments of a message: pictures as pictures, text as fenced text, everything else by name.

use crate::ports::Store;
use crate::prompt::fence::one_line;
use crate::prompt::{self, Provenance};
use crate::store::RepoError;
use crate::store::attachments::{StoredAttachment, attachment, pieces};
use crate::store::records::{NodePayload, StoredNode};
use panelot_protocol::ids::{AttachmentId, NodeId, ThreadId};
use panelot_providers::Part;
use std::collections::BTreeMap;

/// Bytes of content that one request carries; of older messages only the names.
const REQUEST_BYTES_MAX: u64 = 20 << 20;
/// Most characters of a name.
const NAME_CHARS_MAX: usize = 200;
/// Pictures that the wires take.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The parts of all attachments that a path's messages name, read before the request is made. The newest messages come
/// first when there is too much.
///
/// # Errors
/// When the database fails.
pub(crate) async fn parts_of<S: Store>(
    store: &S,
    thread_id: &ThreadId,
    path: &[StoredNode],
) -> Result<BTreeMap<AttachmentId, Part>, RepoError> {
    let mut parts = BTreeMap::new();
    let mut bytes = 0_u64;
    for node in path.iter().rev().filter(|node| !node.tombstone) {
        let NodePayload::UserMessage { input, .. } = &node.payload else { continue };
        for id in &input.attachments {
            if parts.contains_key(id) {
                continue;
            }
            // An attachment of another thread is none of this one's.
            let known =
                attachment(store, id).await?.filter(|have| have.thread_id.as_ref() == Some(thread_id));
            let part = match known {
                None => Part::Text(String::from("[Attachment: not there any more]")),
                Some(known) => {
                    let room = bytes.saturating_add(known.size_bytes) <= REQUEST_BYTES_MAX;
                    let content = if room { pieces(store, &known).await? } else { None };
                    bytes = bytes.saturating_add(if content.is_some() { known.size_bytes } else { 0 });
                    part(&node.id, &known, content)
                }
            };
            parts.insert(id.clone(), part);
        }
    }
    Ok(parts)
}

fn part(node_id: &NodeId, attachment: &StoredAttachment, content: Option<Vec<String>>) -> Part {
    let name = attachment.name.as_deref().unwrap_or("without a name");
    let name = one_line(name, NAME_CHARS_MAX).replace(['[', ']', '"'], "'");
    let what = format!("Attachment \"{name}\", {}, {} bytes", attachment.mime, attachment.size_bytes);
    let Some(content) = content else {
        return Part::Text(format!("[{what}: its content is not there any more]"));
    };
    let base64 = content.concat();
    if PICTURES.contains(&attachment.mime.as_str()) {
        return Part::Image { mime: attachment.mime.clone(), base64 };
    }
    let is_text = attachment.mime.starts_with("text/") || attachment.mime == "application/json";
    let text = is_text.then(|| decode(&base64)).flatten().and_then(|bytes| String::from_utf8(bytes).ok());
    match text {
        Some(text) => {
            let provenance = Provenance { node_id, tool: "attachment", origin: None };
            Part::Text(format!("[{what}]\n{}", prompt::fence(provenance, &text)))
        }
        None => Part::Text(format!("[{what}: cannot be shown to a model]")),
    }
}

/// The bytes of a text of base64; `None` when it is none.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_decoded_with_any_padding() {
        let cases = [("", ""), ("QQ==", "A"), ("QUI=", "AB"), ("QUJD", "ABC"), ("5YyX5Lqs", "北京")];
        for (text, want) in cases {
            assert_eq!(decode(text), Some(want.as_bytes().to_vec()));
        }
        assert_eq!(decode("Q!=="), None);
    }
}
