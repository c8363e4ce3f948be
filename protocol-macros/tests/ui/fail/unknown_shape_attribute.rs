use panelot_protocol::Shape;

#[derive(Shape)]
#[shape(nullable)]
enum Side {
    #[shape(len_max = 3)]
    Left,
}

#[derive(Shape)]
struct Point {
    #[shape(length = 3)]
    x: String,
}

fn main() {}
