//! The form for a connection: templates, and the check of every field before anything is sent.

use panelot_protocol::ids::ConnectionId;
use panelot_protocol::limits;
use panelot_protocol::settings::{
    ConnectionInput, ConnectionView, Language, ModelCapabilities, ModelEntry, ProviderKind, QuirkFlags,
};
use panelot_protocol::turn::ModelRef;

use crate::i18n::{Key, fill};

/// A provider that the form knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Stable name for the list of choices.
    pub id: &'static str,
    /// The provider's own name, or a text of the catalogue.
    pub name: TemplateName,
    /// Its wire.
    pub kind: ProviderKind,
    /// Its address; empty when the user must give one.
    pub base_url: &'static str,
    /// Whether it works without a key.
    pub key_optional: bool,
}

/// How a template is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateName {
    /// A name that is the same in every language.
    Own(&'static str),
    /// A text of the catalogue.
    Text(Key),
}

impl TemplateName {
    /// The name in a language.
    #[must_use]
    pub const fn text(self, language: Language) -> &'static str {
        match self {
            Self::Own(name) => name,
            Self::Text(key) => key.text(language),
        }
    }
}

const fn template(
    id: &'static str,
    name: TemplateName,
    kind: ProviderKind,
    base_url: &'static str,
    key_optional: bool,
) -> Template {
    Template { id, name, kind, base_url, key_optional }
}

/// The templates in the order of the list.
pub const TEMPLATES: &[Template] = &[
    template("openai", TemplateName::Own("OpenAI"), ProviderKind::Openai, "https://api.openai.com/v1", false),
    template(
        "anthropic",
        TemplateName::Own("Anthropic"),
        ProviderKind::Anthropic,
        "https://api.anthropic.com",
        false,
    ),
    template(
        "openrouter",
        TemplateName::Own("OpenRouter"),
        ProviderKind::Openai,
        "https://openrouter.ai/api/v1",
        false,
    ),
    template(
        "deepseek",
        TemplateName::Own("DeepSeek"),
        ProviderKind::Openai,
        "https://api.deepseek.com/v1",
        false,
    ),
    template("ollama", TemplateName::Own("Ollama"), ProviderKind::Openai, "http://127.0.0.1:11434/v1", true),
    template(
        "lmstudio",
        TemplateName::Own("LM Studio"),
        ProviderKind::Openai,
        "http://127.0.0.1:1234/v1",
        true,
    ),
    template("custom", TemplateName::Text(Key::TemplateCustom), ProviderKind::Openai, "", true),
    template(
        "custom-anthropic",
        TemplateName::Text(Key::TemplateCustomAnthropic),
        ProviderKind::Anthropic,
        "",
        true,
    ),
];

/// What the form holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectForm {
    /// The connection that is edited or made.
    pub connection_id: ConnectionId,
    /// Place in [`TEMPLATES`].
    pub template: usize,
    /// The connection's name.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// A new key; empty keeps the stored one.
    pub key: String,
    /// The model's id.
    pub model: String,
    /// Whether the model sees images.
    pub vision: bool,
    /// The connection as it is stored, when there is one.
    pub stored: Option<ConnectionView>,
}

/// The field that a complaint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The name.
    Name,
    /// The address.
    Url,
    /// The key.
    Key,
    /// The model.
    Model,
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complaint {
    /// The field.
    pub field: Field,
    /// The sentence, which names the field and the rule.
    pub key: Key,
}

impl Complaint {
    /// The sentence in a language.
    #[must_use]
    pub fn text(self, language: Language) -> String {
        fill(language, self.key, &[("max", &limits::NAME_CHARS_MAX.to_string())])
    }
}

/// A form that passed its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What is sent.
    pub connection: ConnectionInput,
    /// The model that new chats use.
    pub model: ModelRef,
    /// The pattern of the host permission, `https://api.openai.com/*`.
    pub host_pattern: String,
}

impl ConnectForm {
    /// An empty form on the first template.
    #[must_use]
    pub fn new(connection_id: ConnectionId, language: Language) -> Self {
        let mut form = Self {
            connection_id,
            template: 0,
            name: String::new(),
            base_url: String::new(),
            key: String::new(),
            model: String::new(),
            vision: true,
            stored: None,
        };
        form.choose(0, language);
        form
    }

    /// The form of a stored connection.
    #[must_use]
    pub fn edit(view: &ConnectionView, model: &str) -> Self {
        let template = TEMPLATES
            .iter()
            .position(|template| template.kind == view.kind && template.base_url == view.base_url)
            .or_else(|| TEMPLATES.iter().position(|t| t.kind == view.kind && t.base_url.is_empty()))
            .unwrap_or_default();
        let entry = view.models.iter().find(|entry| entry.model.model_id == model).or(view.models.first());
        Self {
            connection_id: view.connection_id.clone(),
            template,
            name: view.name.clone(),
            base_url: view.base_url.clone(),
            key: String::new(),
            model: entry.map_or_else(|| model.to_owned(), |entry| entry.model.model_id.clone()),
            vision: entry.is_none_or(|entry| entry.capabilities.vision),
            stored: Some(view.clone()),
        }
    }

