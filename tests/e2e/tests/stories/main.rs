//! The stories, one module each, in one program: those that mostly wait run beside those that work.

mod approvals;
mod background;
mod bad_input;
mod dialogs;
mod extension_reload;
mod handshake;
mod keyboard;
mod limits;
mod lost_ports;
mod main_job;
mod many_kills;
mod memory;
mod miniwob;
mod reopened;
mod screens;
mod steering;
mod stop;
mod two_pages;
mod waits;
mod worker_kills;
mod worker_life;
mod your_data;
