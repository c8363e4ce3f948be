//! What a model must not hold: forms that the wire does not have, and attributes that contradict each other.

use crate::ast::{Container, Data, Field, Fields, Variant};
use crate::attr::LimitAttrs;
use crate::ctxt::Ctxt;
use quote::ToTokens;
use std::collections::BTreeSet;

const FORMATS: [&str; 5] = ["uuid", "id", "hash", "decimal", "base64"];

/// What a model is checked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To say what the type looks like on the wire.
    Shape,
    /// To read it from a JSON value, which may be one of our own records.
    Reader,
}

/// Notes every fault of the model.
pub fn check(ctxt: &Ctxt, container: &Container<'_>, purpose: Purpose) {
    if purpose == Purpose::Reader {
        only_derived(ctxt, container);
    }
    if let Some(parameter) = container.input.generics.params.first() {
        ctxt.fault(parameter, "a type that crosses a context has no generic parameters");
    }
    limits(ctxt, &container.attrs.limits);
    if let Some(read_as) = &container.attrs.read_as {
        proxy(ctxt, container, read_as);
        return;
    }
    if let Some(written_as) = &container.attrs.written_as {
        ctxt.fault(written_as, "`into` needs a `from` or `try_from` of the same type");
        return;
    }
    match &container.data {
        Data::Union => ctxt.fault(&container.input.ident, "a union has no wire form"),
        Data::Struct(fields) => of_struct(ctxt, container, fields, purpose),
        Data::Enum(variants) => of_enum(ctxt, container, variants, purpose),
    }
    let is_newtype =
        matches!(&container.data, Data::Struct(Fields::Unnamed(_))) || container.attrs.transparent;
    if !is_newtype && (!container.attrs.limits.bounds.is_empty() || container.attrs.limits.format.is_some()) {
        ctxt.fault(
            &container.input.ident,
            "a struct or an enum can only have a `boundary`; limits stand on its fields",
        );
    }
}

/// A reader calls no functions that an attribute names.
fn only_derived(ctxt: &Ctxt, container: &Container<'_>) {
    let by = container.attrs.default_by.iter();
    let fields = match &container.data {
        Data::Union => Vec::new(),
        Data::Struct(fields) => fields.all().iter().collect(),
        Data::Enum(variants) => variants.iter().flat_map(|variant| variant.fields.all()).collect::<Vec<_>>(),
    };
    for function in by.chain(fields.iter().filter_map(|field| field.attrs.default_by.as_ref())) {
        ctxt.fault(function, "`FromJson` takes the default of the type, not that of a function");
    }
    for field in fields {
        if let Some(functions) = field.attrs.by_functions.as_ref().filter(|_| field.attrs.nullable.is_none())
        {
            ctxt.fault(functions, "`FromJson` reads the type itself and calls no function of a field");
        }
    }
}

fn proxy(ctxt: &Ctxt, container: &Container<'_>, read_as: &syn::Type) {
    let same = container.attrs.written_as.as_ref().is_some_and(|written_as| {
        written_as.to_token_stream().to_string() == read_as.to_token_stream().to_string()
    });
    if !same {
        ctxt.fault(read_as, "`from` and `try_from` need an `into` of the same type");
    }
}

fn of_struct(ctxt: &Ctxt, container: &Container<'_>, fields: &Fields<'_>, purpose: Purpose) {
    let ident = &container.input.ident;
    if container.attrs.tag.is_some() {
        ctxt.fault(ident, "only an enum has a `tag`");
    }
    match fields {
        Fields::Unit => ctxt.fault(ident, "a unit struct has no wire form"),
        Fields::Unnamed(all) if all.len() != 1 => {
            ctxt.fault(ident, "a tuple struct with other than one field has no wire form");
        }
        Fields::Named(all) if container.attrs.transparent && all.len() != 1 => {
            ctxt.fault(ident, "`transparent` needs exactly one field");
        }
        Fields::Named(_) | Fields::Unnamed(_) => {
            let is_newtype = container.attrs.transparent || matches!(fields, Fields::Unnamed(_));
            of_fields(ctxt, fields, None, container.attrs.default || is_newtype, purpose);
        }
    }
}

