use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(transparent)]
struct Point {
    x: u8,
    y: u8,
}

fn main() {}
