//! The one place where the pure machines meet the browser: it feeds them and runs what they answer.

use std::cell::RefCell;

use dioxus::prelude::*;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use panelot_protocol::event::{AgentEvent, ErrorCode};
use panelot_protocol::frame::EventFrame;
use panelot_protocol::ids::{ItemId, SubmissionId, ThreadId};
use panelot_protocol::item::ItemDelta;
use panelot_protocol::settings::Language;
use panelot_ui::connection::{Input, Link};
use panelot_ui::i18n::{Key, fill, language_of};
use panelot_ui::intents::Intent;
use panelot_ui::outgoing::Outgoing;
use panelot_ui::phrases;
use panelot_ui::session::{Change, Restarted, Session};
use panelot_ui::trouble::{Step, Trouble};
use wasm_bindgen_futures::spawn_local;

use crate::chrome::clock::{self, Page};
use crate::chrome::tabs;
use crate::line::{self, Line, Read, Said};
use crate::store::{Store, put};
use crate::{focus, page};

/// What comes from outside, in its order.
enum Incoming {
    /// Over the line to the engine.
    Line(line::Incoming),
    /// Another page may be in front.
    Tabs,
}

struct Shell {
    store: Store,
    session: Session,
    line: Line,
}

thread_local! {
    static SHELL: RefCell<Option<Shell>> = const { RefCell::new(None) };
}

/// Starts the shell; runs as long as the page does.
pub async fn run(store: Store) {
    let client_id = page::client_id().await;
    let (sender, receiver) = unbounded();
    let line_sender = sender.clone();
    let line = Line::new(&client_id, move |incoming| {
        let _ = line_sender.unbounded_send(Incoming::Line(incoming));
    })
    .await;
    let mut shell = Shell { store, session: Session::default(), line };
    shell.session.remember(shell.line.messages());
    if let Some(thread_id) = page::first_thread().await {
        shell.intend(Intent::OpenThread(thread_id));
    }
    shell.feed(Input::Start);
    SHELL.set(Some(shell));
    if page::has_composer() {
        let changed = sender.clone();
        tabs::watch(move || {
            let _ = changed.unbounded_send(Incoming::Tabs);
        });
        let _ = sender.unbounded_send(Incoming::Tabs);
    }
    page::mark_ready();
    spawn_local(line::adopt_orphans(client_id));
    pump(receiver).await;
}

/// Does what the user asked for. The submissions of the Ops that it led to come back.
pub fn intend(intent: Intent) -> Vec<SubmissionId> {
    with(|shell| shell.intend(intent)).unwrap_or_default()
}

fn with<T>(act: impl FnOnce(&mut Shell) -> T) -> Option<T> {
    SHELL.with(|shell| shell.try_borrow_mut().ok()?.as_mut().map(act))
}

/// Takes in what comes, at most once per frame.
async fn pump(mut receiver: UnboundedReceiver<Incoming>) {
    while let Some(first) = receiver.next().await {
        if page::is_visible() {
            clock::next_frame().await;
        }
        let mut look_at_tabs = false;
        with(|shell| {
            let mut frame = Frame::default();
            shell.take(first, &mut frame);
            while let Ok(next) = receiver.try_recv() {
                shell.take(next, &mut frame);
            }
            look_at_tabs = frame.tabs;
            shell.settle(frame);
        });
        if look_at_tabs {
            let tab = tabs::in_front().await;
            with(|shell| put(&mut shell.store.tab, tab));
        }
    }
}

/// What one frame has touched and settles at its end.
#[derive(Default)]
struct Frame {
    /// What items grew by, in order, neighbours of the same item merged: one write of a signal for each.
    grown: Vec<(ItemId, ItemDelta)>,
    rows: bool,
    around: bool,
    threads: bool,
    tabs: bool,
}

