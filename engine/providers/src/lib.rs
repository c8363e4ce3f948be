//! Provider wires as pure codecs: requests to bytes, bytes to events.