    /// Takes another template: its address, and its name unless the user wrote one.
    pub fn choose(&mut self, template: usize, language: Language) {
        let names_itself = self.name.is_empty()
            || TEMPLATES.get(self.template).is_some_and(|old| old.name.text(language) == self.name);
        let Some(chosen) = TEMPLATES.get(template) else { return };
        self.template = template;
        self.base_url = chosen.base_url.to_owned();
        if names_itself {
            self.name = chosen.name.text(language).to_owned();
        }
    }

    fn chosen(&self) -> Option<&'static Template> {
        TEMPLATES.get(self.template)
    }

    /// Whether a key is stored that an empty field keeps. A key belongs to the host that it was entered for.
    #[must_use]
    pub fn keeps_key(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| {
            stored.key_count > 0 && Address::of(&stored.base_url).ok() == Address::of(&self.base_url).ok()
        })
    }

    /// Whether the form works without a key.
    #[must_use]
    pub fn key_optional(&self) -> bool {
        self.chosen().is_none_or(|template| template.key_optional)
    }

    /// The host that everything will be sent to, and whether it is this machine; `None` while the address is wrong.
    #[must_use]
    pub fn host(&self) -> Option<(String, bool)> {
        Address::of(&self.base_url).ok().map(|address| (address.authority.to_owned(), address.is_local()))
    }

    /// The pattern of the host's permission; `None` while the address is wrong.
    #[must_use]
    pub fn host_pattern(&self) -> Option<String> {
        Address::of(&self.base_url).ok().map(|address| address.pattern())
    }

    /// Checks every field.
    ///
    /// # Errors
    /// All complaints, in the order of the fields.
    pub fn check(&self) -> Result<Checked, Vec<Complaint>> {
        let mut complaints = Vec::new();
        let mut complain = |field: Field, key: Key| complaints.push(Complaint { field, key });
        let (name, url) = (self.name.trim(), self.base_url.trim());
        let (key, model) = (self.key.trim(), self.model.trim());
        if name.is_empty() {
            complain(Field::Name, Key::FieldNameEmpty);
        } else if longer(name) {
            complain(Field::Name, Key::FieldNameLong);
        }
        let address = Address::of(url);
        match &address {
            Err(wrong) => complain(Field::Url, *wrong),
            Ok(address) if address.scheme == "http" && !address.is_local() && !key.is_empty() => {
                complain(Field::Url, Key::FieldUrlPlain);
            }
            Ok(_) => {}
        }
        if key.is_empty() && !self.keeps_key() && !self.key_optional() {
            complain(Field::Key, Key::FieldKeyEmpty);
        } else if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
            complain(Field::Key, Key::FieldKeySpace);
        }
        if model.is_empty() {
            complain(Field::Model, Key::FieldModelEmpty);
        } else if longer(model) {
            complain(Field::Model, Key::FieldModelLong);
        }
        let (Ok(address), true) = (address, complaints.is_empty()) else { return Err(complaints) };
        let model = ModelRef { connection_id: self.connection_id.clone(), model_id: model.to_owned() };
        Ok(Checked { host_pattern: address.pattern(), connection: self.input(name, url, key, &model), model })
    }

    fn input(&self, name: &str, url: &str, key: &str, model: &ModelRef) -> ConnectionInput {
        let mut models = self.stored.as_ref().map_or_else(Vec::new, |stored| stored.models.clone());
        let capabilities = |old: Option<&ModelEntry>| ModelCapabilities {
            tool_use: old.is_none_or(|old| old.capabilities.tool_use),
            vision: self.vision,
            reasoning: old.and_then(|old| old.capabilities.reasoning),
            max_context: old.and_then(|old| old.capabilities.max_context),
        };
        match models.iter_mut().find(|entry| entry.model == *model) {
            Some(entry) => entry.capabilities = capabilities(Some(&*entry)),
            None => models.push(ModelEntry {
                model: model.clone(),
                display_name: None,
                capabilities: capabilities(None),
                pricing: None,
            }),
        }
        let keys = if !key.is_empty() {
            Some(vec![key.to_owned()])
        } else if self.keeps_key() {
            None
        } else {
            Some(Vec::new())
        };
        ConnectionInput {
            connection_id: self.connection_id.clone(),
            name: name.to_owned(),
            kind: self.chosen().map_or(ProviderKind::Openai, |template| template.kind),
            base_url: url.to_owned(),
            api_keys: keys,
            custom_headers: None,
            prefix_id: self.stored.as_ref().and_then(|stored| stored.prefix_id.clone()),
            models,
            enabled: true,
            quirks: self.stored.as_ref().map_or_else(QuirkFlags::default, |stored| stored.quirks.clone()),
        }
    }
}

fn longer(text: &str) -> bool {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX) > limits::NAME_CHARS_MAX
}

