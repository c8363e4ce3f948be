//! What crosses a context: the messages between UI, engine and content script.
