use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[serde(rename(serialize = "a", deserialize = "b"))]
    x: u8,
}

fn main() {}
