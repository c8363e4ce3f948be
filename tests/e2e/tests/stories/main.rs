//! The stories, one module each, in one program: those that mostly wait run beside those that work.

mod approvals;
mod background;
mod bad_input;
mod dialogs;
mod handshake;
mod keyboard;
mod main_job;
mod many_kills;
mod miniwob;
mod reopened;
mod screens;
mod steering;
mod stop;
mod waits;
mod worker_kills;
mod your_data;
