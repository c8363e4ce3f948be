//! Clicks, choices and waits in live documents.

use super::{Fixture, click_on, perform, until};
use crate::act;
use crate::wait::Wanted;
use panelot_content::action::Code;
use panelot_protocol::content::{ContentAction, ContentOutcome, KeyModifier, MouseButton, WaitCondition};
use panelot_protocol::item::ActionOutcome;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn a_click_sends_what_a_mouse_would_and_is_verified() {
    let fixture = Fixture::new("<button style='width:100px;height:40px'>Go</button><output></output>");
    fixture.run(
        "window.log = []; const b = root.querySelector('button'); \
         for (const kind of ['pointerdown','mousedown','focus','pointerup','mouseup','click']) \
           b.addEventListener(kind, (e) => window.log.push(kind)); \
         b.addEventListener('click', (e) => { const r = b.getBoundingClientRect(); \
           root.querySelector('output').textContent = [e.pointerType, e.button, e.detail, e.shiftKey, \
             Math.round(e.clientX - r.x), Math.round(e.clientY - r.y), e.view === window].join(' '); });",
    );
    let target = fixture.ref_of("button \"Go\"");
    let click = ContentAction::Click {
        target,
        button: MouseButton::Left,
        modifiers: vec![KeyModifier::Shift],
        click_count: 1,
    };
    let report = perform(click).await.unwrap();
    let log = fixture.run("return window.log.join(' ')").as_string().unwrap();
    assert_eq!(log, "pointerdown mousedown focus pointerup mouseup click");
    assert_eq!(fixture.find("output").text_content().unwrap(), "mouse 0 1 true 50 20 true");
    assert_eq!(report.outcome, ActionOutcome::Verified);
    assert!(report.diff.contains("+ - status \"mouse 0 1 true 50 20 true\""), "{}", report.diff);
}

#[wasm_bindgen_test]
async fn a_double_click_is_two_clicks_and_one_more_event() {
    let fixture = Fixture::new("<button>Go</button>");
    fixture.run(
        "window.log = []; for (const kind of ['click','dblclick','contextmenu']) \
         root.addEventListener(kind, (e) => window.log.push(kind + e.detail + e.button));",
    );
    let target = fixture.ref_of("button \"Go\"");
    let twice = ContentAction::Click {
        target: target.clone(),
        button: MouseButton::Left,
        modifiers: vec![],
        click_count: 2,
    };
    perform(twice).await.unwrap();
    let right =
        ContentAction::Click { target, button: MouseButton::Right, modifiers: vec![], click_count: 1 };
    perform(right).await.unwrap();
    assert_eq!(
        fixture.run("return window.log.join(' ')").as_string().unwrap(),
        "click10 click20 dblclick20 contextmenu02"
    );
}

#[wasm_bindgen_test]
async fn a_click_without_any_effect_is_uncertain() {
    let fixture = Fixture::new("<button>Nothing</button>");
    let report = perform(click_on(&fixture.ref_of("Nothing"))).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Uncertain);
}

#[wasm_bindgen_test]
async fn choices_change_once_however_they_are_drawn() {
    for markup in [
        "<label><input type=checkbox> News</label>",
        "<label><input type=checkbox style='opacity:0;position:absolute'> News</label>",
        "<label style='position:relative;display:block'><input type=checkbox><b style='position:absolute;inset:0'>News</b></label>",
        "<label><input type=checkbox style='display:none'> News</label>",
    ] {
        let fixture = Fixture::new(markup);
        let report = perform(click_on(&fixture.ref_of("checkbox \"News\""))).await.unwrap();
        assert!(fixture.find("input").checked(), "{markup}");
        assert_eq!(report.outcome, ActionOutcome::Verified, "{markup}");
    }
}

#[wasm_bindgen_test]
async fn obstacles_are_named_and_nothing_is_clicked() {
    let table = [
        ("<button disabled>B</button>", Code::Disabled, "is disabled"),
        ("<fieldset disabled><button>B</button></fieldset>", Code::Disabled, "is disabled"),
        ("<div aria-disabled=true><button>B</button></div>", Code::Disabled, "is disabled"),
        (
            "<button>B</button><div style='position:fixed;inset:0' role=dialog aria-label=Cookies>hm</div>",
            Code::Occluded,
            "covered by dialog \"Cookies\"",
        ),
        ("<select aria-label=B><option>x</select>", Code::L1NotEffective, "select_option"),
        ("<input type=file aria-label=B>", Code::L1NotEffective, "only the user"),
    ];
    for (markup, code, words) in table {
        let fixture = Fixture::new(markup);
        fixture.run(
            "root.addEventListener('click', () => window.clicked = true, true); window.clicked = false;",
        );
        let failure = perform(click_on(&fixture.ref_of("\"B\""))).await.unwrap_err();
        assert_eq!(failure.code, code, "{markup}: {failure}");
        assert!(failure.message.contains(words), "{markup}: {failure}");
        assert_eq!(fixture.run("return window.clicked").as_bool(), Some(false), "{markup}");
    }
}

