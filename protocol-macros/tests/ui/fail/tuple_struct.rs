use panelot_protocol::Shape;

#[derive(Shape)]
struct Pair(u8, u8);

fn main() {}
