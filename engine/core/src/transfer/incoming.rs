//! The chunks of an import while they come: one import at a time, in memory, of a bounded size.

use panelot_protocol::ids::{ClientId, TransferId};
use panelot_protocol::limits;
use std::cell::RefCell;

/// What became of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The first one: the import begins.
    First,
    /// It is there, and more will come.
    More,
    /// It was the last one; this is the document.
    Whole(String),
    /// It does not fit what came before; the sentence names the field.
    Refused(String),
}

/// An import of which not all chunks came.
struct Transfer {
    client: ClientId,
    id: TransferId,
    total: u32,
    received: u32,
    text: String,
    /// Where the newest chunk begins: it may come again when its answer was lost.
    newest_at: usize,
}

/// The import that is coming, if one is.
#[derive(Default)]
pub(crate) struct Incoming(RefCell<Option<Transfer>>);

impl Incoming {
    /// Whether an import is coming in this worker's life.
    pub fn is_under_way(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Takes a chunk. A first chunk begins an import in the place of one that has not come to its end.
    pub fn take(&self, client: &ClientId, id: &TransferId, index: u32, total: u32, chunk: &str) -> Taken {
        if index >= total {
            return Taken::Refused(format!("index: there are only {total} chunks"));
        }
        let mut slot = self.0.borrow_mut();
        let repeated = slot.as_ref().is_some_and(|known| known.repeats(client, id, index, chunk));
        if index == 0 && !repeated {
            *slot = Some(Transfer {
                client: client.clone(),
                id: id.clone(),
                total,
                received: 0,
                text: String::new(),
                newest_at: 0,
            });
        }
        let Some(transfer) = slot.as_mut().filter(|known| known.client == *client && known.id == *id) else {
            return Taken::Refused(
                "transferId: the chunks before this one are not here any more, nothing was changed: begin again"
                    .to_owned(),
            );
        };
        if transfer.total != total {
            return Taken::Refused(format!("total: was {} before", transfer.total));
        }
        if !repeated {
            if index != transfer.received {
                return Taken::Refused(format!("index: chunk {} is the next one", transfer.received));
            }
            let bytes = transfer.text.len().saturating_add(chunk.len());
            if u64::try_from(bytes).map_or(true, |bytes| bytes > limits::IMPORT_BYTES_MAX) {
                *slot = None;
                return Taken::Refused(format!(
                    "chunk: the document is larger than {} MiB",
                    limits::IMPORT_BYTES_MAX >> 20
                ));
            }
            transfer.newest_at = transfer.text.len();
            transfer.text.push_str(chunk);
            transfer.received = transfer.received.saturating_add(1);
        }
        if transfer.received < total {
            return if index == 0 { Taken::First } else { Taken::More };
        }
        slot.take().map_or(Taken::More, |whole| Taken::Whole(whole.text))
    }
}

impl Transfer {
    fn repeats(&self, client: &ClientId, id: &TransferId, index: u32, chunk: &str) -> bool {
        self.client == *client
            && self.id == *id
            && index.checked_add(1) == Some(self.received)
            && self.text.get(self.newest_at..) == Some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(incoming: &Incoming, id: &str, index: u32, total: u32, chunk: &str) -> Taken {
        let client = ClientId::from("c");
        incoming.take(&client, &TransferId::from(id), index, total, chunk)
    }

    fn sentence(taken: Taken) -> String {
        if let Taken::Refused(sentence) = taken { sentence } else { format!("{taken:?}") }
    }

    #[test]
    fn chunks_become_the_document_and_the_newest_may_come_again() {
        let incoming = Incoming::default();
        assert_eq!(take(&incoming, "t", 0, 3, "a"), Taken::First);
        assert_eq!(take(&incoming, "t", 0, 3, "a"), Taken::First);
        assert_eq!(take(&incoming, "t", 1, 3, "b"), Taken::More);
        assert_eq!(take(&incoming, "t", 1, 3, "b"), Taken::More);
        assert_eq!(sentence(take(&incoming, "t", 1, 3, "x")), "index: chunk 2 is the next one");
        assert_eq!(take(&incoming, "t", 2, 3, "c"), Taken::Whole("abc".to_owned()));
        assert!(!incoming.is_under_way());
    }

    #[test]
    fn two_hundred_megabytes_are_refused_when_they_pass_the_limit_and_let_go() {
        let incoming = Incoming::default();
        let chunk = "x".repeat(1 << 20);
        let refused_at =
            (0..200).find(|index| matches!(take(&incoming, "t", *index, 200, &chunk), Taken::Refused(_)));
        assert_eq!(refused_at, Some(64));
        assert!(!incoming.is_under_way(), "nothing of it is kept");
        let sentence = sentence(take(&incoming, "t", 65, 200, &chunk));
        assert!(sentence.contains("begin again"), "{sentence}");
    }

    #[test]
    fn an_import_that_begins_takes_the_place_of_one_that_did_not_end() {
        let incoming = Incoming::default();
        take(&incoming, "one", 0, 2, "a");
        assert_eq!(take(&incoming, "two", 0, 1, "b"), Taken::Whole("b".to_owned()));
        assert!(sentence(take(&incoming, "one", 1, 2, "c")).contains("begin again"));
    }
}
