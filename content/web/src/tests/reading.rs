//! What is collected from live documents.

use super::Fixture;
use wasm_bindgen_test::wasm_bindgen_test;

#[track_caller]
fn check(markup: &str, expected: &[&str]) {
    assert_eq!(Fixture::new(markup).read(), expected, "{markup}");
}

#[track_caller]
fn check_script(markup: &str, script: &str, expected: &[&str]) {
    let fixture = Fixture::new(markup);
    fixture.run(script);
    assert_eq!(fixture.read(), expected, "{markup}");
}

#[wasm_bindgen_test]
fn plain_pages_read_as_on_paper() {
    check(
        "<h2>News</h2><p>One <b>two</b>\n three</p><label for=q>Find</label><input id=q value=x required>",
        &["- heading \"News\" [level=2]", "- text \"One two three\"", "- textbox \"Find\" [required]: \"x\""],
    );
}

#[wasm_bindgen_test]
fn what_is_not_rendered_is_not_told() {
    check(
        "<p hidden>a</p><p style='display:none'>b</p><p style='visibility:hidden'>c</p><p style='opacity:0'>d</p>\
         <div inert>e</div><div aria-hidden=true>f</div><details>g<summary>More</summary>h</details>\
         <script>i</script><template>j</template><p>shown</p>",
        &["- button \"More\" [collapsed]", "- text \"shown\""],
    );
}

#[wasm_bindgen_test]
fn a_visible_child_of_a_hidden_parent_is_told() {
    check(
        "<div style='visibility:hidden'>gone <b style='visibility:visible'>here</b></div>\
         <div style='display:contents'>boxless</div>",
        &["- text \"here\"", "- text \"boxless\""],
    );
}

#[wasm_bindgen_test]
fn tricks_that_hide_orders_from_the_user_are_labelled() {
    check(
        "<p>seen</p><p style='position:absolute;left:-9999px'>away</p><p style='font-size:0'>tiny</p>\
         <p style='position:absolute;width:1px;height:1px;overflow:hidden'>clipped</p>",
        &[
            "- text \"seen\"",
            "- text \"away\" [visually hidden]",
            "- text \"tiny\" [visually hidden]",
            "- text \"clipped\" [visually hidden]",
        ],
    );
}

#[wasm_bindgen_test]
fn shadow_roots_are_walked_and_slots_hold_their_text_once() {
    check_script(
        "<x-b><span>slotted</span></x-b>",
        "const x = root.querySelector('x-b'); const s = x.attachShadow({mode: 'open'}); \
         s.innerHTML = '<button>Pay</button><x-c></x-c><label for=i>Name</label><input id=i><slot></slot>'; \
         s.querySelector('x-c').attachShadow({mode: 'open'}).innerHTML = '<a href=/deep>deep</a>'; \
         s.append(' Total 42');",
        &[
            "- button \"Pay\"",
            "- link \"deep\" [url=http://127.0.0.1/deep]",
            "- textbox \"Name\"",
            "- text \"slotted Total 42\"",
        ]
        .map(|line| if line.contains("deep") { DEEP.with(|deep| *deep) } else { line }),
    );
}

thread_local! {
    /// The address depends on the port that the test is served from.
    static DEEP: &'static str = Box::leak(
        format!(
            "- link \"deep\" [url={}/deep]",
            crate::dom::get(&crate::dom::get(&js_sys::global(), "location"), "host").as_string().unwrap()
        )
        .into_boxed_str(),
    );
}

#[wasm_bindgen_test]
fn secrets_never_leave_the_field() {
    let fixture = Fixture::new(
        "<label>Word <input type=password value=hunter2></label><input aria-label=Card autocomplete=cc-number \
         value=4111111111111111><input aria-label=Code autocomplete=one-time-code value=123456>",
    );
    let lines = fixture.read();
    assert_eq!(
        lines,
        [
            "- textbox \"Word\" [password] [filled]",
            "- textbox \"Card\" [filled]",
            "- textbox \"Code\" [filled]"
        ]
    );
}

#[wasm_bindgen_test]
fn choices_that_a_page_draws_itself_are_told() {
    check(
        "<label><input type=checkbox checked style='display:none'><i>Terms</i></label>\
         <label><input type=checkbox style='opacity:0'> News</label>",
        &["- checkbox \"Terms\" [checked]", "- checkbox \"News\""],
    );
}

#[wasm_bindgen_test]
fn what_reacts_to_a_click_is_a_target_once() {
    check(
        "<div style='cursor:pointer'><span style='cursor:pointer'>Open</span></div>\
         <div style='cursor:pointer'><button>Buy</button></div>",
        &["- clickable \"Open\"", "- button \"Buy\""],
    );
}

#[wasm_bindgen_test]
fn hidden_references_and_generated_text_name_things() {
    check(
        "<style>.i::before { content: '\\2192  ' / 'Next'; }</style><span id=n hidden>Hidden name</span>\
         <button aria-labelledby=n>x</button><button class=i></button>",
        &["- button \"Hidden name\"", "- button \"Next\""],
    );
}

#[wasm_bindgen_test]
fn a_form_whose_fields_shadow_its_properties_is_read() {
    check(
        "<form><input name=firstChild aria-label=a><input name=localName aria-label=b>\
         <input name=getAttribute aria-label=c><input name=parentNode aria-label=d>\
         <input name=nextSibling aria-label=e><input name=nodeType aria-label=f></form><p>after</p>",
        &[
            "- textbox \"a\"",
            "- textbox \"b\"",
            "- textbox \"c\"",
            "- textbox \"d\"",
            "- textbox \"e\"",
            "- textbox \"f\"",
            "- text \"after\"",
        ],
    );
}

#[wasm_bindgen_test]
fn lists_of_the_browsers_own_tell_their_choice() {
    check(
        "<select aria-label=Size><option value=s>Small<option value=m selected>Medium</select>",
        &["- combobox \"Size\": \"Medium\" options: \"Small | Medium\""],
    );
}
