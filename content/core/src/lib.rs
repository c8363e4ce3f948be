//! From facts about a page to what the model reads, pure.
