use panelot_protocol::Shape;

#[derive(Shape)]
enum Side {
    Left,
    #[serde(rename = "Left")]
    Right,
}

fn main() {}
