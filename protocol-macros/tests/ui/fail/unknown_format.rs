use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[shape(format = email)]
    x: String,
}

fn main() {}
