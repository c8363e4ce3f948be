//! The ARIA role of each element: explicit roles first, then what HTML gives (WAI-ARIA 1.2, HTML-AAM 1.0).

use crate::facts::{Attr, Content, ElementFacts, NodeIndex, PageFacts, States};

macro_rules! roles {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// A role of WAI-ARIA 1.2, or one of the few that HTML needs beyond it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Role { $(#[doc = concat!("`", $name, "`.")] $variant),* }

        impl Role {
            /// The role's token.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Role::$variant => $name),* }
            }

            /// The role with this token, if there is one that authors may use.
            #[must_use]
            pub fn parse(token: &str) -> Option<Role> {
                match token { $($name => Some(Role::$variant),)* "presentation" => Some(Role::None), _ => None }
            }
        }
    };
}

roles! {
    Alert = "alert", AlertDialog = "alertdialog", Application = "application", Article = "article",
    Banner = "banner", Blockquote = "blockquote", Button = "button", Canvas = "canvas", Caption = "caption",
    Cell = "cell", Checkbox = "checkbox", Code = "code", ColumnHeader = "columnheader", Combobox = "combobox",
    Complementary = "complementary", ContentInfo = "contentinfo", Definition = "definition",
    Deletion = "deletion", Dialog = "dialog", Document = "document", Emphasis = "emphasis", Feed = "feed",
    Figure = "figure", Form = "form", Generic = "generic", Grid = "grid", GridCell = "gridcell",
    Group = "group", Heading = "heading", Iframe = "iframe", Img = "img", Insertion = "insertion",
    Link = "link", List = "list", Listbox = "listbox", ListItem = "listitem", Log = "log", Main = "main",
    Marquee = "marquee", Math = "math", Menu = "menu", Menubar = "menubar", MenuItem = "menuitem",
    MenuItemCheckbox = "menuitemcheckbox", MenuItemRadio = "menuitemradio", Meter = "meter",
    Navigation = "navigation", None = "none", Note = "note", Option = "option", Paragraph = "paragraph",
    ProgressBar = "progressbar", Radio = "radio", RadioGroup = "radiogroup", Region = "region", Row = "row",
    RowGroup = "rowgroup", RowHeader = "rowheader", Scrollbar = "scrollbar", Search = "search",
    Searchbox = "searchbox", Separator = "separator", Slider = "slider", SpinButton = "spinbutton",
    Status = "status", Strong = "strong", Subscript = "subscript", Superscript = "superscript",
    Switch = "switch", Tab = "tab", Table = "table", TabList = "tablist", TabPanel = "tabpanel", Term = "term",
    Textbox = "textbox", Time = "time", Timer = "timer", Toolbar = "toolbar", Tooltip = "tooltip",
    Tree = "tree", TreeGrid = "treegrid", TreeItem = "treeitem", Video = "video", Audio = "audio",
}

impl Role {
    /// Roles that a person operates.
    #[must_use]
    pub fn is_widget(self) -> bool {
        matches!(
            self,
            Role::Button
                | Role::Checkbox
                | Role::Combobox
                | Role::Link
                | Role::Listbox
                | Role::MenuItem
                | Role::MenuItemCheckbox
                | Role::MenuItemRadio
                | Role::Option
                | Role::Radio
                | Role::Scrollbar
                | Role::Searchbox
                | Role::Slider
                | Role::SpinButton
                | Role::Switch
                | Role::Tab
                | Role::Textbox
                | Role::TreeItem
        )
    }

    /// Roles whose name may come from their content (WAI-ARIA 1.2 §5.2.8.4).
    #[must_use]
    pub fn names_from_content(self) -> bool {
        matches!(
            self,
            Role::Button
                | Role::Cell
                | Role::Checkbox
                | Role::ColumnHeader
                | Role::GridCell
                | Role::Heading
                | Role::Link
                | Role::MenuItem
                | Role::MenuItemCheckbox
                | Role::MenuItemRadio
                | Role::Option
                | Role::Radio
                | Role::Row
                | Role::RowHeader
                | Role::Switch
                | Role::Tab
                | Role::Tooltip
                | Role::TreeItem
        )
    }

