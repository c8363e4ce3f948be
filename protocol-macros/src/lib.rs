//! Derives the shape (validator, manifest, hash) of a protocol type.
