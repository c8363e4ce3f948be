//! The attribute of rules written by hand: keeps the function and adds a constant with its tokens.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Ident, ItemFn, Path, Token};

/// Keeps the function and adds its constant.
///
/// # Errors
/// Arguments other than `uses(...)`, and a function of another signature.
pub fn expand(arguments: TokenStream, item: &ItemFn) -> syn::Result<TokenStream> {
    let uses = uses(arguments)?;
    let signature = &item.sig;
    let plain = signature.constness.is_none()
        && signature.asyncness.is_none()
        && signature.generics.params.is_empty()
        && signature.inputs.len() == 1;
    if !plain {
        return Err(syn::Error::new_spanned(
            signature,
            "a boundary is a plain `fn(&serde_json::Value) -> Result<(), String>`",
        ));
    }
    let name = &signature.ident;
    let constant = constant_name(name);
    let visibility = &item.vis;
    let doc = format!("The boundary `{name}` with its tokens.");
    let mut tokens = String::new();
    write(&item.sig.inputs.to_token_stream(), &mut tokens);
    write(&item.block.to_token_stream(), &mut tokens);
    Ok(quote! {
        #item

        #[doc = #doc]
        #visibility const #constant: ::panelot_protocol::schema::Boundary = ::panelot_protocol::schema::Boundary {
            check: #name,
            tokens: #tokens,
            uses: &[#(#uses as u64),*],
        };
    })
}

/// The path of the constant that stands beside the function of that path.
pub fn constant_of(function: &Path) -> Path {
    let mut path = function.clone();
    if let Some(last) = path.segments.last_mut() {
        last.ident = constant_name(&last.ident);
    }
    path
}

fn constant_name(function: &Ident) -> Ident {
    format_ident!("{}_BOUNDARY", function.to_string().to_uppercase(), span = function.span())
}

fn uses(arguments: TokenStream) -> syn::Result<Vec<Path>> {
    let mut all = Vec::new();
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("uses") {
            return Err(meta.error("a boundary takes only `uses(PATH, ...)`"));
        }
        let inner;
        syn::parenthesized!(inner in meta.input);
        all.extend(Punctuated::<Path, Token![,]>::parse_terminated(&inner)?);
        Ok(())
    });
    parser.parse2(arguments)?;
    Ok(all)
}

/// Writes tokens with one space between them, so that no formatting remains: not the space of the source, and not
/// the comma that a formatter puts behind the last of several parts.
fn write(tokens: &TokenStream, out: &mut String) {
    write_parts(tokens, Comma::Formatting, out);
}

/// What a comma behind a single part means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    /// Nothing.
    Formatting,
    /// A tuple of one.
    Tuple,
}

fn write_parts(tokens: &TokenStream, comma: Comma, out: &mut String) {
    let mut rest = tokens.clone().into_iter().peekable();
    let mut commas = 0;
    let mut is_first = true;
    let mut is_joint = false;
    let mut is_call = false;
    while let Some(tree) = rest.next() {
        if matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ',') {
            commas += 1;
            if rest.peek().is_none() && (comma == Comma::Formatting || commas > 1) {
                return;
            }
        }
        if !is_first && !is_joint {
            out.push(' ');
        }
        is_first = false;
        is_joint = matches!(&tree, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
        match &tree {
            TokenTree::Group(group) => write_group(group, is_call, out),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                out.push_str(&tree.to_string())
            }
        }
        is_call = match &tree {
            TokenTree::Group(_) | TokenTree::Ident(_) => true,
            TokenTree::Punct(punct) => matches!(punct.as_char(), '>' | '!'),
            TokenTree::Literal(_) => false,
        };
    }
}

fn write_group(group: &Group, is_call: bool, out: &mut String) {
    let (open, close, comma) = match group.delimiter() {
        Delimiter::Parenthesis if is_call => ("(", ")", Comma::Formatting),
        Delimiter::Parenthesis => ("(", ")", Comma::Tuple),
        Delimiter::Brace => ("{", "}", Comma::Formatting),
        Delimiter::Bracket => ("[", "]", Comma::Formatting),
        Delimiter::None => ("", "", Comma::Formatting),
    };
    out.push_str(open);
    write_parts(&group.stream(), comma, out);
    out.push_str(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(source: &str) -> String {
        let block: syn::Block = syn::parse_str(source).unwrap();
        let mut out = String::new();
        write(&block.to_token_stream(), &mut out);
        out
    }

    #[test]
    fn comments_and_formatting_leave_no_trace() {
        let dense = "{ let x=f(a,b); if x>=1&&!y { Ok(()) } else { Err(\"no\".to_owned()) } }";
        let wide = "{
            // Why it is so.
            let x = f(
                a,
                b,
            );
            if x >= 1 && !y {
                Ok(())
            } else {
                /* never */
                Err(\"no\".to_owned())
            }
        }";
        assert_eq!(written(dense), written(wide));
    }

    #[test]
    fn a_changed_rule_is_a_changed_text() {
        assert_ne!(written("{ x > 1 }"), written("{ x >= 1 }"));
        assert_ne!(written("{ a && b }"), written("{ a & &b }"));
        assert_ne!(written("{ f((a,)) }"), written("{ f((a)) }"));
    }
}
