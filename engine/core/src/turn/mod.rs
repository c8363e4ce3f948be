//! Turns: the run machine, the loop of model calls and tools, and what happens after a worker's death.

mod begin;
mod breakers;
mod budget;
mod call;
mod drive;
mod effect;
mod environment;
mod finish;
mod history;
mod live;
mod machine;
mod reads;
mod recovery;
mod title;
mod toolbox;
mod tools;
mod waits;

pub(crate) use begin::{Start, new_run};
pub(crate) use effect::{Effect, EffectEnd};
pub(crate) use live::{Live, Say};
pub use machine::{IllegalStep, RunPhase, step};
pub use title::TITLE_PROMPT;
pub(crate) use title::{TRIES_COUNT_MAX as TITLE_TRIES_COUNT_MAX, TitleTurn};
