//! Derives the shape (validator, manifest, hash) of a protocol type.
//!
//! The way through: `attr` reads attributes, `ast` makes the model, `check` finds what the model must not hold,
//! `expand` and `reader` write the code. Faults are collected in `ctxt`, so that one compilation names them all.

mod ast;
mod attr;
mod boundary;
mod case;
mod check;
mod ctxt;
mod expand;
mod reader;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Derives `Shape`: what the type looks like on the wire, read from its serde attributes.
///
/// Limits are given per field, or on the one field of a newtype:
///
/// | attribute | of |
/// | --- | --- |
/// | `len_min`, `len_max` | strings, in Unicode scalar values; also the strings inside lists and maps |
/// | `items_min`, `items_max` | lists |
/// | `keys_max` | maps |
/// | `min`, `max` | numbers |
/// | `format = uuid`, `id`, `hash`, `decimal`, `base64` | strings |
/// | `boundary = path` | anything, also a container; the path of a function marked `#[boundary]` |
/// | `nullable` | an optional field: null is a value of its own |
/// | `wire = Type` | a field that serde writes by functions of its own: the type to take the shape from |
///
/// An attribute that would make the wire form differ from the shape is refused.
#[proc_macro_derive(Shape, attributes(shape, serde))]
pub fn derive_shape(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    expand::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives `FromJson`, the reader of JSON values, from the same attributes; and serde's `Deserialize`, which goes through
/// it, in the place of serde's own derive.
///
/// A field marked `nullable` is an `Option<Option<T>>` in which absent and null differ, with no function of its own.
#[proc_macro_derive(FromJson, attributes(shape, serde))]
pub fn derive_from_json(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    reader::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a rule written by hand: `fn(&serde_json::Value) -> Result<(), String>`.
///
/// The function stays as it is; beside it stands a constant with its tokens, free of comments and formatting, which
/// becomes part of the manifest of every type that names the function as its boundary. Constants that the rule
/// depends on are named in `#[boundary(uses(PATH, ...))]`, so that a changed value shows as well.
#[proc_macro_attribute]
pub fn boundary(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemFn);
    boundary::expand(arguments.into(), &item).unwrap_or_else(syn::Error::into_compile_error).into()
}
