use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(tag = "type")]
struct Point {
    x: u8,
}

fn main() {}