    /// Roles for which authors cannot give a name (WAI-ARIA 1.2 §5.2.8.6).
    #[must_use]
    pub fn prohibits_name(self) -> bool {
        matches!(
            self,
            Role::Caption
                | Role::Code
                | Role::Definition
                | Role::Deletion
                | Role::Emphasis
                | Role::Generic
                | Role::Insertion
                | Role::None
                | Role::Paragraph
                | Role::Strong
                | Role::Subscript
                | Role::Superscript
                | Role::Term
                | Role::Time
        )
    }

    /// Landmarks and dialogs: parts of a page that are worth a ref of their own.
    #[must_use]
    pub fn is_part(self) -> bool {
        matches!(
            self,
            Role::AlertDialog
                | Role::Banner
                | Role::Complementary
                | Role::ContentInfo
                | Role::Dialog
                | Role::Feed
                | Role::Form
                | Role::Grid
                | Role::List
                | Role::Listbox
                | Role::Main
                | Role::Menu
                | Role::Navigation
                | Role::Region
                | Role::Search
                | Role::Table
                | Role::TabPanel
                | Role::Tree
                | Role::TreeGrid
        )
    }

    /// Whether the role is a dialog.
    #[must_use]
    pub fn is_dialog(self) -> bool {
        matches!(self, Role::Dialog | Role::AlertDialog)
    }
}

/// The role of every node, by position; text has [`Role::None`].
#[must_use]
pub fn roles(facts: &PageFacts) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::with_capacity(facts.len());
    for (index, node) in facts.iter() {
        let role = match &node.content {
            Content::Text(_) => Role::None,
            Content::Element(element) => role_of(facts, &roles, index, element),
        };
        roles.push(role);
    }
    roles
}

/// Looks up what [`roles`] computed.
#[must_use]
pub fn at(roles: &[Role], index: NodeIndex) -> Role {
    roles.get(index.get()).copied().unwrap_or(Role::Generic)
}

fn role_of(facts: &PageFacts, known: &[Role], index: NodeIndex, element: &ElementFacts) -> Role {
    let explicit = element.attr(Attr::Role).and_then(|tokens| explicit_role(facts, known, index, tokens));
    match explicit {
        Some(Role::None) if keeps_native_role(element) => native_role(facts, known, index, element),
        Some(role) => role,
        None => inherited_none(facts, known, index, element)
            .unwrap_or_else(|| native_role(facts, known, index, element)),
    }
}

/// The first token that is a role; a role without its required context counts as none given.
fn explicit_role(facts: &PageFacts, known: &[Role], index: NodeIndex, tokens: &str) -> Option<Role> {
    tokens.split_ascii_whitespace().find_map(|token| {
        let role = Role::parse(&token.to_ascii_lowercase())?;
        let named = facts.element(index).is_some_and(has_author_name);
        // Landmarks that need a name to be landmarks.
        let unnamed_landmark = matches!(role, Role::Region | Role::Form) && !named;
        // A row outside of any table is a mistake of the author's.
        let stray_row = role == Role::Row && !has_ancestor(facts, known, index, is_table_like);
        let not_for_authors = matches!(role, Role::Canvas | Role::Iframe | Role::Video | Role::Audio);
        (!unnamed_landmark && !stray_row && !not_for_authors).then_some(role)
    })
}

/// Presentational conflict resolution (WAI-ARIA 1.2 §7.1.2.1).
fn keeps_native_role(element: &ElementFacts) -> bool {
    element.states.has(States::FOCUSABLE) || element.states.has(States::GLOBAL_ARIA)
}

