//! What the page says about itself: the status line, failures, and the state of the connection.

use dioxus::prelude::*;
use panelot_ui::connection::Link;
use panelot_ui::format::{cost, tokens};
use panelot_ui::i18n::Key;
use panelot_ui::intents::{Act, Intent};
use panelot_ui::status::{Countdown, Mark};
use panelot_ui::trouble::Step;

use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::ticks::use_local_time;
use crate::chrome::{clipboard, runtime};
use crate::store::Store;
use crate::{focus, page, shell};

/// After this many attempts to connect, the line says that it takes long.
const ATTEMPTS_SLOW: u32 = 6;

/// The word for a mark in attributes.
#[must_use]
pub const fn mark_word(mark: Mark) -> &'static str {
    match mark {
        Mark::Working => "working",
        Mark::Waiting => "waiting",
        Mark::Asking => "asking",
    }
}

/// The one line above the composer.
#[component]
pub fn StatusLine() -> Element {
    let store = use_context::<Store>();
    let status = store.status.read();
    let spent = use_memo(move || {
        let around = store.around.read();
        let stats = &around.as_ref()?.meta.stats;
        if stats.usage.input == 0 && stats.usage.output == 0 {
            return None;
        }
        let (input, output) = (tokens(stats.usage.input), tokens(stats.usage.output));
        let used = shell::say(&store, Key::TokensUsed, &[("input", &input), ("output", &output)]);
        let price = cost(stats.cost_usd).unwrap_or_else(|| store.t(Key::CostUnknown).to_owned());
        Some((used, price))
    });
    let Some(status) = status.as_ref() else { return rsx! {} };
    rsx! {
        div { class: "status", "data-testid": "status-line", "data-mark": mark_word(status.mark), role: "status",
            i { class: "dot", "data-mark": mark_word(status.mark), "aria-hidden": "true" }
            match status.countdown {
                Some(countdown) => rsx! {
                    span { class: "sr", "{status.text}" }
                    Ticking { countdown }
                },
                None => rsx! { span { dir: "auto", "{status.text}" } },
            }
            if let Some((used, price)) = spent() {
                small { class: "use", title: "{used}", "{price}" }
            }
        }
    }
}

/// A wait whose end is known, by the second when it is near. Hidden from assistive technology, which would read it out
/// with each second; it is told of the wait once.
#[component]
fn Ticking(countdown: Countdown) -> Element {
    let store = use_context::<Store>();
    let time = use_local_time();
    let text = countdown.text(*store.language.read(), time());
    rsx! { span { "data-testid": "countdown", "aria-hidden": "true", dir: "auto", "{text}" } }
}

/// The last failure, with a next step.
#[component]
pub fn TroubleBar() -> Element {
    let mut store = use_context::<Store>();
    let trouble = store.trouble.read().clone();
    let Some(trouble) = trouble else { return rsx! {} };
    let text = trouble.text(*store.language.read());
    let step = trouble.step;
    let label = match step {
        Step::None => None,
        Step::OpenModels => Some(Key::OpenModels),
        Step::TryAgain => Some(Key::TryAgain),
        Step::Reload => Some(Key::ReloadButton),
    };
    rsx! {
        div { class: "trouble", "data-testid": "trouble", role: "alert",
            Icon { shape: Shape::Warning }
            div {
                span { dir: "auto", "{text}" }
                if let Some(label) = label {
                    button {
                        class: "link", "data-testid": "trouble-step",
                        onclick: move |_| {
                            take(step, &store);
                            store.trouble.set(None);
                            focus::soon([INPUT_ID.to_owned(), focus::MAIN_ID.to_owned()]);
                        },
                        {store.t(label)}
                    }
                }
            }
            button {
                class: "icon small", "data-testid": "trouble-dismiss", aria_label: store.t(Key::Dismiss), title: store.t(Key::Dismiss),
                onclick: move |_| {
                    store.trouble.set(None);
                    focus::soon([INPUT_ID.to_owned(), focus::MAIN_ID.to_owned()]);
                },
                Icon { shape: Shape::Cross, size: 14 }
            }
        }
    }
}

