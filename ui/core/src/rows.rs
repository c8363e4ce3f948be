//! Which rows a list of items becomes: three tool calls or more in a row fold into one.

use panelot_protocol::ids::ItemId;
use panelot_protocol::item::{ItemKind, ItemStatus, ItemView, NoticeKind};

/// Tool calls in a row that become one foldable row.
pub const TOOL_GROUP_COUNT_MIN: usize = 3;

/// A row of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// One item.
    Item(ItemId),
    /// Tool calls in a row.
    Tools(Vec<ItemId>),
}

impl Row {
    /// A name that stays the same while the row grows.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Item(item_id) => item_id.as_str(),
            Self::Tools(items) => items.first().map_or("", ItemId::as_str),
        }
    }
}

/// The rows of a conversation. That an answer is incomplete is said on the answer itself where it was kept. A question about a tool call is shown on its call, so it is no row, and it does not
/// part the calls around it. The model's thoughts between two calls do, and so does a wait that has ended.
#[must_use]
pub fn rows(items: &[ItemView]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut tools: Vec<ItemId> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        if is_said_before(item, before) {
            continue;
        }
        match item.kind {
            ItemKind::ToolCall => tools.push(item.item_id.clone()),
            ItemKind::Approval => {}
            // While a wait is open it stands above the composer.
            ItemKind::Interaction if item.status == ItemStatus::Running => {}
            ItemKind::UserMessage
            | ItemKind::AssistantMessage
            | ItemKind::Reasoning
            | ItemKind::Interaction
            | ItemKind::SystemNotice => {
                close(&mut rows, &mut tools);
                rows.push(Row::Item(item.item_id.clone()));
            }
        }
    }
    close(&mut rows, &mut tools);
    rows
}

/// Whether an item only repeats what the row before says of itself.
fn is_said_before(item: &ItemView, before: Option<&ItemView>) -> bool {
    item.meta.notice == Some(NoticeKind::IncompleteAnswer)
        && before.is_some_and(|before| {
            before.turn_id == item.turn_id && before.details.as_ref().is_some_and(|details| details.partial)
        })
}

fn close(rows: &mut Vec<Row>, tools: &mut Vec<ItemId>) {
    if tools.len() >= TOOL_GROUP_COUNT_MIN {
        rows.push(Row::Tools(std::mem::take(tools)));
    } else {
        rows.extend(tools.drain(..).map(Row::Item));
    }
}

#[cfg(test)]
mod tests {
    use panelot_protocol::item::{ItemDetails, ItemMeta};

    use super::*;

    fn items(kinds: &[ItemKind]) -> Vec<ItemView> {
        kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| ItemView {
                item_id: ItemId::new(format!("i{at}")),
                turn_id: "t".into(),
                kind: *kind,
                meta: ItemMeta::default(),
                text: String::new(),
                tool_progress: None,
                status: ItemStatus::Done,
                details: None,
            })
            .collect()
    }

    fn item(at: usize) -> Row {
        Row::Item(ItemId::new(format!("i{at}")))
    }

    #[test]
    fn two_calls_stay_and_three_fold() {
        use ItemKind::{AssistantMessage, ToolCall};
        assert_eq!(
            rows(&items(&[ToolCall, ToolCall, AssistantMessage, ToolCall, ToolCall, ToolCall])),
            [item(0), item(1), item(2), Row::Tools(vec!["i3".into(), "i4".into(), "i5".into()])]
        );
    }

    #[test]
    fn a_question_does_not_part_the_calls_around_it() {
        use ItemKind::{Approval, ToolCall};
        assert_eq!(
            rows(&items(&[ToolCall, Approval, ToolCall, Approval, ToolCall])),
            [Row::Tools(vec!["i0".into(), "i2".into(), "i4".into()])]
        );
    }

    #[test]
    fn a_cut_answer_says_so_once() {
        use ItemKind::{AssistantMessage, SystemNotice};
        let mut items = items(&[AssistantMessage, SystemNotice, SystemNotice]);
        items[0].details = Some(ItemDetails { partial: true, ..ItemDetails::default() });
        items[1].meta.notice = Some(NoticeKind::IncompleteAnswer);
        items[2].meta.notice = Some(NoticeKind::IncompleteAnswer);
        assert_eq!(rows(&items), [item(0), item(2)]);
    }

    #[test]
    fn a_group_keeps_its_key_while_it_grows() {
        use ItemKind::ToolCall;
        let three = rows(&items(&[ToolCall; 3]));
        let four = rows(&items(&[ToolCall; 4]));
        assert_eq!(three[0].key(), four[0].key());
    }
}
