use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(try_from = "String")]
struct Name(String);

fn main() {}
