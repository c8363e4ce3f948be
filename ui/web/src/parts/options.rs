//! The options: models, permissions, general, your data, about.

use dioxus::prelude::*;
use panelot_protocol::ids::ConnectionId;
use panelot_protocol::settings::{
    Budgets, ConnectionView, Language, PermissionRule, RuleEffect, SettingsPatch, Theme,
};
use panelot_protocol::turn::ModelRef;
use panelot_ui::connect_form::ConnectForm;
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;
use panelot_ui::limits_form;

use super::composer::POLICIES;
use super::connect::{Connect, FIRST_ID};
use super::data::Data;
use super::icons::{Icon, Shape};
use super::status::{EngineNotices, Over, Reconnecting, TroubleBar};
use crate::chrome::{clock, permissions, runtime, tabs};
use crate::store::Store;
use crate::{focus, page, shell};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Models,
    Permissions,
    General,
    Data,
    About,
}

const SECTIONS: [(Section, Key, &str); 5] = [
    (Section::Models, Key::SectionModels, "nav-models"),
    (Section::Permissions, Key::SectionPermissions, "nav-permissions"),
    (Section::General, Key::SectionGeneral, "nav-general"),
    (Section::Data, Key::SectionData, "nav-data"),
    (Section::About, Key::SectionAbout, "nav-about"),
];

fn change(patch: SettingsPatch) {
    shell::intend(Intent::Settings(Box::new(patch)));
}

/// The options page.
#[component]
pub fn Options() -> Element {
    let store = use_context::<Store>();
    let mut section = use_signal(|| Section::Models);
    use_effect(move || page::set_title(store.t(Key::OptionsTitle)));
    rsx! {
        div { class: "options", "data-testid": "options",
            nav { aria_label: store.t(Key::OptionsTitle),
                h1 { {store.t(Key::OptionsTitle)} }
                for (this, key, test) in SECTIONS {
                    button {
                        key: "{test}", "data-testid": test, aria_current: if section() == this { "page" } else { "false" },
                        onclick: move |_| section.set(this),
                        {store.t(key)}
                    }
                }
            }
            main { id: focus::MAIN_ID, tabindex: "-1",
                if store.link.read().is_over() {
                    Over {}
                }
                Reconnecting {}
                EngineNotices {}
                TroubleBar {}
                match section() {
                    Section::Models => rsx! { Models {} },
                    Section::Permissions => rsx! { Permissions {} },
                    Section::General => rsx! { General {} },
                    Section::Data => rsx! { Data {} },
                    Section::About => rsx! { About {} },
                }
            }
        }
    }
}

/// What the models' section does.
#[derive(Clone, PartialEq)]
enum Doing {
    Listing,
    Editing(Box<ConnectForm>),
    Deleting(ConnectionId),
}

/// Id of the button that adds a connection.
const ADD_ID: &str = "conn-add";

/// Ids of a row's controls.
fn row_id(control: &str, id: &ConnectionId) -> String {
    format!("{control}-{id}")
}

#[component]
fn Models() -> Element {
    let store = use_context::<Store>();
    let mut doing = use_signal(|| Doing::Listing);
    let settings = store.settings.read();
    let Some(settings) = settings.as_ref() else { return rsx! {} };
    if let Doing::Editing(form) = doing() {
        let title = match &form.stored {
            Some(stored) => shell::say(&store, Key::ConnEdit, &[("name", &stored.name)]),
            None => store.t(Key::ConnAdd).to_owned(),
        };
        let first = settings.default_model.is_none();
        let back = form
            .stored
            .as_ref()
            .map_or_else(|| ADD_ID.to_owned(), |stored| row_id("edit", &stored.connection_id));
        let close = move || {
            doing.set(Doing::Listing);
            focus::soon([back.clone()]);
        };
        return rsx! {
            section {
                h2 { "{title}" }
                Connect { initial: *form, make_default: first, done: { let mut close = close.clone(); move |()| close() } }
                button { class: "link", style: "align-self: flex-start", onclick: { let mut close = close.clone(); move |_| close() }, {store.t(Key::Cancel)} }
            }
        };
    }
    let empty = settings.connections.is_empty();
    let used = settings.default_model.clone();
    rsx! {
        section {
            h2 { {store.t(Key::SectionModels)} }
            p { class: "lead", {store.t(Key::ModelsText)} }
            if empty {
                p { class: "quiet", {store.t(Key::ConnEmpty)} }
            } else {
                ul { class: "rows",
                    for connection in settings.connections.iter() {
                        ConnectionRow { key: "{connection.connection_id}", connection: connection.clone(), used: used.clone(), doing }
                    }
                }
            }
            button {
                class: "button main-act", style: "align-self: flex-start", id: ADD_ID, "data-testid": "conn-add",
                onclick: move |_| {
                    let form = ConnectForm::new(ConnectionId::new(clock::uuid()), *store.language.peek());
                    doing.set(Doing::Editing(Box::new(form)));
                    focus::soon([FIRST_ID.to_owned()]);
                },
                Icon { shape: Shape::Plus, size: 14 }
                {store.t(Key::ConnAdd)}
            }
        }
    }
}

