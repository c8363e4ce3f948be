//! What the pages do without a browser: intents, connection machine, view models, Markdown, catalogues.

pub mod connect_form;
pub mod connection;
pub mod format;
pub mod highlight;
pub mod i18n;
pub mod intents;
pub mod item;
pub mod limits_form;
pub mod markdown;
pub mod outgoing;
pub mod phrases;
pub mod rows;
pub mod session;
pub mod status;
pub mod transfer;
pub mod trouble;
pub mod wire;
