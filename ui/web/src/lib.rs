//! The pages in Dioxus: side panel, chat, options.