#[component]
fn ConnectionRow(connection: ConnectionView, used: Option<ModelRef>, doing: Signal<Doing>) -> Element {
    let store = use_context::<Store>();
    let id = connection.connection_id.clone();
    let [edit_id, delete_id, keep_id] = ["edit", "delete", "keep"].map(|control| row_id(control, &id));
    let names = [("name", connection.name.as_str())];
    if doing() == Doing::Deleting(id.clone()) {
        return rsx! {
            li { "data-testid": "conn-row",
                span { class: "grow", {shell::say(&store, Key::ConnDeleteQuestion, &names)} }
                button {
                    class: "button risky", "data-testid": "conn-delete-confirm",
                    onclick: move |_| {
                        change(SettingsPatch::RemoveConnection { connection_id: id.clone() });
                        doing.set(Doing::Listing);
                        focus::soon([ADD_ID.to_owned()]);
                    },
                    {store.t(Key::Delete)}
                }
                button {
                    class: "button", id: "{keep_id}", "data-testid": "conn-keep",
                    onclick: move |_| {
                        doing.set(Doing::Listing);
                        focus::soon([delete_id.clone()]);
                    },
                    {store.t(Key::Keep)}
                }
            }
        };
    }
    let chosen = used.filter(|model| model.connection_id == id);
    let first_model = connection.models.first().map(|entry| entry.model.clone());
    let shown_model =
        chosen.as_ref().or(first_model.as_ref()).map(|model| model.model_id.clone()).unwrap_or_default();
    let edit_label = shell::say(&store, Key::ConnEdit, &names);
    let delete_label = shell::say(&store, Key::ConnDelete, &names);
    let form = ConnectForm::edit(&connection, &shown_model);
    let pattern = form.host_pattern();
    let host = form.host().map(|(host, _)| host).unwrap_or_default();
    rsx! {
        li { "data-testid": "conn-row", "data-connection": "{id}",
            div { class: "grow",
                b { dir: "auto", "{connection.name}" }
                div { class: "sub", dir: "ltr", "{shown_model} · {connection.base_url}" }
                if chosen.is_some() {
                    div { class: "saved", {store.t(Key::ConnDefault)} }
                }
                if let Some(pattern) = pattern {
                    HostAccess { pattern, host: host.clone() }
                }
            }
            if chosen.is_none() {
                if let Some(model) = first_model {
                    button { class: "button", "data-testid": "conn-use", onclick: move |_| change(SettingsPatch::DefaultModel { model: Some(model.clone()) }), {store.t(Key::ConnUse)} }
                }
            }
            button {
                class: "icon", id: "{edit_id}", "data-testid": "conn-edit", aria_label: "{edit_label}", title: "{edit_label}",
                onclick: move |_| {
                    doing.set(Doing::Editing(Box::new(form.clone())));
                    focus::soon([FIRST_ID.to_owned()]);
                },
                Icon { shape: Shape::Pencil }
            }
            button {
                class: "icon", id: "{delete_id}", "data-testid": "conn-delete", aria_label: "{delete_label}", title: "{delete_label}",
                onclick: move |_| {
                    doing.set(Doing::Deleting(id.clone()));
                    focus::soon([keep_id.clone()]);
                },
                Icon { shape: Shape::Bin }
            }
        }
    }
}

