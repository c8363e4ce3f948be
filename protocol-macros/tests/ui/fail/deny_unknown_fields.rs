use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(deny_unknown_fields)]
struct Point {
    x: u8,
}

fn main() {}
