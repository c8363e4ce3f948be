use panelot_protocol::Shape;

#[derive(Shape)]
#[serde(tag = "type")]
enum Shaped {
    Box(u8, u8),
}

fn main() {}
