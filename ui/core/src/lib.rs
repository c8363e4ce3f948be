//! What the pages do without a browser: intents, connection machine, view models, Markdown, catalogues.

pub mod markdown;