impl Frame {
    fn grow(&mut self, item_id: ItemId, delta: ItemDelta) {
        let Some((_, known)) = self.grown.last_mut().filter(|(last, _)| *last == item_id) else {
            self.grown.push((item_id, delta));
            return;
        };
        for (sum, more) in [(&mut known.text, delta.text), (&mut known.reasoning, delta.reasoning)] {
            match (sum.as_mut(), more) {
                (Some(sum), Some(more)) => sum.push_str(&more),
                (None, more) => *sum = more,
                (Some(_), None) => {}
            }
        }
        if delta.tool_progress.is_some() {
            known.tool_progress = delta.tool_progress;
        }
    }
}

impl Shell {
    fn take(&mut self, incoming: Incoming, frame: &mut Frame) {
        match incoming {
            Incoming::Line(incoming) => match self.line.read(incoming) {
                Some(Read::Frame(event)) => {
                    let changes = self.session.hear(&event, &mut Page);
                    self.feed(Input::Heard(Box::new(event.event)));
                    self.apply(changes, frame);
                }
                Some(Read::Unreadable(what)) => {
                    let trouble = Trouble::own(Key::ErrMismatch, &what, Step::Reload);
                    self.store.trouble.set(Some(trouble));
                }
                Some(Read::Input(input)) => self.feed(input),
                None => {}
            },
            Incoming::Tabs => frame.tabs = true,
        }
    }

    fn intend(&mut self, intent: Intent) -> Vec<SubmissionId> {
        // Whoever goes on has read what went wrong before.
        if matches!(
            intent,
            Intent::Send { .. } | Intent::InThread(_) | Intent::OpenThread(_) | Intent::NewThread
        ) {
            put(&mut self.store.trouble, None);
        }
        let changes = self.session.intend(intent, &mut Page);
        let said =
            changes
                .iter()
                .filter_map(|change| {
                    if let Change::Say(op) = change { Some(op.submission_id().clone()) } else { None }
                })
                .collect();
        let mut frame = Frame::default();
        self.apply(changes, &mut frame);
        self.settle(frame);
        said
    }

    fn apply(&mut self, changes: Vec<Change>, frame: &mut Frame) {
        for change in changes {
            match change {
                Change::Say(op) => self.feed(Input::Say(op)),
                Change::Begin(create, first) => self.feed(Input::Begin(create, first)),
                Change::Showing(thread_id) => self.show(thread_id),
                Change::Replaced => {
                    frame.grown.clear();
                    self.store.replace(&self.session);
                }
                Change::Started(item_id) => {
                    self.settle_grown(frame);
                    self.store.started(&self.session, &item_id);
                    frame.rows = true;
                }
                Change::Grown(item_id, delta) => frame.grow(item_id, delta),
                Change::Ended(item_id, result) => {
                    self.settle_grown(frame);
                    if let Some(mut item) = self.store.item(&item_id) {
                        item.with_mut(|item| item.end(result.as_ref()));
                    }
                }
                Change::Earlier => {
                    frame.rows = true;
                    frame.around = true;
                }
                Change::Around => frame.around = true,
                Change::Outgoing => put(&mut self.store.outgoing, self.session.outgoing()),
                Change::Threads => frame.threads = true,
                Change::Settings => {
                    self.store.sync_settings(&self.session);
                    self.sync_language();
                }
                Change::Restore(input) => self.store.restore.set(Some(input)),
                Change::Keep(thread_id, input) => spawn_local(page::add_to_draft(thread_id, input.text)),
                Change::Notices => {
                    let seen = |restarted: &Restarted| page::has_seen_restart(restarted.at_ms);
                    let mut notices = self.session.notices().clone();
                    notices.restarted = notices.restarted.filter(|restarted| !seen(restarted));
                    put(&mut self.store.notices, notices);
                }
                Change::Trouble(trouble) => self.store.trouble.set(Some(trouble)),
                Change::Saved(submission_id, well) => self.store.note_saved(submission_id, well),
                Change::Transfer => put(&mut self.store.transfer, self.session.transfer().shown()),
                Change::TurnEnded(reason) => {
                    let words = self.store.t(phrases::ending(reason)).to_owned();
                    self.store.announce(words);
                }
            }
        }
    }