fn of_enum(ctxt: &Ctxt, container: &Container<'_>, variants: &[Variant<'_>], purpose: Purpose) {
    let ident = &container.input.ident;
    if variants.is_empty() {
        ctxt.fault(ident, "an enum without variants has no wire form");
    }
    let has_fields = variants.iter().any(|variant| !matches!(variant.fields, Fields::Unit));
    if has_fields && container.attrs.tag.is_none() {
        ctxt.fault(ident, "an enum with fields needs `#[serde(tag = \"...\")]`");
    }
    let mut names = BTreeSet::new();
    for variant in variants {
        if !names.insert(variant.name.as_str()) {
            ctxt.fault(&variant.source.ident, format!("two variants are `{}` on the wire", variant.name));
        }
        if let Fields::Unnamed(fields) = &variant.fields {
            if fields.len() != 1 {
                ctxt.fault(&variant.source.ident, "a tuple variant holds exactly one struct");
            }
            for field in fields.iter().filter(|field| !field.attrs.limits.is_empty()) {
                ctxt.fault(
                    &field.source.ty,
                    "limits stand on the fields of the struct that the variant holds",
                );
            }
        }
        of_fields(ctxt, &variant.fields, container.attrs.tag.as_deref(), false, purpose);
    }
}

fn of_fields(ctxt: &Ctxt, fields: &Fields<'_>, tag: Option<&str>, all_default: bool, purpose: Purpose) {
    let mut names = BTreeSet::new();
    for field in fields.all() {
        if !field.attrs.flatten && !field.name.is_empty() {
            if !names.insert(field.name.as_str()) {
                ctxt.fault(&field.source.ident, format!("two fields are `{}` on the wire", field.name));
            }
            if tag == Some(field.name.as_str()) {
                ctxt.fault(&field.source.ident, format!("`{}` is the tag of the enum", field.name));
            }
        }
        of_field(ctxt, field, all_default, purpose);
    }
}

fn of_field(ctxt: &Ctxt, field: &Field<'_>, all_default: bool, purpose: Purpose) {
    let attrs = &field.attrs;
    limits(ctxt, &attrs.limits);
    if attrs.flatten {
        if field.is_option() || attrs.default || attrs.nullable.is_some() || !attrs.limits.is_empty() {
            ctxt.fault(&field.source.ty, "a flattened field is always there and has no limits of its own");
        }
        return;
    }
    if let Some(nullable) = attrs.nullable.as_ref().filter(|_| !field.is_option()) {
        ctxt.fault(nullable, "only an `Option` can be `nullable`");
    }
    if purpose == Purpose::Shape
        && let Some(functions) =
            attrs.by_functions.as_ref().filter(|_| attrs.wire.is_none() && attrs.nullable.is_none())
    {
        ctxt.fault(functions, "functions hide the wire form: say it with `#[shape(wire = Type)]`");
    }
    if let Some(skipped_if) =
        attrs.skipped_if.as_ref().filter(|_| !attrs.default && !all_default && !field.is_option())
    {
        ctxt.fault(skipped_if, "a field that can be left out needs a `default` to be read back");
    }
    let can_be_null = field.is_option() && attrs.skipped_if.is_none() && attrs.nullable.is_none();
    if purpose == Purpose::Shape && can_be_null && !all_default {
        ctxt.fault(
            &field.source.ty,
            "`None` would be written as null: add `skip_serializing_if = \"Option::is_none\"`, or `#[shape(nullable)]`",
        );
    }
}

fn limits(ctxt: &Ctxt, limits: &LimitAttrs) {
    if let Some(format) = limits.format.as_ref().filter(|format| !FORMATS.iter().any(|known| format == known))
    {
        ctxt.fault(format, format!("not a format; the formats are {}", FORMATS.join(", ")));
    }
}
