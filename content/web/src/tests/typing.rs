//! Typing into fields of every kind, and what the page sees of it.

use super::{Fixture, perform, type_into};
use panelot_content::action::Code;
use panelot_protocol::content::{ActionReport, ContentAction, TypeMode};
use panelot_protocol::item::ActionOutcome;
use wasm_bindgen_test::wasm_bindgen_test;

async fn type_at(fixture: &Fixture, words: &str, text: &str) -> ActionReport {
    perform(type_into(&fixture.ref_of(words), text, false)).await.unwrap()
}

#[wasm_bindgen_test]
async fn a_text_field_gets_keys_and_input_events() {
    let fixture = Fixture::new("<input aria-label=Name value=old>");
    fixture.run(
        "window.log = ''; for (const kind of ['keydown','beforeinput','input','keyup','change']) \
         root.addEventListener(kind, (e) => window.log += kind + (e.key ?? e.data ?? '') + ' ');",
    );
    let report = type_at(&fixture, "textbox \"Name\"", "ab").await;
    assert_eq!(fixture.find("input").value(), "ab");
    assert_eq!(report.outcome, ActionOutcome::Verified);
    assert_eq!(
        fixture.run("return window.log").as_string().unwrap(),
        "keydowna beforeinputa inputa keyupa keydownb beforeinputb inputb keyupb change "
    );
}

#[wasm_bindgen_test]
async fn a_controlled_field_keeps_the_text() {
    let fixture = Fixture::new("<input aria-label=Name><output></output>");
    // As a framework does: it lays its own accessor over the value and renders its state back after each event.
    fixture.run(
        "const i = root.querySelector('input'); let state = ''; let seen = ''; \
         const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); \
         Object.defineProperty(i, 'value', { configurable: true, get() { return own.get.call(i); }, \
           set(v) { seen = v; own.set.call(i, v); } }); \
         i.addEventListener('input', () => { const v = own.get.call(i); if (v !== seen) { state = v; seen = v; } \
           own.set.call(i, state); root.querySelector('output').textContent = state; });",
    );
    type_at(&fixture, "textbox \"Name\"", "Ada Lovelace").await;
    assert_eq!(fixture.find("input").value(), "Ada Lovelace");
    assert_eq!(fixture.find("output").text_content().unwrap(), "Ada Lovelace");
}

#[wasm_bindgen_test]
async fn appending_keeps_what_is_there() {
    let fixture = Fixture::new("<textarea aria-label=Note>one</textarea>");
    let append = ContentAction::Type {
        target: fixture.ref_of("textbox \"Note\""),
        text: "\ntwo".to_owned(),
        mode: TypeMode::Append,
        submit: false,
    };
    let report = perform(append).await.unwrap();
    assert_eq!(fixture.find("textarea").value(), "one\ntwo");
    assert_eq!(report.outcome, ActionOutcome::Verified);
}

#[wasm_bindgen_test]
async fn an_empty_text_clears_a_field() {
    let fixture = Fixture::new("<input aria-label=Name value=old>");
    assert_eq!(type_at(&fixture, "textbox \"Name\"", "").await.outcome, ActionOutcome::Verified);
    assert_eq!(fixture.find("input").value(), "");
}

#[wasm_bindgen_test]
async fn a_field_that_shortens_or_formats_is_told_as_it_is() {
    let fixture = Fixture::new("<input aria-label=Short maxlength=5><input aria-label=Phone>");
    fixture.run(
        "const p = root.querySelectorAll('input')[1]; p.addEventListener('input', () => { \
         const d = p.value.replace(/[^0-9]/g, ''); p.value = d.length > 3 ? d.slice(0, 3) + '-' + d.slice(3) : d; });",
    );
    let short = type_at(&fixture, "textbox \"Short\"", "abcdefgh").await;
    assert_eq!((short.outcome, fixture.find("input").value()), (ActionOutcome::Failed, "abcde".to_owned()));
    assert!(short.evidence.join(" ").contains("\"abcde\""), "{:?}", short.evidence);
    let phone = type_at(&fixture, "textbox \"Phone\"", "5551234").await;
    assert_eq!(phone.outcome, ActionOutcome::Verified);
    assert!(phone.evidence.join(" ").contains("555-1234"), "{:?}", phone.evidence);
}

