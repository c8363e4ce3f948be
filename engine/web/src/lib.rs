//! The engine in the service worker: entry, listeners, IndexedDB, fetch, Chrome bindings.
