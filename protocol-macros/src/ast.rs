//! The model of a type: what its source says, before anything is checked.

use crate::attr::{ContainerAttrs, FieldAttrs, VariantAttrs};
use crate::case::Case;
use crate::ctxt::Ctxt;
use syn::ext::IdentExt;
use syn::{DeriveInput, GenericArgument, Ident, PathArguments, Type};

/// A struct or an enum.
pub struct Container<'a> {
    /// The source.
    pub input: &'a DeriveInput,
    /// Its attributes.
    pub attrs: ContainerAttrs,
    /// Its content.
    pub data: Data<'a>,
}

/// The content of a container.
pub enum Data<'a> {
    /// A struct.
    Struct(Fields<'a>),
    /// An enum.
    Enum(Vec<Variant<'a>>),
    /// A union, which has no wire form.
    Union,
}

/// A variant of an enum.
pub struct Variant<'a> {
    /// The source.
    pub source: &'a syn::Variant,
    /// The name on the wire.
    pub name: String,
    /// Its fields.
    pub fields: Fields<'a>,
}

/// The fields of a struct or a variant.
pub enum Fields<'a> {
    /// `{ a: A }`
    Named(Vec<Field<'a>>),
    /// `(A)`
    Unnamed(Vec<Field<'a>>),
    /// Nothing.
    Unit,
}

/// A field.
pub struct Field<'a> {
    /// The source.
    pub source: &'a syn::Field,
    /// Its attributes.
    pub attrs: FieldAttrs,
    /// The key on the wire; empty for a field without a name.
    pub name: String,
}

impl<'a> Container<'a> {
    /// Makes the model, noting attributes that are not understood.
    pub fn read(ctxt: &Ctxt, input: &'a DeriveInput) -> Self {
        let attrs = ContainerAttrs::read(ctxt, &input.attrs);
        let data = match &input.data {
            syn::Data::Struct(data) => Data::Struct(Fields::read(ctxt, &data.fields, attrs.rename_all)),
            syn::Data::Enum(data) => {
                Data::Enum(data.variants.iter().map(|source| Variant::read(ctxt, source, &attrs)).collect())
            }
            syn::Data::Union(_) => Data::Union,
        };
        Self { input, attrs, data }
    }
}

impl<'a> Variant<'a> {
    fn read(ctxt: &Ctxt, source: &'a syn::Variant, container: &ContainerAttrs) -> Self {
        let attrs = VariantAttrs::read(ctxt, &source.attrs);
        let own = name_of(&source.ident);
        let name = match (attrs.rename, container.rename_all) {
            (Some(name), _) => name,
            (None, Some(case)) => case.of_variant(&own),
            (None, None) => own,
        };
        let fields = Fields::read(ctxt, &source.fields, attrs.rename_all.or(container.rename_all_fields));
        Self { source, name, fields }
    }
}

impl<'a> Fields<'a> {
    fn read(ctxt: &Ctxt, fields: &'a syn::Fields, case: Option<Case>) -> Self {
        let read = |source: &'a syn::Field| Field::read(ctxt, source, case);
        match fields {
            syn::Fields::Named(fields) => Self::Named(fields.named.iter().map(read).collect()),
            syn::Fields::Unnamed(fields) => Self::Unnamed(fields.unnamed.iter().map(read).collect()),
            syn::Fields::Unit => Self::Unit,
        }
    }

    /// All fields.
    pub fn all(&self) -> &[Field<'a>] {
        match self {
            Self::Named(fields) | Self::Unnamed(fields) => fields,
            Self::Unit => &[],
        }
    }
}

impl<'a> Field<'a> {
    fn read(ctxt: &Ctxt, source: &'a syn::Field, case: Option<Case>) -> Self {
        let attrs = FieldAttrs::read(ctxt, &source.attrs);
        let own = source.ident.as_ref().map(name_of).unwrap_or_default();
        let name = match (&attrs.rename, case) {
            (Some(name), _) => name.clone(),
            (None, Some(case)) => case.of_field(&own),
            (None, None) => own,
        };
        Self { source, attrs, name }
    }

    /// The type whose shape the field has.
    pub fn wire_type(&self) -> &Type {
        self.attrs.wire.as_ref().unwrap_or(&self.source.ty)
    }

    /// Whether the type is written as an `Option`.
    pub fn is_option(&self) -> bool {
        inside_option(self.wire_type()).is_some()
    }
}

/// The `T` of a type written as `Option<T>`.
pub fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

fn name_of(ident: &Ident) -> String {
    ident.unraw().to_string()
}
