//! The options' section about the user's data: a file of everything, and a file that comes back.

use std::rc::Rc;

use dioxus::prelude::*;
use panelot_protocol::event::{LeftOut, LeftOutKind};
use panelot_protocol::limits;
use panelot_protocol::op::ImportMode;
use panelot_ui::format::size;
use panelot_ui::i18n::Key;
use panelot_ui::intents::Intent;
use panelot_ui::transfer::{Transfer, fits_an_import};

use crate::chrome::clock;
use crate::chrome::files::{self, Chosen, Offer};
use crate::store::Store;
use crate::{focus, shell};

/// Id of the link that saves an export.
const SAVE_ID: &str = "export-save";
/// Id of the input that takes a file.
const FILE_ID: &str = "import-file";
/// Id of the button that begins an import.
const START_ID: &str = "import-start";
/// Id of what an import led to.
const OUTCOME_ID: &str = "import-outcome";

const MODES: [(ImportMode, &str, Key, Key); 2] = [
    (ImportMode::Merge, "merge", Key::ImportMerge, Key::ImportMergeHint),
    (ImportMode::Replace, "replace", Key::ImportReplace, Key::ImportReplaceHint),
];

/// The section.
#[component]
pub fn Data() -> Element {
    let store = use_context::<Store>();
    rsx! {
        section {
            h2 { {store.t(Key::SectionData)} }
            p { class: "lead", {store.t(Key::DataText)} }
            Export {}
            Import {}
        }
    }
}

#[component]
fn Export() -> Element {
    let store = use_context::<Store>();
    let mut with_attachments = use_signal(|| false);
    let transfer = store.transfer.read();
    let is_busy = matches!(*transfer, Transfer::Exporting { .. } | Transfer::Importing { .. });
    rsx! {
        h3 { {store.t(Key::ExportTitle)} }
        p { class: "lead", {store.t(Key::ExportText)} }
        label { class: "check",
            input {
                r#type: "checkbox", "data-testid": "export-attachments", checked: with_attachments(),
                onchange: move |event| with_attachments.set(event.checked()),
            }
            {store.t(Key::ExportAttachments)}
        }
        button {
            class: "button main-act", style: "align-self: flex-start", "data-testid": "export-start", disabled: is_busy,
            onclick: move |_| {
                shell::intend(Intent::Export { with_attachments: with_attachments() });
                focus::soon([SAVE_ID.to_owned()]);
            },
            {store.t(Key::ExportStart)}
        }
        match &*transfer {
            Transfer::Exporting { bytes } => rsx! {
                p { class: "quiet", role: "status", {shell::say(&store, Key::ExportRunning, &[("size", &size(wide(*bytes)))])} }
            },
            Transfer::Exported { bytes } => rsx! { Save { bytes: *bytes } },
            Transfer::None | Transfer::Importing { .. } | Transfer::Imported { .. } | Transfer::Refused { .. } => rsx! {},
        }
    }
}

/// The link that saves the export.
#[component]
fn Save(bytes: usize) -> Element {
    let store = use_context::<Store>();
    let offer =
        use_hook(|| Rc::new(shell::with_export(|text| Offer::of(text, "application/json")).flatten()));
    let Some(offer) = offer.as_ref() else { return rsx! {} };
    let name = format!("panelot-{}.json", clock::day());
    let size_text = size(wide(bytes));
    rsx! {
        a {
            class: "button", style: "align-self: flex-start", id: SAVE_ID, "data-testid": "export-save",
            href: "{offer.url()}", download: "{name}",
            {shell::say(&store, Key::ExportSave, &[("name", &name), ("size", &size_text)])}
        }
        if !fits_an_import(wide(bytes)) {
            p { class: "field", span { class: "wrong", {shell::say(&store, Key::ExportLarge, &[("size", &size(limits::IMPORT_BYTES_MAX))])} } }
        }
    }
}

/// A file that was chosen, or why it was not taken.
#[derive(Clone, PartialEq)]
enum File {
    None,
    Chosen(Chosen),
    Wrong(String),
}