#[wasm_bindgen_test]
async fn what_became_hidden_inert_or_small_since_the_snapshot_is_refused() {
    let table = [
        ("b.style.display = 'none'", Code::NotVisible),
        ("b.style.visibility = 'hidden'", Code::NotVisible),
        ("b.parentNode.inert = true", Code::Disabled),
        (
            "b.style.cssText = 'width:0;height:0;padding:0;border:0;overflow:hidden;display:block'",
            Code::NotVisible,
        ),
    ];
    for (script, code) in table {
        let fixture = Fixture::new("<div><button>B</button></div>");
        let target = fixture.ref_of("button \"B\"");
        fixture.run(&format!("const b = root.querySelector('button'); {script}"));
        let failure = perform(click_on(&target)).await.unwrap_err();
        assert_eq!(failure.code, code, "{script}: {failure}");
    }
}

#[wasm_bindgen_test]
async fn a_ref_stays_with_its_element_and_never_moves_to_another() {
    let fixture =
        Fixture::new("<div><button>Alpha</button><button>Beta</button><button>Gamma</button></div>");
    let beta = fixture.ref_of("button \"Beta\"");
    fixture.run(
        "const n = document.createElement('button'); n.textContent = 'New'; root.firstChild.prepend(n);",
    );
    assert_eq!(fixture.ref_of("button \"Beta\""), beta);
    fixture.run("window.hit = ''; root.addEventListener('click', (e) => window.hit = e.target.textContent);");
    perform(click_on(&beta)).await.unwrap();
    assert_eq!(fixture.run("return window.hit").as_string().unwrap(), "Beta");
}

#[wasm_bindgen_test]
async fn stale_refs_say_what_happened() {
    let fixture = Fixture::new("<button>Beta</button>");
    let beta = fixture.ref_of("button \"Beta\"");
    fixture.run("root.querySelector('button').textContent = 'Gamma'");
    let changed = perform(click_on(&beta)).await.unwrap_err();
    assert_eq!(changed.code, Code::StaleRef);
    assert!(changed.message.contains("was button \"Beta\" and is now button \"Gamma\""), "{changed}");
    fixture.run("root.querySelector('button').remove()");
    let removed = perform(click_on(&beta)).await.unwrap_err();
    assert!(removed.code == Code::StaleRef && removed.message.contains("re-rendered"), "{removed}");
    let other = perform(click_on("zzzz1")).await.unwrap_err();
    assert!(other.code == Code::StaleRef && other.message.contains("navigated"), "{other}");
}

#[wasm_bindgen_test]
async fn targets_in_shadow_roots_are_not_covered_by_their_host() {
    let fixture = Fixture::new("<x-d></x-d>");
    fixture.run(
        "const s = root.querySelector('x-d').attachShadow({mode: 'open'}); s.innerHTML = '<button>Inner</button>'; \
         s.firstChild.onclick = () => { s.firstChild.textContent = 'Done'; };",
    );
    let report = perform(click_on(&fixture.ref_of("button \"Inner\""))).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Verified);
    assert!(report.diff.contains("button \"Done\""), "{}", report.diff);
}

#[wasm_bindgen_test]
async fn a_target_far_below_is_scrolled_to() {
    let fixture = Fixture::new(
        "<div style='height:5000px'></div><button>Far</button><div style='height:3000px'></div>",
    );
    fixture.run("window.hits = 0; root.querySelector('button').onclick = () => window.hits++;");
    perform(click_on(&fixture.ref_of("button \"Far\""))).await.unwrap();
    assert_eq!(fixture.run("return window.hits").as_f64(), Some(1.0));
    fixture.run("window.scrollTo(0, 0)");
}

#[wasm_bindgen_test]
async fn the_highlight_is_never_read_and_goes_away() {
    let fixture = Fixture::new("<button>Go</button>");
    let before = crate::dom::document().document_element().unwrap().child_element_count();
    perform(click_on(&fixture.ref_of("button \"Go\""))).await.unwrap();
    assert_eq!(crate::dom::document().document_element().unwrap().child_element_count(), before);
}

fn choose(target: String, values: &[&str]) -> ContentAction {
    ContentAction::SelectOption { target, values: values.iter().map(|value| (*value).to_owned()).collect() }
}

