//! Waits of a turn: the card of an open one, and the line that is left of one that has ended.

use dioxus::prelude::*;
use panelot_protocol::ids::InteractionId;
use panelot_protocol::interaction::{InteractionRequestPayload, InteractionResponse, PendingInteraction};
use panelot_ui::format::time_left;
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;
use panelot_ui::item::ItemState;
use panelot_ui::phrases::{awaited, wait_end};
use serde_json::Value;

use super::cards::ASLEEP_MS;
use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use super::ticks::use_local_time;
use crate::chrome::clock;
use crate::store::{Store, put};
use crate::{page, shell};

/// Times that are further away are named, not counted down.
const COUNTED_MS_MAX: u64 = 24 * 3_600_000;
/// Most characters of an answer in words.
const ANSWER_CHARS_MAX: &str = "20000";

/// What a card offers beside refusing and stopping.
enum Offer {
    /// Answers to choose from, and one in the user's own words.
    Words(Vec<String>),
    /// One word to go on.
    Go(Key),
}

fn offer(request: &InteractionRequestPayload) -> Offer {
    match request {
        InteractionRequestPayload::AskUser { options, .. } => Offer::Words(options.clone()),
        InteractionRequestPayload::Elicitation { .. } => Offer::Words(Vec::new()),
        InteractionRequestPayload::UserAction { .. } | InteractionRequestPayload::Takeover { .. } => {
            Offer::Go(Key::InteractDone)
        }
        InteractionRequestPayload::WatchPage { .. } | InteractionRequestPayload::ScheduleResume { .. } => {
            Offer::Go(Key::InteractGoOn)
        }
    }
}

fn title(store: &Store, request: &InteractionRequestPayload) -> String {
    match request {
        InteractionRequestPayload::AskUser { .. } => store.t(Key::InteractAsk).to_owned(),
        InteractionRequestPayload::UserAction { .. } => store.t(Key::InteractAction).to_owned(),
        InteractionRequestPayload::Takeover { .. } => store.t(Key::InteractTakeover).to_owned(),
        InteractionRequestPayload::WatchPage { .. } => store.t(Key::InteractWatch).to_owned(),
        InteractionRequestPayload::ScheduleResume { at_ms, .. } => {
            let time = clock::local_time().moment(*at_ms);
            shell::say(store, Key::InteractSchedule, &[("time", &time)])
        }
        InteractionRequestPayload::Elicitation { server, .. } => {
            shell::say(store, Key::InteractServer, &[("server", server)])
        }
    }
}

/// What was written in answer to this wait.
fn draft(store: &Store, id: &InteractionId) -> String {
    let kept = store.answer.peek();
    kept.as_ref().filter(|(of, _)| of == id).map(|(_, text)| text.clone()).unwrap_or_default()
}

