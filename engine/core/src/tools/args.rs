//! Reads a call's arguments: forgives what models get wrong without harm, and says what is wrong with the rest.

use super::invocation::{ToolInvocation, wait};
use super::registry::{TOOLS, ToolSpec, find};
use super::waits::{act, ask, watch};
use crate::permission::Place;
use panelot_protocol::FromJson;
use panelot_protocol::diagnostic::Rule;
use panelot_protocol::schema::{Presence, Record, TypeShape};
use panelot_protocol::validate::{Mode, validate};
use serde_json::{Map, Number, Value};

/// Most characters of a string that is read as a list or a number.
const FORGIVEN_CHARS_MAX: usize = 10_000;
/// Most characters that a problem repeats of a name from outside.
const NAME_CHARS_MAX: usize = 64;

/// Why a call was not read: a sentence for the model that names the field and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentProblem {
    /// No such tool.
    #[error("There is no tool named {name}. The tools are: {known}.")]
    UnknownTool {
        /// What was called.
        name: String,
        /// The tools that there are.
        known: String,
    },
    /// The arguments are not an object.
    #[error("The arguments of {tool} must be a JSON object, such as {{}}.")]
    NotAnObject {
        /// The tool.
        tool: &'static str,
    },
    /// An argument breaks a rule.
    #[error("{tool} was not called: {field}: {rule}. {hint}")]
    Field {
        /// The tool.
        tool: &'static str,
        /// The argument.
        field: String,
        /// The rule.
        rule: String,
        /// The arguments that there are.
        hint: String,
    },
}

/// Reads a call.
///
/// Forgiven are: a number or a truth value as text, a whole number with a fraction of zero, a number where a text
/// is meant, one value where a list is meant, a list as JSON text, null for what may be absent, a ref with its
/// brackets or its `ref=`, and an address without `https://`.
///
/// # Errors
/// What is wrong, as a sentence for the model.
pub fn parse_call(name: &str, arguments: &Value) -> Result<ToolInvocation, ArgumentProblem> {
    let spec = find(name).ok_or_else(|| ArgumentProblem::UnknownTool {
        name: name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect(),
        known: TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", "),
    })?;
    let empty = Value::Object(Map::new());
    let arguments = if arguments.is_null() { &empty } else { arguments };
    let Value::Object(given) = arguments else {
        return Err(ArgumentProblem::NotAnObject { tool: spec.name });
    };
    let TypeShape::Record(record) = spec.parameters else {
        return Err(ArgumentProblem::NotAnObject { tool: spec.name });
    };
    let arguments = Value::Object(forgiven(given, record));
    validate(&arguments, spec.parameters, Mode::Closed).map_err(|diagnostic| {
        let rule = rule_sentence(&diagnostic.rule, &diagnostic.path, record);
        problem(spec, &diagnostic.path, &rule)
    })?;
    invocation(spec, arguments)
}

fn invocation(spec: &'static ToolSpec, arguments: Value) -> Result<ToolInvocation, ArgumentProblem> {
    match spec.name {
        "tabs_list" => Ok(ToolInvocation::TabsList),
        "tab_open" => {
            let mut params: super::catalogue::TabOpenParams = read(spec, arguments)?;
            let destination = destination(spec, &mut params.url)?;
            Ok(ToolInvocation::TabOpen { params, destination })
        }
        "navigate" => {
            let mut params: super::catalogue::NavigateParams = read(spec, arguments)?;
            let destination = destination(spec, &mut params.url)?;
            Ok(ToolInvocation::Navigate { params, destination })
        }
        "read_page" => read(spec, arguments).map(ToolInvocation::ReadPage),
        "click" => read(spec, arguments).map(ToolInvocation::Click),
        "type" => read(spec, arguments).map(ToolInvocation::Type),
        "select_option" => read(spec, arguments).map(ToolInvocation::SelectOption),
        "wait_for" => wait(read(spec, arguments)?).map_err(|rule| problem(spec, "arguments", rule)),
        "ask_user" => ask(read(spec, arguments)?).map_err(|rule| problem(spec, "question", rule)),
        "request_user_action" => {
            act(read(spec, arguments)?).map_err(|rule| problem(spec, "instruction", rule))
        }
        "watch_page" => watch(read(spec, arguments)?).map_err(|rule| problem(spec, "arguments", rule)),
        "schedule_resume" => {
            Ok(ToolInvocation::Wait(super::WaitCall::ScheduleResume(read(spec, arguments)?)))
        }
        // A tool of the registry without a reader; a test calls each.
        _ => Err(problem(spec, "arguments", "this tool cannot be called")),
    }
}

fn read<T: FromJson>(spec: &'static ToolSpec, arguments: Value) -> Result<T, ArgumentProblem> {
    T::from_json(arguments).map_err(|error| problem(spec, "arguments", &error.to_string()))
}

fn destination(spec: &'static ToolSpec, url: &mut String) -> Result<Place, ArgumentProblem> {
    if let Some(whole) = with_scheme(url) {
        *url = whole;
    }
    let place = Place::parse(url).map_err(|why| problem(spec, "url", &why.to_string()))?;
    match place {
        Place::Other { scheme } => {
            let rule = format!(
                "{scheme}: is not a scheme that can be opened; write http:// or https:// before the host"
            );
            Err(problem(spec, "url", &rule))
        }
        place @ (Place::Web(_)
        | Place::Store(_)
        | Place::Blank
        | Place::Script { .. }
        | Place::File
        | Place::Browser { .. }
        | Place::Extension) => Ok(place),
    }
}

