//! Collects faults, so that one compilation names them all.

use quote::ToTokens;
use std::cell::RefCell;
use std::fmt::Display;

/// The faults found so far.
#[derive(Default)]
pub struct Ctxt {
    faults: RefCell<Vec<syn::Error>>,
}

impl Ctxt {
    /// Notes a fault at the tokens.
    pub fn fault(&self, at: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(at, message));
    }

    /// Notes a fault that syn found.
    pub fn add(&self, error: syn::Error) {
        self.faults.borrow_mut().push(error);
    }

    /// All faults as one error.
    pub fn finish(self) -> syn::Result<()> {
        let mut faults = self.faults.into_inner().into_iter();
        let Some(mut all) = faults.next() else { return Ok(()) };
        all.extend(faults);
        Err(all)
    }
}
