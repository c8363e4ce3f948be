//! The form for a connection: templates, and the check of every field before anything is sent.

use panelot_protocol::ids::ConnectionId;
use panelot_protocol::limits;
use panelot_protocol::settings::{
    ConnectionInput, ConnectionView, Language, ModelCapabilities, ModelEntry, Patience, ProviderKind,
    QuirkFlags,
};
use panelot_protocol::turn::ModelRef;
use panelot_providers::templates::templates;
use panelot_providers::url::{BaseUrl, HostClass, UrlError};
use panelot_providers::{Kind, known_capabilities};

use crate::i18n::{Key, fill};

/// The template that a new form begins with.
const FIRST_TEMPLATE: &str = "openai";

/// A provider that the form knows.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The templates in the order of the list: the known endpoints, then one for each wire.
#[must_use]
pub fn choices() -> Vec<Template> {
    let known = templates().into_iter().map(|known| Template {
        id: known.id,
        name: if known.base_url.is_empty() {
            TemplateName::Text(Key::TemplateCustom)
        } else {
            TemplateName::Own(known.name)
        },
        kind: match known.kind {
            Kind::Openai => ProviderKind::Openai,
            Kind::Anthropic => ProviderKind::Anthropic,
        },
        base_url: known.base_url,
        key_optional: known.key_page.is_none(),
    });
    let other = Template {
        id: "custom-anthropic",
        name: TemplateName::Text(Key::TemplateCustomAnthropic),
        kind: ProviderKind::Anthropic,
        base_url: "",
        key_optional: true,
    };
    known.chain([other]).collect()
}

/// What the form holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectForm {
    /// The connection that is edited or made.
    pub connection_id: ConnectionId,
    /// Its template.
    pub template: Template,
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
    /// Whether the user said so, and its name no longer decides.
    pub vision_chosen: bool,
    /// Seconds until the first byte of an answer; empty for the usual ones.
    pub first_byte: String,
    /// Seconds of silence in an answer; empty for the usual ones.
    pub silence: String,
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
    /// The wait for the first byte.
    FirstByte,
    /// The silence in an answer.
    Silence,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The field.
    pub field: Field,
    /// The sentence, which names the field and the rule.
    pub key: Key,
    /// The part of the input that breaks the rule, where there is one.
    pub part: String,
}

impl Complaint {
    /// The sentence in a language.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        fill(language, self.key, &[("max", &limits::NAME_CHARS_MAX.to_string()), ("part", &self.part)])
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
    /// An empty form.
    #[must_use]
    pub fn new(connection_id: ConnectionId, language: Language) -> Self {
        let mut form = Self {
            connection_id,
            template: custom(ProviderKind::Openai),
            name: String::new(),
            base_url: String::new(),
            key: String::new(),
            model: String::new(),
            vision: false,
            vision_chosen: false,
            first_byte: String::new(),
            silence: String::new(),
            stored: None,
        };
        form.choose(FIRST_TEMPLATE, language);
        form
    }

    /// The form of a stored connection.
    #[must_use]
    pub fn edit(view: &ConnectionView, model: &str) -> Self {
        let template = choices()
            .into_iter()
            .find(|template| template.kind == view.kind && template.base_url == view.base_url)
            .unwrap_or_else(|| custom(view.kind));
        let entry = view.models.iter().find(|entry| entry.model.model_id == model).or(view.models.first());
        Self {
            connection_id: view.connection_id.clone(),
            template,
            name: view.name.clone(),
            base_url: view.base_url.clone(),
            key: String::new(),
            model: entry.map_or_else(|| model.to_owned(), |entry| entry.model.model_id.clone()),
            vision: entry.is_none_or(|entry| entry.capabilities.vision),
            vision_chosen: entry.is_some(),
            first_byte: seconds_text(view.patience.first_byte_s),
            silence: seconds_text(view.patience.silence_s),
            stored: Some(view.clone()),
        }
    }

    /// Takes another template: its address, and its name unless the user wrote one. An unknown one changes nothing.
    pub fn choose(&mut self, id: &str, language: Language) {
        let Some(chosen) = choices().into_iter().find(|template| template.id == id) else { return };
        if self.name.is_empty() || self.template.name.text(language) == self.name {
            self.name = chosen.name.text(language).to_owned();
        }
        self.base_url = chosen.base_url.to_owned();
        self.template = chosen;
    }

