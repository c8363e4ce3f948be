use panelot_protocol::Shape;

#[derive(Shape)]
struct Point {
    #[shape(len_max = 3, len_max = 4)]
    x: String,
    #[shape(format = id, format = uuid)]
    y: String,
    #[shape(boundary = a, boundary = b)]
    z: String,
}

fn main() {}
