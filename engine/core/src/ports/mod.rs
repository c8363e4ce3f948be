//! What the engine asks of the world: one trait per file, native `async fn`, single-threaded.
//!
//! Dropping a future that a port returned gives the work up: an HTTP request is aborted, a wait ends. A write that a
//! page action began may have happened all the same; the caller treats it as uncertain.

mod browser;
mod clients;
mod clock;
mod entropy;
mod http;
mod notify;
mod spawn;
mod storage;
mod store;
mod vault;

pub use browser::{Browser, BrowserError, ContentError, TabState};
pub use clients::{Clients, ConnectionKey};
pub use clock::Clock;
pub use entropy::Entropy;
pub use http::{Http, HttpBody, HttpError, HttpResponse};
pub use notify::{Activity, Notifier};
pub use spawn::Spawner;
pub use storage::{KeyValueArea, KeyValueError};
pub use store::{Commit, Durability, Expect, Index, Key, KeyPart, Query, Row, Store, StoreError, Table};
pub use vault::{Sealed, Vault, VaultError};

/// The world that one engine runs in. Cheap to clone: every port is a handle.
pub trait World: Clone + 'static {
    /// Time.
    type Clock: Clock;
    /// Randomness.
    type Entropy: Entropy;
    /// Tasks.
    type Spawner: Spawner;
    /// The database.
    type Store: Store;
    /// Requests to endpoints.
    type Http: Http;
    /// Tabs and pages.
    type Browser: Browser;
    /// Small values that outlive the browser.
    type Local: KeyValueArea;
    /// Small values that live as long as the browser's session.
    type Session: KeyValueArea;
    /// Encryption of secrets at rest.
    type Vault: Vault;
    /// Badge, notifications, alarm.
    type Notifier: Notifier;
    /// The pages that are connected.
    type Clients: Clients;

    /// Time.
    fn clock(&self) -> &Self::Clock;
    /// Randomness.
    fn entropy(&self) -> &Self::Entropy;
    /// Tasks.
    fn spawner(&self) -> &Self::Spawner;
    /// The database.
    fn store(&self) -> &Self::Store;
    /// Requests to endpoints.
    fn http(&self) -> &Self::Http;
    /// Tabs and pages.
    fn browser(&self) -> &Self::Browser;
    /// Small values that outlive the browser.
    fn local(&self) -> &Self::Local;
    /// Small values that live as long as the browser's session.
    fn session(&self) -> &Self::Session;
    /// Encryption of secrets at rest.
    fn vault(&self) -> &Self::Vault;
    /// Badge, notifications, alarm.
    fn notifier(&self) -> &Self::Notifier;
    /// The pages that are connected.
    fn clients(&self) -> &Self::Clients;
}
