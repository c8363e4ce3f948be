//! What the extension's database holds, read past the engine, beside what a page shows.

use anyhow::{Context, Result, ensure};
use panelot_driver::browser::Page;
use panelot_engine::store::records::{Record, StoredNode, StoredThread};
use panelot_engine::store::snapshot::items_of;
use panelot_protocol::ids::NodeId;
use panelot_protocol::item::{ItemKind, ItemStatus, ItemView, NoticeKind};
use serde::Deserialize;
use serde_json::json;

use crate::DATABASE;

/// All records of one table; `page` is any page of the extension.
///
/// # Errors
/// When the browser refuses, or a row is no such record.
pub async fn records<T: Record>(page: &Page) -> Result<Vec<T>> {
    let read = "(database, table) => new Promise((resolve, reject) => {
        const opening = indexedDB.open(database);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
            const all = opening.result.transaction(table).objectStore(table).getAll();
            all.onsuccess = () => { opening.result.close(); resolve(all.result.map((row) => row.b)); };
            all.onerror = () => reject(all.error);
        };
    })";
    let bodies: Vec<String> = page.call(read, &[json!(DATABASE), json!(T::TABLE.name())]).await?;
    let record = |body: &String| panelot_protocol::from_json::from_text(body);
    let records = bodies.iter().map(record).collect::<Result<Vec<T>, _>>();
    records.with_context(|| format!("a row of {}", T::TABLE.name()))
}

/// The nodes of a thread's shown path, its root first.
///
/// # Errors
/// When a node of the path is not there.
pub fn path(thread: &StoredThread, nodes: &[StoredNode]) -> Result<Vec<StoredNode>> {
    let mut path = Vec::new();
    let mut next: Option<NodeId> = thread.leaf_id.clone();
    while let Some(id) = next.take() {
        let node = nodes.iter().find(|node| node.id == id);
        let node = node.with_context(|| format!("the node {id} of the path is not stored"))?;
        next.clone_from(&node.parent_id);
        path.push(node.clone());
        ensure!(path.len() <= nodes.len(), "the path runs in a circle");
    }
    path.reverse();
    Ok(path)
}

/// One line of a conversation: what is shown of an item.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ShownLine {
    /// The element's test name, for example `message-user`.
    pub kind: String,
    /// `running`, `done` or `failed`; empty where there is none.
    pub status: String,
    /// The text of a message, the tool of a call; empty for notices, whose words are the page's own.
    pub text: String,
}

/// What a page has to show of stored nodes. Texts must be plain: Markdown stands here as it was written.
#[must_use]
pub fn lines(path: &[StoredNode]) -> Vec<ShownLine> {
    let items = items_of(path);
    let before = std::iter::once(None).chain(items.iter().map(Some));
    items.iter().zip(before).filter_map(|(item, before)| line(item, before)).collect()
}

fn line(item: &ItemView, before: Option<&ItemView>) -> Option<ShownLine> {
    let status = match item.status {
        ItemStatus::Running => "running",
        ItemStatus::Done => "done",
        ItemStatus::Failed => "failed",
    };
    let (kind, status, text) = match item.kind {
        ItemKind::UserMessage => {
            let input = item.meta.input.as_ref();
            ("message-user", "", input.map(|input| input.text.clone()).unwrap_or_default())
        }
        ItemKind::AssistantMessage => ("message-assistant", status, item.text.trim().to_owned()),
        ItemKind::ToolCall => ("tool-row", status, item.meta.tool_name.clone().unwrap_or_default()),
        ItemKind::SystemNotice => {
            let cut =
                before.and_then(|before| before.details.as_ref()).is_some_and(|details| details.partial);
            if cut && item.meta.notice == Some(NoticeKind::IncompleteAnswer) {
                // The answer before it says so itself.
                return None;
            }
            ("notice", "", String::new())
        }
        ItemKind::Reasoning | ItemKind::Approval | ItemKind::Interaction => return None,
    };
    Some(ShownLine { kind: kind.to_owned(), status: status.to_owned(), text })
}

/// What a page shows, as [`lines`] has it. Earlier messages that the page has not asked for are not in it.
///
/// # Errors
/// When the page is gone.
pub async fn shown(page: &Page) -> Result<Vec<ShownLine>> {
    let read = "() => {
        const words = (element) => {
            const copy = element.cloneNode(true);
            copy.querySelectorAll('.acts, .partial, .meant').forEach((part) => part.remove());
            return copy.textContent.trim();
        };
        const text = { 'message-user': words, 'message-assistant': words, 'tool-row': (e) => e.dataset.tool, notice: () => '' };
        const names = Object.keys(text).map((name) => `[data-testid=${name}]`).join();
        return [...document.querySelectorAll(names)].map((element) => ({
            kind: element.dataset.testid, status: element.dataset.status ?? '', text: text[element.dataset.testid](element),
        }));
    }";
    page.call(read, &[]).await
}
