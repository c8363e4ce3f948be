//! Acting on a page: what is decided without a browser.

mod check;
mod choose;
mod failure;
mod input;
mod settle;
mod verdict;

pub use check::{Target, check_target};
pub use choose::{Choice, choose_options};
pub use failure::{Code, Failure};
pub use input::{Held, Typing, check_held, prepare_input, typing_for};
pub use settle::{Settle, Step};
pub use verdict::{Evidence, Verdict, judge};
