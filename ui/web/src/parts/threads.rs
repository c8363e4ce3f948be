//! The list of threads: at the left on a wide page, sliding over the conversation on a narrow one.

use dioxus::prelude::*;
use panelot_protocol::ids::ThreadId;
use panelot_protocol::snapshot::ThreadListEntry;
use panelot_ui::i18n::Key;
use panelot_ui::intents::{Act, Intent};
use panelot_ui::status::activity;

use super::composer::INPUT_ID;
use super::icons::{Icon, Shape};
use super::keys::{Pressed, is_composing, pressed};
use super::status::mark_word;
use crate::chrome::clock;
use crate::store::{Store, put};
use crate::{focus, page, shell};

/// Id of the search field.
pub const SEARCH_ID: &str = "list-search";
/// Id of the button that opens the list on a narrow page.
pub const OPEN_ID: &str = "open-list";
/// How long after the last key the list is searched.
const SEARCH_SETTLE_MS: u64 = 200;

/// The list.
#[component]
pub fn Threads() -> Element {
    let mut store = use_context::<Store>();
    let mut query = use_signal(String::new);
    let open = *store.list_open.read();
    let groups = use_memo(move || grouped(&store.threads.read()));
    let empty = groups.read().is_empty();
    let close = use_callback(move |()| {
        // On a wide page the list stays, and so does the focus: the button is not shown there.
        if *store.list_open.peek() {
            store.list_open.set(false);
            focus::soon([OPEN_ID.to_owned()]);
        }
    });
    rsx! {
        if open {
            button { class: "scrim", tabindex: "-1", aria_label: store.t(Key::CloseList), onclick: move |_| close.call(()) }
        }
        nav {
            class: "drawer", "data-testid": "thread-list", "data-open": "{open}", aria_label: store.t(Key::Chats),
            onkeydown: move |event| {
                if pressed(&event) == Pressed::Escape {
                    close.call(());
                }
            },
            div { class: "list-head",
                h2 { {store.t(Key::Chats)} }
                button {
                    class: "icon only-narrow", "data-testid": "close-list", aria_label: store.t(Key::CloseList), title: store.t(Key::CloseList),
                    onclick: move |_| close.call(()),
                    Icon { shape: Shape::Cross }
                }
            }
            div { class: "search",
                input {
                    class: "input", r#type: "search", id: SEARCH_ID, "data-testid": "list-search", aria_label: store.t(Key::ListSearch), placeholder: store.t(Key::ListSearch),
                    maxlength: "512", value: "{query}",
                    oninput: move |event| {
                        query.set(event.value());
                        let asked = event.value();
                        spawn(async move {
                            clock::sleep_ms(SEARCH_SETTLE_MS).await;
                            if *query.peek() == asked {
                                shell::intend(Intent::Search(asked.trim().to_owned()));
                            }
                        });
                    },
                }
            }
            div { class: "threads",
                if empty {
                    p { class: "quiet", {store.t(if query.read().is_empty() { Key::ListEmpty } else { Key::ListNoMatch })} }
                }
                for (heading, entries) in groups.read().iter() {
                    section { key: "{heading:?}",
                        h3 { {store.t(*heading)} }
                        ul {
                            for entry in entries.iter() {
                                Thread { key: "{entry.thread.thread_id}", entry: entry.clone() }
                            }
                        }
                    }
                }
                if *store.more_threads.read() {
                    button { class: "link quiet", "data-testid": "more-threads", onclick: move |_| { shell::intend(Intent::MoreThreads); }, {store.t(Key::ListMore)} }
                }
            }
        }
    }
}

/// Ids of a row's controls.
fn row_id(control: &str, thread_id: &ThreadId) -> String {
    format!("{control}-{thread_id}")
}

/// The row that is next to one in the list: the one below it, or above the last.
fn neighbour(store: &Store, thread_id: &ThreadId) -> Option<ThreadId> {
    let shown: Vec<_> = grouped(&store.threads.peek()).into_iter().flat_map(|(_, entries)| entries).collect();
    let at = shown.iter().position(|entry| entry.thread.thread_id == *thread_id)?;
    let near = shown.get(at + 1).or_else(|| shown.get(at.checked_sub(1)?))?;
    Some(near.thread.thread_id.clone())
}

fn grouped(threads: &[ThreadListEntry]) -> Vec<(Key, Vec<ThreadListEntry>)> {
    let time = clock::local_time();
    let mut sorted: Vec<_> = threads.to_vec();
    sorted.sort_by_key(|entry| (!entry.thread.pinned, std::cmp::Reverse(entry.thread.updated_at_ms)));
    let mut groups: Vec<(Key, Vec<ThreadListEntry>)> = Vec::new();
    for entry in sorted {
        let heading =
            if entry.thread.pinned { Key::GroupPinned } else { time.group(entry.thread.updated_at_ms) };
        match groups.last_mut() {
            Some((last, entries)) if *last == heading => entries.push(entry),
            Some(_) | None => groups.push((heading, vec![entry])),
        }
    }
    groups
}

/// What a row is doing beside showing its thread.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Nothing,
    Renaming,
    Asking,
}

