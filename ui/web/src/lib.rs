//! The pages in Dioxus: side panel, chat, options.
//!
//! `panelot-ui` decides, this crate shows: components read the signals of [`store::Store`] and send intents through
//! [`shell::intend`]. The shell is the only place that talks to the engine.
//!
//! # Names for tests
//! Every control has an accessible name and a `data-testid`. Tests rely on these:
//!
//! | where | `data-testid` |
//! | --- | --- |
//! | header | `title`, `new-thread`, `open-list`, `open-full-page`, `open-settings` |
//! | thread list | `thread-list`, `close-list`, `list-search`, `thread-row` (its `data-thread` is the id), `thread-open`, `thread-rename`, `rename-input`, `rename-save`, `thread-delete`, `delete-confirm`, `delete-keep`, `thread-pin`, `more-threads` |
//! | conversation | `conversation`, `link`, `link-open`, `message-user`, `message-assistant` (`data-status`), `reasoning`, `tool-row` (`data-status`, `data-tool`), `tool-group`, `notice`, `wait-end`, `outgoing`, `earlier`, `to-end`, `copy`, `edit`, `edit-input`, `edit-send`, `regenerate`, `branch-previous`, `branch-next`, `empty`, `suggestion` |
//! | above the composer | `status-line` (`data-mark`), `trouble`, `trouble-step`, `trouble-dismiss`, `reconnecting`, `reload-required`, `reload`, `gone`, `gone-reload`, `restarted`, `restarted-copy`, `restarted-dismiss`, `update-ready`, `update-now`, `queue`, `queue-row`, `queue-remove`, `queue-release` |
//! | approval | `approval` (`data-approval`), `approve`, `decline`, `approval-more`, `approve-session`, `approve-site`, `decline-note`, `cancel`, `approval-params` |
//! | recovery | `recovery`, `continue`, `retry`, `mark-done`, `fail` |
//! | interaction | `interaction` (`data-interaction`, `data-awake`), `interaction-option`, `interaction-input`, `interaction-submit`, `interaction-done`, `interaction-decline`, `interaction-stop` |
//! | composer | `composer`, `send`, `stop`, `context-chip`, `context-remove`, `context-add`, `model`, `policy` |
//! | connection form | `firstrun`, `conn-template`, `conn-name`, `conn-url`, `conn-key`, `conn-model`, `conn-vision`, `conn-save`, `conn-saved`, `conn-error` |
//! | options | `options`, `nav-models`, `nav-permissions`, `nav-general`, `nav-data`, `nav-about`, `conn-row`, `conn-add`, `conn-edit`, `conn-delete`, `conn-delete-confirm`, `conn-use`, `conn-allow`, `policy-choice`, `rule-row`, `rule-remove`, `language`, `theme`, `limit-tokens`, `limit-cost`, `limit-no-price`, `about-version`, `about-hash` |
//! | your data | `export-attachments`, `export-start`, `export-save`, `import-file`, `import-mode`, `import-start`, `import-wrong`, `import-done`, `import-left-out`, `import-refused`, `import-problem` |
//!
//! `document.documentElement.dataset.ready` is `"1"` once a page can be used.

mod chrome;
mod focus;
mod line;
mod page;
mod pages;
mod parts;
mod shell;
mod store;

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of the pages that run.
#[wasm_bindgen]
#[must_use]
pub fn ui_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Shows the page; the generated start-up calls it.
#[wasm_bindgen(start)]
pub fn start() {
    dioxus::launch(pages::Root);
}
