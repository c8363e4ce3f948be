//! Attachments: how their pieces come, which ones a message may name, what is removed to make room, and how a model
//! sees them.

mod parts;
mod put;
mod room;

pub(crate) use parts::parts_of;
pub(crate) use put::{Piece, take};
pub(crate) use room::{make_room, sweep_orphans};
