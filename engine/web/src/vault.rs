//! Secrets at rest: AES-GCM with a key that WebCrypto keeps and nothing can read, in a database of its own.

use crate::chrome::js_message;
use crate::entropy::fill_random;
use idb::{Database, Factory, ObjectStoreParams, TransactionMode};
use js_sys::{Array, Object, Reflect, Uint8Array};
use panelot_engine::ports::{Sealed, Vault, VaultError};
use std::cell::RefCell;
use std::future::Future;
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CryptoKey, SubtleCrypto};

/// The database that holds nothing but the key.
const DATABASE: &str = "panelot-keys";
const STORE: &str = "keys";
const KEY_NAME: &str = "secrets";
/// Bytes of an AES-GCM nonce.
const NONCE_BYTES: u32 = 12;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_namespace = crypto, js_name = subtle)]
    static SUBTLE: SubtleCrypto;

    #[wasm_bindgen(catch)]
    fn btoa(text: &str) -> Result<String, JsValue>;

    #[wasm_bindgen(catch)]
    fn atob(text: &str) -> Result<String, JsValue>;
}

thread_local! {
    /// The key that a secret was last opened with: a database takes longer to open than everything else between a
    /// message and its request. Sealing asks the database each time, so that nothing is sealed with a key that is gone.
    static OPENED_WITH: RefCell<Option<CryptoKey>> = const { RefCell::new(None) };
}

/// The browser's vault.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebVault;

impl Vault for WebVault {
    fn seal(&self, secret: &str) -> impl Future<Output = Result<Sealed, VaultError>> + 'static {
        let secret = secret.to_owned();
        async move {
            let key = key().await?;
            seal(&key, &secret).await.map_err(|error| VaultError::NoKey(js_message(&error)))
        }
    }

    fn open(&self, sealed: &Sealed) -> impl Future<Output = Result<String, VaultError>> + 'static {
        let sealed = sealed.clone();
        async move {
            let known = OPENED_WITH.with_borrow(Clone::clone);
            if let Some(key) = known
                && let Some(secret) = open(&key, &sealed).await
            {
                return Ok(secret);
            }
            let key = key().await?;
            let secret = open(&key, &sealed).await.ok_or(VaultError::Unreadable)?;
            OPENED_WITH.set(Some(key));
            Ok(secret)
        }
    }
}

fn subtle() -> SubtleCrypto {
    SUBTLE.with(Clone::clone)
}

fn aes_gcm() -> Object {
    let algorithm = Object::new();
    put(&algorithm, "name", &"AES-GCM".into());
    algorithm
}

fn put(object: &Object, name: &str, value: &JsValue) {
    // Setting a property of a plain object of our own cannot fail.
    let _set = Reflect::set(object, &JsValue::from_str(name), value);
}

async fn seal(key: &CryptoKey, secret: &str) -> Result<Sealed, JsValue> {
    let nonce = Uint8Array::new_with_length(NONCE_BYTES);
    fill_random(&nonce)?;
    let algorithm = aes_gcm();
    put(&algorithm, "iv", &nonce);
    let text = Uint8Array::from(secret.as_bytes());
    let sealing = subtle().encrypt_with_object_and_buffer_source(&algorithm, key, &text)?;
    let sealed = Uint8Array::new(&JsFuture::from(sealing).await?);
    let mut bytes = nonce.to_vec();
    bytes.extend(sealed.to_vec());
    let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    Ok(Sealed(btoa(&latin)?))
}

async fn open(key: &CryptoKey, sealed: &Sealed) -> Option<String> {
    let latin = atob(&sealed.0).ok()?;
    let bytes: Vec<u8> = latin.chars().map(u8::try_from).collect::<Result<_, _>>().ok()?;
    let (nonce, text) = bytes.split_at_checked(NONCE_BYTES as usize)?;
    let algorithm = aes_gcm();
    put(&algorithm, "iv", &Uint8Array::from(nonce));
    let text = Uint8Array::from(text);
    let opening = subtle().decrypt_with_object_and_buffer_source(&algorithm, key, &text).ok()?;
    let opened = Uint8Array::new(&JsFuture::from(opening).await.ok()?);
    String::from_utf8(opened.to_vec()).ok()
}

/// The key, made at its first use.
async fn key() -> Result<CryptoKey, VaultError> {
    let no_key = |error: idb::Error| VaultError::NoKey(error.to_string());
    let database = database().await.map_err(no_key)?;
    let found = read_key(&database).await.map_err(no_key)?;
    let key = match found {
        Some(key) => key,
        None => {
            let made = make_key().await.map_err(|error| VaultError::NoKey(js_message(&error)))?;
            store_key(&database, made).await.map_err(no_key)?
        }
    };
    database.close();
    key.dyn_into::<CryptoKey>().map_err(|_| VaultError::NoKey("the stored key is not a key".to_owned()))
}

async fn database() -> Result<Database, idb::Error> {
    let factory = Factory::new()?;
    let mut request = factory.open(DATABASE, Some(1))?;
    request.on_upgrade_needed(|event| {
        use idb::event::DatabaseEvent as _;
        if let Ok(database) = event.database() {
            // When this fails, the first transaction on the store says so.
            let _made = database.create_object_store(STORE, ObjectStoreParams::new());
        }
    });
    request.await
}

async fn read_key(database: &Database) -> Result<Option<JsValue>, idb::Error> {
    let transaction = database.transaction(&[STORE], TransactionMode::ReadOnly)?;
    transaction.object_store(STORE)?.get(JsValue::from_str(KEY_NAME))?.await
}

/// Stores a key unless another context was quicker; the answer is the one that is stored.
async fn store_key(database: &Database, made: JsValue) -> Result<JsValue, idb::Error> {
    let transaction = database.transaction(&[STORE], TransactionMode::ReadWrite)?;
    let store = transaction.object_store(STORE)?;
    if let Some(first) = store.get(JsValue::from_str(KEY_NAME))?.await? {
        transaction.await?;
        return Ok(first);
    }
    store.put(&made, Some(&JsValue::from_str(KEY_NAME)))?.await?;
    transaction.commit()?.await?;
    Ok(made)
}

async fn make_key() -> Result<JsValue, JsValue> {
    let algorithm = aes_gcm();
    put(&algorithm, "length", &JsValue::from_f64(256.0));
    let uses: Array = ["encrypt", "decrypt"].into_iter().map(JsValue::from_str).collect();
    JsFuture::from(subtle().generate_key_with_object(&algorithm, false, &uses)?).await
}
