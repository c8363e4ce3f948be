//! Files: one that the user chose, and one that the page offers to be saved.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, HtmlInputElement, Url};

/// A file that the user chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    file: web_sys::File,
}

impl Chosen {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        self.file.name()
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.size() as u64
    }

    /// Its text; `None` when it cannot be read.
    pub async fn text(&self) -> Option<String> {
        JsFuture::from(self.file.text()).await.ok()?.as_string()
    }
}

/// The file that stands in an input of this id.
#[must_use]
pub fn chosen(input_id: &str) -> Option<Chosen> {
    let input: HtmlInputElement = crate::page::element(input_id)?.dyn_into().ok()?;
    Some(Chosen { file: input.files()?.get(0)? })
}

/// An address under which a text can be saved, until it is dropped.
#[derive(Debug)]
pub struct Offer {
    url: String,
}

impl Offer {
    /// Offers a text; `None` when the browser does not let it.
    #[must_use]
    pub fn of(text: &str, mime: &str) -> Option<Self> {
        let options = BlobPropertyBag::new();
        options.set_type(mime);
        let parts = js_sys::Array::of1(&JsValue::from_str(text));
        let blob = Blob::new_with_str_sequence_and_options(&parts, &options).ok()?;
        Some(Self { url: Url::create_object_url_with_blob(&blob).ok()? })
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // An address that the browser has forgotten already needs no more.
        let _ = Url::revoke_object_url(&self.url);
    }
}
