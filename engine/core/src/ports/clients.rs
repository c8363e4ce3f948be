//! The pages that are connected, as seen from the engine.

/// One connection of a page; a page that reconnects has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionKey(pub u32);

/// Sends to pages. Sending to a connection that is gone does nothing.
pub trait Clients: 'static {
    /// Posts one JSON text.
    fn post(&self, to: ConnectionKey, text: &str);

    /// Ends a connection.
    fn disconnect(&self, connection: ConnectionKey);
}
