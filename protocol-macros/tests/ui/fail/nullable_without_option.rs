use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[shape(nullable)]
    x: u8,
}

fn main() {}
