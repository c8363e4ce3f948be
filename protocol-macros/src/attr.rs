//! Reads the attributes of serde and of the shape, and refuses those that it does not understand.

use crate::case::Case;
use crate::ctxt::Ctxt;
use proc_macro2::Span;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, LitStr, Path, Type};

/// Attributes of a struct or an enum.
#[derive(Default)]
pub struct ContainerAttrs {
    /// `rename_all`
    pub rename_all: Option<Case>,
    /// `rename_all_fields`
    pub rename_all_fields: Option<Case>,
    /// `tag`
    pub tag: Option<String>,
    /// `transparent`
    pub transparent: bool,
    /// `default`
    pub default: bool,
    /// The function of a `default = "..."`.
    pub default_by: Option<LitStr>,
    /// `from` or `try_from`: the type that is read in the place of this one.
    pub read_as: Option<Type>,
    /// Whether that is a `try_from`.
    pub read_can_fail: bool,
    /// `into`: the type that is written in the place of this one.
    pub written_as: Option<Type>,
    /// The limits of the shape.
    pub limits: LimitAttrs,
}

/// Attributes of a variant.
#[derive(Default)]
pub struct VariantAttrs {
    /// `rename`
    pub rename: Option<String>,
    /// `rename_all`
    pub rename_all: Option<Case>,
}

/// Attributes of a field.
#[derive(Default)]
pub struct FieldAttrs {
    /// `rename`
    pub rename: Option<String>,
    /// `default`
    pub default: bool,
    /// The function of a `default = "..."`.
    pub default_by: Option<LitStr>,
    /// `skip_serializing_if`
    pub skipped_if: Option<Path>,
    /// `flatten`
    pub flatten: bool,
    /// `with`, `serialize_with` or `deserialize_with`: the first of them, for messages.
    pub by_functions: Option<Path>,
    /// `nullable`
    pub nullable: Option<Path>,
    /// `wire`
    pub wire: Option<Type>,
    /// The limits of the shape.
    pub limits: LimitAttrs,
}

/// Limits as they were written.
#[derive(Default)]
pub struct LimitAttrs {
    /// Bounds by name: `len_max`, `items_max`, `min` and their like.
    pub bounds: Vec<(Ident, Expr)>,
    /// `format`
    pub format: Option<Ident>,
    /// `boundary`
    pub boundary: Option<Path>,
}

const BOUNDS: [&str; 7] = ["len_min", "len_max", "items_min", "items_max", "keys_max", "min", "max"];

impl LimitAttrs {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty() && self.format.is_none() && self.boundary.is_none()
    }

    /// Where the first limit stands.
    pub fn span(&self) -> Span {
        let first = self.bounds.first().map(|(name, _)| name).or(self.format.as_ref());
        let boundary = || self.boundary.as_ref().map(Spanned::span);
        first.map(Ident::span).or_else(boundary).unwrap_or_else(Span::call_site)
    }
}

impl ContainerAttrs {
    /// Reads the attributes of a struct or an enum.
    pub fn read(ctxt: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut read = Self::default();
        each(ctxt, attrs, "serde", |meta| {
            match word(&meta).as_str() {
                "rename_all" => read.rename_all = Some(case(&meta)?),
                "rename_all_fields" => read.rename_all_fields = Some(case(&meta)?),
                "tag" => read.tag = Some(string(&meta)?),
                "transparent" => read.transparent = true,
                "default" => {
                    read.default = true;
                    read.default_by = function_of_default(&meta)?;
                }
                name @ ("from" | "try_from") => {
                    read.read_can_fail = name == "try_from";
                    read.read_as = Some(type_in_string(&meta)?);
                }
                "into" => read.written_as = Some(type_in_string(&meta)?),
                "deny_unknown_fields" => {
                    return Err(
                        meta.error("whether a message is closed is the decoder's to say: leave this out")
                    );
                }
                _ => return Err(not_understood(&meta)),
            }
            Ok(())
        });
        each(
            ctxt,
            attrs,
            "shape",
            |meta| if read.limits.take(&meta)? { Ok(()) } else { Err(not_of_shape(&meta)) },
        );
        read
    }
}

