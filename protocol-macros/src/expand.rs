//! Writes the implementation of `Shape` from a checked model.

use crate::ast::{Container, Data, Field, Fields, inside_option};
use crate::attr::LimitAttrs;
use crate::boundary;
use crate::case::Case;
use crate::check::{Purpose, check};
use crate::ctxt::Ctxt;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Type};

/// Derives `Shape`.
///
/// # Errors
/// Every fault of the input at once.
pub fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ctxt = Ctxt::default();
    let container = Container::read(&ctxt, input);
    check(&ctxt, &container, Purpose::Shape);
    ctxt.finish()?;
    let ident = &input.ident;
    let shape = limited(of_container(&container), &container.attrs.limits);
    Ok(quote! {
        #[automatically_derived]
        impl ::panelot_protocol::schema::Shape for #ident {
            const SHAPE: &'static ::panelot_protocol::schema::TypeShape = #shape;
        }
    })
}

/// An expression of type `&'static TypeShape`, as every function here returns for a shape.
fn of_container(container: &Container<'_>) -> TokenStream {
    if let Some(proxy) = &container.attrs.read_as {
        return of_type(proxy);
    }
    match &container.data {
        Data::Union => TokenStream::new(),
        Data::Struct(fields @ Fields::Named(_)) if !container.attrs.transparent => {
            record(fields, container.attrs.default)
        }
        Data::Struct(fields) => fields.all().first().map(of_field).unwrap_or_default(),
        Data::Enum(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            match &container.attrs.tag {
                None => quote! {
                    &::panelot_protocol::schema::TypeShape::Choice(&[#(#names),*])
                },
                Some(tag) => {
                    let shapes = variants.iter().map(|variant| of_variant(&variant.fields));
                    quote! {
                        &::panelot_protocol::schema::TypeShape::Tagged(::panelot_protocol::schema::Tagged {
                            tag: #tag,
                            variants: &const {[#(::panelot_protocol::schema::Variant { name: #names, shape: #shapes }),*]},
                        })
                    }
                }
            }
        }
    }
}

fn of_variant(fields: &Fields<'_>) -> TokenStream {
    match fields {
        Fields::Named(_) | Fields::Unit => record(fields, false),
        Fields::Unnamed(fields) => {
            let held = fields.first().map(|field| (of_field(field), field.source.ty.span()));
            let (shape, at) = held.unwrap_or_else(|| (TokenStream::new(), Span::call_site()));
            quote_spanned!(at=> ::panelot_protocol::schema::record(#shape))
        }
    }
}

fn record(fields: &Fields<'_>, all_default: bool) -> TokenStream {
    let named = fields.all().iter().filter(|field| !field.attrs.flatten).map(|field| {
        let name = &field.name;
        let shape = of_field(field);
        let presence = if field.attrs.nullable.is_some() {
            quote!(::panelot_protocol::schema::Presence::Nullable)
        } else {
            let defaulted = all_default || field.attrs.default;
            let whole = of_type(field.wire_type());
            quote!(::panelot_protocol::schema::presence(#whole, #defaulted))
        };
        let shape = if field.attrs.nullable.is_some() { of_nullable(field) } else { shape };
        quote! {
            ::panelot_protocol::schema::Field { name: #name, presence: #presence, shape: #shape }
        }
    });
    let flattened = fields.all().iter().filter(|field| field.attrs.flatten).map(|field| {
        let shape = of_type(field.wire_type());
        quote_spanned!(field.source.ty.span()=> ::panelot_protocol::schema::object(#shape))
    });
    quote! {
        &::panelot_protocol::schema::TypeShape::Record(::panelot_protocol::schema::Record {
            fields: &const {[#(#named),*]},
            flattened: &const {[#(#flattened),*]},
        })
    }
}

fn of_field(field: &Field<'_>) -> TokenStream {
    limited(of_type(field.wire_type()), &field.attrs.limits)
}

/// The shape of a field whose null is a value: `Option<Option<T>>` has that of `Option<T>`.
fn of_nullable(field: &Field<'_>) -> TokenStream {
    let ty = field.wire_type();
    let inner = inside_option(ty).filter(|inner| inside_option(inner).is_some()).unwrap_or(ty);
    limited(of_type(inner), &field.attrs.limits)
}

fn of_type(ty: &Type) -> TokenStream {
    quote!(<#ty as ::panelot_protocol::schema::Shape>::SHAPE)
}

fn limited(shape: TokenStream, limits: &LimitAttrs) -> TokenStream {
    if limits.is_empty() {
        return shape;
    }
    let bounds = limits.bounds.iter().map(|(name, bound)| {
        let unit = if name == "min" || name == "max" { format_ident!("f64") } else { format_ident!("u64") };
        quote!(#name: ::core::option::Option::Some((#bound) as #unit),)
    });
    let format = limits.format.iter().map(|format| {
        let format = format_ident!("{}", Case::Pascal.of_field(&format.to_string()));
        quote!(format: ::core::option::Option::Some(::panelot_protocol::format::Format::#format),)
    });
    let boundary = limits.boundary.iter().map(|path| {
        let constant = boundary::constant_of(path);
        quote!(boundary: ::core::option::Option::Some(&#constant),)
    });
    // The compiler says which limit has no use, so it is pointed at the limit.
    quote_spanned! {limits.span()=>
        &const {
            ::panelot_protocol::schema::limited(#shape, ::panelot_protocol::schema::Limits {
                #(#bounds)* #(#format)* #(#boundary)*
                ..::panelot_protocol::schema::Limits::NONE
            })
        }
    }
}
