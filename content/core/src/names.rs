//! Accessible names (AccName 1.2), computed over facts.

use crate::clean::clean;
use crate::facts::{Attr, Content, ElementFacts, NodeIndex, PageFacts, States};
use crate::privacy;
use crate::roles::{self, Role};

/// How deep a computation follows content; the page's own nesting can be of any depth.
const DEPTH_MAX: u32 = 64;
/// A name stops growing here, in bytes before cleaning.
const NAME_BYTES_MAX: usize = 4_096;

/// Computes names over one set of facts.
pub struct Names<'a> {
    facts: &'a PageFacts,
    roles: &'a [Role],
}

/// Why a subtree is being read; decides which rules apply (AccName 1.2 §4.3.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The element whose name is wanted.
    Name,
    /// Something that `aria-labelledby` names.
    Reference,
    /// Content of one of the others.
    Content,
    /// A native label.
    Label,
}

impl<'a> Names<'a> {
    /// Names over `facts`, whose roles are `roles`.
    #[must_use]
    pub fn new(facts: &'a PageFacts, roles: &'a [Role]) -> Names<'a> {
        Names { facts, roles }
    }

    /// The accessible name of an element, cleaned; empty if it has none.
    #[must_use]
    pub fn name(&self, index: NodeIndex) -> String {
        let Some(element) = self.facts.element(index) else { return String::new() };
        let role = roles::at(self.roles, index);
        if role.prohibits_name() && !element.states.has(States::POINTER) {
            return String::new();
        }
        let mut out = String::new();
        self.compute(index, Purpose::Name, 0, &mut out);
        clean(&out)
    }

    /// The text of an element's content as a name would read it, cleaned.
    #[must_use]
    pub fn content(&self, index: NodeIndex) -> String {
        let mut out = String::new();
        self.children(index, 0, &mut out);
        clean(&out)
    }

    fn compute(&self, index: NodeIndex, purpose: Purpose, depth: u32, out: &mut String) {
        if depth >= DEPTH_MAX || out.len() >= NAME_BYTES_MAX {
            return;
        }
        let Some(node) = self.facts.node(index) else { return };
        let element = match &node.content {
            Content::Text(text) => return out.push_str(text),
            Content::Element(element) => element,
        };
        // 2A: what is hidden counts only where something refers to it; copies of such subtrees say so.
        if purpose == Purpose::Content && element.attr_is_true(Attr::AriaHidden) {
            return;
        }
        let before = out.len();
        // 2B
        if purpose == Purpose::Name {
            for &reference in &element.labelled_by {
                out.push(' ');
                self.compute(reference, Purpose::Reference, depth + 1, out);
            }
            if has_text(out, before) {
                return;
            }
            out.truncate(before);
        }
        let role = roles::at(self.roles, index);
        // 2C: a control inside of a label stands for its value.
        let embedded = purpose != Purpose::Name;
        if embedded && self.embedded_value(index, element, role, purpose, depth, out) {
            return;
        }
        // 2D
        if let Some(label) = element.attr(Attr::AriaLabel).filter(|label| !label.trim().is_empty()) {
            return out.push_str(label);
        }
        // 2E
        if !(purpose == Purpose::Name && role == Role::None) {
            self.native(index, element, role, depth, out);
            if has_text(out, before) {
                return;
            }
            out.truncate(before);
        }
        // 2F, 2H
        if purpose != Purpose::Name || role.names_from_content() || element.states.has(States::POINTER) {
            push_pseudo(element.before.as_deref(), out);
            self.children(index, depth + 1, out);
            push_pseudo(element.after.as_deref(), out);
            if has_text(out, before) {
                return;
            }
            out.truncate(before);
        }
        // 2I
        if let Some(title) = element.attr(Attr::Title) {
            out.push_str(title);
        } else if purpose == Purpose::Name
            && let Some(placeholder) = placeholder(element)
        {
            out.push_str(placeholder);
        }
    }

    fn children(&self, index: NodeIndex, depth: u32, out: &mut String) {
        for child in self.facts.children(index) {
            if out.len() >= NAME_BYTES_MAX {
                return;
            }
            let apart = self.facts.element(child).is_some_and(|element| !is_inline(&element.tag));
            if apart {
                out.push(' ');
            }
            self.compute(child, Purpose::Content, depth, out);
            if apart {
                out.push(' ');
            }
        }
    }

    /// Step 2C; true when the element was answered for.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the standard's vocabulary only some roles matter here"
    )]
    fn embedded_value(
        &self,
        index: NodeIndex,
        element: &ElementFacts,
        role: Role,
        purpose: Purpose,
        depth: u32,
        out: &mut String,
    ) -> bool {
        if element.states.has(States::OWNER) {
            // The control that is being named says nothing about its own name.
            return true;
        }
        if privacy::is_secret(element) {
            return true;
        }
        let value = match role {
            Role::Textbox | Role::Searchbox => element.value.clone().unwrap_or_else(|| self.content(index)),
            Role::Combobox | Role::Listbox if !element.options.is_empty() => chosen(element),
            Role::Combobox | Role::Listbox => match &element.value {
                Some(value) => value.clone(),
                None => self.selected_option(index, depth),
            },
            Role::Slider | Role::SpinButton | Role::Scrollbar | Role::Meter | Role::ProgressBar => {
                range_value(element).unwrap_or_default().to_owned()
            }
            _ => return false,
        };
        if purpose == Purpose::Reference && value.trim().is_empty() {
            return false;
        }
        if purpose == Purpose::Reference
            && element.attr(Attr::AriaLabel).is_some_and(|label| !label.trim().is_empty())
        {
            return false;
        }
        out.push_str(&value);
        true
    }

    fn selected_option(&self, index: NodeIndex, depth: u32) -> String {
        let mut out = String::new();
        let mut stack: Vec<NodeIndex> = self.facts.children(index).collect();
        while let Some(next) = stack.pop() {
            let selected =
                self.facts.element(next).is_some_and(|option| option.attr_is_true(Attr::AriaSelected));
            if selected {
                self.compute(next, Purpose::Content, depth + 1, &mut out);
                break;
            }
            stack.extend(self.facts.children(next));
        }
        out
    }

    /// Step 2E: what the host language gives (HTML-AAM 1.0 §4.1).
    fn native(&self, index: NodeIndex, element: &ElementFacts, role: Role, depth: u32, out: &mut String) {
        let tag = element.tag.as_ref();
        if !element.labels.is_empty() {
            let before = out.len();
            for &label in &element.labels {
                out.push(' ');
                self.compute(label, Purpose::Label, depth + 1, out);
            }
            if has_text(out, before) {
                return;
            }
            out.truncate(before);
        }
        match tag {
            "img" | "area" => push(element.attr(Attr::Alt), out),
            "input" => match element.input_type().as_str() {
                "submit" => push(Some(element.value.as_deref().unwrap_or("Submit")), out),
                "reset" => push(Some(element.value.as_deref().unwrap_or("Reset")), out),
                "button" => push(element.value.as_deref(), out),
                "image" => push(element.attr(Attr::Alt).or(element.value.as_deref()), out),
                _ => {}
            },
            "fieldset" => self.child_text(index, "legend", depth, out),
            "figure" => self.child_text(index, "figcaption", depth, out),
            "table" => self.child_text(index, "caption", depth, out),
            "svg" => self.child_text(index, "title", depth, out),
            "details" if role == Role::Group => {}
            "optgroup" => push(element.attr(Attr::Label), out),
            "option" => push(element.attr(Attr::Label), out),
            _ => {}
        }
    }

    fn child_text(&self, index: NodeIndex, tag: &str, depth: u32, out: &mut String) {
        let child =
            self.facts.children(index).find(|&child| self.facts.element(child).is_some_and(|e| e.tag == tag));
        if let Some(child) = child {
            self.compute(child, Purpose::Label, depth + 1, out);
        }
    }
}

