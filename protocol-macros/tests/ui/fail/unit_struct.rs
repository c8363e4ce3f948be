use panelot_protocol::Shape;

#[derive(Shape)]
struct Nothing;

fn main() {}
