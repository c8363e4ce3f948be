//! What the derive refuses, one file for each message, and what it takes.

#[test]
fn the_derive_takes_every_form_and_names_what_it_refuses() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
