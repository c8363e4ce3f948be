use panelot_protocol::Shape;

#[derive(Shape)]
#[shape(len_max = 3)]
struct Point {
    x: String,
}

fn main() {}
