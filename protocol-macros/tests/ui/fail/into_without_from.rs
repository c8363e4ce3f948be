use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(into = "String")]
struct Name(String);

fn main() {}
