use panelot_protocol::schema::{Presence, TypeShape};
use panelot_protocol::{Shape, boundary};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const LIMIT: u64 = 3;

#[boundary(uses(LIMIT))]
pub fn short(value: &Value) -> Result<(), String> {
    if value.to_string().len() as u64 > LIMIT { Err("long".to_owned()) } else { Ok(()) }
}

#[derive(Serialize, Deserialize, Shape, Clone)]
#[serde(try_from = "String", into = "String")]
#[shape(format = decimal)]
struct Amount(u64);

impl TryFrom<String> for Amount {
    type Error = std::num::ParseIntError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.0.to_string()
    }
}

#[derive(Serialize, Deserialize, Shape, Default)]
#[serde(default, rename_all = "kebab-case")]
#[shape(boundary = self::short)]
struct Defaults {
    first_part: Option<u8>,
    #[serde(rename = "r#type")]
    r#type: u8,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(transparent)]
struct Named {
    #[shape(min = 1, max = LIMIT)]
    only: u8,
}

#[derive(Serialize, Deserialize, Shape)]
struct Whole {
    #[serde(flatten)]
    defaults: Defaults,
    amount: Amount,
    #[serde(with = "in_hex")]
    #[shape(wire = String, len_max = LIMIT)]
    hex: u8,
}

mod in_hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u8, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_str(&format!("{value:x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<u8, D::Error> {
        u8::from_str_radix(&String::deserialize(reader)?, 16).map_err(serde::de::Error::custom)
    }
}

fn main() {
    let TypeShape::Limited { inner: TypeShape::Record(defaults), limits } = Defaults::SHAPE else { panic!() };
    assert!(defaults.fields.iter().all(|field| field.presence == Presence::Optional));
    assert_eq!(limits.boundary.unwrap().uses, [3]);
    assert!(matches!(Named::SHAPE, TypeShape::Limited { inner: TypeShape::Integer { .. }, .. }));
    let TypeShape::Record(whole) = Whole::SHAPE else { panic!() };
    assert_eq!((whole.fields.len(), whole.flattened.len()), (2, 1));
}
