//! Tool arguments: the text that a model wrote becomes an object, or a problem that the model can correct.

use serde_json::{Map, Value};

use crate::answer::ParseProblem;
use crate::errors::cut;

/// How much of unreadable arguments is shown to the model, in characters.
const RAW_CHARS_MAX: usize = 500;

/// Reads arguments. Nothing, `null` and an empty string mean no arguments; an object inside a string is unwrapped; the
/// same object sent twice, or behind an empty one, counts once.
pub(crate) fn parse_arguments(raw: &str) -> Result<Map<String, Value>, ParseProblem> {
    let problem = |message: String| ParseProblem { raw: cut(raw, RAW_CHARS_MAX), message };
    let mut arguments = Map::new();
    for value in serde_json::Deserializer::from_str(raw).into_iter::<Value>() {
        let value = value.map_err(|error| problem(format!("the arguments are not valid JSON: {error}")))?;
        let object = as_object(value)
            .map_err(|what| problem(format!("the arguments are {what}, not a JSON object")))?;
        if object.is_empty() || object == arguments {
            continue;
        }
        if !arguments.is_empty() {
            return Err(problem("the arguments are several different JSON objects".into()));
        }
        arguments = object;
    }
    Ok(arguments)
}

/// The object that a value is or holds, or what it is instead.
fn as_object(value: Value) -> Result<Map<String, Value>, &'static str> {
    match value {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        Value::String(inner) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(Value::Null) => Ok(Map::new()),
            _ if inner.trim().is_empty() => Ok(Map::new()),
            _ => Err("a string"),
        },
        Value::Bool(_) => Err("a boolean"),
        Value::Number(_) => Err("a number"),
        Value::Array(_) => Err("an array"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_every_odd_form_become_an_object() {
        let cases = [
            ("", "{}"),
            (" \n", "{}"),
            ("null", "{}"),
            ("{}", "{}"),
            ("{}{}", "{}"),
            ("\"null\"", "{}"),
            ("\"\"", "{}"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{}{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1}{"a":1}"#, r#"{"a":1}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#"{"a":"北京 🌍"}"#, r#"{"a":"北京 🌍"}"#),
        ];
        for (raw, want) in cases {
            let want: Value = serde_json::from_str(want).unwrap();
            assert_eq!(parse_arguments(raw).map(Value::Object), Ok(want), "{raw}");
        }
    }

    #[test]
    fn what_is_no_object_is_a_problem_that_says_where() {
        let cases = [
            ("5", "the arguments are a number, not a JSON object"),
            ("\"5\"", "the arguments are a string, not a JSON object"),
            ("[1]", "the arguments are an array, not a JSON object"),
            ("true", "the arguments are a boolean, not a JSON object"),
            (r#"{"a":1}{"a":2}"#, "the arguments are several different JSON objects"),
            (
                "{\"x\":\"a\nb\"}",
                "the arguments are not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0",
            ),
            (r#"{"a":1,}"#, "the arguments are not valid JSON: trailing comma at line 1 column 8"),
            (r#"{"a":"#, "the arguments are not valid JSON: EOF while parsing a value at line 1 column 5"),
        ];
        for (raw, message) in cases {
            let want = ParseProblem { raw: raw.into(), message: message.into() };
            assert_eq!(parse_arguments(raw), Err(want), "{raw}");
        }
    }

    #[test]
    fn deep_nesting_is_a_problem_and_not_a_crash() {
        let raw = "[".repeat(100_000);
        let problem = parse_arguments(&raw).unwrap_err();
        assert_eq!(problem.raw.chars().count(), RAW_CHARS_MAX + 1);
        assert!(problem.message.contains("recursion limit"), "{problem}");
    }
}