#[component]
fn Thread(entry: ThreadListEntry) -> Element {
    let mut store = use_context::<Store>();
    let mut doing = use_signal(|| Doing::Nothing);
    let thread_id = entry.thread.thread_id.clone();
    let current = {
        let thread_id = thread_id.clone();
        use_memo(move || store.thread_id.read().as_ref() == Some(&thread_id))
    };
    let title = if entry.thread.title.is_empty() {
        store.t(Key::Untitled).to_owned()
    } else {
        entry.thread.title.clone()
    };
    let act = {
        let thread_id = thread_id.clone();
        use_callback(move |act: Act| {
            shell::intend(Intent::OnThread(thread_id.clone(), act));
            doing.set(Doing::Nothing);
        })
    };
    let [rename_id, delete_id, keep_id, field_id] =
        ["rename", "delete", "keep", "rename-field"].map(|control| row_id(control, &thread_id));
    match doing() {
        Doing::Nothing => {}
        Doing::Renaming => {
            let close = move |()| {
                doing.set(Doing::Nothing);
                focus::soon([rename_id.clone()]);
            };
            return rsx! { Renaming { title: entry.thread.title.clone(), field_id, act, close } };
        }
        Doing::Asking => {
            return rsx! { Asking { title, thread_id, keep_id, delete_id, act, close: move |()| doing.set(Doing::Nothing) } };
        }
    }
    let word = activity(entry.activity);
    let opened = thread_id.clone();
    let pinned = entry.thread.pinned;
    rsx! {
        li { class: "thread", "data-testid": "thread-row", "data-thread": "{thread_id}", "data-current": "{current}",
            button {
                class: "open", id: row_id("open", &thread_id), "data-testid": "thread-open", title: "{title}", aria_current: if current() { "true" } else { "false" },
                onclick: move |_| {
                    shell::intend(Intent::OpenThread(opened.clone()));
                    put(&mut store.list_open, false);
                    page::focus(INPUT_ID);
                },
                if let Some((_, mark)) = word {
                    i { class: "dot", "data-mark": mark_word(mark), "aria-hidden": "true" }
                }
                span {
                    span { class: "name", dir: "auto", "{title}" }
                    if let Some((key, mark)) = word {
                        small { class: "word", "data-mark": mark_word(mark), {store.t(key)} }
                    }
                }
            }
            span { class: "row-acts",
                button {
                    class: "icon small", id: row_id("pin", &thread_id), "data-testid": "thread-pin", aria_label: store.t(Key::GroupPinned), title: store.t(Key::GroupPinned), aria_pressed: pinned,
                    onclick: move |_| act.call(Act::Pin(!pinned)),
                    Icon { shape: Shape::Pin, size: 14 }
                }
                button {
                    class: "icon small", id: "{rename_id}", "data-testid": "thread-rename", aria_label: store.t(Key::Rename), title: store.t(Key::Rename),
                    onclick: move |_| {
                        doing.set(Doing::Renaming);
                        focus::soon([field_id.clone()]);
                    },
                    Icon { shape: Shape::Pencil, size: 14 }
                }
                button {
                    class: "icon small", id: "{delete_id}", "data-testid": "thread-delete", aria_label: store.t(Key::Delete), title: store.t(Key::Delete),
                    onclick: move |_| {
                        doing.set(Doing::Asking);
                        focus::soon([keep_id.clone()]);
                    },
                    Icon { shape: Shape::Bin, size: 14 }
                }
            }
        }
    }
}

#[component]
fn Asking(
    title: String,
    thread_id: ThreadId,
    keep_id: String,
    delete_id: String,
    act: Callback<Act>,
    close: EventHandler<()>,
) -> Element {
    let store = use_context::<Store>();
    let keep = use_callback(move |()| {
        close.call(());
        focus::soon([delete_id.clone()]);
    });
    let id = thread_id.clone();
    rsx! {
        li {
            class: "thread asking", "data-testid": "thread-row", "data-thread": "{thread_id}",
            onkeydown: move |event| {
                if pressed(&event) == Pressed::Escape {
                    event.stop_propagation();
                    keep.call(());
                }
            },
            span { b { dir: "auto", "{title}" } br {} {store.t(Key::DeleteQuestion)} }
            div {
                button {
                    class: "button risky", "data-testid": "delete-confirm",
                    onclick: move |_| {
                        let next = neighbour(&store, &id).map_or_else(|| INPUT_ID.to_owned(), |next| row_id("open", &next));
                        act.call(Act::Delete);
                        focus::soon([next, INPUT_ID.to_owned()]);
                    },
                    {store.t(Key::Delete)}
                }
                button { class: "button", id: "{keep_id}", "data-testid": "delete-keep", onclick: move |_| keep.call(()), {store.t(Key::Keep)} }
            }
        }
    }
}

#[component]
fn Renaming(title: String, field_id: String, act: Callback<Act>, close: EventHandler<()>) -> Element {
    let store = use_context::<Store>();
    let mut text = use_signal(|| title.clone());
    let save = use_callback(move |()| {
        let title = text.peek().trim().to_owned();
        if !title.is_empty() {
            act.call(Act::Rename(title));
        }
        close.call(());
    });
    rsx! {
        li { class: "thread asking", "data-testid": "thread-row",
            input {
                class: "input", id: "{field_id}", "data-testid": "rename-input", dir: "auto", aria_label: store.t(Key::RenameLabel), maxlength: "1024", value: "{text}",
                oninput: move |event| text.set(event.value()),
                onkeydown: move |event| {
                    if is_composing(&event) {
                        return;
                    }
                    match pressed(&event) {
                        Pressed::Enter => save.call(()),
                        Pressed::Escape => {
                            event.stop_propagation();
                            close.call(());
                        }
                        Pressed::Letter(_) | Pressed::Other => {}
                    }
                },
            }
            div {
                button { class: "button main-act", "data-testid": "rename-save", onclick: move |_| save.call(()), {store.t(Key::Save)} }
                button { class: "button", onclick: move |_| close.call(()), {store.t(Key::Cancel)} }
            }
        }
    }
}
