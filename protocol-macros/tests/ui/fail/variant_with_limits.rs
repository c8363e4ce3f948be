use panelot_protocol::Shape;

#[derive(Shape)]
struct Text {
    text: String,
}

#[derive(Shape)]
#[serde(tag = "type")]
enum Shaped {
    Text(#[shape(len_max = 3)] Text),
}

fn main() {}
