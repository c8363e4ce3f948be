//! The worker's world: all ports of the engine, made of the browser.

use crate::browser::WebBrowser;
use crate::clients::WebClients;
use crate::clock::WebClock;
use crate::entropy::WebEntropy;
use crate::http::WebHttp;
use crate::idb::IdbStore;
use crate::notify::WebNotifier;
use crate::spawn::WebSpawner;
use crate::storage::WebArea;
use crate::vault::WebVault;
use panelot_engine::ports::World;

/// The database's name.
pub const DATABASE: &str = "panelot";

/// All ports.
#[derive(Clone)]
pub struct WebWorld {
    store: IdbStore,
    clients: WebClients,
}

impl WebWorld {
    /// The world of this worker.
    pub fn new(clients: WebClients) -> Self {
        Self { store: IdbStore::new(DATABASE), clients }
    }
}

impl World for WebWorld {
    type Clock = WebClock;
    type Entropy = WebEntropy;
    type Spawner = WebSpawner;
    type Store = IdbStore;
    type Http = WebHttp;
    type Browser = WebBrowser;
    type Local = WebArea;
    type Session = WebArea;
    type Vault = WebVault;
    type Notifier = WebNotifier;
    type Clients = WebClients;

    fn clock(&self) -> &WebClock {
        &WebClock
    }

    fn entropy(&self) -> &WebEntropy {
        &WebEntropy
    }

    fn spawner(&self) -> &WebSpawner {
        &WebSpawner
    }

    fn store(&self) -> &IdbStore {
        &self.store
    }

    fn http(&self) -> &WebHttp {
        &WebHttp
    }

    fn browser(&self) -> &WebBrowser {
        &WebBrowser
    }

    fn local(&self) -> &WebArea {
        &WebArea::Local
    }

    fn session(&self) -> &WebArea {
        &WebArea::Session
    }

    fn vault(&self) -> &WebVault {
        &WebVault
    }

    fn notifier(&self) -> &WebNotifier {
        &WebNotifier
    }

    fn clients(&self) -> &WebClients {
        &self.clients
    }
}