#[wasm_bindgen_test]
async fn fields_with_a_format_take_it_and_refuse_others() {
    for (kind, text, held) in [
        ("date", "2026-11-30", "2026-11-30"),
        ("time", "18:55", "18:55"),
        ("datetime-local", "2026-11-30 18:55", "2026-11-30T18:55"),
        ("month", "2026-11", "2026-11"),
        ("color", "#FF8800", "#ff8800"),
        ("range", "40", "40"),
        ("number", "1e5", "1e5"),
    ] {
        let fixture = Fixture::new(&format!("<input type={kind} aria-label=F>"));
        fixture.run("window.log = ''; for (const kind of ['input','change']) root.addEventListener(kind, () => window.log += kind + ' ');");
        let report = type_at(&fixture, "\"F\"", text).await;
        assert_eq!(fixture.find("input").value(), held, "{kind}");
        assert_eq!(report.outcome, ActionOutcome::Verified, "{kind}");
        assert_eq!(fixture.run("return window.log").as_string().unwrap(), "input change ", "{kind}");
    }
    let fixture = Fixture::new("<input type=date aria-label=F value=2020-01-01>");
    let failure = perform(type_into(&fixture.ref_of("\"F\""), "30.11.2026", false)).await.unwrap_err();
    assert_eq!(failure.code, Code::NotEditable);
    assert_eq!(fixture.find("input").value(), "2020-01-01");
}

#[wasm_bindgen_test]
async fn what_takes_no_text_says_so() {
    for (markup, words) in [
        ("<input readonly aria-label=F>", "read-only"),
        ("<button>F</button>", "takes no text"),
        ("<input type=checkbox aria-label=F>", "Use click"),
    ] {
        let fixture = Fixture::new(markup);
        let failure = perform(type_into(&fixture.ref_of("\"F\""), "x", false)).await.unwrap_err();
        assert_eq!(failure.code, Code::NotEditable, "{markup}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[wasm_bindgen_test]
async fn an_editor_that_guards_its_content_takes_the_text() {
    let fixture = Fixture::new(
        "<div contenteditable aria-label=Editor style='min-height:40px'><p>old <b>bold</b></p></div>",
    );
    // As editors do: what did not come by the browser's own editing is taken back.
    fixture.run(
        "const e = root.firstChild; let allowed = false; let last = e.innerHTML; \
         e.addEventListener('beforeinput', () => { allowed = true; }); \
         e.addEventListener('input', () => { if (allowed) last = e.innerHTML; allowed = false; }); \
         new MutationObserver(() => { if (!allowed && e.innerHTML !== last) e.innerHTML = last; }) \
           .observe(e, { childList: true, subtree: true, characterData: true });",
    );
    let report = type_at(&fixture, "textbox \"Editor\"", "first\nsecond").await;
    assert_eq!(report.outcome, ActionOutcome::Verified, "{:?}", report.evidence);
    let append = ContentAction::Type {
        target: fixture.ref_of("textbox \"Editor\""),
        text: " third".to_owned(),
        mode: TypeMode::Append,
        submit: false,
    };
    perform(append).await.unwrap();
    let lines = fixture.find("[contenteditable]").inner_text().unwrap();
    assert_eq!(panelot_content::clean::clean(&lines), "first second third");
}

#[wasm_bindgen_test]
async fn enter_submits_a_form_once() {
    let fixture = Fixture::new("<form><input aria-label=Query name=q></form><output></output>");
    fixture.run(
        "let n = 0; root.querySelector('form').addEventListener('submit', (e) => { e.preventDefault(); \
         root.querySelector('output').textContent = 'sent ' + (++n) + ' ' + new FormData(e.target).get('q'); });",
    );
    let report = perform(type_into(&fixture.ref_of("textbox \"Query\""), "cats", true)).await.unwrap();
    assert_eq!(fixture.find("output").text_content().unwrap(), "sent 1 cats");
    assert_eq!(report.outcome, ActionOutcome::Verified);
    assert!(report.evidence.contains(&"the form was submitted".to_owned()), "{:?}", report.evidence);
}

#[wasm_bindgen_test]
async fn a_form_that_is_not_valid_says_which_field_is_not() {
    let fixture = Fixture::new(
        "<form><input aria-label=Query><input type=email aria-label=Mail required><button>Send</button></form>",
    );
    let report = perform(type_into(&fixture.ref_of("textbox \"Query\""), "cats", true)).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Failed);
    assert!(
        report.evidence.join(" ").contains("the form was not submitted: textbox \"Mail\""),
        "{:?}",
        report.evidence
    );
}

#[wasm_bindgen_test]
async fn a_page_may_keep_the_enter_key_for_itself() {
    let fixture = Fixture::new("<form><textarea aria-label=Chat></textarea></form><ul></ul>");
    fixture.run(
        "const t = root.querySelector('textarea'); t.onkeydown = (e) => { if (e.key !== 'Enter') return; \
         e.preventDefault(); const li = document.createElement('li'); li.textContent = t.value; t.value = ''; \
         root.querySelector('ul').append(li); }; root.querySelector('form').onsubmit = () => { throw 'submitted'; };",
    );
    let report = perform(type_into(&fixture.ref_of("textbox \"Chat\""), "hello", true)).await.unwrap();
    assert_eq!(fixture.find("li").text_content().unwrap(), "hello");
    assert_eq!(report.outcome, ActionOutcome::Verified);
}