/// The address with `https://` before it, when it begins with a host: letters, a dot, and nothing that could be a scheme.
fn with_scheme(url: &str) -> Option<String> {
    let url = url.trim();
    let host = url.split(['/', '?', '#']).next()?;
    let is_host = host.contains('.')
        && !host.starts_with('.')
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    is_host.then(|| format!("https://{url}"))
}

fn problem(spec: &'static ToolSpec, field: &str, rule: &str) -> ArgumentProblem {
    let field = if field.is_empty() { "arguments" } else { field };
    let hint = match spec.parameters {
        TypeShape::Record(record) if record.fields.is_empty() => "It takes no arguments.".to_owned(),
        TypeShape::Record(record) => {
            let names: Vec<String> = record
                .fields
                .iter()
                .map(|field| match field.presence {
                    Presence::Required => format!("{} (required)", field.name),
                    Presence::Optional | Presence::Nullable => field.name.to_owned(),
                })
                .collect();
            format!("Its arguments are: {}.", names.join(", "))
        }
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Choice(_)
        | TypeShape::Optional(_)
        | TypeShape::List(_)
        | TypeShape::Map { .. }
        | TypeShape::Tagged(_)
        | TypeShape::Limited { .. } => String::new(),
    };
    ArgumentProblem::Field { tool: spec.name, field: field.to_owned(), rule: rule.to_owned(), hint }
}

/// The rule as the model needs it: with the values of a closed set, which the validator's own words leave out.
fn rule_sentence(rule: &Rule, path: &str, record: &Record) -> String {
    let name = path.split(['.', '[']).next().unwrap_or_default();
    let field = record.fields.iter().find(|field| field.name == name);
    match (rule == &Rule::UnknownValue, field.and_then(|field| choices(field.shape))) {
        (true, Some(names)) => format!("must be one of {}", names.join(", ")),
        (true | false, _) => rule.to_string(),
    }
}

fn choices(shape: &'static TypeShape) -> Option<&'static [&'static str]> {
    match shape {
        TypeShape::Choice(names) => Some(names),
        TypeShape::Optional(inner) | TypeShape::List(inner) | TypeShape::Limited { inner, .. } => {
            choices(inner)
        }
        TypeShape::Json
        | TypeShape::Bool
        | TypeShape::Integer { .. }
        | TypeShape::Float
        | TypeShape::Text
        | TypeShape::Map { .. }
        | TypeShape::Record(_)
        | TypeShape::Tagged(_) => None,
    }
}

fn forgiven(given: &Map<String, Value>, record: &Record) -> Map<String, Value> {
    let mut arguments = Map::new();
    for (name, value) in given {
        let field = record.fields.iter().find(|field| field.name == name);
        let may_be_absent = field.is_some_and(|field| field.presence != Presence::Required);
        if may_be_absent && value.is_null() {
            continue;
        }
        let value = match field {
            Some(field) if field.name == "ref" => plain_ref(value),
            Some(field) => bent(value, field.shape),
            None => value.clone(),
        };
        arguments.insert(name.clone(), value);
    }
    arguments
}

/// A ref without what stands around it in a snapshot.
fn plain_ref(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let around = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | '\'' | '`' | '@');
    let text = text.trim_matches(around);
    let text = text.strip_prefix("ref=").or_else(|| text.strip_prefix("ref:")).unwrap_or(text);
    Value::String(text.trim_matches(around).to_owned())
}

/// The value in the type that the shape asks for, where it can only mean that.
fn bent(value: &Value, shape: &'static TypeShape) -> Value {
    match shape {
        TypeShape::Optional(inner) | TypeShape::Limited { inner, .. } => bent(value, inner),
        TypeShape::Integer { .. } => whole_number(value).map_or_else(|| value.clone(), Value::Number),
        TypeShape::Bool => match value.as_str().map(str::trim) {
            Some("true") => Value::Bool(true),
            Some("false") => Value::Bool(false),
            Some(_) | None => value.clone(),
        },
        TypeShape::Text => match value {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                value.clone()
            }
        },
        TypeShape::Choice(names) => {
            let lower = value.as_str().map(|text| text.trim().to_ascii_lowercase());
            let known = lower.filter(|lower| names.contains(&lower.as_str()));
            known.map_or_else(|| value.clone(), Value::String)
        }
        TypeShape::List(inner) => Value::Array(listed(value).iter().map(|item| bent(item, inner)).collect()),
        TypeShape::Json
        | TypeShape::Float
        | TypeShape::Map { .. }
        | TypeShape::Record(_)
        | TypeShape::Tagged(_) => value.clone(),
    }
}

fn whole_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|found| found.fract() == 0.0)?;
            format!("{whole:.0}").parse::<i64>().ok().map(Number::from)
        }
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.trim().parse::<i64>().ok().map(Number::from),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The items: of a list, of a list written as JSON, or the one value.
fn listed(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::String(text) if text.trim_start().starts_with('[') && text.len() <= FORGIVEN_CHARS_MAX => {
            serde_json::from_str(text).unwrap_or_else(|_| vec![value.clone()])
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![value.clone()]
        }
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