/// Rows and cells of a table that is only layout, items of a list that is none, are nothing either.
fn inherited_none(
    facts: &PageFacts,
    known: &[Role],
    index: NodeIndex,
    element: &ElementFacts,
) -> Option<Role> {
    let owners: &[&str] = match element.tag.as_ref() {
        "tr" | "td" | "th" | "tbody" | "thead" | "tfoot" | "caption" => &["table"],
        "li" => &["ul", "ol", "menu"],
        _ => return None,
    };
    let owner = facts
        .ancestors(index)
        .find(|&above| facts.element(above).is_some_and(|element| owners.contains(&element.tag.as_ref())))?;
    let none = at(known, owner) == Role::None;
    (none && !keeps_native_role(element)).then_some(Role::None)
}

fn native_role(facts: &PageFacts, known: &[Role], index: NodeIndex, element: &ElementFacts) -> Role {
    match element.tag.as_ref() {
        "a" | "area" if element.attr(Attr::Href).is_some() => Role::Link,
        "article" => Role::Article,
        "aside" if !in_sectioning(facts, index) || has_author_name(element) => Role::Complementary,
        "audio" => Role::Audio,
        "blockquote" => Role::Blockquote,
        "button" => Role::Button,
        "canvas" => Role::Canvas,
        "caption" | "figcaption" => Role::Caption,
        "code" => Role::Code,
        "datalist" => Role::Listbox,
        "dd" => Role::Definition,
        "del" | "s" => Role::Deletion,
        "dfn" | "dt" => Role::Term,
        "dialog" => Role::Dialog,
        "em" => Role::Emphasis,
        "fieldset" | "optgroup" | "details" | "address" | "hgroup" => Role::Group,
        "figure" => Role::Figure,
        "footer" if !in_sectioning(facts, index) => Role::ContentInfo,
        "form" if has_author_name(element) => Role::Form,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Role::Heading,
        "header" if !in_sectioning(facts, index) => Role::Banner,
        "hr" => Role::Separator,
        "iframe" | "frame" => Role::Iframe,
        "img" => image_role(element),
        "input" => input_role(element),
        "ins" => Role::Insertion,
        "li" if has_ancestor_tag(facts, index, &["ul", "ol", "menu"]) => Role::ListItem,
        "main" => Role::Main,
        "math" => Role::Math,
        "meter" => Role::Meter,
        "nav" => Role::Navigation,
        "ol" | "ul" | "menu" => Role::List,
        "option" => Role::Option,
        "output" => Role::Status,
        "p" => Role::Paragraph,
        "progress" => Role::ProgressBar,
        "search" => Role::Search,
        "section" if has_author_name(element) => Role::Region,
        "select" => select_role(element),
        "strong" => Role::Strong,
        "sub" => Role::Subscript,
        "summary" if is_summary_of_details(facts, index) => Role::Button,
        "sup" => Role::Superscript,
        "svg" if has_author_name(element) || has_child_tag(facts, index, "title") => Role::Img,
        "table" => Role::Table,
        "tbody" | "thead" | "tfoot" => Role::RowGroup,
        "td" => cell_role(facts, known, index),
        "textarea" => Role::Textbox,
        "th" => header_role(element),
        "time" => Role::Time,
        "tr" => Role::Row,
        "video" => Role::Video,
        _ if element.states.has(States::EDITABLE) => Role::Textbox,
        _ => Role::Generic,
    }
}

fn image_role(element: &ElementFacts) -> Role {
    match element.attr(Attr::Alt) {
        Some("") if !has_author_name(element) && !keeps_native_role(element) => Role::None,
        Some(_) | None => Role::Img,
    }
}

fn input_role(element: &ElementFacts) -> Role {
    let listed = element.attr(Attr::List).is_some();
    match element.input_type().as_str() {
        "button" | "submit" | "reset" | "image" | "file" | "color" => Role::Button,
        "checkbox" if element.attr(Attr::AriaPressed).is_some() => Role::Button,
        "checkbox" => Role::Checkbox,
        "radio" => Role::Radio,
        "range" => Role::Slider,
        "number" => Role::SpinButton,
        "search" if !listed => Role::Searchbox,
        "hidden" => Role::None,
        "password" | "date" | "datetime-local" | "month" | "time" | "week" => Role::Textbox,
        _ if listed => Role::Combobox,
        _ => Role::Textbox,
    }
}