impl VariantAttrs {
    /// Reads the attributes of a variant.
    pub fn read(ctxt: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut read = Self::default();
        each(ctxt, attrs, "serde", |meta| {
            match word(&meta).as_str() {
                "rename" => read.rename = Some(string(&meta)?),
                "rename_all" => read.rename_all = Some(case(&meta)?),
                _ => return Err(not_understood(&meta)),
            }
            Ok(())
        });
        each(ctxt, attrs, "shape", |meta| Err(not_of_shape(&meta)));
        read
    }
}

impl FieldAttrs {
    /// Reads the attributes of a field.
    pub fn read(ctxt: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut read = Self::default();
        each(ctxt, attrs, "serde", |meta| {
            match word(&meta).as_str() {
                "rename" => read.rename = Some(string(&meta)?),
                "default" => {
                    read.default = true;
                    read.default_by = function_of_default(&meta)?;
                }
                "skip_serializing_if" => {
                    read.skipped_if = Some(meta.path.clone());
                    string(&meta)?;
                }
                "flatten" => read.flatten = true,
                "with" | "serialize_with" | "deserialize_with" => {
                    string(&meta)?;
                    read.by_functions.get_or_insert(meta.path.clone());
                }
                _ => return Err(not_understood(&meta)),
            }
            Ok(())
        });
        each(ctxt, attrs, "shape", |meta| {
            match word(&meta).as_str() {
                "nullable" => read.nullable = Some(meta.path.clone()),
                "wire" => read.wire = Some(meta.value()?.parse()?),
                _ if read.limits.take(&meta)? => {}
                _ => return Err(not_of_shape(&meta)),
            }
            Ok(())
        });
        read
    }
}

impl LimitAttrs {
    /// Takes the attribute if it is a limit.
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        let name = word(meta);
        if let Some(ident) = meta.path.get_ident().filter(|_| BOUNDS.contains(&name.as_str())) {
            if self.bounds.iter().any(|(known, _)| known == ident) {
                return Err(meta.error(format!("`{name}` is given twice")));
            }
            self.bounds.push((ident.clone(), meta.value()?.parse()?));
        } else if name == "format" {
            if self.format.is_some() {
                return Err(meta.error("`format` is given twice"));
            }
            self.format = Some(meta.value()?.parse()?);
        } else if name == "boundary" {
            if self.boundary.is_some() {
                return Err(meta.error("`boundary` is given twice"));
            }
            self.boundary = Some(meta.value()?.parse()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// Reads each item of the attributes of that name; a fault in one leaves the other attributes to be read.
fn each(
    ctxt: &Ctxt,
    attrs: &[Attribute],
    name: &str,
    mut read: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        if let Err(error) = attr.parse_nested_meta(&mut read) {
            ctxt.add(error);
        }
    }
}

fn word(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.to_token_stream().to_string()
}

fn string(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    if meta.input.peek(syn::token::Paren) {
        return Err(
            meta.error(format!("both directions must have one name: write `{} = \"...\"`", word(meta)))
        );
    }
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

fn type_in_string(meta: &ParseNestedMeta<'_>) -> syn::Result<Type> {
    meta.value()?.parse::<LitStr>()?.parse()
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<Case> {
    if meta.input.peek(syn::token::Paren) {
        string(meta)?;
    }
    let name: LitStr = meta.value()?.parse()?;
    Case::parse(&name.value()).ok_or_else(|| syn::Error::new(name.span(), "not a spelling that serde knows"))
}

fn function_of_default(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if meta.input.peek(syn::Token![=]) { meta.value()?.parse().map(Some) } else { Ok(None) }
}

fn not_understood(meta: &ParseNestedMeta<'_>) -> syn::Error {
    meta.error(format!("`Shape` does not understand the serde attribute `{}` here", word(meta)))
}

fn not_of_shape(meta: &ParseNestedMeta<'_>) -> syn::Error {
    meta.error(format!("`{}` is not an attribute of a shape here", word(meta)))
}