#[component]
fn Import() -> Element {
    let store = use_context::<Store>();
    let mut file = use_signal(|| File::None);
    let mut mode = use_signal(|| ImportMode::Merge);
    let transfer = store.transfer.read();
    let is_busy = matches!(*transfer, Transfer::Exporting { .. } | Transfer::Importing { .. });
    let choose = move |_| {
        shell::intend(Intent::ForgetTransfer);
        file.set(match files::chosen(FILE_ID) {
            None => File::None,
            Some(chosen) if fits_an_import(chosen.bytes()) => File::Chosen(chosen),
            Some(chosen) => {
                let (found, limit) = (size(chosen.bytes()), size(limits::IMPORT_BYTES_MAX));
                File::Wrong(shell::say(&store, Key::ImportTooLarge, &[("size", &found), ("limit", &limit)]))
            }
        });
    };
    rsx! {
        h3 { {store.t(Key::ImportTitle)} }
        p { class: "lead", {store.t(Key::ImportText)} }
        div { class: "field",
            label { r#for: FILE_ID, {store.t(Key::ImportFile)} }
            input {
                class: "input", r#type: "file", accept: ".json,application/json", id: FILE_ID, "data-testid": "import-file",
                disabled: is_busy, onchange: choose,
            }
            if let File::Wrong(sentence) = file() {
                span { class: "wrong", role: "alert", "data-testid": "import-wrong", "{sentence}" }
            }
        }
        fieldset { class: "choices", disabled: is_busy,
            legend { class: "sr", {store.t(Key::ImportMode)} }
            for (this, value, name, hint) in MODES {
                label { key: "{value}", class: "choice",
                    input {
                        r#type: "radio", name: "import-mode", "data-testid": "import-mode", value, checked: mode() == this,
                        onchange: move |_| mode.set(this),
                    }
                    span { {store.t(name)} }
                    small { {store.t(hint)} }
                }
            }
        }
        if let File::Chosen(chosen) = file() {
            Start { key: "{mode():?} {chosen.name()}", chosen, mode: mode(), is_busy, failed: move |sentence| file.set(File::Wrong(sentence)) }
        }
        Outcome { transfer: transfer.clone() }
    }
}

/// The button that begins an import; it says what will be gone, and asks once more before everything is.
#[component]
fn Start(chosen: Chosen, mode: ImportMode, is_busy: bool, failed: EventHandler<String>) -> Element {
    let store = use_context::<Store>();
    let mut sure = use_signal(|| mode == ImportMode::Merge);
    let (key, class) = match (mode, sure()) {
        (ImportMode::Merge, _) => (Key::ImportStart, "button main-act"),
        (ImportMode::Replace, false) => (Key::ImportStartReplace, "button risky"),
        (ImportMode::Replace, true) => (Key::ImportSureReplace, "button risky"),
    };
    let label = shell::say(&store, key, &[("name", &chosen.name())]);
    rsx! {
        button {
            class, style: "align-self: flex-start", id: START_ID, "data-testid": "import-start", disabled: is_busy,
            onclick: move |_| {
                let chosen = chosen.clone();
                let was_sure = sure();
                // The next import of this form is asked about again.
                sure.set(mode == ImportMode::Merge || !was_sure);
                async move {
                    if !was_sure {
                        return;
                    }
                    match chosen.text().await {
                        Some(text) => {
                            shell::intend(Intent::Import { text, mode });
                            focus::soon([OUTCOME_ID.to_owned()]);
                        }
                        None => failed.call(store.t(Key::ImportUnreadable).to_owned()),
                    }
                }
            },
            "{label}"
        }
    }
}

/// What an import does, or led to.
#[component]
fn Outcome(transfer: Transfer) -> Element {
    let store = use_context::<Store>();
    match transfer {
        Transfer::None | Transfer::Exporting { .. } | Transfer::Exported { .. } => rsx! {},
        Transfer::Importing { part, total } => {
            let (part, total) = (part.to_string(), total.to_string());
            rsx! { p { class: "quiet", role: "status", {shell::say(&store, Key::ImportRunning, &[("part", &part), ("total", &total)])} } }
        }
        Transfer::Imported { threads, left_out } => rsx! {
            div { id: OUTCOME_ID, tabindex: "-1", role: "status", "data-testid": "import-done",
                p { class: "saved", {shell::say(&store, Key::ImportDone, &[("count", &threads.to_string())])} }
                if !left_out.is_empty() {
                    p { {store.t(Key::ImportLeftOut)} }
                    ul { class: "rows",
                        for (place, left) in left_out.iter().enumerate() {
                            li { key: "{place}", "data-testid": "import-left-out", dir: "auto", {left_text(&store, left)} }
                        }
                    }
                }
            }
        },
        Transfer::Refused { problems } => rsx! {
            div { id: OUTCOME_ID, tabindex: "-1", role: "alert", "data-testid": "import-refused",
                p { {store.t(Key::ImportRefused)} }
                ul { class: "rows",
                    for (place, problem) in problems.iter().enumerate() {
                        li { key: "{place}", "data-testid": "import-problem", dir: "ltr", "{problem}" }
                    }
                }
            }
        },
    }
}

fn left_text(store: &Store, left: &LeftOut) -> String {
    let key = match left.kind {
        LeftOutKind::Connection => Key::LeftConnection,
        LeftOutKind::Preset => Key::LeftPreset,
        LeftOutKind::Rule => Key::LeftRule,
        LeftOutKind::ThreadPreset => Key::LeftThreadPreset,
        LeftOutKind::Settings => Key::LeftSettings,
    };
    shell::say(store, key, &[("name", &left.name)])
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
