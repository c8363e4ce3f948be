use panelot_protocol::Shape;

#[derive(Shape)]
struct Part {
    y: u8,
}

#[derive(Shape)]
struct Point {
    #[serde(flatten)]
    x: Option<Part>,
}

fn main() {}