    /// Takes another model, and what its name suggests about images unless the user has said.
    pub fn choose_model(&mut self, model: String) {
        if !self.vision_chosen {
            self.vision = known_capabilities(&model).vision;
        }
        self.model = model;
    }

    fn address(&self) -> Result<BaseUrl, UrlError> {
        BaseUrl::parse(wire(self.template.kind), &self.base_url).map(|normalised| normalised.base)
    }

    /// Whether a key is stored that an empty field keeps. A key belongs to the host that it was entered for.
    #[must_use]
    pub fn keeps_key(&self) -> bool {
        let Some(stored) = self.stored.as_ref().filter(|stored| stored.key_count > 0) else { return false };
        let of_stored =
            BaseUrl::parse(wire(stored.kind), &stored.base_url).map(|stored| stored.base.origin());
        of_stored.is_ok() && of_stored.ok() == self.address().ok().map(|address| address.origin())
    }

    /// Whether the form works without a key.
    #[must_use]
    pub fn key_optional(&self) -> bool {
        self.template.key_optional
    }

    /// The host that everything will be sent to, and whether it is this machine; `None` while the address is wrong.
    #[must_use]
    pub fn host(&self) -> Option<(String, bool)> {
        let address = self.address().ok()?;
        let origin = address.origin();
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        Some((host.to_owned(), address.host_class() == HostClass::Loopback))
    }

    /// The pattern of the host's permission; `None` while the address is wrong.
    #[must_use]
    pub fn host_pattern(&self) -> Option<String> {
        self.address().ok().map(|address| pattern(&address))
    }

    /// Checks every field.
    ///
    /// # Errors
    /// All complaints, in the order of the fields.
    pub fn check(&self) -> Result<Checked, Vec<Complaint>> {
        let mut complaints = Vec::new();
        let mut complain = |field, (key, part)| complaints.push(Complaint { field, key, part });
        let plain = |key| (key, String::new());
        let (name, key, model) = (self.name.trim(), self.key.trim(), self.model.trim());
        if name.is_empty() {
            complain(Field::Name, plain(Key::FieldNameEmpty));
        } else if longer(name) {
            complain(Field::Name, plain(Key::FieldNameLong));
        } else if name.chars().any(is_hidden) {
            complain(Field::Name, plain(Key::FieldNameHidden));
        }
        let address = self.address();
        if let Err(wrong) = &address {
            complain(Field::Url, of_address(wrong));
        }
        if key.is_empty() && !self.keeps_key() && !self.key_optional() {
            complain(Field::Key, plain(Key::FieldKeyEmpty));
        } else if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
            complain(Field::Key, plain(Key::FieldKeySpace));
        } else if !key.is_ascii() {
            complain(Field::Key, plain(Key::FieldKeyAscii));
        }
        if model.is_empty() {
            complain(Field::Model, plain(Key::FieldModelEmpty));
        } else if longer(model) {
            complain(Field::Model, plain(Key::FieldModelLong));
        } else if model.chars().any(is_hidden) {
            complain(Field::Model, plain(Key::FieldModelHidden));
        }
        let mut seconds = |field, key, text: &str| match seconds_of(text) {
            Ok(seconds) => seconds,
            Err(()) => {
                complain(field, plain(key));
                None
            }
        };
        let patience = Patience {
            first_byte_s: seconds(Field::FirstByte, Key::FieldFirstByte, &self.first_byte),
            silence_s: seconds(Field::Silence, Key::FieldSilence, &self.silence),
        };
        let (Ok(address), true) = (address, complaints.is_empty()) else { return Err(complaints) };
        let model = ModelRef { connection_id: self.connection_id.clone(), model_id: model.to_owned() };
        Ok(Checked {
            host_pattern: pattern(&address),
            connection: ConnectionInput { patience, ..self.input(name, &address, key, &model) },
            model,
        })
    }

    fn input(&self, name: &str, address: &BaseUrl, key: &str, model: &ModelRef) -> ConnectionInput {
        let mut models = self.stored.as_ref().map_or_else(Vec::new, |stored| stored.models.clone());
        let known = known_capabilities(&model.model_id);
        let capabilities = |old: Option<&ModelCapabilities>| ModelCapabilities {
            tool_use: old.map_or(known.tool_use, |old| old.tool_use),
            vision: self.vision,
            reasoning: old.map_or(known.reasoning, |old| old.reasoning),
            max_context: old.and_then(|old| old.max_context).or(known.max_context),
        };
        match models.iter_mut().find(|entry| entry.model == *model) {
            Some(entry) => entry.capabilities = capabilities(Some(&entry.capabilities)),
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
            kind: self.template.kind,
            base_url: address.to_string(),
            api_keys: keys,
            custom_headers: None,
            prefix_id: self.stored.as_ref().and_then(|stored| stored.prefix_id.clone()),
            models,
            enabled: true,
            quirks: self.stored.as_ref().map_or_else(QuirkFlags::default, |stored| stored.quirks.clone()),
            patience: Patience::default(),
        }
    }
}

