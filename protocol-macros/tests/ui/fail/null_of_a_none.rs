use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    x: Option<u8>,
}

fn main() {}