fn select_role(element: &ElementFacts) -> Role {
    let rows = element.attr(Attr::Size).and_then(|size| size.trim().parse::<u32>().ok()).unwrap_or(0);
    if element.attr(Attr::Multiple).is_some() || rows > 1 { Role::Listbox } else { Role::Combobox }
}

fn cell_role(facts: &PageFacts, known: &[Role], index: NodeIndex) -> Role {
    let table = facts.ancestors(index).map(|above| at(known, above)).find(|role| is_table_like(*role));
    match table {
        Some(Role::Grid | Role::TreeGrid) => Role::GridCell,
        Some(_) => Role::Cell,
        None => Role::Generic,
    }
}

fn header_role(element: &ElementFacts) -> Role {
    match element.attr(Attr::Scope).map(|scope| scope.trim().to_ascii_lowercase()).as_deref() {
        Some("row" | "rowgroup") => Role::RowHeader,
        Some(_) | None => Role::ColumnHeader,
    }
}

fn is_table_like(role: Role) -> bool {
    matches!(role, Role::Table | Role::Grid | Role::TreeGrid)
}

/// Whether the author gave a name by attribute, which makes a landmark of some elements.
fn has_author_name(element: &ElementFacts) -> bool {
    !element.labelled_by.is_empty()
        || element.attr(Attr::AriaLabel).is_some_and(|label| !label.trim().is_empty())
        || element.attr(Attr::Title).is_some_and(|title| !title.trim().is_empty())
}

fn in_sectioning(facts: &PageFacts, index: NodeIndex) -> bool {
    has_ancestor_tag(facts, index, &["article", "aside", "main", "nav", "section"])
}

fn has_ancestor_tag(facts: &PageFacts, index: NodeIndex, tags: &[&str]) -> bool {
    facts
        .ancestors(index)
        .any(|above| facts.element(above).is_some_and(|element| tags.contains(&element.tag.as_ref())))
}

fn has_ancestor(facts: &PageFacts, known: &[Role], index: NodeIndex, is: fn(Role) -> bool) -> bool {
    facts.ancestors(index).any(|above| is(at(known, above)))
}

fn has_child_tag(facts: &PageFacts, index: NodeIndex, tag: &str) -> bool {
    facts.children(index).any(|child| facts.element(child).is_some_and(|element| element.tag == tag))
}