#[wasm_bindgen_test]
async fn a_list_takes_a_label_and_tells_the_page() {
    let fixture =
        Fixture::new("<select aria-label=Size><option value=s>Small<option value=m>Medium</select>");
    fixture.run("window.log = ''; for (const kind of ['input','change']) root.addEventListener(kind, () => window.log += kind + ' ');");
    let report = perform(choose(fixture.ref_of("combobox \"Size\""), &["medium"])).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Verified);
    assert_eq!(report.evidence.first().unwrap(), "\"Medium\" is selected");
    assert_eq!(fixture.find("select").value(), "m");
    assert_eq!(fixture.run("return window.log").as_string().unwrap(), "input change ");
    let failure = perform(choose(fixture.ref_of("combobox \"Size\""), &["Huge"])).await.unwrap_err();
    assert!(failure.message.contains("\"Small\" (value s), \"Medium\" (value m)"), "{failure}");
}

#[wasm_bindgen_test]
async fn a_list_of_several_takes_exactly_what_was_named() {
    let fixture =
        Fixture::new("<select multiple aria-label=Tags><option selected>a<option>b<option>c</select>");
    let report = perform(choose(fixture.ref_of("listbox \"Tags\""), &["c", "b"])).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Verified);
    let chosen =
        fixture.run("return [...root.querySelector('select').selectedOptions].map((o) => o.value).join()");
    assert_eq!(chosen.as_string().unwrap(), "b,c");
}

#[wasm_bindgen_test]
async fn a_choice_that_the_page_takes_back_has_failed() {
    let fixture = Fixture::new("<select aria-label=Size><option>S<option>M</select>");
    fixture.run("const s = root.querySelector('select'); s.onchange = () => { s.selectedIndex = 0; };");
    let report = perform(choose(fixture.ref_of("combobox \"Size\""), &["M"])).await.unwrap();
    assert_eq!(report.outcome, ActionOutcome::Failed);
}

async fn wait(condition: WaitCondition, timeout_ms: u64) -> bool {
    match act::perform(ContentAction::WaitFor { condition, timeout_ms }, Wanted::default()).await.unwrap() {
        ContentOutcome::Waited { met, .. } => met,
        other => panic!("not the end of a wait: {other:?}"),
    }
}

#[wasm_bindgen_test]
async fn waits_end_with_what_they_wait_for_or_with_their_time() {
    let fixture = Fixture::new("<p>Loading…</p>");
    fixture.run("setTimeout(() => { root.firstChild.textContent = 'All  loaded'; }, 30)");
    assert!(wait(WaitCondition::Text { text: "All loaded".to_owned() }, 5_000).await);
    assert!(wait(WaitCondition::TextGone { text: "Loading…".to_owned() }, 5_000).await);
    assert!(!wait(WaitCondition::Text { text: "never there".to_owned() }, 20).await);
    until("true").await;
}

#[wasm_bindgen_test]
async fn in_a_hidden_page_actions_work_and_are_quick() {
    let fixture = Fixture::new("<p></p>");
    fixture.run(
        "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }); \
         window.late = window.setTimeout; \
         window.setTimeout = (f, ms) => window.late(f, Math.ceil((ms + 1) / 1000) * 1000);",
    );
    quick_actions().await;
    Fixture::new("").run("delete document.hidden; window.setTimeout = window.late;");
}

#[wasm_bindgen_test]
async fn on_a_quiet_page_actions_are_quick() {
    quick_actions().await;
}

async fn quick_actions() {
    let fixture = Fixture::new("<button>Go</button><input type=checkbox aria-label=C><input aria-label=T>");
    fixture.run("root.querySelector('button').onclick = () => root.append('clicked');");
    let actions = [
        click_on(&fixture.ref_of("button \"Go\"")),
        click_on(&fixture.ref_of("checkbox \"C\"")),
        super::type_into(&fixture.ref_of("textbox \"T\""), "short", false),
    ];
    for action in actions {
        let before = crate::wait::now();
        let report = perform(action.clone()).await.unwrap();
        let took = crate::wait::now() - before;
        assert_eq!(report.outcome, ActionOutcome::Verified, "{action:?}");
        assert!(took < 250.0, "{action:?}: {took} ms");
    }
}

#[wasm_bindgen_test]
async fn a_page_that_never_rests_does_not_hold_an_action_up() {
    let fixture = Fixture::new("<p id=clock>0</p><button>Go</button>");
    fixture.run(
        "let n = 0; window.tick = setInterval(() => { root.firstChild.textContent = ++n; }, 100); \
         root.querySelector('button').onclick = () => root.append('clicked');",
    );
    let target = fixture.ref_of("button \"Go\"");
    let before = crate::wait::now();
    perform(click_on(&target)).await.unwrap();
    let took = crate::wait::now() - before;
    fixture.run("clearInterval(window.tick)");
    assert!(took < 1_000.0, "{took} ms");
}
