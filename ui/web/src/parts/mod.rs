//! What the pages are made of.

pub mod cards;
pub mod composer;
pub mod connect;
pub mod conversation;
pub mod data;
pub mod first_run;
pub mod icons;
pub mod keys;
pub mod markdown;
pub mod messages;
pub mod options;
pub mod status;
pub mod threads;
pub mod ticks;
pub mod tools;
pub mod waits;
