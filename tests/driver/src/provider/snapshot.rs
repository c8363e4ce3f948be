//! Reads the nodes with refs out of the text of a tool result.

/// What stands between two options of a list.
const OPTION_SEPARATOR: &str = " | ";

/// A line of a snapshot, such as `- textbox "Name" [required] [ref=f1e3]: "Ada"`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotNode {
    /// The role.
    pub role: String,
    /// The accessible name; empty when the line has none.
    pub name: String,
    /// The ref, without brackets; empty when the line has none.
    pub reference: String,
    /// The other texts in brackets.
    pub states: Vec<String>,
    /// What stands behind a colon: the value or the text.
    pub value: String,
    /// The options of a native list.
    pub options: Vec<String>,
    /// The indentation in characters, which gives the tree.
    pub indent: usize,
}

impl SnapshotNode {
    /// Whether a state is set, with or without a value behind `=`.
    #[must_use]
    pub fn is(&self, state: &str) -> bool {
        self.states
            .iter()
            .any(|one| one == state || one.split_once('=').is_some_and(|(name, _)| name == state))
    }
}

/// All nodes with a ref in a text, in its order. Lines that are no nodes are passed over.
#[must_use]
pub fn snapshot_nodes(text: &str) -> Vec<SnapshotNode> {
    let mut nodes = snapshot_lines(text);
    nodes.retain(|node| !node.reference.is_empty());
    nodes
}

/// All nodes in a text, also those that cannot be acted on.
#[must_use]
pub fn snapshot_lines(text: &str) -> Vec<SnapshotNode> {
    text.lines().filter_map(parse_line).collect()
}

/// Reads one line; `None` when it is no node. A mark before the dash (a diff has some) is passed over.
fn parse_line(line: &str) -> Option<SnapshotNode> {
    let (before, rest) = line.split_once("- ")?;
    if !before.chars().all(|mark| mark.is_whitespace() || matches!(mark, '+' | '~' | '>')) {
        return None;
    }
    let rest = rest.trim_start();
    let role_end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (role, mut rest) = rest.split_at_checked(role_end)?;
    if role.is_empty() {
        return None;
    }
    rest = rest.trim_start();
    let mut node =
        SnapshotNode { role: role.to_owned(), indent: before.chars().count(), ..Default::default() };
    if rest.starts_with('"') {
        (node.name, rest) = quoted(rest)?;
    }
    while let Some(inner) = rest.trim_start().strip_prefix('[') {
        let (state, after) = inner.split_once(']')?;
        match state.strip_prefix("ref=") {
            Some(found) => node.reference = found.to_owned(),
            None => node.states.push(state.to_owned()),
        }
        rest = after;
    }
    if let Some((value, after)) = labelled(rest, ":") {
        (node.value, rest) = (value, after);
    }
    if let Some((options, _)) = labelled(rest, "options:") {
        node.options = options.split(OPTION_SEPARATOR).map(str::to_owned).collect();
    }
    Some(node)
}

/// Takes a label and the text behind it off the front: a quoted one, or else the rest of the line.
fn labelled<'a>(text: &'a str, label: &str) -> Option<(String, &'a str)> {
    let rest = text.trim_start().strip_prefix(label)?.trim();
    if rest.starts_with('"') { quoted(rest) } else { Some((rest.to_owned(), "")) }
}

/// Takes a quoted text with backslash escapes off the front.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut characters = text.char_indices().skip(1);
    let mut plain = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((plain, text.get(at + 1..)?)),
            '\\' => plain.push(characters.next()?.1),
            other => plain.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(role: &str, name: &str, reference: &str) -> SnapshotNode {
        SnapshotNode {
            role: role.into(),
            name: name.into(),
            reference: reference.into(),
            ..Default::default()
        }
    }

    #[test]
    fn nodes_with_refs_are_found_among_other_lines() {
        let text = r#"
<page origin="http://x">
- heading "Order" [level=1]
- textbox "Your \"nick\" name" [required] [ref=a1]: Ada
  + - combobox "Size" [ref=a2] [url=/x]: "M \"1\"" options: "S | M \"1\""
- combobox "Empty" [ref=a5] options: "One"
not - button "x" [ref=a3]
- - button "gone" [ref=a6]
- button [ref=a4]
"#;
        let expected = [
            SnapshotNode {
                states: vec!["required".into()],
                value: "Ada".into(),
                ..node("textbox", "Your \"nick\" name", "a1")
            },
            SnapshotNode {
                states: vec!["url=/x".into()],
                value: "M \"1\"".into(),
                options: vec!["S".into(), "M \"1\"".into()],
                indent: 4,
                ..node("combobox", "Size", "a2")
            },
            SnapshotNode { options: vec!["One".into()], ..node("combobox", "Empty", "a5") },
            node("button", "", "a4"),
        ];
        assert_eq!(snapshot_nodes(text), expected);
    }

    #[test]
    fn an_unended_name_gives_no_node() {
        assert_eq!(snapshot_nodes("- button \"open [ref=a1]"), []);
    }
}