fn seconds_text(seconds: Option<u32>) -> String {
    seconds.map_or_else(String::new, |seconds| seconds.to_string())
}

/// Whole seconds within the limits; an empty text is none.
fn seconds_of(text: &str) -> Result<Option<u32>, ()> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seconds: u32 = text.parse().map_err(|_| ())?;
    let range = limits::PATIENCE_S_MIN..=limits::PATIENCE_S_MAX;
    if range.contains(&u64::from(seconds)) { Ok(Some(seconds)) } else { Err(()) }
}

/// Characters that cannot be seen, or that turn the direction of what follows: a name with them is not what it seems.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn longer(text: &str) -> bool {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX) > limits::NAME_CHARS_MAX
}

fn custom(kind: ProviderKind) -> Template {
    let (id, key) = match kind {
        ProviderKind::Openai => ("custom", Key::TemplateCustom),
        ProviderKind::Anthropic => ("custom-anthropic", Key::TemplateCustomAnthropic),
    };
    Template { id, name: TemplateName::Text(key), kind, base_url: "", key_optional: true }
}

const fn wire(kind: ProviderKind) -> Kind {
    match kind {
        ProviderKind::Openai => Kind::Openai,
        ProviderKind::Anthropic => Kind::Anthropic,
    }
}

/// The pattern for Chrome's host permissions, which know no ports.
fn pattern(address: &BaseUrl) -> String {
    let origin = address.origin();
    let scheme = origin.split_once("://").map_or("https", |(scheme, _)| scheme);
    format!("{scheme}://{}/*", address.host())
}

