use panelot_protocol::Shape;

#[derive(Shape)]
enum Shaped {
    Circle { radius: u8 },
}

fn main() {}
