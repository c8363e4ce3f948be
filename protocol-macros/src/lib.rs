//! Derives the shape (validator, manifest, hash) of a protocol type.

use proc_macro::TokenStream;

/// Accepts the `shape` attributes.
#[proc_macro_derive(Shape, attributes(shape))]
pub fn derive_shape(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}