/// Says when Chrome does not let the extension reach a host, and asks for it.
#[component]
fn HostAccess(pattern: String, host: String) -> Element {
    let store = use_context::<Store>();
    let mut granted = use_signal(|| true);
    let known = pattern.clone();
    use_future(move || {
        let known = known.clone();
        async move { granted.set(permissions::contains(&known).await) }
    });
    if granted() {
        return rsx! {};
    }
    rsx! {
        div { class: "sub",
            {shell::say(&store, Key::ConnNoAccess, &[("host", &host)])}
            " "
            button {
                class: "link", "data-testid": "conn-allow",
                onclick: move |_| {
                    let asked = permissions::request(&pattern);
                    async move { granted.set(asked.await) }
                },
                {store.t(Key::ConnAllowHost)}
            }
        }
    }
}

#[component]
fn Permissions() -> Element {
    let store = use_context::<Store>();
    let settings = store.settings.read();
    let Some(settings) = settings.as_ref() else { return rsx! {} };
    let chosen = settings.permission_policy;
    rsx! {
        section {
            h2 { {store.t(Key::SectionPermissions)} }
            p { class: "lead", {store.t(Key::PermissionsText)} }
            fieldset { class: "choices",
                legend { class: "sr", {store.t(Key::Policy)} }
                for (place, (policy, name, hint)) in POLICIES.iter().enumerate() {
                    label { key: "{place}", class: "choice",
                        input {
                            r#type: "radio", name: "policy", "data-testid": "policy-choice", value: "{place}", checked: *policy == chosen,
                            onchange: move |_| change(SettingsPatch::Policy { policy: *policy }),
                        }
                        span { {store.t(*name)} }
                        small { {store.t(*hint)} }
                    }
                }
            }
            h3 { {store.t(Key::RulesTitle)} }
            if settings.rules.is_empty() {
                p { class: "lead", {store.t(Key::RulesEmpty)} }
            } else {
                ul { class: "rows",
                    for rule in settings.rules.iter() {
                        Rule { key: "{rule.rule_id}", rule: rule.clone() }
                    }
                }
            }
        }
    }
}

#[component]
fn Rule(rule: PermissionRule) -> Element {
    let store = use_context::<Store>();
    let effect = match rule.effect {
        RuleEffect::Allow => Key::RuleAllow,
        RuleEffect::Ask => Key::RuleAsk,
        RuleEffect::Deny => Key::RuleDeny,
    };
    let subject = if rule.subject == "*" { store.t(Key::EveryTool) } else { &rule.subject };
    let origin = if rule.origin == "*" { store.t(Key::EverySite) } else { &rule.origin };
    let names = [("subject", subject), ("origin", origin)];
    let line = shell::say(&store, Key::RuleLine, &names);
    let label = shell::say(&store, Key::RuleRemove, &names);
    let rule_id = rule.rule_id.clone();
    rsx! {
        li { "data-testid": "rule-row",
            span { class: "chip", {store.t(effect)} }
            span { class: "grow", dir: "auto", "{line}" }
            button {
                class: "icon", "data-testid": "rule-remove", aria_label: "{label}", title: "{label}",
                onclick: move |_| change(SettingsPatch::RemoveRule { rule_id: rule_id.clone() }),
                Icon { shape: Shape::Bin }
            }
        }
    }
}