/// The parts of an address that the form judges.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    scheme: &'static str,
    /// Host and port.
    authority: &'a str,
}

impl<'a> Address<'a> {
    fn of(text: &'a str) -> Result<Self, Key> {
        let text = text.trim();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => ("https", rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => ("http", rest),
            Some(_) | None => return Err(Key::FieldUrlScheme),
        };
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(Key::FieldUrlUser);
        }
        let address = Self { scheme, authority };
        if address.host().is_empty() || authority.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Key::FieldUrlHost);
        }
        Ok(address)
    }

    /// The host without the port. An IPv6 address keeps its brackets.
    fn host(&self) -> &'a str {
        if self.authority.starts_with('[') {
            return self.authority.split_inclusive(']').next().unwrap_or_default();
        }
        self.authority.rsplit_once(':').map_or(self.authority, |(host, _)| host)
    }

    fn is_local(&self) -> bool {
        let host = self.host().to_ascii_lowercase();
        host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || is_ipv4_loopback(&host)
    }

    /// The pattern for Chrome's host permissions, which know no ports.
    fn pattern(&self) -> String {
        format!("{}://{}/*", self.scheme, self.host().to_ascii_lowercase())
    }
}

fn is_ipv4_loopback(host: &str) -> bool {
    let parts: Vec<_> = host.split('.').collect();
    parts.len() == 4 && parts.first() == Some(&"127") && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ConnectForm {
        let mut form = ConnectForm::new("c1".into(), Language::English);
        form.key = "sk-1".into();
        form.model = "m".into();
        form
    }

    fn fields(form: &ConnectForm) -> Vec<(Field, Key)> {
        form.check().err().unwrap_or_default().into_iter().map(|c| (c.field, c.key)).collect()
    }

    #[test]
    fn a_template_fills_address_and_name() {
        let mut form = form();
        form.choose(4, Language::English);
        assert_eq!((form.name.as_str(), form.base_url.as_str()), ("Ollama", "http://127.0.0.1:11434/v1"));
    }

    #[test]
    fn a_name_that_the_user_wrote_stays() {
        let mut form = form();
        form.name = "Mine".into();
        form.choose(4, Language::English);
        assert_eq!(form.name, "Mine");
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let wrong = ConnectForm {
            name: " ".into(),
            base_url: "ftp://x".into(),
            key: String::new(),
            model: String::new(),
            ..form()
        };
        assert_eq!(
            fields(&wrong),
            [
                (Field::Name, Key::FieldNameEmpty),
                (Field::Url, Key::FieldUrlScheme),
                (Field::Key, Key::FieldKeyEmpty),
                (Field::Model, Key::FieldModelEmpty),
            ]
        );
    }

    #[test]
    fn addresses_are_judged_by_scheme_host_and_user() {
        let cases = [
            ("https://api.example/v1", None),
            ("HTTPS://api.example", None),
            ("http://127.0.0.1:11434/v1", None),
            ("http://localhost:1234", None),
            ("http://[::1]:8080/v1", None),
            ("http://127.evil.example/v1", Some(Key::FieldUrlPlain)),
            ("http://api.example/v1", Some(Key::FieldUrlPlain)),
            ("https://", Some(Key::FieldUrlHost)),
            ("https://:8080/v1", Some(Key::FieldUrlHost)),
            ("https://a b/", Some(Key::FieldUrlHost)),
            ("https://user:pw@api.example", Some(Key::FieldUrlUser)),
            ("javascript:alert(1)", Some(Key::FieldUrlScheme)),
            ("api.example/v1", Some(Key::FieldUrlScheme)),
        ];
        for (base_url, expected) in cases {
            let form = ConnectForm { base_url: base_url.into(), ..form() };
            assert_eq!(fields(&form), expected.map_or(vec![], |key| vec![(Field::Url, key)]), "{base_url}");
        }
    }

    #[test]
    fn the_permission_pattern_has_no_port() {
        let form = ConnectForm { base_url: "http://127.0.0.1:8080/v1".into(), ..form() };
        assert_eq!(form.check().map(|checked| checked.host_pattern), Ok("http://127.0.0.1/*".to_owned()));
    }

    #[test]
    fn a_stored_key_is_kept_only_for_its_own_host() {
        let stored = ConnectionView {
            connection_id: "c1".into(),
            name: "A".into(),
            kind: ProviderKind::Openai,
            base_url: "https://api.example/v1".into(),
            key_count: 1,
            header_names: Vec::new(),
            prefix_id: None,
            models: Vec::new(),
            enabled: true,
            quirks: QuirkFlags::default(),
        };
        let mut form = ConnectForm::edit(&stored, "m");
        assert_eq!(form.check().map(|checked| checked.connection.api_keys), Ok(None));
        form.base_url = "https://other.example/v1".into();
        assert_eq!(form.check().map(|checked| checked.connection.api_keys), Ok(Some(Vec::new())));
    }
}
