//! Rules.
use super::Problems;
use crate::build::Bundle;
/// Rules.
pub fn problems(_bundle: &Bundle) -> Problems {
    Vec::new()
}