/// The card of an open wait.
#[component]
pub fn Interaction(pending: PendingInteraction) -> Element {
    let mut store = use_context::<Store>();
    let mut awake = use_signal(|| false);
    use_future(move || async move {
        clock::sleep_ms(ASLEEP_MS).await;
        awake.set(true);
    });
    let mut decided = use_signal(|| false);
    let id = pending.interaction_id.clone();
    let text = use_signal(|| draft(&store, &id));
    let heading = title(&store, &pending.request);
    let words = awaited(&pending.request).to_owned();
    let announced = shell::say(&store, Key::InteractAnnounce, &[("title", &heading), ("detail", &words)]);
    use_effect(move || store.announce(announced.clone()));
    let respond = use_callback(move |response: InteractionResponse| {
        if awake() && !decided() {
            decided.set(true);
            put(&mut store.answer, None);
            shell::intend(Intent::Respond { interaction_id: id.clone(), response });
            page::focus(INPUT_ID);
        }
    });
    let submit = use_callback(move |answer: String| {
        let answer = answer.trim().to_owned();
        if !answer.is_empty() {
            respond.call(InteractionResponse::Submit { value: Value::String(answer) });
        }
    });
    let busy = decided() || !awake();
    let offer = offer(&pending.request);
    let (options, go) = match offer {
        Offer::Words(options) => (Some(options), None),
        Offer::Go(key) => (None, Some(key)),
    };
    let chosen = options.clone().unwrap_or_default();
    rsx! {
        section {
            class: "card", "data-testid": "interaction", "data-interaction": "{pending.interaction_id}", "data-awake": awake(),
            role: "group", aria_label: "{heading}", "aria-description": store.t(Key::InteractKeys), tabindex: "0",
            onkeydown: move |event| {
                if is_composing(&event) {
                    return;
                }
                match pressed(&event) {
                    Pressed::Escape => respond.call(InteractionResponse::Cancel {}),
                    Pressed::Letter('n') => respond.call(InteractionResponse::Decline { note: None }),
                    Pressed::Letter('y') if go.is_some() => respond.call(InteractionResponse::Done {}),
                    Pressed::Letter(digit) => {
                        let place = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
                        let Some(option) = place.and_then(|place| chosen.get(place)) else { return };
                        submit.call(option.clone());
                    }
                    Pressed::Enter | Pressed::Other => return,
                }
                event.prevent_default();
                event.stop_propagation();
            },
            div { class: "card-head",
                span { dir: "auto", "{heading}" }
                if let Some(until_ms) = pending.request.deadline_ms() {
                    Left { until_ms }
                }
            }
            p { class: "sentence", dir: "auto", "{words}" }
            if let Some(options) = options {
                if !options.is_empty() {
                    div { class: "many",
                        for (place, option) in options.iter().cloned().enumerate() {
                            button {
                                key: "{option}", class: "button", "data-testid": "interaction-option", dir: "auto", disabled: busy,
                                aria_keyshortcuts: "{place + 1}",
                                onclick: { let option = option.clone(); move |_| submit.call(option.clone()) },
                                "{option}" kbd { "{place + 1}" }
                            }
                        }
                    }
                }
                Answer { id: pending.interaction_id.clone(), text, submit, own: !options.is_empty() }
            }
            div { class: "many",
                match go {
                    Some(key) => rsx! {
                        button {
                            class: "button main-act", "data-testid": "interaction-done", disabled: busy, aria_keyshortcuts: "Y",
                            onclick: move |_| respond.call(InteractionResponse::Done {}),
                            {store.t(key)} kbd { "Y" }
                        }
                    },
                    None => rsx! {
                        button {
                            class: "button main-act", "data-testid": "interaction-submit", disabled: busy || text.read().trim().is_empty(),
                            onclick: move |_| submit.call(text.peek().clone()),
                            {store.t(Key::InteractSubmit)} kbd { "⏎" }
                        }
                    },
                }
                button {
                    class: "button", "data-testid": "interaction-decline", disabled: busy, aria_keyshortcuts: "N",
                    onclick: move |_| respond.call(InteractionResponse::Decline { note: None }),
                    {store.t(Key::InteractDecline)} kbd { "N" }
                }
                button {
                    class: "button risky", "data-testid": "interaction-stop", disabled: busy, aria_keyshortcuts: "Escape",
                    onclick: move |_| respond.call(InteractionResponse::Cancel {}),
                    {store.t(Key::InteractStop)} kbd { "Esc" }
                }
            }
        }
    }
}

/// Where the user answers in their own words. Its keys are text, but for Enter, which sends, and Escape, which is the
/// card's.
#[component]
fn Answer(id: InteractionId, text: Signal<String>, submit: Callback<String>, own: bool) -> Element {
    let mut store = use_context::<Store>();
    let label = store.t(if own { Key::InteractAnswerOwn } else { Key::InteractAnswer });
    rsx! {
        input {
            class: "input", "data-testid": "interaction-input", dir: "auto", aria_label: label, placeholder: label,
            maxlength: ANSWER_CHARS_MAX, value: "{text}",
            oninput: move |event| {
                text.set(event.value());
                put(&mut store.answer, Some((id.clone(), event.value())));
            },
            onkeydown: move |event| {
                if is_composing(&event) {
                    return;
                }
                match pressed(&event) {
                    Pressed::Escape => {}
                    Pressed::Enter => {
                        event.prevent_default();
                        event.stop_propagation();
                        submit.call(text.peek().clone());
                    }
                    Pressed::Letter(_) | Pressed::Other => event.stop_propagation(),
                }
            },
        }
    }
}

/// How long the wait goes on: counted down when it is hours, else the moment of its end.
#[component]
fn Left(until_ms: u64) -> Element {
    let store = use_context::<Store>();
    let time = use_local_time()();
    let text = if until_ms.saturating_sub(time.now_ms) < COUNTED_MS_MAX {
        shell::say(&store, Key::InteractLeft, &[("time", &time_left(until_ms, time.now_ms))])
    } else {
        shell::say(&store, Key::InteractUntil, &[("time", &time.moment(until_ms))])
    };
    rsx! { span { role: "timer", "{text}" } }
}

/// What was awaited and what came of it, once the wait has ended.
#[component]
pub fn WaitNotice(item: Signal<ItemState>) -> Element {
    let store = use_context::<Store>();
    let item = item.read();
    let end = item.details.as_ref().and_then(|details| details.end.as_ref());
    let (Some(request), Some(end)) = (item.meta.interaction.as_ref(), end) else { return rsx! {} };
    let text = wait_end(*store.language.read(), request, end);
    rsx! {
        div { class: "notice", "data-testid": "wait-end", role: "note",
            Icon { shape: if end.is_good() { Shape::Check } else { Shape::Clock } }
            span { dir: "auto", "{text}" }
        }
    }
}