fn of_address(error: &UrlError) -> (Key, String) {
    match error {
        UrlError::Empty | UrlError::HostMissing => (Key::FieldUrlHost, String::new()),
        UrlError::TooLong => (Key::FieldUrlLong, String::new()),
        UrlError::BadScheme(_) => (Key::FieldUrlScheme, String::new()),
        UrlError::PlainHttpRefused(_) => (Key::FieldUrlPlain, String::new()),
        UrlError::Credentials | UrlError::CredentialParameter(_) => (Key::FieldUrlUser, String::new()),
        UrlError::BadCharacter(character) => (Key::FieldUrlPart, character.escape_default().to_string()),
        UrlError::HostNotAscii(part) => (Key::FieldUrlAscii, part.clone()),
        UrlError::BadHost(part) | UrlError::BadPort(part) | UrlError::BadPath(part) => {
            (Key::FieldUrlPart, part.clone())
        }
    }
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
        form.choose("ollama", Language::English);
        assert_eq!((form.name.as_str(), form.base_url.as_str()), ("Ollama", "http://localhost:11434/v1"));
    }

    #[test]
    fn a_name_that_the_user_wrote_stays() {
        let mut form = form();
        form.name = "Mine".into();
        form.choose("ollama", Language::English);
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
            ("api.example/v1", None),
            ("http://127.evil.example/v1", Some(Key::FieldUrlPlain)),
            ("http://api.example/v1", Some(Key::FieldUrlPlain)),
            ("https://", Some(Key::FieldUrlHost)),
            ("https://:8080/v1", Some(Key::FieldUrlHost)),
            ("https://a b/", Some(Key::FieldUrlPart)),
            ("https://api.example:99999", Some(Key::FieldUrlPart)),
            ("https://user:pw@api.example", Some(Key::FieldUrlUser)),
            ("javascript:alert(1)", Some(Key::FieldUrlPart)),
        ];
        for (base_url, expected) in cases {
            let form = ConnectForm { base_url: base_url.into(), ..form() };
            assert_eq!(fields(&form), expected.map_or(vec![], |key| vec![(Field::Url, key)]), "{base_url}");
        }
    }

    #[test]
    fn what_cannot_be_sent_or_seen_is_refused() {
        let key = ConnectForm { key: "ключ".into(), ..form() };
        let model = ConnectForm { model: "a\tb".into(), ..form() };
        let name = ConnectForm { name: "\u{202e}evil\u{202c}".into(), ..form() };
        let url = ConnectForm { base_url: "https://example。com/v1".into(), ..form() };
        assert_eq!(
            [key, model, name, url].map(|form| fields(&form)),
            [
                vec![(Field::Key, Key::FieldKeyAscii)],
                vec![(Field::Model, Key::FieldModelHidden)],
                vec![(Field::Name, Key::FieldNameHidden)],
                vec![(Field::Url, Key::FieldUrlAscii)],
            ]
        );
    }

    #[test]
    fn a_models_name_suggests_what_it_can_until_the_user_says() {
        let mut form = form();
        form.choose_model("qwen3-vl".into());
        assert!(form.vision);
        form.choose_model("never-heard-of".into());
        assert!(!form.vision);
        form.vision_chosen = true;
        form.choose_model("qwen3-vl".into());
        assert!(!form.vision);
    }

    #[test]
    fn an_unknown_model_is_taken_to_use_tools() {
        let tool_use = |model: &str| {
            let form = ConnectForm { model: model.into(), ..form() };
            form.check().map(|checked| checked.connection.models[0].capabilities.tool_use)
        };
        assert_eq!([tool_use("never-heard-of"), tool_use("llava")], [Ok(true), Ok(false)]);
    }

    #[test]
    fn the_choices_have_a_name_each_and_begin_with_a_known_one() {
        let choices = choices();
        for choice in &choices {
            assert_eq!(choices.iter().filter(|other| other.id == choice.id).count(), 1, "{}", choice.id);
        }
        assert!(choices.iter().any(|choice| choice.id == FIRST_TEMPLATE));
    }

    #[test]
    fn the_permission_pattern_has_no_port() {
        let form = ConnectForm { base_url: "http://127.0.0.1:8080/v1".into(), ..form() };
        assert_eq!(form.check().map(|checked| checked.host_pattern), Ok("http://127.0.0.1/*".to_owned()));
    }

    #[test]
    fn waiting_times_are_whole_seconds_within_limits_or_nothing() {
        let checked = |first_byte: &str, silence: &str| {
            let form = ConnectForm { first_byte: first_byte.into(), silence: silence.into(), ..form() };
            let fields = |complaints: Vec<Complaint>| complaints.into_iter().map(|c| c.field).collect();
            form.check().map(|checked| checked.connection.patience).map_err(fields)
        };
        let patience = |first_byte_s, silence_s| Ok::<_, Vec<Field>>(Patience { first_byte_s, silence_s });
        assert_eq!(checked("", " "), patience(None, None));
        assert_eq!(checked(" 5 ", "3600"), patience(Some(5), Some(3_600)));
        assert_eq!(checked("4", "3601"), Err(vec![Field::FirstByte, Field::Silence]));
        assert_eq!(checked("1e2", "-5"), Err(vec![Field::FirstByte, Field::Silence]));
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
            patience: Patience::default(),
        };
        let mut form = ConnectForm::edit(&stored, "m");
        assert_eq!(form.check().map(|checked| checked.connection.api_keys), Ok(None));
        form.base_url = "https://other.example/v1".into();
        assert_eq!(form.check().map(|checked| checked.connection.api_keys), Ok(Some(Vec::new())));
    }
}