fn take(step: Step, store: &Store) {
    match step {
        Step::None => {}
        Step::OpenModels => runtime::open_options(),
        Step::Reload => runtime::reload(),
        Step::TryAgain => {
            let run = store
                .around
                .peek()
                .as_ref()
                .and_then(|a| a.recoverable.first().map(|run| run.run_id.clone()));
            if let Some(run_id) = run {
                shell::intend(Intent::InThread(Act::Resume(run_id)));
                return;
            }
            if let Some((node_id, input)) = shell::last_input() {
                shell::intend(Intent::InThread(Act::Fork { node_id, input: Box::new(input) }));
            }
        }
    }
}

/// While the connection is being made again.
#[component]
pub fn Reconnecting() -> Element {
    let store = use_context::<Store>();
    let key = match *store.link.read() {
        Link::Reconnecting { attempts } if attempts >= ATTEMPTS_SLOW => Key::StatusReconnectingSlow,
        // A worker that starts again is back before anybody has read a sentence about it.
        Link::Reconnecting { attempts } if attempts >= 2 => Key::StatusReconnecting,
        Link::Connecting | Link::Ready | Link::Reconnecting { .. } | Link::ReloadRequired | Link::Gone => {
            return rsx! {};
        }
    };
    rsx! {
        div { class: "status", "data-testid": "reconnecting", role: "status",
            Icon { shape: Shape::Spinner, size: 14 }
            span { style: "white-space: normal", {store.t(key)} }
        }
    }
}

/// What the engine says about itself: a fault that it came back from, and an update that waits.
#[component]
pub fn EngineNotices() -> Element {
    let mut store = use_context::<Store>();
    let mut copied = use_signal(|| false);
    let notices = store.notices.read().clone();
    rsx! {
        if let Some(restarted) = notices.restarted {
            div { class: "trouble", "data-testid": "restarted", role: "status",
                Icon { shape: Shape::Warning }
                div {
                    span { {store.t(Key::RestartedText)} }
                    button {
                        class: "link", "data-testid": "restarted-copy",
                        onclick: move |_| {
                            let report = restarted.report.clone();
                            async move { copied.set(clipboard::copy(&report).await) }
                        },
                        {store.t(Key::RestartedCopy)}
                    }
                    if copied() {
                        small { role: "status", {store.t(Key::RestartedCopied)} }
                    }
                }
                button {
                    class: "icon small", "data-testid": "restarted-dismiss", aria_label: store.t(Key::Dismiss), title: store.t(Key::Dismiss),
                    onclick: move |_| {
                        page::see_restart(restarted.at_ms);
                        store.notices.with_mut(|notices| notices.restarted = None);
                        focus::soon([INPUT_ID.to_owned(), focus::MAIN_ID.to_owned()]);
                    },
                    Icon { shape: Shape::Cross, size: 14 }
                }
            }
        }
        if notices.update_ready {
            div { class: "status", "data-testid": "update-ready", role: "status",
                span { style: "white-space: normal", {store.t(Key::UpdateReady)} }
                button { class: "link", "data-testid": "update-now", onclick: move |_| runtime::reload(), {store.t(Key::UpdateNow)} }
            }
        }
    }
}

/// Page and engine are of different builds, or the extension is no more.
#[component]
pub fn Over() -> Element {
    let store = use_context::<Store>();
    if *store.link.read() == Link::Gone {
        return rsx! {
            div { class: "card", "data-testid": "gone", role: "alert",
                b { {store.t(Key::GoneTitle)} }
                p { {store.t(Key::GoneText)} }
                button { class: "button main-act", "data-testid": "gone-reload", onclick: move |_| page::reload(), {store.t(Key::GoneButton)} }
            }
        };
    }
    rsx! {
        div { class: "card", "data-testid": "reload-required", role: "alert",
            b { {store.t(Key::ReloadTitle)} }
            p { {store.t(Key::ReloadText)} }
            button { class: "button main-act", "data-testid": "reload", onclick: move |_| runtime::reload(), {store.t(Key::ReloadButton)} }
        }
    }
}
