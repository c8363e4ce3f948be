use panelot_protocol::Shape;

#[derive(Shape)]
enum Never {}

fn main() {}