fn is_summary_of_details(facts: &PageFacts, index: NodeIndex) -> bool {
    facts
        .ancestors(index)
        .find_map(|above| facts.element(above).filter(|element| element.tag != "slot"))
        .is_some_and(|parent| parent.tag == "details")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::page;

    /// The role of the element marked with `data-x` in a piece of markup.
    #[track_caller]
    fn check(markup: &str, expected: Role) {
        let (facts, marked) = page(markup);
        assert_eq!(at(&roles(&facts), marked), expected, "{markup}");
    }

    #[test]
    fn html_elements_have_the_roles_of_html_aam() {
        let table = [
            ("<a data-x href='/'>x</a>", Role::Link),
            ("<a data-x>x</a>", Role::Generic),
            ("<article data-x></article>", Role::Article),
            ("<aside data-x></aside>", Role::Complementary),
            ("<section><aside data-x></aside></section>", Role::Generic),
            ("<section><aside data-x aria-label=n></aside></section>", Role::Complementary),
            ("<button data-x>b</button>", Role::Button),
            ("<footer data-x></footer>", Role::ContentInfo),
            ("<main><footer data-x></footer></main>", Role::Generic),
            ("<header data-x></header>", Role::Banner),
            ("<article><header data-x></header></article>", Role::Generic),
            ("<form data-x></form>", Role::Generic),
            ("<form data-x aria-label=f></form>", Role::Form),
            ("<section data-x></section>", Role::Generic),
            ("<section data-x aria-label=s></section>", Role::Region),
            ("<h3 data-x>h</h3>", Role::Heading),
            ("<img data-x alt=''>", Role::None),
            ("<img data-x alt='' aria-label=x>", Role::Img),
            ("<img data-x>", Role::Img),
            ("<li data-x>x</li>", Role::Generic),
            ("<ul><li data-x>x</li></ul>", Role::ListItem),
            ("<select data-x></select>", Role::Combobox),
            ("<select data-x multiple></select>", Role::Listbox),
            ("<select data-x size=4></select>", Role::Listbox),
            ("<textarea data-x></textarea>", Role::Textbox),
            ("<details><summary data-x>s</summary></details>", Role::Button),
            ("<summary data-x>s</summary>", Role::Generic),
            ("<svg data-x></svg>", Role::Generic),
            ("<svg data-x><title>t</title></svg>", Role::Img),
            ("<table><tr><td data-x></td></tr></table>", Role::Cell),
            ("<table role=grid><tr><td data-x></td></tr></table>", Role::GridCell),
            ("<table><tr><th data-x scope=row></th></tr></table>", Role::RowHeader),
            ("<table><tr><th data-x></th></tr></table>", Role::ColumnHeader),
            ("<output data-x></output>", Role::Status),
            ("<p data-x></p>", Role::Paragraph),
            ("<search data-x></search>", Role::Search),
        ];
        for (markup, role) in table {
            check(markup, role);
        }
    }

    #[test]
    fn inputs_have_the_role_of_their_type() {
        let table = [
            ("<input data-x>", Role::Textbox),
            ("<input data-x type=nonsense>", Role::Textbox),
            ("<input data-x list=l>", Role::Combobox),
            ("<input data-x type=search>", Role::Searchbox),
            ("<input data-x type=search list=l>", Role::Combobox),
            ("<input data-x type=CHECKBOX>", Role::Checkbox),
            ("<input data-x type=radio>", Role::Radio),
            ("<input data-x type=range>", Role::Slider),
            ("<input data-x type=number>", Role::SpinButton),
            ("<input data-x type=submit>", Role::Button),
            ("<input data-x type=image>", Role::Button),
            ("<input data-x type=file>", Role::Button),
            ("<input data-x type=date>", Role::Textbox),
        ];
        for (markup, role) in table {
            check(markup, role);
        }
    }

    #[test]
    fn the_first_known_token_of_the_role_attribute_counts() {
        check("<div data-x role='wiggle BUTTON link'></div>", Role::Button);
        check("<button data-x role=wiggle></button>", Role::Button);
        check("<a data-x href=/ role=tab></a>", Role::Tab);
        check("<div data-x role=region></div>", Role::Generic);
        check("<div data-x role=region aria-label=r></div>", Role::Region);
        check("<div data-x role=row></div>", Role::Generic);
    }

    #[test]
    fn a_presentational_role_loses_against_focus_and_global_aria() {
        check("<h2 data-x role=none></h2>", Role::None);
        check("<h2 data-x role=presentation tabindex=0></h2>", Role::Heading);
        check("<h2 data-x role=none aria-label=l></h2>", Role::Heading);
        check("<button data-x role=none>b</button>", Role::Button);
    }

    #[test]
    fn the_parts_of_a_layout_table_are_nothing() {
        check("<table role=presentation><tr data-x><td>a</td></tr></table>", Role::None);
        check("<table role=presentation><tr><td data-x>a</td></tr></table>", Role::None);
        check("<ul role=none><li data-x>a</li></ul>", Role::None);
        check("<table role=none><tr><td><table><tr data-x></tr></table></td></tr></table>", Role::Row);
    }

    #[test]
    fn an_editable_region_is_a_textbox() {
        check("<div data-x contenteditable>x</div>", Role::Textbox);
    }
}
