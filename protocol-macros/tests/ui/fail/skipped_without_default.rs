use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    x: Vec<u8>,
}

fn main() {}
