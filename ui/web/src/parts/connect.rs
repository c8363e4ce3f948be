//! The form for a connection, shared by the first run and the options.

use dioxus::prelude::*;
use panelot_protocol::ids::SubmissionId;
use panelot_protocol::settings::SettingsPatch;
use panelot_ui::connect_form::{Complaint, ConnectForm, Field, choices};
use panelot_ui::i18n::{Key, pieces};
use panelot_ui::intents::Intent;

use crate::chrome::permissions;
use crate::store::Store;
use crate::{focus, shell};

/// Id of the form's first field.
pub const FIRST_ID: &str = "conn-template";

/// Id of a field's input.
const fn id_of(field: Field) -> &'static str {
    match field {
        Field::Name => "conn-name",
        Field::Url => "conn-url",
        Field::Key => "conn-key",
        Field::Model => "conn-model",
        Field::FirstByte => "conn-first-byte",
        Field::Silence => "conn-silence",
    }
}

/// The form. `done` is called once the engine has stored the connection.
#[component]
pub fn Connect(initial: ConnectForm, make_default: bool, done: EventHandler<()>) -> Element {
    let store = use_context::<Store>();
    let form = use_signal(|| initial.clone());
    let mut complaints = use_signal(Vec::<Complaint>::new);
    let mut waiting = use_signal(Vec::<SubmissionId>::new);
    let mut stored = use_signal(|| false);
    let mut denied = use_signal(|| None::<String>);

    use_effect(move || {
        let saved = store.saved.read();
        let answer =
            waiting.peek().first().and_then(|first| saved.iter().find(|(id, _)| id == first).cloned());
        if let Some((_, well)) = answer {
            waiting.set(Vec::new());
            if well {
                stored.set(true);
                done.call(());
            }
        }
    });
    let save = use_callback(move |()| {
        if !waiting.peek().is_empty() {
            return;
        }
        stored.set(false);
        let checked = match form.peek().check() {
            Ok(checked) => checked,
            Err(wrong) => {
                if let Some(first) = wrong.first() {
                    focus::soon([id_of(first.field).to_owned()]);
                }
                complaints.set(wrong);
                return;
            }
        };
        complaints.set(Vec::new());
        // Asked in the click itself; saving does not wait for the answer, which may never come.
        let asked = permissions::request(&checked.host_pattern);
        let host = form.peek().host().map(|(host, _)| host).unwrap_or_default();
        spawn(async move {
            let granted = asked.await;
            denied.set((!granted).then_some(host));
        });
        let patch = SettingsPatch::PutConnection { connection: checked.connection };
        let mut said = shell::intend(Intent::Settings(Box::new(patch)));
        if make_default {
            let patch = SettingsPatch::DefaultModel { model: Some(checked.model) };
            said.extend(shell::intend(Intent::Settings(Box::new(patch))));
        }
        waiting.set(said);
    });
    let busy = !waiting.read().is_empty();
    rsx! {
        form {
            class: "form", novalidate: true,
            onsubmit: move |event| {
                event.prevent_default();
                save.call(());
            },
            Fields { form, complaints }
            Consent { form }
            div { class: "row",
                button { r#type: "submit", class: "button main-act", "data-testid": "conn-save", aria_disabled: busy, {store.t(if busy { Key::ConnSaving } else { Key::ConnSave })} }
                if stored() {
                    span { class: "saved", "data-testid": "conn-saved", role: "status", {store.t(Key::ConnSaved)} }
                }
            }
            if let Some(host) = denied() {
                p { class: "hint", "data-testid": "conn-denied", {shell::say(&store, Key::ConnPermissionDenied, &[("host", &host)])} }
            }
        }
    }
}

#[component]
fn Fields(form: Signal<ConnectForm>, complaints: Signal<Vec<Complaint>>) -> Element {
    let store = use_context::<Store>();
    let language = *store.language.read();
    // What is cleared while it is edited stays in view.
    let set_before = use_hook(|| !form.peek().first_byte.is_empty() || !form.peek().silence.is_empty());
    let shown = form.read();
    let key_hint = if shown.keeps_key() {
        Some(Key::ConnKeyStored)
    } else if shown.key_optional() {
        Some(Key::ConnKeyNone)
    } else {
        None
    };
    rsx! {
        div { class: "field",
            label { r#for: FIRST_ID, {store.t(Key::ConnTemplate)} }
            select {
                class: "input", id: FIRST_ID, "data-testid": "conn-template",
                onchange: move |event| {
                    form.with_mut(|form| form.choose(&event.value(), language));
                },
                for template in choices() {
                    option { key: "{template.id}", value: "{template.id}", selected: template.id == shown.template.id, {template.name.text(language)} }
                }
            }
        }
        Line { field: Field::Name, label: Key::ConnName, value: shown.name.clone(), complaints, kind: "text",
            change: move |value| form.with_mut(|form| form.name = value) }
        Line { field: Field::Url, label: Key::ConnUrl, value: shown.base_url.clone(), complaints, kind: "url",
            change: move |value| form.with_mut(|form| form.base_url = value) }
        Line { field: Field::Key, label: Key::ConnKey, hint: key_hint, value: shown.key.clone(), complaints, kind: "password",
            change: move |value| form.with_mut(|form| form.key = value) }
        Line { field: Field::Model, label: Key::ConnModel, hint: Some(Key::ConnModelHint), value: shown.model.clone(), complaints, kind: "text",
            change: move |value| form.with_mut(|form| form.choose_model(value)) }
        label { class: "check",
            input {
                r#type: "checkbox", "data-testid": "conn-vision", checked: shown.vision,
                onchange: move |event| {
                    let vision = event.checked();
                    form.with_mut(|form| {
                        form.vision = vision;
                        form.vision_chosen = true;
                    });
                },
            }
            {store.t(Key::ConnVision)}
        }
        // Who connects a first model is asked for no more than what it takes.
        if shown.stored.is_some() {
            details { class: "field", open: set_before || complaints.read().iter().any(is_of_patience),
                summary { "data-testid": "conn-patience", {store.t(Key::ConnPatience)} }
                Line { field: Field::FirstByte, label: Key::ConnFirstByte, hint: Some(Key::ConnFirstByteHint), value: shown.first_byte.clone(), complaints, kind: "text",
                    change: move |value| form.with_mut(|form| form.first_byte = value) }
                Line { field: Field::Silence, label: Key::ConnSilence, hint: Some(Key::ConnSilenceHint), value: shown.silence.clone(), complaints, kind: "text",
                    change: move |value| form.with_mut(|form| form.silence = value) }
            }
        }
    }
}

const fn is_of_patience(complaint: &Complaint) -> bool {
    matches!(complaint.field, Field::FirstByte | Field::Silence)
}

#[component]
fn Line(
    field: Field,
    label: Key,
    #[props(default)] hint: Option<Key>,
    value: String,
    complaints: Signal<Vec<Complaint>>,
    kind: &'static str,
    change: EventHandler<String>,
) -> Element {
    let store = use_context::<Store>();
    let wrong = complaints.read().iter().find(|complaint| complaint.field == field).cloned();
    let id = id_of(field);
    let described = format!("{id}-note");
    rsx! {
        div { class: "field",
            label { r#for: id, {store.t(label)} }
            input {
                class: "input", id, "data-testid": id, r#type: kind, dir: "ltr", autocomplete: "off", spellcheck: "false", maxlength: "8192",
                aria_invalid: wrong.is_some(), aria_describedby: "{described}", value: "{value}",
                oninput: move |event| change.call(event.value()),
            }
            div { id: "{described}",
                if let Some(wrong) = &wrong {
                    p { class: "wrong", "data-testid": "conn-error", role: "alert", {wrong.text(*store.language.read())} }
                } else if let Some(hint) = hint {
                    p { class: "hint", {store.t(hint)} }
                }
            }
        }
    }
}

/// Where everything will go, said before it does.
#[component]
fn Consent(form: Signal<ConnectForm>) -> Element {
    let store = use_context::<Store>();
    let language = *store.language.read();
    let Some((host, local)) = form.read().host() else { return rsx! {} };
    let key = if local { Key::ConnGoesLocal } else { Key::ConnGoesTo };
    rsx! {
        div { class: "field",
            p { class: "hint",
                for piece in pieces(language, key, &[("host", &host)]) {
                    if piece.strong {
                        b { "{piece.text}" }
                    } else {
                        "{piece.text}"
                    }
                }
            }
            p { class: "hint", {shell::say(&store, Key::ConnPermission, &[("host", &host)])} }
        }
    }
}
