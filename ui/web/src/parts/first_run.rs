//! The first run: one form, and what it means.

use dioxus::prelude::*;
use panelot_protocol::ids::ConnectionId;
use panelot_ui::connect_form::ConnectForm;
use panelot_ui::i18n::Key;

use super::connect::Connect;
use crate::chrome::clock;
use crate::store::Store;

/// The form for the first connection.
#[component]
pub fn FirstRun() -> Element {
    let store = use_context::<Store>();
    let initial = use_hook(|| ConnectForm::new(ConnectionId::new(clock::uuid()), *store.language.peek()));
    rsx! {
        div { class: "empty", "data-testid": "firstrun",
            h2 { {store.t(Key::FirstRunTitle)} }
            p { {store.t(Key::FirstRunText)} }
            Connect { initial, make_default: true, done: |()| {} }
        }
    }
}
