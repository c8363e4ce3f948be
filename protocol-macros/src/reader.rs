//! Writes the implementation of `FromJson` from a checked model.

use crate::ast::{Container, Data, Field, Fields, Variant};
use crate::check::{Purpose, check};
use crate::ctxt::Ctxt;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Member};

/// Derives `FromJson`, and `Deserialize` through it.
///
/// # Errors
/// Every fault of the input at once.
pub fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ctxt = Ctxt::default();
    let container = Container::read(&ctxt, input);
    check(&ctxt, &container, Purpose::Reader);
    ctxt.finish()?;
    let ident = &input.ident;
    let body = of_container(&container);
    Ok(quote! {
        #[automatically_derived]
        impl ::panelot_protocol::FromJson for #ident {
            fn from_json(
                value: ::panelot_protocol::from_json::Value,
            ) -> ::core::result::Result<Self, ::panelot_protocol::from_json::Unreadable> {
                #body
            }
        }

        #[automatically_derived]
        impl<'de> ::panelot_protocol::from_json::Deserialize<'de> for #ident {
            fn deserialize<D: ::panelot_protocol::from_json::Deserializer<'de>>(
                reader: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::panelot_protocol::from_json::through_serde(reader)
            }
        }
    })
}

fn of_container(container: &Container<'_>) -> TokenStream {
    if let Some(proxy) = &container.attrs.read_as {
        let read = quote!(<#proxy as ::panelot_protocol::FromJson>::from_json(value)?);
        return if container.attrs.read_can_fail {
            quote! {
                <Self as ::core::convert::TryFrom<#proxy>>::try_from(#read)
                    .map_err(|fault| ::panelot_protocol::from_json::Unreadable::new(fault.to_string()))
            }
        } else {
            quote!(::core::result::Result::Ok(<Self as ::core::convert::From<#proxy>>::from(#read)))
        };
    }
    match &container.data {
        Data::Union => TokenStream::new(),
        Data::Struct(fields @ Fields::Named(_)) if !container.attrs.transparent => {
            let made = of_fields(fields, container.attrs.default);
            let default = container
                .attrs
                .default
                .then(|| quote!(let default = <Self as ::core::default::Default>::default();));
            quote! {
                let mut fields = ::panelot_protocol::from_json::Fields::of(value)?;
                #default
                ::core::result::Result::Ok(Self #made)
            }
        }
        Data::Struct(fields) => {
            let member = fields.all().first().map(member);
            quote! {
                ::core::result::Result::Ok(Self { #member: ::panelot_protocol::FromJson::from_json(value)? })
            }
        }
        Data::Enum(variants) => match &container.attrs.tag {
            None => of_choice(variants),
            Some(tag) => of_tagged(tag, variants),
        },
    }
}

fn of_choice(variants: &[Variant<'_>]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (name, ident) = (&variant.name, &variant.source.ident);
        quote!(#name => ::core::result::Result::Ok(Self::#ident),)
    });
    quote! {
        match ::panelot_protocol::from_json::text(value)?.as_str() {
            #(#arms)*
            other => ::core::result::Result::Err(::panelot_protocol::from_json::unknown_name(other)),
        }
    }
}

fn of_tagged(tag: &str, variants: &[Variant<'_>]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (name, ident) = (&variant.name, &variant.source.ident);
        let made = match &variant.fields {
            Fields::Unit => TokenStream::new(),
            Fields::Unnamed(_) => quote!((::panelot_protocol::FromJson::from_json(fields.rest())?)),
            fields @ Fields::Named(_) => of_fields(fields, false),
        };
        quote!(#name => ::core::result::Result::Ok(Self::#ident #made),)
    });
    quote! {
        let mut fields = ::panelot_protocol::from_json::Fields::of(value)?;
        match fields.tag(#tag)?.as_str() {
            #(#arms)*
            other => ::core::result::Result::Err(
                ::panelot_protocol::from_json::unknown_variant(#tag, other),
            ),
        }
    }
}

/// `{ name: value, ... }`, the named fields taken before the flattened ones, which share what is left.
fn of_fields(fields: &Fields<'_>, all_default: bool) -> TokenStream {
    let named = fields.all().iter().filter(|field| !field.attrs.flatten).map(|field| {
        let (member, name) = (member(field), &field.name);
        let taken = if field.attrs.nullable.is_some() || all_default {
            quote!(fields.take_present(#name)?)
        } else if field.attrs.default {
            quote!(fields.take_or_default(#name)?)
        } else {
            quote!(fields.take(#name)?)
        };
        let taken = if all_default { quote!(#taken.unwrap_or(default.#member)) } else { taken };
        quote!(#member: #taken,)
    });
    let flattened: Vec<_> = fields.all().iter().filter(|field| field.attrs.flatten).collect();
    let parts = flattened.iter().enumerate().map(|(at, field)| {
        let member = member(field);
        let source = format_ident!("{}", if at + 1 == flattened.len() { "rest" } else { "copy_of_rest" });
        quote!(#member: ::panelot_protocol::FromJson::from_json(fields.#source())?,)
    });
    quote!({ #(#named)* #(#parts)* })
}

fn member(field: &Field<'_>) -> Member {
    field.source.ident.clone().map_or_else(|| Member::from(0), Member::Named)
}