/// What is used before the user is asked.
#[component]
fn Limits() -> Element {
    let store = use_context::<Store>();
    let mut wrong = use_signal(|| [None::<Key>, None::<Key>]);
    // Both limits are stored together: what was asked for and has not come back yet is part of the next change.
    let mut asked = use_signal(|| None::<Budgets>);
    use_effect(move || {
        let _came = store.settings.read();
        asked.set(None);
    });
    let mut set = move |with: &dyn Fn(Budgets) -> Budgets| {
        let stored = store.settings.peek().as_ref().map(|settings| settings.budgets).unwrap_or_default();
        let budgets = with(asked.peek().unwrap_or(stored));
        asked.set(Some(budgets));
        change(SettingsPatch::Budgets { budgets });
    };
    let settings = store.settings.read();
    let Some(settings) = settings.as_ref() else { return rsx! {} };
    let [tokens, cost] = limits_form::texts(&settings.budgets);
    let names = limits_form::without_price(settings).join(", ");
    let [tokens_wrong, cost_wrong] = wrong();
    rsx! {
        h3 { {store.t(Key::LimitsTitle)} }
        p { class: "lead", {store.t(Key::LimitsText)} }
        div { class: "field",
            label { r#for: "limit-tokens", {store.t(Key::LimitTokens)} }
            input {
                class: "input", id: "limit-tokens", "data-testid": "limit-tokens", inputmode: "numeric", value: "{tokens}",
                aria_invalid: tokens_wrong.is_some(), aria_describedby: "limit-tokens-wrong",
                onchange: move |event| {
                    let read = limits_form::read_tokens(&event.value());
                    wrong.with_mut(|[tokens, _]| *tokens = read.err());
                    if let Ok(turn_tokens) = read {
                        set(&|budgets| Budgets { turn_tokens, ..budgets });
                    }
                },
            }
            small { id: "limit-tokens-wrong", role: "status", if let Some(key) = tokens_wrong { {store.t(key)} } }
        }
        div { class: "field",
            label { r#for: "limit-cost", {store.t(Key::LimitCost)} }
            input {
                class: "input", id: "limit-cost", "data-testid": "limit-cost", inputmode: "decimal", value: "{cost}",
                aria_invalid: cost_wrong.is_some(), aria_describedby: "limit-cost-wrong limit-no-price",
                onchange: move |event| {
                    let read = limits_form::read_cost(&event.value());
                    wrong.with_mut(|[_, cost]| *cost = read.err());
                    if let Ok(thread_cost_usd) = read {
                        set(&|budgets| Budgets { thread_cost_usd, ..budgets });
                    }
                },
            }
            small { id: "limit-cost-wrong", role: "status", if let Some(key) = cost_wrong { {store.t(key)} } }
            small { id: "limit-no-price", "data-testid": "limit-no-price",
                if !names.is_empty() {
                    {shell::say(&store, Key::LimitNoPrice, &[("names", &names)])}
                }
            }
        }
    }
}

#[component]
fn General() -> Element {
    let store = use_context::<Store>();
    let settings = store.settings.read();
    let Some(settings) = settings.as_ref() else { return rsx! {} };
    let languages = [
        ("browser", None, Key::LanguageBrowser),
        ("en", Some(Language::English), Key::LanguageEnglish),
        ("zh-CN", Some(Language::Chinese), Key::LanguageChinese),
    ];
    let themes = [
        ("system", Theme::System, Key::ThemeSystem),
        ("light", Theme::Light, Key::ThemeLight),
        ("dark", Theme::Dark, Key::ThemeDark),
    ];
    rsx! {
        section { class: "form",
            h2 { {store.t(Key::SectionGeneral)} }
            div { class: "field",
                label { r#for: "language", {store.t(Key::Language)} }
                select {
                    class: "input", id: "language", "data-testid": "language",
                    onchange: move |event| {
                        if let Some((_, language, _)) = languages.iter().find(|(value, ..)| *value == event.value()) {
                            change(SettingsPatch::Language { language: *language });
                        }
                    },
                    for (value, language, name) in languages {
                        option { key: "{value}", value, selected: language == settings.language, {store.t(name)} }
                    }
                }
            }
            div { class: "field",
                label { r#for: "theme", {store.t(Key::Theme)} }
                select {
                    class: "input", id: "theme", "data-testid": "theme",
                    onchange: move |event| {
                        if let Some((_, theme, _)) = themes.iter().find(|(value, ..)| *value == event.value()) {
                            change(SettingsPatch::Theme { theme: *theme });
                        }
                    },
                    for (value, theme, name) in themes {
                        option { key: "{value}", value, selected: theme == settings.theme, {store.t(name)} }
                    }
                }
            }
            Limits {}
        }
    }
}

#[component]
fn About() -> Element {
    let store = use_context::<Store>();
    rsx! {
        section {
            h2 { "Panelot" }
            p { class: "lead", {store.t(Key::AboutText)} }
            dl { class: "facts",
                dt { {store.t(Key::AboutVersion)} }
                dd { "data-testid": "about-version", {runtime::version()} }
                dt { {store.t(Key::AboutProtocol)} }
                dd { {panelot_protocol::ENGINE_PROTOCOL} }
                dt { {store.t(Key::AboutHash)} }
                dd { "data-testid": "about-hash", {panelot_protocol::ENGINE_SCHEMA_HASH} }
                dt { {store.t(Key::AboutContentProtocol)} }
                dd { {panelot_protocol::CONTENT_PROTOCOL} }
                dt { {store.t(Key::AboutHash)} }
                dd { {panelot_protocol::CONTENT_SCRIPT_SCHEMA_HASH} }
            }
            button { class: "button", style: "align-self: flex-start", onclick: move |_| tabs::open("chat.html"), {store.t(Key::OpenChat)} }
        }
    }
}