/// What the chosen options of a native `select` are called.
#[must_use]
pub fn chosen(element: &ElementFacts) -> String {
    let labels: Vec<String> =
        element.options.iter().filter(|option| option.selected).map(|option| clean(&option.label)).collect();
    labels.join(", ")
}

/// The value of a range: its text if the author gave one, else the number.
#[must_use]
pub fn range_value(element: &ElementFacts) -> Option<&str> {
    element
        .attr(Attr::AriaValueText)
        .filter(|text| !text.trim().is_empty())
        .or(element.attr(Attr::AriaValueNow))
        .or(element.value.as_deref())
}

/// Elements that flow with the text around them, so that no space separates them from it.
#[must_use]
pub fn is_inline(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "slot"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tspan"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}

fn placeholder(element: &ElementFacts) -> Option<&str> {
    element
        .attr(Attr::Placeholder)
        .filter(|_| matches!(element.tag.as_ref(), "input" | "textarea"))
        .or(element.attr(Attr::AriaPlaceholder))
}

fn push(text: Option<&str>, out: &mut String) {
    out.push_str(text.unwrap_or_default());
}

fn push_pseudo(text: Option<&str>, out: &mut String) {
    push(text, out);
}

fn has_text(out: &str, from: usize) -> bool {
    out.get(from..).is_some_and(|added| !added.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::page;

    #[track_caller]
    fn check(markup: &str, expected: &str) {
        let (facts, marked) = page(markup);
        let roles = roles::roles(&facts);
        assert_eq!(Names::new(&facts, &roles).name(marked), expected, "{markup}");
    }

    #[test]
    fn labelledby_joins_its_references_in_order_and_wins() {
        check(
            "<span id=a>Delete</span><span id=b>file</span>\
             <button data-x aria-label=no aria-labelledby='b a'>x</button>",
            "file Delete",
        );
    }

    #[test]
    fn labelledby_may_name_the_element_itself() {
        check(
            "<button data-x id=self aria-label=Remove aria-labelledby='self doc'>x</button>\
             <a id=doc href=/>Report.pdf</a>",
            "Remove Report.pdf",
        );
    }

    #[test]
    fn labelledby_is_followed_once_only() {
        check(
            "<p id=c>third</p><div id=b aria-labelledby=c>second</div>\
             <input data-x aria-labelledby=b>",
            "second",
        );
    }

    #[test]
    fn a_hidden_reference_counts_with_its_content() {
        check(
            "<div id=h hidden>Hidden <b>name</b></div><button data-x aria-labelledby=h>x</button>",
            "Hidden name",
        );
    }

    #[test]
    fn labelledby_without_any_target_falls_through() {
        check("<button data-x aria-labelledby=nowhere>Go</button>", "Go");
    }

    #[test]
    fn an_aria_label_wins_over_content_and_blank_ones_do_not_count() {
        check("<button data-x aria-label=Close>x</button>", "Close");
        check("<button data-x aria-label='  '>Go</button>", "Go");
    }

    #[test]
    fn native_labels_name_their_control() {
        check("<label>Name <input data-x></label>", "Name");
        check("<label for=i>Mail</label><input data-x id=i>", "Mail");
        check("<label for=i>One</label><label for=i>Two</label><input data-x id=i>", "One Two");
    }

    #[test]
    fn controls_inside_of_a_label_stand_for_their_value() {
        check(
            "<label for=c>Flash the screen <input value=3> times</label><input type=checkbox data-x id=c>",
            "Flash the screen 3 times",
        );
        check(
            "<label for=c>Sort by <select><option>Name</option><option selected>Date</option></select>\
             </label><input type=checkbox data-x id=c>",
            "Sort by Date",
        );
        check(
            "<label for=c>Volume <span role=slider aria-valuenow=4 aria-valuetext=low></span></label>\
             <input type=checkbox data-x id=c>",
            "Volume low",
        );
    }

    #[test]
    fn a_secret_inside_of_a_label_is_not_told() {
        check(
            "<label for=c>Use <input type=password value=hunter2> now</label><input type=checkbox data-x id=c>",
            "Use now",
        );
    }

    #[test]
    fn buttons_of_forms_are_called_by_value_alt_or_default() {
        check("<input data-x type=submit>", "Submit");
        check("<input data-x type=reset>", "Reset");
        check("<input data-x type=submit value=Send>", "Send");
        check("<input data-x type=image alt=Search>", "Search");
    }

    #[test]
    fn images_are_called_by_their_alternative_text() {
        check("<img data-x alt='A cat'>", "A cat");
        check("<img data-x title=Cat>", "Cat");
        check("<a data-x href=/><img alt=Home></a>", "Home");
        check("<svg data-x><title>Chart</title></svg>", "Chart");
    }

    #[test]
    fn groups_tables_and_figures_are_called_by_their_caption() {
        check("<fieldset data-x><legend>Address</legend><input></fieldset>", "Address");
        check("<table data-x><caption>Prices</caption><tr><td>1</td></tr></table>", "Prices");
        check("<figure data-x><figcaption>Fig 1</figcaption></figure>", "Fig 1");
    }

    #[test]
    fn content_counts_only_where_the_role_says_so() {
        check("<h1 data-x>Big <em>news</em></h1>", "Big news");
        check("<nav data-x>Home</nav>", "");
        check("<div data-x role=dialog>Sure?</div>", "");
        check("<p data-x aria-label=no>text</p>", "");
    }

    #[test]
    fn blocks_are_apart_and_inline_parts_are_joined() {
        check("<button data-x><div>One</div><div>Two</div></button>", "One Two");
        check("<button data-x>un<b>believ</b>able</button>", "unbelievable");
    }

    #[test]
    fn aria_hidden_content_does_not_count() {
        check("<button data-x>Buy <span aria-hidden=true>*</span></button>", "Buy");
    }

    #[test]
    fn title_and_placeholder_are_last_resorts() {
        check("<input data-x placeholder='Your mail'>", "Your mail");
        check("<input data-x title=Mail placeholder=p>", "Mail");
        check("<a data-x href=/ title=Home></a>", "Home");
    }

    #[test]
    fn generated_content_is_part_of_the_name() {
        let (mut facts, marked) = page("<button data-x>Menu</button>");
        let element = facts.element_mut(marked).unwrap();
        element.before = Some("→ ".to_owned());
        element.after = Some(" (2)".to_owned());
        let roles = roles::roles(&facts);
        assert_eq!(Names::new(&facts, &roles).name(marked), "→ Menu (2)");
    }

    #[test]
    fn nesting_of_any_depth_ends() {
        let markup = format!("<button data-x>{}deep{}", "<b>".repeat(3_000), "</b>".repeat(3_000));
        check(&markup, "");
        let markup = format!("<button data-x>top {}deep{}", "<b>".repeat(50), "</b>".repeat(50));
        check(&markup, "top deep");
    }

    #[test]
    fn invisible_characters_never_enter_a_name() {
        check("<button data-x aria-label='Pay\u{E0041}\u{200B} now'>x</button>", "Pay now");
    }
}