    fn settle_grown(&mut self, frame: &mut Frame) {
        for (item_id, delta) in frame.grown.drain(..) {
            if let Some(mut item) = self.store.item(&item_id) {
                item.with_mut(|item| {
                    item.grow(&delta);
                    item.settle();
                });
            }
        }
    }

    fn settle(&mut self, mut frame: Frame) {
        focus::keep();
        self.settle_grown(&mut frame);
        if frame.rows {
            self.store.sync_rows(&self.session);
        }
        if frame.around {
            self.store.sync_around(&self.session);
        }
        if frame.threads {
            self.store.sync_threads(&self.session);
        }
    }

    fn show(&mut self, thread_id: Option<ThreadId>) {
        self.feed(Input::Show(thread_id.clone()));
        page::remember_thread(thread_id.as_ref());
        put(&mut self.store.following, true);
        self.store.sync_around(&self.session);
        put(&mut self.store.thread_id, thread_id);
    }

    /// The chosen language, or the browser's.
    fn sync_language(&mut self) {
        let Some(settings) = self.session.settings() else { return };
        let language = settings.language.unwrap_or_else(browser_language);
        page::apply_theme(settings.theme);
        if *self.store.language.peek() != language {
            self.store.language.set(language);
            self.store.sync_around(&self.session);
        }
        page::remember_language(settings.language);
        page::set_language(language);
    }

    fn feed(&mut self, input: Input) {
        for said in self.line.feed(input) {
            match said {
                Said::Link(link) => self.link(link),
                // Refused by this page itself, which is to the user what a refusal of the engine is.
                Said::Refused(op) => {
                    let refused = AgentEvent::CommandRejected {
                        submission_id: op.submission_id().clone(),
                        code: ErrorCode::Overloaded,
                        message: String::new(),
                        thread_id: op.thread_id().cloned(),
                        retryable: true,
                    };
                    let changes = self.session.hear(&EventFrame::outside(refused), &mut Page);
                    let mut frame = Frame::default();
                    self.apply(changes, &mut frame);
                    self.settle(frame);
                }
            }
        }
    }

    fn link(&mut self, link: Link) {
        put(&mut self.store.link, link);
    }
}

/// Gives a message back that another page sent and nobody takes.
pub fn give_back(sent: &Outgoing) {
    with(|shell| {
        let changes = shell.session.keep(sent);
        let mut frame = Frame::default();
        shell.apply(changes, &mut frame);
        shell.settle(frame);
    });
}

/// The language of the browser's preferences.
pub fn browser_language() -> Language {
    let tags = page::browser_languages();
    language_of(tags.iter().map(String::as_str))
}

/// A sentence in the page's language.
pub fn say(store: &Store, key: Key, names: &[(&str, &str)]) -> String {
    fill(*store.language.read(), key, names)
}

/// Shows the export that came in to a function; `None` when there is none.
pub fn with_export<T>(show: impl FnOnce(&str) -> T) -> Option<T> {
    with(|shell| shell.session.transfer().exported().map(show)).flatten()
}

/// The whole text of an item as it came.
pub fn text_of(item_id: &ItemId) -> Option<String> {
    with(|shell| {
        let thread = shell.session.thread()?;
        thread.items.iter().find(|item| item.item_id == *item_id).map(|item| item.text.clone())
    })
    .flatten()
}

/// What the user wrote for the turn that an item belongs to.
pub fn input_before(item_id: &ItemId) -> Option<panelot_protocol::turn::UserInput> {
    with(|shell| {
        let thread = shell.session.thread()?;
        let at = thread.items.iter().position(|item| item.item_id == *item_id)?;
        thread.items.iter().take(at + 1).rev().find_map(|item| item.meta.input.clone())
    })
    .flatten()
}

/// The newest message of the user, with its node.
pub fn last_input() -> Option<(panelot_protocol::ids::NodeId, panelot_protocol::turn::UserInput)> {
    with(|shell| {
        let thread = shell.session.thread()?;
        thread.items.iter().rev().find_map(|item| {
            let node = item.meta.node_id.clone().unwrap_or_else(|| (&item.item_id).into());
            Some((node, item.meta.input.clone()?))
        })
    })
    .flatten()
}
