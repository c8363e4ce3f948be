//! The pieces of an attachment: in order, each at most once, of a bounded size.

use crate::host::Core;
use crate::ports::{Table, World};
use crate::store::attachments::{StoredAttachment, StoredPiece, attachment, bytes_of_base64};
use crate::store::records::{Record, StoredThread};
use crate::store::{CommitBuilder, RepoError, repo};
use panelot_protocol::format::Format;
use panelot_protocol::ids::{AttachmentId, ThreadId};
use panelot_protocol::limits;

/// A piece as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The attachment.
    pub id: AttachmentId,
    /// The thread that will use it.
    pub thread_id: Option<ThreadId>,
    /// Its media type.
    pub mime: String,
    /// Its file name.
    pub name: Option<String>,
    /// The piece's place.
    pub index: u32,
    /// How many there are.
    pub total: u32,
    /// The bytes.
    pub base64: String,
}

/// Adds a piece to a commit. A piece that is there already changes nothing.
///
/// # Errors
/// When the database fails; inside, the sentence of a refusal, which names the field.
pub(crate) async fn take<W: World>(
    core: &Core<W>,
    piece: Piece,
    commit: &mut CommitBuilder,
) -> Result<Result<(), String>, RepoError> {
    if let Err(problem) = check(&piece) {
        return Ok(Err(problem));
    }
    let store = core.world.store();
    if let Some(thread_id) = &piece.thread_id {
        let key = crate::ports::Key::text(thread_id.as_str());
        if repo::get::<_, StoredThread>(store, key).await?.is_none() {
            return Ok(Err("threadId: there is no such thread".to_owned()));
        }
    }
    let known = attachment(store, &piece.id).await?;
    let Some(known) = known else {
        if piece.index != 0 {
            return Ok(Err("index: the first piece is the next one".to_owned()));
        }
        let row = StoredAttachment {
            id: piece.id.clone(),
            revision: 1,
            thread_id: piece.thread_id,
            mime: piece.mime,
            name: piece.name,
            created_at_ms: core.now_ms(),
            size_bytes: bytes_of_base64(&piece.base64),
            total: piece.total,
            received: 1,
            references: Vec::new(),
            evicted: false,
        };
        commit.absent(Table::Attachments, row.key()).put(&row);
        commit.put(&StoredPiece { attachment_id: piece.id, index: 0, base64: piece.base64 });
        return Ok(Ok(()));
    };
    if known.mime != piece.mime || known.total != piece.total {
        return Ok(Err("attachmentId: this id stands for another attachment".to_owned()));
    }
    if piece.index < known.received {
        let key = StoredPiece::key_of(&piece.id, piece.index);
        let there = repo::get::<_, StoredPiece>(store, key).await?;
        let same = there.is_some_and(|there| there.base64 == piece.base64);
        return Ok(if same {
            Ok(())
        } else {
            Err("chunk: this piece came before with other bytes".to_owned())
        });
    }
    if piece.index != known.received {
        return Ok(Err(format!("index: piece {} is the next one", known.received)));
    }
    let size_bytes = known.size_bytes.saturating_add(bytes_of_base64(&piece.base64));
    if size_bytes > limits::ATTACHMENT_BYTES_MAX {
        return Ok(Err(too_large()));
    }
    commit.unchanged(&known);
    commit.put(&StoredAttachment {
        revision: known.revision.saturating_add(1),
        received: known.received.saturating_add(1),
        size_bytes,
        ..known
    });
    commit.put(&StoredPiece { attachment_id: piece.id, index: piece.index, base64: piece.base64 });
    Ok(Ok(()))
}

fn check(piece: &Piece) -> Result<(), String> {
    if piece.index >= piece.total {
        return Err(format!("index: there are only {} pieces", piece.total));
    }
    if !is_media_type(&piece.mime) {
        return Err("mime: not a media type such as image/png".to_owned());
    }
    if !Format::Base64.accepts(&piece.base64) {
        return Err("chunk: not base64".to_owned());
    }
    let last = piece.index.saturating_add(1) == piece.total;
    if !last && (piece.base64.is_empty() || piece.base64.ends_with('=')) {
        return Err("chunk: only the last piece may be empty or padded".to_owned());
    }
    if bytes_of_base64(&piece.base64) > limits::ATTACHMENT_PIECE_BYTES_MAX {
        return Err(format!("chunk: more than {} bytes", limits::ATTACHMENT_PIECE_BYTES_MAX));
    }
    // Pieces need not be full, but so many of them cannot be.
    if u64::from(piece.total) > limits::ATTACHMENT_BYTES_MAX / (64 << 10) {
        return Err(too_large());
    }
    Ok(())
}

fn too_large() -> String {
    format!("total: an attachment has at most {} MiB", limits::ATTACHMENT_BYTES_MAX >> 20)
}

/// Whether a text is a plain media type: two words of its alphabet around a slash.
pub(super) fn is_media_type(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| word(kind) && word(subtype))
}
