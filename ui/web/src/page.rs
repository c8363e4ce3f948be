//! The document that the wasm runs in: which page it is, what it remembers, and its root element.

use std::cell::{Cell, RefCell};

use panelot_protocol::ids::ThreadId;
use panelot_protocol::settings::{Language, Theme};
use panelot_ui::i18n::tag;
use wasm_bindgen::prelude::*;

use crate::chrome::{clock, locks, session_storage, tabs};

/// The three pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Beside a tab.
    SidePanel,
    /// A tab of its own.
    Chat,
    /// The settings.
    Options,
}

/// Key of the client's id in the page's own session storage: a reloaded page is the same client.
const CLIENT_KEY: &str = "client";
/// Key of the last death of the engine that was put away.
const RESTART_KEY: &str = "restart-seen";
thread_local! {
    /// Pixels from the top of what is in view to the end, to be restored with the next change of size.
    static HELD_PX: Cell<Option<i32>> = const { Cell::new(None) };
    /// Key of the thread that the side panel of this window showed last; known once the page has asked Chrome.
    static SHOWN_KEY: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn window() -> Option<web_sys::Window> {
    web_sys::window()
}

fn document() -> Option<web_sys::Document> {
    window()?.document()
}

fn root() -> Option<web_sys::HtmlElement> {
    document()?.document_element()?.dyn_into().ok()
}

/// Which page this is.
#[must_use]
pub fn kind() -> Kind {
    let name = document().and_then(|document| document.body()).and_then(|body| body.dataset().get("page"));
    match name.as_deref() {
        Some("sidepanel") => Kind::SidePanel,
        Some("options") => Kind::Options,
        _ => Kind::Chat,
    }
}

/// Whether messages are written here.
#[must_use]
pub fn has_composer() -> bool {
    kind() != Kind::Options
}

/// The page's id as a client, the same after a reload. A duplicated tab brings its original's; then it is another.
pub async fn client_id() -> String {
    let storage = window().and_then(|window| window.session_storage().ok().flatten());
    if let Some(known) = storage.as_ref().and_then(|storage| storage.get_item(CLIENT_KEY).ok().flatten())
        && locks::hold(&client_lock(&known)).await
    {
        return known;
    }
    let fresh = clock::uuid();
    locks::hold(&client_lock(&fresh)).await;
    if let Some(storage) = storage {
        // Without storage a reloaded page is a new client, and the next page adopts its outbox.
        let _ = storage.set_item(CLIENT_KEY, &fresh);
    }
    fresh
}

/// The lock that a client's page holds while it lives.
#[must_use]
pub fn client_lock(client_id: &str) -> String {
    format!("panelot-client:{client_id}")
}

/// The thread to begin with: the address names it, or a side panel showed it last.
pub async fn first_thread() -> Option<ThreadId> {
    let search = window()?.location().search().ok()?;
    let named = web_sys::UrlSearchParams::new_with_str(&search).ok()?.get("thread");
    let id = match (named, kind()) {
        (Some(id), Kind::SidePanel | Kind::Chat) => Some(id),
        (None, Kind::SidePanel) => {
            let key = format!("shown:{}", tabs::window_id().await.unwrap_or_default());
            let shown = session_storage::get(&key).await;
            SHOWN_KEY.set(Some(key));
            shown
        }
        (_, Kind::Options) | (None, Kind::Chat) => None,
    };
    id.filter(|id| !id.is_empty()).map(ThreadId::new)
}

/// Remembers which thread is shown: in the address of a chat page, for the browser's session in a side panel.
pub fn remember_thread(thread_id: Option<&ThreadId>) {
    match kind() {
        Kind::Chat => {
            let Some(history) = window().and_then(|window| window.history().ok()) else { return };
            let url = match thread_id {
                Some(id) => format!("?thread={}", js_sys::encode_uri_component(id.as_str())),
                None => "chat.html".to_owned(),
            };
            // A refused address change leaves the old address; nothing depends on it.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&url));
        }
        Kind::SidePanel => SHOWN_KEY.with_borrow(|key| {
            if let Some(key) = key {
                session_storage::put(key, thread_id.map_or("", ThreadId::as_str));
            }
        }),
        Kind::Options => {}
    }
}

/// Key of a thread's draft, or of the next new thread's, in the browser's session storage.
#[must_use]
pub fn draft_key(thread_id: Option<&ThreadId>) -> String {
    format!("draft:{}", thread_id.map_or("new", ThreadId::as_str))
}

/// Puts a text before a draft that is not shown.
pub async fn add_to_draft(thread_id: Option<ThreadId>, text: String) {
    let key = draft_key(thread_id.as_ref());
    let written = session_storage::get(&key).await.unwrap_or_default();
    session_storage::put(&key, &joined(&text, &written));
}

/// A text that comes back, before what was written meanwhile.
#[must_use]
pub fn joined(back: &str, written: &str) -> String {
    if written.trim().is_empty() || written == back {
        back.to_owned()
    } else {
        format!("{back}\n\n{written}")
    }
}

/// Whether a death of the engine was shown and put away in this page.
#[must_use]
pub fn has_seen_restart(at_ms: u64) -> bool {
    let storage = window().and_then(|window| window.session_storage().ok().flatten());
    let seen = storage.and_then(|storage| storage.get_item(RESTART_KEY).ok().flatten());
    seen.is_some_and(|seen| seen == at_ms.to_string())
}

/// Remembers that a death of the engine was put away in this page.
pub fn see_restart(at_ms: u64) {
    if let Some(storage) = window().and_then(|window| window.session_storage().ok().flatten()) {
        // Without storage a reloaded page shows it once more.
        let _ = storage.set_item(RESTART_KEY, &at_ms.to_string());
    }
}

/// Loads this page anew.
pub fn reload() {
    if let Some(window) = window() {
        // A page that cannot be loaded anew stays as it is, with its words.
        let _ = window.location().reload();
    }
}

/// Tells that the page can be used.
pub fn mark_ready() {
    if let Some(root) = root() {
        let _ = root.dataset().set("ready", "1");
    }
}

/// Whether the page is painted.
#[must_use]
pub fn is_visible() -> bool {
    document().is_none_or(|document| document.visibility_state() == web_sys::VisibilityState::Visible)
}

/// The browser's languages, most wanted first.
#[must_use]
pub fn browser_languages() -> Vec<String> {
    window()
        .map(|window| window.navigator().languages().iter().filter_map(|tag| tag.as_string()).collect())
        .unwrap_or_default()
}

fn local_storage() -> Option<web_sys::Storage> {
    window()?.local_storage().ok().flatten()
}

/// A mirror of the chosen theme, for the first paint of the next page.
pub fn apply_theme(theme: Theme) {
    let name = match theme {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    };
    if let Some(root) = root() {
        match name {
            Some(name) => {
                let _ = root.dataset().set("theme", name);
            }
            None => root.dataset().delete("theme"),
        }
    }
    mirror("theme", name);
}

/// A mirror of the chosen language, for the first paint of the next page.
pub fn remember_language(language: Option<Language>) {
    mirror("language", language.map(tag));
}

/// The mirrored language, when one was chosen.
#[must_use]
pub fn remembered_language() -> Option<Language> {
    let name = local_storage()?.get_item("language").ok()??;
    [Language::English, Language::Chinese].into_iter().find(|language| tag(*language) == name)
}

fn mirror(key: &str, value: Option<&str>) {
    let Some(storage) = local_storage() else { return };
    // The mirror is a convenience; the settings are with the engine.
    let _ = match value {
        Some(value) => storage.set_item(key, value),
        None => storage.remove_item(key),
    };
}

/// Sets the document's language.
pub fn set_language(language: Language) {
    if let Some(root) = root() {
        root.set_lang(tag(language));
    }
}

/// Sets the document's title.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// An element by its id.
#[must_use]
pub fn element(id: &str) -> Option<web_sys::HtmlElement> {
    document()?.get_element_by_id(id)?.dyn_into().ok()
}

/// Puts the focus on an element.
pub fn focus(id: &str) {
    if let Some(element) = element(id) {
        let _ = element.focus();
    }
}

/// Puts the focus on an element unless something has it.
pub fn focus_if_free(id: &str) {
    if focused().is_none() {
        focus(id);
    }
}

/// The element that has the focus, unless that is the body, which means none.
#[must_use]
pub fn focused() -> Option<web_sys::HtmlElement> {
    let element = document()?.active_element().filter(|element| element.tag_name() != "BODY")?;
    element.dyn_into().ok()
}

/// All elements that a selector names, in the document's order.
#[must_use]
pub fn all(selector: &str) -> Vec<web_sys::Element> {
    let found = document().and_then(|document| document.query_selector_all(selector).ok());
    let found = found.map(|list| (0..list.length()).filter_map(|at| list.get(at)?.dyn_into().ok()).collect());
    found.unwrap_or_default()
}

/// Whether a point is in view at the end of a scrolled element, within a few lines.
#[must_use]
pub fn is_at_end(element: &web_sys::HtmlElement) -> bool {
    element.scroll_height() - element.scroll_top() - element.client_height() < 48
}

/// Keeps what is in view of a scrolled element where it is when something is put before it.
pub fn hold_place(id: &str) {
    if let Some(element) = element(id) {
        HELD_PX.set(Some(element.scroll_height() - element.scroll_top()));
    }
}

/// Keeps an element's end in view while what is in it, or it itself, changes its size and `follows` says so.
pub fn keep_end(outer: &str, inner: &str, follows: impl Fn() -> bool + 'static) {
    let (Some(outer), Some(inner)) = (element(outer), element(inner)) else { return };
    let scrolled = outer.clone();
    let resized = Closure::<dyn FnMut()>::new(move || {
        if let Some(below) = HELD_PX.take() {
            scrolled.set_scroll_top(scrolled.scroll_height() - below);
        } else if follows() {
            scrolled.set_scroll_top(scrolled.scroll_height());
        }
    })
    .into_js_value();
    if let Ok(observer) = web_sys::ResizeObserver::new(resized.unchecked_ref()) {
        observer.observe(&inner);
        observer.observe(&outer);
    }
}
